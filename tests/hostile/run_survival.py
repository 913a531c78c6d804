#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_survival.py - checks that an interrupted conversion never leaves an incomplete file with the target's name.

usage: run_survival.py [--samples N] [--moments N]

Environment: PERFRAY, the command. The command is killed at random moments, while it writes to a new or an existing name.
Afterwards the name must not exist, or have the old bytes, or the bytes of a complete conversion; any other file that is left is
named NAME.PID.new. Then the disk is full (a small tmpfs; skipped if it cannot be mounted): status 5, the reason is reported,
and no file is left.
"""
import argparse
import hashlib
import os
import random
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
import run_million  # noqa: E402

ENDS_IO = 5
LEFT = re.compile(r"out\.[0-9]+\.new$")
FORMS = (["convert"], ["convert", "--compress"], ["convert", "--to=directory"], ["recover"])


def words(form, path, out):
    return [harness.PERFRAY, *form, path, "-o", out]


def report(name, figures, wrong):
    harness.result("edit/survival %s (%s)" % (name, figures), wrong)


def digest(path):
    """The bytes of a file, or of all files in a folder; None: the name does not exist."""
    if not os.path.lexists(path):
        return None
    names = sorted(os.listdir(path)) if os.path.isdir(path) else [""]
    hashed = hashlib.sha256()
    for name in names:
        with open(os.path.join(path, name) if name else path, "rb") as file:
            hashed.update(name.encode() + file.read())
    return hashed.hexdigest()


def clean(folder):
    subprocess.run(["rm", "-rf", folder], check=True)
    os.mkdir(folder)


def kill_at(form, path, out, seconds):
    done = subprocess.Popen(words(form, path, out), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)
    time.sleep(seconds)
    done.send_signal(signal.SIGKILL)
    return done.wait()


def one_kill(form, path, folder, seconds, whole, old):
    """(the defect or None, whether the command was killed)"""
    out = os.path.join(folder, "out")
    clean(folder)
    if old:
        run_million.write(out, old)
    before = digest(out)
    status = kill_at(form, path, out, seconds)
    left = [name for name in os.listdir(folder) if name != "out" and not LEFT.match(name)]
    if digest(out) not in (before, whole):
        return "something half-written has the name", status < 0
    return "left: %s" % ", ".join(left) if left else "", status < 0


def check_kills(form, path, folder, moments):
    out, noise = os.path.join(folder, "out"), random.Random(5)
    clean(folder)
    begin = time.monotonic()
    subprocess.run(words(form, path, out), check=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    took, whole, killed = time.monotonic() - begin, digest(out), 0
    for moment in range(moments):
        old = b"old" if moment % 2 and "directory" not in form[-1] else None
        wrong, was_killed = one_kill(form, path, folder, noise.random() * took, whole, old)
        killed += was_killed
        if wrong:
            return report("SIGKILL, %s" % " ".join(form), "moment %d" % moment, wrong)
    return report("SIGKILL, %s" % " ".join(form), "%d moments, killed in %d" % (moments, killed),
                  "" if killed else "it was never killed")


def check_full(form, path, folder):
    """Converts to a file system with room for a 256th of the recording."""
    out = os.path.join(folder, "out")
    name = "no space, %s" % " ".join(form)
    size = os.path.getsize(path) // 256
    clean(folder)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%d" % size, "none", folder], check=False,
                      stderr=subprocess.DEVNULL).returncode:
        return harness.skip("edit/survival", "%s: no tmpfs can be mounted" % name)
    try:
        done = subprocess.run(words(form, path, out), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        left, said = os.listdir(folder), done.stderr.decode()
    finally:
        subprocess.run(["umount", folder], check=True)
    good = done.returncode == ENDS_IO and not left and "No space left" in said and "out" in said
    return report(name, "status %d" % done.returncode, "" if good else "left: %s; said: %s" % (left, said.strip()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=500000)
    parser.add_argument("--moments", type=int, default=50)
    options = parser.parse_args()
    with harness.scratch("survival") as top:
        path, folder = os.path.join(top, "in.data"), os.path.join(top, "folder")
        run_million.write(path, run_million.sound(options.samples))
        for form in FORMS:
            check_kills(form, path, folder, options.moments)
            check_full(form, path, folder)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
