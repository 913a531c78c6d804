#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_yaml.py - compares `perfray script` of every trace of the corpus with llvm-xray and with the oracle.

yaml NAME      `script --format=llvm-yaml` equals `llvm-xray convert -f yaml` byte for byte
events NAME    `script --format=json`: the events of each thread, in order, equal the oracle's, with payloads, arguments
               and times; all files, also those that llvm-xray cannot read
order NAME     threads are merged by time: the earliest of the next events of all threads comes first
text NAME      the text has a line for each of these events, in the same order, with the same time, or with --ticks the
               same ticks
clock NAME     `info` prints the clock of these times, and the offset
range NAME     `script --time`, `dump --time` and `latency --time` accept these times
stream NAME    YAML and JSON are the same through a pipe, and with a gzip file

Known differences are listed by file with the erratum; a listed difference that does not occur is an error, too.
"""
import gzip
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
import oracle
from tally import Tally

# Files that are equal except for the difference that the erratum describes; see EXCUSES.
YAML_DIFFERS = {
    "events-repaired.fdr.19": "E10",  # llvm-xray could not load the map, so it prints no names
    "v5-le-args.fdr": "exit-with-argument",
    "v5-le-cut376.fdr": "E6", "v5-le-extents-toobig.fdr": "E6", "v5-le-extents-toosmall8.fdr": "E6",
    "v5-le-garbage-between.fdr": "E6",
    "custom.fdr.14": "no-binary", "threads8-starved.fdr.14": "no-binary",
}
FUNCTION = re.compile(rb"func-id: (-?\d+), function: .*?, (?=args:|cpu:)")
TSC = re.compile(rb"tsc: (\d+), data:")


def without_names(text):
    return FUNCTION.sub(rb"func-id: \1, ", text)


def in_any_order_of_equal_times(text):
    """llvm-xray prints threads with events at the same time in the order of a hash table."""
    lines = text.split(b"\n")
    time = {}
    for at, line in enumerate(lines):
        match = TSC.search(line)
        time[at] = int(match[1]) if match else (-1 if at < 9 else 1 << 64)
    order = sorted(range(len(lines)), key=lambda at: (time[at], lines[at] if 0 <= time[at] < 1 << 64 else b"", at))
    return b"\n".join(lines[at] for at in order)


def without_exit_arguments(text):
    return re.sub(rb"(func-id: 4, .*kind: function-)(exit|enter-arg)", rb"\1?", text)


EXCUSES = {"E6": in_any_order_of_equal_times, "E10": without_names, "no-binary": without_names,
           "exit-with-argument": without_exit_arguments}


def script(arguments, stdin=None):
    done = harness.perfray("script", *arguments, input=stdin)
    return done.returncode, done.stdout


def binary_of(corpus, name):
    """threads8-smallbuf.fdr.19 was recorded with bin/threads8.19."""
    parts = re.match(r"([a-z0-9]+)[a-z-]*\.[a-z]+\.(\d+)$", name)
    path = os.path.join(corpus, "bin", "%s.%s" % parts.groups()) if parts else ""
    return ["-m", path] if os.path.exists(path) else []


def check_yaml(tally, corpus, path):
    name = os.path.basename(path)
    references = [os.path.join(corpus, out, name + ".yaml") for out in ("out", "out-synth")]
    reference = next((r for r in references if os.path.exists(r)), None)
    if reference is None:
        return
    with open(reference, "rb") as file:
        theirs = file.read()
    _, ours = script(["--raw-names", "--format=llvm-yaml"] + binary_of(corpus, name) + [path])
    tally.check("yaml", name, ours.split(b"\n"), theirs.split(b"\n"), YAML_DIFFERS)
    if name in YAML_DIFFERS:
        excuse = EXCUSES[YAML_DIFFERS[name]]
        tally.check("yaml but for " + YAML_DIFFERS[name], name, excuse(ours).split(b"\n"), excuse(theirs).split(b"\n"))


def of_oracle(record, clock):
    kind = {"enter_arg": "enter", "tail_exit": "tail-exit", "custom_event": "custom-event",
            "typed_event": "typed-event"}.get(record.kind, record.kind)
    timed = record.timed
    said = {"type": kind, "tsc": record.tsc if timed else None, "cpu": record.cpu if timed else None,
            "time": clock(record.tsc) if timed else None}
    if record.func is not None:
        said["function"] = record.func
    if record.args:
        said["arguments"] = record.args
    if record.data is not None:
        said["data"] = record.data.hex()
    if record.kind == "typed_event":
        said["event_type"] = record.event_type
    return said


def of_json(line):
    said = {key: line[key] for key in ("type", "function", "arguments", "data", "event_type") if key in line}
    said.update(tsc=line.get("tsc"), cpu=line.get("cpu"), time=line.get("time"))
    return said


def by_thread(events):
    threads = {}
    for line in events:
        threads.setdefault((line.get("pid"), line.get("tid")), []).append(of_json(line))
    return threads


def is_merged(events):
    """Whether the events are a merge of the threads: each is the earliest among the next events of all threads."""
    queues = {}
    for line in events:
        queues.setdefault((line.get("pid"), line.get("tid")), []).append(line.get("tsc", 0))
    heads = {thread: 0 for thread in queues}
    for line in events:
        own = line.get("pid"), line.get("tid")
        least = min(queue[heads[thread]] for thread, queue in queues.items() if heads[thread] < len(queue))
        if queues[own][heads[own]] != least:
            return False
        heads[own] += 1
    return True


def check_events(tally, name, data, path):
    try:
        trace = oracle.read(data)
    except oracle.NotXRay:
        tally.check("refused", name, script([path])[0], 3)
        return
    if trace.header["type"] == "profile":
        tally.check("refused", name, script([path])[0], 3)
        return
    _, out = script(["--format=json", path])
    events = [json.loads(line) for line in out.splitlines()][1:]
    lone = [e for e in events if e["type"] == "argument"]
    events = [e for e in events if e["type"] != "argument"]
    clock = oracle.clock_of(trace)
    theirs = {thread: [of_oracle(r, clock) for r in records] for thread, records in trace.threads.items() if records}
    tally.check("events", name, by_thread(events), theirs)
    notes = [why for _, why in trace.notes if why in ("an argument of nothing", "an argument of another function")]
    tally.check("lone arguments", name, len(lone), len(notes))
    tally.check("order", name, is_merged(events), True)
    _, text = script([path])
    kinds = [line.split(b": ", 1)[1].split()[0].decode() for line in text.splitlines()]
    tally.check("text", name, [k for k in kinds if k != "argument"], [e["type"] for e in events])
    times_of_text(tally, name, path, events, clock)
    check_clock(tally, name, path, trace)
    check_range(tally, name, path, trace, events)


def words_of_time(output):
    return [line.split(b": ", 1)[0].split()[-1].decode() for line in output.splitlines() if b": argument " not in line]


def seconds_of(ns):
    return "%d.%09d" % divmod(ns, 10**9)


def times_of_text(tally, name, path, events, clock):
    ticks = ["?" if "tsc" not in e else str(e["tsc"]) for e in events]
    times = [t if t == "?" or clock(0) is None else seconds_of(clock(int(t))) for t in ticks]
    tally.check("times of text", name, words_of_time(script([path])[1]), times)
    tally.check("ticks of text", name, words_of_time(script(["--ticks", path])[1]), ticks)


def perfray(*words):
    return harness.perfray(*words).stdout


def check_clock(tally, name, path, trace):
    printed = json.loads(perfray("info", "--format=json", path))["trace"]
    offsets = oracle.clock_offsets(trace)
    expected = {"clock": "ticks" if not trace.header["cycle_frequency"] else "monotonic" if offsets else "tsc"}
    if offsets:
        expected.update(clock_offset=min(offsets), clock_spread=max(offsets) - min(offsets))
    tally.check("clock", name, {key: value for key, value in printed.items() if key.startswith("clock")}, expected)


def check_range(tally, name, path, trace, events):
    """The middle third of the trace, between the times of two events."""
    clock, frequency = oracle.clock_of(trace), trace.header["cycle_frequency"]
    times = sorted(e["time"] for e in events if "time" in e)
    if not times or not frequency:
        return
    first, last = times[len(times) // 3], times[2 * len(times) // 3]
    words = "--time=%s,%s" % (seconds_of(first), seconds_of(last))
    lines = [json.loads(line) for line in script(["--format=json", words, path])[1].splitlines()][1:]
    tally.check("range of script", name, sum(line["type"] != "argument" for line in lines),
                sum(first <= time <= last for time in times))
    calls, _ = oracle.pair(trace)
    printed = json.loads(perfray("latency", "--format=json", words, path) or b'{"rows": []}')
    tally.check("range of latency", name, sum(row["count"] for row in printed["rows"]),
                sum(first <= clock(call.exit) <= last for call in calls))
    if first == last:  # dump takes this for no range
        return
    shown = perfray("dump", "--only=fdr_function,basic_function", words.replace(",", "-"), path)
    kinds = [r for r in trace.records if r.kind in oracle.ACTIONS]
    tally.check("range of dump", name, sum(line[:2] == b"0x" for line in shown.splitlines()),
                sum(r.timed and first <= clock(r.tsc) <= last for r in kinds))


def check_streams(tally, name, data, path):
    for form in ("json", "llvm-yaml"):
        expected = script(["--format=" + form, path])
        tally.check("stream %s pipe" % form, name, script(["--format=" + form, "-"], data), expected)
        tally.check("stream %s gzip" % form, name, script(["--format=" + form, "-"], gzip.compress(data)), expected)


def main():
    corpus = harness.corpus("xray")
    if not corpus:
        return harness.skip("xray_yaml", "PERFRAY_CORPUS is not set")
    tally, files = Tally(), 0
    for folder in ("traces", "synth"):
        for name in sorted(os.listdir(os.path.join(corpus, folder))):
            path = os.path.join(corpus, folder, name)
            with open(path, "rb") as file:
                data = file.read()
            check_yaml(tally, corpus, path)
            check_events(tally, name, data, path)
            check_streams(tally, name, data, path)
            files += 1
    return tally.sum(files)


if __name__ == "__main__":
    sys.exit(main())
