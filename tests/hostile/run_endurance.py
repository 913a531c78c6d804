#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_endurance.py MANY_TASKS.c - tests the recorder in difficult conditions: it is killed, the disk fills up, thousands of tasks start, memory is short,
its stream has no reader, its command is not reaped.

Environment: PERFRAY, the command. With PERFRAY_LONG: 20 kills, ten seconds of forks, 1000 threads, and a killed recorder must lose at most the last second;
otherwise fewer of these, and no checks that depend on time. Prints `ok NAME`, `not ok NAME` or `skip NAME reason`.
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
from harness import LONG  # noqa: E402
from counted_recorders import said
from run_record import PERFRAY, Skip, must, must_be_root, report, run, text

PATIENCE = 120
GETPPID = ["-e", "syscalls:sys_enter_getppid", "-c", "1"]


def facts(path):
    done = run(PERFRAY, "info", "--format=json", path)
    must(done.returncode in (0, 4), "info %s: status %d: %s" % (path, done.returncode, said(done)))
    return json.loads(done.stdout)


def counts(path):
    return {row["name"]: row["count"] for row in facts(path)["records"]}


def begin(*words, **more):
    return subprocess.Popen([PERFRAY, "record", *words], stderr=subprocess.PIPE, **more)


def must_be_traced():
    must_be_root()
    if run(PERFRAY, "record", "-q", *GETPPID, "-o", "/dev/stdout", "--dry-run", "true").returncode:
        raise Skip("there are no tracepoints of system calls")


# --- killed -----------------------------------------------------------------------------------------------------------

def kill_once(folder, wait):
    out, good = os.path.join(folder, "killed.data"), os.path.join(folder, "recovered.data")
    recorder = subprocess.Popen([PERFRAY, "record", "-q", "-F", "2000", "-k", "CLOCK_MONOTONIC", "-e", "cpu-clock", "-o", out,
                                 "bash", "-c", "while :; do :; done"], start_new_session=True)
    deadline = time.monotonic() + PATIENCE
    while not (os.path.exists(out) and counts_so_far(out) > 0) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(wait)
    recorder.kill()
    killed_at = time.monotonic()
    recorder.wait(timeout=PATIENCE)
    os.killpg(recorder.pid, signal.SIGKILL)
    here = facts(out)
    must("bash" in text(PERFRAY, "report", "--no-pager", out), "the report shows nothing")
    must(not LONG or here["last_time"] / 1e9 > killed_at - 1.0,
         "the last sample is %.2f s older than the kill" % (killed_at - here["last_time"] / 1e9))
    done = run(PERFRAY, "recover", "-o", good, out)
    must(done.returncode in (0, 4), "recover: status %d: %s" % (done.returncode, said(done)))
    kept = {row["name"]: row["count"] for row in here["records"]}["SAMPLE"]
    must(counts(good)["SAMPLE"] == kept, "recover keeps %d of %d samples" % (counts(good)["SAMPLE"], kept))
    if shutil.which("perf"):
        lines = text("perf", "script", "-i", good, "-F", "ip").splitlines()
        must(len(lines) == kept, "perf reads %d of %d samples" % (len(lines), kept))
    os.unlink(good)
    os.unlink(out)


def counts_so_far(path):
    done = run(PERFRAY, "info", "--format=json", path)
    if done.returncode not in (0, 4) or not done.stdout:
        return 0
    return sum(event["samples"] for event in json.loads(done.stdout)["events"])


def killed(folder):
    choice = random.Random(7)
    for _ in range(20 if LONG else 2):
        kill_once(folder, choice.uniform(0, 3.0 if LONG else 0.3))


# --- no space ---------------------------------------------------------------------------------------------------------

