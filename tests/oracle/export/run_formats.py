#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_formats.py - checks that every export format has the same stacks, totals, names and times as folded and csv.

usage: run_formats.py [--npm DIR] [NAME...]

DIR is node_modules of build/npm. The recordings are those of tests/fixtures. The traces are those of tests/fixtures and
some of PERFRAY_CORPUS, with PERFRAY_LONG all of the corpus. The readers are those of read_formats.py, written from the
specifications of the formats, and common programs. A program that is not installed is skipped by name: speedscope's
importer, profiler-cli, trace_engine, DuckDB, hyparquet, babeltrace2, callgrind_annotate, dot, protoc.
"""
import argparse
import glob
import json
import os
import re
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
from harness import Skip, Wrong, must  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
import npm  # noqa: E402
import read_formats as read  # noqa: E402
import run_consumers  # noqa: E402

RECORDED = ("demo", "chains", "addresses", "bpf-program", "exec", "period", "sample-cpu", "threads-zstd", "tracepoints", "two-events",
            "overwrite", "cpu-clock", "dwarf", "zstd-many", "killed", "no-samples")
CORPUS = ("cg_dwarf8k", "cg_fp", "comm_unicode", "data_page_size", "dir_threads", "exec_storm", "group_S", "intr_regs", "jitmap", "killed_z",
          "lost_tp", "many_threads", "mmap1", "namespaces", "no_time", "overwrite", "per_thread", "pipe_multi", "pipe_z", "raw_samples", "read_s",
          "sched_record", "stat_basic")
TRACED = ("fib.fdr.19", "threads8.fdr.19", "cxx.fdr.19", "tail.fdr.19", "except.fdr.19", "unfinished.fdr.19", "deep.basic.19")
SYMFS = os.path.join(harness.FIXTURES, "recorded", "demo-root")


def export(path, form, *more, folder=None, status=(0, 4)):
    words = ["--format=" + form, "--no-cache", "--symfs", SYMFS, *more, path]
    done = harness.perfray("export", *words, *(["-o", folder] if folder else []))
    must(done.returncode in status, "export --format=%s %s: status %d, %s" % (form, path, done.returncode, harness.last_line(done)))
    return done.stdout


def same(wanted, found, what, off=0):
    """off: the largest allowed difference of each value, which results from rounding ticks."""
    for key in sorted(wanted.keys() | found.keys()):
        if abs(wanted.get(key, 0) - found.get(key, 0)) > off * (1 + abs(wanted.get(key, 0)) * 1e-5 if off else 1):
            raise Wrong("%s: %r is %s, and %s in folded" % (what, key, found.get(key), wanted.get(key)))


def chosen(event):
    """The option that selects an event by the bytes of its name."""
    return "--event", re.sub(rb"\\x([0-9a-f]{2})", lambda found: bytes([int(found[1], 16)]), event.encode())


class Case:
    """A recording, with its data as folded and csv have it."""

    def __init__(self, path):
        self.path, self.name = path, os.path.basename(path)
        self.rows = read.table(export(path, "csv"))
        self.is_trace = not self.rows and b"dur" in export(path, "csv") or "dur" in (self.rows or [{}])[0]
        self.events = sorted({row["event"] for row in self.rows}) if not self.is_trace else []
        self.stacks = read.folded(export(path, "folded"))
        self.off = 64 if self.is_trace else 0
        if self.is_trace:
            self.stacks = Counter({stack: n for stack, n in self.stacks.items() if n})
        self.total = sum(self.stacks.values())

    def weights(self, event):
        return read.folded(export(self.path, "folded", "--weight=period", *chosen(event)))


def check_csv(case):
    if case.is_trace:
        same(read.leaves(case.stacks), by_function(case.rows, "self"), "csv", case.off * 1000)
        return "%d calls" % len(case.rows)
    same(read.leaves(case.stacks), Counter(read.part(plain(row["function"])) for row in case.rows), "csv")
    times = [int(row["ts"]) for row in case.rows if row["ts"]]
    must(times == sorted(times), "times fall")
    for event in case.events:
        must(sum(int(row["weight"]) for row in case.rows if row["event"] == event) == sum(case.weights(event).values()), "weights of " + event)
    return "%d samples" % len(case.rows)


def plain(name):
    """A name that a spreadsheet would take for a formula is preceded by a '."""
    return name[1:] if re.match("'[=+@-]", name) else name


