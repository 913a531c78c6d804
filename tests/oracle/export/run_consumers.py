#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_consumers.py - checks that programs that read folded stacks and pprof find the same data in perfray's exports as perf script shows.

usage: run_consumers.py [--speedscope DIR] [NAME...]

Environment: PERFRAY, the command; PERFRAY_SPEEDSCOPE or --speedscope, the folder of the npm package speedscope. Recordings are made by the installed perf in
a temporary folder.

    folded      the same stacks and counts, and the same stacks and periods, as the output of perfray script folded by tests/oracle/script/stackcollapse.py;
                that output equals perf's except for listed rules
    pprof       `go tool pprof` reads the same stacks, counts and periods as folded has; each address is inside its mapping, and the totals of -top and
                -traces are right
    protoc      decodes the file with pprof.proto: texts are UTF-8, every id refers to an existing entry, no value is lost
    speedscope  the importer finds the same stacks and totals in both formats
"""
import argparse
import glob
import gzip
import json
import os
import re
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
import fresh  # noqa: E402
import stackcollapse  # noqa: E402
from fresh import Skip, Wrong  # noqa: E402

CLOCK = ("-e", "cpu-clock", "-F", "3999", "-g")
BUSY = ("./busy", "60")
RECORDINGS = {
    "chains": (CLOCK, BUSY),
    "all_cpus": ((*CLOCK, "-a"), BUSY),
    "flat": (CLOCK[:-1], BUSY),
    "cxx": (CLOCK, ("./shapes",)),
    "storm": (CLOCK, ("./storm", "60")),
    "period": (("-e", "cpu-clock", "-c", "300000", "-g"), BUSY),
    "made_code": (CLOCK, ("node", "-e", "let sum = 0; for (let i = 0; i < 3e7; i++) sum += i % 7")),
}
SAMPLE = re.compile(r"^\s+((?:-?\d+\s+)*-?\d+): ((?:\d+ )*)\s*$")
LOCATION = re.compile(r"^\s+(\d+): (0x[0-9a-f]+) (?:M=(\d+) )?(?:(.*) :\d+(?::\d+)? s=\d+(?:\(.*\))?)?\s*$")
MAPPING = re.compile(r"^(\d+): (0x[0-9a-f]+)/(0x[0-9a-f]+)/(0x[0-9a-f]+) (.*) ([0-9a-f]*) (?:\[\w+\])?\s*$")


def make(folder, options, words):
    fresh.build(folder, "busy_loops.c", "busy", "-O1", "-g", "-fno-omit-frame-pointer")
    if words[0] == "node":
        fresh.need("node")
    if words[0] == "./storm":
        fresh.build(folder, "storm.c", "storm", "-O1", "-pthread")
    if words[0] == "./shapes":
        fresh.build(folder, "shapes.cpp", "shapes", "-O1", "-fno-omit-frame-pointer",
                    compiler=fresh.first_of("g++", "clang++-14", "c++"))
    fresh.record(folder, "perf.data", options, words)


def export(folder, *options):
    done = fresh.run([harness.PERFRAY, "export", *options, "perf.data"], folder)
    if done.returncode != 0:
        raise Wrong("perfray export %s: status %d, %s" % (" ".join(options), done.returncode, fresh.last_line(done)))
    return done.stdout


def folded(folder, *options):
    """{stack: count}; each stack must occur once."""
    stacks = {}
    for line in export(folder, "--raw-names", *options).decode("utf-8", "surrogateescape").splitlines():
        stack, count = line.rsplit(" ", 1)
        if stack in stacks:
            raise Wrong("twice: %s" % stack)
        stacks[stack] = int(count)
    return stacks


def compare(expected, found, what, later=None):
    """Each stack has the expected count. LATER: the counts expected after FOUND was made; each count may then lie between the two expected counts."""
    ends = (expected, expected if later is None else later)
    wrong = sorted(stack for stack in expected.keys() | found.keys() | ends[1].keys()
                   if not min(end.get(stack, 0) for end in ends) <= found.get(stack, 0) <= max(end.get(stack, 0) for end in ends))
    if wrong:
        raise Wrong("%s: %d stacks differ; %s here, %s there: %s" % (what, len(wrong), found.get(wrong[0]),
                                                                      expected.get(wrong[0]), nearest(wrong)))


def nearest(wrong):
    """The first stack of WRONG, and the stack that shares most frames with this stack; both are printed from the first difference on."""
    frames = wrong[0].split(";")
    others = [stack.split(";") for stack in wrong[1:]]
    shared = [next((at for at, pair in enumerate(zip(frames, other)) if pair[0] != pair[1]), min(len(frames), len(other)))
              for other in others]
    if not others:
        return wrong[0][-300:]
    at = max(shared)
    return "%s [%d frames are the same] %s | %s" % (wrong[0][:100], at, ";".join(frames[at:])[:200],
                                                    ";".join(others[shared.index(at)][at:])[:200])


def fold(text, by_period):
    """Generated code without names: exports name its memory as report does, perf script by the file of the perf map."""
    stacks = Counter()
    for comm, _, period, frames in stackcollapse.samples(text):
        made = [re.sub(r"^\[perf-(\d+)\.map\]$", r"[JIT] tid \1", frame) for frame in reversed(frames)]
        stacks[";".join([comm.replace(";", ":"), *made])] += period if by_period else 1
    return stacks


def check_folded(folder, options, words):
    make(folder, options, words)
    result, theirs = fresh.compare_scripts(folder, "perf.data")
    ours = result.ours
    try:
        compare(fold(theirs, False), fold(fresh.without_listed(theirs, ours), False), "script")
        for by_period in (False, True):
            expected = fold(ours, by_period)
            if not expected:
                raise Skip("nothing was recorded")
            found = folded(folder, "--weight=" + ("period" if by_period else "samples"))
            later = fold(fresh.our_script(folder, "perf.data"), by_period) if "-a" in options else None
            compare_with_text(expected, found, later)
    except stackcollapse.NotUnderstood as line:
        raise Wrong("not in the grammar: %s" % line) from line
    return "%d stacks, %d samples" % (len(expected), sum(fold(ours, False).values()))


def compare_with_text(expected, found, later):
    """LATER, for a recording of the whole system: the text printed after the export. Between the two texts, other users may delete programs or write perf
    maps of generated code."""
    expected, _ = without_bare(expected, found)
    if later is None:
        compare(expected, found, "export")
        return
    later, _ = without_bare(later, found)
    compare(without_names(expected), without_names(found), "export", without_names(later))


def without_bare(expected, found):
    """A sample with an empty chain has no frame in the text of perf script, but has its address in exports. If more samples than expected are found, the
    additional ones must be such samples, at most as many of each name as there are."""
    bare = Counter({stack: count for stack, count in expected.items() if ";" not in stack})
    for stack, count in found.items():
        more = count - expected.get(stack, 0)
        if 0 < more <= bare[stack.split(";")[0]]:
            bare[stack.split(";")[0]] -= more
            expected[stack] += more
    for stack in [stack for stack in expected if ";" not in stack]:
        expected[stack] = bare[stack]
    return Counter({stack: count for stack, count in expected.items() if count}), found


def without_names(stacks):
    """For recordings of the whole system: profiles use the first COMM of a thread also for its samples before that record; script shows the name known at
    the time of the sample."""
    merged = Counter()
    for stack, count in stacks.items():
        merged[stack.partition(";")[2]] += count
    return merged


class Raw:
    """The output of `go tool pprof -raw`."""

    def __init__(self, text):
        self.samples, self.locations, self.mappings, self.head = [], {}, {}, []
        part, labels = "head", None
        for line in text.splitlines():
            if line in ("Samples:", "Locations", "Mappings"):
                part = line.rstrip(":")
            elif part == "head":
                self.head.append(line)
            elif part == "Samples":
                found = SAMPLE.match(line)
                if found:
                    labels = {}
                    self.samples.append(([int(word) for word in found[1].split()], [int(word) for word in found[2].split()],
                                         labels))
                elif labels is not None:
                    labels.update(re.findall(r"(\w+):\[([^\]]*)\]", line))
            elif part == "Locations":
                found = LOCATION.match(line)
                if not found:
                    raise Wrong("no location: %s" % line)
                self.locations[int(found[1])] = (int(found[2], 16), int(found[3] or 0), found[4])
            elif part == "Mappings" and line:
                found = MAPPING.match(line)
                if not found:
                    raise Wrong("no mapping: %s" % line)
                self.mappings[int(found[1])] = (int(found[2], 16), int(found[3], 16), found[5])

    def name(self, number):
        _, mapping, function = self.locations[number]
        if function:
            return function.replace(";", ":")
        if not mapping:
            return "[unknown]"
        return "[%s]" % plain_object(os.path.basename(self.mappings[mapping][2]))


def plain_object(name):
    """A name in the form that folded stacks and mappings share."""
    name = re.sub(r"^perf-\d+\.map$", "anon", name.strip("[]"))
    return re.sub(r"\s*(\(deleted\))?$", "", name.split("]")[0])  # go tool pprof takes text in parentheses for parameters


def plain_stack(stack):
    return ";".join("[%s]" % plain_object(part) if part.startswith("[") else part for part in stack.split(";"))


def pprof(folder, *words):
    fresh.need("go")
    done = fresh.run(["go", "tool", "pprof", *words, "made.pb.gz"], folder)
    if done.returncode != 0:
        raise Wrong("go tool pprof %s: %s" % (" ".join(words), fresh.last_line(done)))
    return done.stdout.decode("utf-8", "surrogateescape")


def write_pprof(folder):
    export(folder, "--format=pprof", "-o", os.path.join(folder, "made.pb.gz"))


def raw_stacks(raw, value):
    stacks = Counter()
    for values, places, labels in raw.samples:
        stacks[plain_stack(";".join([labels["comm"], *(raw.name(number) for number in reversed(places))]))] += values[value]
    return stacks


def plain_folded(folder, *options):
    stacks = Counter()
    for stack, count in folded(folder, *options).items():
        stacks[plain_stack(stack)] += count
    return stacks


def check_totals(folder, total):
    shown = re.search(r"of (\d+) total", pprof(folder, "-top", "-sample_index=samples", "-nodefraction=0", "-nodecount=9999"))
    if not shown or int(shown[1]) != total:
        raise Wrong("-top: %s of %d samples" % (shown and shown[1], total))
    traces = re.findall(r"^\s+(\d+)   \S", pprof(folder, "-traces", "-sample_index=samples"), re.M)
    if sum(map(int, traces)) != total:
        raise Wrong("-traces: %d of %d samples" % (sum(map(int, traces)), total))


def has_labels(labels):
    """pprof has no labels with the number 0, so the idle thread has no pid and tid labels."""
    return {"pid", "tid", "comm"} <= labels.keys() or labels.get("comm") == "swapper"


def check_pprof(folder, options, words):
    fresh.need("go")
    make(folder, options, words)
    both = lambda: (plain_folded(folder), plain_folded(folder, "--weight=period"))
    expected = both()
    write_pprof(folder)
    later = both() if "-a" in options else (None, None)  # see compare_with_text
    raw = Raw(pprof(folder, "-raw"))
    by_samples = expected[0]
    for at, what in enumerate(("samples", "periods")):
        compare(expected[at], raw_stacks(raw, at), what, later[at])
    for number, (address, mapping, _) in raw.locations.items():
        if mapping and not raw.mappings[mapping][0] <= address < raw.mappings[mapping][1]:
            raise Wrong("location %d is outside of its mapping" % number)
    if not all(has_labels(labels) and len(places) for _, places, labels in raw.samples):
        raise Wrong("a sample without labels or locations")
    check_totals(folder, sum(by_samples.values()))
    return "%d samples, %d locations, %d mappings" % (sum(by_samples.values()), len(raw.locations), len(raw.mappings))


def decoded(text):
    """protoc's text of a message as {field: [value, ...]}; a message is such a dict."""
    stack = [{}]
    for line in text.splitlines():
        line = line.strip()
        if line.endswith("{"):
            inner = {}
            stack[-1].setdefault(line[:-1].strip(), []).append(inner)
            stack.append(inner)
        elif line == "}":
            stack.pop()
        else:
            name, value = line.split(": ", 1)
            stack[-1].setdefault(name, []).append(value if value.startswith('"') else int(value) if value[-1].isdigit() else value)
    return stack[0]


