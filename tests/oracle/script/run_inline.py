#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_inline.py - compares the inlined functions of script and report with llvm-symbolizer in new recordings.

usage: run_inline.py [NAME...]

Environment: PERFRAY, the command. Programs are built from tests/oracle/script/programs in a temporary folder and recorded by the installed
perf. (perf 6.1 shows no inlined functions without libbfd, so it is no oracle here.) Requirements:

    script    the chain printed with --inline, without its lines "(inlined)", is the chain printed without the option; for
              each address of the program, the functions from the first inlined function on, and their lines, are those
              of `llvm-symbolizer --inlines`
    json      the member `inlined` of each location has the same functions
    report    the weight of a function with its callees (--children) is the weight of the samples that have it in their chain in script; the
              weight of the functions themselves is the same with and without the option
"""
import json
import os
import re
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
import fresh
from fresh import Wrong

CXX, C = ("g++", "c++"), ("gcc", "cc")
RECORD = ("-e", "cpu-clock", "-F", "999", "-g")
LEAST = 50
PROGRAMS = {
    "c": ("inlined.c", C, ("-g", "-O2", "-fno-omit-frame-pointer")),
    "c_fixed": ("inlined.c", C, ("-g", "-O1", "-no-pie", "-fno-omit-frame-pointer")),
    "c_dwarf4": ("inlined.c", C, ("-gdwarf-4", "-O2", "-fno-omit-frame-pointer")),
    "c_clang": ("inlined.c", ("clang-14",), ("-g", "-O2", "-fno-omit-frame-pointer")),
    "cxx": ("shapes.cpp", CXX, ("-g", "-O3", "-fno-omit-frame-pointer")),
}
FRAME = re.compile(r"^\t *([0-9a-f]+) (.*)$")
INLINED = " (inlined)"


def plain(name):
    """The last part of a name without bracketed text; llvm and libiberty write all other text differently."""
    before, name = None, re.sub(r"operator(<|\(\))", "operator", name)
    while name != before:
        before, name = name, re.sub(r"<[^<>]*>|\([^()]*\)|\[[^][]*\]", "", name)
    return re.sub(r"[^\w~+*/=-]", "", re.sub(r" const$", "", name.strip()).split("::")[-1])


def ask_llvm(folder, program, addresses):
    """address -> [(function, file, line)], innermost first"""
    fresh.need("llvm-symbolizer-19")
    done = fresh.must(["llvm-symbolizer-19", "--output-style=JSON", "--inlines", "-e", program, *("0x%x" % a for a in addresses)], folder,
                      "llvm-symbolizer-19")
    return {int(row["Address"], 16): [(plain(s["FunctionName"]), os.path.basename(s["FileName"]), s["Line"]) for s in row["Symbol"]]
            for row in json.loads(done.stdout)}


def same_calls(theirs, ours):
    """Names that llvm leaves mangled because it cannot demangle them are compared by file and line."""
    return len(theirs) == len(ours) and all(a[1:] == b[1:] and (a[0] == b[0] or a[0].startswith("_Z")) for a, b in zip(theirs, ours))


def chains_of(text):
    """The frames of each sample, as (address, name, is inlined, file, line)."""
    chains = []
    for line in text.split("\n"):
        frame = FRAME.match(line)
        if frame:
            chains[-1].append([int(frame[1], 16), frame[2], frame[2].endswith(INLINED), None, None])
        elif line.startswith("  ") and chains and chains[-1]:
            file, _, number = line.strip().rpartition(":")
            chains[-1][-1][3:] = [file, int(number) if number.isdigit() else None]
        elif line and not line.startswith("\t"):
            chains.append([])
    return chains


def groups_of(chain):
    """Groups the frames of one address: inlined functions, then the function that contains them."""
    group = []
    for frame in chain:
        group.append(frame)
        if not frame[2]:
            yield group
            group = []
    if group:
        raise Wrong("a chain ends with an inlined function: %r" % (group,))


def code_of(folder, program):
    """The offset of the program's code in the file, and the address of the code."""
    for line in fresh.must(["readelf", "-lW", program], folder, "readelf").stdout.decode().split("\n"):
        words = line.split()
        if words[:1] == ["LOAD"] and words[6:8] == ["R", "E"]:
            return int(words[1], 16), int(words[2], 16)
    raise Wrong("%s has no code" % program)


