# SPDX-License-Identifier: Apache-2.0
"""Tests the engines of stores without the core: both return the same results, and a push counts once or not at all.

    run_engines.py STORE_DRIVER

store_driver.c makes uploads with texts that contain every byte. ClickHouse runs as two shards.
"""
import contextlib
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import clickhouse  # noqa: E402
import harness  # noqa: E402

DRIVER = sys.argv[1]
UPLOADS = ((1, 900), (2, 700), (3, 0), (2 ** 63 + 5, 400))


def drive(url, *words):
    return harness.run([DRIVER, url, *words], env=harness.environment(no_proxy="*"))


def answer(url, *words):
    done = drive(url, *words)
    harness.must(done.returncode == 0, "%s: %s" % (" ".join(map(str, words)), harness.last_line(done)))
    return done.stdout.decode()


def dump(url):
    """The lines, sorted so that they do not depend on the engine, except uploads, whose order is kept."""
    lines = answer(url, "dump").splitlines()
    uploads = [line for line in lines if line.startswith("upload ")]
    wrong = [line for line in lines if line.startswith("picked ") and line != "picked 1 of 1 1 1"]
    harness.must(not wrong, "not found by id, service and time: %s" % wrong)
    return uploads + sorted(line for line in lines if not line.startswith(("upload ", "picked ")))


def check_same(here, there):
    for url in (here, there):
        answer(url, "init")
        harness.must(answer(url, "version") == "2\n", "version of %s" % url)
        for upload, rows in UPLOADS:
            harness.must(answer(url, "push", upload, rows) == "stored\n", "push")
    difference = harness.first_difference(dump(here), dump(there))
    harness.must(not difference, difference)
    harness.must(len(dump(here)) > 2000, "the stores are empty")
    answer(here, "relabel", 2, "it's \\new"), answer(there, "relabel", 2, "it's \\new")
    difference = harness.first_difference(dump(here), dump(there))
    harness.must(not difference, "after relabel: %s" % difference)
    answer(here, "drop", 1, 3), answer(there, "drop", 1, 3)
    difference = harness.first_difference(dump(here), dump(there))
    harness.must(not difference, "after drop: %s" % difference)
    answer(here, "collect"), answer(there, "collect")
    samples = [[line for line in dump(url) if line.startswith(("upload", "sample"))] for url in (here, there)]
    harness.must(samples[0] == samples[1], "after collect: %s" % harness.first_difference(*samples))


def check_once(url):
    """A push is repeated, run twice at the same time, stopped before its end, and killed."""
    answer(url, "init")
    answer(url, "push", 1, 800, "stop")
    harness.must(not [line for line in dump(url) if line.startswith(("upload", "sample", "latency"))], "an unfinished push is seen")
    hanging = subprocess.Popen([DRIVER, url, "push", "1", "800", "hang"], stdout=subprocess.PIPE, env=harness.environment(no_proxy="*"))
    try:
        harness.must(hanging.stdout.readline() == b"hanging\n", "push does not hang")
    finally:
        hanging.kill()
        hanging.communicate()
    harness.must(not [line for line in dump(url) if line.startswith("sample")], "a killed push is seen")
    harness.must(answer(url, "push", 1, 800) == "stored\n", "push after a killed one")
    once = dump(url)
    harness.must(sum(line.startswith("sample ") for line in once) > 800, "samples are missing")
    harness.must(answer(url, "push", 1, 800) == "already\n", "the second push of one recording")
    harness.must(dump(url) == once, "pushed twice, it counts twice")
    harness.must("fine" in answer(url, "check"), "check finds a fault")


def check_hold(url):
    """Views of a SQLite store print its state at their first query, even if an upload is dropped while they run."""
    answer(url, "init")
    answer(url, "push", 1, 300), answer(url, "push", 2, 300)
    before = dump(url)
    held = answer(url, "hold", 1).splitlines()
    uploads = [line for line in held if line.startswith("upload ")]
    harness.must(uploads + sorted(line for line in held if not line.startswith("upload ")) == before, "held queries see the drop")
    harness.must(len([line for line in dump(url) if line.startswith("upload ")]) == 1, "nothing was dropped")


