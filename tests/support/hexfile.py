#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hexfile.py - reads byte fixtures written as text, and makes files from them.

usage: hexfile.py NAME.hex              > record.bin    the bytes, unchanged
       hexfile.py --file NAME.hex       > perf.data a complete file with these bytes
       hexfile.py --pipe NAME.hex       > perf.data a complete pipe stream with these bytes
       hexfile.py --expect NAME.hex                     the expected fields, one per line
       hexfile.py --perf-lines NAME.hex                 the output of the installed perf
       hexfile.py --check NAME.hex...                   checks that offsets, sizes and words are consistent
       hexfile.py --check-perf NAME.hex...              checks that --perf-lines equals the stored `perf:` lines

Exit status of the checks: 0 all equal, 1 something differs, 77 skipped (perf is not installed).

The fixture format is described in tests/fixtures/hex/README.md.  This program knows only the container (header, attrs,
section table, pipe header) and not the layout of records, so that it cannot repeat a layout error of the library.
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

BYTES_LINE = re.compile(r"^([0-9a-f]{4,}):((?: [0-9a-f]{2})+)\s*(?:#.*)?$")
WORD_LINE = re.compile(r"^(kind|ctx|expect|perf):(?: (.*))?$")
KINDS = ("record", "feature", "attr", "file")
CTX_DEFAULTS = {
    "type": 1, "config": 0, "sample_period": 250000, "sample_type": 0x107, "read_format": 0,
    "flags": 0, "sample_id_all": 0, "branch_sample_type": 0, "sample_regs_user": 0,
    "sample_stack_user": 0, "sample_regs_intr": 0, "attr_size": 128, "nr_cpus": 0, "ids": (),
    "pipe_only": 0, "features": 0, "dump_by_script": 0, "comp_mmap_len": 0,
    "buildid_list": 0, "nr_attrs": 1,
}
SAMPLE_ID_ALL_BIT = 18
FEATURE_NRCPUS = 7
FEATURE_COMPRESSED = 27


class BadFixture(Exception):
    """The text does not follow the fixture format."""


class Fixture:
    """One parsed .hex file: its bytes, its context words, and the expected fields."""

    def __init__(self, path):
        self.path = path
        self.name = os.path.splitext(os.path.basename(path))[0]
        self.kind, self.feature = "record", None
        self.ctx = dict(CTX_DEFAULTS)
        self.expect, self.perf, self.data = [], [], b""
        with open(path, encoding="utf-8") as text:
            for number, line in enumerate(text, 1):
                self.take_line(number, line.rstrip("\n"))
        if not self.data and not self.is_empty_feature():
            self.fail(0, "no bytes")

    def fail(self, number, message):
        raise BadFixture("%s:%d: %s" % (self.path, number, message))

    def is_empty_feature(self):
        return self.kind == "feature"

    def take_line(self, number, line):
        if not line.strip() or line.startswith("#"):
            return
        found = BYTES_LINE.match(line)
        if found:
            if int(found.group(1), 16) != len(self.data):
                self.fail(number, "offset is %s, %#x bytes came before" % (found.group(1), len(self.data)))
            self.data += bytes.fromhex(found.group(2))
            return
        found = WORD_LINE.match(line)
        if not found:
            self.fail(number, "neither bytes nor a known word")
        self.take_word(number, found.group(1), found.group(2) or "")

    def take_word(self, number, word, rest):
        if word == "kind":
            parts = rest.split()
            if parts[0] not in KINDS:
                self.fail(number, "unknown kind %s" % rest)
            self.kind = parts[0]
            self.feature = int(parts[1]) if self.kind == "feature" else None
        elif word == "ctx":
            for pair in rest.split():
                name, value = pair.split("=", 1)
                if name not in CTX_DEFAULTS:
                    self.fail(number, "unknown context word %s" % name)
                numbers = tuple(int(number, 0) for number in value.split(","))
                self.ctx[name] = numbers if name == "ids" else numbers[0]
        elif word == "expect":
            if " = " not in rest:
                self.fail(number, "expect needs `field = value`")
            self.expect.append(rest)
        else:
            self.perf.append(rest)

    def check(self):
        """Checks that do not need the layout of the fixture."""
        if self.kind != "record":
            return
        size = struct.unpack_from("<H", self.data, 6)[0]
        kind = struct.unpack_from("<I", self.data, 0)[0]
        if size > len(self.data) or (size != len(self.data) and kind not in (66, 71)):
            self.fail(0, "header.size is %d, the record has %d bytes" % (size, len(self.data)))
        if not self.expect:
            self.fail(0, "nothing is expected")


