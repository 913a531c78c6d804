#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_debuginfod.py - tests that symbols and lines come from a debuginfod server if --debuginfod is given, and never otherwise.

usage: run_debuginfod.py [NAME...]

Environment: PERFRAY, the command. A program is built and recorded. An HTTP server on 127.0.0.1 has its debugging information, and logs
all requests. `report` and `script` with --debuginfod must print names and lines, request the hottest object first, keep to their limits,
and not request files again that they already have. Without the option nothing is requested, whatever the environment contains. If
something is not installed or not permitted: `skip NAME reason`.
"""
import gzip
import http.server
import os
import re
import shutil
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
import fresh
import page_columns
from fresh import Wrong

HOT = re.compile(rb" [0-9.]+% +busy +busy.*\[\.\] ([a-z_]\w*)")  # only of the program: libraries of this machine may have names


class Server:
    """A debuginfod server: GET /buildid/ID/debuginfo and /buildid/ID/executable."""

    def __init__(self, folder, seconds=0):
        asked, server = [], self

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *words):
                super().__init__(*words, directory=folder)

            def do_GET(self):
                asked.append(self.path)
                time.sleep(server.seconds)
                super().do_GET()

            def log_message(self, *_):
                pass
        self.asked, self.seconds = asked, seconds
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()


def build_id(path, folder):
    notes = fresh.must(["readelf", "-n", path], folder, "readelf").stdout.decode()
    return re.search(r"Build ID: ([0-9a-f]+)", notes)[1]


def make(folder):
    """A recording of a program that was stripped afterwards, and the files that the server has for it."""
    fresh.need("debuginfod-find", "objcopy", "readelf")
    program = fresh.build(folder, "busy_loops.c", "busy", "-O1", "-g", "-fno-omit-frame-pointer", "-Wl,--build-id")
    place = os.path.join(folder, "server", "buildid", build_id(program, folder))
    os.makedirs(place)
    fresh.must(["objcopy", "--only-keep-debug", program, os.path.join(place, "debuginfo")], folder, "objcopy")
    fresh.must(["objcopy", "-S", program, os.path.join(folder, "stripped")], folder, "objcopy")
    shutil.copy(os.path.join(folder, "stripped"), os.path.join(place, "executable"))
    os.replace(os.path.join(folder, "stripped"), program)
    fresh.record(folder, "perf.data", ("-e", "cpu-clock:u", "-F", "999", "-g", "--buildid-all"), [program, "60"])
    return program


def ours(folder, words, **variables):
    environment = {"HOME": folder, "PATH": fresh.PATH, "LC_ALL": "C", "DEBUGINFOD_CACHE_PATH": os.path.join(folder, "kept"), **variables}
    return harness.perfray(*words, "perf.data", cwd=folder, env=environment, timeout=fresh.SECONDS)


def names(done):
    if done.returncode != 0:
        raise Wrong("status %d: %s" % (done.returncode, done.stderr.decode()))
    return set(HOT.findall(done.stdout))


REPORT = ("report", "--no-children", "-g", "none", "--percent-limit", "5")


def fetched(folder):
    make(folder)
    with Server(os.path.join(folder, "server")) as server:
        if names(ours(folder, REPORT, DEBUGINFOD_URLS=server.url)) or server.asked:
            raise Wrong("without the option %s was asked for" % (server.asked or "nothing, and there are names"))
        found = names(ours(folder, (*REPORT, "--debuginfod=" + server.url)))
        asked = list(server.asked)
        lines = ours(folder, ("script", "--no-pager", "-F", "+srcline", "--debuginfod"), DEBUGINFOD_URLS=server.url)
        if not found or b"busy_loops.c:" not in lines.stdout:
            raise Wrong("names %s, said: %s" % (found, lines.stderr.decode()))
        if server.asked.count(asked[0]) != 1:
            raise Wrong("what is there is asked for again: %s" % server.asked)
        return "%d names, asked for %d files" % (len(found), len(asked))


def sources(folder):
    """A source file that is not here any more: from the server if it is asked, and once only."""
    fresh.need("debuginfod-find", "readelf")
    os.mkdir(os.path.join(folder, "src"))
    with open(os.path.join(folder, "src", "hot.c"), "w", encoding="ascii") as file:
        file.write("int main(void)\n{\n    for (volatile long i = 0; i < 300000000; i++)\n        ; // the hot line\n    return 0;\n}\n")
    source = os.path.realpath(os.path.join(folder, "src", "hot.c"))
    fresh.must(["gcc", "-g", "-O1", "-Wl,--build-id", "-o", "hot", source], folder, "gcc")
    fresh.record(folder, "perf.data", ("-e", "cpu-clock:u", "-F", "999", "--buildid-all"), [os.path.join(folder, "hot")])
    place = os.path.join(folder, "server", "buildid", build_id(os.path.join(folder, "hot"), folder), "source")
    os.makedirs(place + os.path.dirname(source))
    os.rename(source, place + source)
    with Server(os.path.join(folder, "server")) as server:
        asked = lambda: [path for path in server.asked if "/source/" in path]
        words, from_server = ("annotate", "--no-cache", "main"), "--debuginfod=" + server.url
        if b"volatile" in ours(folder, words, DEBUGINFOD_URLS=server.url).stdout or server.asked:
            raise Wrong("without the option %s was asked for" % server.asked)
        for more in ((), ("--by-line",), ("--by-line", "--format=json")):
            done = ours(folder, (*words, *more, from_server))
            if b"volatile" not in done.stdout:
                raise Wrong("%s: %s" % (more, done.stderr.decode()))
        if len(asked()) != 1:
            raise Wrong("asked for %s" % asked())
        view_sources(folder, asked, from_server)
        os.remove(place + source)
        shutil.rmtree(os.path.join(folder, "kept"))
        done = ours(folder, (*words, from_server))
        if done.returncode or b"volatile" in done.stdout or b"1 source files were on no server" not in done.stderr:
            raise Wrong("no server has it: status %d, %s" % (done.returncode, done.stderr.decode()))
        return "%d requests" % len(asked())


def view_sources(folder, asked, from_server):
    """The lines in a page. They are plain text in its data."""
    page = ("view", "--no-cache", "--data", "-o", "-")
    for words, lines, requests in ((("--sources",), 0, 0), (("--code", from_server), 0, 0), (("--sources", from_server), 1, 1)):
        shutil.rmtree(os.path.join(folder, "kept"), ignore_errors=True)
        before = len(asked())
        done = ours(folder, (*page, *words))
        found = gzip.decompress(done.stdout).count(b"volatile long i") if done.returncode == 0 else done.stderr.decode()
        if (found, len(asked()) - before) != (lines, requests):
            raise Wrong("view %s: status %d, lines: %s, %d requests" % (" ".join(words), done.returncode, found, len(asked()) - before))


VERSION = "int main(void)\n{\n%s    for (volatile long i = 0; i < 300000000; i++)\n        ; // the hot line\n    return 0;\n}\n"


def make_version(folder, name, text):
    """A recording NAME.data of a program that was built from src/hot.c; returns the place of this version on the server."""
    source = os.path.join(os.path.realpath(folder), "src", "hot.c")
    os.makedirs(os.path.dirname(source), exist_ok=True)
    with open(source, "w", encoding="ascii") as file:
        file.write(text)
    fresh.must(["gcc", "-g", "-O1", "-Wl,--build-id", "-o", name, source], folder, "gcc")
    fresh.record(folder, name + ".data", ("-e", "cpu-clock:u", "-F", "999", "--buildid-all"), [os.path.join(folder, name)])
    place = os.path.join(folder, "server", "buildid", build_id(os.path.join(folder, name), folder), "source") + source
    os.makedirs(os.path.dirname(place))
    os.rename(source, place)
    return place, source


def source_lines(folder, *words):
    """[{line: (text, whether it is certainly of this build)}] of the new side and the baseline of a page."""
    shutil.rmtree(os.path.join(folder, "kept"), ignore_errors=True)
    done = ours(folder, ("view", "--no-cache", "--data", "-o", "-", "--sources", "--diff", "old.data", *words))
    if done.returncode != 0:
        raise Wrong(done.stderr.decode())
    _, columns = page_columns.read(done.stdout)
    sides = ({}, {})
    for line, text, side in zip(*(columns["source." + name] for name in ("line", "text", "side"))):
        sides[side & 1][line] = (columns["strings"][text], side > 1)
    return sides


def versions(folder):
    """The builds of a comparison were made from different versions of a file: each side has its own text, or none."""
    fresh.need("debuginfod-find", "readelf")
    old, _ = make_version(folder, "old", VERSION % "")
    _, source = make_version(folder, "new", VERSION % "    // one line more\n")
    os.rename(os.path.join(folder, "new.data"), os.path.join(folder, "perf.data"))
    with Server(os.path.join(folder, "server")) as server:
        hot, from_server = "    for (volatile long i = 0; i < 300000000; i++)", "--debuginfod=" + server.url
        new, base = source_lines(folder, from_server)
        if new.get(4) != (hot, True) or base.get(3) != (hot, True) or (4 in base and base[4][0] == hot):
            raise Wrong("both versions: %s, %s" % (new, base))
        changes = ours(folder, ("annotate", "--no-cache", "--by-line", "--format=json", "--diff", "old.data", from_server, "main"))
        if b'"text"' not in changes.stdout or b"hot.c: lines are compared by number" in changes.stderr:
            raise Wrong("lines are not paired by text: %s" % changes.stderr.decode())
        shutil.copy(old, source)
        for lines in source_lines(folder, from_server):
            if not lines or any(is_certain for _, is_certain in lines.values()):
                raise Wrong("the file at the recorded path: %s" % lines)
        os.remove(source)
        os.remove(old)
        new, base = source_lines(folder, from_server)
        if new.get(4) != (hot, True) or base:
            raise Wrong("no server has the older version: %s, %s" % (new, base))
    return "each side has its own text"


PART = "int %s(void)\n{\n    for (volatile long %s_i = 0; %s_i < 200000000; %s_i++)\n        ;\n    return 0;\n}\n"


def objects(folder):
    """Functions of several objects: each has the lines of the files that its own line table names."""
    fresh.need("debuginfod-find", "readelf")
    os.mkdir(os.path.join(folder, "src"))
    parts, server = ("one", "two", "main"), os.path.join(folder, "server")
    for part in parts:
        path = os.path.realpath(os.path.join(folder, "src", part + ".c"))
        with open(path, "w", encoding="ascii") as file:
            file.write("int one(void), two(void);\nint main(void) { return one() + two() + one(); }\n" if part == "main" else PART % ((part,) * 4))
        library = part != "main"
        words = ("-shared", "-fPIC", "-o", "lib%s.so" % part) if library else ("-o", "hot", "-L.", "-lone", "-ltwo", "-Wl,-rpath," + folder)
        fresh.must(["gcc", "-g", "-O1", "-Wl,--build-id", path, *words], folder, "gcc")
    fresh.record(folder, "perf.data", ("-e", "cpu-clock:u", "-F", "999", "--buildid-all"), [os.path.join(folder, "hot")])
    for part in parts[:2]:
        path = os.path.realpath(os.path.join(folder, "src", part + ".c"))
        place = os.path.join(server, "buildid", build_id(os.path.join(folder, "lib%s.so" % part), folder), "source")
        os.makedirs(place + os.path.dirname(path))
        os.rename(path, place + path)
    with Server(server) as asked:
        done = ours(folder, ("view", "--no-cache", "--data", "-o", "-", "--sources", "--debuginfod=" + asked.url))
    page = gzip.decompress(done.stdout) if done.returncode == 0 else b""
    if page.count(b"volatile long one_i") != 1 or page.count(b"volatile long two_i") != 1:
        raise Wrong("status %d: %s" % (done.returncode, done.stderr.decode()))


def deleted(folder):
    """The program itself was deleted."""
    os.remove(make(folder))
    with Server(os.path.join(folder, "server")) as server:
        found = names(ours(folder, (*REPORT, "--debuginfod=" + server.url)))
        kinds = [path.rsplit("/", 1)[1] for path in server.asked[:2]]
        page = gzip.decompress(ours(folder, ("view", "--code", "--data", "-o", "-", "--debuginfod=" + server.url)).stdout)
    if not found or kinds != ["executable", "debuginfo"]:
        raise Wrong("names %s, asked for %s" % (found, kinds))
    if b"busy_loops.c" not in page or any(name not in page for name in found):
        raise Wrong("the page has no names and lines")


def no_server(folder):
    """If no server listens, the report is printed, with a message. Without a URL or without debuginfod-find, the command fails
    with a message."""
    make(folder)
    done = ours(folder, (*REPORT, "--debuginfod=http://127.0.0.1:9"))
    if done.returncode != 0 or b"no server has it" not in done.stderr or b"%" not in done.stdout:
        raise Wrong("status %d: %s" % (done.returncode, done.stderr.decode()))
    done = ours(folder, (*REPORT, "--debuginfod"))
    if done.returncode != 2 or b"DEBUGINFOD_URLS" not in done.stderr:
        raise Wrong("without URL: status %d: %s" % (done.returncode, done.stderr.decode()))
    done = ours(folder, (*REPORT, "--debuginfod=http://127.0.0.1:9"), PATH="/nonexistent")
    if done.returncode != 5 or b"cannot be run" not in done.stderr:
        raise Wrong("without debuginfod-find: status %d: %s" % (done.returncode, done.stderr.decode()))


def hostile_server(folder):
    """The server sends a file that is no ELF object or has another build-id: it is not used for names."""
    program = make(folder)
    place = os.path.join(folder, "server", "buildid", build_id(program, folder), "debuginfo")
    other = fresh.build(folder, "storm.c", "other", "-O1", "-g", "-pthread", "-Wl,--build-id")
    for number, content in enumerate((b"\x7fELF" + bytes(100), open(other, "rb").read())):
        with open(place, "wb") as file:
            file.write(content)
        with Server(os.path.join(folder, "server")) as server:
            done = ours(folder, (*REPORT, "--debuginfod=" + server.url), DEBUGINFOD_CACHE_PATH=os.path.join(folder, "kept%d" % number))
            if names(done) or not server.asked:
                raise Wrong("names %s, asked %s" % (names(done), server.asked))


CHECKS = {"fetched": fetched, "sources": sources, "versions": versions, "objects": objects,
          "deleted": deleted, "no_server": no_server, "hostile_server": hostile_server}


if __name__ == "__main__":
    sys.exit(fresh.attempt_all("script/debuginfod", CHECKS, sys.argv[1:]))