def numbers(messages):
    found = [message["id"][0] for message in messages]
    if 0 in found or len(set(found)) != len(found):
        raise Wrong("numbers are not different: %s" % found[:10])
    return set(found)


def check_protoc(folder, options, words):
    fresh.need("protoc")
    make(folder, options, words)
    write_pprof(folder)
    with gzip.open(os.path.join(folder, "made.pb.gz")) as packed, open(os.path.join(folder, "made.pb"), "wb") as file:
        file.write(packed.read())
    with open(os.path.join(folder, "made.pb"), "rb") as file:
        done = fresh.run(["protoc", "--decode=Whole", "-I", HERE, "pprof.proto"], folder, stdin=file)
    if done.returncode != 0 or done.stderr:
        raise Wrong("protoc: %s" % fresh.last_line(done))
    whole = decoded(done.stdout.decode("utf-8"))
    if re.search(rb"^\s*\d+[:{ ]", done.stdout, re.M):
        raise Wrong("a field that has no name")
    places, calls, maps = (numbers(whole.get(name, [])) for name in ("place", "call", "map"))
    for place in whole["place"]:
        if place.get("map", [0])[0] not in maps | {0} or any(row["function"][0] not in calls for row in place.get("row", [])):
            raise Wrong("a location names what is not there: %s" % place)
    texts = len(whole["text"])
    if whole["text"][0] != '""' or any(call["name"][0] >= texts for call in whole["call"]):
        raise Wrong("texts are not as they should be")
    for one in whole["one"]:
        if len(one["value"]) != len(whole["kind"]) or not set(one["location"]) <= places:
            raise Wrong("a sample names what is not there: %s" % one)
    total = sum(folded(folder).values())
    if sum(one["value"][0] for one in whole["one"]) != total:
        raise Wrong("%d samples are there" % total)
    return "%d samples, %d texts" % (total, texts)


