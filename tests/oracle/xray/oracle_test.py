#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oracle_test.py - compares the oracle with the counts of the corpus, and with llvm-xray where that is right.

For each trace: records, functions, arguments, events and blocks as in the table of the corpus' README; every record of `fdr-dump`; header, calls and events
of `convert -f yaml`; count, minimum, maximum and sum of `account -k` for recorded traces of one thread. The rules for pairing and for percentiles are
tested with traces that this program writes. Known differences are listed below by file, with the reason. PERFRAY_CORPUS names the corpus; without it only
the generated traces are tested.
"""
import csv
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
import llvm_forms
import oracle
from tally import Tally  # noqa: E402

ROW = re.compile(r"^\| (\S+) \| .* \| \d+ \| (fdr v\d|basic v\d|profile|\?)(?: [LB]E)? \| (\d+) \| (\d+) \| (\d+) \| (\d+)"
                 r" \| (\d+) \| [^|]*\| [0-9a-f]{64} \|$")

# The counts of the table come from a decoder that is simpler than the reading rules.
COUNTS_DIFFER = {
    "v1-be-lsbfirst.fdr": "it does not decode the hybrid", "v2-be-lsbfirst.fdr": "it does not decode the hybrid",
    "v3-be-lsbfirst.fdr": "it does not decode the hybrid", "v4-be-lsbfirst.fdr": "it does not decode the hybrid",
    "v5-be-lsbfirst.fdr": "it does not decode the hybrid",
    "events.fdr.14": "it counts the event whose payload is cut", "events.fdr.19": "it counts the event whose payload is cut",
    "basic-v3-le-badtype.log": "it counts a record of an invalid type",
    "v5-le-badaction.fdr": "it counts an invalid action", "v5-le-badkind.fdr": "it counts an invalid kind",
    "v5-le-event-negative.fdr": "it counts an event of negative size",
    "v5-le-extents-toosmall.fdr": "it keeps a record that crosses the extents",
}
NOT_XRAY = {"v0-le.fdr", "v6-le.fdr", "basic-v4-le.log", "v5-le-cut016.fdr", "v5-le-cut031.fdr"}
DUMP_DIFFERS = {
    "v2-le-garbage-between.fdr": "fdr-dump takes garbage between buffers of version 2 for records",
    "v1-le.fdr": "E2", "v1-le-bigtid.fdr": "E2",
    "v1-le-zero-remainder-200.fdr": "E2",
}

ACCOUNT_DIFFERS = {
    "arg1-smallbuf.fdr.19": "E5", "threads8-starved.fdr.14": "E13", "threads8-starved.fdr.19": "E13",
    "except.basic.19": "-k skips exits behind calls that never ended", "except.fdr.14": "as except.basic.19",
    "except.fdr.19": "as except.basic.19",
}


def readme_rows(corpus):
    with open(os.path.join(corpus, "README.md"), encoding="utf-8") as text:
        for line in text:
            match = ROW.match(line)
            if match:
                yield match[1], tuple(int(n) for n in match.groups()[2:])


def counts_of(trace):
    kinds = [r.kind for r in trace.records if r.kind != "block"]
    functions = sum(k in oracle.ACTIONS for k in kinds)
    arguments = kinds.count("call_argument")
    events = kinds.count("custom_event") + kinds.count("typed_event")
    block = {"profile": "block"}.get(trace.header["type"], "buffer_extents" if trace.header["version"] > 1 else "new_buffer")
    blocks = sum(r.kind == block for r in trace.records)
    return len(kinds), functions, arguments, events, blocks


def read_file(path):
    with open(path, "rb") as file:
        return file.read()


class Comparison(Tally):
    def __init__(self, corpus):
        super().__init__()
        self.corpus = corpus

    def dump(self, name, out, trace):
        path = os.path.join(self.corpus, out, name + ".dump")
        if trace.header["type"] != 1 or trace.header["big_endian"] or not os.path.exists(path):
            return
        ours = llvm_forms.oracle_dump(trace)
        theirs = llvm_forms.read_dump(read_file(path))
        if theirs and len(theirs) < len(ours) and ours[:len(theirs)] == theirs:
            ours = ours[:len(theirs)]  # fdr-dump stops at data that it takes for an error
        self.check("dump", name, ours, theirs, DUMP_DIFFERS)

    def yaml(self, name, out, trace):
        path = os.path.join(self.corpus, out, name + ".yaml")
        if trace.header["type"] == "profile" or not os.path.exists(path):
            return
        header, theirs = llvm_forms.read_yaml(read_file(path).decode("utf-8", "replace"))
        if not header:
            return
        self.check("yaml", name, sorted(llvm_forms.oracle_yaml(trace), key=str), sorted(theirs, key=str), {})
        self.check("yaml header", name, int(header["cycle-frequency"]), trace.header["cycle_frequency"], {})

    def account(self, name, trace):
        path = os.path.join(self.corpus, "out", name + ".account-k.csv")
        if trace.header["type"] == "profile" or len(trace.threads) != 1 or not os.path.exists(path):
            return
        ours, theirs = {}, {}
        rows, frequency = oracle.summarise(trace), trace.header["cycle_frequency"]
        with open(path, encoding="utf-8") as text:
            for row in csv.DictReader(text):
                key = int(row["funcid"])
                theirs[key] = [row["count"]] + ["%e" % float(row[n]) for n in ("min", "max", "sum")]
                said = rows[key,]
                ours[key] = [str(said["count"])] + ["%e" % (said[n] / frequency) for n in ("min", "max", "sum")]
        self.check("account", name, ours, theirs, ACCOUNT_DIFFERS)


def story(*steps):
    """The calls, open calls and unmatched exits of one thread. A step is "+1@10" (enter 1 at 10), "-1@20" (exit) or "~1@20" (tail exit)."""
    kinds = {"+": "enter", "-": "exit", "~": "tail_exit"}
    records = []
    for step in steps:
        func, tsc = step[1:].split("@")
        records.append(oracle.Record(kinds[step[0]], 0, 8, func=int(func), tsc=int(tsc)))
    calls, missing = [], []
    oracle.pair_thread((0, 0), records, calls, missing)
    return [(c.func, c.caller, c.latency, c.self_ticks) for c in calls], [(m.what, m.func) for m in missing]


STORIES = [
    ("nested", ("+1@0", "+2@10", "-2@30", "-1@100"), [(2, 1, 20, 20), (1, None, 100, 80)], []),
    ("recursion counts every frame", ("+1@0", "+1@10", "-1@20", "-1@50"), [(1, 1, 10, 10), (1, None, 50, 40)], []),
    ("tail", ("+1@0", "~1@5", "+2@6", "-2@9"), [(1, None, 5, 5), (2, None, 3, 3)], []),
    ("exception: 2 and 3 never end, 4 did inside 3", ("+1@0", "+2@1", "+3@2", "+4@3", "-4@7", "-1@10"),
     [(4, 3, 4, 4), (1, None, 10, 6)], [("open", 3), ("open", 2)]),
    ("lone exit, and the stack stays", ("+1@0", "-9@5", "-1@10"), [(1, None, 10, 10)], [("lone", 9)]),
    ("open at the end", ("+1@0", "+2@5"), [], [("open", 2), ("open", 1)]),
    ("time goes back", ("+1@50", "-1@40"), [(1, None, 0, 0)], []),
]
RANKS = [([5], 500, 5), ([1, 2], 500, 1), ([1, 2, 3], 500, 2), (list(range(1, 11)), 900, 9), (list(range(1, 12)), 900, 10),
         (list(range(1, 1001)), 999, 999), ([1, 2, 3], 999, 3)]


def check_rules(comparison):
    for name, steps, calls, missing in STORIES:
        comparison.check("story", name, story(*steps), (calls, missing), {})
    for values, thousandths, value in RANKS:
        comparison.check("rank", str(thousandths), oracle.nearest_rank(values, thousandths), value, {})


def check_corpus(comparison):
    corpus, files = comparison.corpus, 0
    for name, said in readme_rows(corpus):
        files += 1
        folder, out = ("traces", "out") if os.path.exists(os.path.join(corpus, "traces", name)) else ("synth", "out-synth")
        try:
            trace = oracle.read(read_file(os.path.join(corpus, folder, name)))
        except oracle.NotXRay:
            comparison.check("refused", name, name in NOT_XRAY, True, {})
            continue
        comparison.check("counts", name, list(counts_of(trace)), list(said), COUNTS_DIFFER)
        comparison.dump(name, out, trace)
        comparison.yaml(name, out, trace)
        comparison.account(name, trace)
    comparison.check("files", "all of them", files >= 121, True, {})


def main():
    comparison = Comparison(harness.corpus("xray"))
    check_rules(comparison)
    if comparison.corpus:
        check_corpus(comparison)
        print("# %d comparisons equal, %d listed, %d unexplained" %
              (comparison.equal, comparison.listed, comparison.wrong))
    else:
        harness.skip("oracle_corpus", "PERFRAY_CORPUS is not set")
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
