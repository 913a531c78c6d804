# SPDX-License-Identifier: Apache-2.0
"""run_faults.py SKEWED_CLOCK: failures during pushes to a store, with exact counts afterwards; with SQLite and two ClickHouse shards.

store/faults/ENGINE/hosts          hosts with the same name: each recording counts, and a recording that two hosts push counts once
store/faults/ENGINE/clocks         pushes, repeats and drops by hosts whose clocks are days off, one of them in 1970
store/faults/clickhouse/clients    pushes killed at any moment
store/faults/clickhouse/servers    a shard is killed during pushes, and started again
store/faults/ENGINE/disk           a full file system: the error says so, and no row of the push remains; with more space the push is complete

SKEWED_CLOCK is the library of skewed_clock.c. The last two need `unshare -rm` (a user namespace that may mount a small tmpfs).
"""
import contextlib
import csv
import functools
import io
import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import clickhouse  # noqa: E402
import harness  # noqa: E402
import run_store  # noqa: E402

INSIDE = "--inside"     # second argument of this script when it runs in a separate namespace; the engine follows
DAY = 86400
NAMES = ("zstd-many", "waits", "chains", "killed", "cpu-clock")
PATHS = [os.path.join(run_store.RECORDED, name + ".data") for name in NAMES]


def run(*words, skew=0, library=None):
    more = {"LD_PRELOAD": library, "SKEWED_CLOCK": str(skew), "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"} if library else {}
    return harness.run([harness.PERFRAY, *words], env=harness.environment(no_proxy="*", **more))


