#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `perfray dump --format=perf` with perf's own lines, for every byte fixture of a record that has them.

    PERFRAY=build/tool/perfray FIXTURES=tests/fixtures tests/oracle/corpus/hex_lines.py [--verbose]

The record is put into the same small file or stream that `hexfile.py --check-perf` gives to perf, and the lines must be
the stored `perf:` lines, except for values that perf looks up (thread, dso). A fixture is equal, listed (all its
differences are explained by rules.py) or unexplained, which is an error. The second test changes one character in each
fixture's reference, and every change must be found. Without PERFRAY the tests are skipped, with status 77.
"""
import glob
import itertools
import os
import re
import sys
from collections import Counter
from dataclasses import dataclass, field

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
import rules

import hexfile

TESTS = ("hex_lines/perf", "hex_lines/changed")
LOOKED_UP = re.compile(r"^ \.\.\. thread:|^ \.{6} dso:")


@dataclass
class Result:
    """The result for one fixture."""
    fixture: hexfile.Fixture
    ours: list
    entries: Counter = field(default_factory=Counter)
    unexplained: list = field(default_factory=list)

    @property
    def verdict(self):
        return "unexplained" if self.unexplained else "listed" if self.entries else "equal"


def judge(fixture, reference, ours):
    """Compares our lines with perf's; both without newlines."""
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
    """The lines with the last character of the last one changed."""
    last = lines[-1]
    return lines[:-1] + [last[:-1] + ("7" if last[-1] != "7" else "8")]


def report_lines(results, verbose):
    counts = Counter(result.verdict for result in results)
    text = "%s equal=%d listed=%d" % (TESTS[0], counts["equal"], counts["listed"])
    passed = not counts["unexplained"]
    harness.result(text if passed else "%s unexplained=%d" % (text, counts["unexplained"]), not passed)
    for result in results:
        if verbose and result.entries:
            print("difference %s %s" % (result.fixture.name, " ".join(sorted(result.entries))))
        for pair in result.unexplained:
            print("  %s" % result.fixture.name)
            for sign, line in zip("-+", pair):
                if line is not None:
                    print("    %s %s" % (sign, line))


def report_changed(results):
    """Our lines must not be accepted for a changed reference."""
    missed = [result.fixture.name for result in results if not judge(
        result.fixture, change_last(read_reference(result.fixture)), result.ours).unexplained]
    harness.result("%s found=%d" % (TESTS[1], len(results) - len(missed)), ["not found: " + name for name in missed])


def list_fixtures(folder):
    """The fixtures of records for which perf prints lines."""
    fixtures = [hexfile.Fixture(path) for path in sorted(glob.glob(os.path.join(folder, "hex", "*.hex")))]
    return [fixture for fixture in fixtures if fixture.kind == "record" and fixture.perf]


def main(arguments):
    tool = os.path.abspath(harness.PERFRAY)
    fixtures = list_fixtures(harness.FIXTURES)
    if not harness.PERFRAY:
        for test in TESTS:
            harness.skip(test, "PERFRAY names no program")
        return harness.status()
    if not fixtures:
        harness.result(TESTS[0], "FIXTURES names no fixtures")
        return harness.status()
    results = [compare_fixture(tool, fixture) for fixture in fixtures]
    report_lines(results, "--verbose" in arguments)
    report_changed(results)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
