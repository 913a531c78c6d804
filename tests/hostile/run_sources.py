#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_sources.py - source files and line tables of a hostile object cost their lines, never the listing.

usage: run_sources.py [NAME...]

Environment: PERFRAY, the command. An object is made whose line table names a file and a line for each instruction, and a recording with a sample at each. Of
every case `annotate`, with lines and without, as text, CSV and JSON, compared with itself, and `view --sources`, also compared with itself, must end with
status 0 in SECONDS of CPU time and with at most KILOBYTES of memory, list every sample, and print no control character of a file.

sources NAME   the file is a FIFO, a folder, a device, a loop of links, gone, one line of 1 GB, truncated again and again while it is read; lines keep their
               numbers after one that is too long; two large files in turn are read once each
lines NAME     the line table has lines past 2^31, files that it does not list, addresses that go down, or no end
"""
import csv
import io
import json
import os
import re
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import flood_objects  # noqa: E402
import harness  # noqa: E402
from flood_objects import BASE, uleb  # noqa: E402
from harness import Wrong  # noqa: E402

OBJECT = "/opt/hostile/libsource.so"
SECONDS, WAIT = 5, 60
PERIOD = 4000  # of each sample
KILOBYTES = 512 << 10 if harness.LONG else 256 << 10
LINES = 2000000 if harness.LONG else 200000
ROUNDS = 16000 if harness.LONG else 4000  # instructions of two files in turn
FILES = 64000 if harness.LONG else 32000  # a file for each instruction: a search of all files for each takes many times SECONDS
FORMS = {
    "text": ("annotate", "hot"), "csv": ("annotate", "--format=csv", "hot"), "json": ("annotate", "--format=json", "hot"),
    "by line": ("annotate", "--by-line", "hot"), "lines as csv": ("annotate", "--by-line", "--format=csv", "hot"),
    "lines as json": ("annotate", "--by-line", "--format=json", "hot"), "diff": ("annotate", "--diff", "BASE", "hot"),
    "page": ("view", "--sources", "--data", "-o", "-"), "page diff": ("view", "--sources", "--data", "-o", "-", "--diff", "BASE"),
}
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def sleb(number):
    made = b""
    while not -64 <= number < 64:
        made += bytes((number & 0x7f | 0x80,))
        number >>= 7
    return made + bytes((number & 0x7f,))


def at(address):
    return b"\0\x09\2" + address.to_bytes(8, "little")


def row(file, line, before, step=1):
    """The next row, `step` bytes on, when the line before was `before`."""
    return b"\4" + uleb(file) + b"\3" + sleb(line - before) + b"\2" + uleb(step) + b"\1"


END = b"\0\1\1"


def line_table(folder, names, program, line_range=14, opcode_base=13):
    """A line number program of version 5 with these files, whose names are in it."""
    header = bytes((1, 1, 1, 0xfb, line_range, opcode_base)) + bytes((0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1))
    header += b"\1\1\x08\1" + os.fsencode(folder) + b"\0" + b"\2\1\x08\2\x0b" + uleb(len(names))
    header += b"".join(os.fsencode(name) + b"\0\0" for name in names)
    unit = b"\5\0\x08\0" + len(header).to_bytes(4, "little") + header + program
    return len(unit).to_bytes(4, "little") + unit


def write_object(root, table, code):
    """An object of one function of one-byte instructions, and a recording with a sample at each of them."""
    info, abbrev, *_ = flood_objects.shared_files(1, b"", code)
    body = flood_objects.elf([(1, BASE, code)], b"\0hot\0", code, (info, abbrev, (b".debug_line", table)))
    os.makedirs(os.path.dirname(root + OBJECT), exist_ok=True)
    with open(root + OBJECT, "wb") as file:
        file.write(body)
    with open(root + "/perf.data", "wb") as file:
        file.write(flood_objects.recording([(OBJECT, [BASE + k for k in range(code)])]))


def run(root, words):
    """(standard output, problem)"""
    words = [root + "/perf.data" if word == "BASE" else word for word in words]
    with open(root + "/out", "w+b") as out, open(root + "/err", "w+b") as err:
        child = subprocess.Popen([harness.PERFRAY, *words, "--no-cache", "--symfs", root, root + "/perf.data"], stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=err, env={"HOME": root, "PATH": harness.PATH, "LC_ALL": "C"})
        timer = threading.Timer(WAIT, child.kill)
        timer.start()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        timer.cancel()
        out.seek(0)
        err.seek(0)
        messages = err.read().decode("utf-8", "replace")
        seconds = used.ru_utime + used.ru_stime
        problem = "" if child.returncode == 0 and seconds <= SECONDS and used.ru_maxrss <= KILOBYTES and not CONTROLS.search(messages) else \
            "status %d, %.1f s, %d KB, %s" % (child.returncode, seconds, used.ru_maxrss, messages[-300:])
        return out.read(), problem


def samples_in(form, out):
    if form == "csv":
        return sum(int(each["samples"]) for each in csv.DictReader(io.StringIO(out)))
    if form == "json":
        return sum(each["samples"][0] for each in json.loads(out)["functions"][0]["instructions"])
    if form == "lines as csv":
        return sum(int(each["self"]) for each in csv.DictReader(io.StringIO(out)) if not each["inlined"]) // PERIOD
    if form == "lines as json":
        return sum(each["self"] for each in json.loads(out)["functions"][0]["lines"] if each["inlined"] is None) // PERIOD
    return None


def check_forms(root, code, forms=FORMS):
    """The outputs by form."""
    texts = {}
    for form in forms:
        out, problem = run(root, FORMS[form])
        if problem:
            raise Wrong("%s: %s" % (form, problem))
        if form.startswith("page"):
            continue
        texts[form] = out.decode("utf-8")
        found = samples_in(form, texts[form])
        if found is not None and found != code:
            raise Wrong("%s: %d samples of %d" % (form, found, code))
        if CONTROLS.search(texts[form]):
            raise Wrong("%s: a control character of a file: %r" % (form, CONTROLS.findall(texts[form])[:5]))
    return texts


# --- Files.

def one_file(root, name, lines=(1, 2, 3, 4)):
    """A function whose instructions are of these lines of a file."""
    program = at(BASE) + b"".join(row(0, line, before, k > 0) for k, (line, before) in enumerate(zip(lines, (1, *lines)))) + b"\2\1" + END
    write_object(root, line_table(root + "/src", [name], program), len(lines))


def put(root, name, *parts, size=0):
    os.makedirs(root + "/src", exist_ok=True)
    with open("%s/src/%s" % (root, name), "wb") as file:
        for part in parts:
            file.write(part)
        if size:
            file.truncate(size)


def special(make):
    def check(root):
        os.makedirs(root + "/src")
        name = make(root + "/src/hot.c") or "hot.c"
        one_file(root, name)
        check_forms(root, 4)
    return check


def loop(path):
    os.symlink("hot2.c", path)
    os.symlink("hot.c", os.path.join(os.path.dirname(path), "hot2.c"))


def long_line(root):
    """1 GB in one line, of which almost nothing is on the disk."""
    for name, parts in (("hot.c", (b"int first;\n",)), ("full.c", (b"x" * (1 << 20),))):
        put(root, name, *parts, size=1 << 30)
        one_file(root, name)
        texts = check_forms(root, 4)
        if name == "hot.c" and "1   int first;" not in texts["text"]:
            raise Wrong("line 1 is not shown: %s" % texts["text"])


def numbers(root):
    """Lines after one that is too long to be shown."""
    put(root, "hot.c", b"int first;\n", b"x" * 100000 + b"\n", b"int third;\n", b"y" * 200000 + b"\n" + b"int fifth;\n")
    one_file(root, "hot.c", (1, 2, 3, 4, 5, 6))
    rows = json.loads(check_forms(root, 6)["lines as json"])["functions"][0]["lines"]
    found = {each["line"]: each["source"] for each in rows}
    if found != {1: "int first;", 2: None, 3: "int third;", 4: None, 5: "int fifth;", 6: None}:
        raise Wrong("%s" % {line: text and text[:40] for line, text in found.items()})


def controls(root):
    """Terminal codes, C1 controls, text that runs backwards, bytes that are no UTF-8."""
    name = "hot\x1b[2J\u202e.c"
    put(root, name, b"\x1b[31mred \x9b31m \xc2\x9b31m\n", "\u202eback\u2066wards\u2069\n".encode(), b"a\rb\x08\x7f\n", b"</script><!--\xff\xfe\n")
    one_file(root, name)
    texts = check_forms(root, 4)
    if "wards" not in texts["text"] or "red" not in texts["by line"]:
        raise Wrong("the lines are not shown: %s" % texts["text"])


def shrinks(root):
    """The file has 1 line and many by turns."""
    one_file(root, "hot.c", (1, 500, 20000, 40000))
    text = b"int line;\n" * 40000
    put(root, "hot.c", text)
    stop = threading.Event()

    def change():
        with open(root + "/src/hot.c", "r+b", buffering=0) as file:
            while not stop.is_set():
                file.truncate(10)
                file.seek(0)
                file.write(text)
    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(5):
            check_forms(root, 4)
    finally:
        stop.set()
        thread.join()


def in_turn(root):
    """Each instruction is of another file than the one before; the files are large."""
    for name in ("one.c", "two.c"):
        put(root, name, b"%s\n" % name.encode() * LINES)
    program = at(BASE) + b"".join(row(k % 2, 1 + k, k or 1, k > 0) for k in range(ROUNDS)) + b"\2\1" + END
    write_object(root, line_table(root + "/src", ["one.c", "two.c"], program), ROUNDS)
    if "2   two.c" not in check_forms(root, ROUNDS)["text"]:
        raise Wrong("the lines are not shown")


def diff_gone(root):
    """Of the older version each line is gone, and a function of many lines comes after the last of them that is left."""
    put(root, "hot.c", b"".join(b"new %d\n" % k for k in range(LINES)))
    os.makedirs(root + "/old" + root + "/src")
    with open(root + "/old" + root + "/src/hot.c", "wb") as file:
        file.writelines(b"old %d\n" % k for k in range(LINES))
    program = at(BASE) + b"".join(row(0, LINES - k, LINES - k + 1 if k else 1, k > 0) for k in range(ROUNDS)) + b"\2\1" + END
    write_object(root, line_table(root + "/src", ["hot.c"], program), ROUNDS)
    run_diff(root, "--base-source-dir", root + "/old")


def diff_files(root):
    """Each line is of another file."""
    program = at(BASE) + b"".join(row(k, 1, 1, k > 0) for k in range(FILES)) + b"\2\1" + END
    write_object(root, line_table(root + "/src", ["%s/%d.c" % ("x" * 60, k) for k in range(FILES)], program), FILES)
    check_forms(root, FILES, ("by line", "lines as csv", "page diff"))
    run_diff(root)
    run_diff(root, "--base-source-dir", root + "/old")


def run_diff(root, *more):
    out, problem = run(root, (*FORMS["diff"], *more))
    if problem or b" hot: " not in b" " + out:
        raise Wrong("diff: %s" % (problem or out[:300]))


def many_files(root):
    """More text than a listing may read."""
    names = ["f%d.c" % k for k in range(60)]
    for name in names:
        put(root, name, b"x" * 999 + b"\n", size=15 << 20)
    os.rename(root + "/src/f0.c", root + "/src/f60.c")
    put(root, "f0.c", b"int seen;\n")
    program = at(BASE) + b"".join(row(k % len(names), 1, 1, k > 0) for k in range(600)) + b"\2\1" + END
    write_object(root, line_table(root + "/src", names, program), 600)
    if "1   int seen;" not in check_forms(root, 600, ("text", "by line", "page"))["text"]:
        raise Wrong("the first file is not shown")


# --- Line tables that lie.

def table_of(program, code=64, **header):
    def check(root):
        put(root, "hot.c", b"int line;\n" * 100)
        write_object(root, line_table(root + "/src", ["hot.c", "hot.c"], program, **header), code)
        texts = check_forms(root, code)
        if "int line;" in texts["text"] and not re.search(r": \d{1,2}   int line;|: 100   int line;", texts["text"]):
            raise Wrong("text of a line that is not there: %s" % texts["text"][:300])
    return check


EACH = b"\2\1\1"  # a byte on, a row
CHECKS = {
    "sources fifo": special(os.mkfifo),
    "sources folder": special(os.mkdir),
    "sources device": special(lambda path: "/dev/zero"),
    "sources link to a device": special(lambda path: os.symlink("/dev/zero", path)),
    "sources loop of links": special(loop),
    "sources gone": special(lambda path: None),
    "sources file of the kernel": special(lambda path: "/proc/kmsg"),
    "sources a line of 1 GB": long_line,
    "sources numbers after long lines": numbers,
    "sources control characters": controls,
    "sources truncated while read": shrinks,
    "sources large files in turn": in_turn,
    "sources many large files": many_files,
    "sources all of whose lines are gone": diff_gone,
    "sources one for each line": diff_files,
    "lines past 2^31": table_of(at(BASE) + b"".join(b"\3" + sleb(by) + EACH for by in (1 << 31, (1 << 31) - 3, 1, 1, 1 << 32, -1 << 31, -1 << 62, 1 << 62)) + END),
    "lines of files that are not listed": table_of(at(BASE) + b"".join(b"\4" + uleb(file) + EACH for file in (2, 3, 99999, 1 << 31, 1 << 32, 1 << 63)) + END),
    "lines with addresses that go down": table_of(b"".join(at(BASE + 64 - k) + b"\3\1\1" for k in range(64)) + END),
    "lines with addresses that go down often": table_of(b"".join(at(BASE + 4096 - k % 4096) + b"\3" + sleb(1 - 100 * (k % 100 == 0)) + b"\1" for k in range(200000)) + END, 4096),
    "lines with sequences that overlap": table_of(b"".join(at(BASE + k % 64) + b"\3" + sleb(k % 100) + b"\1\2" + uleb(64) + b"\1" + END for k in range(50000))),
    "lines of addresses past 2^64": table_of(at(BASE) + EACH + b"\2" + uleb((1 << 64) - 1) + b"\1\2" + uleb(1 << 63) + b"\1\2" + uleb(1 << 63) + b"\1" + END),
    "lines at one address": table_of(at(BASE) + b"\3\1\1" * 1000000 + b"\2\x40" + END),
    "lines without end": table_of(at(BASE) + b"\3\1" + EACH * 64),
    "lines of range 0": table_of(at(BASE) + b"\x20\x30\xff" + EACH + END, line_range=0),
    "lines of no opcodes": table_of(at(BASE) + EACH + END, opcode_base=0),
    "lines of too many opcodes": table_of(at(BASE) + EACH + END, opcode_base=255),
}


def main():
    for name, check in CHECKS.items():
        if len(sys.argv) > 1 and not any(word in name for word in sys.argv[1:]):
            continue
        with harness.scratch("sources") as root:
            harness.attempt("hostile/" + name, check, root)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