def by_function(rows, column):
    sums = Counter()
    for row in rows:
        sums[read.part(plain(row["function"]))] += int(row[column])
    return sums


def check_jsonl(case):
    rows = read.lines(export(case.path, "jsonl"))
    texts = [{key: "" if value is None else str(value) for key, value in row.items()} for row in rows]
    wanted = [{key: plain(value) for key, value in row.items()} for row in case.rows]
    must(texts == wanted, harness.first_difference(wanted, texts))
    return "%d lines" % len(rows)


def check_speedscope(case):
    merged, threads = read.speedscope(export(case.path, "speedscope"))
    same(case.stacks, Counter({key: n for key, n in merged.items() if n}), "merged", case.off)
    if not case.is_trace:
        same(case.stacks, threads, "threads")
    return "%d stacks" % len(merged)


def same_logged(case, found, unnamed=(None, None)):
    """Events that the traced program logged, as SQL has them; times count from the first of them."""
    if not case.is_trace:
        return must(not found, "logged events of a recording")
    done = harness.perfray("sql", "--format=jsonl", "-q", "SELECT ts, text, type FROM mark WHERE kind IN ('custom', 'typed') AND ts", case.path)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    from_first = lambda pairs: Counter((time - min(pairs)[0], text) for time, text in pairs)
    texts = [(row["ts"], row["text"] or unnamed[row["type"] is not None] or "") for row in rows]
    same(from_first(texts), from_first([(time, text or "") for time, text in found]), "logged events")


def check_chrome(case):
    stacks, calls, logged = read.chrome(export(case.path, "chrome"))
    same_logged(case, logged)
    if not case.is_trace:
        same(case.stacks, stacks, "samples")
        return "%d samples" % sum(stacks.values())
    begin = min((int(row["ts"]) for row in case.rows), default=0)
    first = min((call[2] for call in calls), default=0)
    wanted = Counter((int(row["tid"]), row["function"], int(row["ts"]) - begin, int(row["dur"])) for row in case.rows)
    same(wanted, Counter((tid, name, ts - first, dur) for tid, name, ts, dur in calls), "calls")
    return "%d calls" % len(calls)


def check_firefox(case):
    stacks, markers, logged = read.firefox(export(case.path, "firefox"))
    same_logged(case, logged)
    same(case.stacks, Counter({key: n for key, n in stacks.items() if n}), "stacks", case.off * 50)
    must(not case.is_trace or markers == len(case.rows), "%d markers, %d calls" % (markers, len(case.rows)))
    return "%d stacks, %d markers" % (len(stacks), markers)


def check_callgrind(case):
    own, edges, total = read.callgrind(export(case.path, "callgrind"))
    same(read.leaves(case.stacks), Counter({key: n for key, n in own.items() if n}), "self", case.off * 1000)
    if case.is_trace:
        return "%d ns" % total
    must(total == case.total - case.stacks.get("", 0), "%d of %d samples" % (total, case.total))
    wanted = Counter()
    for stack, count in case.stacks.items():
        names = stack.split(";")
        for pair in set(zip(names, names[1:])):
            wanted[pair] += count
    same(wanted, edges, "edges")
    return "%d samples" % total


def check_dot(case):
    nodes, edges = read.dot(export(case.path, "dot"))
    if case.is_trace:
        calls = Counter(read.part(row["function"]) for row in case.rows)
        found = Counter()
        for (_, callee), count in edges.items():
            found[callee] += count
        same(calls, found, "calls")
        return "%d calls" % sum(calls.values())
    wanted = read.inclusive({key: n for key, n in case.stacks.items() if key})
    same(wanted, nodes, "functions")
    roots = Counter()
    for stack, count in case.stacks.items():
        if stack:
            roots[stack.split(";")[0]] += count
    same(roots, Counter({callee: n for (caller, callee), n in edges.items() if not caller}), "roots")
    same(edges, read.mermaid(export(case.path, "mermaid")), "mermaid")
    return "%d functions" % len(nodes)


def end_of(row):
    return int(row["ts"]) + int(row["dur"])