def check_system_names(folder):
    """A function has a demangled name and the name in the object file: c++filt makes the demangled name from the other."""
    fresh.need("protoc", "c++filt")
    make(folder, *RECORDINGS["cxx"])
    write_pprof(folder)
    with gzip.open(os.path.join(folder, "made.pb.gz")) as packed, open(os.path.join(folder, "made.pb"), "wb") as file:
        file.write(packed.read())
    with open(os.path.join(folder, "made.pb"), "rb") as file:
        whole = decoded(fresh.run(["protoc", "--decode=Whole", "-I", HERE, "pprof.proto"], folder, stdin=file).stdout.decode("utf-8"))
    texts = [json.loads(text) for text in whole["text"]]
    names = {texts[call["system_name"][0]]: texts[call["name"][0]] for call in whole["call"]}
    mangled = {name: shown for name, shown in names.items() if name != shown}
    if not any(name.startswith("_Z") for name in mangled):
        raise Wrong("no name is mangled: %s" % names)
    plain = fresh.run(["c++filt", "-p", "-i", "--", *mangled], folder).stdout.decode("utf-8").splitlines()
    # c++filt leaves out "@plt" in some versions.
    wrong = [pair for pair in zip(mangled.items(), plain) if pair[0][1].removesuffix("@plt") != pair[1].removesuffix("@plt")]
    if wrong:
        raise Wrong("not the same function: %s" % wrong[:3])
    return "%d functions, %d of them mangled" % (len(names), len(mangled))


