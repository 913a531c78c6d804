#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_recorded.py - tests traces of programs that log their own calls, recorded by the test with the installed clang.

usage: run_recorded.py [--keep DIR] [WORD...]

The programs of tests/oracle/xray/programs are built and run with XRay's flight recorder, with its default buffers and with small ones, and with its basic
log. perfray must print what each thread logged:

script   every call, exit, argument and event by name, in the order of the thread; as text, JSON and llvm-xray's YAML
report   the number of finished calls of each function
latency  the number of finished and unfinished calls of each function, also by thread and by caller
dump     the number of entries and exits of each function, by name
llvm     YAML identical to that of llvm-xray, if it is installed
maps     the same names from the object, from a map that names it, and for a shared object, which is not the first object

payloads YAML of events with all kinds of bytes, identical to llvm-xray's

Each test runs with every installed clang that has XRay's runtime (19, 14). If none is installed, it is skipped by name. PERFRAY is the command.
"""
import argparse
import collections
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
from compare_yaml import in_any_order_of_equal_times

PROGRAMS = Path(__file__).resolve().parent / "programs"
CLANGS = ("19", "14")
BUILDS = {
    "threads": ("clang", ["traced_threads.c"], ["-O1"]),
    "shapes": ("clang++", ["traced_shapes.cpp"], ["-O1"]),
    "events": ("clang", ["traced_events.c"], ["-O0"]),
    "host": ("clang", ["traced_host.c"], ["-O1"]),
}
SHARED = {"plug_in": ["traced_plug_in.c"], "threads": ["traced_threads.c"]}
WAYS = {
    "fdr": ("xray-fdr", "func_duration_threshold_us=0 buffer_size=65536 buffer_max=200"),
    "fdr-small": ("xray-fdr", "func_duration_threshold_us=0 buffer_size=512 buffer_max=8000"),
    "basic": ("xray-basic", "func_duration_threshold_us=0 max_stack_depth=512"),
}
SIGNS = {"enter": "+", "exit": "-", "custom-event": "!"}


def check(name, ours, theirs):
    harness.result("xray_recorded/" + name, harness.first_difference(theirs, ours))


def has_xray(clang):
    """Whether this clang and its runtime are installed; the path of the runtime differs between versions."""
    program = shutil.which("clang-" + clang)
    if not program:
        return False
    folder = subprocess.run([program, "-print-resource-dir"], capture_output=True, text=True, check=True).stdout.strip()
    return any(Path(folder).glob("lib/**/*xray-fdr*"))


def build(clang, folder):
    tool = {"clang": "clang-" + clang, "clang++": "clang++-" + clang}
    for name, sources in SHARED.items():
        subprocess.run([tool["clang"], "-O1", "-g", "-fPIC", "-shared", "-fxray-instrument", "-pthread", "-o",
                        folder / (name + ".so")] + [PROGRAMS / s for s in sources], check=True)
    for name, (compiler, sources, flags) in BUILDS.items():
        extra = [folder / "plug_in.so", "-Wl,-rpath,%s" % folder] if name == "host" else []
        subprocess.run([tool[compiler], "-g", "-pthread", "-fxray-instrument", "-o", folder / name] + flags
                       + [PROGRAMS / s for s in sources] + extra, check=True)


def record(folder, name, way):
    """Returns (path of the trace, log of each thread)."""
    mode, options = WAYS[way]
    base = folder / ("%s.%s." % (name, way))
    environment = dict(os.environ, XR_MODE=mode, XR_OPTIONS=options, XRAY_OPTIONS="xray_logfile_base=%s" % base)
    done = subprocess.run([folder / name], env=environment, capture_output=True, text=True, timeout=120, check=True)
    if "the trace" in done.stderr:
        raise RuntimeError(done.stderr)
    traces = list(folder.glob(base.name + "*"))
    if len(traces) != 1:
        raise RuntimeError("%s left %d traces: %s" % (base.name, len(traces), done.stderr))
    said = collections.defaultdict(list)
    for line in done.stdout.splitlines():
        tid, what = line.split(" ", 1)
        if way != "basic" or what[0] != "!":  # a basic-mode log has no events
            said[int(tid)].append(what)
    return traces[0], dict(said)


def perfray(*arguments):
    done = harness.perfray(*map(str, arguments))
    if done.returncode != 0 or done.stderr:
        raise RuntimeError("%s: %d: %s" % (arguments, done.returncode, done.stderr.decode()))
    return done.stdout.decode()


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def of_json(trace, maps):
    """Returns (threads, whether times never decrease)."""
    threads, last, ordered = collections.defaultdict(list), 0, True
    for line in perfray("script", "--format=json", *maps, trace).splitlines()[1:]:
        event = json.loads(line)
        what = SIGNS[event["type"]]
        if what == "!":
            what += bytes.fromhex(event["data"]).decode()
        else:
            what += event.get("sym", "#%d" % event["function"])
        if "arguments" in event:
            what += "(%s)" % ", ".join(str(signed(value)) for value in event["arguments"])
        threads[event["tid"]].append(what)
        ordered = ordered and event["tsc"] >= last
        last = event["tsc"]
    return dict(threads), ordered


TEXT = re.compile(r" *(?:\d+/)?(\d+) +\[\d+\] +[0-9.]+: (enter|exit|custom-event) +(.*)$")


def of_text(trace, maps):
    threads = collections.defaultdict(list)
    for line in perfray("script", *maps, trace).splitlines():
        tid, kind, rest = TEXT.match(line).groups()
        if kind == "custom-event":
            rest = re.match(r'\d+ bytes? "(.*)"$', rest)[1]
        threads[int(tid)].append(SIGNS[kind] + rest.replace(" (", "("))
    return dict(threads)


YAML = re.compile(r"  - \{ .*function: (?P<name>'.*?'|[^,]*), (?:args: \[ (?P<args>.*?) \], )?cpu: .*thread: (?P<tid>\d+), .*"
                  r"kind: (?P<kind>[a-z-]+), tsc: \d+, data: (?P<data>.*) \}$")
YAML_SIGNS = {"function-enter": "+", "function-enter-arg": "+", "function-exit": "-", "custom-event": "!"}


def without_parameters(name):
    """Turns 'long shapes::twice<long>(long)' into shapes::twice<long>: the name of a template function begins with its result type."""
    name = name.strip("'").split("(")[0]
    return name.split(" ")[-1]


def of_yaml(trace, maps):
    threads = collections.defaultdict(list)
    for line in perfray("script", "--format=llvm-yaml", *maps, trace).splitlines()[8:-1]:
        match = YAML.match(line)
        sign = YAML_SIGNS[match["kind"]]
        what = sign + (match["data"].strip("'") if sign == "!" else without_parameters(match["name"]))
        if match["args"]:
            what += "(%s)" % ", ".join(str(signed(int(value))) for value in match["args"].split(", "))
        threads[int(match["tid"])].append(what)
    return dict(threads)


def counts_of_dump(trace, maps):
    counts = collections.Counter()
    for line in perfray("dump", "--format=jsonl", "--only=fdr_function,basic_function", *maps, trace).splitlines():
        fields = json.loads(line)["fields"]
        counts["+-~+"[fields["action"]] + fields.get("symbol", "?")] += 1
    return counts


def counts_of_report(trace, maps):
    """The finished calls of each function; unfinished calls are reported on standard error."""
    done = subprocess.run([harness.PERFRAY, "report", "-n", "--no-children", "-g", "none", "--format=json",
                           *map(str, maps), str(trace)], stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
                          check=True)
    rows = json.loads(done.stdout)["events"][0]["rows"]
    return {row["sym"].replace("[.] ", ""): row["samples"] for row in rows}


def counts_of_latency(trace, maps, by):
    """The (finished, open) calls of each row: by function, or with the thread or the caller before it."""
    document = json.loads(perfray("latency", "--by", by, "--format=json", *maps, trace))
    heads = {"function": lambda row: (), "thread": lambda row: (row["tid"],), "caller": lambda row: (row["caller"],)}
    return {heads[by](row) + (row["function"],): (row["count"], row["open"]) for row in document["rows"]}


def calls_of(said, by):
    """Counts like counts_of_latency, from the logs of the threads: an exit ends the innermost call of its function, and the calls above it stay open."""
    counts = collections.defaultdict(lambda: [0, 0])
    for tid, steps in said.items():
        stack = []

        def end(finished):
            name = stack.pop()
            head = {"function": (), "thread": (tid,), "caller": (stack[-1] if stack else None,)}[by]
            counts[head + (name,)][0 if finished else 1] += 1
        for what in steps:
            name = re.sub(r"\(-?\d+\)$", "", what[1:])
            if what[0] == "+":
                stack.append(name)
            elif what[0] == "-":
                while stack[-1] != name:
                    end(False)
                end(True)
        while stack:
            end(False)
    return {key: tuple(count) for key, count in counts.items()}


def finished_of(said):
    return dict(collections.Counter(what[1:] for steps in said.values() for what in steps if what[0] == "-"))


def counts_of(said):
    return collections.Counter(re.sub(r"\(-?\d+\)$", "", what) for steps in said.values() for what in steps if what[0] != "!")


def check_trace(name, trace, said, maps):
    threads, ordered = of_json(trace, maps)
    check(name + "/json", threads, said)
    check(name + "/order", ordered, True)
    check(name + "/text", of_text(trace, maps), said)
    check(name + "/yaml", of_yaml(trace, maps), said)
    check(name + "/report", counts_of_report(trace, maps), finished_of(said))
    for by in ("function", "thread", "caller"):
        check(name + "/latency by " + by, counts_of_latency(trace, maps, by), calls_of(said, by))
    check(name + "/dump", counts_of_dump(trace, maps), counts_of(said))


def check_llvm(name, trace, program):
    """The output of llvm-xray for the trace, if it is installed. It prints events of different threads at the same time in any order."""
    tool = shutil.which("llvm-xray-19") or shutil.which("llvm-xray-14")
    if not tool:
        harness.skip("xray_recorded/%s/llvm-xray" % name, "llvm-xray is not installed")
        return
    done = subprocess.run([tool, "convert", "-f", "yaml", "-y", "-m", program, trace], capture_output=True, check=True,
                          timeout=120)
    ours = perfray("script", "--format=llvm-yaml", "--raw-names", "-m", program, trace).encode()
    check(name + "/llvm-xray", in_any_order_of_equal_times(ours).split(b"\n"),
                in_any_order_of_equal_times(done.stdout).split(b"\n"))


def payloads():
    """Texts with a special meaning in YAML, and bytes of all kinds; of the characters only those that all versions print."""
    chance = random.Random(1)
    marks = b"0123456789.eE+-xoabfnit ,:'\"\\#[]{}&*!|>%@`~?/=_^\t\n\x7f\x00"
    for length in (1, 2, 3, 5, 8):
        for _ in range(600):
            yield bytes(chance.choice(marks) for _ in range(length))
            yield bytes(chance.choice(b"0123456789.eE+-xo") for _ in range(length))
            yield bytes(chance.randrange(0x80) for _ in range(length)) + bytes([chance.choice((0xff, 0xc0, 0x80, 0xe2))])
            yield "".join(chr(chance.choice((0x41, 0xe9, 0x3b1, 0x4e2d, 0x1f600, 0x85, 0xa0, 0x2028, 0xfeff)))
                          for _ in range(length)).encode()
    yield from (b"null", b"Null", b"NULL", b"~", b"true", b"True", b"FALSE", b"yes", b".inf", b"-.Inf", b"+.INF", b".nan",
                b".NAN", b"0o17", b"0o8", b"0x1F", b"0xg", b"1e+5", b".e5", b"-", b"+", b".", b"it's", b"''")


def check_payloads(folder):
    """One thread logs all of these: they must be quoted as by llvm-xray, byte for byte."""
    tool = shutil.which("llvm-xray-19") or shutil.which("llvm-xray-14")
    if not tool:
        harness.skip("xray_recorded/payloads", "llvm-xray is not installed")
        return

    def metadata(kind, form, *values):
        return (bytes([kind << 1 | 1]) + struct.pack("<" + form, *values)).ljust(16, b"\0")
    body = metadata(0, "i", 1) + metadata(4, "qi", 1, 0) + metadata(9, "i", 1) + metadata(2, "HQ", 0, 1000)
    body += b"".join(metadata(5, "ii", len(data), 1) + data for data in payloads())
    trace = folder / "payloads.fdr"
    trace.write_bytes(struct.pack("<HHIQQQ", 5, 1, 3, 10**9, 4096, 0) + metadata(7, "Q", len(body)) + body)
    theirs = subprocess.run([tool, "convert", "-f", "yaml", trace], capture_output=True, check=True, timeout=120).stdout
    ours = subprocess.run([harness.PERFRAY, "script", "--format=llvm-yaml", "--raw-names", trace],
                          capture_output=True, check=True, timeout=120).stdout
    check("payloads", ours.split(b"\n"), theirs.split(b"\n"))


def extract(folder, name):
    """A map as llvm-xray writes it."""
    tool = shutil.which("llvm-xray-19") or shutil.which("llvm-xray-14")
    if not tool:
        return None
    path = folder / (name + ".yaml")
    subprocess.run([tool, "extract", "-s", "-o", path, folder / name], check=True)
    return path


def as_second_object(trace):
    """The same flight-recorder trace (little-endian) with all functions in object 1."""
    data, at = bytearray(trace.read_bytes()), 32
    while at < len(data):
        if data[at] & 1:
            kind = data[at] >> 1
            at += 16 + (struct.unpack_from("<i", data, at + 1)[0] if kind in (5, 8) else 0)
            continue
        word = struct.unpack_from("<I", data, at)[0]
        struct.pack_into("<I", data, at, (word & 15) | (word >> 4 | 1 << 24) << 4)
        at += 8
    path = trace.with_suffix(".second")
    path.write_bytes(data)
    return path


def check_maps(clang, folder, trace, said):
    """Names from a YAML map; and names from a shared object that has the same functions in the same order."""
    yaml = extract(folder, "threads")
    if yaml:
        entries = of_json(trace, ["-m", yaml])[0]
        check("clang-%s/map/yaml" % clang, entries, said)
    second = as_second_object(trace)
    check("clang-%s/map/shared" % clang,
                of_json(second, ["-m", folder / "events", "-m", folder / "threads.so"])[0], said)
    numbered = {tid: [what[0] + "#1" for what in steps] for tid, steps in said.items()}
    text = perfray("script", second)
    check("clang-%s/map/none" % clang, sorted(set(re.findall(r"#\d+:", text))), ["#1:"] if numbered else [])
    chosen = perfray("script", "-m", folder / "threads", "--symbols=fib", "--tid=%d" % min(said), trace).splitlines()
    check("clang-%s/filter" % clang, len(chosen), sum(what[1:] == "fib" for what in said[min(said)]))


def check_clang(clang, folder, words):
    build(clang, folder)
    for name in BUILDS:
        for way in WAYS:
            label = "clang-%s/%s/%s" % (clang, name, way)
            if words and not any(word in label for word in words):
                continue
            trace, said = record(folder, name, way)
            objects = ["-m", folder / name] + (["-m", folder / "plug_in.so"] if name == "host" else [])
            check_trace(label, trace, said, objects)
            check_llvm(label, trace, folder / name)
            if (name, way) == ("threads", "fdr"):
                check_maps(clang, folder, trace, said)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--keep", help="work in this folder, and leave it")
    parser.add_argument("words", nargs="*", help="only what has one of these words in its name")
    options = parser.parse_args()
    with harness.scratch("xray") as made:
        check_payloads(Path(made))
    for clang in CLANGS:
        if not has_xray(clang):
            harness.skip("xray_recorded/clang-%s" % clang, "clang-%s with XRay's runtime is not installed" % clang)
            continue
        with harness.scratch("xray") as made:
            folder = Path(options.keep or made) / ("clang-" + clang)
            folder.mkdir(parents=True)
            check_clang(clang, folder, options.words)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
