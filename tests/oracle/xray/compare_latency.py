#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_latency.py - `perfray latency` of every trace of the corpus, compared with the oracle and llvm-xray.

csv NAME        by function, caller and thread: every number equals the oracle's, in nanoseconds and in ticks
json NAME       the same numbers; unfinished calls, unmatched exits and calls of zero duration in each row
text NAME       the totals above the table
histogram NAME  the bins have the oracle's counts
jobs NAME       the same output with one thread and with three
stream NAME     the same output through a pipe, and with a gzip file
filter NAME     --tid, --min-duration and --function select what the oracle selects
account NAME    counts, minimum, maximum and sums equal `llvm-xray account -k`; its percentiles are checked by its own rule
deduce NAME     `llvm-xray account -d -k`, run here, compared with --deduce-sibling-calls
twins NAME      byte orders and versions of the same content give the same table
story NAME      the same events written as every version in both byte orders give the same table, and the same report
sketch WHAT     a trace with more calls than are kept: percentiles have the stated accuracy
cut NAME        prefixes of small traces give what the oracle reads from them

Known differences from llvm-xray are listed by file with the erratum; a listed difference that does not occur is an error, too.
"""
import csv
import gzip
import io
import json
import os
import re
import shutil
import struct
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
import oracle
from compare_calls import E5, E6, E7_ACCOUNT, run, word
from tally import Tally

RANKS = [name for name, _ in oracle.QUANTILES]
NUMBERS = ["count", "min"] + RANKS + ["max", "sum", "self"]
KEYS = {"function": ("id",), "caller": ("caller_id", "id"), "thread": ("pid", "tid", "id")}
HEADINGS = {"function": "", "caller": "caller_id,caller,", "thread": "pid,tid,"}
STORIES = Path(__file__).resolve().parents[2] / "fixtures" / "xray"

ACCOUNT_DIFFERS = {
    "arg1-smallbuf.fdr.19": E5, "except.basic.19": E7_ACCOUNT, "except.fdr.14": E7_ACCOUNT, "except.fdr.19": E7_ACCOUNT,
    "unfinished.fdr.19": E7_ACCOUNT, "threads8.fdr.19": E6, "threads8-smallbuf.fdr.19": E6, "threads8-starved.fdr.14": E6,
    "threads8-starved.fdr.19": E6,
}
DEDUCE_DIFFERS = {name: why for name, why in ACCOUNT_DIFFERS.items() if why in (E5, E6)}
DEDUCE_DIFFERS["v5-le-blocks-reversed-us.fdr"] = E5


# --- The results of the oracle.

def key_part(part):
    return part if part is None else part & 0xffffffff


def oracle_rows(trace, by, ticks=False):
    """Returns {key: {name: number or None}}, with function ids as unsigned numbers."""
    if trace.header["type"] == "profile":
        return profile_rows(trace, by)
    frequency = 0 if ticks else trace.header["cycle_frequency"]
    rows = {}
    for key, row in oracle.summarise(trace, by).items():
        key = key[:-1] + (key_part(key[-1]),) if by != "caller" else tuple(map(key_part, key))
        rows[key] = {name: row["count"] if name == "count" else oracle.to_ns(row[name], frequency) if name in row else None
                     for name in NUMBERS}
        rows[key].update({name: row[name] for name in ("open", "lone", "clamped")})
    return rows


def profile_rows(trace, by):
    """Sums the paths of a profile; the time of a path is also subtracted from the self time of its caller."""
    rows = defaultdict(lambda: dict.fromkeys(["min"] + RANKS + ["max"]) |
                       dict.fromkeys(["count", "sum", "self", "open", "lone", "clamped"], 0))
    def row(record, path):
        caller = key_part(path[-2]) if len(path) > 1 else None
        key = {"function": (), "caller": (caller,), "thread": (record.pid, record.tid)}[by]
        return rows[key + (key_part(path[-1]),)]
    for record in trace.records:
        if record.kind != "path" or not record.args:
            continue
        path, (count, time) = list(reversed(record.args)), record.value
        own = row(record, path)
        own["count"] += count
        own["sum"] += time
        own["self"] += time
        if len(path) > 1:
            row(record, path[:-1])["self"] -= time
    return dict(rows)


# --- The results of perfray.

def number(text):
    return None if text == "" else int(text)


def csv_rows(out, by, unit):
    heading = HEADINGS[by] + "id,function,object,count," + ",".join(n + "_" + unit for n in NUMBERS[1:])
    text = out.decode()
    if text.splitlines()[0] != heading:
        return {"heading": text.splitlines()[0]}
    rows = {}
    for row in csv.DictReader(io.StringIO(text)):
        key = tuple(number(row[k]) for k in KEYS[by])
        assert key not in rows and row["function"] == word(key[-1]) and row["object"] == ""
        rows[key] = {n: number(row[n if n == "count" else n + "_" + unit]) for n in NUMBERS}
    return rows


def json_rows(document, by):
    return {tuple(row[k] for k in KEYS[by]): {n: row[n] for n in NUMBERS + ["open", "lone"]} | {"clamped": row["backward"]}
            for row in document["rows"]}


def only(rows, names):
    return {key: {n: row[n] for n in names} for key, row in rows.items()}


# --- Comparison with the oracle.

def check_rows(tally, name, path, trace):
    known = trace.header.get("cycle_frequency", 0)
    for by in KEYS:
        _, out, _ = run(["latency", "--format=csv", "--by", by, path])
        theirs = oracle_rows(trace, by)
        tally.check("csv " + by, name, csv_rows(out, by, "ns" if known else "ticks"), only(theirs, NUMBERS))
        _, out, _ = run(["latency", "--format=json", "--by", by, path])
        document = json.loads(out)
        tally.check("json " + by, name, json_rows(document, by), theirs)
        tally.check("json totals " + by, name, [document[n] for n in ("calls", "open", "lone", "backward", "unit", "by")],
                    [sum(row[n] for row in theirs.values()) for n in ("count", "open", "lone", "clamped")] +
                    ["ns" if known else "ticks", by])
        tally.check("json exact " + by, name, {row["exact"] for row in document["rows"]} | {True}, {True})
    _, out, _ = run(["latency", "--format=csv", "--ticks", path])
    tally.check("csv ticks", name, csv_rows(out, "function", "ticks"), only(oracle_rows(trace, "function", True), NUMBERS))


def check_text(tally, name, path, trace):
    _, out, _ = run(["latency", path])
    text = out.decode()
    rows = oracle_rows(trace, "function")
    def total(what):
        return sum(row[what] for row in rows.values())
    def reported(pattern):
        found = re.search(r"(?m)^# (\d+) " + pattern, text)
        return int(found.group(1)) if found else 0
    ours = (reported("calls? in"), reported("unfinished calls?: (?:its|their) callees"), reported("unmatched exits?"),
            reported("calls? without a duration"),
            sum(not line.startswith("#") for line in text.splitlines()))
    tally.check("text", name, ours, (total("count"), total("open"), total("lone"), total("clamped"), len(rows)))


def check_histogram(tally, name, path, trace):
    if trace.header["type"] == "profile":
        return
    _, out, _ = run(["latency", "--format=json", "--histogram", path])
    latencies = defaultdict(list)
    for call in oracle.pair(trace)[0]:
        latencies[call.func & 0xffffffff].append(oracle.to_ns(call.latency, trace.header["cycle_frequency"]))
    wrong = []
    for row in json.loads(out)["rows"]:
        values = latencies[row["id"]]
        bins = row["histogram"]
        ends = [b["from"] for b in bins] + [b["to"] for b in bins][-1:]
        good = all(len(str(e).rstrip("0")) <= 1 and str(e)[0] in "0125" for e in ends)
        good = good and all(bins[i]["to"] == bins[i + 1]["from"] for i in range(len(bins) - 1))
        good = good and all(b["count"] == sum(b["from"] <= v < b["to"] for v in values) for b in bins)
        good = good and sum(b["count"] for b in bins) == len(values) and (not bins or bins[0]["count"] and bins[-1]["count"])
        if not good:
            wrong.append(row["id"])
    tally.check("histogram", name, wrong, [])


VIEWS = (["latency"], ["latency", "--by=caller", "--format=csv"], ["latency", "--by=thread", "--format=json"])


def check_same(tally, name, path, data):
    for view in VIEWS:
        status, one, _ = run(view + ["-j", "1", path])
        tally.check("jobs", name, run(view + ["-j", "3", path])[:2], (status, one))
        for how, content in (("pipe", data), ("gzip", gzip.compress(data))):
            tally.check("stream " + how, name, run(view + ["-"], content)[:2], (status, one))


def check_filters(tally, name, path, trace):
    if trace.header["type"] == "profile":
        return
    calls, missing = oracle.pair(trace)
    tids = sorted({c.thread[1] for c in calls + missing if c.thread[1] is not None and c.thread[1] >= 0})
    def rows(words, key="id"):
        out = run(["latency", "--format=csv"] + words + [path])[1].decode()
        return {int(row[key]): int(row["count"]) for row in csv.DictReader(io.StringIO(out))}
    def counted(wanted):
        found = defaultdict(int)
        for entry in calls + missing:
            if wanted(entry):
                found[entry.func & 0xffffffff] += isinstance(entry, oracle.Call)
        return dict(found)
    if tids:
        tally.check("filter tid", name, rows(["--tid", "%d" % tids[-1]]), counted(lambda c: c.thread[1] == tids[-1]))
    if not calls:
        return
    middle = sorted(c.latency for c in calls)[len(calls) // 2]
    frequency = trace.header["cycle_frequency"]
    if frequency:
        ns = oracle.to_ns(middle, frequency)
        tally.check("filter duration", name, rows(["--min-duration", "%dns" % ns]),
                    counted(lambda c: not isinstance(c, oracle.Call) or c.latency * 10**9 >= ns * frequency))
    tally.check("filter ticks", name, rows(["--ticks", "--min-duration", "%d" % middle]),
                counted(lambda c: not isinstance(c, oracle.Call) or c.latency >= middle))
    function = calls[0].func & 0xffffffff
    everything = counted(lambda c: True)
    tally.check("filter function", name, rows(["--function", word(function)]), {function: everything[function]})
    tally.check("filter expression", name, rows(["--function", "/^#[0-9]*1$/"]),
                {f: n for f, n in everything.items() if word(f).endswith("1") and ":" not in word(f)})


# --- Comparison with llvm-xray.

def account_rows(text):
    return {int(row["funcid"]): row for row in csv.DictReader(io.StringIO(text))}


def near(ns, printed):
    """Whether seconds printed with seven digits equal these nanoseconds, which were truncated to integers."""
    return abs(float(printed) * 1e9 - ns) <= 1 + 1e-6 * ns


def their_rank(values, hundredths):
    return values[min(len(values) * hundredths // 100, len(values) - 1)]


def finished_rows(path, deduce):
    """Our rows of functions with at least one exit: llvm-xray prints no others."""
    _, out, _ = run(["latency", "--format=csv"] + (["-d"] if deduce else []) + [path])
    return {int(row["id"]): row for row in csv.DictReader(io.StringIO(out.decode())) if int(row["count"])}


def differing(ours, theirs, frequency):
    unit = "ns" if frequency else "ticks"
    scale = 1 if frequency else 1e-9
    wrong = []
    for function in sorted(set(ours) | set(theirs)):
        if function not in ours or function not in theirs:
            wrong.append(function)
            continue
        a, b = ours[function], theirs[function]
        good = int(a["count"]) == int(b["count"])
        for mine, their in (("min", "min"), ("max", "max"), ("sum", "sum")):
            good = good and near(int(a[mine + "_" + unit]), float(b[their]) * scale)
        if not good:
            wrong.append(function)
    return wrong


def ranks_differing(trace, theirs):
    """The percentiles of llvm-xray are the oracle's latencies at the index that llvm-xray uses."""
    latencies, wrong = defaultdict(list), []
    for call in oracle.pair(trace)[0]:
        latencies[call.func].append(call.latency)
    frequency = trace.header["cycle_frequency"]
    for function, row in theirs.items():
        values = sorted(latencies[function])
        for name, hundredths in (("median", 50), ("90%ile", 90), ("99%ile", 99)):
            ticks = their_rank(values, hundredths) if values else -1
            if not near(ticks * 1e9 / frequency if frequency else ticks, float(row[name]) * (1 if frequency else 1e-9)):
                wrong.append((function, name))
    return wrong


