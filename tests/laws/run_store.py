#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_store.py [--few]: checks that outputs from a store equal outputs from the files.

store/same/RECORDING     report (rows, trees) and folded stacks from a store equal those from the file: recordings of the fixtures and the corpus
store/calls/TRACE        the same for traces, with latency by function and by caller
store/fleet              many recordings of several versions and hosts: the sums of each version and host equal the sums of its files (PERFRAY_LONG)
store/sum                two recordings in one store: weights of `top` are the sums of both
store/flame-diff         the flame graph of two expressions is that of two files; several uploads of a side are drawn
store/diff, store/view   diff of two expressions has the weights of diff of two files; view writes a page
store/view-runs          the changes on the page of two expressions with several uploads are those of diff
store/intervals          diff has the same intervals, or none if the store has too few time slots
store/runs               several uploads on a side are recordings, like several files: the same values, intervals and verdicts
store/build-id           an object whose build-id some recordings lack is one object; two builds are two
store/where/EXPRESSION   expressions select correctly; invalid ones are refused with the byte of the error
store/once, /labels      a push is repeated, changes labels, or is refused
store/killed             a push killed at any moment leaves a valid store, and can be repeated
store/at-once            if two processes push the same recording, it counts once
store/full               a full disk is an error, and no row of the push remains
store/spool              recordings wait while a store is locked
store/drop, /retain      removed recordings are removed completely, with their names
store/damaged            commands on mutants of a store end with a status, not by a signal
store/hostile            names and labels with quotes, control bytes, SQL
"""
import concurrent.futures
import csv
import glob
import gzip
import io
import json
import os
import random
import re
import signal
import sqlite3
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402

RECORDED = os.path.join(harness.FIXTURES, "recorded")
MIDNIGHT = 1700006400    # 2023-11-15 UTC
XRAY = os.path.join(harness.FIXTURES, "xray")
KEYS = ["-s", "comm,dso,sym", "--no-branch-stack", "--no-group"]
VIEWS = (["report", "--format=csv", *KEYS], ["report", "--format=csv", "--children", *KEYS], ["report", "--format=csv", "-s", "sym",
         "--no-branch-stack"], ["report", "-g", "caller", *KEYS], ["export", "--format=folded"])
OF_CALLS = (["report", "--format=csv"], ["report", "--format=csv", "--children"], ["latency", "--format=csv"],
            ["latency", "--format=csv", "--by", "caller"], ["export", "--format=folded"])


def text(*arguments, ends=(0, 4)):
    done = harness.perfray(*arguments)
    if done.returncode not in ends:
        raise harness.Wrong("%s ends with %d: %s" % (" ".join(arguments), done.returncode, done.stderr.decode(errors="replace")))
    return done.stdout.decode(errors="replace")


def new_store(folder, name="a.db"):
    path = os.path.join(folder, name)
    text("store", "init", "--store", path)
    return path


def push(store, *arguments, ends=(0, 4)):
    return text("store", "push", "--store", store, "--no-symbols", *arguments, ends=ends)


def lines(view, output):
    """The lines of an output, sorted, without those about losses. The order of events, and of branches of equal weight, may differ."""
    kept = [line for line in output.splitlines() if not (line.startswith("#") and ("ost" in line or "stretches" in line))]
    return sorted(line.lstrip(" |-") for line in kept) if "-g" in view else sorted(kept)


def check_same(path, views):
    with harness.scratch("store") as folder:
        store = new_store(folder)
        push(store, path)
        for number, view in enumerate(views):
            symbols = [] if view[0] == "latency" else ["--no-symbols"]
            ours, files = text(*view, "--store", store), text(*view, *symbols, path)
            if lines(view, ours) != lines(view, files):
                raise harness.Wrong("%s: store\n%s\nfile\n%s" % (" ".join(view), ours[:600], files[:600]))


def recordings(few):
    found = sorted(path for path in glob.glob(os.path.join(RECORDED, "*.data")) if not os.path.basename(path).startswith("stat"))
    corpus = os.environ.get("PERFRAY_CORPUS")
    more = [path for kind in ("recorded", "quipper") for path in sorted(glob.glob(os.path.join(corpus or "", "perf", kind, "*")))
            if corpus and os.path.isfile(path) and not path.endswith((".txt", ".zst", ".md", ".tsv", ".map", ".dump", ".buildids", ".pb_text")) and ".stat" not in path
            and os.path.getsize(path) < 300000]
    every = 1 if harness.LONG else 4
    return (found + more[::every])[::4 if few else 1]


def traces(few):
    return [path for path in sorted(glob.glob(os.path.join(XRAY, "*.xray"))) if "profile" not in path][::4 if few else 1]


def add_up(sums, more):
    for key, (weight, samples) in more.items():
        before = sums.get(key, (0, 0))
        sums[key] = (before[0] + weight, before[1] + samples)


def table(output):
    """Sums by event and names. Several rows may have the same names: an event with and without call chains, two builds of an object."""
    sums = {}
    for row in list(csv.reader(io.StringIO(output)))[1:]:
        add_up(sums, {tuple(row[3:]): (int(row[1]), int(row[2]))})
    return sums


def check_sum(folder):
    store = new_store(folder, "sum.db")
    paths = [os.path.join(RECORDED, name) for name in ("cpu-clock.data", "sample-cpu.data", "period.data")]
    wanted = {}
    for path in paths:
        push(store, path)
        add_up(wanted, table(text("report", "--no-symbols", "--format=csv", *KEYS, path)))
    if table(text("store", "top", "--store", store, "--format=csv")) != wanted:
        raise harness.Wrong("the sums differ")


def check_fleet(folder):
    """Recordings of several versions and hosts in one store: `top` of each version, of each host and of all is the sum of their files."""
    store, wanted, pushed = new_store(folder, "fleet.db"), {}, 0
    for number, path in enumerate(recordings(False)):
        mine = table(text("report", "--no-symbols", "--format=csv", *KEYS, path))
        if not mine:
            continue
        labels = ("version=%d" % (number % 3), "host=h%d" % (number % 5))
        push(store, "-l", labels[0], "-l", labels[1], "--at", "@%d" % (1700000000 + number), path)
        pushed += 1
        for expression in (*labels, "kind=samples"):
            add_up(wanted.setdefault(expression, {}), mine)
    for expression, sums in wanted.items():
        if table(text("store", "top", "--store", store, "--format=csv", "--where", expression)) != sums:
            raise harness.Wrong("%s: the sums differ" % expression)
    return "%d recordings, %d expressions" % (pushed, len(wanted))


def check_diff(folder):
    store = new_store(folder, "diff.db")
    base, new = (os.path.join(RECORDED, name) for name in ("sample-cpu.data", "cpu-clock.data"))
    push(store, "-l", "version=1", base)
    push(store, "-l", "version=2", new)
    ours = text("diff", "--store", store, "--where", "version=1", "--where", "version=2", "--format=csv")
    files = text("diff", "--no-symbols", "--format=csv", base, new)
    pick = lambda output: sorted(tuple(row[:4]) for row in csv.reader(io.StringIO(output)))  # noqa: E731
    if pick(ours) != pick(files):
        raise harness.Wrong("store\n%s\nfiles\n%s" % (ours[:500], files[:500]))


def diff_of(*arguments):
    """(low, high) of each row of a comparison in CSV, None if they are not known, and its verdicts."""
    rows = list(csv.reader(io.StringIO(text("diff", "--format=csv", *arguments))))[1:]
    return {tuple(row[:2]): (float(row[5]), float(row[6])) if row[5] else None for row in rows}, {row[8] for row in rows}


def two_sides(folder, name, *options):
    store = new_store(folder, name)
    paths = [os.path.join(RECORDED, name) for name in ("zstd-many.data", "killed.data")]
    for number, path in enumerate(paths):
        push(store, *options, "--at", "@1000000000.001", "-l", "version=%d" % number, path)
    return paths, ("--store", store, "--where", "version=0", "--where", "version=1")


def check_intervals(folder):
    """The bootstrap draws existing slots: intervals equal those of files, and too few slots give no interval."""
    paths, few = two_sides(folder, "few.db")
    intervals, verdicts = diff_of(*few)
    if set(intervals.values()) != {None} or verdicts != {"noise"}:
        raise harness.Wrong("intervals out of one slot: %r" % intervals)
    said = text("diff", *few)
    if "1 slot of the store\n" not in said or "need at least 8" not in said or "interval not known" not in said:
        raise harness.Wrong(said)
    if json.loads(text("diff", *few, "--format=json"))["rows"][0]["self"]["low"] is not None:
        raise harness.Wrong("json")
    text("diff", *few, "--fail-on", "total > +3%", ends=(2,))
    text("diff", *few, "--fail-on", "total > +3%", "--point", ends=(1,))
    text("diff", *few, "--per", "second", ends=(2,))
    ours, verdicts = diff_of(*two_sides(folder, "many.db", "--slot", "10ms")[1])
    files, wanted = diff_of("--no-symbols", *paths)
    if verdicts != wanted or ours.keys() != files.keys():
        raise harness.Wrong("%r, not %r" % (ours, files))
    for row, (low, high) in ((row, ends) for row, ends in files.items() if ends): # the total of a single recording has no interval
        if not 0.7 * (high - low) <= ours[row][1] - ours[row][0] <= 1.5 * (high - low):
            raise harness.Wrong("%r: %r, not about %r" % (row, ours[row], (low, high)))


def runs_store(folder, name):
    """A store with three uploads of each of two versions, and the paths of their files."""
    store = new_store(folder, name)
    sides = [[os.path.join(RECORDED, name + ".data") for name in names] for names in (("zstd-many", "killed", "cpu-clock"), ("chains", "sample-cpu", "period"))]
    for version, paths in enumerate(sides):
        for number, path in enumerate(paths):
            push(store, "--at", "@%d" % (1700000000 + number), "-l", "version=%d" % version, path)
    return store, sides


def check_runs(folder):
    store, sides = runs_store(folder, "runs.db")
    wheres = ("--store", store, "--where", "version=0", "--where", "version=1")
    files = ("--no-symbols", "--base", ",".join(sides[0]), "--new", ",".join(sides[1]))
    for options in (("--format=csv",), ("--format=csv", "--by", "object"), ("--format=csv", "--per", "run")):
        ours, wanted = (sorted(text("diff", *options, *sources).splitlines()) for sources in (wheres, files))
        if ours != wanted or len(ours) < 4:
            raise harness.Wrong("%s: %s" % (" ".join(options), harness.first_difference(ours, wanted)))
    one, three = text("diff", *wheres[:4], "--where", "version=1 and upload ~ '*'"), text("diff", *wheres)
    if one.count("recordings") != three.count("recordings"):
        raise harness.Wrong(three)
    done = harness.perfray("diff", *wheres[:3], "version=0 or comm=nobody", *wheres[4:])
    if done.returncode not in (0, 4) or b"3 of 6 uploads have no matching sample" not in done.stderr:
        raise harness.Wrong("%d: %s" % (done.returncode, done.stderr.decode()))
    text("diff", *wheres[:3], "version=0 and comm=nobody", *wheres[4:], ends=(2,))


def check_flame_diff(folder):
    paths, sides = two_sides(folder, "flame.db")
    titles = lambda svg: sorted(re.findall("<title>([^<]*)", svg))  # noqa: E731
    ours = titles(text("flame", *sides[:4], "--diff", "version=1", "-o", "-"))
    files = titles(text("flame", "--no-symbols", paths[0], "--diff", paths[1], "-o", "-"))
    if ours != files or len(ours) < 3:
        raise harness.Wrong("%r, not %r" % (ours, files))
    text("flame", *sides[:4], "--diff", "version=none", "-o", "-", ends=(2,))
    store = new_store(folder, "flames.db")
    for number, name in enumerate(("zstd-many", "killed", "chains", "overwrite")):
        push(store, "-l", "version=%d" % (number % 2), os.path.join(RECORDED, name + ".data"))
    svg = text("flame", "--store", store, "--where", "version=1", "--diff", "version=0", "-o", "-")
    first = {}
    for side in (0, 1):
        for line in text("export", "--format=folded", "--weight", "period", "--store", store, "--where", "version=%d" % side).splitlines():
            stack, weight = line.rsplit(" ", 1)
            first.setdefault(stack.split(";")[1], [0, 0])[side] += int(weight)
    whole = [sum(column) for column in zip(*first.values())]
    wanted = ["%.2f %% → %.2f %%" % tuple(100 * x / y for x, y in zip(weights, whole)) for weights in first.values()]
    harness.must(len(wanted) > 1 and all(shares in svg for shares in wanted), "not all of %r are in the graph" % wanted)


def page_counts(*arguments):
    """The number of rows of each column of a page's data, and its events."""
    data = gzip.decompress(harness.perfray("view", "--data", *arguments, "-o", "-").stdout)
    head = json.loads(data[12:12 + int.from_bytes(data[8:12], "little")])
    return {column["name"]: column["count"] for column in head["columns"]}, head["meta"]["events"]


