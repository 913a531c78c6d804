#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_browser.py - tests flame graphs in a headless browser: zoom, search, reset, and names that contain code.

usage: run_browser.py [--playwright DIR] [--shot FILE] RECORDED

RECORDED is the folder of recordings. Environment: PERFRAY, the command. Requires node, chromium and the npm package playwright-core in DIR. The checks are
in flame_page.js.
"""
import argparse
import os
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
import named_recording  # noqa: E402

SECONDS = 240
PAYLOADS = (
    b"<script>window.owned=1;alert(1)</script>", b"\"><svg onload=alert(2)>", b"]]><script>alert(3)</script>", b"&amp;&#60;b&lt;",
    b"' onmouseover='alert(4)", b"</title><a href=\"javascript:alert(5)\">x</a>", b"javascript:alert(6)", b"\x1b[2J\x00\x07\r\n",
    "\u202e\u2066\u200b\u2028".encode(), b"<!--", b"<![CDATA[", b"<image href=http://127.0.0.1:9/x>", b"\xff\xfe\xc0", b"__proto__",
)


def recording():
    """One thread for each name, with a sample in an object of the same name."""
    made = named_recording.make_stream(lambda field, room: b"plain"[:room])
    for number, payload in enumerate(PAYLOADS):
        made += thread(1000 + number, payload.split(b"\0")[0])
    return made


def thread(tid, name):
    head = struct.pack("<II", tid, tid)
    tail = named_recording.tail(10, tid)
    comm = named_recording.record(3, head + named_recording.padded(name[:200]) + tail)
    mapped = named_recording.record(10, head + struct.pack("<QQQIIQQII", 0x10000, 4096, 0, 8, 1, 99, 0, 5, 2)
                                    + named_recording.padded(b"/" + name.replace(b"/", b"|")) + tail, 2)
    return comm + mapped + named_recording.sample(0x10010, 2, 1, 2000, tid)


def draw(folder, name, *words):
    path = os.path.join(folder, name)
    done = subprocess.run([harness.PERFRAY, "flame", "-o", path, *words], stdin=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, timeout=SECONDS, check=False)
    if done.returncode not in (0, 4) or not os.path.exists(path):
        raise SystemExit("not ok export/browser draw: status %d: %s" % (done.returncode, done.stderr))
    return path


def missing(package):
    for program in ("node", "chromium"):
        if not shutil.which(program):
            return "%s is not installed" % program
    return None if package and os.path.isdir(package) else "the npm package playwright-core is not installed"


def run(options, folder):
    hostile = os.path.join(folder, "hostile.data")
    with open(hostile, "wb") as file:
        file.write(recording())
    root = os.path.join(options.recorded, "demo-root")
    pictures = [draw(folder, "plain.svg", "--symfs", root, os.path.join(options.recorded, "demo.data")),
                draw(folder, "hostile.svg", "--no-symbols", "--min-width", "0.001", hostile),
                draw(folder, "upward.svg", "--upward", "--symfs", root, os.path.join(options.recorded, "demo.data"))]
    shot = os.path.abspath(options.shot or os.path.join(folder, "shot.png"))
    done = subprocess.run(["node", os.path.join(HERE, "flame_page.js"), options.playwright, shutil.which("chromium"), *pictures,
                           shot], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=dict(os.environ, HOME=folder), timeout=SECONDS, check=False)
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    for line in lines:
        print(re.sub(r"^(not ok|ok) ", r"\1 export/browser ", line))
    if done.returncode != 0 and not any(line.startswith("not ok") for line in lines):
        print("not ok export/browser run: %s" % done.stderr.decode("utf-8", "replace").strip()[-300:])
    return done.returncode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--playwright", metavar="DIR")
    parser.add_argument("--shot", metavar="FILE")
    parser.add_argument("recorded")
    options = parser.parse_args()
    reason = missing(options.playwright)
    if reason:
        return harness.skip("export/browser", reason)
    with harness.scratch("browser") as folder:
        return run(options, os.path.realpath(folder))


if __name__ == "__main__":
    sys.exit(main())
