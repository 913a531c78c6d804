#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks rules for the text of the source tree. The only argument is the root of the tree.

layers/src      a file of src/ includes only headers of its own room, of rooms in earlier rows of src/LAYERS, and public headers; by full
                paths
layers/tool     the command includes public headers and headers of its own folder, but none of src/
layers/public   public headers include only public headers and system headers
layers/case     there is no `case` of a record type and no `switch` over one: a table of functions is used instead
layers/bits     no code outside src/wire shifts a record word that has bit fields, or masks it with a number
layers/names    the names of .c, .h and .def files are unique in the whole tree
"""
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
RECORD_CASE = re.compile(
    r"\bcase\s+(?:PERF_RECORD_|PFR_RECORD_|PFR_REC_|RECORD_|REC_|LAYOUT_|L_)\w+|"
    r"\bswitch\s*\([^;{]*\b(?:rec|record|header|head|hdr)\w*(?:\.|->)type\s*\)")
# Words of records and attrs that have bit fields: shifted, or masked with a number.
BIT_WORD = (r"(?:\b(?:\w+(?:\.|->))*(?:misc|weight_struct|data_src|read_format|branch_sample_type|sample_types?|types|transaction|txn|prot|"
            r"new_type|aux_flags|flags|phys_addr)|\bword\[WORD_\w+\])")
NUMBER = r"(?:0[xX][0-9a-fA-F]+|\d+)(?:[uUlL]*)\b(?!\s*<<)|UINT(?:8|16|32)_MAX|\(?1u?l?l?\s*<<\s*\d+"
HAND_MADE_BITS = re.compile(r"%s\s*(?:>>|<<)\s*[\w(]|%s\s*&\s*(?!&)(?:%s)|(?<![\w.])(?:%s)\s*&\s*%s\b|"
                            r"\bload_u(?:16|32|64)\([^;{}]*?\)\s*(?:>>|&(?!&))\s*[\w(]" % (BIT_WORD, BIT_WORD, NUMBER, NUMBER, BIT_WORD))
# (file, line without surrounding spaces, reason)
MAY_HAVE_BITS = (
    ("script_fields.c", "if (script_rows[f].types >> type & 1)", "types of events that a row of the table is for"),
    ("script_fields.c", "if (script_rows[field].types >> t & 1) {", "the same"),
)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
FOLDERS = ("include", "src", "tool", "tests", "examples", "fuzz", "bench", "rt")


def read_layers(root):
    """Returns {"base/memory": 0, "base/tables": 1, ...}: the row of each room."""
    rows = [line.strip() for line in (root / "src/LAYERS").read_text().splitlines()]
    return {room: row for row, room in enumerate(row for row in rows if row and not row.startswith("#"))}


def sources(root, folder, suffixes=(".c", ".h", ".def")):
    return sorted(path for path in (root / folder).rglob("*") if path.suffix in suffixes)


def includes(path):
    """Yields (line number, '<' or '"', path) for every #include of the file."""
    text = path.read_text(errors="replace")
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start(2)) + 1, match.group(1), match.group(2)


def is_public(root, what):
    return what.startswith("perfray/") and ((root / "include" / what).exists() or what in ("perfray/record_structs.h", "perfray/constants.h"))


def is_made(target):
    """Whether the build generates this file according to the meson.build in its folder."""
    recipe = target.parent / "meson.build"
    return recipe.is_file() and f"output: '{target.name}'" in recipe.read_text()


def room_of(root, path):
    """The room of a file of src/: "base/memory", "wire"; None for a file of src/ itself."""
    parts = path.relative_to(root / "src").parts[:-1]
    return "/".join(parts) or None


def room_in_src(root, path, what):
    """The room of src/ that an #include in path reaches; None: the included file is not in src/."""
    for base in (path.parent, root / "src"):
        target = (base / what).resolve()
        if (target.is_file() or is_made(target)) and (root / "src") in target.parents:
            return room_of(root, target)
    return None


def check_src(root):
    layers = read_layers(root)
    for path in sources(root, "src"):
        own = room_of(root, path)
        if own is not None and own not in layers:
            yield f"{path}: the room {own} is not in src/LAYERS"
            continue
        for line, mark, what in includes(path):
            if what.startswith("perfray/"):
                if not is_public(root, what):
                    yield f"{path}:{line}: {what} is no public header"
                continue
            reached = room_in_src(root, path, what)
            if reached is None and mark == '"':
                yield f"{path}:{line}: {what} is not found in src/"
            elif reached is not None and own is not None and reached != own and layers.get(reached, 99) >= layers[own]:
                yield f"{path}:{line}: {own} must not include {what}"
            elif reached is not None and mark == '"' and not (root / "src" / what).exists() and not is_made(root / "src" / what):
                yield f"{path}:{line}: {what} is included by less than its full path"


def check_outside(root, folder, may_have_own):
    """For tool/ and include/: allows public headers, system headers and, for tool/, headers of the folder by their paths in it."""
    for path in sources(root, folder):
        for line, mark, what in includes(path):
            neighbour = may_have_own and mark == '"' and (root / folder / what).is_file() and ".." not in what
            system = mark == "<" and not what.startswith("perfray/") and not (root / "src" / what).exists()
            if not (is_public(root, what) or neighbour or system):
                yield f"{path}:{line}: {folder} must not include {what}"


def check_case(root):
    for folder in ("src", "tool", "include"):
        for path in sources(root, folder):
            text = COMMENT.sub(lambda c: "\n" * c.group().count("\n"), path.read_text(errors="replace"))
            for match in RECORD_CASE.finditer(text):
                yield f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match.group()}"


def without_comments(path):
    return COMMENT.sub(lambda c: "\n" * c.group().count("\n"), path.read_text(errors="replace"))


def check_bits(root):
    unused = {(name, line) for name, line, _ in MAY_HAVE_BITS}
    for path in sources(root, "src", (".c", ".h")) + sources(root, "tool", (".c", ".h")):
        if path.relative_to(root).parts[:2] in (("src", "wire"), ("src", "runtime")):
            continue
        for number, line in enumerate(without_comments(path).splitlines(), 1):
            if not HAND_MADE_BITS.search(line):
                continue
            key = (path.name, line.strip())
            unused.discard(key)
            if key not in {row[:2] for row in MAY_HAVE_BITS}:
                yield f"{path}:{number}: {line.strip()}"
    for name, line in sorted(unused):
        yield f"tests/tree/check_layers.py: MAY_HAVE_BITS has a line that {name} has not: {line}"


def check_names(root):
    seen = {}
    for folder in FOLDERS:
        for path in sources(root, folder):
            if path.name in seen:
                yield f"{path}: the name is taken by {seen[path.name]}"
            seen.setdefault(path.name, path)


def main():
    root = Path(sys.argv[1]).resolve()
    checks = {
        "src": check_src(root),
        "tool": check_outside(root, "tool", True),
        "public": check_outside(root, "include", False),
        "case": check_case(root),
        "bits": check_bits(root),
        "names": check_names(root),
    }
    for name, findings in checks.items():
        harness.result(f"layers/{name}", [str(finding).replace(f"{root}/", "") for finding in findings])
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