def start_push(store, path):
    return subprocess.Popen([harness.PERFRAY, "store", "push", "--store", store, "--no-symbols", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                            env=harness.environment(no_proxy="*"))


@functools.lru_cache(None)
def sums_of(path):
    return run_store.table(run_store.text("report", "--no-symbols", "--format=csv", *run_store.KEYS, path))


def wanted_sums(paths):
    sums = {}
    for path in paths:
        run_store.add_up(sums, sums_of(path))
    return sums


def check_counts(store, paths, when):
    """Uploads, sums and the output of `check`; `top` reads sums, `report` reads samples."""
    wanted = wanted_sums(paths)
    listed = list(csv.DictReader(io.StringIO(run_store.text("store", "list", "--store", store, "--format=csv"))))
    harness.must(len(listed) == len(paths), "%s: %d uploads, not %d" % (when, len(listed), len(paths)))
    for view in (["store", "top", "--format=csv"], ["report", "--format=csv", *run_store.KEYS]):
        harness.must(run_store.table(run_store.text(*view, "--store", store)) == wanted, "%s: %s gives other sums than the files" % (when, view[0]))
    run_store.text("store", "check", "--store", store, ends=(0,))


def check_hosts(store):
    for path in PATHS:
        run_store.push(store, "-l", "host=localhost,service=s", "--at", "@1700000000", path, ends=(0, 4))
    check_counts(store, PATHS, "one name")
    done = run("store", "push", "--store", store, "--no-symbols", "-l", "host=copy,service=s", PATHS[0])
    harness.must(done.returncode == 1 and b"host='localhost'" in done.stderr, "a copy: %d %s" % (done.returncode, harness.last_line(done)))
    check_counts(store, PATHS, "a copy on another host")
    listed = run_store.text("store", "list", "--store", store, "--where", "host=localhost").splitlines()
    harness.must(len(listed) == len(PATHS) + 1, "%d lines" % len(listed))


def check_clocks(store, library):
    """Regardless of the client's clock, a push counts once, and other clients' rows are not removed."""
    now = int(time.time())
    skews = (0, 3 * DAY, -400 * DAY, 1000 - now, 2 * DAY)
    for path, skew in zip(PATHS, skews):
        done = run("store", "push", "--store", store, "--no-symbols", path, skew=skew, library=library)
        harness.must(done.returncode in (0, 4), "%d s off: %s" % (skew, harness.last_line(done)))
    check_counts(store, PATHS, "pushed")
    for path, skew in zip(PATHS, reversed(skews)):
        done = run("store", "push", "--store", store, "--no-symbols", path, skew=skew, library=library)
        harness.must(done.returncode == 0 and b"it was in the store" in done.stderr, "again: %s" % harness.last_line(done))
    for path, skew in list(zip(PATHS, skews))[::1 if harness.LONG else 3]:
        done = run("store", "drop", "--store", store, "--where", "upload=%s" % upload_of(store, path), skew=skew, library=library)
        harness.must(done.returncode == 0, "drop: %s" % harness.last_line(done))
        left = [one for one in PATHS if one != path]
        check_counts(store, left, "dropped %d s off" % skew)
        done = run("store", "push", "--store", store, "--no-symbols", path, skew=skews[0] if skew else skews[1], library=library)
        harness.must(done.returncode in (0, 4), "after drop: %s" % harness.last_line(done))
    check_counts(store, PATHS, "pushed after each drop")


def upload_of(store, path):
    done = run("store", "push", "--store", store, "--no-symbols", path)
    return done.stderr.decode().split("upload ")[1][:32]


def check_clients(store):
    dice = random.Random(11)
    for round_ in range(5 if not harness.LONG else 40):
        running = start_push(store, PATHS[round_ % len(PATHS)])
        time.sleep(dice.random() * 0.3)
        running.send_signal(signal.SIGKILL)
        running.wait()
    run_store.text("store", "check", "--store", store, ends=(0,))
    for path in PATHS:
        run_store.push(store, path)
    check_counts(store, PATHS, "after kills")


def check_servers(store, shards):
    """A push to a shard that is killed ends with an error that names the shard, or succeeds; then it is repeated."""
    dice = random.Random(13)
    for round_ in range(2 if not harness.LONG else 12):
        shard = shards[round_ % len(shards)]
        running = [start_push(store, path) for path in PATHS]
        time.sleep(dice.random() * 0.3)
        shard.stop()
        ends = [one.wait(60) for one in running]
        harness.must(set(ends) <= {0, 4, 5}, "pushes end with %r" % ends)
        done = run("store", "top", "--store", store)
        harness.must(done.returncode == 5 and shard.address.encode() in done.stderr, "a dead shard: %d %s" % (done.returncode, harness.last_line(done)))
        shard.start()
        shard.wait()
        run_store.text("store", "check", "--store", store, ends=(0,))
    for path in PATHS:
        run_store.push(store, path)
    check_counts(store, PATHS, "after kills")


# --- A full file system. These checks run in a separate namespace.

def small(folder, size):
    path = os.path.join(folder, "small")
    os.makedirs(path)
    done = harness.run(["mount", "-t", "tmpfs", "-o", "size=%s" % size, "tmpfs", path])
    if done.returncode:
        raise harness.Skip("no tmpfs can be mounted: %s" % harness.last_line(done))
    return path


def fill(path, left):
    """A file that leaves this many bytes free."""
    place = os.statvfs(path)
    with open(os.path.join(path, "filler"), "wb") as file:
        file.write(bytes(max(place.f_bavail * place.f_frsize - left, 0)))


def check_full(store, full, words):
    """`full` fills the file system, and frees space again when called with False."""
    run_store.push(store, PATHS[2])
    full(True)
    for _ in range(2):
        done = run("store", "push", "--store", store, "--no-symbols", PATHS[1])
        harness.must(done.returncode == 5 and any(word in done.stderr.decode() for word in words), "%d: %s" % (done.returncode, harness.last_line(done)))
    full(False)
    check_counts(store, [PATHS[2]], "full")
    for path in PATHS:
        run_store.push(store, path)
    check_counts(store, PATHS, "with space again")


def check_file_full(folder):
    place = small(folder, "1m")
    store = run_store.new_store(place)

    def full(on):
        fill(place, 20000) if on else os.remove(os.path.join(place, "filler"))

    check_full(store, full, ("full", "disk I/O error"))


def check_server_full(folder):
    place = small(folder, "64m")
    with clickhouse.servers(place, 1) as shards:
        store = clickhouse.location(shards, "full")
        run_store.text("store", "init", "--store", store)

        def full(on):
            fill(place, 0) if on else os.remove(os.path.join(place, "filler"))

        check_full(store, full, ("No space left", "enough space", "Cannot write"))


def inside(engine):
    check = check_file_full if engine == "sqlite" else check_server_full
    with harness.scratch("full") as folder:
        try:
            check(folder)
        finally:
            harness.run(["umount", "-l", os.path.join(folder, "small")])


def check_disk(engine):
    tried = harness.run(["unshare", "-rm", "true"]) if harness.installed("unshare") else None
    if not tried or tried.returncode:
        raise harness.Skip("no user namespace: %s" % (harness.last_line(tried) if tried else "unshare is not installed"))
    if engine == "clickhouse" and not harness.installed("clickhouse-server"):
        raise harness.Skip("clickhouse-server is not installed")
    done = harness.run(["unshare", "-rm", sys.executable, os.path.abspath(__file__), sys.argv[1], INSIDE, engine], timeout=200)
    said = done.stdout.decode(errors="replace").strip()
    if done.returncode == harness.SKIPPED:
        raise harness.Skip(said)
    harness.must(done.returncode == 0, said or harness.last_line(done))


def main():
    os.environ["no_proxy"] = "*"
    library = sys.argv[1]
    if sys.argv[2:3] == [INSIDE]:
        try:
            inside(sys.argv[3])
        except harness.Skip as reason:
            print(reason)
            return harness.SKIPPED
        except harness.Wrong as problem:
            print(problem)
            return 1
        return 0
    with harness.scratch("faults") as folder:
        harness.attempt("store/faults/sqlite/hosts", check_hosts, run_store.new_store(folder, "hosts.db"))
        harness.attempt("store/faults/sqlite/clocks", check_clocks, run_store.new_store(folder, "clocks.db"), library)
        harness.attempt("store/faults/sqlite/disk", check_disk, "sqlite")
        with contextlib.ExitStack() as stack:
            try:
                shards = stack.enter_context(clickhouse.servers(folder, 2))
            except harness.Skip as reason:
                return harness.skip("store/faults/clickhouse", reason)

            def new(name):
                store = clickhouse.location(shards, name)
                run_store.text("store", "init", "--store", store)
                return store

            harness.attempt("store/faults/clickhouse/hosts", check_hosts, new("hosts"))
            harness.attempt("store/faults/clickhouse/clocks", check_clocks, new("clocks"), library)
            harness.attempt("store/faults/clickhouse/clients", check_clients, new("clients"))
            harness.attempt("store/faults/clickhouse/servers", check_servers, new("servers"), shards)
        harness.attempt("store/faults/clickhouse/disk", check_disk, "clickhouse")
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