def check_account(tally, corpus, name, path, trace):
    saved = os.path.join(corpus, "out", name + ".account-k.csv")
    if not os.path.exists(saved) or not os.path.getsize(saved):
        return
    with open(saved, encoding="utf-8") as file:
        theirs = account_rows(file.read())
    frequency = trace.header["cycle_frequency"]
    wrong = differing(finished_rows(path, False), theirs, frequency)
    tally.check("account", name, wrong, [], ACCOUNT_DIFFERS)
    if name not in ACCOUNT_DIFFERS:
        tally.check("account ranks", name, ranks_differing(trace, theirs), [])


def check_deduce(tally, name, path, trace):
    if not shutil.which("llvm-xray") or not trace.records or trace.damage or trace.header["type"] == "profile":
        return
    done = subprocess.run(["llvm-xray", "account", "-d", "-k", "-f", "csv", path], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, timeout=60, check=False)
    theirs = account_rows(done.stdout.decode(errors="replace"))
    if done.returncode == 0 and theirs and len(trace.threads) == 1:
        ours = finished_rows(path, True)
        tally.check("deduce", name, differing(ours, theirs, trace.header["cycle_frequency"]), [], DEDUCE_DIFFERS)


# --- All files.

def check_file(tally, corpus, path):
    name = os.path.basename(path)
    with open(path, "rb") as file:
        data = file.read()
    try:
        trace = oracle.read(data)
    except oracle.NotXRay:
        tally.check("refused", name, run(["latency", path])[:2], (3, b""))
        return
    check_rows(tally, name, path, trace)
    check_text(tally, name, path, trace)
    check_histogram(tally, name, path, trace)
    check_same(tally, name, path, data)
    check_filters(tally, name, path, trace)
    check_account(tally, corpus, name, path, trace)
    check_deduce(tally, name, path, trace)


