# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of run_engines.py and run_queries.py on a current ClickHouse, the npm library chdb, instead of the packaged one.

    run_current.py STORE_DRIVER MODULES      MODULES: node_modules with chdb

store/current/same, once, at-once, hold     the engine: the same rows as SQLite; pushes count once or not at all
store/current/query/NUMBER                  the queries of docs/store.md
store/current/views                         views print the same as from SQLite
"""
import contextlib
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import chdb  # noqa: E402
import clickhouse  # noqa: E402
import harness  # noqa: E402
import run_engines  # noqa: E402
import run_queries  # noqa: E402
import run_store  # noqa: E402

VIEWS = (["store", "top"], ["store", "top", "--children"], ["store", "top", "--where", "service=search and time > -1d"], ["store", "list"],
         ["report", "-g", "caller"], ["export", "--format=folded"])


def check_views(here, there):
    for view in VIEWS:
        ours, theirs = (sorted(run_store.text(*view, "--store", store).splitlines()) for store in (here, there))
        if view[1] == "list":    # the times of the pushes
            ours, theirs = ([line.rsplit("\t", 1)[0] for line in lines] for lines in (ours, theirs))
        harness.must(ours == theirs and len(ours) > 3, "%s: %s" % (" ".join(view), harness.first_difference(ours, theirs)))


def check_documented(folder, shards, at):
    here, there = run_store.new_store(folder), at("queries")
    run_store.text("store", "init", "--store", there)
    run_queries.fill(here), run_queries.fill(there)
    rows = run_queries.Rows(here)
    for number, query in enumerate(one for one in run_queries.queries() if run_queries.is_of_clickhouse(one)):
        harness.attempt("store/current/query/%d" % number, run_queries.check, rows, clickhouse.location(shards[:1], "queries"), query)
    harness.attempt("store/current/views", check_views, here, there)


def main():
    os.environ.update(no_proxy="*", TZ="UTC")
    with harness.scratch("current") as folder, contextlib.ExitStack() as stack:
        try:
            shards = stack.enter_context(chdb.servers(sys.argv[2], folder, 2))
        except harness.Skip as reason:
            return harness.skip("store/current", reason)
        print("# ClickHouse %s" % shards[0].ask("SELECT version()").strip())

        def at(name):
            return clickhouse.location(shards, name)

        harness.attempt("store/current/same", run_engines.check_same, os.path.join(folder, "same.db"), at("same"))
        harness.attempt("store/current/once", run_engines.check_once, at("once"))
        harness.attempt("store/current/at-once", run_engines.check_at_once, at("together"), 3)
        harness.attempt("store/current/hold", run_engines.check_hold_servers, at("held"))
        harness.attempt("store/current/collect", run_engines.check_collect, at("collected"), shards)
        check_documented(folder, shards[:1], lambda name: clickhouse.location(shards[:1], name))
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
