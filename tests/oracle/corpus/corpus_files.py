# SPDX-License-Identifier: Apache-2.0
"""The corpus on disk: its data files, their reference outputs, and the facts about a file that the comparison needs
(byte order, pipe or file, finished or not), which are read from its first bytes and never from its name.

Two kinds of files are compared with the outputs of another file, as the README of the corpus says: files that perf 6.1
refuses have a twin in an older form (`abi128.*`, `c1.*`, `abi128c1.*`), and files in the other byte order, of which
perf 6.1 swaps some fields wrongly, are byte-swapped copies (`be.*`) of files whose outputs are right. If a twin's attrs
were cut to 128 bytes, `evlist -v` shows that size; it is replaced by the original's before the comparison.
"""
import os
import re
import subprocess
from dataclasses import dataclass, field

OUTPUT_SUFFIX = re.compile(
    r"\.(header|script|dso|extra|trace|events|stats|evlist|buildid|report|dump|stat|run)\.txt(\.zst)?$"
    r"|\.pb_text(\.zst)?$|\.golden\.[\w.]+$|\.jit-\d+\.dump$|\.perf-[^/]*\.map$|\.md$|\.tsv$")
TWIN_PREFIXES = ("abi128c1.", "abi128.", "c1.")
STOPPED = re.compile(r"failed to process|bad event header size|Couldn't decompress|^Error:")


@dataclass
class Reference:
    """One expected output: its text, and whether perf reached the end of the file."""
    text: str
    complete: bool = True
    moved: bool = False  # a twin whose COMPRESSED records have another size, so that later offsets differ


@dataclass
class DataFile:
    path: str
    folder: str
    name: str
    hostile: bool
    big_endian: bool = False
    pipe: bool = False
    unfinished: bool = False
    attr_size: int = 0
    runs: dict = field(default_factory=dict)

    @property
    def label(self):
        return os.path.basename(self.folder) + "/" + self.name


def read_text(path):
    """The text of `path` or of `path`.zst; None if neither exists. Bytes that are not UTF-8 stay distinguishable."""
    if os.path.exists(path):
        with open(path, "rb") as source:
            return source.read().decode("utf-8", "surrogateescape")
    if os.path.exists(path + ".zst"):
        done = subprocess.run(["zstd", "-dcq", path + ".zst"], stdout=subprocess.PIPE, check=True)
        return done.stdout.decode("utf-8", "surrogateescape")
    return None


def read_facts(data):
    path = os.path.join(data.path, "data") if os.path.isdir(data.path) else data.path
    with open(path, "rb") as source:
        head = source.read(64)
    data.big_endian = head[:8] == b"2ELIFREP"
    order = "big" if data.big_endian else "little"
    data.pipe = int.from_bytes(head[8:16], order) == 16
    data.attr_size = 0 if data.pipe else int.from_bytes(head[16:24], order) - 16
    data.unfinished = not data.pipe and len(head) >= 56 and int.from_bytes(head[48:56], order) == 0


def read_runs(path):
    """How each reference output was made: {output: (exit status, number of lines, complaints)}."""
    runs, current = {}, None
    for line in (read_text(path) or "").split("\n"):
        ended = re.match(r"# (\w+): exit (-?\d+), (\d+) lines", line)
        if ended:
            current = ended[1]
            runs[current] = (int(ended[2]), int(ended[3]), [])
        elif line.startswith("! ") and current:
            runs[current][2].append(line[2:].rstrip())
    return runs


def list_data_files(root):
    """Every data file (or recorded directory) of the corpus, hostile ones included."""
    found = []
    for folder in sorted(os.listdir(root)):
        full = os.path.join(root, folder)
        if not os.path.isdir(full):
            continue
        for name in sorted(os.listdir(full)):
            if OUTPUT_SUFFIX.search(name):
                continue
            data = DataFile(os.path.join(full, name), full, name, folder == "hostile")
            read_facts(data)
            data.runs = read_runs(data.path + ".run.txt")
            found.append(data)
    return found


def reference_source(data, files):
    """The data file whose outputs are the reference for `data`: usually `data` itself."""
    for prefix in TWIN_PREFIXES:
        for other in files:
            if other.folder == data.folder and other.name == prefix + data.name:
                return other
    if data.big_endian:
        for other in files:
            if "be." + other.name == data.name:
                return other
    return data


def find_reference(data, files, output):
    """The expected text of `output`; None: the corpus has no such text."""
    source = reference_source(data, files)
    if output == "pb_text":
        text = read_text(source.path + ".pb_text")
        text = read_text(source.path + ".pr.out.pb_text") if text is None else text
        return None if text is None else Reference(text)
    status, lines, complaints = source.runs.get(output, (1, 0, []))
    complete = status == 0 and not any(STOPPED.search(line) for line in complaints)
    text = read_text("%s.%s.txt" % (source.path, output))
    if text is None and output == "buildid" and lines == 0 and complete and not source.unfinished:
        text = ""
    if text and output == "evlist" and source.attr_size != data.attr_size:
        text = text.replace("size: %d," % source.attr_size, "size: %d," % data.attr_size)
    if output == "dump" and text is not None and not complete and "PERF_RECORD_" not in text:
        text = None
    moved = source is not data and source.name.startswith(("abi128c1.", "c1."))
    return None if text is None else Reference(text, complete, moved)