def make_attr(ctx):
    """A perf_event_attr of ctx.attr_size bytes from the context words."""
    flags = ctx["flags"] | ctx["sample_id_all"] << SAMPLE_ID_ALL_BIT
    attr = struct.pack("<IIQQQQQIIQQQQIiQ", ctx["type"], ctx["attr_size"], ctx["config"], ctx["sample_period"],
                       ctx["sample_type"], ctx["read_format"], flags, 0, 0, 0, 0, ctx["branch_sample_type"],
                       ctx["sample_regs_user"], ctx["sample_stack_user"], 0, ctx["sample_regs_intr"])
    return attr.ljust(144, b"\0")[:ctx["attr_size"]]


def features_of(fixture):
    """The feature sections that the file needs: the fixture's own and those that the context requests."""
    features = {}
    if fixture.ctx["nr_cpus"]:
        features[FEATURE_NRCPUS] = struct.pack("<II", fixture.ctx["nr_cpus"], fixture.ctx["nr_cpus"])
    if fixture.ctx["comp_mmap_len"]:
        features[FEATURE_COMPRESSED] = struct.pack("<IIIII", 0, 1, 1, 2, fixture.ctx["comp_mmap_len"])
    if fixture.kind == "feature":
        features[fixture.feature] = fixture.data
    return features


def make_file(fixture):
    """A seekable file: header, ids, attrs, the record, section table, sections."""
    if fixture.kind == "file":
        return fixture.data
    attrs, ids, count = attrs_of(fixture)
    body = fixture.data if fixture.kind == "record" else make_record(68, b"")
    attrs_at = 104 + len(ids)
    data_at = attrs_at + len(attrs)
    features = features_of(fixture)
    bitmap = fixture.ctx["features"]
    for bit in features:
        bitmap |= 1 << bit
    section_at = data_at + len(body) + 16 * bin(bitmap).count("1")
    table, sections = b"", b""
    for bit in (bit for bit in range(256) if bitmap >> bit & 1):
        payload = features.get(bit, b"")
        table += struct.pack("<QQ", section_at + len(sections), len(payload))
        sections += payload
    header = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, len(attrs) // count, attrs_at, len(attrs),
                                       data_at, len(body), 0, 0) + bitmap.to_bytes(32, "little")
    return header + ids + attrs + body + table + sections


def attrs_of(fixture):
    """Returns the section of attrs, the ids before it, and the number of attrs. A single attr has all ids of the
context; each of several attrs has one id.
    """
    attr = fixture.data if fixture.kind == "attr" else make_attr(fixture.ctx)
    numbers, count = fixture.ctx["ids"], fixture.ctx["nr_attrs"]
    share = 8 * len(numbers) // count
    attrs = b"".join(attr + struct.pack("<QQ", 104 + index * share if share else 0, share) for index in range(count))
    return attrs, b"".join(struct.pack("<Q", number) for number in numbers), count


def make_record(kind, payload):
    return struct.pack("<IHH", kind, 0, 8 + len(payload)) + payload


def make_pipe(fixture):
    """A stream: header, HEADER_ATTR, features as records, the record."""
    if fixture.kind == "file":
        return fixture.data
    out = b"PERFILE2" + struct.pack("<Q", 16)
    own_attr = fixture.kind == "record" and struct.unpack_from("<I", fixture.data, 0)[0] == 64
    attr = fixture.data if fixture.kind == "attr" else make_attr(fixture.ctx)
    ids = b"".join(struct.pack("<Q", number) for number in fixture.ctx["ids"])
    if not own_attr:
        out += make_record(64, attr + ids)
    for bit, payload in sorted(features_of(fixture).items()):
        out += make_record(80, struct.pack("<Q", bit) + payload)
    return out + (fixture.data if fixture.kind == "record" else make_record(68, b""))


