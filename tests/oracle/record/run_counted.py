#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_counted.py STEPS.c - recordings of work that can be counted, and options one by one, beside the installed perf.

Environment: PERFRAY, the command. Nothing here depends on time: events count calls, page faults and system calls, of
which STEPS.c makes a known number. Every file that is recorded must please `perfray verify`, `info` and `dump`.
Prints `ok NAME`, `not ok NAME` or `skip NAME reason`.
"""
import concurrent.futures
import contextlib
import ctypes
import glob
import json
import os
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
from harness import Wrong  # noqa: E402
from run_record import (NOBODY, PERFRAY, Skip, address_of, events, features, fires, must, must_be_root, paranoid, report, run,
                        text)

COUNT = 4000
PATIENCE = 60


def said(done):
    return done.stderr.decode("utf-8", "replace").strip()[-400:]


def must_be_clean(path):
    """Nothing of a recording of ours is to be found fault with."""
    for verb in ("verify", "info", "dump"):
        done = subprocess.run([PERFRAY, verb, path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, check=False, timeout=PATIENCE)
        must(done.returncode == 0 and not done.stderr, "%s %s: status %d: %s" % (verb, path, done.returncode, said(done)))


def must_please_perf(path):
    warned = run("perf", "script", "-i", path).stderr
    warned += run("perf", "report", "--stdio", "-i", path).stderr
    must(not warned or b"has no samples" in warned, "perf says of ours: %s" % warned.decode("utf-8", "replace")[:300])


def record(tool, out, options, command):
    """What was said; perf is asked again where it falls over its own feet."""
    head = ["perf", "record", "-N"] if tool == "perf" else [PERFRAY, "record"]
    for _ in range(3):
        done = run(*head, "-o", out, *options, *command, timeout=PATIENCE)
        if tool != "perf" or done.returncode >= 0:
            break
    if done.returncode and tool == "perf":
        raise Skip("perf cannot: %s" % said(done).split("\n")[0][:100])
    must(done.returncode == 0, "status %d: %s" % (done.returncode, said(done)))
    return done


# --- options, one by one ----------------------------------------------------------------------------------------------

OPTIONS = """
-e cpu-clock:k
-e cpu-clock:uD,page-faults:kI
-e {cpu-clock:u,page-faults:k}:S
-e sched:sched_process_exit -F 100
-e cpu-clock/call-graph=dwarf,stack-size=4096/,page-faults/call-graph=fp,max-stack=5/
-e cpu-clock/overwrite/
-a -F 100 --call-graph dwarf,1024
-a -P -e page-faults -c 10
--namespaces --all-cgroups --switch-events
-k boottime
--user-regs=ax,sp --intr-regs=ip
-D 10 -g
-s -n
-r 1 -e page-faults
--tail-synthesize -a -e page-faults
--running-time -e {cpu-clock,page-faults}:S
-g --kernel-callchains
-g --user-callchains --no-bpf-event
--group -e cpu-clock,page-faults
-e sched:sched_switch --exclude-perf
--buildid-all --synth no --timestamp-boundary
-a -e page-faults --synth task
"""

# With PERFRAY_LONG these, too.
MORE_OPTIONS = """
-e page-faults -F 100
-e faults -c 1
-e cpu-clock:uH
-e cpu-clock:kG
-e cpu-clock:pp
-e cpu-clock:P
-e task-clock:S,page-faults
-e {cpu-clock,page-faults,cs}:u
-e cycles:u
-e sched:sched_process_ex*
-e sched:sched_switch --filter prev_pid==1
-e cpu-clock/period=20000/
-e cpu-clock/freq=500,name=foo/
-e cpu-clock/no-inherit/,page-faults/time=0/
-e software/config=0/
-e bpf-output/no-inherit,name=x/
-F max -n
-C 0 -F 100 -g -d
-a -F 100 --all-user
-a -e page-faults:u -c 1
--per-thread -T
-i -m 16
-W --phys-data -R
--data-page-size --code-page-size --sample-cpu
--buildid-mmap
--no-buildid
--overwrite -g
-D -1
-P -c 100000
--transaction --sample-identifier
--all-kernel
--max-size 10M
--no-buffering
"""


def compare_options(folder, number, options):
    """The same events with the same attrs, and the same features."""
    found = {}
    for tool in ("perf", "ours"):
        out = os.path.join(folder, "%d.%s" % (number, tool))
        record(tool, out, options, ["true"])
        found[tool] = (events(out), features(out))
    must(found["perf"][0] == found["ours"][0], "events:\n%s\n%s" % tuple("\n".join(found[t][0]) for t in found))
    must(found["perf"][1] == found["ours"][1], "missing features: perf %s, ours %s" % tuple(found[t][1] for t in found))
    out = os.path.join(folder, "%d.ours" % number)
    must_be_clean(out)
    warned = run("perf", "report", "--stdio", "-i", out).stderr
    must(not warned or b"has no samples" in warned, "perf says of ours: %s" % warned.decode("utf-8", "replace")[:300])


def all_options(folder):
    must_be_root()
    def one(numbered):
        number, line = numbered
        try:
            return compare_options(folder, number, line.split())
        except Skip as reason:
            return "skip record/options %s: %s" % (line, reason)
        except (Wrong, subprocess.TimeoutExpired) as problem:
            return Wrong("%s: %s" % (line, problem))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        lines = OPTIONS + (MORE_OPTIONS if harness.LONG else "")
        results = list(pool.map(one, enumerate(line for line in lines.split("\n") if line)))
    for result in results:
        if isinstance(result, str):
            print(result)
    wrong = [str(result) for result in results if isinstance(result, Wrong)]
    must(not wrong, "\n    ".join(wrong))


def listed(folder):
    """What perf lists, and what is said to be possible is so; of the rest, what is asked for is refused."""
    must_be_root()
    rows = [row.strip() for row in text("perf", "list", "--no-desc").splitlines()]
    theirs = {kind: {row.split()[0] for row in rows if row.endswith(mark)} for kind, mark in
              (("software", "[Software event]"), ("pmu", "[Kernel PMU event]"), ("tracepoint", "[Tracepoint event]"))}
    possible, others = [], []
    for kind, names in theirs.items():
        own = {}
        for row in text(PERFRAY, "list", "--kind", kind, "--format", "jsonl").splitlines():
            found = json.loads(row)
            own[found["event"]] = found.get("reason")
        must(own.keys() == names, "%s: perf alone %s, ours alone %s" % (kind, sorted(names - own.keys())[:5],
                                                                       sorted(own.keys() - names)[:5]))
        some = sorted(own)[:20]
        possible += [name for name in some if not own[name]]
        others += [name for name in some if own[name]]
    must(possible, "nothing is possible")
    faults = run(PERFRAY, "list", "faults")
    must(faults.returncode == 0 and faults.stdout == b"software:\n  page-faults or faults\n", "%r" % (faults.stdout,))
    vain = [(["nosuch"], b"no event is called 'nosuch'")]
    vain += [(["--possible", name], b"can be recorded here") for name in others[:1]]
    for words, says in vain:
        none = run(PERFRAY, "list", *words)
        must(none.returncode == 1 and not none.stdout and says in none.stderr, "%s: %r" % (words, none.stderr))
    record("ours", os.path.join(folder, "listed.data"), ["-e", ",".join(possible)], ["true"])
    for name in others:
        done = run(PERFRAY, "record", "-o", os.path.join(folder, "refused.data"), "-e", name, "true")
        must(done.returncode in (2, 6), "%s is refused by list, and recorded" % name)


# --- what is counted --------------------------------------------------------------------------------------------------

def told(path, name):
    """The program's samples by event, and its maps, as perf tells them; and what it complains of."""
    done = run("perf", "script", "-i", path, "--show-mmap-events", "-F", "comm,tid,event")
    counts, maps = {}, set()
    for row in done.stdout.decode("utf-8", "replace").splitlines():
        words = row.split()
        if "PERF_RECORD_MMAP" in row and "/" + name in row:
            maps.add(re.sub(r"^.*PERF_RECORD", "PERF_RECORD", re.sub(r"-?\d+/\d+: \[0x[0-9a-f]+\(", "[(", row)))
        elif words and words[0] == name and "PERF_RECORD" not in row:
            counts[words[-1]] = counts.get(words[-1], 0) + 1
    return counts, maps, done.stderr