def table(path):
    """The output without the first line, which describes the file."""
    status, out, _ = run(["latency", path])
    return status, out.split(b"\n", 1)[1:]


def check_twins(tally, corpus):
    def at(name):
        return os.path.join(corpus, "synth", name)
    for stem in ["v%d" % v for v in range(1, 6)]:
        for twin in ("-be.fdr", "-be-lsbfirst.fdr"):
            tally.check("twins", stem + twin, table(at(stem + twin)), table(at(stem + "-le.fdr")))
    for version in (2, 3, 4):
        tally.check("twins", "v%d" % version, table(at("v%d-le.fdr" % version)), table(at("v1-le.fdr")))
    for stem in ["basic-v%d" % v for v in range(1, 4)]:
        tally.check("twins", stem, table(at(stem + "-be.log")), table(at(stem + "-le.log")))


def check_stories(tally):
    """The same events written by tests/support/xray_files.py in every format; profiles are left out because they only contain sums."""
    first = STORIES / "fdr-v5.xray"
    names = sorted(path.name for path in STORIES.glob("*.xray") if not path.name.startswith("profile"))
    for name in names:
        tally.check("story", name, table(str(STORIES / name)), table(str(first)))
        ours, theirs = (run(["report", "-g", "none", str(STORIES / n)])[:2] for n in (name, first.name))
        tally.check("story report", name, ours, theirs)
    forms = {"fdr-v%d%s" % (v, order) for v in range(1, 6) for order in ("", "-be", "-hybrid")}
    forms |= {"basic-v%d%s" % (v, order) for v in range(1, 4) for order in ("", "-be")}
    tally.check("story", "every form", {name[:-5] for name in names}, forms)


