#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_traces.py - checks that `convert` and `recover` of XRay traces keep the events in every version and byte order.

Environment: PERFRAY, the command; FIXTURES, tests/fixtures; PERFRAY_CORPUS, whose traces are used as well. tests/oracle/xray/oracle.py, which shares no code
with the library, lists the contents of a trace: for each thread its calls, arguments and events with their times, in file order, without anything that a
version cannot express. The oracle and `verify` must find the output valid for any input; therefore each trace is also truncated at many places and
recovered. llvm-xray, if installed, must read the output in the byte orders that it supports, and list the same calls.
"""
import collections
import functools
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
from harness import PERFRAY  # noqa: E402

import llvm_forms  # noqa: E402
import oracle  # noqa: E402

SECONDS = 60
FORMS = ("fdr1", "fdr2", "fdr3", "fdr4", "fdr5", "basic")
LARGE = 3000  # events that may not fit in buffers of version 1
LLVM = ("llvm-xray-19", "llvm-xray-14")
CUTS = 5
SMALL = 1 << 17
# Problems that `verify` reports but that are not errors of the conversion: our writer copies them from its input.
KEPT_RULES = {"trace-function", "trace-argument", "trace-empty", "trace-thread", "trace-wall-clock"}


def run(program, *words):
    return harness.run([program, *words], timeout=SECONDS)


def read(path):
    with open(path, "rb") as file:
        return oracle.read(file.read())


def act_of(record, form):
    """The contents of the record; None for anything that `form` cannot express."""
    if record.kind in oracle.ACTIONS:
        cpu = record.cpu or 0
        return record.kind, record.func, record.tsc, cpu & 255 if form == "basic" else cpu, tuple(record.args)
    if not record.data or (form == "fdr1" and len(record.data) > LARGE):
        return None  # readers reject events without data
    if record.kind == "custom_event" and form != "basic":
        return record.kind, record.tsc, record.data
    if record.kind == "typed_event" and form == "fdr5":
        return record.kind, record.tsc, record.event_type, record.data
    return None


def story_of(trace, form):
    story = collections.defaultdict(list)
    for record in trace.records:
        act = act_of(record, form)
        if act:
            story[record.tid].append(act)
    return story


def difference(before, after):
    for tid in sorted(set(before) | set(after), key=str):
        one, two = before.get(tid, []), after.get(tid, [])
        if one == two:
            continue
        at = next((i for i, (a, b) in enumerate(zip(one, two)) if a != b), min(len(one), len(two)))
        return "thread %s: %d acts, then %d; number %d was %s, is %s" % (tid, len(one), len(two), at, one[at:at + 1], two[at:at + 1])
    return None


def has_words(trace, form):
    """Whether the format can express everything in the trace."""
    return not any(act_of(record, form) is None for record in trace.records if record.kind.endswith("_event"))


def own_form(trace):
    return "fdr%d" % trace.header["version"] if trace.header["type"] else "basic"


def broken_rules(path):
    lines = run(PERFRAY, "verify", "--most=0", path).stdout.decode().splitlines()
    return [line for line in lines[:-1] if line.split(": ")[1].split()[-1] not in KEPT_RULES]


def check_written(path, before, form, big):
    """Returns a description of the first defect of a converted trace, or None."""
    after = read(path)
    if after.damage or own_form(after) != form or after.header["big_endian"] != big:
        return "%s, %s: %s %s" % (own_form(after), "big" if after.header["big_endian"] else "little", after.header, after.damage[:1])
    if after.header["cycle_frequency"] != before.header["cycle_frequency"]:
        return "another frequency"
    clocks = [min(oracle.clock_offsets(trace), default=None) for trace in (before, after)]
    if form != "basic" and clocks[0] != clocks[1]:
        return "offset of the clock %s, then %s" % tuple(clocks)
    return difference(story_of(before, form), story_of(after, form)) or (broken_rules(path)[:1] or [None])[0]


@functools.lru_cache(maxsize=None)
def is_sound(path):
    return run(PERFRAY, "verify", path).returncode == 0


def convert(path, output, form, big, *more):
    """Returns (defect or None, the finished process)."""
    before = read(path)
    words = [*(more or ("convert",)), "--trace", form, "--byte-order", "big" if big else "little", "-o", output, path]
    done = run(PERFRAY, *words)
    sound = is_sound(path) and has_words(before, form)
    if done.returncode not in (0, 4) or (sound and done.returncode):
        return "status %d: %s" % (done.returncode, done.stderr.decode("utf-8", "replace")[:200])
    if before.damage and not done.returncode:
        return "damage, and status 0"
    return check_written(output, before, form, big)


def fills_words(records):
    """llvm-xray reads the padding of a buffer of version 1 as calls of 8 bytes each, and rejects the file if the padding is no multiple of 8."""
    return all(len(record.data or b"") % 8 == 0 for record in records)


def llvm_reads(path, form, big):
    """llvm-xray lists the same calls as the oracle; None if llvm-xray need not be able to read this file."""
    records = read(path).records
    wanted = collections.Counter((r.kind, r.func, r.tid, r.tsc) for r in records
                                 if r.kind in oracle.ACTIONS and not (r.args and "exit" in r.kind))
    if not wanted or (big and form != "basic") or (form == "fdr1" and not fills_words(records)):
        return None
    for program in filter(shutil.which, LLVM):
        done = run(program, "convert", "-f", "yaml", path)
        if done.returncode:
            return "%s: %s" % (program, done.stderr.decode("utf-8", "replace")[:200])
        llvm_records = llvm_forms.read_yaml(done.stdout.decode("utf-8", "surrogateescape"))[1]
        found = collections.Counter((r[0], r[1], r[2], r[5]) for r in llvm_records if not r[0].endswith("event"))
        if wanted - found:
            return "%s does not tell of %s" % (program, list((wanted - found).elements())[:2])
    return None


def is_log(path):
    try:
        return os.path.getsize(path) < SMALL and read(path).header.get("type") in (0, 1)
    except (oracle.NotXRay, IsADirectoryError):
        return False


def traces():
    fixtures = os.path.join(os.environ["FIXTURES"], "xray")
    paths = [os.path.join(fixtures, name) for name in sorted(os.listdir(fixtures))]
    for folder in ("traces", "synth"):
        folder = harness.corpus("xray", folder)
        paths += [os.path.join(folder, name) for name in sorted(os.listdir(folder))] if folder else []
    return [path for path in paths if is_log(path)]


def tell(name, problem):
    harness.result("edit/traces " + name, problem)


def check_form(paths, folder, form, big):
    problems, output = [], os.path.join(folder, "made.xray")
    for path in paths:
        problem = convert(path, output, form, big)
        if not problem and is_sound(path):
            problem = llvm_reads(output, form, big)
        if problem:
            problems.append("%s: %s" % (os.path.basename(path), problem))
    name = "%s %s-endian (%d traces)" % (form, "big" if big else "little", len(paths))
    tell(name, problems)


def check_cuts(paths, folder):
    """Truncated valid traces: all complete records are recovered, and buffers are closed."""
    problems, count = [], 0
    cut, output = os.path.join(folder, "cut.xray"), os.path.join(folder, "made.xray")
    for path in paths:
        with open(path, "rb") as file:
            content = file.read()
        for number in range(1, CUTS + 1):
            length = 32 + (len(content) - 32) * number // (CUTS + 1)
            with open(cut, "wb") as file:
                file.write(content[:length])
            before = read(cut)
            form = own_form(before)
            is_sound.cache_clear()
            problem = convert(cut, output, form, before.header["big_endian"], "recover")
            if problem and "status 0" not in problem:
                problems.append("%s at %d: %s" % (os.path.basename(path), length, problem))
            count += 1
    tell("recover of cut ones (%d)" % count, problems)


def main():
    if not harness.has_command():
        return harness.skip("edit/traces", "PERFRAY is not set")
    paths = traces()
    step = 1 if harness.LONG else 2  # each form and byte order gets every second trace; the next form gets the other traces
    if not any(shutil.which(program) for program in LLVM):
        harness.skip("edit/traces", "in llvm-xray: it is not installed")
    with harness.scratch("traces") as folder:
        for number, form in enumerate(FORMS):
            for big in (False, True):
                check_form(paths[(number + big) % step::step], folder, form, big)
        check_cuts([path for path in paths if not read(path).damage and os.path.getsize(path) < 20000], folder)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
