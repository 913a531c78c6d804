# SPDX-License-Identifier: Apache-2.0
"""run_shards.py: the laws of run_store.py with a store of two ClickHouse shards, and the same bytes as from SQLite.

Not here: what run_store.py does to the SQLite file itself.
"""
import itertools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import clickhouse  # noqa: E402
import harness  # noqa: E402
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
    """The status and the lines; in a list without the times of pushes, its last column."""
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
    """What SQL could take for its own, as a label and in an expression."""
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
    """A shard that is down: the recording waits in the spool, and is pushed when it is there again."""
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
        checks += [("fleet", run_store.check_fleet), ("sum", run_store.check_sum), ("diff", run_store.check_diff), ("retain", run_store.check_retain),
                   ("refused", run_store.check_refused), ("view", run_store.check_view), ("intervals", run_store.check_intervals), ("flame-diff", run_store.check_flame_diff)]
        harness.attempt("store/shards/killed", run_store.check_killed, folder, False)
        for path in run_store.recordings(True):
            harness.attempt("store/shards/same/" + os.path.basename(path), run_store.check_same, path, run_store.VIEWS)
        run_store.run_where(folder)
    for name, check in checks:
        harness.attempt("store/shards/" + name, check, folder)
    harness.attempt("store/shards/labels", check_labels, new_store(folder))
    harness.attempt("store/shards/drop", check_drop, new_store(folder))
    harness.attempt("store/shards/spool", check_spool, new_store(folder), shards, os.path.join(folder, "spool"))
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
