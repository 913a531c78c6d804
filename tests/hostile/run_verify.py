#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_verify.py - checks that `verify` finds damage and locates it.

usage: run_verify.py [--count N] [--seed N] [--jobs N] [--least PERCENT] [--verbose] INPUT...

INPUT is a recording, or a folder of *.data and *.xray files. Environment: PERFRAY, the command.

The mutants are those of class `diagnose` of tests/support/mutate.py. A mutant counts as found if `verify --format=json`
reports a finding whose bytes touch the damaged item: the record, header, attr, section descriptor or feature that
contains the damaged byte, as mutate.py divides the sound file; for a truncated file, bytes after the cut count too. If
the file can no longer be opened, exit status 3 or 4 with a message is expected. Sound inputs must have no finding.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402

import mutate  # noqa: E402
import run_mutants  # noqa: E402
import tiny_sizes  # noqa: E402

SECONDS = 60
HEADERS = {"perf": 104, "pipe": 16, "xray": 32, "raw": 0}
UNREADABLE = (3, 4)
# fixtures that deliberately lack something, with the reason
UNSOUND = {"killed.data": {"unfinished"}}


class Sound:
    """A sound input, and the items to which a damaged byte can belong, as (start, end)."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.doc = mutate.parse(file.read(), os.path.basename(path))
        doc = self.doc
        self.things = [(0, HEADERS[doc.kind])]
        self.things += [(at, at + size) for at, _, size in doc.recs]
        self.things += [(at, at + size + 16) for at, size in doc.attrs] if doc.kind == "perf" else []
        self.things += [(slot, slot + 16) for _, slot, _, _ in doc.feats]
        self.things += [(at, at + size) for _, _, at, size in doc.feats if size]
        # a finding about a location may be reported at this location, or at the number that states the location
        self.said = {at: (place, place + size) for _, at, place, size in doc.sections if at >= 0}

    def of(self, offset):
        things = [thing for thing in self.things if thing[0] <= offset < thing[1]]
        for at, place in self.said.items():
            if at <= offset < at + 16:
                things += [(at, at + 16), place]
        return things or [(offset, offset + 8)]


def verify(path):
    """(exit status, findings, standard error)."""
    done = harness.perfray("verify", "--format=json", "--most=0", path,
                           timeout=SECONDS, env=tiny_sizes.environment(tiny_sizes.of(os.path.basename(path))))
    findings = json.loads(done.stdout)["findings"] if done.stdout else []
    return done.returncode, findings, done.stderr


def touches(finding, start, end):
    return finding["offset"] < end and start < finding["offset"] + max(finding["length"], 1)


def judge(sound, mutant, offset):
    """None if the damage was found, otherwise the reason why it was not."""
    status, findings, said = verify(mutant.path)
    if status in UNREADABLE:
        return None if said else "status %d without a word" % status
    if status != 1 or not findings:
        return "status %d, %d findings" % (status, len(findings))
    size = os.path.getsize(mutant.path)
    is_cut = mutant.damage.startswith("trunc")
    for start, end in sound.of(offset):
        # bytes after a cut are gone, so a finding at the end of the remainder counts
        end, start = (max(size + 1, end), min(start, size)) if is_cut else (end, start)
        if any(touches(finding, start, end) for finding in findings):
            return None
    return "reported %s" % [(f["rule"], f["offset"], f["length"]) for f in findings[:3]]


def offsets_of(folder):
    with open(os.path.join(folder, "manifest.tsv"), encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines if not line.startswith("#")]
    return [int(row[4]) for row in rows]


def run(options, folder):
    sounds = {os.path.basename(path): Sound(path) for path in options.inputs}
    mutants = run_mutants.make_mutants(folder, options)
    jobs = [(mutant, offset) for mutant, offset in zip(mutants, offsets_of(folder)) if mutant.expect == "diagnose"]
    missed = collections.defaultdict(list)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda job: judge(sounds[job[0].source], *job), jobs)
        for (mutant, offset), why in zip(jobs, results):
            if why:
                missed[mutant.damage].append("%s (byte %d of %s): %s" % (os.path.basename(mutant.path), offset, mutant.source, why))
    return len(jobs), missed


def check_sound(options):
    wrong = []
    for path in options.inputs:
        status, findings, said = verify(path)
        known = UNSOUND.get(os.path.basename(path), set())
        if status != bool(known) or {finding["rule"] for finding in findings} != known:
            wrong.append("%s: status %d, %s %s" % (os.path.basename(path), status, findings[:1], said[:100]))
    harness.result("hostile/verify sound (%d files)" % len(options.inputs), wrong)


def check_mutants(options, folder):
    count, missed = run(options, folder)
    lost = sum(map(len, missed.values()))
    percent = 100 * (count - lost) / count if count else 0
    good = percent >= options.least
    harness.result("hostile/verify damaged (%d structural mutants, %.2f %% found in place)" % (count, percent), not good)
    if options.verbose or not good:
        for damage in sorted(missed):
            print("    %s: %d" % (damage, len(missed[damage])))
            for line in missed[damage][:4]:
                print("        " + line)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--extra", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--least", type=float, default=99)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--keep")
    parser.add_argument("inputs", nargs="+")
    options = parser.parse_args(arguments)
    if not harness.has_command():
        return harness.skip("hostile/verify", "PERFRAY is not set")
    options.inputs = sorted(path for given in options.inputs for ending in (".data", ".xray")
                            for path in run_mutants.files_of(given, ending) if os.path.isfile(path))
    options.inputs = sorted(set(options.inputs))
    check_sound(options)
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
        check_mutants(options, options.keep)
    else:
        with harness.scratch("verify") as folder:
            check_mutants(options, folder)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