def check_view(folder):
    store = new_store(folder, "view.db")
    push(store, os.path.join(RECORDED, "chains.data"))
    page = os.path.join(folder, "view.html")
    text("view", "--store", store, "-o", page)
    if os.path.getsize(page) < 10000:
        raise harness.Wrong("no page")
    paths, sides = two_sides(folder, "pair.db")
    ours, files = page_counts(*sides[:4], "--diff", "version=1"), page_counts("--no-symbols", paths[0], "--diff", paths[1])
    if ours != files or not files[1][1]["baseline"]:
        raise harness.Wrong("%r, not %r" % (ours, files))
    text("view", *sides[:4], "--diff", "version=none", "-o", page, ends=(2,))


def page_columns(*arguments):
    """The columns and the texts of a page's data."""
    data = gzip.decompress(harness.perfray("view", "--data", *arguments, "-o", "-").stdout)
    at, columns = 12 + int.from_bytes(data[8:12], "little"), {}
    for column in json.loads(data[12:at])["columns"]:
        count, width = column["count"], column["width"]
        planes, at = data[at:at + count * width], at + count * width
        columns[column["name"]] = [sum(planes[plane * count + i] << 8 * plane for plane in range(width)) for i in range(count)]
    ends, texts = columns["string.end"], bytes(columns["string.bytes"])
    return columns, [texts[begin:end].decode() for begin, end in zip([0, *ends], ends)]


