#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_quipper.py - tests the conversion of recordings to quipper's PerfDataProto and back.

usage: run_quipper.py SCHEMA RECORDED

Environment: PERFRAY, the command; PERFRAY_CORPUS, the corpus with golden dumps, optional. SCHEMA is perf_data.proto,
RECORDED the folder of recordings.

golden     the text equals quipper's, byte for byte; for dumps made by older versions, with the options of OLDER
back       a recording that is converted to a PerfDataProto and back has the same records in the same order, and the same
           features; in time order, and with fields left out, it has the same records
text       protoc, if installed, converts our bytes to our text and back; the text converts to a recording with the same
           samples, whose text is the same
damage     a PerfDataProto that is truncated, or has a changed byte, gives a recording or a message, and status 0, 3 or 4

The recordings are ours and the small ones with golden dumps; with PERFRAY_LONG the whole corpus.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402

PROTOC = shutil.which("protoc")
CONTAINER = (64, 65, 66, 67, 80, 81, 83)  # records that are represented by other fields
PLACES = ("offset", "part", "inner", "inside", "event")
WRITER_MAKES = (18, 24, 27)  # features: places, the form, the compression
HEADER_TRACING_DATA, TRACING_DATA = 66, 1  # a record, a feature


class Wrong(Exception):
    """A violated law."""


def run(words, data=None):
    return harness.run(words, timeout=300, input=data)


def perfray(*words):
    return run([harness.PERFRAY, *words])


def convert(path, out, *options, allowed=(0,)):
    done = perfray("convert", *options, path, "-o", out)
    if done.returncode not in allowed:
        raise Wrong("convert %s: status %d, %s" % (" ".join(options), done.returncode, done.stderr.decode()[:300]))
    return done


def read(path):
    with open(path, "rb") as file:
        return file.read()


# --- Golden dumps.

ROOTS = "root_path,root_path_md5_prefix"
OLDER = {  # fields missing in messages of an older schema, and its representation of addresses
    "quipper.busy.0-3.4": ["--without=%s,ksymbol" % ROOTS],
    "quipper.callgraph-3.8": ["--without=%s,ksymbol" % ROOTS, "--mark-unmapped"],
    "quipper.callgraph_and_branch-3.4": ["--without=%s,ksymbol,branch_stack.type,branch_stack.spec,no_hw_idx,"
                                         "branch_stack_hw_idx" % ROOTS, "--mark-unmapped"],
    "quipper.piped.target-3.4": ["--without=%s,use_clockid,context_switch,write_backward,namespaces,cgroup,ksymbol" % ROOTS],
    "quipper.piped.target.throttled-3.4": [
        "--without=%s,use_clockid,context_switch,write_backward,namespaces,cgroup,ksymbol" % ROOTS],
    "quipper.systemwide.1-3.4": ["--without=%s,ksymbol" % ROOTS],
}


def golden_text(path):
    if not path.endswith(".zst"):
        return read(path)
    return run(["zstd", "-dcq", path]).stdout


def check_golden(path, folder):
    name = os.path.basename(path).split(".pb_text")[0]
    options = ["--order=file"] if name.endswith(".pr.out") else OLDER.get(name, [])
    out = os.path.join(folder, "text")
    convert(os.path.join(os.path.dirname(path), name.removesuffix(".pr.out")), out, "--to=quipper", "--text", *options,
            allowed=(0, 4))
    golden, ours = golden_text(path), read(out)
    if golden != ours:
        raise Wrong(harness.first_difference(golden, ours))


# --- There and back.

def shown(path):
    """Records and features as dump shows them. Tracing data in a record is a feature after the round trip."""
    records, features, lines = [], [], perfray("dump", "--format=jsonl", path).stdout
    elsewhere = WRITER_MAKES + (TRACING_DATA,) if b'"type":%d,' % HEADER_TRACING_DATA in lines else WRITER_MAKES
    for line in lines.decode("utf-8", "surrogateescape").splitlines():
        one = json.loads(line)
        kept = json.dumps({key: value for key, value in one.items() if key not in PLACES}, sort_keys=True)
        if "type" in one and one["type"] not in CONTAINER:
            records.append(kept)
        elif "bit" in one and one["bit"] not in elsewhere:
            features.append((one["bit"], kept))
    return records, features, elsewhere


def is_stream(path):
    return not os.path.isdir(path) and read(path)[8:16] in (b"\x10" + bytes(7), bytes(7) + b"\x10")


def check_back(path, folder):
    proto, back = os.path.join(folder, "proto"), os.path.join(folder, "back")
    records, features, elsewhere = shown(path)
    for options in (["--order=file"], [], ["--mark-unmapped", "--without=pid,callchain,filename,sample_type"]):
        convert(path, proto, "--to=quipper", *options)
        convert(proto, back, "--plain")
        again, kept, _ = shown(back)
        kept = [one for one in kept if one[0] not in elsewhere]
        if again != records if "--order=file" in options else sorted(again) != sorted(records):
            raise Wrong("%d records, %d after quipper, and not the same" % (len(records), len(again)))
        if kept != features and not is_stream(path):
            raise Wrong("other features after quipper")


# --- Text and bytes.

OURS = re.compile(r"^ *201\d\d(:| \{)")


def without_ours(text):
    """protoc's text without our fields, which it shows by number."""
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
    with harness.scratch("quipper") as folder:
        try:
            law(path, folder, *more)
        except (Wrong, subprocess.TimeoutExpired) as why:
            return "%s: %s" % (os.path.basename(path), why)
    return ""


def judge(name, law, paths, *more):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        wrong = [text for text in pool.map(lambda path: guarded(law, path, *more), paths) if text]
    harness.result("edit/quipper %s (%d)" % (name, len(paths)), wrong)


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
    root = harness.corpus("perf")
    paths = [path for path in sorted(glob.glob(os.path.join(options.recorded, "*.data"))) if is_whole(path)]
    if root:
        golden = sorted(glob.glob(os.path.join(root, "quipper", "*.pb_text*")))
        judge("golden", check_golden, golden)
        paths += corpus_files(root) if harness.LONG else [path.split(".pb_text")[0].removesuffix(".pr.out")
                                                          for path in golden if os.path.getsize(path) < 30000]
    else:
        harness.skip("edit/quipper", "golden: PERFRAY_CORPUS names no corpus")
    judge("back", check_back, paths)
    judge("text" if PROTOC else "text without protoc", check_text, paths, options.schema)
    judge("damage", check_damage, [os.path.join(options.recorded, name)
                                             for name in ("two-events.data", "user-regs.data")])
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
