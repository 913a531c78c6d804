#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_quipper.py - recordings as quipper's PerfDataProto, and back.

usage: run_quipper.py SCHEMA RECORDED

Environment: PERFRAY, the command; PERFRAY_CORPUS, the corpus, whose golden dumps are skipped without. SCHEMA is
perf_data.proto, RECORDED the folder of recordings.

golden     the text is that of quipper, byte for byte; else each line that differs is one of RULES, which are counted
back       a recording, its PerfDataProto and what is made of that again have the same records in the same order, and the
           same features; in the order of time, the same records
text       protoc, where installed, prints our bytes as our text, and makes our bytes of our text; what is made of the text
           is a recording with the same samples, whose text is the same again
damage     a PerfDataProto cut short, or with a byte changed, gives a recording or a sentence, and status 0, 3 or 4

The recordings are ours and the small ones of those with golden dumps; with PERFRAY_LONG the whole corpus.
"""
import argparse
import collections
import concurrent.futures
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

PROTOC = shutil.which("protoc")
MARKED = 1 << 63  # set by quipper in addresses that lie in no mapping it knows
IDENTICAL_LEAST = 13  # of the golden dumps
CONTAINER = (64, 65, 66, 67, 80, 81, 83)  # records that other fields tell
PLACES = ("offset", "part", "inner", "inside", "event")
WRITER_MAKES = (18, 24, 27)  # features: places, the form, the compression


class Wrong(Exception):
    """A law that does not hold."""


def run(words, data=None):
    where = {"input": data} if data is not None else {"stdin": subprocess.DEVNULL}
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, check=False, **where)


def perfray(*words):
    return run([os.environ["PERFRAY"], *words])


def convert(path, out, *options, allowed=(0,)):
    done = perfray("convert", *options, path, "-o", out)
    if done.returncode not in allowed:
        raise Wrong("convert %s: status %d, %s" % (" ".join(options), done.returncode, done.stderr.decode()[:300]))
    return done


def read(path):
    with open(path, "rb") as file:
        return file.read()


# --- Golden dumps.

def blocks(text):
    """Outermost fields, each a list of lines."""
    found = []
    for line in text.split("\n"):
        if line and not line.startswith((" ", "}")):
            found.append([])
        if line:
            found[-1].append(line)
    return found


def named(block):
    """Each line with the names of the messages around it."""
    around = []
    for line in block:
        name = line.strip().split(" ")[0].rstrip(":")
        if name == "}":
            around.pop()
        yield line, ".".join(around + [name])
        if line.endswith("{"):
            around.append(name)


def without(block, known):
    """The block less the lines whose field is nowhere in the golden dump."""
    return [line for line, path in named(block) if line.strip() == "}" or path in known]


def number(block, name):
    found = re.search(r"^ *%s: (\d+)$" % name, "\n".join(block), re.M)
    return int(found[1]) if found else 0


def is_continued(first, second):
    """Anonymous memory that goes on where the mapping of a file ends."""
    start, length = number(first, "start"), number(first, "len")
    return "mmap_event" in "".join(second) and '//anon"' in "".join(second) and number(second, "start") == start + length


def with_length(block, length):
    return [re.sub(r"^(    len: )\d+$", r"\g<1>%d" % length, line) for line in block]


def is_marked(theirs, ours):
    """The same but for marks on addresses, or fewer samples that count as mapped."""
    if len(theirs) != len(ours):
        return False
    for their, our in zip(theirs, ours):
        name, _, value = their.partition(": ")
        other, _, mine = our.partition(": ")
        if their == our:
            continue
        if name != other or name.strip() not in ("callchain", "from_ip", "to_ip") or int(value) != int(mine) | MARKED:
            return False
    return True


def is_same_but_mapped(theirs, ours):
    """Counts that follow from joined mappings and marked addresses: no more of either than ours."""
    counts = ("num_mmap_events", "num_sample_events_mapped")
    rest = [[line for line in block if not any(name in line for name in counts)] for block in (theirs, ours)]
    return rest[0] == rest[1] and all(number(theirs, name) <= number(ours, name) for name in counts)


def explain(theirs, ours):
    """(Rule, blocks of theirs, of ours) for the blocks at the front, which differ; None."""
    if is_marked(theirs[0], ours[0]):
        return "addresses-in-no-mapping", 1, 1
    if len(ours) > 1 and is_continued(ours[0], ours[1]):
        whole = number(ours[0], "len") + number(ours[1], "len")
        if with_length(ours[0], whole) == theirs[0]:
            return "joined-mappings", 1, 2
    if theirs[0][0].startswith("stats") and ours[0][0].startswith("stats") and is_same_but_mapped(theirs[0], ours[0]):
        return "counts-of-quippers-mapping", 1, 1
    return None


def compare(golden, ours):
    """Rules by how often they were needed; empty: the same bytes."""
    used = collections.Counter()
    if golden == ours:
        return used
    known = {path for block in blocks(golden) for _, path in named(block)}
    theirs, rest = blocks(golden), blocks(ours)
    mine = [without(block, known) for block in rest]
    used["fields-of-later-versions"] = sum(map(len, rest)) - sum(map(len, mine))
    i = j = 0
    while i < len(theirs) and j < len(mine):
        if theirs[i] == mine[j]:
            i, j = i + 1, j + 1
            continue
        rule = explain(theirs[i:i + 2], mine[j:j + 2])
        if not rule:
            raise Wrong("line of quipper's that no rule explains: %s, ours %s" % (
                next((pair for pair in zip(theirs[i], mine[j]) if pair[0] != pair[1]), (theirs[i][0], mine[j][0]))))
        used[rule[0]] += 1
        i, j = i + rule[1], j + rule[2]
    if i < len(theirs) or j < len(mine):
        raise Wrong("%d fields of quipper's and %d of ours are left" % (len(theirs) - i, len(mine) - j))
    return +used


def golden_text(path):
    if not path.endswith(".zst"):
        return read(path)
    return run(["zstd", "-dcq", path]).stdout


def check_golden(path, folder):
    name = os.path.basename(path).split(".pb_text")[0]
    order = ["--order=file"] if name.endswith(".pr.out") else []
    out = os.path.join(folder, "text")
    convert(os.path.join(os.path.dirname(path), name.removesuffix(".pr.out")), out, "--to=quipper", "--text", *order,
            allowed=(0, 4))
    return compare(golden_text(path).decode("ascii"), read(out).decode("ascii"))


# --- There and back.

def shown(path):
    """Records and features as dump shows them."""
    records, features = [], []
    for line in perfray("dump", "--format=jsonl", path).stdout.decode("utf-8", "surrogateescape").splitlines():
        one = json.loads(line)
        kept = json.dumps({key: value for key, value in one.items() if key not in PLACES}, sort_keys=True)
        if "type" in one and one["type"] not in CONTAINER:
            records.append(kept)
        elif "bit" in one and one["bit"] not in WRITER_MAKES:
            features.append(kept)
    return records, features


def is_stream(path):
    return not os.path.isdir(path) and read(path)[8:16] in (b"\x10" + bytes(7), bytes(7) + b"\x10")


def check_back(path, folder):
    proto, back = os.path.join(folder, "proto"), os.path.join(folder, "back")
    records, features = shown(path)
    for options in (["--order=file"], []):
        convert(path, proto, "--to=quipper", *options)
        convert(proto, back, "--plain")
        again, kept = shown(back)
        if again != records if options else sorted(again) != sorted(records):
            raise Wrong("%d records, %d after quipper, and not the same" % (len(records), len(again)))
        if kept != features and not is_stream(path):
            raise Wrong("other features after quipper")


# --- Text and bytes.

OURS = re.compile(r"^ *201\d\d(:| \{)")


def without_ours(text):
    """protoc's text less what it shows of our fields, by their numbers."""
    lines, inside = [], None
    for line in text.split("\n"):
        if inside is None and OURS.match(line):
            inside = line[:len(line) - len(line.lstrip())] if line.endswith("{") else None
            continue
        if inside is not None:
            inside = None if line == inside + "}" else inside
            continue
        lines.append(line)
    return "\n".join(lines)


