#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kept_records.py - counts the intact records of damaged recordings that are kept, and records that are invented.

usage: kept_records.py [--count N] [--seed N] [--extra N] [--jobs N] [--least PERCENT] [--verbose] INPUT...

INPUT is a recording, or a folder of *.data files. Environment: PERFRAY, the command.

tests/support/mutate.py makes the mutants and knows the positions of records in the sound file, so no part of the
library but the tested command is used. A record of the sound file is intact in a mutant if its bytes are unchanged, at
its offset or shifted by the change of the file's size, and if the attributes and ids that describe it are unchanged,
too. It is kept if `dump` shows a record there with its type and size that is not marked as damaged. A record is
invented if `dump` shows an undamaged record at a place where the sound file has no record, unless its first 16 bytes
are those of a sound record (swapped blocks of bytes move records, or their beginnings). If such a block ends after a
header, that header is followed by bytes of other records. A sample of fixed length is then valid by every rule,
whatever it contains; it is counted as spliced.

Then each mutant is recovered: the output must contain every intact sample, and no sample whose bytes do not occur in the mutant. This is not checked for
compressed recordings, whose samples are compressed again.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
import mutate  # noqa: E402
import run_mutants  # noqa: E402
import tiny_sizes  # noqa: E402

HEADER_ATTR, TRACING_DATA, AUXTRACE, COMPRESSED, SAMPLE = 64, 66, 71, (81, 83), 9
HEAD = 8
BEGINNING = 16
MAGICS = (b"PERFILE2", b"2ELIFREP")


