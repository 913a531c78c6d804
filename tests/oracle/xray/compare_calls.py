#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_calls.py - compares the calls and times of every trace of the corpus with the oracle and with llvm-xray.

rows NAME       `report`: calls and self time of each function, in total and in each thread, equal the oracle's
children NAME   `report --children`: the time including callees, in which recursion counts once
trees NAME      `report -g caller` and `-g callee`: calls and time of each branch of each thread's tree
stacks NAME     `export --format=folded`: calls and self time of each path of each thread
notes NAME      open calls, unmatched exits and calls of zero duration in the notes of the report
jobs NAME       the same output with one thread and with three
stream NAME     the same output through a pipe, and with a gzip file
account NAME    the calls of each function equal those of `llvm-xray account -k`
stack NAME      the calls and times of each path equal those of `llvm-xray stack --stack-format=flame`
twins NAME      all byte orders and versions of the same content give the same report
cut NAME        prefixes of small traces give what the oracle reads from them

Times are compared in whole nanoseconds, computed from the same sums of ticks. Known differences are listed by file with the
erratum; a listed difference that does not occur is an error, too.
"""
import csv
import gzip
import io
import json
import os
import re
import sys
from collections import defaultdict

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
import oracle
from tally import Tally

E5 = "E5: buffers of a thread are read in no order"
E6 = "E6: records that are older than the first one read are dropped, so whole threads"
E7_ACCOUNT = "E7: an exit with calls above it that never ended is skipped"
E7_STACK = "E7: an exit that belongs to no call closes all that is open; what an exit passes is counted as ended by it"
WHOLE = ("--max-stack", "1000000")  # the oracle does not cut chains

ACCOUNT_DIFFERS = {
    "arg1-smallbuf.fdr.19": E5, "except.basic.19": E7_ACCOUNT, "except.fdr.14": E7_ACCOUNT, "except.fdr.19": E7_ACCOUNT,
    "unfinished.fdr.19": E7_ACCOUNT, "threads8.fdr.19": E6, "threads8-smallbuf.fdr.19": E6, "threads8-starved.fdr.14": E6,
    "threads8-starved.fdr.19": E6,
}
STACK_DIFFERS = {"threads8-starved.fdr.19": E7_STACK, "except.basic.19": E7_STACK, "except.fdr.14": E7_STACK,
                 "except.fdr.19": E7_STACK}


def run(arguments, stdin=None):
    done = harness.perfray(*arguments, input=stdin)
    return done.returncode, done.stdout, done.stderr


# --- The results of the oracle.

class Costs:
    """{(thread, path): calls, self ticks}, and the calls that never ended."""

    def __init__(self, trace):
        self.frequency = 0 if trace.header["type"] == "profile" else trace.header["cycle_frequency"]
        self.paths = defaultdict(lambda: [0, 0])
        self.open = self.lone = self.clamped = 0
        if trace.header["type"] == "profile":
            self.of_profile(trace)
        else:
            self.of_calls(trace)

    def of_profile(self, trace):
        for record in trace.records:
            if record.kind != "path" or not record.args:
                continue
            thread, path, (count, ticks) = (record.pid, record.tid), tuple(reversed(record.args)), record.value
            entry = self.paths[thread, path]
            entry[0] += count
            entry[1] += ticks
            if len(path) > 1:
                self.paths[thread, path[:-1]][1] -= ticks

    def of_calls(self, trace):
        calls, missing = oracle.pair(trace)
        for thread, records in trace.threads.items():
            self.of_thread(thread, records, [c for c in calls if c.thread == thread])
        self.open = sum(entry.what == "open" for entry in missing)
        self.lone = sum(entry.what == "lone" for entry in missing)
        self.clamped = sum(call.clamped for call in calls)

    def of_thread(self, thread, records, calls):
        """The oracle's calls in order, and their paths."""
        stack, finished = [], iter(calls)
        for record in records:
            if record.kind in ("enter", "enter_arg"):
                stack.append(record.func)
            elif record.kind in ("exit", "tail_exit") and record.func in stack:
                while stack[-1] != record.func:
                    stack.pop()
                call = next(finished)
                assert call.func == record.func and call.exit == record.tsc and call.depth == len(stack) - 1
                entry = self.paths[thread, tuple(stack)]
                entry[0] += 1
                entry[1] += call.self_ticks
                stack.pop()
        assert next(finished, None) is None

    def ns(self, ticks):
        return oracle.to_ns(max(ticks, 0), self.frequency)

    def sums(self, key):
        """Returns {key(thread, path): [calls, self in ns]}; paths without finished calls have no row."""
        rows = defaultdict(lambda: [0, 0])
        for (thread, path), (count, ticks) in self.merged(key).items():
            rows[key(thread, path)][0] += count
            rows[key(thread, path)][1] += max(ticks, 0)
        return {k: (count, self.ns(ticks)) for k, (count, ticks) in rows.items() if count}

    def merged(self, key):
        """Merges the paths of threads that the report merges. Negative self times become 0 after that."""
        merged = defaultdict(lambda: [0, 0])
        for (thread, path), (count, ticks) in self.paths.items():
            group = thread[1] if isinstance(key(thread, path), tuple) else None
            merged[(None, group), path][0] += count
            merged[(None, group), path][1] += ticks
        return merged

    def with_callees(self):
        rows = defaultdict(lambda: [0, 0])
        for (_, path), (count, ticks) in self.merged(lambda thread, path: path[-1]).items():
            for function in set(path):
                rows[function][0] += count
                rows[function][1] += max(ticks, 0)
        return {k: (count, self.ns(ticks)) for k, (count, ticks) in rows.items() if count}


