#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_latency.py - tests report --latency.

usage: run_latency.py FIXTURES

    latency/halves         a second of one thread and a second of two weigh the same with report --latency, and add up to the
                           wall-clock time; in the column Overhead they are 33 and 67 %; the key parallelism tells them apart
    latency/crowd          for threads that run at random times, with periods down to 1, both columns follow the rule
    latency/FILE           weights equal periods divided by the number of running threads, by the model's intervals
    latency/FILE/columns   Overhead is the weight of the report without --latency, in every form, with callees and without

Environment: PERFRAY, the command.
"""
import json
import os
import random
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
from harness import must  # noqa: E402
from run_waits import FILES, MS, dumped, made, names, perfray, rows  # noqa: E402

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
        found = {row["parallelism"]: (int(row["weight"]), int(row["overhead_weight"])) for row in
                 rows(perfray("report", "--latency", "-s", "parallelism", "--format=csv", "-j", jobs, path))}
        must(found == {"1": (1000 * MS, 1000 * MS), "2": (1000 * MS, 2000 * MS)}, "by parallelism, -j %s: %s" % (jobs, found))
    text = perfray("report", "--latency", "-s", "parallelism", path)
    must("#  Latency  Overhead  Parallelism" in text and "Event count (approx.): 3000000000" in text, text)
    must(re.findall(r"(\S+)%\s+(\S+)%\s+(\d)\n", text) == [("50.00", "66.67", "2"), ("50.00", "33.33", "1")], text)
    plain = {row["parallelism"]: int(row["weight"]) for row in rows(perfray("report", "-s", "parallelism", "--format=csv", path))}
    must(plain == {"1": 1000 * MS, "2": 2000 * MS}, "without --latency: %s" % plain)


def running_at(path):
    """[(begin, end)] of running threads."""
    text = perfray("sql", "--format=csv", "-q", "SELECT i.ts, i.dur FROM interval i JOIN thread t ON t.id=i.thread_id "
                   "WHERE i.state='running' AND t.tid<>0", path)
    return [(int(row["ts"]), int(row["ts"]) + int(row["dur"])) for row in rows(text)]


def rule(path):
    """{(event, tid): (latency, overhead)}: the periods taken while N threads ran, divided by N and rounded, for every N."""
    spans, periods = running_at(path), {}
    for sample in dumped(path, "sample"):
        fields = sample["fields"]
        if fields["tid"]:
            count = max(sum(begin < fields["time"] <= end for begin, end in spans), 1)
            of_thread = periods.setdefault((sample["event"], str(fields["tid"])), {})
            of_thread[count] = of_thread.get(count, 0) + fields["period"]
    return {key: (sum((2 * period + count) // (2 * count) for count, period in of_thread.items()), sum(of_thread.values()))
            for key, of_thread in periods.items()}


def columns(path, *options):
    """{(event, tid): (latency, overhead)}, and the percentages are those of the sums."""
    table = rows(perfray("report", "--latency", "-s", "tid", "--format=csv", *options, path))
    found = {(row["event"], row["tid"]): (int(row["weight"]), int(row["overhead_weight"])) for row in table}
    for row in table:
        for of, column in enumerate(("percent", "overhead_percent")):
            whole = sum(weights[of] for (event, _), weights in found.items() if event == row["event"])
            share = 100 * found[row["event"], row["tid"]][of] / whole
            must(abs(float(row[column]) - share) < 1e-3, "%s: %s" % (column, row))
    return found


def by_thread(sums):
    """{tid: weights of each event}; the report names events, the records number them."""
    return {tid: sorted(weights for (_, one), weights in sums.items() if one == tid) for _, tid in sums}


def check_latency(path, options):
    wanted = by_thread(rule(path))
    for jobs in ("1", "3"):
        found = by_thread(columns(path, "-j", jobs, *options))
        must(wanted and found == wanted, "%s, must be %s" % (found, wanted))


def crowd():
    """Six threads that come and go; each has a sample of a random period whenever it leaves, and some while it runs."""
    chance, time, records, running = random.Random(28), MS, b"", set()
    for _ in range(800):
        time += chance.randrange(1, 1000)
        tid = chance.randrange(7, 13)
        leaves = tid in running
        if leaves:
            records += made.record(made.SAMPLE, struct.pack("<QIIQQ", SERIAL + tid % 3, 7, tid, time, chance.choice((1, 2, 997, MS))))
        if not leaves or chance.random() < 0.6:
            records += made.switch(tid, time + 1, leaves)
            running ^= {tid}
    return made.recording(records, flags=made.SWITCHES)


def check_crowd(folder):
    path = os.path.join(folder, "crowd.data")
    with open(path, "wb") as file:
        file.write(crowd())
    check_latency(path, ())
    check_columns(path, ())


def sums_by(table, weight, own):
    return {(row["comm"], row["sym"]): (int(row[weight]), int(row.get(own, row[weight]))) for row in table if row["comm"] != "swapper"}


def check_columns(path, options):
    words = ("report", "-s", "comm,sym", "--children", *options)
    plain = sums_by(rows(perfray(*words, "--format=csv", path)), "weight", "self_weight")
    found = sums_by(rows(perfray(*words, "--latency", "--format=csv", path)), "overhead_weight", "self_overhead_weight")
    must(plain and found == plain, "csv: %s, must be %s" % (found, plain))
    document = json.loads(perfray(*words, "--latency", "--format=json", path))
    data = {(row["comm"], row["sym"]): (row["overhead"]["weight"], row.get("self", row)["overhead"]["weight"])
            for event in document["events"] for row in event["rows"]}
    must(data == plain, "json: %s, must be %s" % (data, plain))
    for event in document["events"]:
        must(event["overhead_weight"] == sum(row.get("self", row)["overhead"]["weight"] for row in event["rows"]), "json: the total")

def main(fixtures):
    with harness.scratch("latency") as folder:
        harness.attempt("latency/halves", check_halves, folder)
        harness.attempt("latency/crowd", check_crowd, folder)
    for name in FILES:
        path = os.path.join(fixtures, "recorded", name)
        harness.attempt("latency/" + name, check_latency, path, names(fixtures))
        harness.attempt("latency/%s/columns" % name, check_columns, path, names(fixtures))
    return harness.status()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