def find_bundle(given):
    for folder in (given, os.environ.get("PERFRAY_SPEEDSCOPE")):
        found = sorted(glob.glob(os.path.join(folder, "dist", "release", "speedscope-*.js"))) if folder else []
        if found:
            return found[0]
    raise Skip("the npm package speedscope is not installed")


def profile_stacks(group):
    stacks, names = Counter(), [frame["name"] for frame in group["shared"]["frames"]]
    for profile in group["profiles"]:
        for sample, weight in zip(profile.get("samples", []), profile.get("weights", [])):
            stacks[";".join(names[frame] for frame in sample)] += weight
        opened, at = [], profile.get("startValue", 0)
        for event in profile.get("events", []):
            if event["at"] > at:
                stacks[";".join(opened)] += event["at"] - at  # without a frame if no address of the stack has a name
            at = event["at"]
            if event["type"] == "O":
                opened.append(names[event["frame"]])
            else:
                opened.pop()
        if profile.get("endValue", at) > at:
            stacks[";".join(opened)] += profile["endValue"] - at
    return stacks


def check_speedscope(folder, options, words, package):
    fresh.need("node")
    bundle = find_bundle(package)
    make(folder, options, words)
    write_pprof(folder)
    with open(os.path.join(folder, "made.folded"), "wb") as file:
        file.write(export(folder))
    done = fresh.run(["node", os.path.join(fresh.HERE, "speedscope_import.js"), bundle, "made.folded", "made.pb.gz"], folder)
    if done.returncode != 0:
        raise Wrong("the importer stopped: %s" % done.stderr.decode("utf-8", "replace")[:300])
    of_folded, of_pprof = (json.loads(line) for line in done.stdout.decode("utf-8").splitlines())
    compare(folded(folder), profile_stacks(of_folded), "folded")
    total, period = sum(profile_stacks(of_pprof).values()), sum(folded(folder, "--weight=period").values())
    if total != period:
        raise Wrong("pprof: %s of %s" % (total, period))
    return "%d stacks, periods %d" % (len(profile_stacks(of_folded)), period)


def of_a_whole_system(check, folder):
    """Programs of other users, and thus their symbols, may disappear between two commands. In this case the recording is repeated, at most twice."""
    for again in (True, True, False):
        try:
            return check(folder)
        except Wrong:
            if not again:
                raise


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--speedscope", metavar="DIR", help="the folder of the npm package")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args(arguments)
    package = options.speedscope and os.path.abspath(options.speedscope)
    checks = {"system_names": check_system_names}
    for name, row in RECORDINGS.items():
        checks["folded_" + name] = lambda folder, row=row: check_folded(folder, *row)
        checks["pprof_" + name] = lambda folder, row=row: check_pprof(folder, *row)
    for name in ("chains", "cxx", "all_cpus"):
        checks["protoc_" + name] = lambda folder, row=RECORDINGS[name]: check_protoc(folder, *row)
        checks["speedscope_" + name] = lambda folder, row=RECORDINGS[name]: check_speedscope(folder, *row, package)
    for name in checks:
        if name.endswith("_all_cpus"):
            checks[name] = lambda folder, check=checks[name]: of_a_whole_system(check, folder)
    return fresh.attempt_all("export/consumers", checks, options.names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
