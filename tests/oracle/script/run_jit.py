#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_jit.py - tests the names of code generated at run time, without `perf inject`.

usage: run_jit.py [NAME...]

Environment: PERFRAY, the command. programs/jit_moves.c writes a jitdump, and separately prints the addresses and times
of its loops. Each sample in the memory of loops must have the name of the loop that was there at the time, and a line
of that loop; copied stacks must be unwound through the loop; the output must contain what `perf inject -j` and `perf
script` print for the same recording. Node is tested likewise, with a jitdump and with a perf map. If something is not
installed or not permitted: `skip NAME reason`.
"""
import glob
import os
import platform
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
import fresh
from fresh import Skip, Wrong

LEAST = 5  # samples in generated code
STEP = "0.05"
HERE = ("-e", "cpu-clock", "-F", "2999")
LINES = {"first": "first.js", "second": "second.js", "third": "third.js", "fourth": "fourth.js"}
SCRIPT = """function inner(n) { let s = 0; for (let i = 0; i < n; i++) s += Math.imul(i, i ^ 7) % 13; return s; }
function hotLoop() { let u = 0; for (let i = 0; i < 100000; i++) u += inner(2000); return u; }
console.log(hotLoop());
"""


def program(folder):
    if platform.machine() != "x86_64":
        raise Skip("its loops are of x86_64")
    return fresh.build(folder, "jit_moves.c", "jit_moves", "-O1", "-g", "-fno-omit-frame-pointer")


def steps_of(text):
    """Yields (begin, end, address, size, name) of each step, as the program printed it."""
    return [(int(b), int(e), int(a, 16), int(s, 16), name) for b, e, a, s, name in map(str.split, text.splitlines())]


def ours_of(folder, recording, fields, *options):
    return fresh.our_script(folder, recording, ("-F", fields, "--ns", "-G", *options))


def check_steps(folder, recording, steps):
    """Returns how many samples were in the generated code; each must have its name and line."""
    count = 0
    memory = [s[2] & ~0xffff for s in steps]
    text = ours_of(folder, recording, "time,ip,sym,srcline")
    addresses = re.findall(r"([0-9.]+): +([0-9a-f]+)", ours_of(folder, recording, "time,ip", "--no-symbols"))
    for (when, address), block in zip(addresses, re.split(r"\n(?= *[0-9]+\.[0-9]+:)", "\n" + text)[1:]):
        time, at = int(when.replace(".", "")), int(address, 16)
        inside = [s for s in steps if s[0] < time < s[1] and 0 <= at - s[2] < s[3]]
        if not inside:
            if min(memory) <= at < max(memory) + 0x10000 and any(s[0] < time < s[1] for s in steps):
                raise Wrong("a sample at %x is where no loop ran then" % at)
            continue
        name = inside[0][4]
        count += 1
        if not re.search(r" %s\n  %s:1[012]$" % (name, LINES[name]), block.rstrip()):
            raise Wrong("at %s %s ran, and not\n%s" % (when, name, block))
    if count < LEAST:
        raise Wrong("only %d samples were in code that was made" % count)
    return count


def record_with_perf(folder, *options):
    fresh.need("perf")
    done = fresh.must(["perf", "record", "-q", "-N", *options, *HERE, "-o", "perf.data", "--", program(folder), STEP], folder,
                      "perf record")
    return "perf.data", steps_of(done.stdout.decode())


def account(folder):
    recording, steps = record_with_perf(folder, "-k", "mono")
    return "%d samples as the program says" % check_steps(folder, recording, steps)


def own_recording(folder):
    done = fresh.must([harness.PERFRAY, "record", "-q", "-k", "mono", *HERE, "-o", "own.data", "--", program(folder), STEP],
                      folder, "perfray record")
    return "%d samples as the program says" % check_steps(folder, "own.data", steps_of(done.stdout.decode()))


def stacks(folder):
    recording, _ = record_with_perf(folder, "-k", "mono", "--call-graph", "dwarf,2048")
    chains = [b for b in fresh.our_script(folder, recording, ("-F", "time,ip,sym")).split("\n\n") if re.search(r" (first|second|third|fourth)\n", b)]
    broken = [b for b in chains if not re.search(r" (\w+)\n\s+\w+ run\n\s+\w+ main\n", b)]
    if len(chains) < LEAST or broken:
        raise Wrong("%d of %d stacks are not unwound through the loops%s" % (len(broken), len(chains), "\n" + broken[0] if broken else ""))
    return "%d stacks" % len(chains)


def injected(folder, recording, fields):
    """Without `perf inject`, perfray prints the same as perf prints after `perf inject`, except for offsets in files, because the files differ."""
    fresh.must(["perf", "inject", "-j", "-i", recording, "-o", "injected.data"], folder, "perf inject")
    texts = fresh.perf_script(folder, "injected.data", ("-F", fields)), fresh.our_script(folder, recording, ("-F", fields))
    return [re.sub(r"(^\s+|: +)[0-9a-f]+ ", r"\t", text, flags=re.M) for text in texts]


def as_perf(folder):
    recording, _ = record_with_perf(folder, "-k", "mono")
    theirs, ours = injected(folder, recording, "comm,tid,time,ip,sym,symoff")
    if theirs != ours:
        raise Wrong("names differ: %r" % [p for p in zip(theirs.split("\n"), ours.split("\n")) if p[0] != p[1]][:3])
    return "%d lines" % ours.count("\n")


def other_clock(folder):
    """If the times cannot be compared, the last code at an address is used, and a message is printed."""
    recording, steps = record_with_perf(folder)
    done = fresh.run([harness.PERFRAY, "script", "--no-pager", "-F", "ip,sym", recording], folder)
    text, messages = done.stdout.decode(), done.stderr.decode()
    names = set(re.findall(r" (first|second|third|fourth)$", text, re.M))
    if "record with -k mono" not in messages or not names:
        raise Wrong("names %s, and it is said: %s" % (names, messages))
    return "%d of %d names" % (len(names), len({s[4] for s in steps}))


def without_dump(folder):
    """A missing dump is reported; with --no-symbols it is not looked up."""
    recording, _ = record_with_perf(folder, "-k", "mono")
    for dump in glob.glob(os.path.join(folder, "jit-*.dump")):
        os.remove(dump)
    done = fresh.run([harness.PERFRAY, "report", recording], folder)
    quiet = fresh.run([harness.PERFRAY, "report", "--no-symbols", recording], folder)
    if done.returncode or b"no such file: its code has no names" not in done.stderr or quiet.stderr:
        raise Wrong("status %d, said: %s%s" % (done.returncode, done.stderr.decode(), quiet.stderr.decode()))


def node(folder, option, *record):
    fresh.need("node", "perf")
    with open(os.path.join(folder, "hot.js"), "w", encoding="utf-8") as script:
        script.write(SCRIPT)
    fresh.must(["perf", "record", "-q", "-N", *record, "-e", "cpu-clock", "-F", "999", "-o", "node.data", "--",
                "node", option, "hot.js"], folder, "perf record node")
    done = fresh.run([harness.PERFRAY, "report", "-s", "sym", "--no-children", "node.data"], folder)
    hot = re.search(r"^ +([0-9.]+)%  \[\.\] .*(hotLoop|inner) .*hot\.js", done.stdout.decode(), re.M)
    if not hot:
        raise Wrong("the loop is not there:\n%s" % done.stdout.decode()[:2000])
    return hot[1] + " % in " + hot[2]


def node_map(folder):
    try:
        return node(folder, "--perf-basic-prof")
    finally:
        text = fresh.our_script(folder, "node.data", ("-F", "pid")) if os.path.exists(os.path.join(folder, "node.data")) else ""
        for pid in set(text.split()):
            path = "/tmp/perf-%s.map" % pid
            if os.path.exists(path) and os.stat(path).st_uid == os.geteuid():
                os.remove(path)


def node_dump(folder):
    figures = node(folder, "--perf-prof", "-k", "mono", "-g")
    theirs, ours = injected(folder, "node.data", "comm,tid,time,ip,sym,symoff")
    left, right = theirs.split("\n"), ours.split("\n")
    wrong = [p for p in zip(left, right) if p[0] != p[1]]
    if len(left) != len(right) or len(wrong) > len(left) // 500:
        raise Wrong("%d of %d lines differ: %r" % (len(wrong), len(left), wrong[:3]))
    return "%s, %d lines, %d differ" % (figures, len(left), len(wrong))


CHECKS = {"account": account, "own_recording": own_recording, "stacks": stacks, "as_perf": as_perf, "other_clock": other_clock,
          "without_dump": without_dump, "node_map": node_map, "node_dump": node_dump}


if __name__ == "__main__":
    sys.exit(fresh.attempt_all("script/jit", CHECKS, sys.argv[1:]))
