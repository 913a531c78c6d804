#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_view.py - tests pages of perfray view in a browser: they must show the numbers of report and latency.

usage: run_view.py [--modules DIR] [--maker FILE] [--shots DIR] [--picture FILE] RECORDED

RECORDED is the folder of recordings. Requires node, chromium and the npm package playwright-core in DIR; FILE is page_maker. With --shots, pictures of all
panels are written to DIR. view_page.js controls the browser; the checks are here.
"""
import argparse
import csv
import json
import os
import random
import re
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
sys.path += [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", *of) for of in (["oracle", "export"], ["hostile"])]
import harness  # noqa: E402
import run_browser  # noqa: E402
import run_million  # noqa: E402
import view_controls  # noqa: E402
import view_groups  # noqa: E402
import view_marks  # noqa: E402
import view_questions  # noqa: E402
import view_short_calls  # noqa: E402
import view_waits  # noqa: E402
from view_exercise import check_exercise, equal, exercise, must_be_quiet, on_threads  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS, LARGE = 400, 200000
BROWSERS = {"chromium": ("playwright-core", "chromium"), "firefox": ("puppeteer-core", "firefox-esr")}
RECORDINGS = ("demo.data", "chains.data", "group.data", "two-events.data", "pipe.data", "zstd.data", "cgroups.data", "dwarf.data", "threads-zstd.data", "switch-events.data")
CORPUS = ("rec61.jitmap", "rec61.jitdump", "rec61.syswide")
EXERCISED = ("two-events.data", "built")  # all with PERFRAY_LONG
SECOND_BROWSER = ("demo.data", "built") if os.environ.get("PERFRAY_LONG") else ("demo.data",)
TRACES = ("traced.xray",)
MUST_BE_EMPTY = ("no-samples.data",)
THREADS = 3


def view(folder, name, *words):
    path = os.path.join(folder, name + ".html")
    done = harness.perfray("view", "-o", path, "--no-cache", *words)
    harness.must(done.returncode in (0, 4) and os.path.exists(path), "status %d: %s" % (done.returncode, done.stderr.decode("utf-8", "replace")))
    return path


def browse(options, folder, jobs, kind="chromium"):
    package, program = BROWSERS[kind]
    listed = os.path.join(folder, "jobs.json")
    with open(listed, "w", encoding="utf-8") as file:
        json.dump(jobs, file)
    done = subprocess.run(["node", os.path.join(HERE, "view_page.js"), kind, os.path.join(os.path.abspath(options.modules), package), harness.installed(program), listed],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ, HOME=folder, XDG_CACHE_HOME=folder),
                          timeout=SECONDS, check=False)
    harness.must(done.returncode == 0, done.stderr.decode("utf-8", "replace")[-2000:])
    results = json.loads(done.stdout)
    print("# %s: %s" % (kind, ", ".join("%s %.1f s" % (result["name"], result["ms"] / 1000) for result in results)))
    return {result["name"]: result for result in results}


# --- The numbers of report.

def report(path, keys, *words):
    done = harness.perfray("report", "--no-cache", "--no-children", "-g", "none", "-s", keys, "--format=json", *words, path)
    return json.loads(done.stdout)["events"]


def sums_of(rows, key):
    sums = {}
    for row in rows:
        sums[key(row)] = sums.get(key(row), 0) + row["weight"]
    return {name: weight for name, weight in sums.items() if weight}


def shown_sums(facts, key):
    sums = {}
    for row in facts["table"]:
        sums[key(row)] = sums.get(key(row), 0) + row["self"]
    return {name: weight for name, weight in sums.items() if weight}


def compare_event(facts, event, objects):
    """Compares one event: its sum, its samples, every object and every function with a name."""
    equal(event["name"], (facts["total"], facts["rows"]), (event["weight"], event["samples"]))
    equal("objects of " + event["name"], shown_sums(facts, lambda row: row["object"]), sums_of(objects["rows"], lambda row: row["dso"]))
    expected = sums_of(event["rows"], lambda row: (row["sym"].split(" ", 1)[-1], row["dso"]))
    shown = shown_sums(facts, lambda row: (row["name"], row["object"]))
    named = {key: weight for key, weight in expected.items() if not key[0].startswith(("0x", "["))}
    equal("functions of " + event["name"], {key: shown.get(key, 0) for key in named}, named)
    return len(named)


def compare_with_report(result, path, *words):
    must_be_quiet(result)
    events, objects = report(path, "sym,dso", *words), report(path, "dso", *words)
    listed = result["facts"]["start"]["events"]
    named = 0
    for event, of in zip(events, objects):
        if event["samples"] and len(listed) > listed.index(event["name"]):
            named += compare_event(result["facts"]["event %d" % listed.index(event["name"])], event, of)
    compare_threads(result["facts"], report(path, "tid", *words)[0])
    return "%d events, %d functions" % (len(events), named)


def compare_threads(facts, event):
    wanted = sums_of(event["rows"], lambda row: str(row["tid"]))
    for i in range(THREADS):
        made = facts["thread %d" % i]
        if made["state"]["threads"]:
            name = made["threads"][made["state"]["threads"][0]].split("/")[1]
            equal("thread " + name, made["total"], wanted.get(name, 0))


# --- The numbers of latency.

def compare_with_latency(result, path, *words):
    must_be_quiet(result)
    done = harness.perfray("latency", "--format=json", *words, path)
    made = json.loads(done.stdout)
    shown = {row["name"]: row["values"] for row in result["facts"]["latency"]["latencies"]}
    wrong = []
    for row in made["rows"]:
        expected = [row[key] for key in view_short_calls.KEYS]
        if shown.get(row["function"]) != expected:
            wrong.append("%s: page %s, latency %s" % (row["function"], shown.get(row["function"]), expected))
    harness.must(not wrong and shown, "; ".join(wrong[:3]) or "no rows")
    return "%d functions" % len(shown)


# --- Facts of one recording.

TOUR = [["facts", "start"], ["tab", "Table"], ["row", "sieve"], ["facts", "chosen"], ["row", "[libc.so.6]"], ["facts", "outermost"], ["row", "sieve"], ["key", "d"], ["facts", "dropped"], ["key", "Backspace"], ["key", "f"], ["facts", "focused"], ["reload"], ["facts", "reloaded"],
        ["key", "Escape"], ["tab", "Flame graph"], ["key", "v"], ["facts", "inverted"], ["key", "/"], ["type", "sieve"], ["facts", "found"], ["key", "Control+Enter"], ["facts", "kept"]]


def check_tour(result):
    must_be_quiet(result)
    facts = result["facts"]
    total, sieve = facts["start"]["total"], next(row["self"] for row in facts["start"]["table"] if row["name"] == "sieve")
    equal("callers", (facts["chosen"]["callers"], facts["outermost"]["callers"]), (["main100.0 %"], ["no caller in the stack100.0 %"]))
    equal("d", facts["dropped"]["total"], total - sieve)
    equal("f", facts["focused"]["total"], sieve)
    equal("reloaded", (facts["reloaded"]["total"], facts["reloaded"]["state"]), (sieve, facts["focused"]["state"]))
    equal("search, Ctrl+Enter", ("1 function " in facts["found"]["found"], facts["kept"]["total"]), (True, sieve))
    return "%d steps" % len(TOUR)


# --- Code.

CODE = [["tab", "Table"], ["row", "sieve"], ["key", "6"], ["facts", "code"], ["key", "u"], ["facts", "counts"], ["tab", "Flame graph"], ["facts", "other"]]


def check_code(result, path, symfs):
    """The instructions of a function and their sums equal those of annotate."""
    must_be_quiet(result)
    done = harness.perfray("annotate", "--symfs", symfs, "--format=json", "sieve", path)
    rows = json.loads(done.stdout)["functions"][0]["instructions"]
    weights, samples = [row["weight"][0] for row in rows], [row["samples"][0] for row in rows]
    for label, sums in (("code", weights), ("counts", samples)):
        code = result["facts"][label]["code"]
        equal(label, (code["rows"], code["sum"], code["hottest"]), (len(rows), sum(sums), max(sums)))
    shown = " ".join(result["facts"]["code"]["codeRows"])
    hot = rows[weights.index(max(weights))]
    harness.must(hot["instruction"] in shown and hot["address"][2:] in shown, "the hottest instruction is not in view")
    harness.must(result["facts"]["other"]["code"] is None, "the panel stays")
    return "%d instructions" % len(rows)


CODE_DIFF = [["tab", "Code"], ["facts", "new"], ["click", ".codehead .option"], ["facts", "baseline"], ["key", "u"], ["facts", "counts"]]


def check_code_low(result):
    """The panel scrolls to the hottest instruction of a listing that does not fit into it. The page reports that sources were not found."""
    must_be_quiet(result)
    facts = result["facts"]["code"]
    harness.must(facts["codeScroll"] > 0, "the panel begins with the first instruction")
    harness.must("No source file was found" in facts["codeNote"], facts["codeNote"])


def check_code_diff(result, path, symfs):
    """A recording compared with itself: each side has the function's sum of annotate, and each instruction has equal shares on both sides."""
    must_be_quiet(result)
    function = json.loads(harness.perfray("annotate", "--symfs", symfs, "--format=json", path).stdout)["functions"][0]
    for label, key in (("new", "weight"), ("baseline", "weight"), ("counts", "samples")):
        facts = result["facts"][label]
        code, total = facts["code"], sum(row[key][0] for row in function["instructions"])
        equal(label, (code["side"], code["sum"], code["lines"]["sums"], code["lines"]["sameAddresses"]), (int(label != "new"), total, [total, total], True))
        shares = [row for row in facts["codeShares"] if any(row)]
        harness.must(shares and all(baseline == new for baseline, new in shares), "%s: %s" % (label, shares))
    return "%d rows" % len(shares)