def check_script(folder, recording, program):
    lone = fresh.our_script(folder, recording)
    text = fresh.our_script(folder, recording, ("--inline",))
    if "".join(line + "\n" for line in text.split("\n")[:-1] if not line.endswith(INLINED)) != lone:
        raise Wrong("--inline changes more than it adds")
    chains = chains_of(fresh.our_script(folder, recording, ("--inline", "-F", "+srcline")))
    here = "(%s)" % os.path.join(os.path.realpath(folder), program)
    groups = [group for chain in chains for group in groups_of(chain) if group[-1][1].endswith(here)]
    at, base = code_of(folder, program)
    llvm_frames = ask_llvm(folder, program, sorted({group[0][0] - at + base for group in groups}))
    inlined = 0
    for group in groups:
        ours = [(plain(f[1].split("+0x")[0]), f[3], f[4]) for f in group]
        theirs = llvm_frames[group[0][0] - at + base]
        if theirs[0][1] and not same_calls(theirs, ours):
            raise Wrong("at %x\n  - %r\n  + %r" % (group[0][0], theirs, ours))
        if any(f[0] != group[0][0] for f in group):
            raise Wrong("an inlined function has another address: %r" % (group,))
        inlined += len(group) - 1
    if inlined < LEAST:
        raise Wrong("%d inlined functions" % inlined)
    return chains, inlined


def check_json(folder, recording, chains):
    text = fresh.our_script(folder, recording, ("--inline", "-F", "+srcline", "--format=json"))
    samples = [json.loads(line) for line in text.split("\n")[1:] if line]
    samples = [s for s in samples if s["type"] == "sample"]
    ours = [[(plain(i["sym"]), os.path.basename(i.get("file", "")), i.get("line")) for place in s["chain"] for i in place.get("inlined", ())]
            for s in samples]
    theirs = [[(plain(f[1]), f[3] or "", f[4]) for f in chain if f[2]] for chain in chains]
    if ours != theirs:
        raise Wrong("JSON and text differ in inlined functions: %r" % [pair for pair in zip(theirs, ours) if pair[0] != pair[1]][:1])


def report_rows(folder, recording, *words):
    done = fresh.run([harness.PERFRAY, "report", "--format=json", "-s", "sym", *words, recording], folder)
    if done.returncode != 0:
        raise Wrong("report: %s" % fresh.last_line(done))
    return json.loads(done.stdout)["events"][0]["rows"]


def check_report(folder, recording, chains):
    """Compares by name, because several functions may have the same name; the program has few functions."""
    weights = Counter()
    for chain in chains:
        weights.update({f[1][:-len(INLINED)] for f in chain if f[2]})
    rows = report_rows(folder, recording, "--inline", "--children")
    ours = {row["sym"][4:-len(INLINED)]: row["samples"] for row in rows if row["sym"].endswith(INLINED)}
    if ours != dict(weights):
        raise Wrong("report\n  - %r\n  + %r" % (dict(weights), ours))
    selves = [{row["sym"]: row["samples"] for row in report_rows(folder, recording, "--no-children", *words)}
              for words in ((), ("--inline",))]
    if selves[0] != selves[1]:
        raise Wrong("--inline changes where samples were taken")


def check(folder, name):
    source, compilers, options = PROGRAMS[name]
    program = os.path.basename(fresh.build(folder, source, name, *options, compiler=fresh.first_of(*compilers)))
    fresh.record(folder, name + ".data", RECORD, ["./" + program, "400"])
    chains, inlined = check_script(folder, name + ".data", program)
    check_json(folder, name + ".data", chains)
    check_report(folder, name + ".data", chains)
    return "%d samples, %d inlined functions" % (len(chains), inlined)


def main(names):
    checks = {name: lambda folder, name=name: check(folder, name) for name in PROGRAMS}
    return fresh.attempt_all("script/inline", checks, names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
