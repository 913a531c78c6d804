#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_annotate.py - `perfray annotate` of recordings made now, beside the installed perf and objdump.

counts NAME        samples at each address of every function with 1 % or more are those of `perf annotate --stdio`
instructions NAME  instructions begin where objdump's do, except inside instructions that capstone does not know
lines              the samples of a function's lines are all samples of its symbol; an inlined function is listed at its call
processes          no program is started
sites              two calls of one inline function have the shares that a counting build measures; perf's listing is also printed
changes            --diff: lines of an edited source are matched as difflib matches them, with the samples of each side
shown              tabs, instructions that capstone does not know, sources that are not there
page changes       view --code --diff: the page pairs the same lines, each with the samples of its instructions on both sides
prefixes           sources are found with --prefix and --prefix-strip where perf finds them
builds             code of another build is not shown; sources that are no regular files are skipped
"""
import collections
import csv
import difflib
import io
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "support"))
import harness  # noqa: E402
import page_columns  # noqa: E402

PERFRAY = os.environ["PERFRAY"]
ROW = re.compile(r"^ *([0-9]+) :\s+([0-9a-f]+):\s")
INSTRUCTION_ROW = re.compile(r"^ .*:\s+[0-9a-f]+:\s", re.M)
HOT_LINE = "mix(v + r)"
INSTRUCTION = re.compile(r"^ *([0-9a-f]+):\t")


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=120, check=False,
                          env=dict(os.environ, XDG_CACHE_HOME="/dev/null", HOME="/dev/null"), **more)  # no copies of other recordings


def record(folder, name, source, *flags, arguments=()):
    program, data = os.path.join(folder, name), os.path.join(folder, name + ".data")
    subprocess.run(["g++", "-g", *flags, "-o", program, source], check=True)
    made = run(["perf", "record", "-N", "-q", "-e", "cpu-clock", "-F", "1999", "-o", data, program, *arguments])
    return data if made.returncode == 0 and os.path.exists(data) else None


def functions_of(data):
    """The name of each function of the program and the number of its samples."""
    rows = csv.DictReader(io.StringIO(run([PERFRAY, "report", "--no-children", "-s", "sym,dso", "--format=csv", data]).stdout))
    return {row["sym"].removeprefix("[.] "): int(row["samples"]) for row in rows if "[.]" in row["sym"]}


def our_counts(data, function):
    done = run([PERFRAY, "annotate", "--format=csv", function, data])
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    return rows, {int(row["address"], 16): int(row["samples"]) for row in rows if row["samples"] != "0"}


def perf_counts(data, function):
    counts = collections.Counter()
    done = run(["perf", "annotate", "--stdio", "-n", "-i", data, "-s", function])
    for line in done.stdout.splitlines():
        found = ROW.match(line)
        if found and found.group(1) != "0":
            counts[int(found.group(2), 16)] += int(found.group(1))
    return dict(counts)


def objdump_starts(program, first, last):
    done = run(["objdump", "-d", "--no-show-raw-insn", "--start-address=%d" % first, "--stop-address=%d" % last, program])
    return {int(found.group(1), 16) for found in map(INSTRUCTION.match, done.stdout.splitlines()) if found}


def compare_with_objdump(name, program, rows):
    addresses = [int(row["address"], 16) for row in rows]
    unknown = {int(row["address"], 16) for row in rows if "(bad)" in row["instruction"]}
    theirs = objdump_starts(program, addresses[0], addresses[-1] + 1)
    wrong = sorted((set(addresses) ^ theirs) - unknown)
    harness.result("annotate/instructions " + name, wrong and ["%x" % address for address in wrong[:5]])


def compare_program(name, data, program):
    wrong, compared = [], 0
    counts = functions_of(data)
    for function, samples in counts.items():
        if samples < sum(counts.values()) / 100 or not re.fullmatch(r"\w+", function):
            continue
        rows, ours = our_counts(data, function)
        theirs = perf_counts(data, function)
        compared += 1
        if ours != theirs or sum(ours.values()) != samples:
            wrong.append("%s: %s, perf %s, report %d" % (function, sorted(ours.items())[:4], sorted(theirs.items())[:4], samples))
        if rows and rows[0]["instruction"]:
            compare_with_objdump("%s %s" % (name, function), program, rows)
    harness.result("annotate/counts " + name, wrong or ([] if compared else ["no function was compared"]))


def inlined_by_addr2line(program, counts):
    """Samples of code inlined in `work`, by line of the call: binutils (which gives inlined code the name of its symbol)."""
    found = collections.Counter()
    for address, samples in counts.items():
        places = run(["addr2line", "-i", "-e", program, "%x" % address]).stdout.splitlines()
        for place in places[1:]:
            found[int(place.rsplit(":", 1)[-1].split()[0])] += samples
    return dict(found)


def check_lines(data, program):
    done = run([PERFRAY, "annotate", "--by-line", "--format=json", "work", data])
    work = json.loads(done.stdout)["functions"][0]
    weight = sum(row["self"] for row in work["lines"] if row["inlined"] is None)
    wrong = [] if weight == work["self"] == work["total"] else ["lines have %d of %d" % (weight, work["self"])]
    if abs(sum(row["self_percent"] for row in work["lines"] if row["inlined"] is None) - 100) > 1e-6:
        wrong.append("percentages of lines do not add up to 100")
    wrong += ["total %d of self %d" % (row["total"], row["self"]) for row in work["lines"] if row["total"] < row["self"]]
    rows, counts = our_counts(data, "work")
    period = sum(int(row["weight"]) for row in rows) // sum(counts.values())
    ours = {(row["line"], row["inlined"]): row["self"] // period for row in work["lines"] if row["inlined"]}
    theirs = inlined_by_addr2line(program, counts)
    if ours != {(line, "mix"): samples for line, samples in theirs.items()} or not theirs:
        wrong.append("inlined code: %s, addr2line %s" % (ours, theirs))
    if not any("mix(v + r)" in row["source"] for row in work["lines"]):
        wrong.append("the source of the hot line is not shown")
    harness.result("annotate/lines", wrong)


def check_sites(folder):
    """Two calls of one inline function: their shares are those of the rounds in a counting build, within 2 points."""
    source, counting = os.path.join(HERE, "sites.cc"), os.path.join(folder, "counting")
    subprocess.run(["g++", "-O2", "-DCOUNT", "-o", counting, source], check=True)
    light, heavy = (int(word) for word in run([counting, "100"]).stdout.split()[:2])
    data = record(folder, "sites", source, "-O2", arguments=["60000" if os.environ.get("PERFRAY_LONG") else "15000"])
    if not data:
        harness.skip("annotate/sites", "perf records nothing here")
        return
    sites = json.loads(run([PERFRAY, "annotate", "--by-line", "--format=json", "two_sites", data]).stdout)["functions"][0]
    shares = {row["source"].split("//")[-1].strip(): row["self_percent"] for row in sites["lines"] if row["inlined"] and row["source"]}
    samples = sum(our_counts(data, "two_sites")[1].values())
    wanted = 100 * light / (light + heavy)
    room = max(2, 4 * (wanted * (100 - wanted) / max(samples, 1)) ** 0.5)  # and four standard deviations, because there are few samples
    theirs = re.findall(r"^ +([0-9.]+) .*sites\.cc:([0-9]+)$", run(["perf", "annotate", "--stdio", "-l", "-P", "-i", data, "-s", "two_sites"]).stdout, re.M)
    print("# rounds %.2f %%, by line %s of %d samples; perf charges lines of the inline function: %s" % (wanted, shares, samples, theirs))
    harness.result("annotate/sites", [] if abs(shares.get("light", 0) - wanted) <= room and abs(shares.get("heavy", 0) - 100 + wanted) <= room else ["%s" % shares])


EDITS = (("__attribute__((noinline)) unsigned work", "// one\n\n// two\n__attribute__((noinline)) unsigned work"),
         ("        if (s & 1)", "        s += 3;\n        s ^= r;\n        if (s & 1)"))


def check_changes(folder):
    """An edited program compared with the old one: each side has the samples of its own listing."""
    data, sources = [], []
    with open(os.path.join(HERE, "hot.cc"), encoding="utf-8") as file:
        text = file.read()
    for name in ("before", "after"):
        os.mkdir(os.path.join(folder, name))
        source = os.path.join(folder, name, "hot.cc")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        sources.append(text.splitlines())
        data.append(record(os.path.join(folder, name), "hot", source, "-O2"))
        for old, new in EDITS:
            text = text.replace(old, new)
    wrong = []
    done = run([PERFRAY, "annotate", "--format=json", "--diff", data[0], "work", data[1]])
    changes = json.loads(done.stdout)["functions"][0]["changes"]
    for i, side in enumerate(("base", "new")):
        alone = json.loads(run([PERFRAY, "annotate", "--by-line", "--format=json", "work", data[i]]).stdout)["functions"][0]
        ours = {(row[side]["line"], row["inlined"]): (row[side]["self"], row[side]["total"])
                for row in changes if row[side]["self"] or row[side]["total"]}
        if ours != {(row["line"], row["inlined"]): (row["self"], row["total"]) for row in alone["lines"]}:
            wrong.append("%s: %s" % (side, ours))
    same = {}
    for block in difflib.SequenceMatcher(None, *sources, autojunk=False).get_matching_blocks():
        same.update({block.a + 1 + i: block.b + 1 + i for i in range(block.size)})
    pairs = {row["base"]["line"]: row["new"]["line"] for row in changes if row["base"]["line"]}
    wrong += ["line %d is %d" % pair for pair in pairs.items() if same.get(pair[0], 0) != pair[1]]
    if not any(old and new and old != new for old, new in pairs.items()) or done.stderr:
        wrong.append("no line moved: %s %s" % (pairs, done.stderr))
    harness.result("annotate/changes", wrong)
    harness.result("annotate/page changes", differences_of_page(data, changes, same) + differences_of_page((data[0], data[0]), None, None))


def samples_by_line(changes, side):
    """Returns the samples of each line of a side, without those in inlined functions."""
    sums = collections.Counter()
    for row in changes:
        sums[row[side]["line"]] += -row[side]["samples"] if row["inlined"] else row[side]["samples"]
    return {line: samples for line, samples in sums.items() if samples}


def differences_of_page(data, changes, same):
    """`changes` None: both sides are one recording."""
    done = subprocess.run([PERFRAY, "view", "--no-cache", "--code", "--data", "-o", "-", "--diff", *data], capture_output=True, timeout=120, check=False)
    if done.returncode:
        return [done.stderr.decode()]
    _, columns = page_columns.read(done.stdout)
    sums, pairs = page_columns.code_lines(columns, "work")
    lines = [{line: samples for (path, line, inlined), samples in side.items() if path.endswith("hot.cc") and samples and not inlined} for side in sums]
    kinds = {kind for kind, func in zip(columns["code.matched"], columns["code.func"]) if page_columns.is_named(columns, func, "work")}
    if not changes:
        return [] if lines[0] and lines[0] == lines[1] and not pairs and kinds == {5} else ["one build: %s, %s, %s" % (lines, pairs, kinds)]
    wrong = ["%s: page %s, annotate %s" % (side, ours, samples_by_line(changes, side))
             for side, ours in zip(("new", "base"), lines) if ours != samples_by_line(changes, side)]
    seen = {line for path, line, _ in sums[1] if path.endswith("hot.cc")}
    paired = {line: next((new[1] for old, new in pairs.items() if old[1] == line and old[0].endswith("hot.cc")), line) for line in seen}
    wrong += ["page: line %d is %d" % pair for pair in paired.items() if same.get(pair[0], 0) != pair[1]]
    return wrong if pairs and kinds <= {2, 3} else wrong + ["pairs %s, kinds %s" % (pairs, kinds)]


UNKNOWN = """
int main(int argc, char **argv)
{
\tunsigned long s = 0;
\tfor (unsigned long i = 0; i < 300000000ul; i++)
\t\ts += i ^ s >> 3;\t/* hot */
\tif (argc > 2)
\t\t__asm__ volatile(".byte 0x06, 0x07");
\treturn s == 7;
}
"""


def check_shown(folder):
    """Text output expands tabs of sources; unknown instructions and missing sources are reported."""
    source, wrong = os.path.join(folder, "tabs.c"), []
    with open(source, "w", encoding="utf-8") as file:
        file.write(UNKNOWN)
    data = record(folder, "tabs", source, "-O1")
    text, lines = (run([PERFRAY, "annotate", *more, "main", data]) for more in ((), ("--by-line",)))
    for done in (text, lines):
        if " " * 16 + "s += i ^ s >> 3;" + " " * 8 + "/* hot */" not in done.stdout or "x09" in done.stdout:
            wrong.append("tabs: %s" % done.stdout)
    bad = text.stdout.count("(bad)")
    if bad and "capstone cannot decode %d of %d instructions" % (bad, len(re.findall(r"^ +[0-9.]+ :\s+[0-9a-f]+:", text.stdout, re.M))) not in text.stderr:
        wrong.append("%d not known: %s" % (bad, text.stderr))
    if "not found" in text.stderr + lines.stderr:
        wrong.append(text.stderr + lines.stderr)
    os.rename(source, source + ".away")
    for more in ((), ("--by-line",)):
        done = run([PERFRAY, "annotate", *more, "main", data])
        if "tabs.c: source file not found" not in done.stderr or "--source-dir" not in done.stderr:
            wrong.append("no source: %s" % done.stderr)
    harness.result("annotate/shown", wrong)


HEADER = "static inline unsigned long %s(unsigned long n)\n{\n    return %s;\n}\n"
USES_BOTH = """#include "a/util.h"
#include "b/util.h"
int main()
{
    unsigned long s = 1;
    for (long i = 0; i < 300000000; i++)
        s += a(s) ^ b(s + i);
    return s == 7;
}
"""


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


def check_redacted(folder):
    """In a page with redacted paths, a/util.h and b/util.h have one name, but each line has the text of its own file."""
    for name, value in (("a", "n * 3"), ("b", "n ^ n >> 7")):
        write(os.path.join(folder, "redacted", name, "util.h"), HEADER % (name, value))
    data = record(folder, "redacted-hot", write(os.path.join(folder, "redacted", "hot.cc"), USES_BOTH), "-O2")
    done = subprocess.run([PERFRAY, "view", "--no-cache", "--sources", "--redact-paths", "--data", "-o", "-", data], capture_output=True, timeout=120, check=False)
    _, columns = page_columns.read(done.stdout)
    strings = columns["strings"]
    lines = {strings[text].strip(): file for file, line, text in zip(*(columns["source." + name] for name in ("file", "line", "text"))) if line == 3}
    files = [lines.get("return %s;" % value) for value in ("n * 3", "n ^ n >> 7")]
    named = [file and strings[columns["file.name"][file - 1]] for file in files if "file.name" in columns]
    harness.result("annotate/redacted", [] if files[0] != files[1] and named == ["util.h", "util.h"] else ["lines %s, files %s" % (lines, named)])


def check_processes(folder, data):
    if not shutil.which("strace"):
        harness.skip("annotate/processes", "strace is not installed")
        return
    log = os.path.join(folder, "strace")
    run(["strace", "-f", "-e", "trace=execve,execveat", "-o", log, PERFRAY, "annotate", "work", data])
    with open(log, encoding="utf-8") as file:
        started = [line for line in file if "execve" in line]
    harness.result("annotate/processes", started[1:])


def check_prefixes(folder, data, source):
    """The source is below another directory, without some of its leading directories."""
    wrong, kept, parts = [], source + ".kept", os.path.realpath(source).strip("/").split("/")
    os.rename(source, kept)
    for dropped in range(len(parts)):
        below = os.path.join(folder, "below%d" % dropped)
        os.makedirs(os.path.join(below, *parts[dropped:-1]))
        shutil.copy(kept, os.path.join(below, *parts[dropped:]))
        for strip in {0, max(dropped - 1, 0), dropped, dropped + 1, len(parts) + 3}:
            words = ["--prefix", below, *(["--prefix-strip", str(strip)] if strip else [])]
            ours, by_name = (run([PERFRAY, "annotate", *more, "work", data]).stdout for more in (words, ["--source-dir", *words[1:]]))
            theirs = run(["perf", "annotate", "--stdio", *words, "-i", data, "-s", "work"]).stdout
            found = [HOT_LINE in text for text in (ours, by_name, theirs)]
            if len(set(found)) != 1 or (strip == dropped and not found[0]):
                wrong.append("%d dropped, strip %d: --prefix %s, --source-dir %s, perf %s" % (dropped, strip, *found))
    os.replace(kept, source)
    alone = run([PERFRAY, "annotate", "--prefix-strip", "1", "work", data]), run(["perf", "annotate", "--stdio", "--prefix-strip", "1", "-i", data])
    wrong += ["--prefix-strip without --prefix ends with 0"] if alone[0].returncode != 2 or not alone[1].returncode else []
    harness.result("annotate/prefixes", wrong)


def check_builds(folder, data, source):
    wrong = []
    program = os.path.join(folder, "hot")
    shown = run([PERFRAY, "annotate", "--source-dir", folder, "work", data])
    if shown.stderr:
        wrong.append("a sound program: %s" % shown.stderr)
    os.rename(source, source + ".kept")
    os.mkfifo(source)
    fifo = run([PERFRAY, "annotate", "work", data])  # reading it would wait for ever
    if fifo.returncode != 0 or "mix(v + r)" in fifo.stdout or "mix(v + r)" not in shown.stdout:
        wrong.append("a FIFO as source: status %d" % fifo.returncode)
    os.replace(source + ".kept", source)
    subprocess.run(["g++", "-g", "-O2", "-o", program, source], check=True)
    subprocess.run(["strip", "-o", os.path.join(folder, "stripped"), program], check=True)
    subprocess.run(["g++", "-g", "-O1", "-DOTHER", "-o", program, source], check=True)
    other = run([PERFRAY, "annotate", "0x0", data])
    if other.returncode != 2:
        wrong.append("an address without samples ends with %d" % other.returncode)
    other = run([PERFRAY, "annotate", "--top", "50", data])
    listings = [block for block in other.stdout.split("Source code & Disassembly of ") if block.startswith("hot ")]
    if any(INSTRUCTION_ROW.search(block) for block in listings) or "build" not in run([PERFRAY, "symbols", data]).stdout:
        wrong.append("another build is shown: %s" % listings)
    harness.result("annotate/builds", wrong)


# --- With PERFRAY_LONG: recordings of installed programs.

PROGRAMS = (
    "gzip -9c DATA", "bzip2 -c DATA", "xz -1c DATA", "zstd -12 -qc DATA", "sort DATA", "md5sum DATA", "sha256sum DATA", "sha512sum DATA", "b2sum DATA", "wc DATA",
    "base64 DATA", "od -x DATA", "awk {n+=length} DATA", "sed s/a/b/g DATA", "grep -c [a-z]*x.y DATA", "python3 -c sum(i*i%7for(i)in(range(4000000)))",
    "perl -e for(1..4000000){$s+=$_%7}", "openssl speed -seconds 1 sha256", "gcc -O2 -x c++ -c HOT -o /dev/null", "diff DATA OTHER", "tr a-z A-Z", "cmp DATA DATA",
    "sqlite3 :memory: WITH/**/RECURSIVE/**/c(x)AS(SELECT/**/1/**/UNION/**/ALL/**/SELECT/**/x+1/**/FROM/**/c/**/WHERE/**/x<2000000)SELECT/**/sum(x%7)FROM/**/c",
)


def compare_listings(data, wrong):
    """Every function of a file that has 1 % or more of the samples."""
    rows = csv.DictReader(io.StringIO(run([PERFRAY, "report", "--no-children", "-s", "sym,dso", "--format=csv", data]).stdout))
    rows = [row for row in rows]
    whole, compared = sum(int(row["samples"]) for row in rows), 0
    for row in rows:
        name = row["sym"].removeprefix("[.] ")
        if int(row["samples"]) * 100 < whole or not row["sym"].startswith("[.]") or not re.fullmatch(r"[A-Za-z_]\w*", name):
            continue
        _, ours = our_counts(data, name)
        theirs = perf_counts(data, name)
        if not theirs:
            continue  # perf finds no code for it
        compared += 1
        if ours != theirs:
            wrong.append("%s: %s, perf %s" % (name, sorted(ours.items())[:3], sorted(theirs.items())[:3]))
    return compared


def check_programs(folder):
    data, other = os.path.join(folder, "input"), os.path.join(folder, "input2")
    for path, seed in ((data, 1), (other, 2)):
        with open(path, "w", encoding="utf-8") as file:
            file.writelines("%d line %x of %s\n" % (i, i * seed * 2654435761 % 4294967296, "abcxyz"[i % 6:]) for i in range(600000))
    recorded = compared = 0
    wrong = []
    for number, words in enumerate(PROGRAMS):
        words = [data if word == "DATA" else other if word == "OTHER" else os.path.join(HERE, "hot.cc") if word == "HOT" else word for word in words.split()]
        if not shutil.which(words[0]):
            continue
        path = os.path.join(folder, "program%d.data" % number)
        with open(data, "rb") as given:
            run(["perf", "record", "-N", "-q", "-e", "cpu-clock:u", "-F", "1999", "-o", path, "--", *words], stdin=given, cwd=folder)
        if not os.path.exists(path):
            continue
        recorded += 1
        before = len(wrong)
        compared += compare_listings(path, wrong)
        wrong[before:] = ["%s: %s" % (words[0], problem) for problem in wrong[before:]]
        os.remove(path)
    print("# %d recordings, %d functions compared" % (recorded, compared))
    harness.result("annotate/programs", wrong or ([] if recorded >= 15 and compared >= 20 else ["%d recordings, %d functions" % (recorded, compared)]))


def main():
    if not shutil.which("perf"):
        harness.skip("annotate", "perf is not installed")
        return harness.status()
    with harness.scratch("annotate") as folder:
        source = os.path.join(folder, "hot.cc")
        shutil.copy(os.path.join(HERE, "hot.cc"), source)
        for level in ("-O2", "-O0"):
            name = "hot" if level == "-O2" else "slow"
            data = record(folder, name, source, level)
            if not data:
                harness.skip("annotate/counts " + name, "perf records nothing here")
                continue
            compare_program(name, data, os.path.join(folder, name))
            if level == "-O2":
                check_lines(data, os.path.join(folder, name))
                check_processes(folder, data)
        if os.path.exists(os.path.join(folder, "hot.data")):
            check_changes(folder)
            check_sites(folder)
            check_shown(folder)
            check_redacted(folder)
            if os.environ.get("PERFRAY_LONG"):
                check_programs(folder)
            check_prefixes(folder, os.path.join(folder, "hot.data"), source)
            check_builds(folder, os.path.join(folder, "hot.data"), source)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
