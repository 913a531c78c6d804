#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kept_script.py - counts the samples not touched by damage that `script` still prints.

usage: kept_script.py [--count N] [--seed N[,N...]] [--jobs N] [--least PERCENT] [--prefixes N] [--verbose] INPUT...

INPUT is a recording, or a folder of *.data files. Environment: PERFRAY, the command.

The mutants are those of tests/support/mutate.py for each seed, plus N prefixes of each input. A sample is untouched if its record is intact as defined in
kept_records.py (bytes, attributes and ids unchanged or moved as a whole) and the bytes that locate the attributes are unchanged as well. It is kept if
`script -F time,ip -G --ns` prints a line with its time and address (one line per such sample). Times and addresses come from `dump` of the sound input; only
samples that `script` prints for that input count. Samples inside COMPRESSED records are not counted, because one record contains many of them, and later
records depend on a broken one.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
import kept_records  # noqa: E402
import run_mutants  # noqa: E402
import tiny_sizes  # noqa: E402

SCRIPT = ["script", "--no-symbols", "--no-pager", "-F", "time,ip", "-G", "--ns"]
LINE = re.compile(rb"\s*(\d+)\.(\d{9}):\s+([0-9a-f]+)\s*$", re.M)
SAMPLE = 9
SECONDS = 60
STREAM = 16              # size of a stream's header
ATTRS_POINTER = (16, 24)  # location of the attributes in the file header


def printed(path):
    """{(time, address): number of lines of script that have it}"""
    done = harness.perfray(*SCRIPT, *tiny_sizes.jobs_of(os.path.basename(path), "script"), path,
                           timeout=SECONDS, env=tiny_sizes.environment(tiny_sizes.of(os.path.basename(path))))
    return collections.Counter((int(second) * 10**9 + int(part), int(address, 16))
                               for second, part, address in LINE.findall(done.stdout))


def dumped(path):
    """{offset: (time, address)} of the samples outside compressed records."""
    done = harness.perfray("dump", "--only", "sample", "--format=jsonl", path,
                           timeout=SECONDS, env=tiny_sizes.environment(tiny_sizes.of(os.path.basename(path))))
    keys = {}
    for record in map(json.loads, done.stdout.decode("utf-8").splitlines()):
        fields = record.get("fields", {})
        if record.get("type") == SAMPLE and "inner" not in record and "time" in fields and "ip" in fields:
            keys[record["offset"]] = (fields["time"], fields["ip"])
    return keys


class Sound(kept_records.Sound):
    """A sound input, and its samples that script prints."""

    def __init__(self, path):
        super().__init__(path)
        if int.from_bytes(self.bytes[8:16], "little") != STREAM:
            self.meaning += [ATTRS_POINTER, (int.from_bytes(self.bytes[24:32], "little"), int.from_bytes(self.bytes[32:40], "little"))]
        lines = printed(path)
        self.keys = {offset: key for offset, key in dumped(path).items() if lines[key]}

    def untouched(self, mutant):
        """{(time, address): number of intact samples} in these bytes."""
        intact = kept_records.intact_of(self, mutant)
        for place in kept_records.overlapping(intact):
            del intact[place]
        shift = len(mutant) - len(self.bytes)
        offsets = {place if self.bytes[place:place + size] == mutant[place:place + size] and place in self.starts else place - shift
                   for place, kind, size in intact.values() if kind == SAMPLE}
        return collections.Counter(self.keys[offset] for offset in offsets if offset in self.keys)


def judge(sound, path):
    """(number untouched, number kept, the key of a lost sample)."""
    with open(path, "rb") as file:
        wanted = sound.untouched(file.read())
    if not wanted:
        return 0, 0, None
    lines = printed(path)
    lost = [key for key, count in wanted.items() if lines[key] < count]
    return sum(wanted.values()), sum(min(count, lines[key]) for key, count in wanted.items()), lost[0] if lost else None


def prefixes_of(sound, name, folder, count):
    """Prefixes of an input, cut at regular steps, as (path, kind, source)."""
    for number in range(1, count + 1):
        length = len(sound.bytes) * number // (count + 1)
        path = os.path.join(folder, "prefix-%d-%s" % (number, name))
        with open(path, "wb") as file:
            file.write(sound.bytes[:length])
        yield path, "prefix", name


def damaged(sounds, options, folder):
    """All damaged files: (path, kind of damage, source)."""
    jobs = []
    for seed in options.seeds:
        options.seed = seed
        inner = os.path.join(folder, "seed-%d" % seed)
        os.mkdir(inner)
        jobs += [(mutant.path, mutant.damage, mutant.source) for mutant in run_mutants.make_mutants(inner, options)
                 if sounds[mutant.source].keys]
    for name, sound in sounds.items():
        jobs += prefixes_of(sound, name, folder, options.prefixes if sound.keys else 0)
    return jobs


def run(options, folder):
    sounds = {os.path.basename(path): Sound(path) for path in options.inputs
              if open(path, "rb").read(8) in kept_records.MAGICS}
    options.inputs = [path for path in options.inputs if os.path.basename(path) in sounds]
    jobs = damaged(sounds, options, folder)
    tallies = collections.defaultdict(lambda: [0, 0, 0])
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda job: judge(sounds[job[2]], job[0]), jobs)
        for (path, damage, source), (untouched, kept, lost) in zip(jobs, results):
            for name in (damage, "all"):
                for place, value in enumerate((1, untouched, kept)):
                    tallies[name][place] += value
            if options.verbose and lost:
                print("%s, %s of %s: %d of %d, first lost at %d.%09d %x" % (
                    os.path.basename(path), damage, source, kept, untouched, *divmod(lost[0], 10**9), lost[1]))
    return tallies


def report(tallies, options):
    if options.verbose:
        for name, (files, untouched, kept) in sorted(tallies.items()):
            print("%-24s %5d files, %8d untouched, %7.3f %% kept" % (name, files, untouched, 100 * kept / untouched if untouched else 100))
    files, untouched, kept = tallies["all"]
    percent = 100 * kept / untouched if untouched else 0
    harness.result("hostile/kept_script (%d damaged files, %d untouched samples, %.3f %% kept)" % (files, untouched, percent),
                   percent < options.least)
    return harness.status()


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", dest="seeds", type=lambda text: [int(part) for part in text.split(",")], default=[1])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--least", type=float, default=99.9)
    parser.add_argument("--prefixes", type=int, default=5)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("inputs", nargs="+")
    options = parser.parse_args(arguments)
    options.inputs = sorted(path for given in options.inputs for path in run_mutants.files_of(given) if os.path.isfile(path))
    if not harness.has_command():
        return harness.skip("hostile/kept_script", "PERFRAY is not set")
    with harness.scratch("kept") as folder:
        return report(run(options, folder), options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