def check_code_one_side(result):
    """A function that only one recording has: the other side has no shares, and the page says so."""
    must_be_quiet(result)
    facts = result["facts"]["code"]
    shown = 1 - facts["code"]["side"]  # the columns are baseline, new
    shares = [row for row in facts["codeShares"] if any(row)]
    harness.must(shares and all(row[shown] and not row[1 - shown] for row in shares), "%s" % shares)
    harness.must("it has no samples there under this name" in facts["codeNote"] and "new 0 %" not in facts["codeNote"], facts["codeNote"])


# --- The keyboard and screen readers.

REACHED = ("tab ", "listbox|option", "input Search functions", "tree Flame graph", "aside Details", "button ")


def check_reached(result):
    must_be_quiet(result)
    seen = result["facts"]["reached"]
    for wanted in REACHED:
        harness.must(any(name.startswith(tuple(wanted.split("|"))) for name in seen), "Tab does not reach %s: %s" % (wanted, seen))
    equal("stops in the list of threads", sum(name.startswith("option ") for name in seen), 1)
    return "%d stops" % len(seen)


def check_snapshot(result):
    """The tree of roles and names of one page equals the stored one. If the page changes, the tree changes: check the difference, then run with UPDATE=1."""
    must_be_quiet(result)
    path, made = os.path.join(HERE, "demo.aria"), result["facts"]["aria"]
    if os.environ.get("UPDATE"):
        with open(path, "w", encoding="utf-8") as file:
            file.write(made + "\n")
    with open(path, encoding="utf-8") as file:
        kept = file.read().rstrip("\n")
    wrong = [pair for pair in zip(made.splitlines() + [""], kept.splitlines() + [""]) if pair[0] != pair[1]]
    harness.must(made == kept, "made %r, kept %r" % wrong[0] if wrong else "lines differ in number")
    return "%d lines" % len(made.splitlines())


