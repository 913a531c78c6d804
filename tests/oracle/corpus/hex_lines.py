#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `perfray dump --format=perf` with perf's own lines, for every byte fixture of a record that has them.

    PERFRAY=build/tool/perfray FIXTURES=tests/fixtures tests/oracle/corpus/hex_lines.py [--verbose]

The record is wrapped in the same small file or stream that `hexfile.py --check-perf` gives to perf, and the lines must be
the stored `perf:` lines, but for what perf looks up (thread, dso). A fixture is equal, listed (all its differences are
explained by rules.py) or unexplained; anything unexplained fails. The second test gives each fixture's reference back
with one character changed, and every one of them must be found. Without PERFRAY the tests are skipped, with status 77.
"""
import glob
import itertools
import os
import re
import sys
from collections import Counter
from dataclasses import dataclass, field

import rules

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import hexfile

TESTS = ("hex_lines/perf", "hex_lines/changed")
LOOKED_UP = re.compile(r"^ \.\.\. thread:|^ \.{6} dso:")
SKIPPED = 77


@dataclass
class Result:
    """What became of one fixture."""
    fixture: hexfile.Fixture
    ours: list
    entries: Counter = field(default_factory=Counter)
    unexplained: list = field(default_factory=list)

    @property
    def verdict(self):
        return "unexplained" if self.unexplained else "listed" if self.entries else "equal"


def judge(fixture, reference, ours):
    """Judges our lines by perf's; both without the newlines."""
    result = Result(fixture, ours)
    facts = rules.RecordFacts("dump", record=fixture.data)
    for mine, other in itertools.zip_longest(reference, ours):
        if mine == other:
            continue
        entry = rules.explain(mine, other, facts)
        if entry:
            result.entries[entry] += 1
        else:
            result.unexplained.append((mine, other))
    return result


def read_reference(fixture):
    return [line for line in fixture.perf if not LOOKED_UP.match(line)]


def compare_fixture(tool, fixture):
    content, at = hexfile.make_container(fixture)
    dump, status = hexfile.run_on([tool, "dump", "--format=perf", "--raw-names"], content)
    result = judge(fixture, read_reference(fixture), hexfile.lines_of_record(dump, at))
    if status:
        result.unexplained.append((None, "exit status %d" % status))
    return result


def change_last(lines):
    """The lines with the last character of the last one made another."""
    last = lines[-1]
    return lines[:-1] + [last[:-1] + ("7" if last[-1] != "7" else "8")]


def report_lines(results, verbose):
    counts = Counter(result.verdict for result in results)
    text = "%s equal=%d listed=%d" % (TESTS[0], counts["equal"], counts["listed"])
    passed = not counts["unexplained"]
    print("ok " + text if passed else "not ok %s unexplained=%d" % (text, counts["unexplained"]))
    for result in results:
        if verbose and result.entries:
            print("difference %s %s" % (result.fixture.name, " ".join(sorted(result.entries))))
        for pair in result.unexplained:
            print("  %s" % result.fixture.name)
            for sign, line in zip("-+", pair):
                if line is not None:
                    print("    %s %s" % (sign, line))
    return passed


def report_changed(results):
    """Our own lines must not be taken for those of a reference that says something else."""
    missed = [result.fixture.name for result in results if not judge(
        result.fixture, change_last(read_reference(result.fixture)), result.ours).unexplained]
    print("%s %s found=%d" % ("not ok" if missed else "ok", TESTS[1], len(results) - len(missed)))
    for name in missed:
        print("  not found: %s" % name)
    return not missed


def list_fixtures(folder):
    """The fixtures of records that perf prints lines for."""
    fixtures = [hexfile.Fixture(path) for path in sorted(glob.glob(os.path.join(folder, "hex", "*.hex")))]
    return [fixture for fixture in fixtures if fixture.kind == "record" and fixture.perf]


def main(arguments):
    tool = os.path.abspath(os.environ.get("PERFRAY", ""))
    fixtures = list_fixtures(os.environ.get("FIXTURES", ""))
    if not os.environ.get("PERFRAY"):
        for test in TESTS:
            print("skip %s PERFRAY names no program" % test)
        return SKIPPED
    if not fixtures:
        print("not ok %s FIXTURES names no fixtures" % TESTS[0])
        return 1
    results = [compare_fixture(tool, fixture) for fixture in fixtures]
    outcomes = [report_lines(results, "--verbose" in arguments), report_changed(results)]
    return 0 if all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