def check_perfetto(case):
    stacks, calls, _, _, logged = read.perfetto(export(case.path, "perfetto"))
    same_logged(case, logged, ("event", "typed event"))
    if case.is_trace:
        wanted = Counter((row["function"], int(row["ts"]), int(row["dur"])) for row in case.rows)
        found = Counter((name, begin, end - begin) for _, name, begin, end in calls)
        more = found - wanted
        in_order = all(row["tid"] != case.rows[i]["tid"] or end_of(row) >= end_of(case.rows[i]) for i, row in enumerate(case.rows[1:]))
        must(not in_order or not wanted - found, "calls differ: %s" % list((wanted - found).items())[:3])
        must(sum(found.values()) >= len(case.rows), "%d calls of %d" % (sum(found.values()), len(case.rows)))
        return "%d calls, %d open or clamped" % (len(calls), sum(more.values()))
    same(case.stacks, stacks, "PerfSample")
    stacks, _, _, weights, _ = read.perfetto(export(case.path, "perfetto", "--set", "stack-samples"))
    same(case.stacks, stacks, "StackSample")
    must(weights == sum(int(row["weight"]) for row in case.rows), "weights %d" % weights)
    return "%d samples" % sum(stacks.values())


def check_pprof(case):
    found = {name: nonzero(stacks) for name, stacks in read.pprof(export(case.path, "pprof")).items()}
    if case.is_trace:
        same(case.stacks, list(found.values())[-1], "self times", case.off * 50)
        return "%d types" % len(found)
    must(len(found) >= 1 + len(case.events) and set(case.events) <= found.keys(), "types %s" % list(found))
    same(case.stacks, found["samples"], "samples")
    for event in case.events:
        same(nonzero(case.weights(event)), found[event], event)
    return "%d types" % len(found)


def nonzero(stacks):
    return Counter({stack: n for stack, n in stacks.items() if n})


