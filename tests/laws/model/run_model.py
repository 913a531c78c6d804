#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a model has the data that report, script and latency print.

    PERFRAY=build/perfray run_model.py MODEL_ROWS FIXTURES

For each recording of FIXTURES (and every fifth of PERFRAY_CORPUS; with PERFRAY_LONG all):
    sums       totals and self weights by symbol, samples by comm and tid: report --format=csv
    frames     thread, time, period, event and stack of each sample: script --format=json
    threads    every row with one thread and with four, and with small buffers and batches
For some recordings:
    forms      every row of the same recording as a stream, a folder, compressed, in the other byte order
    wrong_chains   the checks above also pass if chains have unknown markers
For a recording and a trace of one clock:
    both       one model of the two files has the samples of the recording and the calls of the trace
For each trace:
    calls      count, sum, longest, self time and open calls of each function: latency --format=json
    marks      events that the program logged, also hostile ones: dump --format=jsonl, with times of script; by SQL, too
"""
import csv
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unicodedata
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "support"))
import tiny_sizes
import xray_files

PERFRAY = os.environ.get("PERFRAY")
ROWS = sys.argv[1]
OTHER_FORMS = str(Path(__file__).resolve().parent.parent.parent / "support" / "other_forms.py")
UNDAMAGED = (0,)
EACH = 1 if os.environ.get("PERFRAY_LONG") else 5


def run(words, **more):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, **more)
    return done.returncode, done.stdout.decode("utf-8", "surrogateescape"), done.stderr.decode(errors="replace")


def rows_of(form, path, jobs=1, **more):
    status, text, complaint = run([ROWS, form, str(path), str(jobs)], **more)
    return (text.splitlines(), None) if status == 0 else (None, complaint)


# --- sums

def plain(cell):
    """Cells that a spreadsheet would take for formulas begin with a quote."""
    return cell[1:] if cell[:1] == "'" and cell[1:2] in "=+-@\t\r" else cell


def report(path, *words):
    status, text, complaint = run([PERFRAY, "report", "--format=csv", "--no-branch-stack", "-i", str(path), "--sort", *words])
    if status not in UNDAMAGED:
        return None
    return list(csv.DictReader(io.StringIO(text)))


def expected_symbols(path, children):
    rows = report(path, "dso,sym", "--children" if children else "--no-children")
    if rows is None:
        return None
    sums = Counter()
    for row in rows:
        name = plain(row["sym"])[4:]
        weight = int(row["weight"])
        sums[row["event"], plain(row["dso"]), name] += weight
    return Counter({key: value for key, value in sums.items() if value})


def named(sums):
    return Counter({key: value for key, value in sums.items() if not key[2].startswith("0x") and set(key[2]) != {"0"}})


def check_sums(path):
    lines, complaint = rows_of("sums", path)
    if lines is None:
        return [complaint]
    events = {}
    problems = []
    total, own = Counter(), Counter()
    keys = defaultdict(Counter)
    info = json.loads(run([PERFRAY, "info", "--format=json", str(path)])[1])
    for number, event in enumerate(info["events"]):
        events[str(number + 1)] = event["name"]
    for line in lines:
        word, *cells = line.split("\t")
        if word == "symbol":
            event, dso, sym, weight, self = cells
            total[events[event], dso, sym] += int(weight)
            own[events[event], dso, sym] += int(self)
        else:
            keys[word][cells[0]] += int(cells[2])
    for children, ours in ((False, own), (True, total)):
        theirs = expected_symbols(path, children)
        ours = Counter({key: value for key, value in ours.items() if value})
        if theirs is not None and named(theirs) != named(ours):
            problems.append("by symbol, children %s: report %s, model %s" % (children, differ(named(theirs), named(ours)), differ(named(ours), named(theirs))))
        if theirs is not None and not children and sum(theirs.values()) != sum(ours.values()):
            problems.append("sum of all symbols: report %d, model %d" % (sum(theirs.values()), sum(ours.values())))
    for key in ("comm", "tid"):
        rows = report(path, key, "--no-children")
        if rows is None:
            continue
        theirs = Counter()
        for row in rows:
            name = plain(row[key])
            theirs[name if key == "comm" else name.split(":")[0].strip()] += int(row["samples"])
        if theirs != +keys[key]:
            problems.append("by %s: report %s, model %s" % (key, differ(theirs, keys[key]), differ(keys[key], theirs)))
    return problems


def differ(one, other):
    return sorted((one - other).items(), key=str)[:3]


# --- frames

def frame_text(frame):
    return "%s|%s|%s" % (frame.get("dso", ""), frame.get("sym", ""), frame.get("symoff", "") if "sym" in frame else "")


def check_frames(path):
    status, text, _ = run([PERFRAY, "script", "--format=json", "-i", str(path)])
    lines, complaint = rows_of("samples", path)
    if lines is None:
        return [complaint]
    if status not in UNDAMAGED:
        return []
    theirs, ours = Counter(), Counter()
    for line in text.splitlines():
        sample = json.loads(line)
        if sample.get("type", "sample") != "sample":
            continue
        chain = sample.get("chain") or ([sample] if "ip" in sample else [])
        theirs[json.dumps([sample.get("time", 2**64 - 1), sample.get("pid", -1), sample.get("tid", -1), sample.get("period"), sample.get("event"),
                           [frame_text(frame) for frame in chain]])] += 1
    for line in lines:
        time, pid, tid, period, event, cpu, mode, *stack = line.split("\t")
        if int(mode) > 3:
            continue
        if len(stack) > 1 and stack[0].startswith("apart "):
            stack = stack[1:]
        stack = [frame.removeprefix("apart ") for frame in stack]
        ours[json.dumps([int(time), int(pid), int(tid), int(period), event, stack])] += 1
    if theirs != ours:
        return ["frames: script %s, model %s" % (differ(theirs, ours)[:2], differ(ours, theirs)[:2])]
    return []


def check_threads(path):
    one, complaint = rows_of("all", path, 1)
    if one is None:
        return [complaint]
    draw = random.Random(path.name)
    ways = {"four threads": (4, {}), "small sizes": (1 + draw.randrange(3), {"PERFRAY_SIZES": tiny_sizes.drawn(draw)}),
            "the smallest": (2, {"PERFRAY_SIZES": tiny_sizes.smallest()}) if path.stat().st_size < 20000 else (3, {})}
    return ["with %s: %s" % (name, complaint or "other rows")
            for name, (jobs, more) in ways.items()
            for rows, complaint in [rows_of("all", path, jobs, env=dict(os.environ, **more))] if rows != one]


CHECKS = {"sums": check_sums, "frames": check_frames, "threads": check_threads}


# --- forms

FORMS = {"stream": "x.pipe", "folder": "x.dir", "zstd": "x.zst", "swapped": "x.swapped"}
IN_FORMS = ("chains.data", "exec.data", "cpu-clock.data")


def rows_in(form, path):
    """A folder has another file order and therefore other ids, so only the samples are compared."""
    rows, complaint = rows_of("samples" if form == "folder" else "all", path)
    return rows and sorted(rows) if form == "folder" else rows, complaint


def check_forms(path):
    problems = []
    for form, name in FORMS.items():
        if form == "zstd" and not shutil.which("zstd"):
            continue
        with tempfile.TemporaryDirectory() as folder:
            other = os.path.join(folder, name)
            subprocess.run([sys.executable, OTHER_FORMS, form, str(path), other], check=True)
            rows, complaint = rows_in(form, other)
        expected, _ = rows_in(form, path)
        if expected is None or rows != expected:
            first = [pair for pair in zip(expected, rows or []) if pair[0] != pair[1]][:1]
            problems.append("%s: %s" % (form, complaint or first or "more or fewer rows"))
    return problems


# --- chains that no kernel writes

def with_wrong_chains(recording, folder):
    """Every other chain ends with a number that only a marker may have, as happens if a program uses the frame pointer for something else."""
    content = bytearray(recording.read_bytes())
    _, text, _ = run([PERFRAY, "dump", "--format=jsonl", str(recording)])
    samples = [row for row in map(json.loads, text.splitlines()) if row["name"] == "sample" and len(row["fields"].get("chain", [])) > 2]
    for row in samples[::2]:
        chain = b"".join(address.to_bytes(8, "little") for address in row["fields"]["chain"])
        end = content.index(chain, row["offset"], row["offset"] + row["size"]) + len(chain)
        content[end - 8:end] = b"\xff" * 8
    path = Path(folder, "wrong-" + recording.name)
    path.write_bytes(content)
    return path


def check_wrong_chains(recording):
    with tempfile.TemporaryDirectory() as folder:
        path = with_wrong_chains(recording, folder)
        return [problem for check in CHECKS.values() for problem in check(path)]


# --- calls

def check_calls(path):
    status, text, _ = run([PERFRAY, "latency", "--format=json", str(path)])
    lines, complaint = rows_of("calls", path)
    if status not in UNDAMAGED or not text:
        return []
    if lines is None:
        return [] if "sums of calls" in complaint else [complaint]
    theirs, ours = {}, {}
    answer = json.loads(text)
    for row in answer["rows"]:
        if row["count"] or row["open"]:
            theirs[row["function"]] = row
    for line in lines:
        _, name, *numbers = line.split("\t")
        ours[name] = [int(number) for number in numbers]
    problems = []
    for name in sorted(set(theirs) | set(ours)):
        if name not in ours or name not in theirs:
            problems.append("%s is only in %s" % (name, "latency" if name in theirs else "the model"))
            continue
        row, (count, opened, total, most, self) = theirs[name], ours[name]
        if row["count"] != count or row.get("open", 0) != opened:
            problems.append("%s: count %s and open %s, model %d and %d" % (name, row["count"], row.get("open"), count, opened))
        if count and (row["max"] != most or not 0 <= row["sum"] - total <= count or abs(row["self"] - self) > count):
            problems.append("%s: %s, model max %d, sum %d, self %d" % (name, row, most, total, self))
    return problems


# --- marks

KINDS = {"fdr_custom_event": 6, "fdr_typed_event": 7}
NOTE = "perfray-rt 1".encode().ljust(16, b"\0").hex()
TEXT_MOST = 4096


def payload_text(data):
    """The payload as text, in hexadecimal digits, if it is printable: see PFR_MARK_CUSTOM in spans.h."""
    body = bytes.fromhex(data)
    body = body[:-1] if body[-1:] == b"\0" else body
    try:
        if not body or any(unicodedata.category(c) == "Cc" and c not in "\t\n\r" for c in body.decode()):
            return "-"
    except UnicodeDecodeError:
        return "-"
    return body[:TEXT_MOST].decode(errors="ignore").encode().hex()


def printed(path, *words):
    """Events of a trace as JSON, without the notes of perfray's own runtime; and whether the trace is whole."""
    status, text, _ = run([PERFRAY, *words, str(path)])
    return [row for row in map(json.loads, text.splitlines())
            if row.get("name") in KINDS or row.get("type") in ("custom-event", "typed-event")
            if not (row.get("fields") or row)["data"].startswith(NOTE)], status in UNDAMAGED