def rows_of(path, name):
    """Samples of the program by object and function, as perf report counts them."""
    rows = {}
    done = run("perf", "report", "-i", path, "--stdio", "--no-group", "-F", "sample,comm,dso,sym", "-t", "|")
    must(not done.stderr, "perf says of %s: %s" % (path, said(done)))
    for row in done.stdout.decode("utf-8", "replace").splitlines():
        words = [word.strip() for word in row.split("|")]
        if len(words) == 4 and words[1] == name and words[0].isdigit() and not words[3].endswith(tuple("0123456789abcdef")):
            rows[tuple(words[2:])] = int(words[0])
    return rows


def event_of_steps(folder, steps):
    """An event of which there are as many as calls of step(): the breakpoint, or the system call beside it."""
    return "mem:%s:x" % address_of(steps, "step") if fires(folder, steps, "step") else "syscalls:sys_enter_getppid"


EXACT, BY_CHANCE = True, False  # exact: as many of ours as the program did; else, and perf's always, 3 of 100 may differ


def compare_told(found, folder, name, exact):
    perf, ours = (os.path.join(folder, "%s.%s" % (name, tool)) for tool in ("perf", "ours"))
    (theirs, their_maps, _), (own, own_maps, warned) = found["perf"], found["ours"]
    must(not warned, "perf says of ours: %s" % warned.decode("utf-8", "replace")[:300])
    must(events(perf) == events(ours), "events: perf %s, ours %s" % (events(perf), events(ours)))
    must(features(perf) == features(ours), "missing features: perf %s, ours %s" % (features(perf), features(ours)))
    must(their_maps and their_maps == own_maps, "maps: perf %s, ours %s" % (their_maps, own_maps))
    must(theirs.keys() == own.keys() and
         all(abs(own[event] - theirs[event]) <= 0.03 * theirs[event] for event in theirs), "samples: perf %s, ours %s" % (theirs, own))
    must(not exact or set(own.values()) == {COUNT}, "samples: %s of %d" % (own, COUNT))