def check_hold_servers(url):
    """ClickHouse may delete the rows of a dropped upload while a view reads them: the view prints all rows or an error."""
    answer(url, "init")
    answer(url, "push", 1, 300), answer(url, "push", 2, 300)
    before = dump(url)
    done = drive(url, "hold", 1)
    if done.returncode:
        harness.must("another process removed an upload" in harness.last_line(done), harness.last_line(done))
    else:
        samples = [sorted(line for line in lines if line.startswith("sample")) for lines in (before, done.stdout.decode().splitlines())]
        harness.must(samples[0] == samples[1], "some rows of the dropped upload are missing")


def check_at_once(url, count):
    answer(url, "init")
    together = [subprocess.Popen([DRIVER, url, "push", "7", "3000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 env=harness.environment(no_proxy="*")) for _ in range(count)]
    for one in together:
        said = one.communicate()
        harness.must(one.returncode == 0, "a push at the same time: %s" % said[1].decode("utf-8", "replace"))
    rows = [line for line in dump(url) if line.startswith("sample ")]
    harness.must(len(set(rows)) == len(rows) or len(rows) < 2 * 3000, "%d rows of 3000" % len(rows))
    uploads = [line for line in dump(url) if line.startswith("upload ")]
    harness.must(len(uploads) == 1, "%d uploads" % len(uploads))


def check_big_answer(url, shards):
    """More rows than fit into one answer: they are returned in parts, each row once."""
    answer(url, "init")
    for upload, rows in UPLOADS:
        answer(url, "push", upload, rows)
    counted = "SELECT count() FROM system.events WHERE event = 'SelectQuery'"
    total = "SELECT value FROM system.events WHERE event = 'SelectQuery'"
    harness.must(all(shard.ask(counted) == "1\n" for shard in shards), "queries are not counted")
    asked, wanted = [], None
    for most in (1000000, 200):
        before = sum(int(shard.ask(total)) for shard in shards)
        done = harness.run([DRIVER, url, "dump"], env=harness.environment(no_proxy="*", STORE_DRIVER_SIZES="answer-rows=%d" % most))
        asked.append(sum(int(shard.ask(total)) for shard in shards) - before)
        lines = sorted(done.stdout.decode().splitlines())
        wanted = wanted or lines
        harness.must(done.returncode == 0 and len(lines) > 2000 and lines == wanted, "at most %d rows: other rows" % most)
    harness.must(asked[1] > asked[0] + sum(rows for _, rows in UPLOADS) // 200, "%d queries, and in parts %d" % tuple(asked))


def check_sql(url, shards):
    wanted = "".join("|%s %s\n" % ("22" and '"' + shard.address.encode().hex(), '"' + b"1".hex()) for shard in shards)
    said = answer(url, "sql", "SELECT 1 AS one")
    harness.must(said == "|shard one\n" + wanted, said)
    said = answer(url, "sql", "SELECT NULL, '\\\\N', 'a\\tb\\\\\\nc\\0' FROM upload LIMIT 0")
    harness.must(said.startswith("|shard "), said)
    for statement in ("DROP TABLE all_sample", "INSERT INTO setting VALUES ('a', 'b')", "CREATE DATABASE x"):
        done = drive(url, "sql", statement)
        harness.must(done.returncode == 1 and b"readonly" in done.stderr, "%s: %s" % (statement, harness.last_line(done)))


def check_values(shards):
    """Tests the only function that puts texts into queries, with every byte, and the number that is not a simple Int64."""
    for shard in shards:
        text = "".join("%02X" % byte for byte in range(256))
        said = shard.ask("SELECT hex(unhex('%s')), toInt64('-9223372036854775808')" % text)
        harness.must(said == "%s\t-9223372036854775808\n" % text, said)


def check_away(url, shards):
    """A shard is down, or does not answer: the error names the shard, immediately or at the timeout."""
    answer(url, "init")
    answer(url, "push", 1, 100)
    shards[1].stop()
    for words in (("dump",), ("push", "5", "10"), ("init",), ("check",), ("drop", "1")):
        done = drive(url, *words)
        said = harness.last_line(done)
        harness.must(done.returncode == 1 and shards[1].address in said and "store.away" in said, "%s: %s" % (words[0], said))
    shards[1].start()
    shards[1].wait()
    harness.must(any(line.startswith("sample ") for line in dump(url)), "after the shard came back")


def check_password(shards):
    """The password comes from the environment or a file, and is in no argument and no message."""
    hosts = ",".join(shard.address for shard in shards)
    url = "clickhouse://guarded@%s/secret" % hosts
    done = drive(url, "init")
    harness.must(done.returncode == 1 and "permission" in harness.last_line(done), "no password: %s" % harness.last_line(done))
    done = harness.run([DRIVER, url, "init"], env=harness.environment(no_proxy="*", PERFRAY_CLICKHOUSE_PASSWORD="wr0ng"))
    harness.must(done.returncode == 1 and b"wr0ng" not in done.stderr, "wrong password: %s" % harness.last_line(done))
    done = harness.run([DRIVER, url, "init"], env=harness.environment(no_proxy="*", PERFRAY_CLICKHOUSE_PASSWORD=clickhouse.PASSWORD))
    harness.must(done.returncode == 0, "from the environment: %s" % harness.last_line(done))
    file = os.path.join(os.path.dirname(shards[0].folder), "password")
    with open(file, "w") as to:
        to.write(clickhouse.PASSWORD + "\n")
    done = harness.run([DRIVER, url, "version"], env=harness.environment(no_proxy="*", PERFRAY_CLICKHOUSE_PASSWORD_FILE=file))
    harness.must(done.stdout == b"2\n", "from a file: %s" % harness.last_line(done))
    done = drive("clickhouse://guarded:s3cret@%s/secret" % hosts, "version")
    harness.must(done.returncode == 1 and b"s3cret" not in done.stderr and b"usage" in done.stderr, harness.last_line(done))


def check_collect(url, shards):
    """Unused rows that are older than a day are removed; a row that a push of today uses is kept."""
    name = url.rsplit("/", 1)[1]
    answer(url, "init")
    answer(url, "push", 1, 500)
    answer(url, "push", 2, 500)
    before = dump(url)
    for shard in shards:
        shard.ask("INSERT INTO %s.all_stack SELECT 4242, 1, 0, [1], 1000" % name)
        shard.ask("INSERT INTO %s.all_sample SELECT day, 99, event, comm, stack, n, weight, bitShiftLeft(toUInt64(1000), 32), seconds, "
                  "nanoseconds FROM %s.all_sample" % (name, name))
    answer(url, "collect")
    harness.must(dump(url) == before, "collect changed answers")
    for shard in shards:
        left = shard.ask("SELECT count() FROM %s.all_stack WHERE stack = 4242" % name) + shard.ask(
            "SELECT count() FROM %s.all_sample WHERE upload = 99" % name)
        harness.must(left == "0\n0\n", "left: %r" % left)


def main():
    with harness.scratch("engines") as folder, contextlib.ExitStack() as stack:
        harness.attempt("store/engines/hold", check_hold, os.path.join(folder, "hold.db"))
        began = time.monotonic()
        try:
            shards = stack.enter_context(clickhouse.servers(folder, 2))
        except harness.Skip as reason:
            return harness.skip("store/engines", reason)
        print("# servers answer after %.1f s" % (time.monotonic() - began))

        def at(name):
            return clickhouse.location(shards, name)

        harness.attempt("store/engines/same", check_same, os.path.join(folder, "same.db"), at("same"))
        harness.attempt("store/engines/once", check_once, at("once"))
        harness.attempt("store/engines/hold-servers", check_hold_servers, at("held"))
        harness.attempt("store/engines/at-once", check_at_once, at("together"), 8 if harness.LONG else 3)
        harness.attempt("store/engines/sql", check_sql, at("once"), shards)
        harness.attempt("store/engines/values", check_values, shards)
        harness.attempt("store/engines/password", check_password, shards)
        harness.attempt("store/engines/collect", check_collect, at("collected"), shards)
        harness.attempt("store/engines/away", check_away, at("away"), shards)
        harness.attempt("store/engines/big-answer", check_big_answer, at("big"), shards)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
