#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_mend.py - checks that `perfray symbols` prints the cause of each missing name and a command that fixes it.

usage: run_mend.py [NAME...]

Environment: PERFRAY, the command. A program with three shared objects is built and recorded by the installed perf; then
one object is deleted, one is rebuilt, and one is stripped. `symbols` must print the cause for each object. sh runs the
output lines that begin with "$ " unchanged; afterwards `symbols` and `report` must print the same as with all files in
place.

    spares       copies of the recorded files are in a place where symbols finds them
    debuginfod   there are no copies: debuginfod-find gets the files from a folder (DEBUGINFOD_URLS=file://...)
    unmendable   without build-ids a cause is printed, but no command
    odd_names    names with characters that are special in sh
    pieces       missing split or shared debug files are reported, and no longer reported when they, or their package, are restored
"""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
import fresh  # noqa: E402
from fresh import Wrong  # noqa: E402

SOURCE = os.path.join(HERE, "programs", "parts.c")
PARTS = ("gone", "other", "bare")
CAUSES = {"gone": "missing", "other": "replaced", "bare": "stripped"}
RECORD = ("-N", "-e", "cpu-clock:u", "-F", "999", "-g")
COMPILER = ("gcc", "cc")
ID = "-Wl,--build-id=sha1"


class Parts:
    """The program in a folder, recorded in perf.data; `ids` are the build-ids of its objects, `whole` are complete copies of them."""

    def __init__(self, folder, build_id=ID, name="lib%s.so", options=()):
        fresh.need("objcopy", "strip", "readelf")
        self.folder, self.name, self.build_id, self.options = folder, name, build_id, options
        self.compiler = fresh.first_of(*COMPILER)
        for part in PARTS:
            self.build(part)
        fresh.must([self.compiler, "-g", "-fno-omit-frame-pointer", "-o", "parts", SOURCE, *(self.path(part) for part in PARTS),
                    "-Wl,-rpath,$ORIGIN"], folder, "parts.c does not compile")
        fresh.record(folder, "perf.data", RECORD, ["./parts", "1500"])
        self.before = self.rows()
        for part in PARTS:
            if self.before[part]["samples"] < 5 or self.before[part]["names"]:
                raise Wrong("before: %r" % self.before[part])
        self.ids = {part: self.before[part]["build_id"] for part in PARTS}
        os.mkdir(os.path.join(folder, "whole"))
        for part in PARTS:
            shutil.copy(self.path(part), os.path.join(folder, "whole", part))
        self.report = self.print("report", "-s", "dso,sym,srcline", "--no-children", "--format=csv")

    def path(self, part):
        return os.path.join(self.folder, self.name % part)

    def build(self, part, *options):
        fresh.must([self.compiler, "-g", "-O1", "-fPIC", "-shared", "-fno-omit-frame-pointer", "-DPART=" + part, self.build_id, *self.options, *options,
                    "-o", self.path(part), SOURCE], self.folder, "parts.c does not compile")

    def print(self, *words):
        done = fresh.run([harness.PERFRAY, *words, "perf.data"], self.folder)
        if done.returncode != 0:
            raise Wrong("%s: status %d, %s" % (" ".join(words), done.returncode, fresh.last_line(done)))
        return done.stdout.decode()

    def rows(self):
        made = json.loads(self.print("symbols", "--format=json"))
        by_path = {row["path"]: row for row in made["objects"]}
        rows = {part: by_path.get(os.path.realpath(self.path(part))) for part in PARTS}
        if None in rows.values():
            raise Wrong("symbols lists %s alone" % ", ".join(by_path))
        return rows

    def damage(self):
        os.unlink(self.path("gone"))
        os.unlink(self.path("other"))
        self.build("other", "-DMORE")
        fresh.must(["strip", self.path("bare")], self.folder, "strip")

    def expect_causes(self):
        rows = self.rows()
        for part, cause in CAUSES.items():
            found = rows[part]["names"]
            if not found or found["cause"] != cause or rows[part]["named"] >= self.before[part]["named"]:
                raise Wrong("%s: %r" % (part, rows[part]))
            if self.ids[part] and self.ids[part] not in found["why"]:
                raise Wrong("%s: its build-id is not in %r" % (part, found["why"]))
        return rows

    def commands(self):
        lines = [line.strip() for line in self.print("symbols", "--no-pager").splitlines()]
        return [line[2:] for line in lines if line.startswith("$ ")]

    def mend(self, **environment):
        wanted = [row[what]["command"] for row in self.expect_causes().values() for what in ("names", "lines") if row[what]]
        ran = [command for command in self.commands() if any(part_id in command for part_id in self.store_names())]
        if not ran or not set(ran) <= set(wanted):
            raise Wrong("commands as text and in JSON: %r, %r" % (ran, wanted))
        for command in ran:
            done = subprocess.run(["sh", "-c", command], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                                  env={"PATH": fresh.PATH, "HOME": self.folder, **environment})
            if done.returncode != 0:
                raise Wrong("%s: %s" % (command, fresh.last_line(done)))
        after = self.rows()
        for part in PARTS:
            if after[part] != self.before[part]:
                raise Wrong("%s is not mended: %r" % (part, after[part]))
        if self.print("report", "-s", "dso,sym,srcline", "--no-children", "--format=csv") != self.report:
            raise Wrong("the report is another one than before")
        return ran

    def store_names(self):
        """How a path with a build-id is written."""
        return ["%s/%s" % (part_id[:2], part_id[2:]) for part_id in self.ids.values()]


def check_spares(folder):
    parts = Parts(folder)
    parts.damage()
    fresh.must(["objcopy", "--only-keep-debug", "whole/bare", "libbare.so.debug"], folder, "objcopy")
    for part in ("gone", "other"):
        store = os.path.join(folder, ".cache", "debuginfod_client", parts.ids[part])
        os.makedirs(store)
        shutil.copy(os.path.join(folder, "whole", part), os.path.join(store, "executable"))
    ran = parts.mend()
    if any("debuginfod-find" in command for command in ran):
        raise Wrong("files that are there are fetched: %r" % ran)
    return "%d commands" % len(ran)


def check_debuginfod(folder):
    fresh.need("debuginfod-find")
    parts = Parts(folder)
    parts.damage()
    for part in PARTS:
        store = os.path.join(folder, "server", "buildid", parts.ids[part])
        os.makedirs(store)
        shutil.move(os.path.join(folder, "whole", part), os.path.join(store, "executable"))
        fresh.must(["objcopy", "--only-keep-debug", os.path.join(store, "executable"), os.path.join(store, "debuginfo")], folder, "objcopy")
    ran = parts.mend(DEBUGINFOD_URLS="file://" + os.path.join(folder, "server"))
    if not all("debuginfod-find" in command for command in ran):
        raise Wrong("what is not there is not fetched: %r" % ran)
    return "%d commands" % len(ran)


def check_unmendable(folder):
    parts = Parts(folder, build_id="-Wl,--build-id=none")
    os.unlink(parts.path("gone"))
    fresh.must(["strip", parts.path("bare")], folder, "strip")
    rows = parts.rows()
    for part in ("gone", "bare"):
        found = rows[part]["names"]
        if not found or found["cause"] != CAUSES[part] or found["command"] or not found["advice"]:
            raise Wrong("%s: %r" % (part, rows[part]))
    return "2 causes"


def check_odd_names(folder):
    """A name with characters that are special in sh is quoted. A name that cannot be quoted plainly is in no command."""
    for name, can_be in (("$(touch shown); `touch shown`", True), ("it's", False)):
        here = os.path.join(folder, name)
        os.mkdir(here)
        parts = Parts(here)
        fresh.must(["objcopy", "--only-keep-debug", parts.path("bare"), parts.path("bare") + ".debug"], here, "objcopy")
        fresh.must(["strip", parts.path("bare")], here, "strip")
        row = parts.rows()["bare"]
        command = row["names"]["command"] or ""
        if (name in command) != can_be:
            raise Wrong("%s: %s" % (name, command))
        if can_be:
            subprocess.run(["sh", "-c", command], cwd=here, env={"PATH": fresh.PATH, "HOME": here}, check=False)
            if os.path.exists(os.path.join(here, "shown")) or parts.rows()["bare"] != parts.before["bare"]:
                raise Wrong("%s: %r" % (command, parts.rows()["bare"]))
    return "2 names"


def expect_inlined(parts, cause=None, names=""):
    """Only the row of `gone` may report missing inlined functions, with the given cause."""
    found = {part: row["inlined"] for part, row in parts.rows().items()}
    own = found.pop("gone")
    if any(found.values()) or (own or {}).get("cause") != cause or (own and (names not in own["why"] or not own["advice"])):
        raise Wrong("%s: %r, others %r" % (cause, own, found))
    if cause and "inlined functions: " + own["why"] not in parts.print("symbols", "--no-pager", "--no-cache"):
        raise Wrong("the text does not say: %s" % own["why"])


def check_pieces(folder):
    fresh.need("dwz", "llvm-dwp-19")
    os.mkdir(os.path.join(folder, "split"))
    parts = Parts(os.path.join(folder, "split"), options=("-gsplit-dwarf", "-gdwarf-4"))
    expect_inlined(parts)
    piece = [name for name in os.listdir(parts.folder) if "gone" in name and name.endswith(".dwo")]
    if len(piece) != 1:
        raise Wrong("gcc split off %r" % piece)
    fresh.must(["llvm-dwp-19", "-e", "libgone.so", "-o", "package"], parts.folder, "llvm-dwp-19")
    os.rename(os.path.join(parts.folder, *piece), os.path.join(folder, *piece))
    shutil.rmtree(os.path.join(parts.folder, ".cache"), ignore_errors=True)
    expect_inlined(parts, "no-split", "1 unit, first %s" % os.path.join(os.path.realpath(parts.folder), *piece))
    os.rename(os.path.join(parts.folder, "package"), parts.path("gone") + ".dwp")
    expect_inlined(parts)
    os.mkdir(os.path.join(folder, "shared"))
    parts = Parts(os.path.join(folder, "shared"))
    shutil.copy(parts.path("gone"), os.path.join(parts.folder, "twin"))
    fresh.must(["dwz", "-m", "common.dwz", "libgone.so", "twin"], parts.folder, "dwz")
    shutil.rmtree(os.path.join(parts.folder, ".cache"), ignore_errors=True)
    expect_inlined(parts)
    shutil.rmtree(os.path.join(parts.folder, ".cache"), ignore_errors=True)
    os.rename(os.path.join(parts.folder, "common.dwz"), os.path.join(parts.folder, "away"))
    expect_inlined(parts, "no-shared", "common.dwz")
    return "3 files"


CHECKS = {"spares": check_spares, "debuginfod": check_debuginfod, "unmendable": check_unmendable, "odd_names": check_odd_names,
          "pieces": check_pieces}

if __name__ == "__main__":
    sys.exit(fresh.attempt_all("mend", CHECKS, sys.argv[1:]))
