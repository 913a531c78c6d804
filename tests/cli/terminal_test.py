#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Behaviour that exists only on a terminal, tested on a pseudo terminal.

terminal/progress        a line appears on standard error after a second of reading, and is erased at the end
terminal/no-progress     no such line if standard error is not a terminal
terminal/pager           an output higher than the terminal is given to $PAGER
terminal/no-pager        --no-pager prints it to the terminal
terminal/low             an output lower than the terminal needs no pager
terminal/plain           no output is given to a pager if standard output is not a terminal
terminal/record          neither a recording nor an SVG is written to a terminal
"""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
from harness import PERFRAY  # noqa: E402

RECORDING = Path(os.environ["FIXTURES"]) / "recorded" / "pipe.data"
ERASE = b"\r\x1b[K"
TIME_LIMIT_SECONDS = 60


def open_terminal(rows):
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))
    return master, slave


def read_rest(master):
    """All output to a terminal whose programs have ended."""
    text = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:
            return text
        if not part:
            return text
        text += part


def feed_slowly(stream, seconds):
    """The recording, with a pause in its middle."""
    content = RECORDING.read_bytes()
    stream.write(content[:len(content) // 2])
    stream.flush()
    time.sleep(seconds)
    stream.write(content[len(content) // 2:])
    stream.close()


def run_slowly(stderr):
    with subprocess.Popen([PERFRAY, "info", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          stderr=stderr) as child:
        feed_slowly(child.stdin, 1.8)
        return child.wait(TIME_LIMIT_SECONDS)


def check_progress():
    master, slave = open_terminal(24)
    status = run_slowly(slave)
    os.close(slave)
    messages = read_rest(master)
    if status != 0:
        yield f"exit status {status}"
    if b"MB" not in messages or not messages.startswith(b"\rstandard input: "):
        yield f"no progress line: {messages!r}"
    if not messages.endswith(ERASE):
        yield f"not erased: {messages!r}"


def check_no_progress():
    with tempfile.TemporaryFile() as messages:
        run_slowly(messages)
        messages.seek(0)
        text = messages.read()
        if text:
            yield f"printed: {text!r}"


def run_on_terminal(rows, arguments, folder):
    """The input of the pager (None: it was not run), and the output on the terminal."""
    paged = Path(folder) / "paged"
    paged.unlink(missing_ok=True)
    master, slave = open_terminal(rows)
    with subprocess.Popen([PERFRAY, "info", str(RECORDING), *arguments], stdout=slave, stderr=subprocess.DEVNULL,
                          env={**os.environ, "PAGER": f"cat >'{paged}'"}) as child:
        os.close(slave)
        shown = read_rest(master)
        child.wait(TIME_LIMIT_SECONDS)
    os.close(master)
    return (paged.read_bytes() if paged.exists() else None), shown.replace(b"\r\n", b"\n")


def check_pager(rows, arguments, by_pager):
    want = harness.perfray("info", str(RECORDING), timeout=TIME_LIMIT_SECONDS).stdout
    with harness.scratch("terminal") as folder:
        paged, shown = run_on_terminal(rows, arguments, folder)
    if (paged == want) != by_pager:
        yield f"the pager got {paged!r}"
    if (shown == want) == by_pager:
        yield f"the terminal got {shown!r}"


def check_plain():
    with harness.scratch("terminal") as folder:
        paged = Path(folder) / "paged"
        subprocess.run([PERFRAY, "info", str(RECORDING)], stdout=subprocess.DEVNULL, timeout=TIME_LIMIT_SECONDS,
                       env={**os.environ, "PAGER": f"cat >'{paged}'"}, check=False)
        if paged.exists():
            yield "the pager was run"


def check_refused():
    for arguments, what in ((["record", "-o", "-", "true"], b"a recording"), (["flame", str(RECORDING)], b"SVG")):
        master, slave = open_terminal(24)
        with tempfile.TemporaryFile() as messages:
            status = subprocess.run([PERFRAY, *arguments], stdout=slave, stderr=messages, timeout=TIME_LIMIT_SECONDS,
                                    check=False).returncode
            os.close(slave)
            messages.seek(0)
            text, shown = messages.read(), read_rest(master)
        os.close(master)
        if status != 2 or b"refusing to write " + what + b" to a terminal; use -o FILE" not in text or shown:
            yield f"{arguments}: status {status}, {text!r}, {shown[:80]!r}"


def report_on_terminal(*arguments):
    """Standard error of a report whose output is a terminal."""
    master, slave = open_terminal(24)
    with tempfile.TemporaryFile() as messages:
        with subprocess.Popen([PERFRAY, "report", "--no-cache", *arguments], stdout=slave, stderr=messages,
                              env={**os.environ, "PAGER": "cat"}) as child:
            os.close(slave)
            read_rest(master)
            child.wait(TIME_LIMIT_SECONDS)
        os.close(master)
        messages.seek(0)
        return messages.read()


def check_unnamed():
    fixtures = Path(os.environ["FIXTURES"]) / "recorded"
    empty = ["--symfs", "/nonexistent", str(fixtures / "demo.data")]
    hint = b" % of samples have no function name; perfray symbols FILE says why\n"
    if not report_on_terminal(*empty).endswith(b"100" + hint):
        yield "no hint for samples without names"
    for arguments in (["--symfs", str(fixtures / "demo-root"), str(fixtures / "demo.data")], ["--sort", "comm", *empty],
                      ["--no-symbols", *empty]):
        if hint in report_on_terminal(*arguments):
            yield f"{arguments}: a hint"
    if hint in harness.perfray("report", "--no-cache", *empty, timeout=TIME_LIMIT_SECONDS).stderr:
        yield "a hint in a pipe"


def main():
    checks = {
        "progress": check_progress(),
        "unnamed": check_unnamed(),
        "no-progress": check_no_progress(),
        "pager": check_pager(5, [], True),
        "no-pager": check_pager(5, ["--no-pager"], False),
        "low": check_pager(5000, [], False),
        "plain": check_plain(),
        "record": check_refused(),
    }
    for name, check in checks.items():
        harness.result(f"terminal/{name}", list(check))
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
