#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_dump.py - compares `perfray dump --format=jsonl` of every trace of the corpus with llvm-xray and with the
oracle.

dump NAME      every record equals the lines of llvm-xray's fdr-dump: kind, ids, deltas, times, payload bytes
records NAME   every record with its offset, thread, process, CPU and time equals the oracle's (all files, also those
               that llvm-xray cannot read); the exit status shows whether parts were unusable
header NAME    version, flags, frequency, buffer size are equal
twins NAME     big-endian and hybrid files have the same records as their little-endian copies
stream NAME    the same output through a pipe, and with a gzip file

Known differences are listed by file with the erratum; a listed difference that does not occur is an error, too.
"""
import gzip
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
import llvm_forms
import oracle
from tally import Tally

DUMP_DIFFERS = {
    "v1-le.fdr": "E2", "v1-le-bigtid.fdr": "E2", "v1-le-zero-remainder-200.fdr": "E2",
    "v2-le-garbage-between.fdr": "fdr-dump takes garbage between buffers of version 2 for records",
}
ACTIONS = oracle.ACTIONS


def run(arguments, stdin=None):
    done = harness.perfray(*arguments, input=stdin)
    return done.returncode, done.stdout, done.stderr


def dump(path):
    status, out, _ = run(["dump", "--format=jsonl", path])
    return status, [json.loads(line) for line in out.splitlines()]


def as_dump(record):
    """One JSON record in the form of llvm_forms.read_dump."""
    name, fields = record["name"], record["fields"]
    kind = name[4:]
    if name == "fdr_function":
        return ACTIONS[fields["action"]], fields["function"], fields["delta"]
    if kind == "wall_clock_time":
        return kind, fields["seconds"], fields["microseconds"]
    if kind == "new_cpu_id":
        return kind, fields["cpu"], fields["tsc"]
    if kind == "custom_event":
        return kind, fields["delta" if "delta" in fields else "tsc"], bytes.fromhex(fields["data"])
    if kind == "typed_event":
        return kind, fields["delta"], fields["type"], bytes.fromhex(fields["data"])
    if kind == "end_of_buffer":
        return (kind,)
    member = {"new_buffer": "tid", "tsc_wrap": "tsc", "call_argument": "value", "buffer_extents": "size", "pid": "pid"}
    return kind, fields[member[kind]]


def as_record(record):
    """(kind, offset, size, contents, time and thread) of a JSON record."""
    name, fields = record["name"], record["fields"]
    place = (record.get("tsc"), record.get("cpu"), record.get("tid"), record.get("pid"))
    if name == "basic_function":
        return ACTIONS[fields["action"]], record["offset"], record["size"], fields["function"], place
    if name == "basic_argument":
        return "call_argument", record["offset"], record["size"], fields["value"], None
    if name == "profile_block":
        return "block", record["offset"], record["size"], (fields["number"], fields["tid"]), None
    if name == "profile_path":
        said = ([part["id"] for part in fields["path"]], (fields["count"], fields["time"]))
        return "path", record["offset"], record["size"], said, None
    said = as_dump(record)
    return said[0], record["offset"], record["size"], said[1:], place if said[0] in TIMED else None


TIMED = ACTIONS + ("custom_event", "typed_event")


def oracle_records(trace):
    records = []
    dumped = llvm_forms.oracle_dump(trace) if trace.header["type"] == 1 else None
    for index, r in enumerate(trace.records):
        kind, place, said = r.kind, (r.tsc, r.cpu, r.tid, r.pid), r.func
        if not getattr(r, "timed", True):
            place = (None, None) + place[2:]
        if dumped:
            kind, said = dumped[index][0], dumped[index][1:]
        elif kind == "call_argument":
            said = r.value
        elif kind == "block":
            said = (r.value, r.tid)
        elif kind == "path":
            said = (r.args, r.value)
        elif kind == "enter_arg":
            kind = ACTIONS[PLAIN_BASIC.get(r.offset, 3)]
        records.append((kind, r.offset, r.size, said, place if kind in TIMED else None))
    return records


PLAIN_BASIC = {}  # a basic-mode log has the action itself; see check_file


def check_header(tally, name, pseudo, trace):
    fields, header = pseudo["fields"], trace.header
    if header["type"] == "profile":
        tally.check("header", name, (fields["version"], fields["time"], fields["pid"]),
                    (header["version"], header["time_ns"], header["pid"]))
        return
    tally.check("header", name, (fields["version"], fields["type"], fields["cycle_frequency"], fields["buffer_size"]),
                (header["version"], header["type"], header["cycle_frequency"], header["buffer_size"]))


def check_llvm(tally, corpus, name, records):
    path = os.path.join(corpus, "out", name + ".dump")
    if not os.path.exists(path):
        path = os.path.join(corpus, "out-synth", name + ".dump")
    if not os.path.exists(path):
        return
    with open(path, "rb") as file:
        theirs = llvm_forms.read_dump(file.read())
    ours = [as_dump(r) for r in records]
    if theirs and len(theirs) < len(ours) and ours[:len(theirs)] == theirs:
        ours = ours[:len(theirs)]  # fdr-dump stops at data that it takes for an error
    tally.check("dump", name, ours, theirs, DUMP_DIFFERS)


def check_streams(tally, name, data, lines):
    for how, content in (("pipe", data), ("gzip", gzip.compress(data))):
        _, out, _ = run(["dump", "--format=jsonl", "-"], content)
        tally.check("stream " + how, name, [json.loads(line) for line in out.splitlines()], lines)


def check_file(tally, corpus, path):
    name = os.path.basename(path)
    with open(path, "rb") as file:
        data = file.read()
    status, lines = dump(path)
    try:
        trace = oracle.read(data)
    except oracle.NotXRay:
        tally.check("refused", name, (status, lines), (3, []))
        return
    PLAIN_BASIC.clear()
    for line in lines:
        if line["name"] == "basic_function":
            PLAIN_BASIC[line["offset"]] = line["fields"]["action"]
    damaged = bool(trace.damage or [n for n in trace.notes if "argument of an exit" not in n[1]])
    # A misplaced record, or an event without data: the oracle does not check this.
    damaged = damaged or name in ("v5-le-no-cpu.fdr", "v5-le-order.fdr", "v5-le-event-empty.fdr")
    tally.check("status", name, status, 4 if damaged else 0)
    check_header(tally, name, lines[0], trace)
    tally.check("records", name, [as_record(r) for r in lines[1:]], oracle_records(trace))
    if trace.header["type"] == 1 and not trace.header["big_endian"]:
        check_llvm(tally, corpus, name, lines[1:])
    check_streams(tally, name, data, lines)


def check_twins(tally, corpus):
    for stem in ["v%d" % v for v in range(1, 6)]:
        ours = dump(os.path.join(corpus, "synth", stem + "-le.fdr"))[1][1:]
        for twin in ("-be.fdr", "-be-lsbfirst.fdr"):
            tally.check("twins", stem + twin, dump(os.path.join(corpus, "synth", stem + twin))[1][1:], ours)
    for stem in ["basic-v%d" % v for v in range(1, 4)]:
        ours = dump(os.path.join(corpus, "synth", stem + "-le.log"))[1][1:]
        theirs = dump(os.path.join(corpus, "synth", stem + "-be.log"))[1][1:]
        tally.check("twins", stem, theirs, ours)


def main():
    corpus = harness.corpus("xray")
    if not corpus:
        return harness.skip("xray_dump", "PERFRAY_CORPUS is not set")
    tally, files = Tally(), 0
    for folder in ("traces", "synth"):
        for name in sorted(os.listdir(os.path.join(corpus, folder))):
            check_file(tally, corpus, os.path.join(corpus, folder, name))
            files += 1
    check_twins(tally, corpus)
    return tally.sum(files)


if __name__ == "__main__":
    sys.exit(main())
