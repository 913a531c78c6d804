#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_losses.py - checks that all commands that read traces report the losses counted by the recorder.

usage: run_losses.py LIBRARY INCLUDE PERFRAY [WORD...]

Makes a recording for each way to lose something. Every command reads it as recorded, as packed by `perfray trace`, and converted to the other byte order and
to version 2. WORDs select causes by a part of their names.
"""
import json
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
from recorded import Recorded

HERE = Path(__file__).resolve().parent / "programs"
BUSY, FULL, TABLE, TOO_LARGE, SLED = range(5)
LOST_AT = 128 + 32 + 3 * 8 + 3 * 8 + 4 * 4 + 2 * 8 + 2 * 4  # offset in the file: lost[] of the control block
VERBS = (["latency"], ["report"], ["script"], ["info"], ["verify"], ["flame", "-o", "{out}"], ["export", "-o", "{out}"],
         ["latency", "--format=json"], ["info", "--format=json"])

# A text from the message of each cause, and the index of its count in lost[] (None: not counted)
SAYS = {
    "full": ("the trace was full", None),
    "buffers": ("more threads than buffers", FULL),
    "handler": ("signal handlers, or contexts", BUSY),
    "functions": ("not fit in the recorder's table", TABLE),
    "too-large": ("larger than a buffer", TOO_LARGE),
    "sled": ("could not be patched", SLED),
    "threads": ("the system refused gettid(2) to the program", None),
    "depth": ("calls nested in 2 or more others were left out", None),
}

HANDLERS = r"""
#include <signal.h>
#include <sys/time.h>
__attribute__((noinline)) void leaf(void) { __asm__ volatile(""); }
__attribute__((noinline)) void middle(void) { leaf(); leaf(); __asm__ volatile(""); }
static volatile sig_atomic_t came;
static void handler(int number) { (void)number; came++; middle(); }
int main(void) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 30}, {0, 30}};
    sigaction(SIGALRM, &action, 0);
    setitimer(ITIMER_REAL, &often, 0);
    while (came < 400)
        middle();
    return 0;
}
"""


def many_functions(count):
    """More calls than the lists in buffers of 4 KB can hold, each of a different function: hooks are called with made-up addresses."""
    return r"""