def wide_trace(calls, threads, frequency=2000000000):
    """Calls of one function with nearly all different latencies, mixed with some calls of another."""
    buffers, seed = [], 1
    for thread in range(threads):
        body = struct.pack("<BiQ3x", 1, 100 + thread, 0) + struct.pack("<Bqi3x", 9, 1, 1)
        body += struct.pack("<Bi11x", 19, 7) + struct.pack("<BHQ5x", 5, thread, 1000000)
        for _ in range(calls):
            seed = seed * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
            body += struct.pack("<IIII", 1 << 4, 10, 1 << 4 | 2, 100 + (seed >> 33) % (1 << (14 + (seed >> 60))))
        body += struct.pack("<IIII", 2 << 4, 10, 2 << 4 | 2, 77) * 10
        buffers.append(struct.pack("<BQ7x", 15, len(body)) + body)
    return struct.pack("<HHIQQQ", 5, 1, 3, frequency, 1 << 20, 0) + b"".join(buffers)


def check_sketch(tally, folder):
    """With more calls than are kept, checks the note about this fact and the accuracy of percentiles."""
    path = os.path.join(folder, "wide.xray")
    with open(path, "wb") as file:
        file.write(wide_trace(45000, 4))
    with open(path, "rb") as file:
        trace = oracle.read(file.read())
    theirs = oracle_rows(trace, "function")
    status, out, err = run(["latency", "--format=json", path])
    document = json.loads(out)
    ours = json_rows(document, "function")
    ranks = {(key, n) for key, row in ours.items() for n in RANKS
             if abs(row[n] - theirs[key][n]) > 0.00390625 * theirs[key][n] + 1}
    tally.check("sketch", "percentiles", (status, err, ranks), (0, b"", set()))
    others = [n for n in NUMBERS if n not in RANKS]
    tally.check("sketch", "other numbers", only(ours, others), only(theirs, others))
    tally.check("sketch", "exact rows", {row["id"]: row["exact"] for row in document["rows"]}, {1: False, 2: True})
    tally.check("sketch", "exact row", ours[(2,)], theirs[(2,)])
    tally.check("sketch", "is named", document.get("sketch"), {"name": "log-linear", "relative_error": 0.00390625})
    for by in KEYS:
        for form in ("text", "csv", "json"):
            words = ["latency", "--by", by, "--format", form, path]
            tally.check("sketch jobs", by + " " + form, run(words + ["-j", "4"]), run(words + ["-j", "1"]))
    text = run(["latency", path])[1].decode()
    marked = [line.count("~") for line in text.splitlines() if not line.startswith("#")]
    tally.check("sketch", "marks", (marked, "an error of at most 0.39 %" in text), ([len(RANKS), 0], True))
    tally.check("sketch", "is reported with CSV", b"an error of at most 0.39 %" in run(["latency", "--format=csv", path])[2], True)


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
        for length in lengths(data, 0):
            with open(path, "wb") as file:
                file.write(data[:length])
            try:
                trace = oracle.read(data[:length])
            except oracle.NotXRay:
                status, out, err = run(["latency", "--format=csv", path])
                if status != 3 or out or not err:
                    wrong[length] = (status, out)
                continue
            status, out, err = run(["latency", "--format=csv", path])
            unit = "ns" if trace.header.get("cycle_frequency") else "ticks"
            ours = csv_rows(out, "function", unit)
            if status not in (0, 4) or ours != only(oracle_rows(trace, "function"), NUMBERS) or (status == 4) != bool(err):
                wrong[length] = (status, ours)
        tally.check("cut", name, wrong, {})


def main():
    tally, files = Tally(), 0
    check_stories(tally)
    with harness.scratch("compare-latency") as folder:
        check_sketch(tally, folder)
    corpus = harness.corpus("xray")
    if not corpus:
        harness.skip("xray_latency_corpus", "PERFRAY_CORPUS is not set")
        return harness.status()
    for folder in ("traces", "synth"):
        for name in sorted(os.listdir(os.path.join(corpus, folder))):
            check_file(tally, corpus, os.path.join(corpus, folder, name))
            files += 1
    check_twins(tally, corpus)
    with harness.scratch("compare-latency") as folder:
        check_cuts(tally, corpus, folder)
    return tally.sum(files)


if __name__ == "__main__":
    sys.exit(main())