def word(function):
    """How a function without a name is printed."""
    function &= 0xffffffff
    return "#%d:%d" % (function >> 24, function & 0xffffff) if function >> 24 else "#%d" % function


# --- The results of perfray.

def rows_of(out, keys, columns=("samples", "weight")):
    rows = {}
    for row in csv.DictReader(io.StringIO(out.decode())):
        key = tuple(re.sub(r"^\[.\] ", "", row[k]) for k in keys)
        assert key not in rows
        rows[key] = tuple(int(row[c]) for c in columns)
    return rows


def stacks_of(out):
    stacks = {}
    for line in out.decode().splitlines():
        stack, number = line.rsplit(" ", 1)
        stacks[tuple(stack.split(";"))] = int(number)
    return stacks


# --- The comparisons.

def check_rows(tally, name, path, costs):
    _, out, _ = run(["report", "--format=csv", "-s", "sym", path])
    theirs = {(word(f),): v for f, v in costs.sums(lambda thread, path: path[-1]).items()}
    tally.check("rows", name, rows_of(out, ["sym"]), theirs)
    _, out, _ = run(["report", "--format=csv", "-s", "tid,sym", path])
    theirs = {(str(t if t is not None else -1), word(f)): v
              for (t, f), v in costs.sums(lambda thread, path: (thread[1], path[-1])).items()}
    tally.check("rows by thread", name, rows_of(out, ["tid", "sym"]), theirs)
    _, out, _ = run(["report", "--format=csv", "-s", "sym", "--children", *WHOLE, path])
    ours = {key: v for key, v in rows_of(out, ["sym"]).items() if v[0]}
    tally.check("children", name, ours, {(word(f),): v for f, v in costs.with_callees().items()})


def check_stacks(tally, name, path, costs):
    by_path = costs.sums(lambda thread, path: (thread[1], path))
    stacks = {(":%d" % (t if t is not None else -1),) + tuple(map(word, p)): v for (t, p), v in by_path.items()}
    _, out, _ = run(["export", "--format=folded", "--weight=samples", *WHOLE, path])
    tally.check("stacks, calls", name, stacks_of(out), {k: v[0] for k, v in stacks.items()})
    _, out, _ = run(["export", "--format=folded", *WHOLE, path])
    tally.check("stacks, time", name, stacks_of(out), {k: v[1] for k, v in stacks.items() if v[1]})


