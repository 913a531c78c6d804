#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the output of perfray script with the output of perf script, for every file of the corpus.

    PERFRAY_CORPUS=DIR PERFRAY=build/perfray tests/oracle/corpus/compare_script.py [-j 2] [--only GLOB] [--output KIND] [--verbose]

The commands are those of the corpus (`$ perf script ...` in F.run.txt), with perfray instead of perf, and --raw-names appended.
Each (file, output) is equal, listed (script_rules.py explains every line that differs) or unexplained. If perf failed, its output
is incomplete, so only each line that it printed must be among ours (`kept`). `order` counts the unexplained outputs that have all
lines, but in another order.
"""
import argparse
import concurrent.futures
import difflib
import fnmatch
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
import corpus_files
import script_rules

OUTPUTS = ("script", "dso", "extra", "trace", "events")
SECONDS = 60
LEAST_EQUAL = 98
SHOWN = 8


@dataclass
class Result:
    label: str
    output: str
    entries: Counter = field(default_factory=Counter)
    unexplained: list = field(default_factory=list)
    reordered: bool = False
    stopped: bool = False  # perf did

    @property
    def verdict(self):
        return "unexplained" if self.unexplained else "kept" if self.stopped else "listed" if self.entries else "equal"


def read_commands(data):
    """{output: words after `perf script`} of the corpus' commands."""
    commands, words = {}, None
    for line in (corpus_files.read_text(data.path + ".run.txt") or "").split("\n"):
        if line.startswith("$ "):
            words = shlex.split(line[2:])
        ended = re.match(r"# (\w+): exit", line)
        if ended and words and words[:2] == ["perf", "script"]:
            commands[ended[1]] = words[2:]
    return commands


