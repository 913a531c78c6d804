#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_view.py - pages of perfray view in a browser: their numbers are those of report and latency.

usage: run_view.py [--modules DIR] [--maker FILE] [--shots DIR] RECORDED

RECORDED is the folder of recordings. Needed are node, chromium and the npm package playwright-core in
DIR; FILE is page_maker. With --shots the
pictures of all panels are kept in DIR. view_page.js drives the browser; what is checked is here.
"""
import argparse
import json
import os
import random
import re
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
import run_browser  # noqa: E402
import run_million  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 400
LARGE = 200000
RECORDINGS = ("demo.data", "chains.data", "group.data", "pipe.data", "zstd.data", "cgroups.data", "dwarf.data", "threads-zstd.data")
TRACES = ("traced.xray",)
MUST_BE_EMPTY = ("no-samples.data",)


def view(folder, name, *words):
    path = os.path.join(folder, name + ".html")
    done = harness.perfray("view", "-o", path, "--no-cache", *words)
    harness.must(done.returncode in (0, 4) and os.path.exists(path), "status %d: %s" % (done.returncode, done.stderr.decode("utf-8", "replace")))
    return path


def browse(options, folder, jobs):
    listed = os.path.join(folder, "jobs.json")
    with open(listed, "w", encoding="utf-8") as file:
        json.dump(jobs, file)
    done = subprocess.run(["node", os.path.join(HERE, "view_page.js"), options.playwright, harness.installed("chromium"), listed],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ, HOME=folder),
                          timeout=SECONDS, check=False)
    harness.must(done.returncode == 0, done.stderr.decode("utf-8", "replace")[-2000:])
    return {result["name"]: result for result in json.loads(done.stdout)}


def must_be_quiet(result):
    harness.must(not result["messages"], "messages: %s" % result["messages"][:4])
    harness.must(len(set(result["requests"])) == 1, "requests: %s" % result["requests"][:4])


# --- Numbers of report.

def report_rows(path, *words):
    """{(function, object): weight} and the sum, of the first event."""
    done = harness.perfray("report", "--no-cache", "--no-children", "-g", "none", "-s", "sym,dso", "--format=json", *words, path)
    made = json.loads(done.stdout)
    event = made["events"][0]
    rows = {}
    for row in event["rows"]:
        key = (row["sym"].split(" ", 1)[-1], row["dso"])
        rows[key] = rows.get(key, 0) + row["weight"]
    return rows, event


def shown_rows(facts):
    rows = {}
    for row in facts["table"]:
        key = (row["name"], row["object"])
        rows[key] = rows.get(key, 0) + row["self"]
    return rows


def compare_with_report(result, path, *words):
    facts = result["facts"]["start"]
    must_be_quiet(result)
    expected, event = report_rows(path, *words)
    harness.must(facts["total"] == sum(expected.values()), "total %s, report %s" % (facts["total"], sum(expected.values())))
    shown = shown_rows(facts)
    harness.must(sum(shown.values()) == facts["total"], "selves add up to %s of %s" % (sum(shown.values()), facts["total"]))
    named = {key: weight for key, weight in expected.items() if not key[0].startswith(("0x", "["))}
    wrong = ["%s: page %s, report %s" % (key, shown.get(key, 0), weight) for key, weight in named.items() if shown.get(key, 0) != weight]
    harness.must(not wrong, "; ".join(wrong[:4]))
    return "%d functions, %d samples" % (len(named), facts["rows"])


# --- Numbers of latency.

def compare_with_latency(result, path, *words):
    must_be_quiet(result)
    done = harness.perfray("latency", "--format=json", *words, path)
    made = json.loads(done.stdout)
    shown = {row["name"]: row["values"] for row in result["facts"]["latency"]["latencies"]}
    wrong = []
    for row in made["rows"]:
        expected = [row[key] for key in ("count", "sum", "self", "p50", "p90", "p95", "p99", "p999", "max")]
        if shown.get(row["function"]) != expected:
            wrong.append("%s: page %s, latency %s" % (row["function"], shown.get(row["function"]), expected))
    harness.must(not wrong and shown, "; ".join(wrong[:3]) or "no rows")
    return "%d functions" % len(shown)


# --- What keys do.

TOUR = [["facts", "start"], ["tab", "Table"], ["row", "sieve"], ["key", "d"], ["facts", "dropped"], ["key", "Backspace"], ["facts", "undone"],
        ["key", "f"], ["facts", "focused"], ["reload"], ["facts", "reloaded"], ["key", "Escape"], ["tab", "Flame graph"], ["key", "v"], ["facts", "inverted"],
        ["key", "/"], ["type", "sieve"], ["facts", "found"], ["key", "Control+Enter"], ["facts", "kept"], ["key", "Escape"], ["tab", "Callers & callees"], ["facts", "sandwich"],
        ["key", "?"], ["key", "Escape"], ["drag", 0.2, 0.6], ["facts", "timed"]]


def check_tour(result):
    must_be_quiet(result)
    facts = result["facts"]
    sieve = next(row["self"] for row in facts["start"]["table"] if row["name"] == "sieve")
    total = facts["start"]["total"]
    harness.must(facts["dropped"]["total"] == total - sieve, "d left %s" % facts["dropped"]["total"])
    harness.must(facts["undone"]["total"] == total and not facts["undone"]["chips"], "undo: %s" % facts["undone"]["total"])
    harness.must(facts["focused"]["total"] == sieve, "f left %s" % facts["focused"]["total"])
    harness.must(facts["reloaded"]["total"] == sieve and facts["reloaded"]["state"] == facts["focused"]["state"], "the address lost the state")
    harness.must("1 functions" in facts["found"]["found"], "search: %s" % facts["found"]["found"])
    harness.must(facts["timed"]["state"]["time"] and facts["timed"]["rows"] < facts["start"]["rows"], "dragging chose no time")
    return "%d steps" % len(TOUR)


def check_hostile(result):
    must_be_quiet(result)
    facts = result["facts"]["start"]
    harness.must(facts.get("owned") is None and facts["ready"] != "failed", "something ran")
    return "%d functions" % len(facts["table"])


def check_empty(result):
    must_be_quiet(result)
    harness.must(result["facts"]["start"]["empty"], "an empty page says nothing")


# --- A page that is too large.

def write_large(folder, bits):
    """Samples whose times and periods are noise: gzip makes little of them."""
    noise, path = random.Random(5), os.path.join(folder, "large.data" if bits < 40 else "heavy.data")
    data = run_million.sound(LARGE)
    words = memoryview(data)[run_million.DATA:].cast("B")
    for i in range(LARGE):
        at = i * run_million.SAMPLE
        struct.pack_into("<QIIQQ", words, at + 8, 0x400000 + noise.randrange(50), 7, 7 + noise.randrange(3),
                         1000000 + i * 1000 + noise.randrange(900), noise.randrange(1 << bits))
    run_million.write(path, data)
    return path


def check_large(result, path, page):
    must_be_quiet(result)
    facts, size = result["facts"]["start"], os.path.getsize(page)
    _, event = report_rows(path)
    harness.must((facts["total"], facts["rows"]) == (event["weight"], event["samples"]), "%s, report %s" % (facts["total"], event["weight"]))
    harness.must("slots" in " ".join(facts["quality"]), "the page does not say that it is coarse: %s" % facts["quality"])
    harness.must(size < (1 << 20) + (1 << 18), "%d bytes" % size)
    return "%d bytes" % size


def check_heavy(result, path):
    """Sums above 2^53 are rounded down, and the page says to what."""
    must_be_quiet(result)
    facts, (_, event) = result["facts"]["start"], report_rows(path)
    unit = max(int(exponent) for exponent in re.findall(r"multiples of 2\^(\d+)", " ".join(facts["quality"])) or [0])
    harness.must(unit and 0 <= event["weight"] - facts["total"] < LARGE << unit, "%s of %s, unit 2^%d" % (facts["total"], event["weight"], unit))
    return "to 2^%d" % unit


# --- All.

def start_job(name, path, **more):
    return {"name": name, "file": path, "steps": [["facts", "start"]], **more}


def jobs_of(options, folder):
    recorded = {name: os.path.join(options.recorded, name) for name in (*RECORDINGS, *MUST_BE_EMPTY)}
    jobs, hostile = [], os.path.join(folder, "hostile.data")
    root = ["--symfs", os.path.join(options.recorded, "demo-root")]
    for name, path in recorded.items():
        jobs.append(start_job(name, view(folder, name, *(root if name == "demo.data" else []), path)))
    jobs.append(start_job("big endian", view(folder, "big", *root, big_endian(folder, recorded["demo.data"]))))
    jobs.append({"name": "tour", "file": view(folder, "tour", *root, recorded["demo.data"]), "steps": TOUR})
    trace = os.path.join(options.recorded, "..", "traced", "traced.xray")
    named = ["-m", os.path.join(options.recorded, "..", "traced", "traced.yaml")]
    jobs.append({"name": "trace", "file": view(folder, "trace", *named, trace), "steps": [["facts", "start"], ["tab", "Latency"], ["facts", "latency"]]})
    with open(hostile, "wb") as file:
        file.write(run_browser.recording())
    jobs.append(start_job("large", view(folder, "large", "--max-size", "1M", write_large(folder, 30))))
    jobs.append(start_job("heavy", view(folder, "heavy", write_large(folder, 44))))
    jobs.append(start_job("hostile", view(folder, "hostile", "--no-symbols", hostile)))
    return jobs, trace, named, root, recorded


def big_endian(folder, path):
    out = os.path.join(folder, "big.data")
    done = harness.perfray("convert", "--byte-order=big", "-o", out, path)
    harness.must(done.returncode == 0, done.stderr.decode())
    return out


def run(options, folder):
    jobs, trace, named, root, recorded = jobs_of(options, folder)
    if options.shots:
        os.makedirs(options.shots, exist_ok=True)
        for job in jobs:
            job["shot"] = os.path.join(options.shots, job["name"].replace(" ", "-") + ".png")
    results = browse(options, folder, jobs)
    for name in RECORDINGS:
        harness.attempt("view/report " + name, compare_with_report, results[name], recorded[name], *(root if name == "demo.data" else []))
    harness.attempt("view/report big-endian", compare_with_report, results["big endian"], recorded["demo.data"], *root)
    harness.attempt("view/latency trace", compare_with_latency, results["trace"], trace, *named)
    harness.attempt("view/large", check_large, results["large"], os.path.join(folder, "large.data"), os.path.join(folder, "large.html"))
    harness.attempt("view/heavy", check_heavy, results["heavy"], os.path.join(folder, "heavy.data"))
    harness.attempt("view/keys", check_tour, results["tour"])
    harness.attempt("view/hostile", check_hostile, results["hostile"])
    for name in MUST_BE_EMPTY:
        harness.attempt("view/empty " + name, check_empty, results[name])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--modules", default="build/npm/node_modules")
    parser.add_argument("--maker")
    parser.add_argument("--shots")
    parser.add_argument("recorded")
    options = parser.parse_args()
    options.playwright = os.path.join(options.modules, "playwright-core")
    reason = run_browser.missing(options.playwright)
    if reason:
        return harness.skip("view", reason)
    with harness.scratch("view") as folder:
        harness.attempt("view", run, options, folder)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
