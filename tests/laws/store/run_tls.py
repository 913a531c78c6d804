# SPDX-License-Identifier: Apache-2.0
"""run_tls.py STORE_DRIVER: tests a ClickHouse store over TLS. A server with an invalid certificate must get no request.

store/tls/trusted        with the authority of PERFRAY_CLICKHOUSE_CA, answers are received, and requests arrive unchanged
store/tls/NAME           another authority, host or time, a self-signed certificate, no CA file, or a server without TLS is refused with a sentence
store/tls/spool          refused recordings are not spooled
store/tls/shards         push, top and list with a real server over TLS print the same as with SQLite

The authorities are made here by openssl; servers listen on loopback only.
"""
import contextlib
import http.server
import os
import socket
import ssl
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import clickhouse  # noqa: E402
import harness  # noqa: E402

DRIVER = sys.argv[1]
CHAINS = os.path.join(harness.FIXTURES, "recorded", "chains.data")


class Made:
    """Keys and certificates in a folder: of two authorities, and of servers that they certify."""

    def __init__(self, folder):
        self.folder = folder
        for authority in ("ours", "other"):
            self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=" + authority,
                         "-keyout", authority + ".key", "-out", authority + ".pem")
        self.sign("right", "ours", "IP:127.0.0.1", "-days", "2")
        self.sign("other-host", "ours", "DNS:db.example", "-days", "2")
        self.sign("expired", "ours", "IP:127.0.0.1", "-days", "-1")
        self.sign("by-other", "other", "IP:127.0.0.1", "-days", "2")
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=self\x1b[31m",
                     "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "self.key", "-out", "self.pem")

    def openssl(self, *words):
        done = harness.run(["openssl", *words], cwd=self.folder)
        if done.returncode:
            raise harness.Wrong("openssl %s: %s" % (words[0], harness.last_line(done)))

    def sign(self, name, authority, host, *days):
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=" + name, "-keyout", name + ".key",
                     "-out", name + ".csr")
        with open(self.path(name + ".ext"), "w") as file:
            file.write("subjectAltName=%s\n" % host)
        self.openssl("x509", "-req", "-in", name + ".csr", "-CA", authority + ".pem", "-CAkey", authority + ".key", "-CAcreateserial", "-extfile",
                     name + ".ext", *days, "-out", name + ".pem")

    def path(self, name):
        return os.path.join(self.folder, name)