def check_same(result):
    """A recording compared with itself: every function has the same weight in both and no change."""
    must_be_quiet(result)
    rows = result["facts"]["start"]["changes"]
    harness.must(rows and result["facts"]["start"]["state"]["panel"] == "diff", "no diff is shown")
    wrong = [row for row in rows if row["baseline"] != row["new"] or row["points"]]
    harness.must(not wrong, "%s" % wrong[:3])
    return "%d functions" % len(rows)


def check_diff(result):
    must_be_quiet(result)
    facts = result["facts"]
    harness.must(any(row["points"] for row in facts["start"]["changes"]), "nothing changed")
    equal("widths", facts["widths"]["state"]["width"], "new")
    harness.must("→" in facts["chosen"]["status"] or facts["chosen"]["details"], "a choice tells nothing")
    return "%d functions" % len(facts["start"]["changes"])


def check_compared(result, words):
    """Functions, changes, intervals and verdicts equal those of perfray diff. A selection has no verdicts."""
    must_be_quiet(result)
    done = harness.perfray("diff", "--no-cache", "--format=csv", "--children", *words)
    wanted = sorted(changes_of(csv.DictReader(done.stdout.decode("utf-8").splitlines())))
    shown = result["facts"]["start"]["changes"]
    made = sorted((row["name"], row["verdict"], *map(float, row["interval"].strip("[]").replace("−", "-").split(", "))) for row in shown)
    equal("functions and verdicts", [row[:2] for row in made], [row[:2] for row in wanted])
    wrong = [pair for pair in zip(made, wanted) if any(abs(x - y) > 0.00501 for x, y in zip(pair[0][2:], pair[1][2:]))]
    harness.must(not wrong, "%s" % wrong[:3])
    harness.must({row["verdict"] for row in shown} > {"noise"}, "all is noise")
    equal("verdicts of a selection", {row["verdict"] for row in result["facts"]["selected"]["changes"]}, {""})
    return "%d functions" % len(shown)