def expected_marks(path):
    """Marks in file order. In time order there are the same marks, with their times."""
    records, _ = printed(path, "dump", "--format=jsonl")
    times = defaultdict(list)
    for e in printed(path, "script", "--format=json", "-i")[0]:
        times[e["type"].split("-")[0], e["tid"], e.get("tsc"), e["data"]].append(e.get("time", e.get("tsc", -1)))
    for r in records:
        data = r["fields"]["data"]
        same = [times[r["name"].split("_")[1], r["tid"], tsc, data] for tsc in (r["tsc"], None)]
        time = (same[0] or same[1]).pop(0)
        yield [KINDS[r["name"]], time, r["offset"], len(data) // 2, r.get("pid", 0), r["tid"], r["cpu"] if time >= 0 else -1,
               r["fields"].get("type", 0), payload_text(data)]


SQL_MARKS = """SELECT CASE kind WHEN 'custom' THEN 6 WHEN 'typed' THEN 7 END, coalesce(ts, -1), offset, count, coalesce(pid, 0), tid,
    coalesce(cpu, -1), coalesce(type, 0), text FROM mark LEFT JOIN thread ON thread.id = thread_id
    LEFT JOIN process ON process.id = process_id ORDER BY mark.id"""


def check_marks(path):
    lines, complaint = rows_of("marks", path)
    if lines is None:
        return [] if "sums of calls" in complaint else [complaint]
    theirs = list(expected_marks(path))
    ours = [[int(cell) for cell in line.split("\t")[:-1]] + line.split("\t")[-1:] for line in lines]
    problems = [] if ours == theirs else ["marks: dump %s, model %s" % (theirs[:3], ours[:3])]
    status, text, complaint = run([PERFRAY, "sql", "--format=jsonl", "-q", SQL_MARKS, str(path)])
    rows = [list(json.loads(line).values()) for line in text.splitlines()]
    if [row[:-1] for row in rows] != [row[:-1] for row in theirs]:
        problems.append("by SQL: %s %s" % (complaint, rows[:3]))
    for row, mark in zip(rows, theirs):
        if row[-1] != (None if mark[-1] == "-" else escaped(bytes.fromhex(mark[-1]))):
            problems.append("by SQL: text %r of %s" % (row[-1], mark[-1][:200]))
    return problems