def trees_of(out):
    """Returns {(thread, frames of a branch from the root): calls, time}."""
    branches = {}
    for event in json.loads(out)["events"]:
        for row in event["rows"]:
            paths = []
            for twig in row.get("tree", []):
                paths.append((paths[twig["parent"]] if "parent" in twig else ()) + (twig["frame"],))
                branches[(row["tid"],) + paths[-1]] = (twig["samples"], twig["weight"])
    return {key: value for key, value in branches.items() if value[1]}


def check_trees(tally, name, path, costs):
    """Each path contributes to all branches with which it begins, from either end."""
    merged = costs.merged(lambda thread, path: (thread[1], path))
    for how in ("caller", "callee"):
        branches = defaultdict(lambda: [0, 0])
        for ((_, tid), functions), (count, ticks) in merged.items():
            names = tuple(map(word, functions if how == "caller" else reversed(functions)))
            for length in range(1, len(names) + 1):
                branches[(tid if tid is not None else -1,) + names[:length]][0] += count
                branches[(tid if tid is not None else -1,) + names[:length]][1] += max(ticks, 0)
        theirs = {key: (count, costs.ns(ticks)) for key, (count, ticks) in branches.items() if costs.ns(ticks)}
        _, out, _ = run(["report", "--format=json", "-s", "tid", "--no-children", "-g", how + ",0", *WHOLE, path])
        tally.check("trees, " + how, name, trees_of(out), theirs)


def check_notes(tally, name, path, costs):
    _, out, _ = run(["report", "--format=json", path])
    notes = json.loads(out).get("notes", [])
    def reported(what):
        return sum(int(note.split()[0]) for note in notes if re.match(r"\d+ " + what, note))
    ours = (reported("unfinished calls?: (?:its|their) callees"), reported("unmatched exits?"), reported("calls? without a duration"),
            any("frequency is unknown" in note for note in notes))
    tally.check("notes", name, ours, (costs.open, costs.lone, costs.clamped, not costs.frequency))


VIEWS = (["report"], ["report", "--format=json", "-s", "pid,tid,sym"], ["export"])


def check_same(tally, name, path, data):
    for view in VIEWS:
        status, one, _ = run(view + ["-j", "1", path])
        tally.check("jobs", name, run(view + ["-j", "3", path])[:2], (status, one))
        for how, content in (("pipe", data), ("gzip", gzip.compress(data))):
            tally.check("stream " + how, name, run(view + ["-"], content)[:2], (status, one))


def saved(corpus, name, suffix):
    path = os.path.join(corpus, "out", name + suffix)
    if not os.path.exists(path) or os.path.exists(path + ".err") and not os.path.getsize(path):
        return None
    with open(path, encoding="utf-8") as file:
        return file.read()


def check_account(tally, corpus, name, path):
    text = saved(corpus, name, ".account-k.csv")
    if not text:
        return
    theirs = {(word(int(row["funcid"])),): int(row["count"]) for row in csv.DictReader(io.StringIO(text))}
    _, out, _ = run(["report", "--format=csv", "-s", "sym", path])
    tally.check("account", name, {k: v[0] for k, v in rows_of(out, ["sym"]).items()}, theirs, ACCOUNT_DIFFERS)


def flame_lines(text):
    """The lines of llvm-xray, `thread_7;a;b; 12` or without the thread, by path."""
    found = {}
    for line in text.splitlines():
        stack, number = line.rsplit(" ", 1)
        found[tuple(stack.rstrip(";").replace("thread_", ":", 1).split(";"))] = int(number)
    return {k: v for k, v in found.items() if v}