def changes_of(rows):
    for row in rows:
        if row["symbol"] != "[total]":
            name = row["symbol"] if row["symbol"] != "[unknown]" else row["object"] if row["object"].startswith("[") else "[%s]" % row["object"]
            yield name, row["verdict"], float(row["low"]), float(row["high"])


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
    """Samples with random times and periods, which gzip hardly compresses."""
    noise, path = random.Random(5), os.path.join(folder, "large.data" if bits < 40 else "heavy.data")
    data = run_million.sound(LARGE)
    words = memoryview(data)[run_million.DATA:].cast("B")
    for i in range(LARGE):
        struct.pack_into("<QIIQQ", words, i * run_million.SAMPLE + 8, 0x400000 + noise.randrange(50), 7, 7 + noise.randrange(3),
                         1000000 + i * 1000 + noise.randrange(900), noise.randrange(1 << bits))
    run_million.write(path, data)
    return path


def check_large(result, path, page):
    must_be_quiet(result)
    facts, size = result["facts"]["start"], os.path.getsize(page)
    event = report(path, "sym")[0]
    harness.must((facts["total"], facts["rows"]) == (event["weight"], event["samples"]), "%s, report %s" % (facts["total"], event["weight"]))
    harness.must("slots" in " ".join(facts["quality"]), "the page does not say that it is coarse: %s" % facts["quality"])
    harness.must(size < (1 << 20) + (5 << 16), "%d bytes" % size)
    return "%d bytes" % size


def check_heavy(result, path):
    """Sums above 2^53 are rounded down, and the page says to which multiple."""
    must_be_quiet(result)
    facts, event = result["facts"]["start"], report(path, "sym")[0]
    unit = max(int(exponent) for exponent in re.findall(r"multiples of 2\^(\d+)", " ".join(facts["quality"])) or [0])
    harness.must(unit and 0 <= event["weight"] - facts["total"] < LARGE << unit, "%s of %s, unit 2^%d" % (facts["total"], event["weight"], unit))
    return "to 2^%d" % unit


# --- All pages.

def start_job(name, path, **more):
    return {"name": name, "file": path, "steps": [["facts", "start"]], **more}


def numbers(events=3):
    """Yields the busiest threads, then every event."""
    steps = [["facts", "start"]] + on_threads(THREADS) + [["key", "Escape"]]
    for i in range(events):
        steps += [["facts", "event %d" % i], ["key", "e"]]
    return steps


def recordings_of(options, folder):
    """Returns {name: (recording, options of perfray)}."""
    root = ("--symfs", os.path.join(options.recorded, "demo-root"))
    made = {name: (os.path.join(options.recorded, name), root if name == "demo.data" else ()) for name in RECORDINGS}
    made["big endian"] = (big_endian(folder, made["demo.data"][0]), root)
    cut = os.path.join(folder, "cut.data")
    with open(made["chains.data"][0], "rb") as whole, open(cut, "wb") as file:
        file.write(whole.read()[:4000])
    made["damaged"] = (cut, ())
    for name in CORPUS:
        path = harness.corpus("perf", "recorded")
        if path and os.path.exists(os.path.join(path, name)):
            made[name] = (os.path.join(path, name), ())
    return made