def run_on(command, content):
    """Returns (lines of standard output, exit status) of a command whose last argument is a file with this content."""
    folder = tempfile.mkdtemp(prefix="perfray-hex-")
    try:
        path = os.path.join(folder, "perf.data")
        with open(path, "wb") as out:
            out.write(content)
        env = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC", "HOME": "/nonexistent",
               "PAGER": "cat", "COLUMNS": "200"}
        done = subprocess.run(command + [path], env=env, cwd=folder, timeout=60,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        text = done.stdout.decode("utf-8", "backslashreplace").replace(path, "FILE")
        return text.split("\n"), done.returncode
    finally:
        shutil.rmtree(folder)


def run_perf(arguments, content):
    """Returns the lines of perf's standard output for a file with this content; perf's exit status means little."""
    return run_on(["perf"] + arguments + ["-f", "-i"], content)[0]


def make_container(fixture):
    """Returns the file to dump, and the offset of the record in the dump."""
    piped = fixture.ctx["pipe_only"]
    content = make_pipe(fixture) if piped else make_file(fixture)
    return content, content.rindex(fixture.data) - (16 if piped else 0)


def lines_of_record(dump, at):
    """Returns, from a dump in perf's format, the line of the record at an offset and the lines below it, without the
    hex."""
    mark = re.compile(r"(?:^|\s)(?:0x)?%x \[0x[0-9a-f]+\]: (?!event: )" % at)
    lines, inside = [], False
    for line in dump:
        if mark.search(line):
            inside = True
        elif inside and (not line.strip() or re.match(r"^(0x[0-9a-f]+ \[|Aggregated stats|Error:|#)", line)):
            break
        if inside and not re.match(r"^\. (ASCII|\.|$)|^\.  [0-9a-f]{4}:|^\.$", line):
            lines.append(line.replace("%#x [" % at, "@ [", 1).replace(" %x [" % at, " @ [", 1).rstrip())
    return lines


def dump_lines(fixture):
    """The output of perf report -D for the fixture's record."""
    content, at = make_container(fixture)
    verb = "script" if fixture.ctx["dump_by_script"] else "report"
    return lines_of_record(run_perf([verb, "-D", "--no-inline", "--symfs=/nonexistent"], content), at)


def header_lines(fixture):
    """The lines of perf report --header-only -I that this fixture's feature adds or changes."""
    noise = ("# captured on", "# data offset", "# data size", "# feat offset", "# missing features")
    bare = Fixture(fixture.path)
    bare.kind = "record"
    bare.data = make_record(68, b"")
    lines = [line for line in run_perf(["report", "--header-only", "-I"], make_file(fixture))]
    base = set(run_perf(["report", "--header-only", "-I"], make_file(bare)))
    return [line.rstrip() for line in lines if line.strip() and line not in base and not line.startswith(noise)]


def perf_lines(fixture):
    """The output of the installed perf for the fixture; the command depends on the kind of the fixture."""
    if fixture.kind == "record":
        return dump_lines(fixture)
    if fixture.ctx["buildid_list"]:
        return [line.rstrip() for line in run_perf(["buildid-list"], make_file(fixture)) if line.strip()]
    if fixture.kind == "feature":
        return header_lines(fixture)
    return [line.rstrip() for line in run_perf(["evlist", "-v"], make_file(fixture)) if line.strip()]


def check_all(paths, compare):
    """Runs one comparison with many fixtures, and prints each difference and a last line with counts."""
    failed = 0
    for path in paths:
        try:
            message = compare(Fixture(path))
        except (BadFixture, ValueError, subprocess.TimeoutExpired) as bad:
            message = str(bad)
        if message:
            failed += 1
            print("not equal: %s\n%s" % (path, message))
    print("%d fixtures, %d differ" % (len(paths), failed))
    return 1 if failed else 0


def compare_with_perf(fixture):
    if not fixture.perf:
        return None
    got = perf_lines(fixture)
    if got == fixture.perf:
        return None
    return "\n".join(["  stored: " + line for line in fixture.perf] + ["  perf:   " + line for line in got])


def main(argv):
    if len(argv) == 2 and not argv[1].startswith("-"):
        argv = [argv[0], "--record", argv[1]]
    if len(argv) < 3:
        sys.stderr.write(__doc__)
        return 2
    mode, paths = argv[1], argv[2:]
    makers = {"--record": lambda f: f.data, "--file": make_file, "--pipe": make_pipe}
    texts = {"--expect": lambda f: f.expect, "--perf-lines": perf_lines}
    if mode in makers and len(paths) == 1:
        sys.stdout.buffer.write(makers[mode](Fixture(paths[0])))
        return 0
    if mode == "--check":
        return check_all(paths, Fixture.check)
    if mode not in texts and mode != "--check-perf":
        sys.stderr.write(__doc__)
        return 2
    if mode != "--expect" and not shutil.which("perf"):
        print("skipped: perf is not installed")
        return 77
    if mode == "--check-perf":
        return check_all(paths, compare_with_perf)
    print("\n".join(texts[mode](Fixture(paths[0]))))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv))
    except BadFixture as bad:
        sys.stderr.write("hexfile.py: %s\n" % bad)
        sys.exit(3)
