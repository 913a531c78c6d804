#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_tour.py ROOT: checks that docs/ARCHITECTURE.md and docs/adding.md agree with the source tree.

tour/files    every file of src/ and tool/ is named in ARCHITECTURE.md, except meson.build and headers with the same stem as a
source
tour/names    every file named in a code span of ARCHITECTURE.md, adding.md or state.md exists; a name with a slash is a path
tour/rooms    the map at the top lists the rooms of src/LAYERS in their order
tour/rules    docs/state.md has the rules 1 to 17, to which comments refer by number
tour/size     at most 250 lines of at most 160 characters

A code span may group files: `NAME_{a,b}.c`.
"""
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402

LINES_MOST = 250
LINE_MOST = 160
RULES = 17
SOURCES = (".c", ".def", ".S")
FILE_NAME = re.compile(r"[\w./-]*\w\.(?:c|h|def|S|css|js|py|sh|scd|map|in|md)(?:\.\w+)?$")
SPAN = re.compile(r"`([^`\n]+)`")
BRACES = re.compile(r"(.*)\{([^{}]*)\}(.*)")
TREES = ("src", "tool", "include", "tests", "docs", "bindings", "web")
PREFIXES = ("", "src/", "include/")  # for names with a slash


def expanded(name):
    """a_{b,c}.d -> a_b.d, a_c.d"""
    group = BRACES.fullmatch(name)
    return [group[1] + part + group[3] for part in group[2].split(",")] if group else [name]


def names_in(text):
    """The file names in code spans of the text, without placeholders (NAME, <name>, *)."""
    for span in SPAN.findall(text):
        for name in expanded(span):
            if (FILE_NAME.fullmatch(name) or name == "LAYERS") and "NAME" not in name:
                yield name


def all_files(root):
    """The paths of all files of the tree, relative to ROOT."""
    for tree in TREES:
        for folder, _, files in os.walk(root / tree):
            for name in files:
                yield os.path.relpath(os.path.join(folder, name), root)


def has_own_source(path, paths):
    stem, suffix = os.path.splitext(path)
    return suffix == ".h" and any(stem + source in paths for source in SOURCES)


def check_files(paths, tour):
    named = {os.path.basename(name) for name in names_in(tour)}
    for path in sorted(paths):
        name = os.path.basename(path)
        if path.startswith(("src/", "tool/")) and name != "meson.build" and not has_own_source(path, paths) and name not in named:
            yield f"{path} is not named in docs/ARCHITECTURE.md"


def check_names(paths, pages):
    basenames = {os.path.basename(path) for path in paths}
    for page, text in pages.items():
        for name in names_in(text):
            exists = any(prefix + name in paths for prefix in PREFIXES) if "/" in name else name in basenames
            if not exists:
                yield f"docs/{page} names {name}, which does not exist"


def rooms_of_map(tour):
    """The map is the indented block whose first line begins with base/; ROOM: before each phrase, FOLDER/ before its rooms."""
    block = re.search(r"^    base/(?:.*\n    )*.*", tour, re.M)
    folder = None
    for line in block[0].splitlines() if block else ():
        if line[4:5] != " ":
            folder = line.split()[0] if "/" in line.split()[0] else None
        for room in re.findall(r"([\w/]+):", line):
            yield folder + room if folder and folder != room + "/" else room


def check_rooms(root, tour):
    rows = [row.strip() for row in (root / "src/LAYERS").read_text().splitlines()]
    wanted = [row for row in rows if row and not row.startswith("#")]
    shown = list(rooms_of_map(tour))
    for number, (is_there, should_be) in enumerate(zip(shown + [None] * len(wanted), wanted)):
        if is_there != should_be:
            yield f"room {number + 1} of the map is {is_there}, src/LAYERS has {should_be}"
            return
    if len(shown) > len(wanted):
        yield f"the map has a room {shown[len(wanted)]} that src/LAYERS has not"


def check_rules(page):
    numbers = [int(number) for number in re.findall(r"^(\d+)\. ", page, re.M)]
    if numbers != list(range(1, RULES + 1)):
        yield f"the rules of docs/state.md are {numbers}, not 1 to {RULES}"


def check_size(tour):
    lines = tour.splitlines()
    if len(lines) > LINES_MOST:
        yield f"docs/ARCHITECTURE.md has {len(lines)} lines, more than {LINES_MOST}"
    for number, line in enumerate(lines, 1):
        if len(line) > LINE_MOST:
            yield f"docs/ARCHITECTURE.md:{number}: {len(line)} characters, more than {LINE_MOST}"


def main():
    root = Path(sys.argv[1])
    paths = set(all_files(root))
    pages = {page: (root / "docs" / page).read_text(encoding="utf-8") for page in ("ARCHITECTURE.md", "adding.md", "state.md")}
    tour = pages["ARCHITECTURE.md"]
    checks = {
        "files": check_files(paths, tour),
        "names": check_names(paths, pages),
        "rooms": check_rooms(root, tour),
        "rules": check_rules(pages["state.md"]),
        "size": check_size(tour),
    }
    for name, findings in checks.items():
        harness.result(f"tour/{name}", list(findings))
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
