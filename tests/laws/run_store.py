#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_store.py [--few]: checks that outputs from a store equal outputs from the files.

store/same/RECORDING     report (rows, trees) and folded stacks from a store equal those from the file: recordings of the fixtures and the corpus
store/calls/TRACE        the same for traces, with latency by function and by caller
store/fleet              many recordings of several versions and hosts: the sums of each version and host equal the sums of its files (PERFRAY_LONG)
store/sum                two recordings in one store: weights of `top` are the sums of both
store/where/EXPRESSION   expressions select correctly; invalid ones are refused with the byte of the error
store/once, /labels      a push is repeated, changes labels, or is refused
store/many-stacks        inclusive weights need memory for functions, not for stacks; top needs no memory for slots of time
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
import io
import os
import random
import re
import signal
import sqlite3
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
    kept = [line for line in output.splitlines() if not (line.startswith("#") and ("ost" in line or "ranges" in line))]
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


def check_many_stacks(folder):
    """20 000 stacks of 50 frames: the memory limit is enough for the functions, but not for a tree of one million nodes."""
    store = new_store(folder, "many.db")
    push(store, os.path.join(RECORDED, "chains.data"))
    with sqlite3.connect(store) as db:
        upload, time, event, comm, stack = db.execute("SELECT upload, time, event, comm, stack FROM sample WHERE stack").fetchone()
        frames = [row[0] for row in db.execute("SELECT frame FROM frame")]
        chance = random.Random(1)
        for number in range(1, 20001):
            chain = [chance.choice(frames) for _ in range(50)]
            db.execute("INSERT INTO stack VALUES(?,?,0,?)", (number, chain[0], b"".join(frame.to_bytes(8, "little", signed=True) for frame in chain)))
            db.execute("INSERT INTO sample SELECT day, ?, ?, ?, ?, ?, 1, 1000 FROM upload", (upload, time, event, comm, number))
    rows = text("report", "--format=csv", "--children", "--store", store, "--limit", "memory=128M", ends=(0,)).splitlines()
    if len(rows) < 10 or not all(len(row.split(",")) > 6 for row in rows):
        raise harness.Wrong("\n".join(rows[:5]))
    with sqlite3.connect(store) as db:
        db.execute("WITH RECURSIVE slot(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM slot WHERE i < 50) INSERT INTO sample SELECT day, upload, "
                   "time + i * 10000000000, event, comm, stack, n, weight FROM sample CROSS JOIN slot WHERE stack BETWEEN 1 AND 20000")
        samples, weight = db.execute("SELECT sum(n), sum(weight) FROM sample").fetchone()
    limited = text("store", "top", "--format=csv", "--children", "--store", store, "--limit", "memory=50M", ends=(0,))
    if limited != text("report", "--format=csv", "--children", "--store", store) or samples < 1000000 or len(limited.splitlines()) != len(rows):
        raise harness.Wrong("%d samples, weight %d: %s" % (samples, weight, limited[:500]))


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
        for check in (check_sum, check_once, check_at_once, check_full, check_drop,
                      check_retain, check_values, check_hostile, check_refused, check_many_stacks):
            harness.attempt("store/" + check.__name__[6:].replace("_", "-"), check, folder)
        harness.attempt("store/killed", check_killed, folder, few)
        harness.attempt("store/damaged", check_damaged, folder, few)
        run_where(folder)
        spool.result()
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
