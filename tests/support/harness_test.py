#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""harness_test.py - tests the output of harness.py, the exit status of scripts, and that scratch folders are removed however a script ends."""
import os
import signal
import subprocess
import sys

import harness

BEGIN = "import os, sys, time\nimport harness\n"
END = "\nsys.exit(harness.status())\n"
# {name: (script, its exit status, its lines)}
SCRIPTS = {
    "ok": ("harness.result('a/b c', []); harness.result('d', None)", 0, ["ok a/b c", "ok d"]),
    "not-ok": ("harness.result('a', 'one\\ntwo'); harness.result('b', True); harness.result('c')", 1,
               ["not ok a: one", "    two", "not ok b", "ok c"]),
    "many": ("harness.result('a', [str(n) for n in range(harness.SHOWN + 2)])", 1,
             ["not ok a: 0", *("    %d" % n for n in range(1, harness.SHOWN)), "    and 2 more"]),
    "skip": ("harness.skip('a', 'is not here')", 77, ["skip a is not here"]),
    "skip-and-ok": ("harness.skip('a', 'no'); harness.result('b')", 0, ["skip a no", "ok b"]),
    "attempt": ("harness.attempt('a', harness.need, 'no-such-program'); harness.attempt('b', harness.must, False, 'bad')\n"
                "harness.attempt('c', lambda: '3 lines')", 1, ["skip a no-such-program is not installed", "not ok b: bad", "ok c (3 lines)"]),
    "run": ("print(harness.run(['printf', '%s,', 'a', b'b\\xff', 1]).stdout)", 0, [r"b'a,b\xff,1,'"]),
    "differences": ("print(harness.first_difference(b'a\\nb', b'a\\nc'), harness.first_difference([1, 2], [1]))\n"
                    "print(harness.first_difference({1: 2}, {1: 3}), harness.first_difference(1, 1))", 0,
                    ["line 2: b'b' is wanted, got b'c' 2 wanted, got 1", "1: 2 is wanted, got 3 None"]),
}
FOLDER = "with harness.scratch('harness-test') as folder:\n    open(folder + '/file', 'w').close(); print(folder, flush=True)\n"
# {name: what the script does in its folder}
ENDS = {"end": "    pass", "exit": "    sys.exit(3)", "raise": "    raise ValueError", "wait": "    time.sleep(60)"}


def start(script):
    return subprocess.Popen([sys.executable, "-c", BEGIN + script + END], cwd=os.path.dirname(os.path.abspath(__file__)), text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={k: v for k, v in os.environ.items() if k != "PERFRAY_KEEP"})


def check_lines(script, status, lines):
    process = start(script)
    said = process.communicate(timeout=harness.SECONDS)[0].splitlines()
    harness.must((process.returncode, said) == (status, lines), "status %d, %r" % (process.returncode, said))


def check_folder(act):
    process = start(FOLDER + act)
    folder = process.stdout.readline().strip()
    harness.must("perfray-harness-test-" in folder, "no folder: %r" % folder)
    if act == ENDS["wait"]:
        harness.must(os.path.isfile(folder + "/file"), "nothing is in the folder")
        process.send_signal(signal.SIGTERM)
    process.communicate(timeout=harness.SECONDS)
    harness.must(not os.path.exists(folder), "%s is left" % folder)


def main():
    for name, row in SCRIPTS.items():
        harness.attempt("harness/" + name, check_lines, *row)
    for name, act in ENDS.items():
        harness.attempt("harness/folder-" + name, check_folder, act)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