def escaped(text):
    """Text that any output shows unescaped: the texts here have no other invisible characters."""
    shown = "".join(c if c.isprintable() or c == " " else "".join("\\x%02x" % byte for byte in c.encode()) for c in text.decode())
    return shown


PAYLOADS = [b"plain", b"C string\0", b"a\0b", b"\x1b[31mred", "right \u202e left".encode(), b"\xff\xfe", b"", b"\0", b"\0\0", b"two\nlines\t\r",
            b"x" * 4096, b"y" * 4097, b"z" * 4095 + "\u00e4".encode() + b"more", "\u00e4".encode() * 524288, b"w" * 1048576 + b"\x01",
            b"\x7f", "\u0085".encode(), "\u2028 \ufeff".encode(), b"'); DROP TABLE mark; --", b"</script><b>&", b"=1+1", NOTE.encode()]


def hostile_traces(folder):
    """Threads that only log events, and payloads that steer terminals, break formats or are large."""
    for version in (3, 4, 5):
        trace = xray_files.Fdr(version)
        kinds = [("custom",), ("typed", 65535)] if version == 5 else [("custom",)]
        steps = [(kind[0], 2000 + 10 * i + k, *kind[1:], data) for i, data in enumerate(PAYLOADS) for k, kind in enumerate(kinds)]
        story = [(201, 5, 1, 1500, [("call", 0, 1, 1500)] + steps[::2]), (202, 5, 2, 1600, steps[1::2])]
        path = Path(folder, "hostile-v%d.xray" % version)
        path.write_bytes(trace.header() + b"".join(trace.buffer(*part) for part in story))
        yield path


