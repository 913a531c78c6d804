#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_cache.py - checks that the cache of lines and kernel symbols is used and does not change the output.

usage: run_cache.py [NAME...]

Environment: PERFRAY, the command. A program is built and recorded by the installed perf. script and report must print the same without the cache and with a
cache that is empty, full, truncated at any place, changed in any byte, in an unusable folder, or written by several commands at a time; and also after the
program was changed. The cache file of another object is never used.
"""
import json
import os
import shutil
import stat
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402

import fresh  # noqa: E402
from fresh import Wrong  # noqa: E402
from strace_log import whole_calls  # noqa: E402

OPTIONS = ("-g", "-O1", "-fno-omit-frame-pointer", "-Wl,--build-id=sha1")
RECORD = ("-N", "-e", "cpu-clock:u", "-F", "999", "-g")
VERBS = (["script", "-F", "+srcline", "--inline"], ["report", "--format=csv", "--inline", "-g", "-s", "sym,srcline"])
CUTS = 20


class Cached:
    def __init__(self, folder):
        self.folder, self.kept = folder, os.path.join(folder, "kept")
        fresh.build(folder, "inlined.c", "whole", *OPTIONS)
        fresh.record(folder, "perf.data", RECORD, ["./whole", "60"])
        self.wanted = [self.print(*words, "--no-cache") for words in VERBS]
        if os.path.exists(self.kept):
            raise Wrong("--no-cache writes")
        if b"inlined.c:" not in self.wanted[0]:
            raise Wrong("no lines: %r" % self.wanted[0][-300:])

    def print(self, *words, home="kept"):
        done = harness.perfray(*words, "--no-pager", "perf.data",
                               cwd=self.folder, timeout=fresh.SECONDS, env={"PATH": fresh.PATH, "HOME": self.folder, "XDG_CACHE_HOME": os.path.join(self.folder, home)})
        if done.returncode != 0 or done.stderr:
            raise Wrong("%s: status %d, %s" % (" ".join(words), done.returncode, fresh.last_line(done)))
        return done.stdout

    def expect(self, what, which=slice(0, 2), home="kept"):
        for words, wanted in list(zip(VERBS, self.wanted))[which]:
            if self.print(*words, home=home) != wanted:
                raise Wrong("%s: %s prints something else" % (what, words[0]))

    def files(self, home="kept"):
        place = os.path.join(self.folder, home, "perfray")
        return sorted(os.path.join(place, name) for name in os.listdir(place) if name.endswith(".lines")) if os.path.isdir(place) else []

    def counts(self):
        return json.loads(self.print("symbols", "--format=json"))["cache"]

    def whole_file(self):
        """The cache file of the program itself, which is the largest cache file."""
        return max(self.files(), key=os.path.getsize)


def check_warm(folder):
    cached = Cached(folder)
    cached.expect("an empty cache")
    files = cached.files()
    if not files or any(stat.S_IMODE(os.stat(path).st_mode) != 0o600 for path in files):
        raise Wrong("files: %r" % files)
    if stat.S_IMODE(os.stat(os.path.dirname(files[0])).st_mode) != 0o700:
        raise Wrong("others may read the folder")
    before = [open(path, "rb").read() for path in files]
    cached.expect("a full cache")
    if [open(path, "rb").read() for path in cached.files()] != before:
        raise Wrong("what is known is written again")
    if cached.counts()["read"] != len(files):
        raise Wrong("read: %r" % cached.counts())
    log = os.path.join(folder, "strace.txt")
    fresh.need("strace")
    fresh.run(["strace", "-f", "-o", log, "-e", "trace=pread64", "-yy", "env", "XDG_CACHE_HOME=" + cached.kept, harness.PERFRAY, *VERBS[0], "perf.data"],
              folder)
    for line in whole_calls(open(log, errors="replace")):
        if "/whole>" in line and int(line.split(" = ")[-1]) > 65536:
            raise Wrong("sections are read though all is known: " + line[:120])
    return "%d files" % len(files)


def check_damage(folder):
    cached = Cached(folder)
    cached.expect("an empty cache")
    path = cached.whole_file()
    whole = open(path, "rb").read()
    step = max(1, len(whole) // CUTS)
    for at in [*range(0, 132, 11), *range(132, len(whole), step)]:
        for what, bytes_ in (("cut", whole[:at]), ("changed", whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1:])):
            with open(path, "wb") as file:
                file.write(bytes_)
            cached.expect("%s at byte %d" % (what, at), slice(0, 1))
            if open(path, "rb").read() != whole:
                raise Wrong("%s at byte %d is not made anew" % (what, at))
    with open(path, "wb") as file:
        file.write(whole[:-1])
    if cached.counts()["damaged"] != 1:
        raise Wrong("a damaged file is not counted: %r" % cached.counts())
    return "%d bytes" % len(whole)


def check_folders(folder):
    """Folders and files that must not be used, or cannot be written to."""
    cached = Cached(folder)
    cached.expect("an empty cache")
    path = cached.whole_file()
    kept = os.path.dirname(path)
    os.chmod(kept, 0o777)
    os.unlink(path)
    cached.expect("a folder that all may write to")
    if os.path.exists(path):
        raise Wrong("written into a folder that all may write to")
    os.chmod(kept, 0o700)
    target = os.path.join(folder, "precious")
    with open(target, "w", encoding="ascii") as file:
        file.write("mine")
    for make in (lambda: os.symlink(target, path), lambda: os.mkfifo(path), lambda: os.mkdir(path)):
        make()
        cached.expect("something else in the file's place")
        if open(target, encoding="ascii").read() != "mine":
            raise Wrong("a link was followed")
        (os.rmdir if os.path.isdir(path) and not os.path.islink(path) else os.unlink)(path)
    shutil.rmtree(kept)
    os.symlink(folder, kept)
    cached.expect("a link in the folder's place")
    if [name for name in os.listdir(folder) if name.endswith(".lines")]:
        raise Wrong("a link to a folder was followed")
    for home in ("perf.data", "/proc/self", "/dev/null"):
        cached.expect("no folder at all", home=home)
    return None


def check_full_disk(folder):
    """If a cache cannot be written for lack of disk space, only the cache is lost, and no partial file remains."""
    cached = Cached(folder)
    os.makedirs(os.path.join(cached.kept, "perfray"), mode=0o700)
    os.chmod(os.path.join(cached.kept, "perfray"), 0o700)
    for limit in (0, 1, 2):
        words = " ".join("'%s'" % word for word in [harness.PERFRAY, *VERBS[0], "--no-pager", "perf.data"])
        done = subprocess.run(["sh", "-c", "trap '' XFSZ; ulimit -f %d; %s | cat" % (limit, words)], cwd=folder, capture_output=True, check=False,
                              env={"PATH": fresh.PATH, "HOME": folder, "XDG_CACHE_HOME": cached.kept})
        if done.stdout != cached.wanted[0] or done.stderr:
            raise Wrong("limit %d: %r" % (limit, done.stderr))
        left = [name for name in os.listdir(os.path.join(cached.kept, "perfray")) if name.startswith(".new")]
        if left:
            raise Wrong("limit %d leaves %r" % (limit, left))
        cached.expect("after a limit of %d" % limit, slice(0, 1))
        shutil.rmtree(os.path.join(cached.kept, "perfray"))
    return None


def check_at_once(folder):
    cached = Cached(folder)
    words = [harness.PERFRAY, *VERBS[0], "--no-pager", "perf.data"]
    environment = {"PATH": fresh.PATH, "HOME": folder, "XDG_CACHE_HOME": cached.kept}
    for _ in range(2):
        running = [subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) for _ in range(6)]
        if any(process.communicate()[0] != cached.wanted[0] for process in running):
            raise Wrong("one of several prints something else")
        cached.expect("after several", slice(0, 1))
        shutil.rmtree(cached.kept)
    return None


def check_changed(folder):
    """For another file with the same build-id, the cached data of the first file are not used."""
    cached = Cached(folder)
    cached.expect("an empty cache")
    program = os.path.join(folder, "whole")
    fresh.must(["objcopy", "-g", "whole"], folder, "objcopy")
    bare = [cached.print(*words, "--no-cache") for words in VERBS]
    if bare[0] == cached.wanted[0]:
        raise Wrong("a program without debugging information has lines")
    cached.wanted = bare
    cached.expect("debugging information is gone: " + program)
    return None


def kernel_list_bytes(folder, words, environment):
    """Returns how much of the kernel's symbol list a command reads."""
    log = os.path.join(folder, "strace.txt")
    done = subprocess.run(["strace", "-f", "-o", log, "-e", "trace=read,pread64", "-yy", *words], cwd=folder, capture_output=True, check=False,
                          env=environment, timeout=fresh.SECONDS)
    if done.returncode != 0:
        raise Wrong("status %d: %r" % (done.returncode, done.stderr[-300:]))
    return sum(int(line.split(" = ")[-1]) for line in whole_calls(open(log, errors="replace")) if "kallsyms>" in line), done.stdout