def protoc(schema, way, data):
    done = run([PROTOC, "--%s=quipper.PerfDataProto" % way, "-I", os.path.dirname(schema), schema], data)
    if done.returncode:
        raise Wrong("protoc --%s: %s" % (way, done.stderr.decode()[:300]))
    return done.stdout


def check_text(path, folder, schema):
    proto, text, back, again = (os.path.join(folder, name) for name in ("proto", "text", "back", "again"))
    convert(path, proto, "--to=quipper")
    convert(path, text, "--to=quipper", "--text", allowed=(0, 4))
    if PROTOC:
        if without_ours(protoc(schema, "decode", read(proto)).decode("ascii")) != read(text).decode("ascii"):
            raise Wrong("protoc shows another text of our bytes")
        with open(again, "wb") as file:
            file.write(protoc(schema, "encode", read(text)))
        convert(again, back, allowed=(0, 4))
        first = shown(back)
        convert(text, back, allowed=(0, 4))
        if shown(back) != first:
            raise Wrong("protoc's bytes and our text are different recordings")
    convert(text, back, allowed=(0, 4))
    samples = [sum('"type": 9,' in line for line in shown(name)[0]) for name in (path, back)]
    if samples[0] != samples[1]:
        raise Wrong("%d samples, %d out of the text" % tuple(samples))