# --- both

def check_both(recording):
    """A recording and a trace with the same clock: the model has the samples of the recording and the calls of the
    trace, regardless of which file is given first."""
    trace = recording.parent.parent / "xray" / "fdr-v5.xray"
    alone = {"sums": rows_of("sums", recording)[0], "calls": rows_of("calls", trace)[0]}
    problems = []
    for one, other in ((recording, trace), (trace, recording)):
        for form, expected in alone.items():
            status, text, complaint = run([ROWS, form, str(one), "1", str(other)])
            lines = [line for line in text.splitlines() if not line.startswith("symbol\t2\t")]
            if status or lines != expected:
                problems.append("%s of %s beside %s: %s" % (form, one.name, other.name, complaint or lines[:3]))
    for other, words in ((recording.parent / "chains.data", "two recordings"), (recording, "two recordings")):
        status, _, complaint = run([ROWS, "sums", str(recording), "1", str(other)])
        if status != 1 or words not in complaint:
            problems.append("beside %s: status %d, %s" % (other.name, status, complaint))
    status, _, complaint = run([ROWS, "sums", str(recording.parent / "chains.data"), "1", str(trace)])
    if status != 1 or "clock" not in complaint:
        problems.append("of another clock: status %d, %s" % (status, complaint))
    return problems


# ---

def is_recording(path):
    if path.is_dir():
        return (path / "data").is_file()
    with open(path, "rb") as file:
        return file.read(8) in (b"PERFILE2", b"2ELIFREP", b"PERFFILE")


def recordings(fixtures):
    corpus = os.environ.get("PERFRAY_CORPUS")
    more = [Path(corpus, "perf", name) for name in ("recorded", "quipper", "other", "bigendian", "simpleperf")] if corpus else []
    for folder in [fixtures / "recorded"] + more:
        paths = [path for path in sorted(folder.iterdir())
                 if (path.is_file() and path.suffix != ".txt" or path.is_dir()) and is_recording(path)]
        yield from paths[::EACH if folder in more else 1]


def traces(fixtures):
    corpus = os.environ.get("PERFRAY_CORPUS")
    for folder in [fixtures / "xray"] + ([Path(corpus, "xray", "traces")] if corpus else []):
        yield from (path for path in sorted(folder.iterdir()) if path.is_file() and path.stat().st_size < 16 << 20)


def judge(name, check, paths):
    failed = done = 0
    for path in paths:
        done += 1
        for problem in check(path):
            failed += 1
            print("    %s: %s" % (path.name, problem[:1500]))
    print("%s model/%s of %d files" % ("not ok" if failed or not done else "ok", name, done), flush=True)
    return failed or not done


def main():
    if not PERFRAY:
        print("skip model PERFRAY is not set")
        return 77
    fixtures = Path(sys.argv[2])
    failed = [judge(name, check, recordings(fixtures)) for name, check in CHECKS.items()]
    failed.append(judge("forms", check_forms, [fixtures / "recorded" / name for name in IN_FORMS]))
    failed.append(judge("wrong_chains", check_wrong_chains, [fixtures / "recorded" / "chains.data"]))
    failed.append(judge("calls", check_calls, traces(fixtures)))
    with tempfile.TemporaryDirectory() as folder:
        failed.append(judge("marks", check_marks, [*traces(fixtures), *hostile_traces(folder)]))
    failed.append(judge("both", check_both, [fixtures / "recorded" / "clock.data"]))
    return 1 if any(failed) else 0


if __name__ == "__main__":
    sys.exit(main())