def jobs_of(options, folder, recordings):
    jobs, hostile = [], os.path.join(folder, "hostile.data")
    pages = {name: view(folder, name.replace(" ", "-"), *words, path) for name, (path, words) in recordings.items()}
    pages["built"] = os.path.join(folder, "built.html")
    harness.must(subprocess.run([options.maker, "lanes", "3000", pages["built"]], timeout=SECONDS, check=False).returncode == 0, "page_maker")
    for name, page in pages.items():
        if name != "built":
            jobs.append({"name": name, "file": page, "steps": numbers()})
        if name in EXERCISED or os.environ.get("PERFRAY_LONG"):
            jobs.append({"name": "exercise " + name, "file": page, "steps": exercise()})
    second = [{"name": "exercise " + name, "file": pages[name], "steps": exercise()} for name in SECOND_BROWSER]
    for kind in ("same", "diff"):
        path = os.path.join(folder, kind + ".html")
        harness.must(subprocess.run([options.maker, kind, "3000", path], timeout=SECONDS, check=False).returncode == 0, "page_maker " + kind)
        steps = [["facts", "start"], ["click", ".diff .flame"], ["facts", "chosen"], ["key", "w"], ["facts", "widths"]]
        jobs.append({"name": kind, "file": path, "steps": steps})
    jobs.append({"name": "tour", "file": pages["demo.data"], "steps": TOUR})
    demo, symfs = (os.path.join(options.recorded, name) for name in ("demo.data", "demo-root"))
    jobs.append({"name": "compared", "file": view(folder, "compared", *compared_words(options)), "steps": [["facts", "start"], ["drag", 0.2, 0.6], ["facts", "selected"]]})
    jobs.append({"name": "code", "file": view(folder, "code", "--sources", "--symfs", symfs, demo), "steps": CODE})
    jobs.append({"name": "code low", "file": jobs[-1]["file"], "width": 900, "height": 380, "steps": [["key", "6"], ["facts", "code"]]})
    jobs.append({"name": "code diff", "file": view(folder, "code-diff", "--code", "--diff", demo, "--symfs", symfs, demo), "steps": CODE_DIFF})
    jobs += view_waits.jobs(view, folder, waits_words(options))
    jobs.append({"name": "code one side", "file": view(folder, "code-one", "--code", *compared_words(options)), "steps": [["key", "6"], ["facts", "code"]]})
    jobs += [{"name": "reached", "file": pages["built"], "steps": [["tour", "reached", 60]]}, {"name": "snapshot", "file": pages["demo.data"], "steps": [["snapshot", "aria"]]}]
    trace = os.path.join(options.recorded, "..", "traced", "traced.xray")
    named = ("-m", os.path.join(options.recorded, "..", "traced", "traced.yaml"))
    steps = [["facts", "start"], ["tab", "Latency"], ["facts", "latency"]]
    jobs.append({"name": "trace", "file": view(folder, "trace", *named, trace), "steps": steps})
    second.append(jobs[-1])
    jobs += view_questions.jobs(pages["built"], jobs[-1]["file"], pages["dwarf.data"]) + [view_marks.job(view(folder, "marks", view_marks.write(folder)))] + view_groups.jobs(view, folder)
    jobs += view_controls.jobs(pages["built"], pages["demo.data"], os.path.join(folder, "waits.html")) + [view_short_calls.job(view(folder, "short-calls", "--max-size", "1M", *named, view_short_calls.write(folder)))]
    with open(hostile, "wb") as file:
        file.write(run_browser.recording())
    jobs += [start_job(name, view(folder, name, os.path.join(options.recorded, name))) for name in MUST_BE_EMPTY]
    jobs += [start_job("large", view(folder, "large", "--max-size", "1M", write_large(folder, 30))), start_job("heavy", view(folder, "heavy", write_large(folder, 44)))]
    jobs.append({"name": "hostile", "file": view(folder, "hostile", "--no-symbols", hostile), "steps": [["facts", "start"], ["tab", "Table"], ["tab", "Callers & callees"], ["key", "x"]]})
    second.append(jobs[-1])
    return jobs, second, trace, named


def waits_words(options):
    root, names, path = (os.path.join(options.recorded, name) for name in ("waits-root", "waits.kallsyms", "waits.data"))
    return ["--symfs", root, "--kallsyms", names, path]


def compared_words(options):
    """Options of diff, which view takes too."""
    return ["--diff", os.path.join(options.recorded, "demo.data"), "--symfs", os.path.join(options.recorded, "demo-root"), os.path.join(options.recorded, "threads.data")]


def big_endian(folder, path):
    out = os.path.join(folder, "big.data")
    done = harness.perfray("convert", "--byte-order=big", "-o", out, path)
    harness.must(done.returncode == 0, done.stderr.decode())
    return out


