# SPDX-License-Identifier: Apache-2.0
"""run_shards.py: the laws of run_store.py with a store of two ClickHouse shards, whose outputs must equal those from SQLite.

The checks in which run_store.py changes the SQLite file are not included.
"""
import itertools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import clickhouse  # noqa: E402
import harness  # noqa: E402
import run_days  # noqa: E402
import run_sides  # noqa: E402
import run_store  # noqa: E402

VIEWS = (["store", "list", "--format=csv"], ["store", "top"], ["store", "top", "--children"], ["store", "top", "-s", "comm"],
         ["store", "top", "--where", "service=a", "--format=json"], *([*view, "--where", "kind=samples"] for view in run_store.VIEWS),
         *([*view, "--where", "kind=calls"] for view in run_store.OF_CALLS))
FEW = 4
numbers = itertools.count(1)


def paths():
    recordings, traces = run_store.recordings(True), run_store.traces(True)
    return (recordings, traces) if harness.LONG else (recordings[:FEW], traces[:FEW // 2])


def shown(view, store):
    """The status and the lines; in a list without the last column, the times of pushes."""
    done = harness.perfray(*view, "--store", store)
    lines = done.stdout.decode("utf-8", "backslashreplace").splitlines()
    return done.returncode, [line.rsplit(",", 1)[0] for line in lines] if view[1] == "list" else lines


def check_alike(sqlite, shards):
    for number, path in enumerate(itertools.chain(*paths())):
        for store in (sqlite, shards):
            run_store.push(store, "-l", "service=%s" % "ab"[number % 2], "-l", "host=h%d" % number, "--at", "@%d" % (1700000000 + number), path)
    for view in VIEWS:
        difference = harness.first_difference(shown(view, sqlite), shown(view, shards))
        harness.must(not difference, "%s: SQLite and two shards: %s" % (" ".join(view), difference))


def check_labels(store):
    """Texts that could be read as SQL, as a label and in an expression."""
    label = "x'; DROP TABLE upload; --\x1b[31m\"\\\n\u202e"
    run_store.push(store, "-l", "service=" + label, os.path.join(run_store.RECORDED, "chains.data"))
    expression = 'service="%s"' % label.replace("\\", "\\\\").replace('"', '\\"')
    run_store.text("store", "top", "--store", store, "--where", expression, ends=(0,))
    listed = harness.perfray("store", "list", "--store", store).stdout
    harness.must(b"\x1b" not in listed and listed.count(b"\n") == 2, repr(listed))


def check_drop(store):
    chains, waits = (os.path.join(run_store.RECORDED, name) for name in ("chains.data", "waits.data"))
    run_store.push(store, "-l", "service=keep", chains)
    before = shown(["store", "top"], store)
    run_store.push(store, "-l", "service=go", waits)
    run_store.text("store", "drop", "--store", store, "--where", "service=go")
    harness.must(shown(["store", "top"], store) == before, "drop left something, or took too much")
    run_store.push(store, "-l", "service=go", waits)
    harness.must(len(run_store.uploads(store)) == 2, "it cannot be pushed again")
    run_store.text("store", "check", "--store", store, ends=(0,))


def check_spool(store, shards, spool):
    """While a shard is down, the recording waits in the spool; it is pushed when the shard runs again."""
    path = os.path.join(run_store.RECORDED, "chains.data")
    shards[0].stop()
    run_store.push(store, "--spool", spool, "-l", "service=late", path, ends=(0,))
    harness.must(len(os.listdir(spool)) == 2, "it is not in the spool: %r" % os.listdir(spool))
    done = harness.perfray("store", "top", "--store", store)
    harness.must(done.returncode == 5 and shards[0].address.encode() in done.stderr, "a dead shard: %d %s" % (done.returncode, harness.last_line(done)))
    shards[0].start()
    shards[0].wait()
    run_store.push(store, "--spool", spool, ends=(0,))
    harness.must(not os.listdir(spool) and len(run_store.uploads(store)) == 1, "it waits: %r" % os.listdir(spool))


def daily(store, shards):
    """The sums of all shards, regardless of their slot of the day, and the numbers in `upload`."""
    database = store.rsplit("/", 1)[1]
    rows = "".join(shard.ask("SELECT upload, day, intDiv(time, 86400000000000) AS d, time = 0 AS z, event, comm, frame, sum(n), sum(weight), count() "
                             "FROM %s.daily GROUP BY upload, day, d, z, event, comm, frame" % database) for shard in shards)
    uploads = "".join(shard.ask("SELECT upload, rows, sums, samples, service FROM %s.upload" % database) for shard in shards)
    return sorted(rows.splitlines()), sorted(uploads.splitlines())


def make_old(store, shard):
    """Changes the store to the form of version 1."""
    database = store.rsplit("/", 1)[1]
    shown = shard.ask("SHOW CREATE TABLE %s.upload" % database).replace("\\'", "'").replace("\\n", " ").strip()
    for statement in ("DROP TABLE %s.all_daily", "DROP TABLE %s.daily", "DROP TABLE %s.upload", "ALTER TABLE %s.all_upload DROP COLUMN sums",
                      "TRUNCATE TABLE %s.all_setting", "INSERT INTO %s.all_setting VALUES ('version', '1', 1)"):
        shard.ask(statement % database)
    shard.ask(shown.replace("sums UInt64, ", "").replace(", sums UInt64", "").replace(", sums", ""))


def check_upgrade(store, shards):
    """init adds sums to tables of version 1. A server that is up to date is not changed, and an upload with incomplete sums gets no sums."""
    for number, name in enumerate(("zstd-many", "killed", "chains", "waits")):
        run_store.push(store, "--slot", "10ms", "--at", "@%d.25" % run_store.MIDNIGHT, "-l", "service=s%d" % number, os.path.join(run_store.RECORDED, name + ".data"))
    before, top = daily(store, shards), shown(["store", "top"], store)
    harness.must(len(before[0]) > 20 and all(int(line.split("\t")[2]) for line in before[1]), "no sums: %r" % before[1])
    for old in (shards, shards[:1]):
        for shard in old:
            make_old(store, shard)
        done = harness.perfray("store", "list", "--store", store)
        harness.must(done.returncode == 2 and b"store init brings it to 2" in done.stderr, harness.last_line(done))
        for _ in range(2):
            run_store.text("store", "init", "--store", store, ends=(0,))
            harness.must(daily(store, shards) == before, "other sums than a push makes")
        run_store.text("store", "check", "--store", store, ends=(0,))
    for shard in shards:
        database = store.rsplit("/", 1)[1]
        shard.ask("CREATE TABLE {0}.left_over AS {0}.all_daily".format(database))
        shard.ask("INSERT INTO {0}.left_over SELECT * FROM {0}.all_daily LIMIT 1 BY upload".format(database))
    for shard in shards:    # an upgrade that ended between two blocks of its INSERT
        make_old(store, shard)
        shard.ask("CREATE TABLE {0}.all_daily AS {0}.left_over".format(store.rsplit("/", 1)[1]))
        shard.ask("INSERT INTO {0}.all_daily SELECT * FROM {0}.left_over".format(store.rsplit("/", 1)[1]))
    run_store.text("store", "init", "--store", store, ends=(0,))
    harness.must(not any(int(line.split("\t")[2]) for line in daily(store, shards)[1]), "uploads whose sums are not whole have them")
    harness.must(shown(["store", "top"], store) == top, "top has changed")
    run_store.text("store", "check", "--store", store, ends=(0,))


def check_daily(store, shards):
    """Without samples, queries that use sums return the same results, and `check` reports the missing rows."""
    for number, name in enumerate(("zstd-many", "killed", "chains", "sample-cpu")):
        run_store.push(store, "--slot", "10ms", "--at", "@%.3f" % (run_store.MIDNIGHT + number % 2 * 0.25), "-l", "version=%d" % number,
                       os.path.join(run_store.RECORDED, name + ".data"))
    expressions = (*run_days.DAYS, *run_days.PARTED)
    wanted = [shown(["store", "top", "--format=csv", *(["--where", one] if one else [])], store) for one in expressions]
    for shard in shards:
        shard.ask("INSERT INTO {0}.all_upload SELECT day, upload, content, service, version, host, clock, kind, pushed, first, last, slot, samples, rows, lost, "
                  "holes, frequency, 0, attempt, revision + 1, dropped FROM {0}.all_upload FINAL".format(store.rsplit("/", 1)[1]))
    harness.must([shown(["store", "top", "--format=csv", *(["--where", one] if one else [])], store) for one in expressions] == wanted,
                 "sums and samples give other answers")


def main():
    os.environ["no_proxy"] = "*"
    with harness.scratch("shards") as folder:
        try:
            with clickhouse.servers(folder, 2) as shards:
                return run(folder, shards)
        except harness.Skip as reason:
            return harness.skip("store/shards", reason)


def run(folder, shards):
    new_in_file = run_store.new_store

    def new_store(_, name="a.db"):
        store = clickhouse.location(shards, "t%d_%s" % (next(numbers), name.split(".")[0]))
        run_store.text("store", "init", "--store", store)
        return store

    run_store.new_store = new_store
    harness.attempt("store/shards/alike", check_alike, new_in_file(folder), new_store(folder))
    checks = [("once", run_store.check_once), ("at-once", run_store.check_at_once)]
    if harness.LONG:
        checks += [("fleet", run_store.check_fleet), ("sum", run_store.check_sum), ("diff", run_sides.check_diff), ("retain", run_store.check_retain),
                   ("refused", run_store.check_refused), ("view", run_sides.check_view), ("intervals", run_sides.check_intervals), ("flame-diff", run_sides.check_flame_diff)]
        harness.attempt("store/shards/killed", run_store.check_killed, folder, False)
        for path in run_store.recordings(True):
            harness.attempt("store/shards/same/" + os.path.basename(path), run_store.check_same, path, run_store.VIEWS)
        run_store.run_where(folder)
    for name, check in checks:
        harness.attempt("store/shards/" + name, check, folder)
    harness.attempt("store/shards/labels", check_labels, new_store(folder))
    harness.attempt("store/shards/upgrade", check_upgrade, new_store(folder), shards)
    harness.attempt("store/shards/daily", check_daily, new_store(folder), shards)
    harness.attempt("store/shards/drop", check_drop, new_store(folder))
    harness.attempt("store/shards/spool", check_spool, new_store(folder), shards, os.path.join(folder, "spool"))
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