def check_stack_tool(tally, corpus, name, path, costs):
    counts, times = saved(corpus, name, ".flame-count.txt"), saved(corpus, name, ".flame-time.txt")
    parts = name.split(".")
    program = os.path.join(corpus, "out", parts[0].split("-")[0] + "." + parts[-1] + ".extract.yaml")
    if not counts or not times or not os.path.exists(program):
        return
    _, out, _ = run(["export", "--weight=samples", *WHOLE, "-m", program, path])
    tally.check("stack, calls", name, stacks_of(out), flame_lines(counts), STACK_DIFFERS)
    if name in STACK_DIFFERS:
        return
    _, out, _ = run(["export", "-m", program, path])
    ours, nodes = defaultdict(int), defaultdict(int)
    for stack, number in stacks_of(out).items():
        for depth in range(2, len(stack) + 1):
            ours[stack[1:depth]] += number
            nodes[stack[1:depth]] += 1
    theirs = {key: costs.ns(ticks) for key, ticks in flame_lines(times).items()}
    far = {key: (ours.get(key), ns) for key, ns in theirs.items() if not 0 <= ns - ours.get(key, -1) <= nodes[key]}
    tally.check("stack, time", name, far, {})


def check_file(tally, corpus, path):
    name = os.path.basename(path)
    with open(path, "rb") as file:
        data = file.read()
    try:
        trace = oracle.read(data)
    except oracle.NotXRay:
        tally.check("refused", name, run(["report", path])[:2], (3, b""))
        return
    costs = Costs(trace)
    check_rows(tally, name, path, costs)
    check_stacks(tally, name, path, costs)
    if not name.startswith("deep"):  # a path of a thousand levels gives a thousand branches of up to a thousand names
        check_trees(tally, name, path, costs)
    check_notes(tally, name, path, costs)
    check_same(tally, name, path, data)
    check_account(tally, corpus, name, path)
    check_stack_tool(tally, corpus, name, path, costs)


def check_twins(tally, corpus):
    def report(name):
        return run(["report", os.path.join(corpus, "synth", name)])[:2]
    for stem in ["v%d" % v for v in range(1, 6)]:
        for twin in ("-be.fdr", "-be-lsbfirst.fdr"):
            tally.check("twins", stem + twin, report(stem + twin), report(stem + "-le.fdr"))
    for version in (2, 3, 4):
        tally.check("twins", "v%d" % version, report("v%d-le.fdr" % version), report("v1-le.fdr"))
    for stem in ["basic-v%d" % v for v in range(1, 4)]:
        tally.check("twins", stem, report(stem + "-be.log"), report(stem + "-le.log"))


CUT = ("synth/v1-le.fdr", "synth/v2-be.fdr", "synth/v5-le.fdr", "synth/basic-v3-le.log", "synth/profile.bin",
       "synth/v5-le-two-pids.fdr")


def lengths(data, least):
    """The lengths of the prefixes: every third near the start and the end, every fifteenth between; with PERFRAY_LONG
    all. Neither step has a common divisor with the length of a record, 8 or 16 bytes, so prefixes end at every offset
    within records."""
    every = harness.LONG
    return (n for n in range(least, len(data) + 1)
            if every or n % (3 if n < 600 or n + 200 > len(data) else 15) == 0 or n == len(data))


def check_cuts(tally, corpus, folder):
    path = os.path.join(folder, "cut")
    for name in CUT:
        with open(os.path.join(corpus, name), "rb") as file:
            data = file.read()
        wrong = {}
        for length in lengths(data, 32):
            with open(path, "wb") as file:
                file.write(data[:length])
            costs = Costs(oracle.read(data[:length]))
            status, out, _ = run(["report", "--format=csv", "-s", "sym", path])
            theirs = {(word(f),): v for f, v in costs.sums(lambda thread, path: path[-1]).items()}
            if status not in (0, 4) or rows_of(out, ["sym"]) != theirs:
                wrong[length] = (status, rows_of(out, ["sym"]), theirs)
        tally.check("cut", name, wrong, {})


def main():
    corpus = harness.corpus("xray")
    if not corpus:
        return harness.skip("xray_calls", "PERFRAY_CORPUS is not set")
    tally, files = Tally(), 0
    for folder in ("traces", "synth"):
        for name in sorted(os.listdir(os.path.join(corpus, folder))):
            check_file(tally, corpus, os.path.join(corpus, folder, name))
            files += 1
    check_twins(tally, corpus)
    with harness.scratch("compare-calls") as folder:
        check_cuts(tally, corpus, folder)
    return tally.sum(files)


if __name__ == "__main__":
    sys.exit(main())