# --- Damage.

def check_damage(path, folder):
    chance = random.Random(1)
    for options in ([], ["--text"]):
        proto, bad, out = (os.path.join(folder, name) for name in ("proto", "bad", "out"))
        convert(path, proto, "--to=quipper", *options, allowed=(0, 4))
        whole = read(proto)
        damaged = [whole[:chance.randrange(len(whole))] for _ in range(40)]
        for _ in range(80):
            at = chance.randrange(len(whole))
            damaged.append(whole[:at] + bytes([chance.randrange(256)]) + whole[at + 1:])
        for data in damaged:
            with open(bad, "wb") as file:
                file.write(data)
            done = perfray("convert", bad, "-o", out)
            if done.returncode not in (0, 3, 4) or (done.returncode and not done.stderr):
                raise Wrong("status %d of a damaged PerfDataProto: %s" % (done.returncode, done.stderr.decode()[:200]))


# --- The run.

def is_whole(path):
    done = perfray("info", "--stats", path)
    return done.returncode == 0 and not done.stderr


def guarded(law, path, *more):
    with tempfile.TemporaryDirectory(prefix="perfray-quipper-") as folder:
        try:
            return law(path, folder, *more), ""
        except (Wrong, subprocess.TimeoutExpired) as why:
            return None, "%s: %s" % (os.path.basename(path), why)


def judge(name, law, paths, *more):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda path: guarded(law, path, *more), paths))
    wrong = [text for _, text in results if text]
    for text in wrong:
        print("  " + text)
    print("%s edit/quipper %s (%d)" % ("not ok" if wrong else "ok", name, len(paths)), flush=True)
    return [found for found, text in results if not text], bool(wrong)


def judge_golden(paths):
    found, failed = judge("golden", check_golden, paths)
    rules = sum(found, collections.Counter())
    identical = sum(not one for one in found)
    print("  %d of %d are the same bytes; by rule: %s" % (
        identical, len(paths), ", ".join("%s %d" % pair for pair in sorted(rules.items()))))
    if identical < IDENTICAL_LEAST:
        print("not ok edit/quipper golden: fewer than %d are the same bytes" % IDENTICAL_LEAST)
    return failed or identical < IDENTICAL_LEAST


def corpus_files(root):
    with open(os.path.join(root, "index.tsv"), encoding="utf-8") as lines:
        names = [line.split("\t")[0] for line in lines][1:]
    paths = [os.path.join(root, name) for name in names if not name.startswith("hostile")]
    return [path for path in paths if is_whole(path)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("schema")
    parser.add_argument("recorded")
    options = parser.parse_args()
    root = os.path.join(os.environ.get("PERFRAY_CORPUS", ""), "perf")
    paths = [path for path in sorted(glob.glob(os.path.join(options.recorded, "*.data"))) if is_whole(path)]
    failed = False
    if os.path.isdir(root):
        golden = sorted(glob.glob(os.path.join(root, "quipper", "*.pb_text*")))
        failed |= judge_golden(golden)
        paths += corpus_files(root) if os.environ.get("PERFRAY_LONG") else [path.split(".pb_text")[0].removesuffix(".pr.out")
                                                          for path in golden if os.path.getsize(path) < 30000]
    else:
        print("skip edit/quipper golden: PERFRAY_CORPUS names no corpus")
    failed |= judge("back", check_back, paths)[1]
    failed |= judge("text" if PROTOC else "text without protoc", check_text, paths, options.schema)[1]
    failed |= judge("damage", check_damage, [os.path.join(options.recorded, name)
                                             for name in ("two-events.data", "user-regs.data")])[1]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
