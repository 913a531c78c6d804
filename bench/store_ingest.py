# SPDX-License-Identifier: Apache-2.0
"""store_ingest.py STORE_LOAD [ROWS [UPLOADS [CLIENTS...]]]: measures how fast one ClickHouse server takes the rows of pushes.

A proxy records the INSERTs of `STORE_LOAD URL load`, which are those of perfray push. They are sent again to empty tables by CLIENTS processes at once:
this is the server without the work of making rows. Then CLIENTS processes push the uploads whole. Wall time depends on what else runs, so rows per
CPU second of the server are printed too, until the end of the INSERTs and until no merge runs.
"""
import http.client
import http.server
import multiprocessing
import os
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "support"))
import clickhouse  # noqa: E402
import harness  # noqa: E402
import store_figures  # noqa: E402

DATABASE = "ingest"
ROWS, UPLOADS, CLIENTS = 4000000, 160, (1, 2, 4)
MERGE_SECONDS = 120


class Recorder(http.server.BaseHTTPRequestHandler):
    """Forwards requests to server.shard, and appends (path, body) of each INSERT to server.inserts."""
    protocol_version = "HTTP/1.1"

    def do_POST(self):  # noqa: N802
        body = self.rfile.read(int(self.headers["Content-Length"]))
        connection = http.client.HTTPConnection(self.server.shard.address)
        connection.request("POST", self.path, body, {name: self.headers[name] for name in ("Content-Type",) if self.headers[name]})
        answer = connection.getresponse()
        said = answer.read()
        connection.close()
        if "query=INSERT" in self.path:
            self.server.inserts.append((self.path, body))
        self.send_response(answer.status)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_):
        pass


def record(program, shard, rows, uploads):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder) as server:
        server.shard, server.inserts = shard, []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = "clickhouse://127.0.0.1:%d/%s" % (server.server_address[1], DATABASE)
        done = harness.run([program, url, "load", rows, uploads], env=harness.environment(no_proxy="*"), timeout=3600)
        server.shutdown()
        harness.must(done.returncode == 0, harness.last_line(done))
        return server.inserts


def replay(address, inserts):
    connection = http.client.HTTPConnection(address)
    for path, body in inserts:
        connection.request("POST", path, body)
        answer = connection.getresponse()
        said = answer.read()
        harness.must(answer.status == 200, said)
    connection.close()


def wait_for_merges(shard):
    end, quiet = time.monotonic() + MERGE_SECONDS, 0
    while quiet < 5 and time.monotonic() < end:
        quiet = 0 if int(shard.ask("SELECT count() FROM system.merges")) else quiet + 1
        time.sleep(0.2)


def measure(name, shard, rows, database, run):
    """`run` writes the rows."""
    wait_for_merges(shard)
    begin, before, ours = time.monotonic(), store_figures.cpu_seconds([shard]), os.times()
    run()
    seconds, cpu, after = time.monotonic() - begin, store_figures.cpu_seconds([shard]) - before, os.times()
    stored = int(shard.ask("SELECT count() FROM %s.all_sample" % database))
    harness.must(stored == rows, "%d of %d rows were stored" % (stored, rows))
    wait_for_merges(shard)
    merged = store_figures.cpu_seconds([shard]) - before
    clients = after.children_user + after.children_system - ours.children_user - ours.children_system
    print("%s: %.2f M rows/s wall; %.2f per CPU second of the server, %.2f with merges (%.1f s); clients %.1f s; load %.0f" % (
        name, rows / seconds / 1e6, rows / cpu / 1e6, rows / merged / 1e6, merged, clients, os.getloadavg()[0]), flush=True)


def replay_all(shard, inserts, clients):
    workers = [multiprocessing.Process(target=replay, args=(shard.address, inserts[number::clients])) for number in range(clients)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    harness.must(not any(worker.exitcode for worker in workers), "a client failed")


def push_all(program, shard, database, rows, uploads, clients):
    command = [program, "clickhouse://%s/%s" % (shard.address, database), "load", str(rows), str(uploads)]
    workers = [subprocess.Popen(command + [str(number), str(clients)], stdout=subprocess.DEVNULL, env=harness.environment(no_proxy="*"))
               for number in range(clients)]
    harness.must(not any([worker.wait() for worker in workers]), "a push failed")


def main():
    program, numbers = sys.argv[1], [int(word) for word in sys.argv[2:]]
    rows, uploads = (numbers[:2] + [ROWS, UPLOADS][len(numbers):])[:2]
    with harness.scratch("ingest") as folder, clickhouse.servers(folder, 1) as (shard,):
        inserts = record(program, shard, rows, uploads)
        rows = rows // uploads * uploads
        tables = shard.ask("SELECT name FROM system.tables WHERE database = '%s' AND engine LIKE '%%MergeTree'" % DATABASE).split()
        print("%d rows, %d uploads: %d INSERTs, %.1f MB" % (rows, uploads, len(inserts), sum(len(body) for _, body in inserts) / 1e6))
        for clients in numbers[2:] or CLIENTS:
            for table in tables:
                shard.ask("TRUNCATE TABLE %s.%s" % (DATABASE, table))
            measure("%d clients, INSERTs" % clients, shard, rows, DATABASE, lambda: replay_all(shard, inserts, clients))
            database = "%s_%d" % (DATABASE, clients)
            measure("%d clients, pushes" % clients, shard, rows, database, lambda: push_all(program, shard, database, rows, uploads, clients))
        print(shard.ask("SELECT table, sum(rows), round(sum(bytes_on_disk) / sum(rows), 2), count() FROM system.parts WHERE active AND "
                        "database = '%s' AND table IN ('all_sample', 'all_daily') GROUP BY table ORDER BY table" % DATABASE))


if __name__ == "__main__":
    main()