VERDICTS = ("noise", "slower", "faster", "new", "gone")


def page_changes(*arguments):
    """Change with callees, interval and verdict of each function of a page: as in the rows of diff --format=csv --children."""
    columns, texts = page_columns(*arguments)
    number = lambda value: (value // 2 if value % 2 == 0 else -(value // 2) - 1) / 1e6  # noqa: E731
    names, changes = [texts[id] for id in columns["func.name"]] + ["[total]"], {}
    for func, delta, low, high, verdict in list(zip(*(columns["change." + name] for name in ("func", "delta", "low", "high", "verdict"))))[1::2]:
        changes[names[func]] = (VERDICTS[verdict & 7], number(delta), *((number(low), number(high)) if verdict & 8 else ()))
    return changes


def name_on_page(symbol, object):
    return symbol if symbol != "[unknown]" else object if object.startswith("[") else "[%s]" % object


def check_view_runs(folder):
    store, _ = runs_store(folder, "page.db")
    rows = list(csv.reader(io.StringIO(text("diff", "--store", store, "--where", "version=0", "--where", "version=1", "--format=csv", "--children"))))[1:]
    wanted = {name_on_page(*row[:2]): (row[8], float(row[4]), *map(float, filter(None, row[5:7]))) for row in rows}
    made = page_changes("--store", store, "--where", "version=1", "--diff", "version=0")
    harness.must(made.keys() == wanted.keys() and len(made) > 3, "%r, not %r" % (sorted(made), sorted(wanted)))
    wrong = [(name, made[name], row) for name, row in wanted.items()
             if made[name][0] != row[0] or len(made[name]) != len(row) or any(abs(x - y) > 2e-6 for x, y in zip(made[name][1:], row[1:]))]
    harness.must(not wrong, "page, diff: %r" % wrong[:3])
    harness.must(all(len(row) == 4 for row in wanted.values()), "no intervals: %r" % wanted)
    return "%d functions" % len(wanted)


def add_twin(store, build_id):
    """Adds to each stack of `busy` a copy whose frames are in an object that differs only in its build-id."""
    with sqlite3.connect(store) as db:
        (busy,) = db.execute("SELECT object FROM object WHERE name = 'busy'").fetchone()
        mine = {frame for (frame,) in db.execute("SELECT frame FROM frame WHERE object = ?", (busy,))}
        db.execute("INSERT INTO object SELECT object + 1, path, name, ?, kind, listed, pid FROM object WHERE object = ?", (build_id, busy))
        db.execute("INSERT INTO frame SELECT frame + 1, object + 1, name, address, ip, size, mode, named, inlined FROM frame WHERE object = ?", (busy,))
        for stack, leaf, apart, frames in db.execute("SELECT stack, leaf, apart, frames FROM stack").fetchall():
            chain = [frame + (frame in mine) for (frame,) in struct.iter_unpack("<q", frames)]
            if mine & {frame for (frame,) in struct.iter_unpack("<q", frames)}:
                db.execute("INSERT INTO stack VALUES (?, ?, ?, ?)", (stack + 1, leaf + (leaf in mine), apart, struct.pack("<%dq" % len(chain), *chain)))
                db.execute("INSERT INTO sample SELECT day, upload, time, event, comm, stack + 1, n, weight FROM sample WHERE stack = ?", (stack,))


def check_build_id(folder):
    """perf stores the build-ids of objects with samples only, so recordings of the same objects may differ in them."""
    sizes = []
    for build_id in (None, "", "cd" * 20):
        store = new_store(folder, "ids-%d.db" % len(sizes))
        text("store", "push", "--store", store, "--symfs", os.path.join(RECORDED, "demo-root"), os.path.join(RECORDED, "demo.data"))
        if build_id is not None:
            add_twin(store, build_id)
        sizes.append(len(text("report", "-q", "-g", "caller,0", "--no-children", "-s", "dso", "--store", store).split("\n")))
    harness.must(sizes[0] == sizes[1] < sizes[2], "lines of the tree: %r" % sizes)
    return "%d lines, with another build %d" % (sizes[1], sizes[2])


WHERE = {"service=s1": 1, "service=s1 or service = 's2'": 2, "not service=s1": 2, "service!=s1 and version=\"2\"": 1, "service ~ 's*'": 3,
         "(service=s1 or service=s2) and not version=1": 1, "host=h": 3, "time > \"1999-01-01\"": 3, "time < \"1999-01-01\"": 0,
         "time > -1h and time < @9000000000": 0, "kind=calls": 0, "kind=samples": 3, "comm=nobody": None, "event ~ \"*\"": 3,
         "service=\"s1' OR 1=1 --\"": 0, "service='s\\'x'": 0, "upload=abc": 0}
BAD = {"service": 7, "service=": 8, "service=s1 service=s2": 11, "(service=s1": 11, "service=\"s1": 8, "time=5": 4, "time>soon": 5,
       "service<1": 7, "and": 0, "colour=red": 0, "service=s1)": 10, "(" * 100 + "service=1": 64, "service=s1;drop": 10}


def check_where(store, expression, count):
    listed = text("store", "list", "--store", store, "--where", expression).splitlines()[1:]
    if count is None:
        return text("store", "top", "--store", store, "--where", expression)
    if len(listed) != count:
        raise harness.Wrong("%d uploads, not %d" % (len(listed), count))
    done = harness.perfray("store", "top", "--store", store, "--where", expression)
    if (done.returncode == 0) != (count > 0):
        raise harness.Wrong("top ends with %d" % done.returncode)


def check_bad(store, expression, at):
    done = harness.perfray("store", "list", "--store", store, "--where", expression)
    if done.returncode != 2 or b"at byte %d of" % at not in done.stderr:
        raise harness.Wrong("%d: %s" % (done.returncode, done.stderr.decode()))


def run_where(folder):
    store = new_store(folder, "where.db")
    for name, service, version in (("cpu-clock", "s1", "1"), ("period", "s2", "1"), ("sample-cpu", "s2x", "2")):
        push(store, "-l", "service=" + service, "-l", "version=" + version, "-l", "host=h", "--at", "@1700000000",
             os.path.join(RECORDED, name + ".data"))
    expected = dict(WHERE)
    expected["service=s1 or service = 's2'"], expected["(service=s1 or service=s2) and not version=1"] = 2, 0
    for expression, count in expected.items():
        harness.attempt("store/where/%s" % expression, check_where, store, expression, count)
    for expression, at in BAD.items():
        harness.attempt("store/where/bad/%s" % expression[:20], check_bad, store, expression, at)


def uploads(store):
    return text("store", "list", "--store", store).splitlines()[1:]


def check_once(folder):
    store = new_store(folder, "once.db")
    path = os.path.join(RECORDED, "chains.data")
    push(store, "-l", "service=a", path)
    before = text("store", "top", "--store", store, "--format=csv")
    push(store, "-l", "service=a", path, ends=(0,))
    push(store, "-l", "service=b", path, ends=(1,))
    if len(uploads(store)) != 1 or "\ta\t" not in uploads(store)[0]:
        raise harness.Wrong("refused, and changed all the same")
    push(store, "-l", "service=b", "--relabel", path, ends=(0,))
    if "\tb\t" not in uploads(store)[0] or text("store", "top", "--store", store, "--format=csv") != before:
        raise harness.Wrong("not relabelled")


def start_push(store, path):
    return subprocess.Popen([harness.PERFRAY, "store", "push", "--store", store, "--no-symbols", path], stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def check_killed(folder, few):
    store = new_store(folder, "killed.db")
    paths = [os.path.join(RECORDED, name + ".data") for name in ("zstd-many", "waits", "chains", "phys-addr")]
    dice = random.Random(5)
    for round_ in range(8 if few else 40 if not harness.LONG else 400):
        running = start_push(store, paths[round_ % len(paths)])
        time.sleep(dice.random() * 0.06)
        running.send_signal(signal.SIGKILL)
        running.wait()
        if round_ % 8 == 7:
            text("store", "check", "--store", store, ends=(0,))
    for path in paths:
        push(store, path)
    wanted = new_store(folder, "whole.db")
    for path in paths:
        push(wanted, path)
    if text("store", "top", "--store", store, "--format=csv") != text("store", "top", "--store", wanted, "--format=csv"):
        raise harness.Wrong("other sums than without kills")
    text("store", "check", "--store", store, ends=(0,))


def check_at_once(folder):
    store = new_store(folder, "both.db")
    path = os.path.join(RECORDED, "waits.data")
    running = [start_push(store, path) for _ in range(4)]
    ends = [one.wait(60) for one in running]
    if ends != [0] * 4 or len(uploads(store)) != 1:
        raise harness.Wrong("they end with %r, and there are %d uploads" % (ends, len(uploads(store))))
    text("store", "check", "--store", store, ends=(0,))


def check_full(folder):
    """Uses ulimit -f instead of a full disk: writes beyond it fail in the same way."""
    store = new_store(folder, "full.db")
    push(store, os.path.join(RECORDED, "chains.data"))
    before = text("store", "top", "--store", store, "--format=csv")
    limit = 16
    done = subprocess.run(["bash", "-c", "ulimit -f %d; exec \"$@\"" % limit, "-", harness.PERFRAY, "store", "push", "--store", store,
                           "--no-symbols", os.path.join(RECORDED, "waits.data")], capture_output=True, timeout=60)
    if done.returncode not in (5, 6):
        raise harness.Wrong("ends with %d: %s" % (done.returncode, done.stderr.decode()))
    if text("store", "top", "--store", store, "--format=csv") != before or len(uploads(store)) != 1:
        raise harness.Wrong("something of it is there")
    push(store, os.path.join(RECORDED, "waits.data"))
    text("store", "check", "--store", store, ends=(0,))


def check_spool(folder):
    store, spool = new_store(folder, "spool.db"), os.path.join(folder, "spool")
    path = os.path.join(RECORDED, "chains.data")
    lock = sqlite3.connect(store, isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    push(store, "--spool", spool, "-l", "service=late", path, ends=(0,))
    if len(os.listdir(spool)) != 2:
        raise harness.Wrong("it is not in the spool: %r" % os.listdir(spool))
    lock.execute("ROLLBACK")
    lock.close()
    push(store, "--spool", spool, ends=(0,))
    if os.listdir(spool) or "\tlate\t" not in uploads(store)[0]:
        raise harness.Wrong("it waits: %r" % os.listdir(spool))


def check_drop(folder):
    store = new_store(folder, "drop.db")
    paths = [os.path.join(RECORDED, name + ".data") for name in ("waits", "chains")]
    push(store, "-l", "service=keep", paths[1])
    with sqlite3.connect(store) as db:
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type='table' ORDER BY 1")]
        before = {name: db.execute('SELECT count(*) FROM "%s"' % name).fetchone() for name in tables}
    push(store, "-l", "service=go", paths[0])
    text("store", "drop", "--store", store, ends=(2,))
    text("store", "drop", "--store", store, "--where", "comm=x", ends=(2,))
    text("store", "drop", "--pretend", "--store", store, "--where", "service=go")
    if len(uploads(store)) != 2:
        raise harness.Wrong("--pretend removed it")
    text("store", "drop", "--store", store, "--where", "service=go")
    with sqlite3.connect(store) as db:
        after = {name: db.execute('SELECT count(*) FROM "%s"' % name).fetchone() for name in tables}
    if after != before:
        raise harness.Wrong("%r, not %r" % (after, before))
    text("store", "check", "--store", store, ends=(0,))


def check_retain(folder):
    store = new_store(folder, "retain.db")
    push(store, "--at", "@1000000000", os.path.join(RECORDED, "cpu-clock.data"))
    push(store, "--at", "@%d" % (time.time() - 3600), os.path.join(RECORDED, "sample-cpu.data"))
    text("store", "retain", "30x", "--store", store, ends=(2,))
    text("store", "retain", "30d", "--store", store)
    if len(uploads(store)) != 1:
        raise harness.Wrong("%d uploads" % len(uploads(store)))


def check_damaged(folder, few):
    store = new_store(folder, "good.db")
    push(store, os.path.join(RECORDED, "chains.data"))
    push(store, os.path.join(XRAY, "fdr-v5.xray"))
    with sqlite3.connect(store) as db:
        db.execute("PRAGMA journal_mode=DELETE")
    with open(store, "rb") as f:
        good = f.read()
    bad, dice = os.path.join(folder, "bad.db"), random.Random(7)
    for _ in range(20 if few else 60 if not harness.LONG else 2000):
        bytes_ = bytearray(good)
        for _ in range(dice.choice((1, 4, 32))):
            bytes_[dice.randrange(len(bytes_))] = dice.randrange(256)
        with open(bad, "wb") as f:
            f.write(bytes_)
        kind = dice.choice(("samples", "calls"))
        view = dice.choice((["report"], ["export", "--format=folded"]) if kind == "samples" else (["report"], ["latency"]))
        done = harness.perfray(*view, "--store", bad, "--where", "kind=" + kind)
        if done.returncode not in (0, 2, 3, 4, 5):
            raise harness.Wrong("ends with %d: %s" % (done.returncode, done.stderr.decode(errors="replace")))


def edit(store, statement, *values):
    with sqlite3.connect(store) as db:
        db.execute(statement, values)


def check_values(folder):
    """Rows that no push makes: lists of different lengths, counts beyond 2^63, missing names."""
    statements = ("UPDATE latency SET count=x'ffffffffffffffff' WHERE length(count)=8", "UPDATE latency SET value=x''",
                  "UPDATE sample SET weight=-1", "UPDATE sample SET n=-1", "UPDATE stack SET frames=x''", "UPDATE stack SET frames=x'0102'",
                  "UPDATE upload SET slot=0", "UPDATE frame SET object=77", "DELETE FROM frame", "DELETE FROM comm", "DELETE FROM event",
                  "UPDATE object SET build_id='zz'", "UPDATE frame SET mode=200", "UPDATE upload SET frequency=1",
                  "UPDATE stack SET frames=(SELECT group_concat('x') FROM frame)")
    for number, statement in enumerate(statements):
        for path, views in ((os.path.join(RECORDED, "chains.data"), (["report", "-g", "caller"], ["export", "--format=folded"])),
                            (os.path.join(XRAY, "fdr-v5.xray"), (["report"], ["latency"]))):
            store = new_store(folder, "v%d%s.db" % (number, path[-4:-1]))
            push(store, path)
            edit(store, statement)
            for view in views:
                done = harness.perfray(*view, "--store", store)
                if done.returncode not in (0, 2, 3, 4, 5):
                    raise harness.Wrong("%s: %s ends with %d: %s" % (statement, view[0], done.returncode, done.stderr.decode()[-300:]))


def check_hostile(folder):
    store = new_store(folder, "hostile.db")
    label = "x'; DROP TABLE upload; --\x1b[31m\"\n\u202e"
    push(store, "-l", "service=" + label, "-l", "version=" + "v" * 255, os.path.join(RECORDED, "chains.data"))
    text("store", "push", "--store", store, "-l", "service=" + "v" * 256, os.path.join(RECORDED, "chains.data"), ends=(2,))
    listed = harness.perfray("store", "list", "--store", store).stdout
    if b"\x1b" in listed or listed.count(b"\n") != 2:
        raise harness.Wrong("%r" % listed)
    expression = 'service="%s"' % label.replace("\\", "\\\\").replace('"', '\\"')
    text("store", "top", "--store", store, "--where", expression)
    name = b"\xff\x01<script>'\"=1+1,\x1b"
    edit(store, "UPDATE frame SET name=? WHERE named=1 OR 1", name)
    for view in (["report"], ["report", "--format=csv"], ["report", "--format=json"], ["export", "--format=folded"], ["flame"]):
        output = harness.perfray(*view, "--store", store).stdout
        if b"\x1b" in output or b"\xff" in output or (view[0] == "flame" and b"<script>'" in output):
            raise harness.Wrong("%s prints it raw" % view[0])
    for query in ("DROP TABLE upload", "SELECT 1; SELECT 2", "ATTACH 'x' AS y", "PRAGMA journal_mode=OFF", "UPDATE upload SET host=''"):
        text("store", "sql", query, "--store", store, ends=(2,))
    if text("store", "sql", "SELECT count(*) AS n FROM upload", "--store", store, "--format=csv").replace('"', "") != "n\n1\n":
        raise harness.Wrong("sql")


def check_refused(folder):
    """Requests for data that a store does not have are refused with a sentence."""
    store = new_store(folder, "refused.db")
    push(store, os.path.join(RECORDED, "chains.data"))
    for view in (["report", "-s", "pid"], ["report", "-s", "srcline"], ["report", "--time", "0-1"], ["report", "-C", "0"], ["report", "--inline"],
                 ["report", "-g", "caller,address"], ["report", "-s", "time"], ["flame", "-e", "cpu-clock:pppH"], ["export", "--format=pprof"],
                 ["latency"], ["diff", "--by", "line"]):
        more = ["--where", "kind=samples", "--where", "kind=samples"] if view[0] == "diff" else []
        done = harness.perfray(*view, "--store", store, *more)
        if done.returncode not in (2, 3) or not done.stderr:
            raise harness.Wrong("%s: %d %s" % (" ".join(view), done.returncode, done.stderr.decode()))


def main():
    few = "--few" in sys.argv[1:]
    for path in recordings(few):
        harness.attempt("store/same/" + os.path.basename(path), check_same, path, VIEWS)
    for path in traces(few):
        harness.attempt("store/calls/" + os.path.basename(path), check_same, path, OF_CALLS)
    with harness.scratch("store") as folder, concurrent.futures.ThreadPoolExecutor(1) as pool:
        # Waits 10 s for a lock; other checks run meanwhile.
        spool = pool.submit(harness.attempt, "store/spool", check_spool, folder)
        if harness.LONG:
            harness.attempt("store/fleet", check_fleet, folder)
        for check in (check_sum, check_diff, check_intervals, check_runs, check_flame_diff, check_view, check_view_runs, check_build_id, check_once, check_at_once, check_full, check_drop,
                      check_retain, check_values, check_hostile, check_refused):
            harness.attempt("store/" + check.__name__[6:].replace("_", "-"), check, folder)
        harness.attempt("store/killed", check_killed, folder, few)
        harness.attempt("store/damaged", check_damaged, folder, few)
        run_where(folder)
        spool.result()
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
