#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oracle.py - lists the contents of an XRay trace, without perfray.

usage: oracle.py records FILE             every record in file order, one JSON object per line
       oracle.py calls FILE               every finished call: pid, tid, function, caller, enter, exit, self, flags
       oracle.py latency [--by=function|caller|thread] [--ticks] FILE count, percentiles, sum, self, unfinished calls, unmatched exits, as CSV
       oracle.py damage FILE              unusable parts, with offsets

Written only from the description of the format. It is slow, keeps everything in memory and takes no shortcuts, to be easy to read. Its rules:

- A buffer has its own state: TSC base and CPU are reset at its start (version 1: the base continues from the thread's previous buffer if the buffer has no
NewCPUId).
- From version 2 on, the end given by the extents is authoritative. Bytes after it are skipped up to the next bytes that look like BufferExtents.
- A record is complete if all its bytes, the payload included, are in its buffer; otherwise it is not a record.
- A thread is (pid, tid); its buffers are ordered by the time of their first NewCPUId, then by position. Records of a basic log keep the file order.
- An exit closes the innermost open call of the same id; the calls above it remain unfinished. An exit without such a call is unmatched. Self time is the
  duration without the durations of the direct callees; an unfinished callee is replaced by its own callees.
- Percentiles are nearest-rank, on all values.
- A WallClockTime and the next NewCPUId, with only Pid records between them, are a clock pair, unless the time is invalid or 0 s and 0 us. A time is
  floor(ticks * 10^9 / frequency) + offset ns, at least 0; the offset is the minimum of CLOCK_MONOTONIC - floor(ticks * 10^9 / frequency) over all pairs, or
  0 without a pair. If that makes the smallest tick of a NewCPUId or TSCWrap negative, the pairs contradict each other and are ignored.
