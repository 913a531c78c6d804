#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_floods.py - checks that an object that exceeds the limits loses only its own names, lines or callers, and that everything else is complete.

usage: run_floods.py [--show] [NAME...]

Environment: PERFRAY, the command. Each recording has 20 objects of 50 functions with a sample each, and one object of FLOODS (flood_objects.py), which would
need more memory or output than is available. Requirements for every command that looks up names:

    whole     every sample is counted, and every function of the 20 objects has its name
    said      the status is 4, and stderr has the end of the object's path and the limit
    bounded   at most MOST bytes of output, in SECONDS
    one       the same bytes for -j 1, 2 and 3, if the object's budget does not depend on the order

UNWINDING has objects with unwind tables: stacks end at the object, all other stacks are complete, and the number of incomplete stacks is reported, in at
most UNWINDING_SECONDS of CPU time. Traces contain functions of the 20 objects and of one of FLOODS, given with --instr-map.
"""
import argparse
import json
import os
import re
import resource
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
import flood_objects  # noqa: E402

GOOD, FUNCTIONS, EACH = 20, 50, 16
HOSTILE = "/opt/hostile/" + "a-long-way/" * 9 + "libflood.so"
END_OF_PATH = HOSTILE[-40:]  # at least the end of a long path
MOST = 160 << 20
SECONDS = 30
UNWINDING_SECONDS = 3  # CPU time
HOLE = 1 << 30
MEGABYTE = 1 << 20
VERBS = {
    "script": ["script", "--no-pager", "-F", "ip,sym"],
    "script --inline": ["script", "--no-pager", "--inline", "-F", "ip,sym"],
    "script json": ["script", "--format=json"],
    "report": ["report", "--no-pager", "-s", "dso,sym"],
    "report --inline": ["report", "--no-pager", "--inline", "-g", "caller"],
    "report json": ["report", "--format=json", "-s", "dso,sym"],
    "export": ["export"],
    "export pprof": ["export", "--format=pprof"],
    "flame": ["flame"],
}
LINES_VERBS = {
    "script": ["script", "--no-pager", "-F", "ip,sym,srcline"],
    "script json": ["script", "--format=json", "-F", "ip,sym,srcline"],
    "report": ["report", "--no-pager", "-s", "dso,sym,srcline"],
    "report json": ["report", "--format=json", "-s", "dso,sym,srcline"],
}
UNWINDING_VERBS = {
    "script": ["script", "--no-pager", "-F", "ip,sym"],
    "script json": ["script", "--format=json"],
    "report -g": ["report", "--no-pager", "--no-children", "-g", "caller", "-s", "dso,sym"],
    "report json": ["report", "--format=json", "-g", "caller", "-s", "dso,sym"],
    "export": ["export"],
    "export pprof": ["export", "--format=pprof"],
    "flame": ["flame"],
    "symbols": ["symbols"],
}
GRAPHS = ("script", "report -g", "export", "flame")
TRACE_VERBS = {
    "latency": ["latency"],
    "latency --by caller": ["latency", "--by", "caller"],
    "latency json": ["latency", "--format=json"],
    "latency csv": ["latency", "--format=csv"],
    "script": ["script", "--no-pager"],
    "report": ["report", "--no-pager"],
}
HAS_NAMES = ("script", "script --inline", "script json", "report", "report --inline", "report json", "export")


def good(number):
    text, symbols = b"\0", []
    for k in range(FUNCTIONS):
        symbols.append((len(text), flood_objects.BASE + EACH * k, EACH))
        text += good_name(number, k).encode() + b"\0"
    code = EACH * FUNCTIONS
    return flood_objects.elf(symbols, text, code, (flood_objects.plain_frames(code), flood_objects.xray_map(FUNCTIONS)))


def good_name(number, k):
    return "sound_%02d_%02d" % (number, k)


def sharing(count, text, step=1, extra=(), sparse=0):
    symbols = [(1 + k * step, flood_objects.BASE + EACH * k, EACH) for k in range(count)]
    return count, flood_objects.elf(symbols, b"\0" + text + b"\0", EACH * count, extra, sparse), sparse


def doubling(count):
    """Names of about 100 bytes that demangling expands to about 50 000."""
    text, symbols = b"\0", []
    for k in range(count):
        symbols.append((len(text), flood_objects.BASE + EACH * k, EACH))
        words = "1AIiiE" + "".join("S0_IS%X_S%X_E" % (n, n) for n in range(1, 11))
        text += ("_Z5f%04dI%sEvv" % (k, words)).encode() + b"\0"
    return count, flood_objects.elf(symbols, text, EACH * count, (flood_objects.xray_map(count),)), 0


def inlined(count=2000):
    """Functions with short names, whose inlined functions share one long name."""
    text, symbols = b"\0", []
    for k in range(count):
        symbols.append((len(text), flood_objects.BASE + EACH * k, EACH))
        text += b"f%d\0" % k
    return count, flood_objects.elf(symbols, text, EACH * count, flood_objects.inlined(count, b"n" * MEGABYTE + b"\0")), 0


def lined(count=200):
    """Functions with short names, and debugging information that does not fit."""
    extra = flood_objects.inlined(count, b"n\0") + (flood_objects.xray_map(count),)
    return count, flood_objects.elf(*plain_symbols(count), extra, HOLE, b".debug_str"), HOLE


def plain_symbols(count):
    text, symbols = b"\0", []
    for k in range(count):
        symbols.append((len(text), flood_objects.BASE + EACH * k, EACH))
        text += b"hostile_%04d\0" % k
    return symbols, text, EACH * count


def framed(*sections, sparse=0):
    return flood_objects.elf(*plain_symbols(HOSTILE_FUNCTIONS), sections, sparse, sections[-1][0]), sparse


# The object; whether the output is the same for every -j; the commands.
FLOODS = {
    "one text that symbols share": (lambda: sharing(1200, b"n" * MEGABYTE), True, VERBS),
    "one long name": (lambda: sharing(1, b"n" * MEGABYTE), True, VERBS),
    "a long text, read as it is asked for": (lambda: sharing(1200, b"n" * 5 * MEGABYTE), False, VERBS),
    "short texts, read as they are asked for": (lambda: sharing(20000, (b"n" * 4000 + b"\0") * 1200, 1), False, VERBS),
    "names that double": (lambda: doubling(2000), False, VERBS),
    "names of inlined functions": (inlined, False, {verb: VERBS[verb] for verb in VERBS if "--inline" in verb}),
    "a hole of names": (lambda: sharing(1200, b"name\0" * 1200, 5, sparse=HOLE), True, VERBS),
    "a hole of lines": (lined, True, LINES_VERBS),
}
# Like FLOODS, for objects to which a trace refers.
TRACES = {
    "one text that symbols share": (lambda: sharing(1200, b"n" * MEGABYTE, 1, (flood_objects.xray_map(1200),)), TRACE_VERBS),
    "names that double": (lambda: doubling(2000), TRACE_VERBS),
    "a hole of lines": (lined, {"latency --lines": ["latency", "--lines"]}),
}
HOSTILE_FUNCTIONS = 200
ROWS = 600000
WHOLE_FRAMES = flood_objects.plain_frames(EACH * HOSTILE_FUNCTIONS)
LITTLE = ("--limit", "memory=64M")
# The object; the text reported in addition to object and count (None: no stack ends); the commands; their limit.
UNWINDING = {
    "rows that need a plan each": (lambda: framed(flood_objects.many_rows(ROWS)), "limit memory", GRAPHS, ()),
    "rows of .debug_frame": (lambda: framed(flood_objects.many_rows(ROWS // 8, True)), "limit memory", GRAPHS, LITTLE),
    "a hole of tables": (lambda: framed(flood_objects.plain_frames(EACH), sparse=HOLE), "limit memory", UNWINDING_VERBS, ()),
    "common parts in turn": (lambda: framed(flood_objects.many_steps(2000)), "more work than", GRAPHS, ()),
    "a sound .eh_frame beside damaged streams":
        (lambda: framed(WHOLE_FRAMES, *flood_objects.packed_again(50, b".zdebug_frame", 40 * MEGABYTE)), None, GRAPHS, ()),
    "a sound .eh_frame beside long numbers":
        (lambda: framed(WHOLE_FRAMES, flood_objects.long_numbers(20000, 200000, True)), None, GRAPHS, ()),
    "a sound .eh_frame beside rows": (lambda: framed(WHOLE_FRAMES, flood_objects.many_rows(ROWS // 8, True)), None, GRAPHS, LITTLE),
    "a sound .eh_frame beside a hole": (lambda: framed(WHOLE_FRAMES, (b".debug_frame", b""), sparse=HOLE), None, GRAPHS, ()),
}


def write(root, path, body, size=0):
    at = root + path
    os.makedirs(os.path.dirname(at), exist_ok=True)
    with open(at, "wb") as file:
        file.write(body)
        if size:
            file.truncate(len(body) + size)


def make(root, flood):
    count, body, hole = flood()
    write(root, HOSTILE, body, hole)
    objects = [(HOSTILE, [flood_objects.BASE + EACH * k + 1 for k in range(count)])]
    for number in range(GOOD):
        path = good_path(number)
        write(root, path, good(number))
        objects.insert(number % 2 * len(objects), (path, [flood_objects.BASE + EACH * k + 1 for k in range(FUNCTIONS)]))
    with open(root + "/perf.data", "wb") as file:
        file.write(flood_objects.recording(objects, flood is inlined))
    return count + GOOD * FUNCTIONS


def good_path(number):
    return "/opt/sound/lib%02d.so" % number


def at(number, k):
    """An address in function k of the object with this number."""
    return flood_objects.place(number) + flood_objects.BASE + EACH * (k % FUNCTIONS) + 5


def stacks_of(hostile):
    """Complete stacks, and stacks that end in the hostile object, at their first or second address."""
    whole = [[at(n, k), at(n, k + 1), at((n + 1) % GOOD, k)] for n in range(GOOD) for k in range(FUNCTIONS)]
    first = [[at(hostile, k) + EACH * (k // FUNCTIONS * FUNCTIONS), at(0, k)] for k in range(HOSTILE_FUNCTIONS)]
    second = [[at(0, k), at(hostile, k), at(1, k)] for k in range(FUNCTIONS)]
    return whole, first, second


def make_copies(root, body, hole):
    paths = [good_path(n) for n in range(GOOD)] + [HOSTILE]
    write(root, HOSTILE, body, hole)
    for number in range(GOOD):
        write(root, good_path(number), good(number))
    whole, first, second = stacks_of(GOOD)
    mixed = [stack for three in zip(whole, (first + second) * 4) for stack in three]
    assert len(mixed) == 2 * len(whole) == 8 * len(first + second)
    with open(root + "/perf.data", "wb") as file:
        file.write(flood_objects.copies(paths, mixed))


def run(words, root, more=(), file="perf.data"):
    began = time.monotonic()
    done = harness.perfray(*words, *more, "--no-cache", "--symfs", root, root + "/" + file,
                           timeout=4 * SECONDS, env={"HOME": root, "PATH": os.environ["PATH"], "LC_ALL": "C"})
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"), time.monotonic() - began


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def judge(verb, samples, answer):
    status, out, messages, took = answer
    wrong = []
    if status != 4 or END_OF_PATH not in messages or "limit memory" not in messages:
        wrong.append("status %d, %s" % (status, messages.strip()[-300:]))
    if len(out) > MOST or took > SECONDS:
        wrong.append("%d bytes in %.1f s" % (len(out), took))
    if verb in HAS_NAMES:
        lost = GOOD * FUNCTIONS - len(set(re.findall(rb"sound_\d\d_\d\d", out)))
        if lost:
            wrong.append("%d sound functions are missing" % lost)
    if verb == "script" and len(re.findall(rb"(?m)^ *[0-9a-f]+ ", out)) != samples:
        wrong.append("%d samples of %d" % (len(re.findall(rb"(?m)^ *[0-9a-f]+ ", out)), samples))
    if verb == "report json":
        counted = sum(row["samples"] for row in json.loads(out)["events"][0]["rows"])
        if counted != samples:
            wrong.append("%d samples of %d" % (counted, samples))
    return wrong


def attempt(name, show):
    flood, is_one, verbs = FLOODS[name]
    wrong = []
    with harness.scratch("floods") as root:
        samples = make(root, flood)
        for verb, words in verbs.items():
            answer = run(words, root)
            wrong += ["%s: %s" % (verb, what) for what in judge(verb, samples, answer)]
            if show:
                show_answer(name, verb, answer)
            if is_one and verb.startswith(("script", "report")):
                for jobs in "123":
                    other = run(words, root, ("-j", jobs))
                    if other[:3] != answer[:3]:
                        wrong.append("%s: another answer with -j %s" % (verb, jobs))
    return wrong


def show_answer(name, verb, answer):
    print("# %s: %s: status %d, %d bytes, %.2f s, %s" % (name, verb, answer[0], len(answer[1]), answer[3],
                                                         answer[2].strip()[:300]))


# MET: number of stacks that reach the hostile object, each recorded four times. WHOLE: number of complete stacks.
MET = 4 * (HOSTILE_FUNCTIONS + FUNCTIONS)
WHOLE = GOOD * FUNCTIONS


def judge_said(limit, status, messages):
    if not limit:
        return status == 0 and END_OF_PATH not in messages
    return status == 4 and END_OF_PATH in messages and limit in messages and "%d stacks end in " % MET in messages


def judge_copies(verb, limit, answer, used):
    status, out, messages, took = answer
    wrong = []
    if used > UNWINDING_SECONDS:
        wrong.append("%.1f s of the processor" % used)
    if not judge_said(limit, status, messages):
        wrong.append("status %d, %s" % (status, messages.strip()[-300:]))
    if len(out) > MOST or took > SECONDS:
        wrong.append("%d bytes in %.1f s" % (len(out), took))
    if verb.startswith("script"):
        own = (WHOLE + 4 * FUNCTIONS, 4 * HOSTILE_FUNCTIONS) if "json" in verb else (0, 0)  # beside the chain
        wanted = 3 * WHOLE + 4 * FUNCTIONS + (0 if limit else MET) + own[0], MET + own[1]
        frames = out.count(b"sound_"), out.count(b"hostile_0")
        if frames != wanted:
            wrong.append("%d sound and %d hostile frames, not %d and %d" % (*frames, *wanted))
    if verb == "export":
        counted = sum(int(line.rsplit(b" ", 1)[1]) for line in out.splitlines())
        paths = sum(line.count(b"sound_") == 3 for line in out.splitlines())
        if (counted, paths) != (WHOLE + MET, WHOLE):
            wrong.append("%d samples, %d whole stacks" % (counted, paths))
    if verb == "report json":
        counted = sum(row["samples"] for row in json.loads(out)["events"][0]["rows"])
        if counted != WHOLE + MET:
            wrong.append("%d samples" % counted)
    if verb == "report -g" and len(set(re.findall(rb"sound_\d\d_\d\d", out))) != WHOLE:
        wrong.append("sound functions are missing")
    return wrong


def attempt_copies(name, show):
    flood, limit, verbs, more = UNWINDING[name]
    wrong = []
    with harness.scratch("floods") as root:
        make_copies(root, *flood())
        for verb in verbs:
            words = (*UNWINDING_VERBS[verb], *more)
            before = processor_seconds()
            answer = run(words, root)
            used = processor_seconds() - before
            wrong += ["%s: %s" % (verb, what) for what in judge_copies(verb, limit, answer, used)]
            if show:
                show_answer("%s, %.2f s of the processor" % (name, used), verb, answer)
            if verb in ("script", "report -g"):
                for jobs in "13":
                    other = run(words, root, ("-j", jobs))
                    if other[:3] != answer[:3]:
                        wrong.append("%s: another answer with -j %s" % (verb, jobs))
    return wrong


def make_trace(root, flood):
    """The hostile object is the fourth, so that there are sound objects before and after it."""
    count, body, hole = flood()
    maps = [root + good_path(n) for n in range(GOOD)]
    for number in range(GOOD):
        write(root, good_path(number), good(number))
    write(root, HOSTILE, body, hole)
    maps.insert(3, root + HOSTILE)
    ids = [number << 24 | k + 1 for number in range(GOOD + 1) for k in range(count if number == 3 else FUNCTIONS)]
    with open(root + "/trace.xray", "wb") as file:
        file.write(flood_objects.xray_log(ids))
    return [word for path in maps for word in ("-m", path)], len(ids)


def judge_trace(verb, calls, answer):
    status, out, messages, took = answer
    wrong = []
    if status != 4 or END_OF_PATH not in messages or "limit memory" not in messages:
        wrong.append("status %d, %s" % (status, messages.strip()[-300:]))
    if len(out) > MOST or took > SECONDS:
        wrong.append("%d bytes in %.1f s" % (len(out), took))
    lost = GOOD * FUNCTIONS - len(set(re.findall(rb"sound_\d\d_\d\d", out)))
    if lost:
        wrong.append("%d sound functions are missing" % lost)
    if verb == "latency json":
        counted = sum(row["count"] for row in json.loads(out)["rows"])
        if counted != calls:
            wrong.append("%d calls of %d" % (counted, calls))
    return wrong


def attempt_trace(name, show):
    flood, verbs = TRACES[name]
    wrong = []
    with harness.scratch("floods") as root:
        maps, calls = make_trace(root, flood)
        for verb, words in verbs.items():
            answer = run(words, root, maps, "trace.xray")
            wrong += ["%s: %s" % (verb, what) for what in judge_trace(verb, calls, answer)]
            if show:
                show_answer("trace: " + name, verb, answer)
    return wrong


def attempts(show):
    for prefix, floods, how in (("", FLOODS, attempt), ("unwinding: ", UNWINDING, attempt_copies),
                                ("trace: ", TRACES, attempt_trace)):
        for name in floods:
            yield prefix + name, lambda: how(name, show)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    for name, how in attempts(options.show):
        if options.names and name not in options.names:
            continue
        harness.result("hostile/floods " + name, how())
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
