# SPDX-License-Identifier: Apache-2.0
"""ClickHouse servers for a test. Each has its own folder and its own ports on the loopback interface; all are stopped at the end of the test.

    with harness.scratch("store") as folder, clickhouse.servers(folder, 2) as shards:
        harness.perfray("store", ..., clickhouse.location(shards, "db"))
        shards[0].ask("SELECT count() FROM db.sample")
        shards[1].stop()

Raises harness.Skip if no server is installed. The configuration works with version 18.16, whose root element is <yandex>.
"""
import contextlib
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

import harness

SECONDS = 60    # seconds; if a server does not answer within this time, the test fails; it takes 0.3 s on an idle machine

SERVER = """<?xml version="1.0"?>
<yandex>
  <logger><level>warning</level><log>{folder}/server.log</log><errorlog>{folder}/error.log</errorlog></logger>
  <listen_host>127.0.0.1</listen_host>
  <http_port>{port}</http_port>
  <tcp_port>{native_port}</tcp_port>
  <path>{folder}/data/</path>
  <tmp_path>{folder}/tmp/</tmp_path>
  <format_schema_path>{folder}/formats/</format_schema_path>
  <user_files_path>{folder}/files/</user_files_path>
  <users_config>users.xml</users_config>
  <default_profile>default</default_profile>
  <default_database>default</default_database>
  <timezone>UTC</timezone>
  <mark_cache_size>268435456</mark_cache_size>
  <uncompressed_cache_size>0</uncompressed_cache_size>
  <mlock_executable>false</mlock_executable>
</yandex>
"""

USERS = """<?xml version="1.0"?>
<yandex>
  <profiles>
    <default><max_memory_usage>4000000000</max_memory_usage></default>
    <readonly><readonly>1</readonly></readonly>
  </profiles>
  <users>
    <default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>
    <guarded><password>{password}</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></guarded>
    <reader><password></password><networks><ip>127.0.0.1</ip></networks><profile>readonly</profile><quota>default</quota></reader>
  </users>
  <quotas><default></default></quotas>
</yandex>
"""

PASSWORD = "a&b='c' d/e?"   # the password of the user `guarded`


def free_ports(count):
    """Finds free ports; all are held until the last one is known."""
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


class Server:
    def __init__(self, folder):
        self.folder = folder
        self.process = None
        self.port = None
        for name in ("data", "tmp", "formats", "files"):
            os.makedirs(os.path.join(folder, name))

    @property
    def address(self):
        return "127.0.0.1:%d" % self.port

    def start(self):
        """Restarts a stopped server with its data, on the same ports."""
        native_port = free_ports(1)[0]
        self.port = self.port or free_ports(1)[0]
        self._write("config.xml", SERVER.format(folder=self.folder, port=self.port, native_port=native_port))
        self._write("users.xml", USERS.format(password=PASSWORD.replace("&", "&amp;")))
        with open(os.path.join(self.folder, "out.log"), "ab") as log:
            # A separate process group: a signal that stops the test does not reach the server; stop() stops it.
            self.process = subprocess.Popen([harness.installed("clickhouse-server"), "--config-file=" + os.path.join(self.folder, "config.xml")],
                                            cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def _write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)

    def wait(self):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise harness.Wrong("clickhouse-server ended: %s" % self.said())
            try:
                if self.ask("SELECT 1") == "1\n":
                    return
            except OSError:
                time.sleep(0.02)
        raise harness.Wrong("clickhouse-server does not answer: %s" % self.said())

    def said(self):
        words = ""
        for name in ("out.log", "error.log"):
            with contextlib.suppress(OSError), open(os.path.join(self.folder, name), errors="replace") as file:
                words += file.read()[-2000:]
        return words

    def ask(self, query):
        """Returns the answer as tab-separated text."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open("http://%s/" % self.address, query.encode(), timeout=SECONDS) as answer:
                return answer.read().decode("utf-8", "backslashreplace")
        except urllib.error.HTTPError as error:
            raise harness.Wrong("%s: %s" % (query[:100], error.read().decode("utf-8", "replace")[:500])) from error

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()


@contextlib.contextmanager
def servers(folder, count):
    """COUNT running servers. They are killed at the end, because their data is only test data."""
    if not harness.installed("clickhouse-server"):
        raise harness.Skip("clickhouse-server is not installed")
    shards = [Server(os.path.join(folder, "shard%d" % number)) for number in range(count)]
    try:
        for shard in shards:
            shard.start()
        for shard in shards:
            shard.wait()
        yield shards
    finally:
        for shard in shards:
            shard.stop()


def location(shards, database):
    return "clickhouse://%s/%s" % (",".join(shard.address for shard in shards), database)
