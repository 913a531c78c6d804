#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_waits.py - tests the event offcpu-time, waits in recordings whose switches have no raw bytes, and report --latency.

usage: run_waits.py FIXTURES

    waits/FILE/threads     report -e offcpu-time by thread has the sums of offcpu --format=csv, runnable and blocked
    waits/FILE/functions   a function with its callees has the sums of offcpu --function
    waits/FILE/exports     every export format, with any number of threads, has the same sum
    waits/no-raw           without raw bytes, a wait ends with the thread's next sample, as computed here from the records
    waits/trace-offcpu     the same for simpleperf's recording in the corpus
    latency/halves         a second of one thread and a second of two threads have the same weight with report --latency, and add up to the wall-clock time;
                           the key parallelism distinguishes them
    latency/FILE           weights follow the rule: periods divided by the number of threads that run according to the model's intervals

Environment: PERFRAY, the command; PERFRAY_CORPUS, the corpus.
"""
import csv
import io
import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
import growth_families as made  # noqa: E402
from harness import Skip, must  # noqa: E402

EVENT = ("-e", "offcpu-time")
FILES = ("waits.data", "switch-events.data")
SHOWN_FUNCTIONS = 12
PLAIN = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
RAW = 1 << 10  # of sample_type
SAMPLE, SWITCHES = 9, (14, 15)
CONTEXT_SWITCH = 1 << 26  # of the flags of an attr


def perfray(*words):
    done = harness.perfray(*words)
    must(done.returncode in (0, 4), "%s: status %d, %s" % (" ".join(words), done.returncode, done.stderr.decode()))
    return done.stdout.decode()


def names(fixtures):
    recorded = os.path.join(fixtures, "recorded")
    return ("--symfs", os.path.join(recorded, "waits-root"), "--kallsyms", os.path.join(recorded, "waits.kallsyms"))


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def waits_of(path, *options):
    """{tid: ns}, runnable and blocked."""
    sums = {}
    for row in rows(perfray("offcpu", "--format=csv", "--no-lines", *options, path)):
        if row["state"] in ("runnable", "blocked"):
            sums[int(row["tid"])] = sums.get(int(row["tid"]), 0) + int(row["ns"])
    return sums


# --- The event.

def check_threads(path, options):
    found = {int(row["tid"]): int(row["weight"]) for row in rows(perfray("report", *EVENT, "-s", "tid", "--format=csv", *options, path))}
    wanted = waits_of(path, *options)
    must(sum(wanted.values()) > 0, "there are no waits")
    must(found == wanted, ["thread %d: %s ns, must be %s" % (tid, found.get(tid), wanted.get(tid))
                           for tid in sorted(set(found) | set(wanted)) if found.get(tid) != wanted.get(tid)])


def check_functions(path, options):
    found = {}
    for row in rows(perfray("report", *EVENT, "--children", "-s", "sym", "--format=csv", *options, path)):
        name = row["sym"].partition("] ")[2]  # "[k] schedule"
        found[name] = found.get(name, 0) + int(row["weight"])
    plain = sorted((name for name in found if name and set(name) <= PLAIN and not name[0].isdigit()), key=lambda name: (-found[name], name))
    must(plain or path.endswith("switch-events.data"), "no function has a name")
    for name in plain[::max(1, len(plain) // SHOWN_FUNCTIONS)]:
        wanted = sum(waits_of(path, "--function", name, *options).values())
        must(found[name] == wanted, "%s: %d ns, must be %d" % (name, found[name], wanted))


def folded_sum(text):
    return sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines())


def check_exports(path, options):
    wanted = sum(waits_of(path, *options).values())
    for jobs in ("1", "2", "5"):
        text = perfray("export", *EVENT, "--format=folded", "-j", jobs, *options, path)
        must(folded_sum(text) == wanted, "folded, -j %s: %d, must be %d" % (jobs, folded_sum(text), wanted))
    lines = [json.loads(line) for line in perfray("export", *EVENT, "--format=jsonl", *options, path).splitlines()]
    found = sum(line.get("weight", 0) for line in lines)
    must(found == wanted, "jsonl: %d, must be %d" % (found, wanted))
    page = perfray("flame", *EVENT, *options, path)
    must("offcpu-time" in page, "the flame graph does not name its event")


# --- Recordings without raw bytes, made from one with raw bytes.

def attrs_of(data):
    """[(offset, sample_type, ids)] of the events of a file."""
    size, at, length = struct.unpack_from("<QQQ", data, 16)
    found = []
    for entry in range(at, at + length, size):
        ids_at, ids_length = struct.unpack_from("<QQ", data, entry + size - 16)
        found.append((entry, struct.unpack_from("<Q", data, entry + 24)[0],
                      struct.unpack_from("<%dQ" % (ids_length // 8), data, ids_at) if ids_length else ()))
    return found


def records_of(data):
    at, size = struct.unpack_from("<QQ", data, 40)
    end = at + size
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        yield kind, at, length
        at += length


def without_raw(data):
    """RAW is the last field of these samples. The payloads of features keep their positions; the index is moved to the end of the data."""
    made, body = bytearray(data), bytearray()
    at, size = struct.unpack_from("<QQ", data, 40)
    for entry, sample_type, _ in attrs_of(data):
        must(sample_type < RAW << 1 or not sample_type >> 11 & 0x1f, "fields follow RAW")
        flags, = struct.unpack_from("<Q", data, entry + 40)
        struct.pack_into("<Q", made, entry + 24, sample_type & ~RAW)
        struct.pack_into("<Q", made, entry + 40, flags & ~CONTEXT_SWITCH)
    for kind, place, length in records_of(data):
        if kind in SWITCHES:
            continue
        record = bytearray(data[place:place + length])
        if kind == SAMPLE:
            raw = next(p for p in range(length - 8, 8, -4) if p + 4 + struct.unpack_from("<I", record, p)[0] == length and
                       struct.unpack_from("<I", record, p)[0] >= 24)
            del record[raw:]
            struct.pack_into("<H", record, 6, len(record))
        body += record
    features = bin(int.from_bytes(data[72:104], "little")).count("1")
    index = data[at + size:at + size + 16 * features]
    made[at:at + len(body) + len(index)] = body + index
    struct.pack_into("<Q", made, 48, len(body))
    return bytes(made)


def dumped(path, kind):
    return [json.loads(line) for line in perfray("dump", "--format=json", "--only", kind, path).splitlines()]


def next_samples(path, switch):
    """{tid: (blocked, unknown)} ns by the rule: from a switch (a sample of event SWITCH) to the next sample of its thread, unknown where records were lost."""
    samples = sorted((r["fields"]["time"], n, r["fields"]["tid"], r["event"] == switch) for n, r in enumerate(dumped(path, "sample"))
                     if 0 < r["fields"]["tid"] < 1 << 31)
    lost = sorted(r["id"]["time"] for r in dumped(path, "lost"))
    exits = {r["fields"]["tid"]: r["fields"]["time"] for r in dumped(path, "exit")}
    away, sums = {}, {}

    def end_wait(tid, time):
        since = away.pop(tid)
        is_lossy = any(since < t <= time for t in lost)
        pair = sums.setdefault(tid, [0, 0])
        pair[is_lossy] += time - since

    for time, _, tid, leaves in samples:
        if tid in away:
            end_wait(tid, time)
        if leaves and not exits.get(tid, time + 1) <= time:
            away[tid] = time
    for tid in list(away):
        end_wait(tid, min(samples[-1][0], exits.get(tid, samples[-1][0])))
    return {tid: tuple(pair) for tid, pair in sums.items()}


def check_rule(path, switch):
    wanted = next_samples(path, switch)
    must(wanted and sum(pair[0] for pair in wanted.values()), "there are no waits")
    blocked = {}
    for row in rows(perfray("offcpu", "--format=csv", "--no-lines", path)):
        if row["state"] == "blocked":
            blocked[int(row["tid"])] = blocked.get(int(row["tid"]), 0) + int(row["ns"])
    must(all(blocked.get(tid, 0) == pair[0] for tid, pair in wanted.items()),
         ["thread %d: blocked %d ns, must be %d" % (tid, blocked.get(tid, 0), pair[0])
          for tid, pair in wanted.items() if blocked.get(tid, 0) != pair[0]])


def check_no_raw(fixtures, folder):
    path = os.path.join(folder, "no-raw.data")
    with open(os.path.join(fixtures, "recorded", "waits.data"), "rb") as file:
        data = file.read()
    with open(path, "wb") as file:
        file.write(without_raw(data))
    check_rule(path, 0)
    check_threads(path, ())


def check_simpleperf():
    path = os.path.join(harness.corpus() or "/", "perf", "simpleperf", "simpleperf.perf_with_trace_offcpu.data")
    if not os.path.exists(path):
        raise Skip("no corpus")
    check_rule(path, 1)
    check_threads(path, ())


# --- report --latency.

MS = 1000000
SERIAL, PARALLEL = 0x401000, 0x402000


def halves():
    """Thread 7 runs for a second, then together with thread 8: a sample for each ms of each thread."""
    def sample(tid, ip, time):
        return made.record(made.SAMPLE, struct.pack("<QIIQQ", ip, 7, tid, time, MS))
    records = made.switch(7, MS, False)
    records += b"".join(sample(7, SERIAL, MS * (i + 1) + 500) for i in range(1000))
    records += made.switch(8, 1001 * MS, False)
    records += b"".join(sample(tid, PARALLEL, MS * (i + 1001) + 500) for i in range(1000) for tid in (7, 8))
    return made.recording(records + made.switch(8, 2001 * MS, True) + made.switch(7, 2001 * MS, True), flags=made.SWITCHES)


def check_halves(folder):
    path = os.path.join(folder, "halves.data")
    with open(path, "wb") as file:
        file.write(halves())
    for jobs in ("1", "3"):
        found = {row["parallelism"]: int(row["weight"]) for row in
                 rows(perfray("report", "--latency", "-s", "parallelism", "--format=csv", "-j", jobs, path))}
        must(found == {"1": 1000 * MS, "2": 1000 * MS}, "by parallelism, -j %s: %s" % (jobs, found))
    plain = {row["parallelism"]: int(row["weight"]) for row in rows(perfray("report", "-s", "parallelism", "--format=csv", path))}
    must(plain == {"1": 1000 * MS, "2": 2000 * MS}, "without --latency: %s" % plain)


def running_at(path):
    """[(begin, end)] of running threads."""
    text = perfray("sql", "--format=csv", "-q", "SELECT i.ts, i.dur FROM interval i JOIN thread t ON t.id=i.thread_id "
                   "WHERE i.state='running' AND t.tid<>0", path)
    return [(int(row["ts"]), int(row["ts"]) + int(row["dur"])) for row in rows(text)]


def check_latency(path, options):
    spans = running_at(path)
    wanted = 0
    for sample in dumped(path, "sample"):
        fields = sample["fields"]
        count = sum(begin < fields["time"] <= end for begin, end in spans)
        wanted += 0 if fields["tid"] == 0 else fields["period"] // max(count, 1)
    found = sum(int(row["weight"]) for row in rows(perfray("report", "--latency", "-s", "comm", "--format=csv", *options, path)))
    must(wanted and found == wanted, "%d, must be %d" % (found, wanted))


def main(fixtures):
    for name in FILES:
        path = os.path.join(fixtures, "recorded", name)
        options = names(fixtures)
        harness.attempt("waits/%s/threads" % name, check_threads, path, options)
        harness.attempt("waits/%s/functions" % name, check_functions, path, options)
        harness.attempt("waits/%s/exports" % name, check_exports, path, options)
    with harness.scratch("waits") as folder:
        harness.attempt("waits/no-raw", check_no_raw, fixtures, folder)
        harness.attempt("latency/halves", check_halves, folder)
    harness.attempt("waits/trace-offcpu", check_simpleperf)
    for name in FILES:
        harness.attempt("latency/" + name, check_latency, os.path.join(fixtures, "recorded", name), names(fixtures))
    return harness.status()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
