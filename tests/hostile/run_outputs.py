#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_outputs.py - checks that exports, images and call trees in formats for programs are bounded (--limit trees).

usage: run_outputs.py

Environment: PERFRAY, the command. Each of CASES is a recording whose call paths share long prefixes, and a command that would write
these prefixes many times. Requirements for each:

    bound    the output has at most EACH bytes per byte of the recording (EACH_OF_STACKS for stacks), plus ALSO bytes (ALSO_SMALL if
             the limit is SMALL)
    told     [limit] is in the output, standard error reports the cut and names the limit, and the status is 4
    same     -j1 and -j4 write the same bytes, and so do a compressed recording and a stream
    whole    with a high limit everything is written with status 0, and no line is [limit]
    weight   the sums of samples and weights are the same in both outputs

An ordinary recording is never cut (SOUND). If stacks fit into the call tree of report, they also fit into exports and flame graphs
(check_memory). Formats of single samples or calls need little more memory than csv (check_memory_of_rows, check_memory_of_calls).
"""
import collections
import csv
import gzip
import io
import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
import growth_families as families

MB = 1 << 20
# The text of a stack may have 4096 bytes, while the call of a trace from which it is made has 16.
EACH, EACH_OF_STACKS, ALSO, ALSO_SMALL = 40, 256, 20 * MB, 1.5 * MB
WHOLE = ["--limit", "trees=3G", "--limit", "memory=2G"]
NAMED = "[limit]"
DEEP = ["--no-symbols", "--max-stack=100000"]
ROWS = ["report", "--no-pager", "--no-symbols", "--children"]


def long_command(n):
    """Samples of n objects in a thread whose name has 60 000 bytes."""
    record = families.record
    made = [record(families.COMM, struct.pack("<II", 7, 7) + b"c" * 60000 + bytes(16))]
    for i in range(n):
        made.append(record(families.MMAP, struct.pack("<IIQQQ", 7, 7, 0x400000 + i * 4096, 4096, 0) + b"/%06d\0" % i))
        made.append(families.sample(0x400000 + i * 4096))
    return families.recording(b"".join(made))


def deep_chains(n):
    """Samples whose chains have 3000 entries."""
    record, pack = families.record, struct.pack
    chain = [0x500000 + 4096 * at for at in range(3000)]
    return families.recording(b"".join(record(families.SAMPLE, pack("<QIIQQQ3000Q", 0x400000 + i, 7, 7, 1000 + i, 1, 3000,
                                                                        *([0x400000 + i] + chain[i + 1:] + chain[:i])))
                                         for i in range(n)), families.IP_TID_TIME_PERIOD | families.CALLCHAIN)


def mapped_chains(n):
    """Samples with chains of 500 functions, each in another object, that are all different."""
    record, pack = families.record, struct.pack
    pages = [0x500000 + 4096 * at for at in range(500)]
    made = [record(families.MMAP, pack("<IIQQQ", 7, 7, page, 4096, 0) + b"/%06d\0" % (page >> 12)) for page in pages]
    for i in range(n):
        chain = pages[i + 1:] + pages[:i + 1]
        made.append(record(families.SAMPLE, pack("<QIIQQQ500Q", chain[0], 7, 7, 1000 + i, 1, 500, *chain)))
    return families.recording(b"".join(made), families.IP_TID_TIME_PERIOD | families.CALLCHAIN)


def sum_folded(content):
    return sum(int(line.rsplit(b" ", 1)[1]) for line in content.splitlines())


def sum_csv(content):
    csv.field_size_limit(1 << 30)
    sums = collections.Counter()
    for row in csv.DictReader(io.StringIO(content.decode())):
        sums[row["sym"]] += int(row["chain_samples"])
        sums[row["sym"], "weight"] += int(row["chain_weight"])
    return sums


def self_of(row):
    parts = [frame["self"] for frame in row["tree"] if "self" in frame] + ([row["tree_limit"]] if "tree_limit" in row else [])
    return sum(part["samples"] for part in parts), sum(part["weight"] for part in parts)


def sum_json(content):
    return [(row["sym"], self_of(row)) for event in json.loads(content)["events"] for row in event["rows"]]


def varints(content):
    value = shift = 0
    for byte in content:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def fields_of(message):
    """(number, value) of each field: an integer, or bytes."""
    at = 0

    def take():
        nonlocal at
        begin = at
        while message[at] & 128:
            at += 1
        at += 1
        return next(varints(message[begin:at]))
    while at < len(message):
        key = take()
        length = take()
        if key & 7 == 2:
            yield key >> 3, message[at:at + length]
            at += length
        else:
            yield key >> 3, length


def sum_pprof(content):
    sums = collections.Counter()
    for number, sample in fields_of(gzip.decompress(content)):
        if number == 2:
            sums.update(enumerate(varints(dict(fields_of(sample))[2])))
    return sums


def text_of_pprof(content):
    return b"\n".join(value for number, value in fields_of(gzip.decompress(content)) if number == 6)


def nothing(_content):
    return None


def sum_bars(content):
    """Self weights depend on the rows that are printed, so only the total is compared."""
    return next(line for line in content.splitlines() if line and not line.startswith(b"#")).split()[0]


SMALL = ["--limit", "trees=1M"]

# name: (maker, size, command, how to compare with the complete output); the first one uses the default limit
CASES = {
    "folded": (families.trace_deep_paths, 5000, ["export"] + DEEP, sum_folded),
    "folded long command": (long_command, 100, ["export", "--no-symbols"] + SMALL, sum_folded),
    "pprof": (families.trace_deep_paths, 3500, ["export", "--format=pprof"] + SMALL + DEEP, sum_pprof),
    "pprof chains": (deep_chains, 40, ["export", "--format=pprof", "--limit", "trees=1"] + DEEP, sum_pprof),
    "flame": (families.trace_deep_paths, 500, ["flame", "--no-symbols"] + SMALL, nothing),
    "tree": (families.trace_deep_paths, 2500, ["report", "--no-pager", "--tree", "--percent-limit=0"] + SMALL + DEEP, sum_bars),
    "csv callee": (families.trace_deep_paths, 300, ROWS + SMALL + ["--format=csv", "-g", "callee,0"], sum_csv),
    "csv caller": (families.forking_chains, 500, ROWS + SMALL + ["--format=csv", "-g", "caller,0"], sum_csv),
    "json callee": (families.trace_deep_paths, 300, ROWS + SMALL + ["--format=json", "-g", "callee,0"], sum_json),
    "json caller": (families.forking_chains, 500, ROWS + SMALL + ["--format=json", "-g", "caller,0"], sum_json),
}

# Inputs that are never cut, as {name: (maker, size)}.
SOUND = {
    "calls": (families.trace_calls, 20000),
    "chains": (families.chains_in_time, 1000),
    "deep calls": (families.trace_deep_paths, 2000),
}
SOUND_COMMANDS = (["export", "--no-symbols"], ["export", "--no-symbols", "--format=pprof"],
                  ROWS + ["--format=csv", "-g", "caller"], ROWS + ["--format=json", "-g", "caller"],
                  ["report", "--no-pager", "--no-symbols", "--tree"])


def perfray(*words):
    return harness.perfray(*words, timeout=None)


def says(command, content):
    """Whether [limit] is in an output."""
    if "--format=pprof" in command:
        return b"[limit]" in text_of_pprof(content)
    return (b"tree_limit" if "--format=json" in command else b"left out [limit]" if command[0] == "flame" else b"[limit]") in content


def check_cut(command, path, done):
    size = os.path.getsize(path)
    if len(done.stdout) > (EACH_OF_STACKS if command[0] == "export" else EACH) * size + (ALSO_SMALL if SMALL[1] in command else ALSO):
        yield "%d bytes for %d" % (len(done.stdout), size)
    if done.returncode != 4 or b"limit trees" not in done.stderr:
        yield "status %d, %r" % (done.returncode, done.stderr[:200])
    elif not says(command, done.stdout):
        yield "[limit] is not in the output"


def check_same(command, path, done):
    for jobs in ("-j1", "-j4"):
        if perfray(*command, jobs, path).stdout != done.stdout:
            yield "differs with " + jobs


def check_packed(command, path, done):
    packed = path + ".packed"
    for options in (["--compress=19"], ["--to=pipe"]):
        made = perfray("convert", *options, "-o", packed, path)
        other = perfray(*command, packed)
        if made.returncode or (other.stdout, other.returncode) != (done.stdout, 4):
            yield "differs with " + options[0]
        os.remove(packed)


def check_whole(command, path, done, sums):
    whole = perfray(*command, *WHOLE, path)
    if whole.returncode or says(command, whole.stdout) or len(whole.stdout) <= len(done.stdout):
        yield "with a higher limit status %d, %d bytes, %r" % (whole.returncode, len(whole.stdout), whole.stderr[:200])
    elif sums(whole.stdout) != sums(done.stdout):
        yield "the sums differ from those with a higher limit"


def run_case(folder, name):
    make, amount, command, sums = CASES[name]
    path = os.path.join(folder, "outputs.data")
    with open(path, "wb") as file:
        file.write(make(amount))
    done = perfray(*command, path)
    wrong = list(check_cut(command, path, done))
    if not wrong:
        wrong += [*check_same(command, path, done), *check_whole(command, path, done, sums)]
    if not wrong and "trace" not in make.__name__ and command[0] != "report":
        wrong += check_packed(command, path, done)
    harness.result("hostile/outputs " + name, wrong)


def run_sound(folder, name):
    make, amount = SOUND[name]
    path = os.path.join(folder, "sound.data")
    with open(path, "wb") as file:
        file.write(make(amount))
    for command in SOUND_COMMANDS:
        done = perfray(*command, path)
        said = [line for line in done.stderr.splitlines() if b"outside any mapping" not in line]  # these have no maps
        fine = done.returncode == 0 and not said and not says(command, done.stdout)
        harness.result("hostile/outputs whole: %s of %s" % (" ".join(command), name),
                       "" if fine else "status %d, %r" % (done.returncode, done.stderr[:200]))


def is_limited(megabytes, path, command):
    done = perfray(*command, "-j1", "--no-symbols", "--max-stack=100000", "--limit", "memory=%dM" % megabytes, path)
    if done.returncode not in (0, 4):
        return True
    return b"limit memory" in done.stderr


def check_memory(folder):
    path = os.path.join(folder, "memory.data")
    with open(path, "wb") as file:
        file.write(mapped_chains(400))
    low, high = 1, 64
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if is_limited(middle, path, ["report", "--no-pager", "-g", "graph,50"]) else (low, middle)
    for command in ["export", "--limit", "trees=3G"], ["export", "--format=pprof", "--limit", "trees=3G"], ["flame"]:
        harness.result("hostile/outputs memory %s" % " ".join(command),
                       "[limit] with %d MB" % high if is_limited(high, path, command) else "")


def fits(megabytes, path, form):
    to = ["-o", path + ".folder"] if form == "ctf" else []
    return perfray("export", "--no-symbols", "--format=" + form, "--limit", "memory=%dM" % megabytes, *to, path).returncode == 0


def check_memory_of_rows(folder):
    """firefox, whose columns need all samples of a thread, takes no more memory than csv, which prints one sample at a time."""
    path = os.path.join(folder, "rows.data")
    with open(path, "wb") as file:
        file.write(families.samples(300000))
    low, high = 1, 256
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle, path, "csv") else (middle, high)
    os.environ["PERFRAY_SIZES"] = "fox-rows=1000"
    good = high < 256 and fits(high + 1, path, "firefox")
    del os.environ["PERFRAY_SIZES"]
    harness.result("hostile/outputs memory of rows", "" if good else "csv takes %d MB, firefox more than %d MB" % (high, high + 1))


OF_CALLS = ("speedscope", "perfetto", "firefox", "ctf", "callgrind", "dot")


def check_memory_of_calls(folder):
    """Formats that need calls in another order than that of exits, and call graphs, need no more memory for more calls: 2 MB in addition to
    csv, which prints calls as they come. 200 000 calls take 6.4 MB."""
    path = os.path.join(folder, "calls.xray")
    with open(path, "wb") as file:
        file.write(families.trace_calls(100000))
    least = next(megabytes for megabytes in range(1, 64) if fits(megabytes, path, "csv"))
    wrong = [form for form in OF_CALLS if not fits(least + 2, path, form)]
    if perfray("graph", "--edge-label=99p", "--limit", "memory=%dM" % (least + 2), path).returncode:
        wrong.append("graph")
    harness.result("hostile/outputs memory of calls", ["csv takes %d MB, %s more than %d MB" % (least, form, least + 2) for form in wrong] +
                   ([] if least < 6 else ["csv takes %d MB" % least]))


def main():
    with harness.scratch("outputs") as folder:
        only = sys.argv[1] if len(sys.argv) > 1 else ""
        for name in CASES:
            if only in name:
                run_case(folder, name)
        for name in SOUND:
            if only in name:
                run_sound(folder, name)
        if only in "memory":
            check_memory(folder)
            check_memory_of_rows(folder)
            check_memory_of_calls(folder)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