def run_tool(tool, words, data):
    """(standard output, complaint). A complaint is a signal or a timeout."""
    at = words.index("-i")
    words = words[:at] + ["-i", data.name] + words[at + 2:]
    environment = dict(os.environ, LC_ALL="C", TZ="UTC", COLUMNS="200")
    try:
        done = subprocess.run([tool, "script", "--raw-names", *words], cwd=data.folder, env=environment,
                              timeout=SECONDS, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return "", "still running after %d s" % SECONDS
    complaint = None if 0 <= done.returncode <= 6 else "exit status %d" % done.returncode
    return done.stdout.decode("utf-8", "surrogateescape"), complaint


def differing_lines(reference, ours):
    """Pairs (the reference's line, ours); None if a side has no such line."""
    theirs, mine = reference.split("\n"), ours.split("\n")
    if len(theirs) == len(mine):
        return [pair for pair in zip(theirs, mine) if pair[0] != pair[1]]
    pairs = []
    matcher = difflib.SequenceMatcher(None, theirs, mine, autojunk=False) if len(theirs) < 4000 else None
    if not matcher:
        gone, come = Counter(theirs), Counter(mine)
        pairs += [(line, None) for line in (gone - come).elements()]
        pairs += [(None, line) for line in (come - gone).elements()]
        return pairs or [("", None)]
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            continue
        if b - a == d - c:
            pairs += zip(theirs[a:b], mine[c:d])
        else:
            pairs += [(line, None) for line in theirs[a:b]] + [(None, line) for line in mine[c:d]]
    return pairs


COMM_WIDTH = 17


def without_names(text):
    """How often each line occurs, without the thread's name at its beginning."""
    return Counter(line[COMM_WIDTH:] for line in text.split("\n"))


def without_padding(text):
    """Names of events without leading blanks, because the width of their column depends on all names."""
    return re.sub(r" +([\w:/-]+: )", r" \1", text)


def compare_output(tool, data, words, output, reference):
    result = Result(data.label, output)
    ours, complaint = run_tool(tool, words, data)
    if complaint:
        result.unexplained.append((None, complaint))
    if ours == reference.text:
        return result
    result.reordered = Counter(ours.split("\n")) == Counter(reference.text.split("\n"))
    if not reference.complete:
        result.stopped = True
        missing = Counter(reference.text.split("\n")) - Counter(ours.split("\n"))
        result.unexplained += [(line, None) for line in missing.elements()]
        return result
    facts = script_rules.Facts(output, data.unfinished, reference.complete, data.big_endian, os.path.isdir(data.path),
                               "instruction trace error" in reference.text,
                               without_names(ours) == without_names(reference.text))
    for theirs, mine in differing_lines(*(map(without_padding, (reference.text, ours)) if facts.traced
                                          else (reference.text, ours))):
        entry = script_rules.explain(theirs, mine, facts)
        if entry:
            result.entries[entry] += 1
        else:
            result.unexplained.append((theirs, mine))
    return result


def compare_file(job):
    tool, data, files, outputs = job
    commands = read_commands(corpus_files.reference_source(data, files))
    results = []
    for output in outputs:
        reference = corpus_files.find_reference(data, files, output)
        if reference is not None and output in commands:
            results.append(compare_output(tool, data, commands[output], output, reference))
    return results


def print_results(results, verbose):
    for output in OUTPUTS:
        mine = [result for result in results if result.output == output]
        counts = Counter(result.verdict for result in mine)
        if not mine:
            continue
        text = "corpus/%s equal=%d listed=%d kept=%d" % (output, counts["equal"], counts["listed"], counts["kept"])
        bad = counts["unexplained"]
        order = sum(result.reordered for result in mine if result.unexplained)
        harness.result("%s unexplained=%d order=%d" % (text, bad, order) if bad else text, bad > 0)
        for result in sorted(mine, key=lambda one: one.label):
            if verbose and result.unexplained:
                print("  %s %s: %d unexplained%s" % (result.label, output, len(result.unexplained),
                                                  ", order" if result.reordered else ""))
                for pair in result.unexplained[:SHOWN]:
                    for sign, line in zip("-+", pair):
                        if line is not None:
                            print("    %s %s" % (sign, line[:260].encode("utf-8", "backslashreplace").decode()))


def print_summary(results):
    pairs, lines = Counter(), Counter()
    for result in results:
        for entry, count in result.entries.items():
            pairs[entry] += 1
            lines[entry] += count
    for entry in sorted(pairs):
        print("difference %s outputs=%d lines=%d" % (entry, pairs[entry], lines[entry]))
    counts = Counter(result.verdict for result in results)
    judged = len(results) - counts["kept"]
    percent = 100 * counts["equal"] / judged if judged else 100
    print("all equal=%d listed=%d kept=%d unexplained=%d (%.1f %% equal)" % (
        counts["equal"], counts["listed"], counts["kept"], counts["unexplained"], percent))
    return percent >= LEAST_EQUAL and not counts["unexplained"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-j", "--jobs", type=int, default=2, help="worker processes")
    parser.add_argument("--only", metavar="GLOB", help="files whose name or folder/name matches")
    parser.add_argument("--output", metavar="KIND", choices=OUTPUTS, help="one output only")
    parser.add_argument("--verbose", action="store_true", help="show what is unexplained")
    arguments = parser.parse_args()
    root = harness.corpus("perf")
    tool = harness.PERFRAY
    outputs = [arguments.output] if arguments.output else OUTPUTS
    if not root or not os.access(tool, os.X_OK):
        for output in outputs:
            harness.skip("corpus/" + output, "PERFRAY_CORPUS names no corpus, or PERFRAY no program")
        return harness.status()
    files = corpus_files.list_data_files(os.path.abspath(root))
    only = arguments.only
    work = [(os.path.abspath(tool), data, files, outputs) for data in files if not data.hostile and
            (not only or fnmatch.fnmatch(data.name, only) or fnmatch.fnmatch(data.label, only))]
    with concurrent.futures.ProcessPoolExecutor(max_workers=arguments.jobs) as pool:
        results = [result for some in pool.map(compare_file, work) for result in some]
    print_results(results, arguments.verbose)
    return 0 if print_summary(results) else 1


if __name__ == "__main__":
    sys.exit(main())
