# SPDX-License-Identifier: Apache-2.0
"""The recorders of run_counted.py, perfray and the installed perf, either run to the end or controlled by commands; and the checks
that every file of perfray must pass."""
import os
import select
import subprocess
import time

from run_record import PERFRAY, Skip, must, run

COUNT = 4000
PATIENCE = 60


def said(done):
    return done.stderr.decode("utf-8", "replace").strip()[-400:]


def must_be_clean(path):
    """No command may find a problem in a recording made by perfray."""
    for verb in ("verify", "info", "dump"):
        done = subprocess.run([PERFRAY, verb, path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, check=False, timeout=PATIENCE)
        must(done.returncode == 0 and not done.stderr, "%s %s: status %d: %s" % (verb, path, done.returncode, said(done)))


def must_please_perf(path):
    warned = run("perf", "script", "-i", path).stderr
    warned += run("perf", "report", "--stdio", "-i", path).stderr
    must(not warned or b"has no samples" in warned, "perf says of ours: %s" % warned.decode("utf-8", "replace")[:300])


def record(tool, out, options, command):
    """Returns the messages of the recorder. perf is started again if a signal ends it."""
    head = ["perf", "record", "-N"] if tool == "perf" else [PERFRAY, "record"]
    for _ in range(3):
        done = run(*head, "-o", out, *options, *command, timeout=PATIENCE)
        if tool != "perf" or done.returncode >= 0:
            break
    if done.returncode and tool == "perf":
        raise Skip("perf cannot: %s" % said(done).split("\n")[0][:100])
    must(done.returncode == 0, "status %d: %s" % (done.returncode, said(done)))
    return done


class Controlled:
    """A recorder that receives commands on a pipe, and acknowledges them on another pipe."""

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


def wait_until(holds, problem):
    end = time.monotonic() + PATIENCE
    while not holds():
        must(time.monotonic() < end, problem)
        time.sleep(0.02)
