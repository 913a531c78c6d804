#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares perfray's output for every file of the corpus with its reference outputs.

    PERFRAY_CORPUS=DIR PERFRAY=build/perfray tests/oracle/corpus/compare.py [-j 2] [--only GLOB] [--output KIND] [--verbose]

Every (file, output) is equal, listed (all its differences are explained by rules.py) or unexplained. One line per
output and a summary by kind of difference are printed; anything unexplained, or fewer than 98 in 100 equal, fails.
Without PERFRAY_CORPUS or PERFRAY the tests are skipped, by name, with status 77. `--replay` uses the references as perfray's output; `--replay=change`
changes one line of each, and then every pair must be found unexplained.
"""
import argparse
import concurrent.futures
import fnmatch
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
import corpus_files
import dump_form
import quipper_form
import quipper_map
import replay
import rules
import text_forms

COMMANDS = {
    "header": ["info", "--format=perf", "--raw-names"],
    "evlist": ["info", "--events", "--raw-names"],
    "buildid": ["info", "--build-ids", "--raw-names"],
    "stats": ["info", "--stats", "--raw-names"],
    "dump": ["dump", "--format=perf", "--raw-names"],
    "pb_text": ["dump", "--format=jsonl"],
    "report": ["report", "--sort", "comm,dso", "--no-children", "-g", "none", "--format=perf", "--raw-names"],
    "stat": ["report", "--raw-names", "--no-pager"],
}
HOSTILE_COMMANDS = [["info"], ["info", "--stats"], ["dump"], ["report"]]
DIFFERENCES = {
    "header": text_forms.differing_header, "evlist": text_forms.differing_text, "buildid": text_forms.differing_text,
    "stats": text_forms.differing_stats, "report": text_forms.differing_rows, "stat": text_forms.differing_text, "pb_text": quipper_form.differing_dumps,
}
SECONDS = 10
LAST_STATUS = 6
LEAST_EQUAL = 98
SHOWN_PAIRS = 6


@dataclass
class Result:
    """The result for one output of one file."""
    label: str
    output: str
    entries: Counter = field(default_factory=Counter)
    unexplained: list = field(default_factory=list)

    @property
    def verdict(self):
        return "unexplained" if self.unexplained else "listed" if self.entries else "equal"


def run_tool(tool, words, data):
    """(standard output, complaint). A complaint is a signal, an unknown exit status or a timeout."""
    environment = dict(os.environ, LC_ALL="C", TZ="UTC", COLUMNS="200")
    try:
        done = subprocess.run([tool, *words, data.name], cwd=data.folder, env=environment, timeout=SECONDS,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return "", "still running after %d s: %s" % (SECONDS, " ".join(words))
    complaint = "exit status %d: %s" % (done.returncode, " ".join(words))
    complaint = None if 0 <= done.returncode <= LAST_STATUS else complaint
    return done.stdout.decode("utf-8", "surrogateescape"), complaint


def compare_texts(label, output, reference, ours, data):
    """Compares one output with its reference."""
    result, complete = Result(label, output), reference.complete
    if output == "dump":
        pairs, whole = dump_form.differing_lines(reference.text, ours)
        complete = complete and whole
        if reference.moved:
            pairs = dump_form.differ_beyond_offsets(pairs)
    else:
        pairs = DIFFERENCES[output](reference.text, ours)
    facts = rules.Facts(output, data.unfinished, complete, data.big_endian)
    if output == "report":
        traced = any("of event '%s'" % name in reference.text for name in ("cbr", "psb"))
        facts = rules.ReportFacts(output, data.unfinished, complete, data.big_endian, traced)
    for mine, other in pairs:
        entry = rules.explain(mine, other, facts)
        if entry:
            result.entries[entry] += 1
        else:
            result.unexplained.append((mine, other))
    return result


def take_aux_data(tool, data):
    """(a line of JSON for each file that `dump --aux` writes, complaint)."""
    with harness.scratch("compare") as folder:
        _, complaint = run_tool(tool, ["dump", "--aux", folder], data)
        lines = []
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), "rb") as source:
                fields = {"file": name, "data": source.read().hex()}
            lines.append(json.dumps({"name": quipper_map.AUX_OBJECT, "fields": fields}))
    return "\n".join(lines), complaint


def compare_output(tool, output, data, reference, mode):
    if mode:
        ours, complaint = replay.replay(output, reference.text, mode == "change"), None
    else:
        ours, complaint = run_tool(tool, COMMANDS[output], data)
    if output == "pb_text" and not mode and quipper_form.has_aux_data(reference.text):
        aux, other = take_aux_data(tool, data)
        ours, complaint = ours + "\n" + aux, complaint or other
    if ours is None:
        return None
    result = compare_texts(data.label, output, reference, ours, data)
    if complaint:
        result.unexplained.append((None, complaint))
    return result


def run_hostile(tool, data):
    result = Result(data.label, "hostile")
    for words in HOSTILE_COMMANDS:
        _, complaint = run_tool(tool, words, data)
        if complaint:
            result.unexplained.append((None, complaint))
    return result


def has_case(output, data, reference, files):
    """Whether this output of this file is compared: it must have a reference, and a report must have rows of samples."""
    if reference is None:
        return False
    if output != "report":
        return True
    evlist = corpus_files.find_reference(data, files, "evlist")
    stat = corpus_files.reference_source(data, files).runs.get("stat")
    reads = evlist is not None and text_forms.has_group_reads(evlist.text)
    return reference.complete and text_forms.has_rows(reference.text) and not stat and not reads


def compare_file(job):
    """All results of one file; runs in a worker process."""
    tool, data, files, outputs, mode = job
    if data.hostile:
        return [run_hostile(tool, data)] if not mode and "hostile" in outputs else []
    results = []
    for output in outputs:
        reference = corpus_files.find_reference(data, files, output) if output in COMMANDS else None
        if has_case(output, data, reference, files):
            results.append(compare_output(tool, output, data, reference, mode))
    return [result for result in results if result]


def compare_all(tool, files, outputs, mode, only, jobs):
    work = [(tool, data, files, outputs, mode) for data in files
            if not only or fnmatch.fnmatch(data.name, only) or fnmatch.fnmatch(data.label, only)]
    work.sort(key=lambda job: -os.path.getsize(job[1].path))
    with concurrent.futures.ProcessPoolExecutor(max_workers=jobs) as pool:
        return [result for results in pool.map(compare_file, work) for result in results]


def print_pair(pair):
    for sign, line in zip("-+", pair):
        if line is not None:
            print("    %s %s" % (sign, line[:300].encode("utf-8", "backslashreplace").decode()))


def print_results(results, outputs, verbose):
    """Prints one line per output; with verbose, also the first unexplained pairs."""
    for output in outputs:
        mine = [result for result in results if result.output == output]
        counts = Counter(result.verdict for result in mine)
        if not mine:
            continue
        text = "corpus/%s equal=%d listed=%d" % (output, counts["equal"], counts["listed"])
        bad = counts["unexplained"]
        harness.result("%s unexplained=%d" % (text, bad) if bad else text, bad > 0)
        for result in sorted(mine, key=lambda one: one.label):
            if verbose and result.unexplained:
                print("  %s: %d unexplained" % (result.label, len(result.unexplained)))
                for pair in result.unexplained[:SHOWN_PAIRS]:
                    print_pair(pair)


def print_summary(results):
    """Prints the counts by kind of difference, then the totals; returns whether all passed."""
    pairs, lines = Counter(), Counter()
    for result in results:
        for entry, count in result.entries.items():
            pairs[entry] += 1
            lines[entry] += count
    for entry in sorted(pairs):
        print("difference %s outputs=%d lines=%d" % (entry, pairs[entry], lines[entry]))
    judged = [result for result in results if result.output != "hostile"]
    counts = Counter(result.verdict for result in judged)
    percent = 100 * counts["equal"] / len(judged) if judged else 100
    print("all equal=%d listed=%d unexplained=%d (%.1f %% equal)" % (
        counts["equal"], counts["listed"], counts["unexplained"], percent))
    return percent >= LEAST_EQUAL and not any(result.unexplained for result in results)


def check_change_mode(results):
    """Every changed line must have been found."""
    missed = [result for result in results if not result.unexplained]
    for result in missed:
        harness.result("corpus/" + result.output, "a changed line was not found in " + result.label)
    print("changed lines found: %d of %d" % (len(results) - len(missed), len(results)))
    return 1 if missed or not results else 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-j", "--jobs", type=int, default=2, help="worker processes")
    parser.add_argument("--only", metavar="GLOB", help="files whose name or folder/name matches")
    parser.add_argument("--output", metavar="KIND", choices=[*COMMANDS, "hostile"], help="one output only")
    parser.add_argument("--verbose", action="store_true", help="show what is unexplained")
    parser.add_argument("--replay", nargs="?", const="same", choices=["same", "change"], help="try the comparer itself")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    outputs = [arguments.output] if arguments.output else [*COMMANDS, "hostile"]
    root = harness.corpus("perf")
    tool = harness.PERFRAY
    reason = "PERFRAY_CORPUS names no corpus" if not root else \
        "PERFRAY names no program" if not (arguments.replay or os.access(tool, os.X_OK)) else None
    if reason:
        for output in outputs:
            harness.skip("corpus/" + output, reason)
        return harness.status()
    files = corpus_files.list_data_files(os.path.abspath(root))
    results = compare_all(os.path.abspath(tool), files, outputs, arguments.replay, arguments.only, arguments.jobs)
    if arguments.replay == "change":
        return check_change_mode(results)
    print_results(results, outputs, arguments.verbose)
    return 0 if print_summary(results) else 1


if __name__ == "__main__":
    sys.exit(main())