class Fake(http.server.BaseHTTPRequestHandler):
    """Answers every query with one row of version 0."""
    protocol_version = "HTTP/1.1"
    seen = 0

    def do_POST(self):
        type(self).seen += 1
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b"\x01\x01\x06number\x06UInt64" + (1).to_bytes(8, "little")
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Listening(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Ignores handshakes that clients end."""


@contextlib.contextmanager
def served(made, certificate):
    """(address, the handler's class) of a server with this certificate; None: without TLS."""
    handler = type("Handler", (Fake,), {"seen": 0})
    server = Listening(("127.0.0.1", 0), handler)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(made.path(certificate + ".pem"), made.path(certificate + ".key"))
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield "127.0.0.1:%d" % server.server_address[1], handler
    finally:
        server.shutdown()
        server.server_close()


def drive(address, ca, *words):
    return harness.run([DRIVER, "clickhouses://%s/d" % address, *words],
                       env=harness.environment(no_proxy="*", PERFRAY_CLICKHOUSE_CA=ca or "", STORE_DRIVER_TIMEOUT="20000"))


def check_trusted(made):
    with served(made, "right") as (address, handler):
        done = drive(address, made.path("ours.pem"), "version")
        harness.must(done.returncode == 0 and done.stdout == b"1\n" and handler.seen, "%r %s" % (done.stdout, harness.last_line(done)))


REFUSED = {
    # name: (the server's certificate, PERFRAY_CLICKHOUSE_CA, status, words of the sentence)
    "other-authority": ("right", "other.pem", "permission", ("not trusted", "certificate")),
    "by-other": ("by-other", "ours.pem", "permission", ("not trusted", "certificate")),
    "other-host": ("other-host", "ours.pem", "permission", ("not trusted", "127.0.0.1")),
    "expired": ("expired", "ours.pem", "permission", ("not trusted", "expired")),
    "signed-itself": ("self", "ours.pem", "permission", ("not trusted", "self")),
    "system": ("right", None, "permission", ("not trusted", "certificate")),
    "no-ca-file": ("right", "none.pem", "usage", ("PERFRAY_CLICKHOUSE_CA", "none.pem")),
    "ca-is-no-ca": ("right", "right.key", "usage", ("PERFRAY_CLICKHOUSE_CA",)),
    "plain-server": (None, "ours.pem", "input/output", ("no TLS connection",)),
}


def check_refused(made, certificate, ca, status, words):
    with served(made, certificate) as (address, handler):
        done = drive(address, ca and made.path(ca), "version")
        said = harness.last_line(done)
        harness.must(done.returncode == 1 and "(%s, " % status in said, "%d: %s" % (done.returncode, said))
        harness.must(all(one in said for one in words), said)
        harness.must(not any(ord(one) < 32 for one in said), "control characters: %r" % said)
        harness.must(not handler.seen, "the server got a request")


def check_spool(made, folder):
    spool = os.path.join(folder, "spool")
    with served(made, "expired") as (address, _):
        done = harness.run([harness.PERFRAY, "store", "push", "--store", "clickhouses://%s/d" % address, "--spool", spool, "--no-symbols", CHAINS],
                           env=harness.environment(no_proxy="*", PERFRAY_CLICKHOUSE_CA=made.path("ours.pem")))
    harness.must(done.returncode == 6 and b"expired" in done.stderr and not os.path.exists(spool), "%d: %s" % (done.returncode, harness.last_line(done)))


class Front(threading.Thread):
    """A TLS proxy for a server without TLS: copies bytes in both directions."""

    def __init__(self, made, address):
        super().__init__(daemon=True)
        host, port = address.split(":")
        self.to = (host, int(port))
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(made.path("right.pem"), made.path("right.key"))
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listening.getsockname()[1]
        self.start()

    def run(self):
        while True:
            try:
                client = self.listening.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.join_both, args=(client,), daemon=True).start()

    def join_both(self, plain):
        with contextlib.suppress(OSError), self.context.wrap_socket(plain, server_side=True) as client, socket.create_connection(self.to) as server:
            back = threading.Thread(target=self.copy, args=(server, client), daemon=True)
            back.start()
            self.copy(client, server)
            back.join()

    @staticmethod
    def copy(source, to):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                to.sendall(data)
            to.shutdown(socket.SHUT_WR)

    def stop(self):
        self.listening.close()


def perfray_of(made, *words):
    done = harness.run([harness.PERFRAY, *words], env=harness.environment(no_proxy="*", PERFRAY_CLICKHOUSE_CA=made.path("ours.pem")))
    harness.must(done.returncode in (0, 4), "%s: %s" % (words[1], harness.last_line(done)))
    return done.stdout


def check_shards(made, folder):
    with clickhouse.servers(folder, 2) as shards:
        fronts = [Front(made, shard.address) for shard in shards]
        stores = [os.path.join(folder, "plain.db"), "clickhouses://%s/secure" % ",".join(front.address for front in fronts)]
        answers = []
        for store in stores:
            perfray_of(made, "store", "init", "--store", store)
            for name in ("chains", "waits", "zstd-many"):
                perfray_of(made, "store", "push", "--store", store, "--no-symbols", "--at", "@1700000000", os.path.join(harness.FIXTURES, "recorded", name + ".data"))
            answers.append((perfray_of(made, "store", "top", "--store", store, "--format=csv"), perfray_of(made, "report", "--store", store, "--format=csv")))
        for front in fronts:
            front.stop()
        harness.must(answers[0] == answers[1] and answers[0][0].count(b"\n") > 10, "other answers over TLS")


def main():
    if not harness.installed("openssl"):
        return harness.skip("store/tls", "openssl is not installed")
    with harness.scratch("tls") as folder:
        made = Made(folder)
        harness.attempt("store/tls/trusted", check_trusted, made)
        for name, values in REFUSED.items():
            harness.attempt("store/tls/" + name, check_refused, made, *values)
        harness.attempt("store/tls/spool", check_spool, made, folder)
        harness.attempt("store/tls/shards", check_shards, made, folder)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
