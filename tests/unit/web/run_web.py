#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_web.py - tests the viewer's modules in node, and how they are joined into one script.

usage: run_web.py

web/*.js are modules that node runs as they are; *.test.mjs here test them. web/bundle.py joins them for the page.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
WEB = os.path.join(harness.ROOT, "web")
SECONDS = 200
BANNED = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "fetch(", "XMLHttpRequest", "import(")


def run_modules():
    tests = sorted(os.path.join(HERE, name) for name in os.listdir(HERE) if name.endswith(".test.mjs"))
    done = subprocess.run(["node", "--test", "--test-reporter=tap", *tests], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    results = [match for match in (re.match(r"\s*(ok|not ok) \d+ - (.*)$", line) for line in lines) if match]
    for match in results:
        if not match.group(2).endswith(".mjs"):  # newer versions of node print a line for each file
            harness.result("web/%s" % match.group(2), "" if match.group(1) == "ok" else "see the output of node --test")
    if done.returncode != 0 or not results:
        print("\n".join(lines[-60:]), file=sys.stderr)
        harness.must(any(match.group(1) == "not ok" for match in results), "node ends with status %d" % done.returncode)


def bundle(folder):
    return subprocess.run([sys.executable, os.path.join(WEB, "bundle.py"), folder, "--script"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS, check=False)


def check_bundle(folder):
    script = os.path.join(folder, "joined.mjs")
    done = bundle(WEB)
    harness.must(done.returncode == 0, done.stderr.decode())
    with open(script, "wb") as file:
        file.write(done.stdout)
    harness.must(subprocess.run(["node", "--check", script], stdin=subprocess.DEVNULL, timeout=SECONDS, check=False).returncode == 0,
                 "the joined script is no module")
    return "%d KB" % (len(done.stdout) // 1000)


WRONG = (
    ("two names", "import {a} from './other.js';\nconst b = a;\n", "export const a = 1;\nconst b = 2;\n", "b is defined in other.js and in main.js"),
    ("import all", "import * as a from './other.js';\n", "", "import *"),
    ("a default", "import {a} from './other.js';\n", "export default 1;\n", "export default"),
    ("a rename", "import {a as b} from './other.js';\n", "export const a = 1;\n", "as b"),
    ("an end tag", "const a = '</script>';\n", "", "would end its element"),
)


def check_refused(folder, main, other, words):
    for name, text in (("main.js", main), ("other.js", other)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    done = bundle(folder)
    harness.must(done.returncode != 0 and words in done.stderr.decode(), "bundle.py says: %s" % done.stderr.decode())


def check_banned():
    for name in sorted(os.listdir(WEB)):
        if not name.endswith(".js"):
            continue
        with open(os.path.join(WEB, name), encoding="utf-8") as file:
            found = [word for word in BANNED if word in file.read()]
        harness.must(not found, "%s uses %s" % (name, ", ".join(found)))


def check_listed():
    """Every file of web/ is in the list of files for which meson rebuilds the script."""
    with open(os.path.join(harness.ROOT, "src", "export", "page", "meson.build"), encoding="utf-8") as file:
        listed = set(re.findall(r"web/([\w.]+)'", file.read()))
    there = {name for name in os.listdir(WEB) if name.endswith((".js", ".css", ".py"))}
    harness.must(listed >= there, "src/export/page/meson.build does not list %s" % ", ".join(sorted(there - listed)))


def main():
    if not harness.installed("node"):
        return harness.skip("web", "node is not installed")
    harness.attempt("web/modules", run_modules)
    harness.attempt("web/banned", check_banned)
    harness.attempt("web/listed", check_listed)
    with harness.scratch("web") as folder:
        harness.attempt("web/bundle", check_bundle, folder)
        for name, first, other, words in WRONG:
            harness.attempt("web/bundle refuses " + name, check_refused, folder, first, other, words)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