def no_space(folder):
    """Every byte that the disk accepted belongs to a complete record, except the bytes of the last record, which was cut."""
    must_be_root()
    small = os.path.join(folder, "small")
    os.mkdir(small)
    if run("mount", "-t", "tmpfs", "-o", "size=1m", "none", small).returncode:
        raise Skip("no tmpfs can be mounted")
    try:
        out, good = os.path.join(small, "perf.data"), os.path.join(folder, "space.data")
        done = run(PERFRAY, "record", "-F", "20000", "-e", "cpu-clock", "--call-graph", "dwarf", "-o", out, "bash", "-c",
                   "for ((i=0;i<400000;i++)); do :; done; exit 3", timeout=PATIENCE)
        must(done.returncode == 5 and b"space" in done.stderr, "status %d: %s" % (done.returncode, said(done)))
        here = facts(out)
        must(here["quality"]["hole_bytes"] < 1 << 16 and here["quality"]["holes"] <= 1, "holes: %s" % here["quality"])
        must(os.path.getsize(out) > 900 << 10, "%d bytes were written" % os.path.getsize(out))
        must(run(PERFRAY, "recover", "-o", good, out).returncode in (0, 4), "it cannot be recovered")
        samples = counts(out)["SAMPLE"]
        must(samples > 50 and counts(good)["SAMPLE"] == samples, "%d samples, %s kept" % (samples, counts(good)))
        must(os.path.getsize(good) > os.path.getsize(out) - (66 << 10), "more than the record that was cut is missing")
    finally:
        run("umount", small)


# --- tasks ------------------------------------------------------------------------------------------------------------

def forks(folder, tasks):
    out = os.path.join(folder, "forks.data")
    done = run(PERFRAY, "record", "-e", "cpu-clock", "-o", out, tasks, "forks", *(("10", "0") if LONG else ("0", "800")),
               timeout=PATIENCE)
    must(done.returncode == 0, "status %d: %s" % (done.returncode, said(done)))
    children, found = int(done.stdout), counts(out)
    must(facts(out)["quality"]["lost_samples"] == 0, "records were lost: %s" % said(done))
    # plus two workers; the recorder's own COMM of the command, and that of its exec
    expected = {"FORK": children + 2, "EXIT": children + 3, "COMM": children + 2}
    must({name: found.get(name, 0) for name in expected} == expected,
         "%d children: %s, not %s" % (children, {name: found.get(name) for name in expected}, expected))
    if LONG:
        print("# %d children in 10 s" % children)


def tids(path):
    lines = text(PERFRAY, "script", "-F", "tid", "-i", path).split()
    return len(lines), len(set(lines))


def threads_of_command(folder, tasks):
    must_be_traced()
    count, out = 1000 if LONG else 150, os.path.join(folder, "threads.data")
    done = harness.perfray("record", *GETPPID, "-o", out, tasks, "threads", str(count), input=b"x", timeout=PATIENCE)
    must(done.returncode == 0, "status %d: %s" % (done.returncode, said(done)))
    must(tids(out) == (count, count), "%d samples of %d threads" % tids(out))
    must(counts(out)["FORK"] == count, "%d FORK" % counts(out)["FORK"])


