#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_convert.py - checks that convert writes the same recording, in every form.

usage: run_convert.py RECORDED

RECORDED is the folder of recordings. Environment: PERFRAY, the command; PERFRAY_CORPUS, the corpus, optional; PERFRAY_LONG, optional: every file is converted
to every form, and perf checks all of them.

Every undamaged recording is converted without options: its bytes must be the same, or one of REASONS must apply; the records and features that dump shows must
be the same. Then it is converted to every form of FORMS (recordings of the corpus to every second form: is_tried) and back into a file: all fields of the
kernel's records must be the same. If perf is installed, it must print the same script, events and build-ids for the original and for the file converted without
options. For the other forms (asks_perf), it must count as many samples, and print no error (STOPPED) unless it prints one for the original.
"""
import argparse
import collections
import concurrent.futures
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402

FORMS = (["--byte-order=big"], ["--to=pipe"], ["--to=directory"], ["--compress"], ["--plain"], ["--to=pipe", "--compress"],
         ["--to=directory", "--compress=3", "--byte-order=big"])
PERF = shutil.which("perf")
LARGEST = 1 << 20
PLACES = ("offset", "part", "inner", "inside", "event")


class Wrong(Exception):
    """A violated law."""


def run(words, **more):
    return harness.run(words, timeout=300, **more)


def perfray(*words):
    return harness.perfray(*words, timeout=300)


def shown(path, kernel_only):
    """Lines of dump without their positions. Fields are compared as text, because decoding them all would take longer than the rest of the test."""
    lines = []
    for line in perfray("dump", "--format=jsonl", path).stdout.splitlines():
        head, between, fields = line.partition(b',"fields":')
        one = json.loads(head + b"}" if between else head)
        if "type" not in one and "bit" not in one or one.get("type") in (81, 83):
            continue
        if kernel_only and one.get("type", 64) >= 64:
            continue
        if one.get("bit") in (18, 24, 27):  # records about the container: positions, form, compression
            continue
        lines.append((str([pair for pair in one.items() if pair[0] not in PLACES]), fields))
    return sorted(lines) if kernel_only else lines


# --- Reasons why bytes may differ.

def has_event_types(data, _):
    """The obsolete section of names."""
    return struct.unpack_from("<Q", data, 64)[0] != 0 or struct.unpack_from(">Q", data, 64)[0] != 0


def is_version_1(data, _):
    return data[:8] == b"PERFFILE"


def has_long_entries(data, order):
    """Whether entries of attrs have unused bytes after the attr, or ids are not directly after the header."""
    entry, attrs = struct.unpack_from(order + "QQ", data, 16)
    size, = struct.unpack_from(order + "I", data, attrs + 4)
    ids, = struct.unpack_from(order + "Q", data, attrs + entry - 16)
    return (size or 64) + 16 != entry or ids != 104 or struct.unpack_from(order + "Q", data, 8)[0] != 104


def has_room_before(data, order):
    """Whether the records do not begin directly after the attrs."""
    attrs, size, begin = struct.unpack_from(order + "QQQ", data, 24)
    return attrs + size != begin


def has_index(data, order):
    """The index of AUX data is made again."""
    return int.from_bytes(data[72:104], "little" if order == "<" else "big") >> 18 & 1 == 1


def has_features_elsewhere(data, order):
    """Payloads in another order than their bits, or with gaps between them; slots with an offset but no bytes."""
    offset, size = struct.unpack_from(order + "QQ", data, 40)
    bits, at, end = int.from_bytes(data[72:104], "little" if order == "<" else "big"), offset + size, 0
    count = bin(bits).count("1")
    slots = [struct.unpack_from(order + "QQ", data, at + 16 * i) for i in range(count)]
    first = min((place for place, length in slots if length), default=0)
    spare = data[at + 16 * count:first]
    end = first
    for place, length in slots:
        if place != end:
            return True
        end = place + length
    return end != len(data) or any(spare)


REASONS = {"event_types": has_event_types, "version 1": is_version_1, "room in attrs": has_long_entries,
           "room before records": has_room_before, "index": has_index, "order of features": has_features_elsewhere}


def reason_for(data):
    order = ">" if data[:8] == b"2ELIFREP" else "<"
    return next((name for name, holds in REASONS.items() if holds(data, order)), None)


# --- Laws.

def convert(path, out, *options):
    if os.path.isdir(out):
        shutil.rmtree(out)
    elif os.path.exists(out):
        os.unlink(out)
    done = perfray("convert", *options, path, "-o", out)
    if done.returncode or done.stderr:
        raise Wrong("convert %s: status %d, %s" % (" ".join(options), done.returncode, done.stderr.decode().strip()[:300]))


def bytes_of(path):
    if not os.path.isdir(path):
        with open(path, "rb") as file:
            return file.read()
    return b"".join(bytes_of(os.path.join(path, name)) for name in sorted(os.listdir(path)) if name.startswith("data"))


def is_stream(path):
    return not os.path.isdir(path) and bytes_of(path)[8:16] in (struct.pack("<Q", 16), struct.pack(">Q", 16))


def perf_words(path):
    return (["script", "--no-inline", "--symfs=/nonexistent", "-f", "-i", path], ["evlist", "-v", "-f", "-i", path],
            ["buildid-list", "-f", "-i", path])


# Positions in the file, and names that perf makes in each run.
CHANGING = re.compile(rb"0x[0-9a-f]+ \[|/tmp/perf-vdso[^ \n]*")


# Offsets of fields that perf evlist prints even for short attrs, from uninitialized memory.
BEGINS = {b"branch_sample_type": 72, b"sample_regs_user": 80, b"sample_stack_user": 88, b"sample_regs_intr": 96,
          b"aux_watermark": 104, b"sample_max_stack": 108, b"aux_sample_size": 112, b"sig_data": 128}
FIELD = re.compile(rb", (%s): [^ ,]+" % b"|".join(BEGINS))


def of_attr(line):
    """A line of perf evlist without the fields that the attr does not have."""
    size = re.search(rb": size: (\d+)", line)
    return FIELD.sub(lambda field: b"" if size and int(size[1]) <= BEGINS[field[1]] else field[0], line)


def perf(words, path, **more):
    environment = dict(os.environ, LC_ALL="C", TZ="UTC", HOME="/nonexistent")
    done = run([PERF, *words], env=environment, **more)
    shown_now = b"\n".join(map(of_attr, done.stdout.split(b"\n"))) if words[0] == "evlist" else done.stdout
    return done.returncode, *(CHANGING.sub(b"", text.replace(os.fsencode(path), b"FILE")) for text in (shown_now, done.stderr))


# An index of AUX data that perf cannot use is made again; perf then shows the data that it finds with the new index.
INDEX_LACKS = b"Failed to process auxtrace index"


def first_difference(before, after):
    if before[0] != after[0]:
        return "status %d, %d" % (before[0], after[0])
    for their, our in zip(b"".join(before[1:]).split(b"\n"), b"".join(after[1:]).split(b"\n")):
        if their != our:
            return "%s\n    %s" % (their.decode("utf-8", "replace")[-300:], our.decode("utf-8", "replace")[-300:])
    return "more lines in one"


def check_perf(path, out):
    """All texts, for a file that was written unchanged."""
    for theirs, ours in zip(perf_words(path), perf_words(out)):
        before, after = perf(theirs, path), perf(ours, out)
        if INDEX_LACKS in before[2] and INDEX_LACKS not in after[2]:
            continue
        if before != after:
            raise Wrong("perf %s differs: %s" % (ours[0], first_difference(before, after)))


COUNTED = re.compile(rb"^ *SAMPLE events: *([0-9]+)", re.M)
STOPPED = re.compile(rb"failed to process|incompatible|out of order|unexpected end", re.I)


def perf_dump(path):
    """A stream is passed through a pipe: in a stream file, perf loses its position after AUX data that it prints."""
    if not is_stream(path):
        return perf(["report", "-D", "-f", "-i", path], path)
    return perf(["report", "-D", "-f", "-i", "-"], path, input=bytes_of(path))


def check_perf_form(path, out, options):
    """Checks that perf counts the same number of samples, without new messages. False: perf does not count the samples of the original."""
    before, after = (perf_dump(name) for name in (path, out))
    counts = [COUNTED.findall(text[1])[:1] for text in (before, after)]
    if not counts[0]:
        return False
    trouble = STOPPED.search(after[2]) and not STOPPED.search(before[2])
    if counts[0] != counts[1] or trouble:
        raise Wrong("perf counts %s of %s in %s: %s" % (counts[1], counts[0], " ".join(options), after[2][-200:]))
    return True


def perf_knows(path, out):
    """Excludes streams of the other byte order, in which perf 6.1 does not swap the numbers of features, and files of perf stat."""
    return PERF and "stat" not in os.path.basename(path) and not (is_stream(out) and bytes_of(out)[:8] == b"2ELIFREP")


def is_whole(path):
    done = perfray("info", "--stats", path)
    return done.returncode == 0 and not done.stderr


def asks_perf(path, options):
    """Whether perf checks this form: a third of the forms of each file, so that each form is checked for a third of the files; all with PERFRAY_LONG."""
    return harness.LONG or (zlib.crc32(os.path.basename(path).encode()) + FORMS.index(options)) % 3 == 0


def is_tried(path, options):
    """Whether this form is tested: each recording of the corpus is converted to half of the forms, alternately; our own recordings, and with PERFRAY_LONG all,
    to every form."""
    is_ours = not path.startswith(harness.corpus() or "/nonexistent/")
    return is_ours or harness.LONG or (zlib.crc32(os.path.basename(path).encode()) // 3 + FORMS.index(options)) % 2 == 0


def check_one(path, folder):
    """The reason why the bytes of the output differ, or "identical"."""
    out, back = os.path.join(folder, "out"), os.path.join(folder, "back")
    convert(path, out)
    if shown(path, False) != shown(out, False):
        raise Wrong("dump shows something else")
    why = "identical" if bytes_of(path) == bytes_of(out) else "directory" if os.path.isdir(path) else reason_for(bytes_of(path))
    if not why:
        raise Wrong("other bytes, for no reason")
    if PERF and not os.path.isdir(path):
        check_perf(path, out)
    records, judged = shown(path, True), True
    for options in (form for form in FORMS if is_tried(path, form)):
        convert(path, out, *options)
        if asks_perf(path, options) and perf_knows(path, out) and "simpleperf" not in path:
            judged = check_perf_form(path, out, options) and judged
        convert(out, back, "--to=file", "--byte-order=little")
        if shown(back, True) != records:
            raise Wrong("other records after %s and back" % " ".join(options))
    return why if judged else why + ", nothing in perf"


def check(path):
    with harness.scratch("convert") as folder:
        try:
            if not is_whole(path):
                return path, "damaged", ""
            return path, check_one(path, folder), ""
        except (Wrong, subprocess.TimeoutExpired) as why:
            return path, "wrong", str(why)


def judge(name, paths):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(check, paths))
    wrong = [(path, text) for path, _, text in results if text]
    counts = collections.Counter(kind for _, kind, _ in results)
    figures = ", ".join("%s %d" % pair for pair in sorted(counts.items()))
    harness.result("edit/convert %s (%d: %s)" % (name, len(paths), figures), ["%s: %s" % (os.path.basename(path), text) for path, text in wrong])


def corpus():
    root = harness.corpus("perf")
    with open(os.path.join(root, "index.tsv"), encoding="utf-8") as lines:
        names = [line.split("\t")[0] for line in lines][1:]
    paths = [os.path.join(root, name) for name in names if not name.startswith("hostile")]
    return [path for path in paths if os.path.isdir(path) or os.path.getsize(path) <= LARGEST]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("recorded")
    options = parser.parse_args()
    judge("recordings of our own", sorted(glob.glob(os.path.join(options.recorded, "*.data"))))
    if harness.corpus():
        judge("the corpus", corpus())
    else:
        harness.skip("edit/convert", "the corpus: PERFRAY_CORPUS names no corpus")
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
