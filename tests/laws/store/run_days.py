# SPDX-License-Identifier: Apache-2.0
"""run_days.py: tests sums by day and function, which `store top` reads instead of samples if possible.

store/daily      sums give the same results as samples, and are read if possible
store/upgrade    in a store of version 1, which has no sums, only init makes them
store/newer      a store of a newer version, or a file that is not a store, is refused with a sentence
"""
import os
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
import run_store  # noqa: E402

DAYS = ("", 'time >= "2023-11-15"', 'time < "2023-11-15"', 'not time < "2023-11-15"', 'time >= "2023-11-14" and time < "2023-11-15" or version=2',
        'time >= "2023-11-15" and comm ~ "*"', "event ~ '*'", "version=1 and time < \"2023-11-15\"")
PARTED = ('time > "2023-11-15"', 'time <= "2023-11-15"', "time >= @1700006399", "time < @1700006401", 'not (time > @1700006399 and version=0)')


def daily_stores(folder):
    """(a store of recordings before, after and around midnight, the same without sums, the same without samples)"""
    whole = run_store.new_store(folder, "daily.db")
    names = ("zstd-many", "killed", "chains", "cpu-clock", "period", "waits")
    for number, name in enumerate(names):
        run_store.push(whole, "-l", "version=%d" % (number % 3), "--slot", "10ms", "--at", "@%.3f" % (run_store.MIDNIGHT - 0.25 + number % 3 * 0.5),
             os.path.join(run_store.RECORDED, name + ".data"))
    run_store.push(whole, "--slot", "10ms", "--at", "@%d" % run_store.MIDNIGHT, os.path.join(run_store.RECORDED, "sample-cpu.data"))
    others = []
    for name, statement in (("samples", "UPDATE upload SET sums=0"), ("sums", "DELETE FROM sample")):
        others.append(os.path.join(folder, "daily-%s.db" % name))
        with sqlite3.connect(whole) as db, sqlite3.connect(others[-1]) as to:
            db.backup(to)
            to.execute(statement)
    return whole, *others


def top_of(store, expression, *options):
    done = harness.perfray("store", "top", "--store", store, *(["--where", expression] if expression else []), *options)
    return done.returncode, done.stdout.decode(), done.stderr.decode().replace(store, "STORE")


def check_daily(folder):
    whole, samples, sums = daily_stores(folder)
    for expression in (*DAYS, *PARTED):
        for options in ((), ("--format=csv",), ("--format=json", "-s", "sym"), ("-s", "dso,comm", "--format=csv"), ("--children", "--format=csv")):
            ours, wanted = top_of(whole, expression, *options), top_of(samples, expression, *options)
            if ours != wanted or ours[0] != 0 or ours[1].count("\n") < 2:
                raise harness.Wrong("%s %s: by sums\n%s\nby samples\n%s" % (expression, " ".join(options), ours[1:], wanted[1:]))
    for expression in DAYS:
        if top_of(sums, expression, "--format=csv") != top_of(whole, expression, "--format=csv"):
            raise harness.Wrong("%s: it is answered out of samples" % expression)
    run_store.edit(whole, "UPDATE daily SET n=n+1")
    said = run_store.text("store", "check", "--store", whole, ends=(1,))
    if said.count("are not those of its samples") != 7:
        raise harness.Wrong(said)


def make_old(store):
    """Changes the store to the form of version 1."""
    with sqlite3.connect(store) as db:
        db.execute("DROP TABLE daily")
        db.execute("ALTER TABLE upload DROP COLUMN sums")
        db.execute("UPDATE setting SET value='1' WHERE name='version'")


def daily_rows(store):
    """The sums of the table, regardless of their slot of the day."""
    with sqlite3.connect(store) as db:
        return db.execute("SELECT upload, day, time/86400000000000, time=0, event, comm, frame, sum(n), sum(weight), count(*) FROM daily "
                          "GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1, 2, 3, 4, 5, 6, 7").fetchall()


def check_upgrade(folder):
    store = run_store.new_store(folder, "old.db")
    for number, name in enumerate(("zstd-many", "killed", "chains")):
        run_store.push(store, "--slot", "10ms", "--at", "@%d.25" % run_store.MIDNIGHT, os.path.join(run_store.RECORDED, name + ".data"))
    run_store.push(store, os.path.join(run_store.XRAY, "fdr-v5.xray"))
    with sqlite3.connect(store) as db:
        before, uploads_before = daily_rows(store), db.execute("SELECT * FROM upload ORDER BY upload").fetchall()
    make_old(store)
    for action in (["list"], ["top"], ["push", os.path.join(run_store.RECORDED, "waits.data")]):
        done = harness.perfray("store", *action, "--store", store)
        if done.returncode != 2 or b"store init brings it to 2" not in done.stderr:
            raise harness.Wrong("%s: %d %s" % (action[0], done.returncode, done.stderr.decode()))
    for _ in range(2):
        run_store.text("store", "init", "--store", store, ends=(0,))
        with sqlite3.connect(store) as db:
            if db.execute("SELECT * FROM upload ORDER BY upload").fetchall() != uploads_before or daily_rows(store) != before:
                raise harness.Wrong("other rows than a push makes")
    run_store.text("store", "check", "--store", store, ends=(0,))


def check_newer(folder):
    store = run_store.new_store(folder, "newer.db")
    with sqlite3.connect(store) as db:
        db.execute("UPDATE setting SET value='99' WHERE name='version'")
    for action in (["list"], ["top"], ["init"], ["push", os.path.join(run_store.RECORDED, "chains.data")]):
        done = harness.perfray("store", *action, "--store", store)
        if done.returncode != 2 or b"use a newer perfray" not in done.stderr:
            raise harness.Wrong("%s: %d %s" % (action[0], done.returncode, done.stderr.decode()))
    run_store.text("store", "list", "--store", os.path.join(folder, "none.db"), ends=(2,))
    other = os.path.join(folder, "other.db")
    with open(other, "wb") as f:
        f.write(b"this is no database" * 100)
    run_store.text("store", "list", "--store", other, ends=(3,))


def main():
    with harness.scratch("days") as folder:
        harness.attempt("store/daily", check_daily, folder)
        harness.attempt("store/upgrade", check_upgrade, folder)
        harness.attempt("store/newer", check_newer, folder)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