SYSTEM_CALLS = threading.Lock()  # two recordings of them at once: the kernel calls both by way of another function


def compare_counted(folder, steps, name, options, exact, **more):
    with SYSTEM_CALLS if "sys_enter" in "".join(options) else contextlib.nullcontext():
        compare_both(folder, steps, name, options, exact, **more)


def compare_both(folder, steps, name, options, exact, command=None, counted=lambda: None):
    """The same counts, to the last one where a call counts once. Where the kernel tells what it counted, ours are as many exactly."""
    program = os.path.join(folder, name)
    os.link(steps, program)
    found = {}
    for tool in ("perf", "ours"):
        out = os.path.join(folder, "%s.%s" % (name, tool))
        before = counted()
        record(tool, out, options, command(program) if command else [program])
        found[tool] = told(out, name)
    own = sum(found["ours"][0].values())
    must(before is None or own == counted() - before, "%d samples, the kernel counted from %s to %s" % (own, before, counted()))
    compare_told(found, folder, name, exact)
    must(sum(found["ours"][0].values()) >= COUNT, "%s samples of %d" % (found["ours"][0], COUNT))
    theirs, own = (rows_of(os.path.join(folder, "%s.%s" % (name, tool)), name) for tool in ("perf", "ours"))
    top = sorted(theirs, key=theirs.get, reverse=True)[:20]
    must(top and all(abs(own.get(row, 0) - theirs[row]) <= 3 + 0.03 * theirs[row] for row in top),
         "reports: perf %s, ours %s" % (theirs, own))
    must_be_clean(os.path.join(folder, name + ".ours"))


def hits_of_probe():
    """Since it was made; perf was seen to have a sample more than there were calls."""
    path = next(filter(os.path.exists, ("/sys/kernel/tracing/uprobe_profile", "/sys/kernel/debug/tracing/uprobe_profile")))
    with open(path, encoding="ascii") as lines:
        return sum(int(line.split()[2]) for line in lines if line.split()[1] == "step")