class Sound:
    """A sound input: its bytes, its records, and the ranges that describe them."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        document = mutate.parse(self.bytes, os.path.basename(path))
        self.records = document.recs
        self.starts = {offset for offset, _, _ in self.records}
        self.beginnings = {self.bytes[offset:offset + min(size, BEGINNING)] for offset, _, size in self.records}
        self.heads = {self.bytes[offset:offset + HEAD] for offset, _, _ in self.records}
        self.meaning = list(document.attrs) + [(offset, size) for name, _, offset, size in document.sections
                                               if name == "ids"]
        self.meaning += [(offset, size) for offset, kind, size in self.records if kind == HEADER_ATTR]


def shown(perfray, path):
    """(offset, type, size) of the undamaged records that dump shows, without those inside compressed records."""
    done = subprocess.run([perfray, "dump", "--format=jsonl", path], stdin=subprocess.DEVNULL, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          env=tiny_sizes.environment(tiny_sizes.of(os.path.basename(path))))
    records = set()
    for line in done.stdout.decode("utf-8").splitlines():
        record = json.loads(line)
        if "type" in record and "inner" not in record and "damaged" not in record:
            records.add((record["offset"], record["type"], record["size"]))
    return records, done.returncode


def intact_of(sound, mutant):
    """The intact records, as {position in the mutant: record}."""
    shift = len(mutant) - len(sound.bytes)
    for at, size in sound.meaning:
        if all(mutant[at + delta:at + delta + size] != sound.bytes[at:at + size] for delta in (0, shift)):
            return {}
    intact = {}
    for offset, kind, size in sound.records:
        for place in {offset, offset + shift}:
            if place >= 0 and mutant[place:place + size] == sound.bytes[offset:offset + size]:
                intact[place] = (place, kind, size)
    return intact


def overlapping(intact):
    """Adjacent equal records can match at two positions that overlap. They cannot be distinguished, so both are left out."""
    places = sorted(intact)
    unclear = set()
    for before, after in zip(places, places[1:]):
        if before + intact[before][2] > after:
            unclear |= {before, after}
    return unclear


def is_spliced(sound, mutant, record):
    """Whether a record is the header of a sound record, followed by bytes of other records; either part may have been moved."""
    offset, _, size = record
    return mutant[offset:offset + HEAD] in sound.heads and mutant[offset + HEAD:offset + size] in sound.bytes


def judge(perfray, sound, path):
    """(intact, kept, invented, spliced, lost)."""
    with open(path, "rb") as file:
        mutant = file.read()
    intact = intact_of(sound, mutant)
    for place in overlapping(intact):
        del intact[place]
    records, _ = shown(perfray, path)
    kept = sum(record in records for record in intact.values())
    shift = len(mutant) - len(sound.bytes)
    invented = [record for record in records if record[0] not in sound.starts and record[0] - shift not in sound.starts
                and mutant[record[0]:record[0] + min(record[2], BEGINNING)] not in sound.beginnings]
    spliced = [record for record in invented if is_spliced(sound, mutant, record)]
    invented = [record for record in invented if record not in spliced]
    return len(intact), kept, invented, spliced, sorted(set(intact.values()) - records)


def samples_of(path):
    """The bytes of the samples in a file or stream, parsed without perfray."""
    with open(path, "rb") as file:
        content = file.read()
    order = ">" if content[:8] == MAGICS[1] else "<"
    size, = struct.unpack_from(order + "Q", content, 8)
    at, end = (16, len(content)) if size == 16 else struct.unpack_from(order + "QQ", content, 40)
    end = end if size == 16 else at + end
    while at < end:
        kind, _, size = struct.unpack_from(order + "IHH", content, at)
        if kind == SAMPLE:
            yield content[at:at + size]
        at += size
        if kind == AUXTRACE:
            at += struct.unpack_from(order + "Q", content, at - size + 8)[0]
        elif kind == TRACING_DATA:
            at += (struct.unpack_from(order + "I", content, at - size + 8)[0] + 7) // 8 * 8


def judge_recovered(perfray, sound, path):
    """(intact samples, samples in the output of recover, invented ones); None: not applicable."""
    out = path + ".recovered"
    if any(kind in COMPRESSED for _, kind, _ in sound.records):
        return None
    done = subprocess.run([perfray, "recover", path, "-o", out], stdin=subprocess.DEVNULL, timeout=60,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
                          env=tiny_sizes.environment(tiny_sizes.of(os.path.basename(path))))
    with open(path, "rb") as file:
        mutant = file.read()
    intact = intact_of(sound, mutant)
    for place in overlapping(intact):
        del intact[place]
    wanted = collections.Counter(mutant[at:at + size] for at, kind, size in intact.values() if kind == SAMPLE)
    if not os.path.exists(out):
        return sum(wanted.values()), 0, 0
    found = collections.Counter(samples_of(out))
    os.unlink(out)
    invented = sum(count for sample, count in found.items() if sample not in mutant)
    return sum(wanted.values()), sum(wanted.values()) - sum((wanted - found).values()), invented


class Tally:
    def __init__(self):
        self.mutants = self.intact = self.kept = self.invented = self.spliced = 0

    def add(self, intact, kept, invented, spliced):
        self.mutants += 1
        self.intact += intact
        self.kept += kept
        self.invented += invented
        self.spliced += spliced

    def percent(self):
        return 100.0 * self.kept / self.intact if self.intact else 100.0


def run(options, folder):
    sounds = {os.path.basename(path): Sound(path) for path in options.inputs}
    mutants = [mutant for mutant in run_mutants.make_mutants(folder, options)
               if sounds[mutant.source].bytes[:8] in MAGICS and sounds[mutant.source].records]
    tallies = collections.defaultdict(Tally)
    tallies["recovered"] = Tally()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda mutant: judge(harness.PERFRAY, sounds[mutant.source], mutant.path), mutants)
        for mutant, (intact, kept, invented, spliced, lost) in zip(mutants, results):
            for name in (mutant.damage, "all"):
                tallies[name].add(intact, kept, len(invented), len(spliced))
            if options.verbose and (kept < intact or invented or spliced):
                print("%s %s of %s: %d of %d kept, first lost %s, invented %s, spliced %s" % (
                    os.path.basename(mutant.path), mutant.damage, mutant.source, kept, intact, lost[:1], invented[:2], spliced[:2]))
        mutants = [mutant for mutant in mutants if not mutant.damage.startswith("zstd_")]
        results = pool.map(lambda mutant: judge_recovered(harness.PERFRAY, sounds[mutant.source], mutant.path), mutants)
        for mutant, result in zip(mutants, results):
            if result:
                tallies["recovered"].add(*result, 0)
            if options.verbose and result and (result[1] < result[0] or result[2]):
                print("%s %s of %s, recovered: %d samples of %d, %d invented" % (
                    os.path.basename(mutant.path), mutant.damage, mutant.source, result[1], result[0], result[2]))
    return tallies


def report(tallies, options):
    if options.verbose:
        for name in sorted(tallies):
            tally = tallies[name]
            print("%-24s %5d mutants, %8d intact, %7.3f %% kept, %d invented" % (
                name, tally.mutants, tally.intact, tally.percent(), tally.invented))
    tally = tallies["all"]
    good = tally.percent() >= options.least and tally.invented == 0 and tally.intact > 0
    harness.result("hostile/kept (%d mutants, %d intact records, %.3f %% kept, %d invented, %d spliced)" % (
        tally.mutants, tally.intact, tally.percent(), tally.invented, tally.spliced), not good)
    tally = tallies["recovered"]
    mended = tally.percent() >= options.least and tally.invented == 0 and tally.intact > 0
    harness.result("hostile/kept by recover (%d mutants, %d intact samples, %.3f %% kept, %d invented)" % (
        tally.mutants, tally.intact, tally.percent(), tally.invented), not mended)
    return harness.status()


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--extra", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--least", type=float, default=99.9)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--keep")
    parser.add_argument("inputs", nargs="+")
    options = parser.parse_args(arguments)
    options.inputs = sorted(path for given in options.inputs for path in run_mutants.files_of(given) if os.path.isfile(path))
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
        return report(run(options, options.keep), options)
    with harness.scratch("kept") as folder:
        return report(run(options, folder), options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
