#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_output_taken.py - deletes, renames or replaces the output of `record` while it is written.

Environment: PERFRAY, the command. The recorder must write to and read from the file that it made, even if its path
leads to another file later; in this case it must report that and end with status 5. Prints `ok NAME`, `not ok NAME` or
`skip NAME reason`.
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
from harness import PERFRAY  # noqa: E402

BUSY = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"
RECORD = (PERFRAY, "record", "-e", "cpu-clock:u", "-F", "1000", "-o", "out")


def record(folder, script, *options):
    """Runs `record` with a shell script, which waits until there are samples."""
    return subprocess.run(RECORD + options + ("--", "sh", "-c", "%s; %s; exit 3" % (BUSY, script)), cwd=folder,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=20,
                          check=False)


def samples_in(folder, name):
    found = subprocess.run((PERFRAY, "script", "--no-symbols", name), cwd=folder, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, timeout=20, check=False)
    return found.stdout.count(b"\n") if found.returncode == 0 else -1


def check(name, holds, problem):
    harness.result("record_output/" + name, "" if holds else problem)


def says(name, done, words):
    check(name, done.returncode == 5 and words in done.stderr and b"captured" not in done.stderr,
          "status %d: %s" % (done.returncode, done.stderr))


def kept(folder):
    done = record(folder, ":")
    check("kept", done.returncode == 3 and b"captured" in done.stderr, "status %d: %s" % (done.returncode, done.stderr))


def fifo(folder):
    says("fifo", record(folder, "rm out; mkfifo out"), b"deleted or replaced")
    os.unlink(os.path.join(folder, "out"))


def deleted(folder):
    says("deleted", record(folder, "rm out"), b"deleted or replaced")
    says("deleted-quiet", record(folder, "rm out", "-q"), b"deleted or replaced")
    says("deleted-no-build-ids", record(folder, "rm out", "-B"), b"deleted or replaced")


def replaced(folder):
    record(folder, "exit 3")
    os.rename(os.path.join(folder, "out"), os.path.join(folder, "other"))
    before = samples_in(folder, "other")
    says("replaced", record(folder, "%s; mv other out" % BUSY), b"deleted or replaced")
    check("replaced-untouched", samples_in(folder, "out") == before > 0, "the other recording was changed")


def linked(folder):
    says("linked", record(folder, "rm out; ln -s /dev/zero out"), b"deleted or replaced")
    os.unlink(os.path.join(folder, "out"))


def renamed(folder):
    says("renamed", record(folder, "mv out elsewhere"), b"renamed")
    check("renamed-readable", samples_in(folder, "elsewhere") > 0, "the recording cannot be read")


def two_recorders(folder):
    inner = " ".join(RECORD) + " -q -- true"
    says("two-recorders", record(folder, inner), b"renamed")
    check("two-recorders-old", samples_in(folder, "out.old") > 0, "out.old cannot be read")


def part(folder):
    done = record(folder, "rm out.*; kill -USR2 $PPID; sleep .3", "--switch-output=signal")
    check("part", done.returncode == 5 and b"deleted or replaced" in done.stderr and b"1 part" in done.stderr,
          "status %d: %s" % (done.returncode, done.stderr))


def main():
    with harness.scratch("output") as folder:
        if record(folder, ":").returncode != 3:
            return harness.skip("record_output", "nothing can be sampled here")
        for test in (kept, fifo, deleted, replaced, linked, renamed, two_recorders, part):
            test(folder)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