"""
import json
import sys
from collections import defaultdict

from oracle_reader import ACTIONS, MASK64, NotXRay, Record, read  # noqa: F401  all of them are for users of this module, too

QUANTILES = (("p50", 500), ("p90", 900), ("p95", 950), ("p99", 990), ("p999", 999))


class Frame:
    def __init__(self, record, caller):
        self.record, self.caller, self.callees = record, caller, 0


class Call:
    """A finished call. `latency` is never negative; `clamped` is set if it would have been."""

    def __init__(self, thread, frame, leave):
        self.thread, self.func, self.caller = thread, frame.record.func, frame.caller
        self.enter, self.exit, self.tail = frame.record.tsc, leave.tsc, leave.kind == "tail_exit"
        ticks = leave.tsc - frame.record.tsc
        self.latency, self.clamped = max(0, ticks), ticks < 0
        self.self_ticks = self.latency - frame.callees
        self.depth = None


class Missing:
    """A call that never ended ("open"), or an exit of a call that never began ("lone")."""

    def __init__(self, thread, what, func, caller):
        self.thread, self.what, self.func, self.caller = thread, what, func, caller


def pair_thread(thread, records, calls, missing):
    stack = []

    def leave_open():
        frame = stack.pop()
        missing.append(Missing(thread, "open", frame.record.func, frame.caller))
        if stack:
            stack[-1].callees += frame.callees

    for record in records:
        if record.kind in ("enter", "enter_arg"):
            stack.append(Frame(record, stack[-1].record.func if stack else None))
        elif record.kind in ("exit", "tail_exit"):
            if not any(frame.record.func == record.func for frame in stack):
                missing.append(Missing(thread, "lone", record.func, stack[-1].record.func if stack else None))
                continue
            while stack[-1].record.func != record.func:
                leave_open()
            call = Call(thread, stack.pop(), record)
            call.depth = len(stack)
            calls.append(call)
            if stack:
                stack[-1].callees += call.latency
    while stack:
        leave_open()


def pair(trace):
    calls, missing = [], []
    for thread, records in trace.threads.items():
        pair_thread(thread, records, calls, missing)
    return calls, missing


# --- Numbers.

def nearest_rank(values, thousandths):
    """The value with rank ceil(n * q), counted from 1, of sorted values."""
    rank = -(-len(values) * thousandths // 1000)
    return values[max(rank, 1) - 1]


def to_ns(ticks, frequency):
    """Returns whole nanoseconds, rounded towards zero, or ticks if the frequency is unknown."""
    if not frequency:
        return ticks
    ns = abs(ticks) * 10**9 // frequency
    return ns if ticks >= 0 else -ns


def clock_offsets(trace):
    """Yields CLOCK_MONOTONIC minus the time of the ticks, in ns, of each clock pair."""
    frequency, monotonic, offsets = trace.header["cycle_frequency"], 0, []
    for record in trace.records:
        if record.kind == "wall_clock_time":
            seconds, micros = record.value
            monotonic = seconds * 10**9 + micros * 1000 if 0 <= seconds < 1 << 33 and 0 <= micros < 10**6 else 0
        elif record.kind == "new_cpu_id" and monotonic and frequency:
            offsets.append(monotonic - to_ns(record.value, frequency))
        if record.kind not in ("wall_clock_time", "pid"):
            monotonic = 0
    first = min((r.value for r in trace.records if r.kind in ("new_cpu_id", "tsc_wrap")), default=0)
    return offsets if offsets and to_ns(first, frequency) + min(offsets) >= 0 else []


def clock_of(trace):
    """Converts ticks to the printed time."""
    frequency, offset = trace.header["cycle_frequency"], min(clock_offsets(trace), default=0)
    return lambda ticks: min(max(min(to_ns(ticks, frequency), MASK64) + offset, 0), MASK64) if frequency else None


def key_of(by):
    return {"function": lambda c: (c.func,), "caller": lambda c: (c.caller, c.func),
            "thread": lambda c: (c.thread[0], c.thread[1], c.func)}[by]


def summarise(trace, by="function"):
    """Returns {key: numbers in ticks} for each key with a call, an open call or an unmatched exit."""
    calls, missing = pair(trace)
    key, rows = key_of(by), {}
    latencies = defaultdict(list)
    for entry in calls + missing:
        rows.setdefault(key(entry), {"count": 0, "sum": 0, "self": 0, "open": 0, "lone": 0, "clamped": 0})
    for call in calls:
        row = rows[key(call)]
        latencies[key(call)].append(call.latency)
        row["count"] += 1
        row["sum"] += call.latency
        row["self"] += call.self_ticks
        row["clamped"] += call.clamped
    for entry in missing:
        rows[key(entry)][entry.what] += 1
    for at, values in latencies.items():
        values.sort()
        rows[at].update(min=values[0], max=values[-1], **{name: nearest_rank(values, q) for name, q in QUANTILES})
    return rows


def record_as_json(record):
    said = {"kind": record.kind, "offset": record.offset, "size": record.size}
    for name in ("tsc", "cpu", "tid", "pid", "func", "value"):
        if getattr(record, name) is not None:
            said[name] = getattr(record, name)
    if record.args:
        said["args"] = record.args
    if record.data is not None:
        said["data"] = record.data.hex()
    return json.dumps(said)


def print_latency(trace, by, ticks):
    frequency = 0 if ticks else trace.header["cycle_frequency"]
    names = ["count", "min"] + [name for name, _ in QUANTILES] + ["max", "sum", "self"]
    keys = {"function": "id", "caller": "caller,id", "thread": "pid,tid,id"}[by]
    print(keys + "," + ",".join(names) + ",open,lone,clamped")
    for key, row in sorted(summarise(trace, by).items(), key=lambda item: tuple(-1 if k is None else k for k in item[0])):
        cells = [str(row["count"])] + [str(to_ns(row[n], frequency)) if n in row else "" for n in names[1:]]
        print(",".join(["" if k is None else str(k) for k in key] + cells +
                       [str(row["open"]), str(row["lone"]), str(row["clamped"])]))


def main(argv):
    options = [word for word in argv if word.startswith("--")]
    words = [word for word in argv if not word.startswith("--")]
    if len(words) != 2 or words[0] not in ("records", "calls", "latency", "damage"):
        print(__doc__, file=sys.stderr)
        return 2
    with open(words[1], "rb") as file:
        data = file.read()
    try:
        trace = read(data)
    except NotXRay as problem:
        print("oracle.py: %s: %s" % (words[1], problem), file=sys.stderr)
        return 3
    if words[0] == "records":
        for record in trace.records:
            print(record_as_json(record))
    elif words[0] == "calls":
        for c in pair(trace)[0]:
            print(*c.thread, c.func, c.caller, c.enter, c.exit, c.self_ticks, "tail" * c.tail, "clamped" * c.clamped)
    elif words[0] == "latency":
        by = [o[5:] for o in options if o.startswith("--by=")] or ["function"]
        print_latency(trace, by[-1], "--ticks" in options)
    else:
        for offset, length, why in trace.damage:
            print("hole %d %d %s" % (offset, length, why))
        for offset, why in trace.notes:
            print("note %d %s" % (offset, why))
    return 4 if trace.damage else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