def probed(folder, steps):
    must_be_root()
    run("perf", "probe", "-q", "-d", "probe_perfray:*")
    if run("perf", "probe", "-q", "-x", steps, "probe_perfray:step=step").returncode:
        raise Skip("perf probe makes no probe here")
    try:
        compare_counted(folder, steps, "st-uprobe", ["-e", "probe_perfray:step"], BY_CHANCE, counted=hits_of_probe)
    finally:
        run("perf", "probe", "-q", "-d", "probe_perfray:*")


def in_cgroup(folder, steps):
    must_be_root()
    name = "perfray-test-%d" % os.getpid()
    for root in ("/sys/fs/cgroup/perf_event", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"):
        group = os.path.join(root, name)
        try:
            os.mkdir(group)
        except OSError:
            continue
        if os.path.exists(os.path.join(group, "cgroup.procs")):
            break
        os.rmdir(group)
    else:
        raise Skip("no cgroup can be made here")
    try:
        enter = "echo $$ >%s/cgroup.procs && exec %%s" % group
        compare_counted(folder, steps, "st-cgroup", ["-B", "-a", "-e", "page-faults:u", "-c", "1", "--cgroup", name], BY_CHANCE,
                        command=lambda program: ["sh", "-c", enter % program])
    finally:
        os.rmdir(group)


class Controlled:
    """A recorder that obeys through pipes, on which orders are answered."""

    def __init__(self, tool, out, options, **more):
        head = ["perf", "record", "-N"] if tool == "perf" else [PERFRAY, "record"]
        orders, self.order = os.pipe()
        self.answer, answers = os.pipe()
        words = [*head, "-o", out, "--control", "fd:%d,%d" % (orders, answers), *options]
        more.setdefault("stdin", subprocess.DEVNULL)
        self.process = subprocess.Popen(words, pass_fds=(orders, answers), stderr=subprocess.PIPE, **more)
        os.close(orders)
        os.close(answers)

    def obey(self, order):
        os.write(self.order, order.encode() + b"\n")
        ready = select.select([self.answer], [], [], PATIENCE)[0]
        must(ready and os.read(self.answer, 16).startswith(b"ack"), "'%s' was not answered" % order)

    def end(self):
        _, problems = self.process.communicate(timeout=PATIENCE)
        os.close(self.order)
        os.close(self.answer)
        must(self.process.returncode == 0, "status %d: %s" % (self.process.returncode, problems.decode()[-300:]))


def do_work(program):
    program.stdin.write(b".")
    program.stdin.flush()
    return program.stdout.readline().decode().strip()


def of_process(folder, steps):
    """A process that runs already, which works when the recorders are ready."""
    name = "st-process"
    path = os.path.join(folder, name)
    os.link(steps, path)
    found = {}
    for tool in ("perf", "ours"):
        out = os.path.join(folder, "%s.%s" % (name, tool))
        program = subprocess.Popen([path, "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        recorder = Controlled(tool, out, ["-D", "-1", "-e", "page-faults:u," + event_of_steps(folder, steps), "-c", "1", "-p",
                                          str(program.pid)])
        recorder.obey("enable")
        do_work(program)
        program.stdin.close()
        program.wait()
        recorder.end()
        found[tool] = told(out, name)
    compare_told(found, folder, name, BY_CHANCE)
    must(len(found["ours"][0]) == 2 and min(found["ours"][0].values()) >= COUNT, "%s" % found["ours"][0])
    must_be_clean(os.path.join(folder, name + ".ours"))


def counted(folder, steps):
    here = event_of_steps(folder, steps)
    sets = (
        ("st-break", ["-e", here], EXACT), ("st-faults", ["-e", "page-faults:u", "-c", "1"], BY_CHANCE),
        ("st-group", ["-e", "{page-faults:u,minor-faults:u}:S", "-c", "1"], BY_CHANCE),
        ("st-trace", ["-e", "syscalls:sys_enter_getppid"], EXACT),
        ("st-filter", ["-e", "raw_syscalls:sys_enter", "--filter", "id == %d" % os_getppid()], EXACT),
        ("st-zstd", ["-z", "-B", "-e", here], EXACT),
        ("st-machine", ["-B", "-a", "-e", "page-faults:u", "-c", "1"], BY_CHANCE))
    parts = [(name, compare_counted, folder, steps, name, options, exact) for name, options, exact in sets]
    parts += [("st-uprobe", probed, folder, steps), ("st-cgroup", in_cgroup, folder, steps),
              ("st-process", of_process, folder, steps)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        futures = [(part[0], pool.submit(part[1], *part[2:])) for part in parts]
    for name, future in futures:
        report("counted/" + name[3:], future.result)


def os_getppid():
    """The number of getppid(2) on this machine."""
    try:
        with open("/sys/kernel/tracing/events/syscalls/sys_enter_getppid/id", encoding="ascii"):
            return {"x86_64": 110, "aarch64": 173, "s390x": 64}[os.uname().machine]
    except (OSError, KeyError):
        return 110


# --- streams, parts, rings --------------------------------------------------------------------------------------------

def streams(folder, steps):
    """Straight into the readers, while it is recorded; what the command prints is no part of the stream. A pipe is given
    one without -o, too."""
    del folder
    head = [PERFRAY, "record", "-q", "-e", "page-faults:u", "-c", "1"]
    command = ["sh", "-c", "echo printed; " + steps + " >/dev/null"]
    for output, reader in zip(([], ["-o", "-"]), ([PERFRAY, "report", "--no-pager", "-"], ["perf", "report", "--stdio", "-i", "-"])):
        if not shutil.which(reader[0]):
            continue
        recorder = subprocess.Popen([*head, *output, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        done = subprocess.run(reader, stdin=recorder.stdout, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              timeout=PATIENCE)
        recorder.stdout.close()
        printed = recorder.stderr.read()
        must(recorder.wait() == 0, "the recorder ends with %d" % recorder.returncode)
        must(printed == b"printed\n", "the command's output beside the stream: %r" % printed[-400:])
        must(done.returncode == 0 and b"touch" in done.stdout and b"steps" in done.stdout,
             "%s: status %d: %s" % (reader[0], done.returncode, said(done)))
        must(not done.stderr, "%s: %s" % (reader[0], said(done)))


def parts(folder, steps):
    """Each alone can be read: by signal, by size; the samples of all are those that were made."""
    for how in ("signal", "100K"):
        out = os.path.join(folder, "parts-%s.data" % how)
        program = subprocess.Popen([steps, "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        recorder = Controlled("ours", out, ["-D", "-1", "-e", "page-faults:u", "-c", "1", "--switch-output=" + how, "-p",
                                            str(program.pid)])
        recorder.obey("enable")
        for _ in range(3):
            do_work(program)
            before = glob.glob(out + ".*")
            if how == "signal":
                recorder.process.send_signal(signal.SIGUSR2)
                wait_until(lambda: len(glob.glob(out + ".*")) > len(before), "no new part")
        program.stdin.close()
        program.wait()
        recorder.end()
        names = glob.glob(out + ".*")
        must(len(names) >= 2, "%s: %d parts" % (how, len(names)))
        total = 0
        for name in names:
            must_be_clean(name)
            must_please_perf(name)
            found = re.search(r"SAMPLE\s+(\d+)", text(PERFRAY, "info", name))
            total += int(found.group(1)) if found else 0
        must(3 * COUNT <= total <= 3.1 * COUNT, "%s: %d samples in all parts" % (how, total))
    few_parts(folder)


def few_parts(folder):
    """Of many parts the newest stay, as many as are asked for; a file alone may have a time in its name, too."""
    out = os.path.join(folder, "few.data")
    record("ours", out, ["-e", "page-faults", "-c", "1", "-m", "8", "--switch-output=100K", "--switch-max-files", "3"],
           ["sh", "-c", "i=0; while [ $i -lt 400 ]; do /bin/true; i=$((i + 1)); done"])
    names = sorted(glob.glob(out + ".*"))
    must(len(names) == 3, "%d parts stay of 3" % len(names))
    for name in names:
        must_be_clean(name)
    out = os.path.join(folder, "dated.data")
    record("ours", out, ["-e", "page-faults", "--timestamp-filename"], ["true"])
    must(len(glob.glob(out + ".20*")) == 1 and not os.path.exists(out), "the file has no time in its name")


def newest(folder, steps):
    """A ring that overwrites keeps the newest and loses nothing: the last page is there, the first ones are not."""
    out = os.path.join(folder, "newest.data")
    done = record("ours", out, ["--overwrite", "-m", "4", "-d", "-e", "page-faults:u", "-c", "1"], [steps])
    last = int(done.stdout.split()[-1], 16)
    found = [int(word, 16) for word in text("perf", "script", "-i", out, "-F", "addr").split()]
    must(last in found and last - (COUNT - 1) * 4096 not in found, "%d samples, without the newest" % len(found))
    must(b"lost" not in done.stderr, said(done))
    must_be_clean(out)


def late(folder, steps):
    """Counted between the orders alone."""
    out = os.path.join(folder, "late.data")
    program = subprocess.Popen([steps, "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    recorder = Controlled("ours", out, ["-D", "-1", "-e", event_of_steps(folder, steps), "-p", str(program.pid)])
    recorder.obey("ping")
    for order in (None, "enable", "disable"):
        if order:
            recorder.obey(order)
        do_work(program)
    program.stdin.close()
    program.wait()
    recorder.end()
    count = len(text("perf", "script", "-i", out, "-F", "event").splitlines())
    must(count == COUNT, "%d samples of %d" % (count, COUNT))


def delayed(folder, steps):
    """The first sample comes so much after the exec; what maps there are is told from the start."""
    out = os.path.join(folder, "delayed.data")
    recorder = subprocess.Popen([PERFRAY, "record", "-D", "200", "-e", "cpu-clock:u", "-o", out, steps, "spin"],
                                stderr=subprocess.PIPE)
    wait_until(lambda: os.path.exists(out) and os.path.getsize(out) > 20000, "no samples come")
    recorder.send_signal(signal.SIGINT)
    recorder.communicate(timeout=PATIENCE)
    rows = text("perf", "script", "-i", out, "--show-task-events", "-F", "comm,time,event", "--ns").splitlines()
    times = {kind: float(re.search(r"([\d.]+):", row).group(1)) for kind in ("COMM exec", "cpu-clock")
             for row in reversed(rows) if kind in row}
    must(len(times) == 2 and times["cpu-clock"] - times["COMM exec"] >= 0.2, "%s" % times)
    must_be_clean(out)


def wait_until(holds, problem):
    end = time.monotonic() + PATIENCE
    while not holds():
        must(time.monotonic() < end, problem)
        time.sleep(0.02)


# --- cpus that go and come --------------------------------------------------------------------------------------------

ONLINE = "/sys/devices/system/cpu/online"


class RealCpu:
    """The last cpu, switched."""

    def __init__(self, folder):
        switches = sorted(glob.glob("/sys/devices/system/cpu/cpu[1-9]*/online"))
        if not switches:
            raise Skip("no cpu can be switched off here")
        self.path, self.cpu, self.before = switches[-1], re.search(r"cpu(\d+)/online", switches[-1]).group(1), []
        self.switch(True)

    def switch(self, on):
        with open(self.path, "w", encoding="ascii") as file:
            file.write("1" if on else "0")


class ListedCpu:
    """The last cpu, in the list alone, where nothing can be switched: a mount that the recorder alone sees."""

    def __init__(self, folder):
        with open(ONLINE, encoding="ascii") as file:
            found = re.match(r"0-(\d+)$", file.read().strip())
        if not found:
            raise Skip("there is one cpu here")
        self.cpu, self.path = found.group(1), os.path.join(folder, "online")
        self.before = ["unshare", "-m", "sh", "-c", 'mount --bind "$0" %s && exec "$@"' % ONLINE, self.path]
        self.switch(True)
        if run(*self.before, "true").returncode:
            raise Skip("/sys is read-only, and nothing can be mounted over it")

    def switch(self, on):
        last = int(self.cpu) - (not on)
        with open(self.path, "w", encoding="ascii") as file:
            file.write("0-%d\n" % last if last else "0\n")


def switched_cpu(folder):
    try:
        return RealCpu(folder)
    except OSError:
        return ListedCpu(folder)


def hotplug(folder, steps):
    must_be_root()
    out, told = os.path.join(folder, "hotplug.data"), os.path.join(folder, "hotplug.told")
    it = switched_cpu(folder)

    def is_told(word):
        with open(told, encoding="utf-8") as file:
            return word in file.read()
    with open(told, "wb") as stream:
        recorder = subprocess.Popen([*it.before, PERFRAY, "record", "-a", "-c", "1", "-o", out, "-e", "page-faults:u", "sleep", "600"],
                                    stderr=stream)
    try:
        wait_until(lambda: os.path.exists(out) and os.path.getsize(out) > 4096, "no recording begins")
        it.switch(False)
        wait_until(lambda: is_told("cpu %s went off" % it.cpu), "it is not told that a cpu went off")
        it.switch(True)
        wait_until(lambda: is_told("cpu %s came: it is recorded" % it.cpu), "it is not told that a cpu came")
        must(run("taskset", "-c", it.cpu, steps).returncode == 0, "nothing can run on cpu %s" % it.cpu)
    finally:
        it.switch(True)
        recorder.send_signal(signal.SIGINT)
        recorder.wait(timeout=PATIENCE)
    must(recorder.returncode == 143, "status %d" % recorder.returncode)
    rows = text("perf", "script", "-i", out, "-F", "comm,cpu,event").splitlines()
    wanted = ["steps", "[%03d]" % int(it.cpu), "page-faults:u:"]
    must(sum(row.split() == wanted for row in rows) >= COUNT, "nothing of cpu %s is recorded after it came" % it.cpu)
    must_please_perf(out)
    must_be_clean(out)


# --- BPF programs -----------------------------------------------------------------------------------------------------

def load_program(name):
    """A socket filter that returns 0; its descriptor."""
    number = {"x86_64": 321, "aarch64": 280, "s390x": 351}.get(os.uname().machine)
    if number is None or sys.byteorder != "little":
        raise Skip("no program is written for this machine")
    code = ctypes.create_string_buffer(struct.pack("<BBhiBBhi", 0xb7, 0, 0, 0, 0x95, 0, 0, 0))
    licence = ctypes.create_string_buffer(b"GPL")
    attr = struct.pack("<IIQQIIQII16s", 1, 2, ctypes.addressof(code), ctypes.addressof(licence), 0, 0, 0, 0, 0, name)
    fd = ctypes.CDLL(None, use_errno=True).syscall(number, 5, ctypes.create_string_buffer(attr, 128), 128)
    if fd < 0:
        raise Skip("bpf(2): %s" % os.strerror(ctypes.get_errno()))
    return fd


def programs_of(path):
    """What perf says of programs, in the header and in records."""
    rows = text("perf", "report", "-i", path, "--header-only", "-I").splitlines()
    rows += text("perf", "script", "-i", path, "--show-bpf-events", "-F", "comm,event").splitlines()
    found = [re.sub(r"^.*PERF_RECORD", "PERF_RECORD", row) for row in rows
             if row.startswith("# bpf_prog_info") or "PERF_RECORD_KSYMBOL" in row or "PERF_RECORD_BPF" in row]
    return sorted(row for row in found if "bpf_prog" in row or "BPF_EVENT" in row)


def programs(folder):
    """Those that are loaded are told as perf tells them; what they are is in the header."""
    must_be_root()
    loaded = [load_program(b"perfray_one"), load_program(b"")]
    found = {}
    for tool in ("perf", "ours"):
        out = os.path.join(folder, "programs." + tool)
        record(tool, out, ["-e", "cpu-clock"], ["true"])
        found[tool] = programs_of(out)
    for fd in loaded:
        os.close(fd)
    must(any("perfray_one" in row for row in found["perf"]) and len(found["perf"]) >= 6, "perf tells no program")
    must(found["perf"] == found["ours"], "perf %s, ours %s" % (found["perf"], found["ours"]))
    must_be_clean(os.path.join(folder, "programs.ours"))
    must_please_perf(os.path.join(folder, "programs.ours"))


def programs_among_many(folder):
    """The kernel makes what it tells of a program longer for each counter of the cpu that hears of it, whoever opened it."""
    must_be_root()
    outs = [os.path.join(folder, "among-%d.data" % i) for i in range(3)]
    recorders = [subprocess.Popen([PERFRAY, "record", "-q", "-a", "-e", "cpu-clock", "-F", "99", "-o", out, *more, "sleep", "600"])
                 for out, more in zip(outs, ([], ["-g"], ["-z"]))]
    try:
        for out in outs:
            wait_until(lambda out=out: os.path.exists(out) and os.path.getsize(out) > 4096, "no recording begins")
        time.sleep(0.3)
        os.close(load_program(b"perfray_late"))
    finally:
        for recorder in recorders:
            recorder.send_signal(signal.SIGINT)
        for recorder in recorders:
            recorder.wait(timeout=PATIENCE)
    for out in outs:
        must(any("perfray_late" in row for row in programs_of(out)), "%s: the program is not told" % out)
        must_be_clean(out)


# --- privileges -------------------------------------------------------------------------------------------------------

def capability(path, number):
    """The file gets one capability, effective: struct vfs_cap_data, revision 2."""
    low, high = (1 << number if number < 32 else 0), (1 << number - 32 if number >= 32 else 0)
    os.setxattr(path, "security.capability", struct.pack("<5I", 0x02000001, low, 0, high, 0))


def privileges(folder):
    """Counters need them, files and names do not: what is recorded is the user's, and so is what the command may."""
    must_be_root()
    if not shutil.which("setpriv"):
        raise Skip("setpriv is not installed")
    home, closed = os.path.join(folder, "home"), os.path.join(folder, "closed")
    os.chmod(folder, 0o755)
    os.mkdir(home)
    os.mkdir(closed, 0o700)
    os.chown(home, NOBODY, NOBODY)
    drop = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
    ways = (("setuid", lambda path: os.chmod(path, 0o4755)), ("capability", lambda path: capability(path, 38)))
    for way, raise_it in ways:
        command, out = os.path.join(folder, "perfray-" + way), os.path.join(home, way + ".data")
        shutil.copy(PERFRAY, command)
        raise_it(command)
        script = "cat /proc/$PPID/status /proc/self/status"
        done = run(*drop, command, "record", "-a", "-e", "cpu-clock", "-o", out, "sh", "-c", script, cwd=home)
        if done.returncode == 6 and paranoid() > 0:
            raise Skip("a %s has no effect in this folder" % way)
        must(done.returncode == 0, "%s: status %d: %s" % (way, done.returncode, said(done)))
        lines = done.stdout.decode().splitlines()
        users = [line.split()[1:] for line in lines if line.startswith("Uid:")]
        caps = [int(line.split()[1], 16) for line in lines if line.startswith(("CapEff:", "CapPrm:"))]
        must(users == [[str(NOBODY)] * 4] * 2 and caps == [0] * 4, "%s: users %s, capabilities %s" % (way, users, caps))
        must(os.stat(out).st_uid == NOBODY, "%s: the file is not the user's" % way)
        must_be_clean(out)
        done = run(*drop, command, "record", "-o", os.path.join(closed, "x.data"), "-e", "cpu-clock", "true", cwd=home)
        must(done.returncode == 6 and not os.listdir(closed), "%s: status %d: %s" % (way, done.returncode, said(done)))
        secret = os.path.join(closed, "secret.data")
        shutil.copy(out, secret)
        must(run(*drop, command, "report", secret).returncode == 6, "%s: report reads what the user may not" % way)
        os.unlink(secret)


def main():
    source = sys.argv[1]
    with harness.scratch("counted") as folder:
        steps = os.path.join(folder, "steps")
        if run(PERFRAY, "record", "-q", "-e", "cpu-clock:u", "-o", os.path.join(folder, "try.data"), "true").returncode:
            return harness.skip("record", "nothing can be sampled here")
        if run("gcc", "-g", "-O1", "-no-pie", "-o", steps, source).returncode:
            return harness.skip("record", "gcc is not installed")
        report("privileges", privileges, folder)
        if not shutil.which("perf"):
            harness.skip("record/options", "perf is not installed")
            return harness.status()
        report("options", all_options, folder)
        report("list", listed, folder)
        report("bpf-programs", programs, folder)
        report("bpf-programs-among-many", programs_among_many, folder)
        counted(folder, steps)
        for name, part in (("streams", streams), ("parts", parts), ("newest", newest), ("late", late), ("delayed", delayed),
                           ("hotplug", hotplug)):
            report(name, part, folder, steps)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
