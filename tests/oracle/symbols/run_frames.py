#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_frames.py - compares unwind rules with readelf.

usage: run_frames.py [NAME...]

Environment: FRAMES_OF, the program frames_of; FIXTURES, tests/fixtures. For every row of `readelf --debug-dump=frames-interp` the unwind table must have the
same rule, at the first address of the row and at the last address before the next row. Prints `ok NAME`, `not ok NAME` or `skip NAME reason`.
"""
import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
from harness import Skip, Wrong  # noqa: E402

X86 = {name: number for number, name in enumerate(
    "rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip".split())}
ARM = {"x%d" % number: number for number in range(31)} | {"sp": 31}
FOLLOWED = {"x86": 17, "aarch64": 33}
FIXTURE = "frames-%s.so"
OBJECTS = {
    "eh_frame": ("x86", "x86"), "debug_frame": ("debug", "x86"), "aarch64": ("aarch64", "aarch64"),
    "libc": ("/lib/x86_64-linux-gnu/libc.so.6", "x86"), "ld": ("/lib64/ld-linux-x86-64.so.2", "x86"),
    "libstdcxx": ("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "x86"),
    "libpython": ("/usr/lib/x86_64-linux-gnu/libpython3*.so*", "x86"),
    "libc_aarch64": ("/usr/aarch64-linux-gnu/lib/libc.so.6", "aarch64"),
    "ld_aarch64": ("/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1", "aarch64"),
}
LEAST = 10
ENTRY = re.compile(r"^\S+ \S+ \S+ FDE cie=(\S+) pc=([0-9a-f]+)\.\.([0-9a-f]+)")
COMMON = re.compile(r"^(\S+) \S+ \S+ CIE .* ra=(\d+)")


def path_of(what):
    if "/" not in what:
        return os.path.join(os.environ["FIXTURES"], "objects", FIXTURE % what)
    found = sorted(glob.glob(what))
    if not found:
        raise Skip(what + " is not installed")
    return found[0]


def number_of(name, link, names):
    """The register's number; None for a register that unwinding does not use, and for names of readelf that are no registers."""
    if name == "ra":
        return link
    found = re.match(r"(?:reg|r)(\d+)$", name) if name not in names else None
    return int(found[1]) if found else names.get(name)


def rules(columns, cells, link, machine):
    """A row as frames_of writes it, without unknown and unchanged registers."""
    names = X86 if machine == "x86" else ARM
    said = []
    for name, cell in zip(columns[1:], cells[1:]):
        number = number_of(name, link, names)
        if number is None or number >= FOLLOWED[machine] or cell in ("u", "s"):
            continue
        cell = {"exp": "e", "vexp": "ve"}.get(cell, cell)
        said.append((number, cell if cell[0] in "cve" else "r%d" % number_of(cell, link, names)))
    cfa = cells[0]
    if cfa != "exp":
        base, offset = re.match(r"([a-z]+\d*)([+-]\d+)$", cfa).groups()
        cfa = "%d%s" % (number_of(base, link, names), offset)
    return " ".join([cfa if cfa != "exp" else "e"] + ["%d=%s" % pair for pair in sorted(said)])


def rows_of(path, machine):
    """Yields (first, last, rules) of each row. An FDE without rows has the row of its CIE."""
    text = subprocess.run(["readelf", "--debug-dump=no-follow-links", "--debug-dump=frames-interp", path], capture_output=True, text=True, check=False).stdout
    columns, entry, rows, here, of, links, shared = [], None, [], [], "", {}, {}

    def finish():
        if entry and entry[0]:
            found = here or [(entry[0], shared[of])]
            if found[0][0] > entry[0]:
                found.insert(0, (entry[0], shared[of]))
            for at, (first, said) in enumerate(found):
                last = (found[at + 1][0] if at + 1 < len(found) else entry[1]) - 1
                rows.append((first, last, said))

    for line in text.split("\n"):
        if not line.strip() or line.startswith(("Contents", "Section")) or line.endswith("ZERO terminator"):
            continue
        is_entry, is_common = ENTRY.match(line), COMMON.match(line)
        if is_entry or is_common:
            finish()
            entry, here = None, []
            of = (is_common or is_entry)[1]
            if is_common:
                links[of] = int(is_common[2])
            else:
                entry = (int(is_entry[2], 16), int(is_entry[3], 16))
        elif line.strip().startswith("LOC"):
            columns = line.split()[1:]
        else:
            words = re.sub(r" \(\S+\)", "", line).split()
            if len(words) != len(columns) + 1:
                raise Wrong("readelf's line has another form: " + line)
            said = rules(columns, words[1:], links[of], machine)
            if entry:
                here.append((int(words[0], 16), said))
            else:
                shared[of] = said
    finish()
    return rows


def without_unknown(said):
    return " ".join(word for word in said.split() if not word.endswith("=u"))


def check(name):
    what, machine = OBJECTS[name]
    path = path_of(what)
    rows = rows_of(path, machine)
    asked = [address for row in rows for address in row[:2]]
    done = subprocess.run([os.environ["FRAMES_OF"], path], input="".join("%x\n" % a for a in asked), capture_output=True,
                          text=True, check=False)
    answers = done.stdout.split("\n")[:-1]
    if done.returncode != 0 or len(answers) != len(asked):
        raise Wrong("status %d: %s" % (done.returncode, done.stderr.strip()))
    wanted = [row[2] for row in rows for _ in range(2)]
    wrong = [(a, w, s) for a, w, s in zip(asked, wanted, answers) if w != without_unknown(s)]
    if wrong or len(rows) < LEAST:
        raise Wrong("%d of %d differ%s" % (len(wrong), len(asked), "".join(
            "\n  %x: readelf %s, we %s" % one for one in wrong[:5])))
    return "%d rows, %s" % (len(rows), done.stderr.strip())


def main(names):
    for name in names or OBJECTS:
        harness.attempt("frames/" + name, check, name)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
