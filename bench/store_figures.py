# SPDX-License-Identifier: Apache-2.0
"""store_figures.py STORE_LOAD [ROWS...]: measures the ingest rate, bytes per row and the query for top functions with two ClickHouse shards on
this machine.

STORE_LOAD is build/tests/laws/store/store_load (`ninja -C build tests/laws/store/store_load`). On a busy machine, times are longer; CPU seconds
are therefore printed too.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "support"))
import clickhouse  # noqa: E402
import harness  # noqa: E402

UPLOADS = 400
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(shards):
    total = 0
    for shard in shards:
        with open("/proc/%d/stat" % shard.process.pid) as file:
            words = file.read().rsplit(")", 1)[1].split()
        total += int(words[11]) + int(words[12])
    return total / TICKS


def run(program, url, *words):
    before = os.times()
    done = harness.run([program, url, *words], env=harness.environment(no_proxy="*"), timeout=3600)
    after = os.times()
    harness.must(done.returncode == 0, harness.last_line(done))
    return done.stdout.decode().strip(), after.children_user + after.children_system - before.children_user - before.children_system


def main():
    program, sizes = sys.argv[1], [int(word) for word in sys.argv[2:]] or [1000000, 10000000]
    for rows in sizes:
        with harness.scratch("figures") as folder, clickhouse.servers(folder, 2) as shards:
            url = clickhouse.location(shards, "figures")
            said, ours = run(program, url, "load", rows, UPLOADS)
            print("%s; CPU: client %.1f s, servers %.1f s; load %.0f" % (said, ours, cpu_seconds(shards), os.getloadavg()[0]))
            for shard in shards:
                print("  %s" % shard.ask("SELECT table, sum(rows), round(sum(bytes_on_disk) / sum(rows), 2) FROM system.parts WHERE active AND "
                                         "table IN ('all_sample', 'all_stack', 'all_daily') GROUP BY table ORDER BY table").replace("\n", "; "))
            for question in ("top", "daily"):
                before = cpu_seconds(shards)
                said, ours = run(program, url, question, 7)
                print("  %s\n  CPU of three: client %.2f s, servers %.2f s" % (said.replace("\n", "\n  "), ours, cpu_seconds(shards) - before))


if __name__ == "__main__":
    main()
