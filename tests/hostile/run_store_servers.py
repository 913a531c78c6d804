# SPDX-License-Identifier: Apache-2.0
"""Tests a ClickHouse store with broken or hostile servers: an error must name the server, soon and in bounded memory.

    run_store_servers.py STORE_DRIVER
"""
import contextlib
import http.server
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402

DRIVER = sys.argv[1]
MEMORY = 16 << 20
TIMEOUT_MS, SHORT_MS = 4000, 30     # limit for connecting; a query may take 30 times as long
WAITING = ("slow", "trickle")
WORDS = (("init",), ("version",), ("dump",), ("push", "1", "50"), ("relabel", "1", "x"), ("drop", "1"), ("collect",), ("check",),
         ("sql", "SELECT 1"))


def native(rows, name=b"number", kind=b"UInt64", data=None):
    column = bytes([len(name)]) + name + bytes([len(kind)]) + kind
    return b"\x01" + bytes([rows]) + column + (data if data is not None else (1).to_bytes(8, "little") * rows)


class Server(http.server.BaseHTTPRequestHandler):
    """A server. `behave`, a function of the handler, is called after the request was read."""
    behave = None
    seen = 0

    def do_POST(self):
        type(self).seen += 1
        if "100-continue" not in self.headers.get("Expect", ""):
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with contextlib.suppress(OSError):
            type(self).behave(self)
        self.close_connection = True

    do_GET = do_POST

    def log_message(self, *_):
        pass

    def send(self, status, body, length=None, **headers):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def endless(handler):
    handler.send(200, native(1), length=1 << 40)
    for _ in range(1 << 12):
        handler.wfile.write(bytes(1 << 20))


def slow(handler):
    time.sleep(6)


def trickle(handler):
    handler.send(200, b"", length=1000)
    for _ in range(60):
        handler.wfile.write(b"\x01")
        time.sleep(0.1)


BEHAVIOURS = {
    # name: (function, words of which the error must contain one)
    "truncated": (lambda h: h.send(200, native(1)[:-3], length=500), ("transfer", "partial", "Transferred")),
    "cut-block": (lambda h: h.send(200, native(1)[:-3]), ("is cut", "fewer values", "no table", "bytes")),
    "more-rows": (lambda h: h.send(200, native(3, data=b"\0" * 8)), ("fewer values", "answered with", "no table")),
    "other-type": (lambda h: h.send(200, native(1, kind=b"String", data=b"\x01x")), ("is expected", "no table")),
    "other-name": (lambda h: h.send(200, native(1, name=b"count()")), ("is expected", "no table")),
    "page": (lambda h: h.send(200, b"<html><body>It works!</body></html>"), ("the answer", "no table")),
    "empty": (lambda h: h.send(200, b""), ("answered with", "")),
    "redirect": (lambda h: h.send(302, b"", Location="http://127.0.0.1:%d/" % OTHER.server_address[1]), ("redirect",)),
    "error": (lambda h: h.send(500, b"Code: 999, e.displayText() = DB::Exception: \x1b[31mno\n, e.what() = DB::Exception"), ("\\x1b[31mno",)),
    "gateway": (lambda h: h.send(502, b"bad gateway"), ("status 502: bad gateway",)),
    "long-error": (lambda h: h.send(500, b"x" * 100000), ("status 500",)),
    "no-answer": (lambda h: h.connection.close(), ("Server returned nothing", "receiving", "transfer")),
    "endless": (endless, ("more than 8388608 bytes",)),
    "slow": (slow, ("Timeout was reached",)),
    "trickle": (trickle, ("Timeout was reached",)),
}
# An empty answer is correct after an INSERT or CREATE.
NO_ROWS_ARE_FINE = ("init", "push", "relabel", "drop", "collect", "dump", "sql")


def served(handler):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Other(Server):
    seen = 0
    behave = staticmethod(lambda handler: handler.send(200, native(1)))


OTHER = served(Other)


def check(name, words_of_error, address, words):
    environment = harness.environment(no_proxy="*", STORE_DRIVER_TIMEOUT=str(SHORT_MS if name in WAITING else TIMEOUT_MS), STORE_DRIVER_MEMORY=str(MEMORY))
    began = time.monotonic()
    done = harness.run([DRIVER, "clickhouse://%s/d" % address, *words], env=environment)
    took = time.monotonic() - began
    said = harness.last_line(done)
    if name == "empty" and words[0] in NO_ROWS_ARE_FINE and done.returncode == 0:
        return
    harness.must(done.returncode == 1, "%s: status %d: %s" % (words[0], done.returncode, said))
    harness.must(any(one in said for one in words_of_error), "%s: %s" % (words[0], said))
    harness.must(name == "empty" or address in said, "%s: no address: %s" % (words[0], said))
    harness.must(not any(ord(one) < 32 for one in said), "control characters: %r" % said)
    harness.must("Sanitizer" not in done.stderr.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))
    harness.must(took < 30, "%s takes %.0f s" % (words[0], took))


def check_behaviour(name, behave, words_of_error):
    handler = type("Handler", (Server,), {"behave": staticmethod(behave), "seen": 0})
    server = served(handler)
    try:
        # Servers that do not answer are queried only once in an ordinary run.
        few = name in (*WAITING, "endless") and not harness.LONG
        for words in WORDS[1:2] if few else WORDS:
            check(name, words_of_error, "127.0.0.1:%d" % server.server_address[1], words)
        harness.must(handler.seen, "the server was not asked")
        harness.must(not Other.seen, "a redirect was followed")
    finally:
        server.shutdown()
        server.server_close()


def main():
    for name, (behave, words_of_error) in BEHAVIOURS.items():
        harness.attempt("store/servers/%s" % name, check_behaviour, name, behave, words_of_error)
    closed = served(Server)
    address = "127.0.0.1:%d" % closed.server_address[1]
    closed.shutdown()
    closed.server_close()
    for words in WORDS[:2]:
        harness.attempt("store/servers/closed/%s" % words[0], check, "closed", ("connect",), address, words)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
