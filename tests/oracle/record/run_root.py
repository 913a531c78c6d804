#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_root.py - tests recordings that need root: `perfray info` must show their BPF programs and tracepoints.

Environment: PERFRAY, the command. Makes short recordings with the installed perf, without the build-id cache, in a temporary
folder. bpftool loads a BPF program into a bpf file system mounted inside that folder, and the program is gone when the test
ends. Prints `ok NAME`, `not ok NAME` or, if something is not permitted or not installed, `skip NAME reason`.
"""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
from harness import Skip, need  # noqa: E402

WATCH = """/* The smallest program; only its being loaded is of interest. */
__attribute__((section("tracepoint/sched/sched_switch"), used)) int perfray_watch(void *context) {
    return context == 0;
}
char terms[] __attribute__((section("license"), used)) = "GPL";
"""
TRACEPOINTS = ("sched:sched_process_fork", "sched:sched_process_exec", "raw_syscalls:sys_exit")


def run(words, folder, **more):
    environment = {"PATH": harness.PATH, "HOME": folder, "LC_ALL": "C", "TZ": "UTC"}
    return harness.run(words, cwd=folder, env=environment, **more)


def must(words, folder, why):
    done = run(words, folder)
    if done.returncode != 0:
        raise Skip("%s: %s" % (why, harness.last_line(done)))
    return done


def info(folder, *options):
    done = run([harness.PERFRAY, "info", *options, "perf.data"], folder)
    assert done.returncode == 0, "info %s: status %d, %s" % (options, done.returncode, done.stderr)
    return done.stdout.decode("utf-8")


def record(folder, *words):
    must(["perf", "record", "-N", "-q", "-o", "perf.data", *words], folder, "perf record is not permitted")


def load_watch(folder):
    """The id and tag of a BPF program that stays loaded while folder/bpf is mounted."""
    need("bpftool")
    compiler = next((name for name in ("clang-14", "clang") if shutil.which(name)), None)
    if not compiler:
        raise Skip("clang is not installed")
    with open(os.path.join(folder, "watch.c"), "w", encoding="utf-8") as source:
        source.write(WATCH)
    must([compiler, "-O2", "-g", "-target", "bpf", "-c", "watch.c", "-o", "watch.o"], folder, "no BPF code is made")
    os.mkdir(os.path.join(folder, "bpf"))
    must(["mount", "-t", "bpf", "bpf", "bpf"], folder, "no bpf file system")
    must(["bpftool", "prog", "load", "watch.o", "bpf/watch"], folder, "no BPF program can be loaded")
    shown = json.loads(must(["bpftool", "-j", "prog", "show", "pinned", "bpf/watch"], folder, "bpftool").stdout)
    return shown["id"], shown["tag"]


def check_bpf(folder):
    """`info` shows a loaded program with its id, name and tag."""
    need("perf")
    number, tag = load_watch(folder)
    record(folder, "-e", "cpu-clock", "--", "true")
    text, said = info(folder), info(folder, "--format=json")
    assert str(number) in re.findall(r"\d+", text) and "perfray_watch" in text, "info does not name the program:\n" + text
    json.loads(said)
    assert "perfray_watch" in said and tag in said.replace(":", ""), "JSON has no program %s %s" % (number, tag)
    expected = [line for line in run(["perf", "report", "--header-only", "-I", "-i", "perf.data"], folder).stdout.decode()
                .splitlines() if "bpf_prog_info %d:" % number in line]
    ours = info(folder, "--format=perf").splitlines()
    assert expected and all(line in ours for line in expected), "as perf has it: %s" % expected


def check_tracepoints(folder):
    """`info` shows the systems and formats of the recorded events."""
    need("perf")
    words = [word for name in TRACEPOINTS for word in ("-e", name)]
    record(folder, *words, "--", "sh", "-c", "true; sh -c true")
    text, said = info(folder), info(folder, "--format=json")
    json.loads(said)
    for name in TRACEPOINTS:
        system, event = name.split(":")
        assert system in text and event in text, "info does not name %s:\n%s" % (name, text)
        assert system in said and event in said, "JSON does not name %s" % name
    events = info(folder, "--events").splitlines()
    assert [line.split(": ")[0] for line in events if ": type: " in line] == list(TRACEPOINTS), events
    expected = run(["perf", "evlist", "-v", "-i", "perf.data"], folder).stdout.decode().splitlines()
    assert [line for line in events if not line.startswith("#")] == [line for line in expected if not line.startswith("#")]


def attempt(name, check):
    """Prints one line. The folder and the mounts inside it are removed."""
    with harness.scratch("root") as folder:
        try:
            if os.geteuid() != 0:
                raise Skip("needs root")
            check(folder)
            harness.result("root/" + name)
        except Skip as reason:
            harness.skip("root/" + name, reason)
        except (AssertionError, ValueError, subprocess.TimeoutExpired) as failure:
            harness.result("root/" + name, str(failure) or True)
        finally:
            if os.path.ismount(os.path.join(folder, "bpf")):
                subprocess.run(["umount", "-l", os.path.join(folder, "bpf")], check=False)


def main():
    if not harness.has_command():
        return harness.skip("root", "PERFRAY is not set")
    attempt("bpf_program", check_bpf)
    attempt("tracepoints", check_tracepoints)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