void __cyg_profile_func_enter(void *, void *);
void __cyg_profile_func_exit(void *, void *);
int main(void) {
    for (unsigned long i = 0; i < %dul; i++) {
        __cyg_profile_func_enter((void *)(0x10000000ul + 16 * i), 0);
        __cyg_profile_func_exit((void *)(0x10000000ul + 16 * i), 0);
    }
    return 0;
}
""" % count


class Losses:
    def __init__(self, folder, library, include, perfray, words):
        self.library, self.include, self.words = Path(library).resolve(), Path(include).resolve(), words
        self.perfray = str(Path(perfray).resolve())
        self.folder = Path(folder)

    def build(self, name, source, flags=("-finstrument-functions",)):
        path, program = self.folder / (name + ".c"), self.folder / name
        path.write_text(source)
        subprocess.run(["gcc", "-O1", *flags, "-pthread", f"-I{self.include}", str(path), "-o", str(program), str(self.library),
                        f"-Wl,-rpath,{self.library.parent}", "-ldl"], check=True)
        return program

    def host(self, *words):
        if not (self.folder / "hosts").exists():
            self.build("hosts", (HERE / "recorded_hosts.c").read_text())
        return [str(self.folder / "hosts"), *words]

    def record(self, words, options):
        trace = self.folder / "trace"
        trace.unlink(missing_ok=True)
        environment = dict({k: v for k, v in os.environ.items() if not k.startswith(("PERFRAY_RT", "XRAY_"))},
                           PERFRAY_RT=f"file={trace} {options}")
        subprocess.run(words, env=environment, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)
        return trace

    def ask(self, trace, verb):
        words = [word.format(out=self.folder / "out") for word in verb]
        done = subprocess.run([self.perfray, *words, str(trace)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
                              stdout=subprocess.DEVNULL if verb == ["script"] else subprocess.PIPE, timeout=120)
        return done.returncode, (done.stdout or "") + done.stderr

    def check(self, name, trace, causes, lost):
        """Each command reports each cause with its count, and no other cause."""
        wrong = []
        for verb in VERBS:
            status, text = self.ask(trace, verb)
            message = re.sub(r"\s+", " ", text)
            for cause, (sentence, place) in SAYS.items():
                count = "" if place is None else f"{lost[place]} "
                is_reported = re.search(r"\b" + re.escape(count) + r"[a-z :,']*" + re.escape(sentence), message) if count else sentence in message
                wanted = cause in causes
                if bool(is_reported) != wanted:
                    wrong.append(f"{' '.join(verb)}: {cause} is {'not ' if wanted else ''}reported")
            if status != int("threads" in causes and verb == ["verify"]):  # it warns about each buffer
                wrong.append(f"{' '.join(verb)}: status {status}: {text[-200:]}")
        info = json.loads(self.ask(trace, ["info", "--format=json"])[1])
        if [loss["cause"] for loss in info["trace"]["losses"]] != list(causes):
            wrong.append(f"info: {info['trace']['losses']}, not {causes}")
        if info["quality"]["lost_calls"] != sum(lost[:SLED]) or info["quality"]["recorder_full"] != int("full" in causes):
            wrong.append(f"info: {info['quality']}")
        self.say(name, wrong)

    def say(self, name, wrong):
        harness.result("losses/" + name, wrong)

    def expect(self, cause, words, options, also=()):
        if self.words and not any(word in cause for word in self.words):
            return
        trace = self.record(words() if callable(words) else words, options)
        self.judge(cause, trace, sorted([cause, *also], key=list(SAYS).index))

    def judge(self, cause, trace, causes):
        lost = Recorded(trace).lost
        place = SAYS[cause][1]
        if place is not None and lost[place] == 0:
            self.say(cause, [f"nothing was lost: {lost}"])
            return
        self.check(cause, trace, causes, lost)
        if cause == "functions":  # the command would print hundreds of thousands of rows
            return
        for name, options in (("other-order", ["--byte-order=big"]), ("version-2", ["--trace=fdr2"])):
            out = self.folder / name
            done = subprocess.run([self.perfray, "convert", *options, "-o", str(out), str(trace)], stderr=subprocess.PIPE, text=True)
            if done.returncode and "no typed events" not in done.stderr:  # version 2 cannot express typed events
                self.say(f"{cause}/{name}", [done.stderr])
            self.check(f"{cause}/{name}", out, causes, lost)


def packed(t):
    """As finished by `perfray trace`, which also reports the cause."""
    if t.words and not any(word in "packed" for word in t.words):
        return
    out = t.folder / "packed"
    done = subprocess.run([t.perfray, "trace", "-q", "-o", str(out), "--size", "64k", *t.host("calls", "100000", "")], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    t.say("packed/trace", [] if SAYS["full"][0] in done.stderr and done.returncode == 0 else [str(done)])
    t.check("packed", out, ["full"], Recorded(out).lost)
    done = subprocess.run([t.perfray, "trace", "-q", "-o", str(out), "--depth", "2", *t.host("calls", "100", "")], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    t.say("packed/depth", [] if not done.stderr and done.returncode == 0 else [str(done)])


def patched(t):
    """No program of the test can cause this loss, so the count is written where the recorder counts it."""
    if t.words and not any(word in "sled" for word in t.words):
        return
    trace = t.record(t.host("calls", "100", ""), "size=1M")
    bytes_ = bytearray(trace.read_bytes())
    struct.pack_into("<Q", bytes_, LOST_AT + 8 * SLED, 17)
    trace.write_bytes(bytes_)
    t.judge("sled", trace, ["sled"])


def nameless(t):
    """Threads whose id the system does not give are distinguished, and verify explains the missing id."""
    if t.words and not any(word in "threads" for word in t.words):
        return
    trace = t.record(t.host("nameless", "3000", ""), "keep=first size=4M")
    threads = json.loads(t.ask(trace, ["info", "--format=json"])[1])["trace"]["threads"]
    calls = sorted((thread["tid"], thread["calls"]) for thread in threads if thread["tid"] < 0)
    findings = t.ask(trace, ["verify"])[1]
    t.say("threads/apart", [] if calls == [(tid, 6000) for tid in (-4, -3, -2, -1)] and
          "a buffer of thread -1: gettid(2) was refused" in findings else [str(threads), findings])


def main():
    with harness.scratch("losses") as folder:
        t = Losses(folder, *sys.argv[1:4], sys.argv[4:])
        t.expect("full", lambda: t.host("calls", "100000", ""), "keep=first size=64k")
        t.expect("buffers", lambda: t.host("crowd", "300", ""), "keep=last size=64k buffer=4k")
        t.expect("handler", lambda: [str(t.build("handlers", HANDLERS))], "size=64M")
        t.expect("functions", lambda: [str(t.build("many", many_functions(140000), flags=()))], "keep=first size=64M buffer=4k")
        t.expect("too-large", lambda: t.host("events", "3000", ""), "keep=first buffer=4k")
        t.expect("depth", lambda: [str(t.build("handlers", HANDLERS))], "size=64M depth=2", also=["handler"])
        t.expect("threads", lambda: t.host("nameless", "3000", ""), "keep=first size=4M")
        nameless(t)
        packed(t)
        patched(t)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