def check_otlp(case):
    found = {key: nonzero(stacks) for key, stacks in read.otlp(export(case.path, "otlp")).items()}
    times = []
    timed = all(row["ts"] for row in case.rows)
    if timed:
        again = read.otlp(export(case.path, "otlp", "--set", "times"), times)
        must({key: nonzero(stacks) for key, stacks in again.items()} == found, "other sums with times")
        counted = sorted(time for _, name, _, time, _ in times if name in ("samples", "calls"))
        wanted = sorted(int(row["ts"]) for row in case.rows)
        ahead = counted[0] - wanted[0] if counted else 0  # wall-clock time
        must(not case.rows or counted == [time + ahead for time in wanted] or case.is_trace, "times differ")
    if case.is_trace:
        for (_, name), stacks in found.items():
            if name != "calls":
                same(case.stacks, stacks, "self times", case.off * 50)
        return "%d stacks" % sum(map(len, found.values()))
    must(sorted(event for event, name in found if name == "samples") == case.events, "events %s" % sorted(found))
    for event in case.events:
        same(nonzero(case.weights(event)), found[event, event], event)
        same(nonzero(read.folded(export(case.path, "folded", *chosen(event)))), found[event, "samples"], event)
    return "%d events%s" % (len(case.events), ", %d times" % (len(times) // 2) if timed else "")


# --- Programs of other projects

def check_parquet(case, reader, folder):
    export(case.path, "parquet", folder=folder)
    found = npm.node("read_parquet.mjs", reader, folder)
    must(found["samples"] == (0 if case.is_trace else len(case.rows)), "%d samples" % found["samples"])
    if case.is_trace:
        must(found["calls"] - found["open"] == len(case.rows), "%d calls of %d" % (found["calls"], len(case.rows)))
        must(int(found["duration"]) == sum(int(row["dur"]) for row in case.rows), "durations %s" % found["duration"])
        return "%d calls" % found["calls"]
    must(int(found["weight"]) == sum(int(row["weight"]) for row in case.rows), "weights %s" % found["weight"])
    must(int(found["times"]) == sum(int(row["ts"] or 0) for row in case.rows), "times %s" % found["times"])
    must(Counter(row["comm"] for row in case.rows) == Counter(found["comms"]), "comms %s" % found["comms"])
    return "%d samples, %d functions" % (found["samples"], len(found["functions"]))


def check_ctf(case, folder):
    harness.need("babeltrace2")
    export(case.path, "ctf", folder=folder)
    done = harness.run(["babeltrace2", "--clock-cycles", "--no-delta", folder])
    must(done.returncode == 0, done.stderr.decode("utf-8", "replace")[-300:])
    events = [line for line in done.stdout.decode("utf-8", "replace").splitlines() if line.startswith("[")]
    must(len(events) == len(case.rows), "%d events of %d" % (len(events), len(case.rows)))
    times = sorted(int(re.match(r"\[(\d+)\]", line)[1]) for line in events)
    if all(row["ts"] for row in case.rows):
        must(times == sorted(int(row["ts"]) for row in case.rows), "times differ")
    word = "dur" if case.is_trace else "weight"
    must(sum(int(re.search(r" %s = (\d+)" % word, line)[1]) for line in events) == sum(int(row[word]) for row in case.rows), word)
    return "%d events, %d lost" % (len(events), sum(map(int, re.findall(rb"discarded (\d+) event", done.stderr))))


def check_annotate(case, folder):
    harness.need("callgrind_annotate")
    path = os.path.join(folder, "callgrind.out")
    with open(path, "wb") as file:
        file.write(export(case.path, "callgrind"))
    done = harness.run(["callgrind_annotate", "--threshold=100", path])
    must(done.returncode == 0, harness.last_line(done))
    total = re.search(r"^\s*([\d,]+|\.) .*PROGRAM TOTALS", done.stdout.decode("utf-8", "replace"), re.M)
    _, _, wanted = read.callgrind(export(case.path, "callgrind"))
    must(total and int(total[1].replace(",", "").replace(".", "0")) == wanted, "totals %s of %d" % (total and total[1], wanted))
    return "%d" % wanted


def check_go_pprof(case, folder):
    """go tool pprof shows each type of value: -top prints its total, -raw the values of its column, which must have the right sum."""
    harness.need("go")
    path = os.path.join(folder, "made.pb.gz")
    export(case.path, "pprof", "-o", path)
    wanted = read.pprof(export(case.path, "pprof"))
    raw = run_consumers.Raw(run_consumers.pprof(folder, "-raw"))
    for number, (name, stacks) in enumerate(wanted.items()):
        total = sum(stacks.values())
        must(sum(values[number] for values, _, _ in raw.samples) == total, "-raw: %s" % name)
        shown = re.search(r"of (\S+) total", run_consumers.pprof(folder, "-top", "-unit=ns", "-sample_index=%d" % number))
        must(total == 0 or shown, "-top: no total of %s" % name)
        shown = shown and re.sub("ns$", "", shown[1])
        must(total == 0 or not shown.isdigit() or int(shown) == total, "-top: %s of %d %s" % (shown, total, name))
    return ", ".join("%s %d" % (name, sum(stacks.values())) for name, stacks in wanted.items())


def check_graphviz(case, folder):
    harness.need("dot")
    path = os.path.join(folder, "graph.dot")
    with open(path, "wb") as file:
        file.write(export(case.path, "dot"))
    done = harness.run(["dot", "-Tplain", path])
    must(done.returncode == 0 and not done.stderr, harness.last_line(done))
    (nodes, edges), text = read.dot(export(case.path, "dot")), done.stdout.decode("utf-8", "replace")
    must(len(re.findall(r"^node ", text, re.M)) >= len(nodes) + 1, "nodes")
    must(len(re.findall(r"^edge ", text, re.M)) >= len(edges), "edges")
    return "%d nodes" % len(nodes)


def check_importer(case, folder):
    package = npm.package("speedscope")
    bundle = sorted(glob.glob(os.path.join(package, "dist", "release", "speedscope-*.js")))[0]
    names = ["out.speedscope.json", "callgrind.out", "out.trace.json"]
    for form, name in zip(("speedscope", "callgrind", "chrome"), names):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(export(case.path, form))
    words = names if case.is_trace else names[:2]
    script = os.path.join(harness.TESTS, "oracle", "script", "speedscope_import.js")
    done = harness.run(["node", script, bundle, *words], cwd=folder)
    must(done.returncode == 0, done.stderr.decode("utf-8", "replace")[:300])
    groups = [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]
    must(len(groups) == len(words), "%d files were read" % len(groups))
    for form, group in zip(("speedscope", "callgrind", "chrome"), groups):
        must(group and group["profiles"], "%s: no profile" % form)
    found = sum(run_consumers.profile_stacks(dict(groups[0], profiles=groups[0]["profiles"][:1])).values())
    must(found == case.total or case.is_trace, "%s of %d samples" % (found, case.total))
    return "%d files" % len(words)


def check_profiler_cli(case, folder):
    tool = os.path.join(npm.package("@firefox-devtools/profiler-cli"), "dist")
    path = os.path.join(folder, "out.firefox.json")
    with open(path, "wb") as file:
        file.write(export(case.path, "firefox"))
    found = npm.node("read_firefox.mjs", path, folder)
    must(found["error"] is None, found["error"])
    wanted = read.firefox(export(case.path, "firefox"))[0]
    must(found["samples"] == sum(wanted.values()) or found["threads"] > 1 or case.is_trace,
         "%s samples of %d" % (found["samples"], sum(wanted.values())))
    must(found["threads"], "no thread")
    return "%s, %s" % (os.path.basename(tool), found["samples"])


def check_trace_engine(case, folder):
    npm.package("@paulirish/trace_engine")
    path = os.path.join(folder, "out.trace.json")
    with open(path, "wb") as file:
        file.write(export(case.path, "chrome"))
    found = npm.node("read_chrome.mjs", path)
    must(found["calls"] == len(case.rows), "%s calls of %d" % (found["calls"], len(case.rows)))
    return "%d calls" % found["calls"]


def check_protoc(case, folder):
    harness.need("protoc")
    for form, root in (("otlp", "ProfilesData"), ("perfetto", "Trace")):
        path = os.path.join(folder, form)
        with open(path, "wb") as file:
            file.write(export(case.path, form))
        with open(path, "rb") as file:
            done = harness.run(["protoc", "--decode=" + root, "-I", HERE, form + ".proto"], stdin=file)
        must(done.returncode == 0 and not done.stderr, "%s: %s" % (form, harness.last_line(done)))
        must(not re.search(rb"^\s*\d+[:{ ]", done.stdout, re.M), "%s: a field that has no name" % form)
    return "%d bytes" % len(done.stdout)


# --- A recording and a trace of the same run

PROGRAM = """
#define N __attribute__((noinline))
N int leaf(int n) { volatile int s = 0; for (int i = 0; i < n * 1000; i++) s += i; return s; }
N int middle(int n) { int s = 0; for (int i = 0; i < n; i++) s += leaf(i); return s; }
int main(void) { int s = 0; for (int i = 0; i < 40; i++) s += middle(40); return s & 1; }
"""


def make_both(folder):
    compiler = harness.first_of("clang-19", "clang-14")
    with open(os.path.join(folder, "both.c"), "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    words = ["-O1", "-g", "-fno-omit-frame-pointer", "-fxray-instrument", "-fxray-instruction-threshold=1", "-o", "both", "both.c"]
    built = harness.run([compiler, *words], cwd=folder)
    if built.returncode != 0:
        raise Skip("no program can be built with XRay: %s" % harness.last_line(built))
    trace = [harness.PERFRAY, "trace", "-q", "-o", "both.xray", "./both"]
    done = harness.run([harness.PERFRAY, "record", "-k", "monotonic", "-e", "cpu-clock", "-F", "999", "-g", "-o", "both.data", "--", *trace], cwd=folder)
    if done.returncode not in (0, 1) or not os.path.exists(os.path.join(folder, "both.xray")):
        raise Skip("a run cannot be recorded and traced here: %s" % harness.last_line(done))
    return [os.path.join(folder, name) for name in ("both.data", "both.xray")]


def check_both(folder):
    """Each format has the samples of an export of only the recording, and the calls of an export of only the trace."""
    paths = make_both(folder)
    recording, trace = map(Case, paths)
    both = lambda form: harness.perfray("export", "--format=" + form, "--no-cache", "--symfs", SYMFS, *paths).stdout
    must(recording.total > 10 and len(trace.rows) == 1641, "%d samples, %d calls" % (recording.total, len(trace.rows)))
    stacks, calls, _ = read.chrome(both("chrome"))
    same(recording.stacks, stacks, "chrome: samples")
    same(Counter(row["function"] for row in trace.rows), Counter(call[1] for call in calls), "chrome: calls")
    stacks, calls, _, _, _ = read.perfetto(both("perfetto"))
    same(recording.stacks, stacks, "perfetto: samples")
    read.perfetto_times([(row["function"], int(row["ts"]), end_of(row)) for row in trace.rows], calls)
    stacks, markers, _ = read.firefox(both("firefox"))
    same(recording.stacks, stacks, "firefox: samples")
    must(markers == len(trace.rows), "firefox: %d markers" % markers)
    must(both("chrome") == harness.perfray("export", "--format=chrome", "--no-cache", "--symfs", SYMFS, *reversed(paths)).stdout, "order of the files")
    must({row["tid"] for row in trace.rows} < {row["tid"] for row in recording.rows} | {0}, "other threads")
    return both_in_tables(paths, folder, recording, trace)


def both_in_tables(paths, folder, recording, trace):
    words = "%d samples, %d calls" % (recording.total, len(trace.rows))
    if not npm.OPTIONS["folder"] or not os.path.isdir(os.path.join(npm.OPTIONS["folder"], "@duckdb/node-api")):
        return words
    tables = os.path.join(folder, "tables.parquet")
    done = harness.perfray("export", "--no-cache", "-o", tables, *paths)
    must(done.returncode == 0, harness.last_line(done))
    found = npm.node("read_parquet.mjs", "duckdb", tables)
    must((found["samples"], found["calls"]) == (recording.total, len(trace.rows)), "parquet: %s" % found)
    weights = sum(int(row["weight"]) for row in recording.rows) + sum(int(row["self"]) for row in trace.rows)
    must(abs(int(found["self"]) - weights) <= len(trace.rows), "parquet: %s of %d" % (found["self"], weights))
    return words


OURS = {"csv": check_csv, "jsonl": check_jsonl, "speedscope": check_speedscope, "chrome": check_chrome, "firefox": check_firefox,
        "callgrind": check_callgrind, "dot": check_dot, "perfetto": check_perfetto, "otlp": check_otlp,
        "pprof": check_pprof}
ON_FILES = {"babeltrace2": check_ctf, "callgrind_annotate": check_annotate, "graphviz": check_graphviz, "importer": check_importer,
            "profiler_cli": check_profiler_cli, "protoc": check_protoc, "go_pprof": check_go_pprof}
FEW = ("demo.data", "two-events.data", "threads8.fdr.19")


def on_folder(check, case, *more):
    with harness.scratch("formats") as folder:
        return check(case, *more, folder)


def check_case(path, names):
    try:
        case = Case(path)
    except Wrong as problem:
        harness.result("export/formats/" + os.path.basename(path), str(problem))
        return
    for name, check in OURS.items():
        if not names or name in names:
            harness.attempt("export/%s/%s" % (name, case.name), check, case)
    programs = dict(ON_FILES)
    if case.is_trace:
        programs["trace_engine"] = check_trace_engine
    for reader in ("duckdb", "hyparquet"):
        programs[reader] = lambda case, folder, reader=reader: parquet_by(case, reader, folder)
    for name, check in programs.items():
        if (not names or name in names) and (harness.LONG or case.name in FEW or name == "babeltrace2" and case.rows):
            harness.attempt("export/%s/%s" % (name, case.name), on_folder, check, case)


def parquet_by(case, reader, folder):
    npm.package("@duckdb/node-api" if reader == "duckdb" else "hyparquet-compressors")
    return check_parquet(case, reader, os.path.join(folder, "tables"))


def paths():
    found = [os.path.join(harness.FIXTURES, "recorded", name + ".data") for name in RECORDED]
    found += [os.path.join(harness.FIXTURES, "xray", name + ".xray") for name in ("fdr-v3", "fdr-v5")]
    traces = harness.corpus("xray", "traces")
    if traces:
        found += [os.path.join(traces, name) for name in (sorted(os.listdir(traces)) if harness.LONG else TRACED) if "profile" not in name]
    if harness.LONG and harness.corpus("perf", "recorded"):
        found += [os.path.join(harness.corpus("perf", "recorded"), "rec61." + name) for name in CORPUS]
    return found


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--npm", metavar="DIR", help="node_modules")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args(arguments)
    npm.OPTIONS["folder"] = options.npm and os.path.abspath(options.npm)
    if not harness.has_command():
        return harness.skip("export/formats", "PERFRAY is not set")
    for path in paths():
        check_case(path, options.names)
    if not options.names or "both" in options.names:
        with harness.scratch("both") as folder:
            harness.attempt("export/both", check_both, folder)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