def check_kernel(folder):
    """Kernel symbols are cached: the second report does not read the kernel's list, prints the same, and does not use a changed cache."""
    fresh.need("strace")
    if not any(int(line.split()[0], 16) for line in open("/proc/kallsyms", encoding="ascii")):
        raise fresh.Skip("the kernel hides its addresses")
    fresh.record(folder, "perf.data", ("-e", "cpu-clock:k", "-F", "5000"), ["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do cat /proc/self/smaps; done"])
    kept = os.path.join(folder, "kept")
    environment = {"PATH": fresh.PATH, "HOME": folder, "XDG_CACHE_HOME": kept}
    words = [harness.PERFRAY, "report", "--no-pager", "-s", "sym", "--format=csv", "-i", "perf.data"]
    whole, wanted = kernel_list_bytes(folder, words + ["--no-cache"], environment)
    if os.path.exists(kept) or wanted.count(b"\n") < 5:
        raise Wrong("--no-cache writes, or no samples: %r" % wanted[:300])
    first = kernel_list_bytes(folder, words, environment)
    second = kernel_list_bytes(folder, words, environment)
    if first[1] != wanted or second[1] != wanted or second[0] > 8192 or first[0] < whole or whole < 100000:
        raise Wrong("bytes read: %d, %d, then %d; the same: %s, %s" % (whole, first[0], second[0], first[1] == wanted, second[1] == wanted))
    place = os.path.join(kept, "perfray")
    path = os.path.join(place, [name for name in os.listdir(place) if name.endswith(".kernel")][0])
    if stat.S_IMODE(os.stat(path).st_mode) != 0o600:
        raise Wrong("others may read it")
    with open(path, "rb") as file:
        good = bytearray(file.read())
    for at in [8, 30, 60, len(good) // 2]:
        bad = bytearray(good)
        bad[at:at + 4096] = bytes(byte ^ 0x41 for byte in bad[at:at + 4096])
        with open(path, "wb") as file:
            file.write(bad)
        if kernel_list_bytes(folder, words, environment)[1] != wanted:
            raise Wrong("changed at byte %d: something else is printed" % at)
    return "%d bytes, then %d" % (whole, second[0])


CHECKS = {"warm": check_warm, "kernel": check_kernel, "damage": check_damage, "folders": check_folders, "full_disk": check_full_disk, "at_once": check_at_once,
          "changed": check_changed}

if __name__ == "__main__":
    sys.exit(fresh.attempt_all("cache", CHECKS, sys.argv[1:]))
