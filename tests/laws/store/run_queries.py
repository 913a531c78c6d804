# SPDX-License-Identifier: Apache-2.0
"""run_queries.py: checks that each query of docs/store.md returns the sums of the rows in the tables, computed here.

store/queries/sqlite/N, store/queries/clickhouse/N   the Nth query of the page for this engine

Variables and macros of Grafana are replaced as its data sources replace them.
"""
import collections
import contextlib
import csv
import io
import os
import re
import sqlite3
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import clickhouse  # noqa: E402
import harness  # noqa: E402
import run_store  # noqa: E402

MINUTE = 60000000000
NOW = int(time.time()) - 600
FROM, TO = NOW - 3600, NOW + 3600


def queries():
    """The SQL blocks of the page, after its heading Queries."""
    with open(os.path.join(harness.ROOT, "docs", "store.md")) as file:
        page = file.read().split("\n## Queries\n")[1]
    return [re.sub(r"\s+", " ", block).strip() for block in re.findall(r"(?:^    .*\n)+", page, re.M)]


def is_of_clickhouse(query):
    return " ANY LEFT JOIN " in query or " ALL INNER JOIN " in query


def grafana(query):
    query = re.sub(r"\$__dateTimeFilter\((.*?\))\) GROUP", r"\1 >= toDateTime(%d) AND \1 <= toDateTime(%d) GROUP" % (FROM, TO), query)
    query = query.replace("$__from", str(FROM * 1000)).replace("$__to", str(TO * 1000))
    harness.must("$" not in query, "a variable that is not known: %s" % query)
    return query


def fill(store):
    for name, service, version in (("zstd-many", "search", "1"), ("chains", "search", "2"), ("killed", "search", "2"), ("waits", "other", "1")):
        run_store.push(store, "-l", "service=%s,version=%s" % (service, version), "--slot", "1s", "--at", "@%d" % NOW,
                       os.path.join(run_store.RECORDED, name + ".data"))


class Rows:
    """The expected results of the queries of a service, from the rows of a SQLite store."""

    def __init__(self, store):
        with sqlite3.connect(store) as db:
            names = dict(db.execute("SELECT frame, name FROM frame"))
            stacks = {stack: (leaf, {number for (number,) in struct.iter_unpack("<q", frames)}) for stack, leaf, frames in
                      db.execute("SELECT stack, leaf, frames FROM stack")}
            self.own, self.callees, self.minutes = collections.Counter(), collections.Counter(), collections.Counter()
            for version, at, stack, n, weight in db.execute("SELECT version, time, stack, n, weight FROM sample JOIN upload USING (upload) WHERE service='search'"):
                self.minutes[at // MINUTE * 60, version] += weight
                leaf, frames = stacks[stack]
                self.own[leaf] += weight
                for name in [names[frame] for frame in frames]:
                    self.callees[name] += weight
        self.names = names

    def functions(self):
        return sorted(((self.names[frame], weight) for frame, weight in self.own.items()), key=lambda row: -row[1])[:20]


def check(rows, store, query):
    output = run_store.text("store", "sql", grafana(query), "--store", store, "--format=csv")
    answer = list(csv.DictReader(io.StringIO(output)))
    if "metric" in answer[0] or "version" in answer[0]:
        ours = {(at_of(row), row.get("metric") or row.get("version")): int(row.get("value") or row["weight"]) for row in answer}
        harness.must(ours == dict(rows.minutes), "%r, not %r" % (ours, rows.minutes))
    elif "arrayJoin" in query:
        ours = {row["name"]: int(row["weight"]) for row in answer}
        harness.must(ours == dict(rows.callees.most_common(20)), "%r, not %r" % (ours, rows.callees))
    else:
        ours = [int(row["weight"]) for row in answer]
        harness.must(ours == [weight for _, weight in rows.functions()], "%r, not %r" % (ours, rows.functions()))
        harness.must(collections.Counter(row["name"] for row in answer) == collections.Counter(name for name, _ in rows.functions()), "other names: %r" % answer)


def at_of(row):
    """Seconds since 1970 of a minute: a number, or a time in UTC."""
    text = row.get("time") or row["t"]
    return int(text) if text.isdigit() else int(time.mktime(time.strptime(text, "%Y-%m-%d %H:%M:%S")) - time.timezone)


def main():
    os.environ.update(no_proxy="*", TZ="UTC")
    time.tzset()
    all_queries = queries()
    of_sqlite, of_clickhouse = [one for one in all_queries if not is_of_clickhouse(one)], [one for one in all_queries if is_of_clickhouse(one)]
    harness.result("store/queries/all", "" if len(of_sqlite) >= 3 and len(of_clickhouse) >= 3 else "the page has %d and %d" % (len(of_sqlite), len(of_clickhouse)))
    with harness.scratch("queries") as folder, contextlib.ExitStack() as stack:
        store = run_store.new_store(folder)
        fill(store)
        rows = Rows(store)
        for number, query in enumerate(of_sqlite):
            harness.attempt("store/queries/sqlite/%d" % number, check, rows, store, query)
        try:
            shards = stack.enter_context(clickhouse.servers(folder, 1))
        except harness.Skip as reason:
            return harness.skip("store/queries/clickhouse", reason)
        store = clickhouse.location(shards, "queries")
        run_store.text("store", "init", "--store", store)
        fill(store)
        for number, query in enumerate(of_clickhouse):
            harness.attempt("store/queries/clickhouse/%d" % number, check, rows, store, query)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