def run_first(options, folder):
    recordings = recordings_of(options, folder)
    jobs, second, trace, named = jobs_of(options, folder, recordings)
    if options.shots:
        os.makedirs(options.shots, exist_ok=True)
        for job in jobs:
            job["shot"] = os.path.join(options.shots, job["name"].replace(" ", "-") + ".png")
    results = browse(options, folder, jobs)
    for name, (path, words) in recordings.items():
        harness.attempt("view/report " + name, compare_with_report, results[name], path, *words)
    for name in (name for name in results if name.startswith("exercise ")):
        harness.attempt("view/" + name, check_exercise, results[name])
    harness.attempt("view/latency trace", compare_with_latency, results["trace"], trace, *named)
    harness.attempt("view/large", check_large, results["large"], os.path.join(folder, "large.data"), os.path.join(folder, "large.html"))
    harness.attempt("view/heavy", check_heavy, results["heavy"], os.path.join(folder, "heavy.data"))
    harness.attempt("view/compared", check_compared, results["compared"], compared_words(options)[1:])
    harness.attempt("view/short calls", view_short_calls.check, results["short calls"], os.path.join(folder, "short.xray"), named)
    harness.attempt("view/cgroups", view_groups.check, results)
    harness.attempt("view/slow calls", view_questions.check_slow, results["slow calls"], trace, named)
    harness.attempt("view/notes", view_questions.check_notes, results["notes"], recordings["dwarf.data"][0])
    for name, check, job in (("compared with itself", check_same, "same"), ("diff", check_diff, "diff"), ("events", view_marks.check, "marks"),
                             ("two recordings", view_groups.check_two, "two recordings"), ("threads", view_questions.check_threads, "questions"), ("keys", check_tour, "tour")):
        harness.attempt("view/" + name, check, results[job])
    view_controls.attempt_all(results)
    demo, symfs = (os.path.join(options.recorded, name) for name in ("demo.data", "demo-root"))
    harness.attempt("view/code", check_code, results["code"], demo, symfs)
    harness.attempt("view/code low", check_code_low, results["code low"])
    harness.attempt("view/code diff", check_code_diff, results["code diff"], demo, symfs)
    harness.attempt("view/waits", view_waits.check_waits, results["waits"], *waits_words(options))
    harness.attempt("view/command", view_waits.check_command, results["command"])
    harness.attempt("view/sampled command", view_waits.check_sampled_command, results["sampled command"])
    harness.attempt("view/code one side", check_code_one_side, results["code one side"])
    harness.attempt("view/reached by Tab", check_reached, results["reached"])
    harness.attempt("view/aria", check_snapshot, results["snapshot"])
    harness.attempt("view/hostile", check_hostile, results["hostile"])
    for name in MUST_BE_EMPTY:
        harness.attempt("view/empty " + name, check_empty, results[name])
    return second, trace, named


def run_second(options, folder, jobs, trace, named):
    results = browse(options, folder, jobs, "firefox")
    for name in SECOND_BROWSER:
        harness.attempt("view/firefox exercise " + name, check_exercise, results["exercise " + name])
    harness.attempt("view/firefox latency", compare_with_latency, results["trace"], trace, *named)
    harness.attempt("view/firefox hostile", check_hostile, results["hostile"])


def make_picture(options, folder):
    """docs/view.png: run_view.py --modules build/npm/node_modules --maker build/tests/oracle/view/page_maker --picture docs/view.png tests/fixtures/recorded"""
    page = os.path.join(folder, "picture.html")
    harness.must(subprocess.run([options.maker, "lanes", "6000", page], timeout=SECONDS, check=False).returncode == 0, "page_maker")
    steps = [["click", ".boxes"], ["key", "ArrowDown"], ["key", "ArrowDown"], ["key", "ArrowDown"]]
    job = {"name": "picture", "file": page, "steps": steps, "width": 1200, "height": 720, "shot": os.path.abspath(options.picture)}
    must_be_quiet(browse(options, folder, [job])["picture"])


def missing(options, kind):
    package, program = BROWSERS[kind]
    for needed in ("node", program):
        if not harness.installed(needed):
            return "%s is not installed" % needed
    return None if os.path.isdir(os.path.join(options.modules, package)) else "the npm package %s is not installed" % package


def run(options, folder):
    second = run_first(options, folder)
    reason = missing(options, "firefox")
    if reason:
        return harness.skip("view/firefox", reason)
    return run_second(options, folder, *second)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--modules", default="build/npm/node_modules")
    parser.add_argument("--maker")
    parser.add_argument("--shots")
    parser.add_argument("--picture", metavar="FILE", help="only write the picture of README and manual")
    parser.add_argument("recorded")
    options = parser.parse_args()
    reason = missing(options, "chromium")
    if reason:
        return harness.skip("view", reason)
    with harness.scratch("view") as folder:
        harness.attempt("view", make_picture if options.picture else run, options, folder)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
