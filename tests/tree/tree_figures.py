#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints figures of the source tree, so that a reorganisation can be measured before and after.

usage: tree_figures.py ROOT [--objects DIR] [--list]

files in the largest folders        .c and .h files of each folder of src/, without its sub-folders
files over 500 lines                sources of every folder, without fixtures and corpora
lines of a function                 median and 90th percentile; from the opening line to the closing brace
circles                             groups of .c files that use each other's symbols, found in the object files of --objects
                                    (build/libperfray.so.0.p): groups, files in them, files in the largest
prototypes with one user            functions declared in a private header and called by exactly one other file; a header is shared if neither
                                    that file nor the defining one has its name
structs over 25 members             members are names at the outermost level of a struct definition
struct tags defined twice           one tag with definitions in several files of src/
private constants                   #define of a record type, sample bit, cpu mode or feature number outside the common list

--list also prints the counted items.
"""
import argparse
import re
import statistics
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"')
PROTOTYPE = re.compile(r"^(?!static|typedef|struct \w+ \{|#)[\w \*]*?\b(\w+)\([^;{}]*\)[^;{}()]*;", re.M)
CONSTANT = re.compile(r"^\s*#\s*define\s+((?:RECORD|PERF_RECORD|SAMPLE|PERF_SAMPLE|CPUMODE|FEATURE|HEADER)_\w+|CPUMODE\w*)\b", re.M)
CONSTANT_MEMBER = re.compile(r"\b((?:RECORD|SAMPLE|CPUMODE|FEATURE)_[A-Z0-9_]+)\s*=\s*", re.M)

WRITTEN = ("include", "src", "tool", "tests", "fuzz", "bench", "bindings", "web", "examples")
WRITTEN_SUFFIXES = (".c", ".h", ".def", ".cc", ".cpp", ".hpp", ".S", ".py", ".sh", ".js", ".css")


def without_comments(text):
    return COMMENT.sub(lambda match: "\n" * match.group().count("\n"), text)


def sources(root, folders=("src",), suffixes=(".c", ".h")):
    return sorted(path for folder in folders for path in (root / folder).rglob("*") if path.suffix in suffixes)


def written(root):
    """Handwritten sources in every language."""
    return [path for path in sources(root, WRITTEN, WRITTEN_SUFFIXES) if not {"fixtures", "corpus", "node_modules"} & set(path.parts)]


def functions(path):
    """Yields (name, lines) of every function whose body opens at the end of a line that begins in the first column."""
    lines = without_comments(path.read_text(errors="replace")).splitlines()
    begin = None
    for number, line in enumerate(lines):
        if begin is None and ends_head(lines, number):
            begin = head_of(lines, number)
        elif begin is not None and line == "}":
            yield " ".join(lines[begin].split())[:60], number - begin + 1
            begin = None


def ends_head(lines, number):
    """Whether a line that ends with `) {` ends the head of a function instead of beginning a statement."""
    return bool(re.match(r".*\)\s*\{$", lines[number])) and bool(re.match(r"[A-Za-z][\w \*]*\([^;{}]*(\{|$)", lines[head_of(lines, number)]))


def head_of(lines, number):
    while number and lines[number][:1] in (" ", "\t"):
        number -= 1
    return number


# --- Circles, by Tarjan's algorithm without recursion.

def symbols(objects):
    """Returns {file: files whose symbols it uses}."""
    owner, needs = {}, {}
    for path in sorted(objects.glob("src_*.o")):
        name, needs[path.name[4:-4]] = path.name[4:-4], set()
        for line in subprocess.run(["nm", "-P", str(path)], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
            symbol, kind = line.split()[:2]
            if kind == "U":
                needs[name].add(symbol)
            elif kind in "TDBRVWC":
                owner[symbol] = name
    return {name: sorted({owner[s] for s in wanted if s in owner} - {name}) for name, wanted in needs.items()}


def circles(graph):
    order, low, stack, found = {}, {}, [], []
    for root in graph:
        work = [] if root in order else [(root, iter(graph[root]))]
        if work:
            order[root] = low[root] = len(order)
            stack.append(root)
        while work:
            node, rest = work[-1]
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    at = stack.index(node)
                    found.append(stack[at:])
                    del stack[at:]
            elif following not in order:
                order[following] = low[following] = len(order)
                stack.append(following)
                work.append((following, iter(graph[following])))
            elif following in stack:
                low[node] = min(low[node], order[following])
    return sorted((sorted(circle) for circle in found if len(circle) > 1), key=len)


# --- The contents of headers and structs.

def lonely_prototypes(root):
    """Yields (header, function, whether the header belongs to one of the two files) for private prototypes that exactly one file besides the
    defining one uses."""
    texts = {path: TEXT.sub('""', without_comments(path.read_text(errors="replace"))) for path in sources(root, ("src",))}
    users = defaultdict(set)
    for path, text in texts.items():
        if path.suffix == ".c":
            for word in set(re.findall(r"\b[a-z]\w+\b", text)):
                users[word].add(path)
    for path, text in texts.items():
        if path.suffix == ".h":
            for name in PROTOTYPE.findall(text):
                if len(users[name]) == 2:
                    yield path.relative_to(root), name, path.with_suffix(".c") in users[name]


def structs(root):
    """Yields (path, tag, members) of every struct definition at the outermost level."""
    for path in sources(root, ("src", "include")):
        text = without_comments(path.read_text(errors="replace"))
        for match in re.finditer(r"^(?:typedef )?struct (\w+) \{$(.*?)^\}", text, re.M | re.S):
            body = re.sub(r"\{[^{}]*\}", "", re.sub(r"\{[^{}]*\}", "", match.group(2)))
            members = sum(1 + declaration.count(",") for declaration in re.sub(r"\([^()]*\)", "", body).split(";") if declaration.strip())
            yield path.relative_to(root), match.group(1), members


def private_constants(root):
    for path in sources(root, ("src", "tool"), (".c", ".h")):
        text = without_comments(path.read_text(errors="replace"))
        for pattern in (CONSTANT, CONSTANT_MEMBER):
            for name in pattern.findall(text):
                yield path.relative_to(root), name


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=Path)
    parser.add_argument("--objects", type=Path)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    root = options.root.resolve()

    def figure(name, value, rows=()):
        print("%-32s %s" % (name, value))
        for row in rows if options.list else ():
            print("    " + " ".join(str(word) for word in row))

    folders = Counter(path.parent.relative_to(root) for path in sources(root))
    figure("files in the largest folders", ", ".join("%s %d" % row for row in folders.most_common(6)), folders.most_common())
    long_files = [(path.relative_to(root), n) for path in written(root)
                  for n in [path.read_text(errors="replace").count("\n")] if n > 500]
    figure("files over 500 lines", len(long_files), long_files)
    lengths = sorted((lines, name, path.relative_to(root)) for path in sources(root, ("src", "tool"), (".c",)) for name, lines in functions(path))
    counts = [row[0] for row in lengths]
    figure("lines of a function", "%d functions, median %d, 90 %% within %d" % (
        len(counts), statistics.median(counts), counts[len(counts) * 9 // 10]), lengths[-20:])
    if options.objects:
        found = circles(symbols(options.objects))
        figure("circles", "%d over %d files, the largest of %d" % (len(found), sum(map(len, found)), max(map(len, found), default=0)), found)
    lonely = sorted(lonely_prototypes(root))
    parts = Counter(path for path, _, own in lonely if not own)
    figure("prototypes with one user", "%d, of them %d in headers that several files share, most in %s" % (
        len(lonely), parts.total(), ", ".join("%s %d" % (p.name, n) for p, n in parts.most_common(5))), lonely)
    defined = list(structs(root))
    wide = [(path, tag, n) for path, tag, n in defined if n > 25]
    figure("structs over 25 members", len(wide), sorted(wide, key=lambda row: -row[2]))
    tags = defaultdict(set)
    for path, tag, _ in defined:
        tags[tag].add(path)
    twice = sorted((tag, *sorted(paths)) for tag, paths in tags.items() if len(paths) > 1)
    figure("struct tags defined twice", len(twice), twice)
    constants = sorted(private_constants(root))
    figure("private constants", len(constants), constants)
    return 0


if __name__ == "__main__":
    sys.exit(main())