def threads_of_process(folder, tasks):
    must_be_traced()
    count, out = 1000 if LONG else 150, os.path.join(folder, "attached.data")
    program = subprocess.Popen([tasks, "threads", str(count)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    must(program.stdout.readline() == b"there\n", "no threads")
    orders, answers = os.pipe(), os.pipe()
    recorder = begin(*GETPPID, "-p", str(program.pid), "--control", "fd:%d,%d" % (orders[0], answers[1]), "-o", out,
                     pass_fds=(orders[0], answers[1]))
    os.close(orders[0])
    os.close(answers[1])
    os.write(orders[1], b"ping\n")
    answer = os.read(answers[0], 4)
    program.communicate(b"x", timeout=PATIENCE)
    messages = recorder.communicate(timeout=PATIENCE)[1].decode("utf-8", "replace")
    os.close(orders[1])
    os.close(answers[0])
    must(answer == b"ack\n" and recorder.returncode == 0, "status %s: %s" % (recorder.returncode, messages[-300:]))
    must(tids(out) == (count, count), "%d samples of %d threads" % tids(out))
    must(counts(out)["COMM"] == count + 1, "%d COMM" % counts(out)["COMM"])


def command_says_how_long(folder, tasks):
    """With -p, the command is not recorded; it only determines how long the process is recorded."""
    must_be_traced()
    count, out, go = 20, os.path.join(folder, "while.data"), os.path.join(folder, "go")
    os.mkfifo(go)
    until_they_end = 'echo >"$1"; while [ "$(ls /proc/$0/task | wc -l)" -gt 1 ]; do :; done; exit 4'
    with open(go, "r+b", buffering=0) as fifo:
        program = subprocess.Popen([tasks, "threads", str(count)], stdin=fifo, stdout=subprocess.PIPE)
        must(program.stdout.readline() == b"there\n", "no threads")
        done = run(PERFRAY, "record", *GETPPID, "-p", str(program.pid), "-o", out, "bash", "-c", until_they_end, str(program.pid), go)
        program.wait(timeout=PATIENCE)
        program.stdout.close()
    must(done.returncode == 4, "status %d: %s" % (done.returncode, said(done)))
    names = text(PERFRAY, "script", "-F", "comm", "-i", out).split()
    must(names == ["many_tasks"] * count, "samples of %s" % names)


def named_twice(folder, tasks):
    """A CPU or task that is named twice is recorded once."""
    must_be_traced()
    out = os.path.join(folder, "twice.data")
    program = subprocess.Popen(["sleep", "60"])
    try:
        for words in (["-C", "0,0-0,0", "-a"], ["-p", "%d,%d" % (program.pid, program.pid)], ["-t", "%d" % program.pid, "-p", "%d" % program.pid]):
            done = run(PERFRAY, "record", *GETPPID, *words, "-o", out, tasks, "calls", "10")
            must(done.returncode == 0, "%s: status %d: %s" % (words, done.returncode, said(done)))
            events = facts(out)["events"]
            cpus = 1 if "-C" in words else os.sysconf("SC_NPROCESSORS_ONLN")
            must(len(events[0]["ids"]) == cpus, "%s: %d counters" % (words, len(events[0]["ids"])))
    finally:
        program.kill()
        program.wait()


def overrun(folder, tasks):
    """With rings of one page, recorded and lost records add up to the number that is recorded with sufficient room."""
    must_be_traced()
    command, sums = [tasks, "calls", "200000"], []
    for ring in ("1", "64M"):
        out = os.path.join(folder, "overrun.data")
        done = run(PERFRAY, "record", *GETPPID, "-m", ring, "-o", out, *command)
        must(done.returncode == 0, "status %d: %s" % (done.returncode, said(done)))
        found, lost = counts(out), facts(out)["quality"]["lost_samples"]
        must((lost > 0) == (ring == "1"), "-m %s: %d lost" % (ring, lost))
        must((b"were lost" in done.stderr) == (lost > 0), "it says: %s" % said(done))
        sums.append(lost + sum(found.get(name, 0) for name in ("SAMPLE", "COMM", "MMAP2", "FORK", "EXIT")))
    must(sums[0] == sums[1], "%d recorded and lost of %d" % tuple(sums))


# --- little memory ----------------------------------------------------------------------------------------------------

def limited_group():
    """A memory cgroup of 32 MB, version 1 or 2; returns the file that adds processes."""
    for root, name in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        group = os.path.join(root, "perfray-test-%d" % os.getpid())
        try:
            os.mkdir(group)
            with open(os.path.join(group, name), "w", encoding="ascii") as file:
                file.write(str(32 << 20))
            return group
        except OSError:
            if os.path.isdir(group):
                os.rmdir(group)
    raise Skip("no memory cgroup can be made")


def little_memory(folder):
    must_be_root()
    group, out = limited_group(), os.path.join(folder, "little.data")
    try:
        done = run("bash", "-c", 'echo $$ >"$0"/cgroup.procs && exec "$@"', group, PERFRAY, "record", "-F", "20000", "--call-graph",
                   "dwarf", "-e", "cpu-clock", "-o", out, "bash", "-c", "for ((i=0;i<%d;i++)); do :; done" % (3000000 if LONG else 400000),
                   timeout=PATIENCE)
        must(done.returncode == 0, "status %d: %s" % (done.returncode, said(done)))
        must(os.path.getsize(out) > 8 << 20 and counts(out)["SAMPLE"] > 1000, "%d bytes" % os.path.getsize(out))
    finally:
        os.rmdir(group)


# --- orders and ends --------------------------------------------------------------------------------------------------

def stubborn(folder, tasks):
    """A command that ignores the signal continues; the file is complete after one signal, readable after two."""
    for number, orders in ((signal.SIGINT, 1), (signal.SIGHUP, 1), (signal.SIGINT, 2)):
        out = os.path.join(folder, "stubborn.data")
        recorder = begin("-e", "cpu-clock", "-o", out, tasks, "stay", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        must(recorder.stdout.readline() == b"there\n", "the command did not start")
        for _ in range(orders):
            recorder.send_signal(number)
            time.sleep(0.1)
        recorder.wait(timeout=PATIENCE)
        messages = recorder.stderr.read1(1000).decode()
        recorder.stdin.close()
        must("the command continues to run as process" in messages or orders == 2, "it says: %s" % messages)
        here = facts(out)
        must(here["file"]["finalised"] or orders == 2, "the file is not finished")
        recorder.stdout.close()
        recorder.stderr.close()


def unread(tasks):
    """If the stream has no reader, the recorder ends although the command continues."""
    out, into = os.pipe()
    recorder = subprocess.Popen([PERFRAY, "record", "-F", "20000", "-e", "cpu-clock", "-o", "-", "bash", "-c",
                                 "%s stay >/dev/null & while :; do :; done" % tasks],
                                stdin=subprocess.PIPE, stdout=into, stderr=subprocess.PIPE, start_new_session=True)
    os.close(into)
    os.read(out, 10)
    os.close(out)
    try:
        recorder.wait(timeout=PATIENCE)
        must(recorder.returncode == 5, "status %d" % recorder.returncode)
    finally:
        os.killpg(recorder.pid, signal.SIGKILL)
    recorder.stdin.close()
    recorder.stderr.close()


def unwaited(folder):
    out = os.path.join(folder, "unwaited.data")
    for command, status in (("exit 3", 3), ("kill -9 $$", 137), ("true", 0)):
        done = run("bash", "-c", "trap '' CHLD; exec \"$@\"", "bash", PERFRAY, "record", "-q", "-o", out, "bash", "-c", command)
        must(done.returncode == status, "%s: status %d: %s" % (command, done.returncode, said(done)))


def refused(folder):
    """If recording cannot start, an existing file is not changed, and one line reports the reason."""
    out = os.path.join(folder, "kept.data")
    with open(out, "wb") as file:
        file.write(b"precious")
    plain = os.path.join(folder, "plain")
    with open(plain, "w", encoding="ascii") as file:
        file.write("no program\n")
    for words, status, why in (
            (["nosuch-program"], 2, "it is not in PATH"), (["./nosuch"], 2, "the file does not exist"), ([plain], 2, "may not be executed"),
            ([folder], 2, "it is not a regular file"), ([""], 2, "cannot start ''"), (["-C", "32000", "true"], 2, "there is no CPU 32000"),
            (["-p", "2147483647"], 2, "no process or thread"), (["-e", "nosuch", "true"], 2, "no event 'nosuch'"),
            (["--control", "fd:777", "true"], 2, "fd:777"), (["-m", "0", "true"], 2, "--mmap-pages"),
            (["--status-fd", "777", "true"], 2, "--status-fd 777")):
        done = run(PERFRAY, "record", "-o", out, *words)
        lines = [line for line in said(done).splitlines() if "using cpu-clock" not in line]
        must(done.returncode == status and len(lines) == 1 and why in lines[0], "%s: %d: %s" % (words, done.returncode, said(done)))
        with open(out, "rb") as file:
            must(file.read() == b"precious" and not os.path.exists(out + ".old"), "%s: the recording is not as it was" % words)
    for name, words, why in (("-", ["--switch-output=1s"], "needs a file"), ("", [], "names no file"), (folder, [], "is not a regular file")):
        done = run(PERFRAY, "record", *words, "-o", name, "true")
        must(done.returncode == 2 and why in said(done) and not done.stdout, "-o '%s': %d: %s" % (name, done.returncode, said(done)))


def main():
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # also if these tests run under nohup
    with harness.scratch("endurance") as folder:
        if run(PERFRAY, "record", "-q", "-e", "cpu-clock:u", "-o", os.path.join(folder, "try.data"), "true").returncode:
            return harness.skip("record", "nothing can be sampled here")
        tasks = os.path.join(folder, "many_tasks")
        if run("gcc", "-O1", "-pthread", "-o", tasks, sys.argv[1]).returncode:
            return harness.skip("record", "gcc is not installed")
        report("endures/killed", killed, folder)
        report("endures/no-space", no_space, folder)
        report("endures/forks", forks, folder, tasks)
        report("endures/threads-of-command", threads_of_command, folder, tasks)
        report("endures/threads-of-process", threads_of_process, folder, tasks)
        report("endures/command-says-how-long", command_says_how_long, folder, tasks)
        report("endures/named-twice", named_twice, folder, tasks)
        report("endures/overrun", overrun, folder, tasks)
        report("endures/little-memory", little_memory, folder)
        report("endures/stubborn", stubborn, folder, tasks)
        report("endures/unread", unread, tasks)
        report("endures/unwaited", unwaited, folder)
        report("endures/refused", refused, folder)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
