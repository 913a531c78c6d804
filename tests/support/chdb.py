# SPDX-License-Identifier: Apache-2.0
"""A current ClickHouse for tests: the npm library chdb, served by chdb_server.js. The interface is that of clickhouse.py.

    with harness.scratch("store") as folder, chdb.servers(MODULES, folder, 2) as shards:
        harness.perfray("store", ..., clickhouse.location(shards, "db"))

MODULES is a node_modules folder. Raises harness.Skip if it has no chdb (`npm install --prefix build/npm chdb`, 550 MB, so `./dev setup` does not
install it) or node is missing.
"""
import contextlib
import os
import subprocess

import clickhouse
import harness

SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "chdb_server.js")


class Server(clickhouse.Server):
    def start(self, modules):
        node = harness.installed("node")
        if not node or not os.path.isdir(os.path.join(modules, "chdb")):
            raise harness.Skip("chdb is not installed: npm install --prefix build/npm chdb (550 MB)")
        with open(os.path.join(self.folder, "error.log"), "ab") as log:
            self.process = subprocess.Popen([node, SERVER, modules, self.folder], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
                                            start_new_session=True)
        self.port = int(self.process.stdout.readline() or 0)
        harness.must(self.port, "chdb does not start: %s" % self.said())

    def stop(self):
        super().stop()
        if self.process:
            self.process.stdout.close()


@contextlib.contextmanager
def servers(modules, folder, count):
    shards = [Server(os.path.join(folder, "current%d" % number)) for number in range(count)]
    try:
        for shard in shards:
            shard.start(modules)
        yield shards
    finally:
        for shard in shards:
            shard.stop()
