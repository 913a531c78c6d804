#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_view_speed.py - measures size and speed of large pages: a million samples in 100 000 stacks, and a million calls.

usage: run_view_speed.py --modules DIR --maker FILE

A normal run checks sizes; with PERFRAY_LONG, times are checked, too: the best of three, because other programs run at the same time.
"""
import argparse
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "export"))
import harness  # noqa: E402
import run_browser  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
MILLION = 1000000
SIZES = {"samples": 5000000, "calls": 6000000}
READY_MOST, SELECTION_MOST, FRAMES_LEAST = 1000, 100, 50
SECONDS = 1200


def make(options, folder, kind, count):
    path = os.path.join(folder, "%s-%d.html" % (kind, count))
    subprocess.run([options.maker, kind, str(count), path], check=True, timeout=SECONDS)
    return path


def check_size(path, most):
    size = os.path.getsize(path)
    harness.must(size <= most, "%d bytes, at most %d" % (size, most))
    return "%d bytes" % size


def measure(options, folder, pages):
    done = subprocess.run(["node", os.path.join(HERE, "view_speed.js"), os.path.join(os.path.abspath(options.modules), "playwright-core"), harness.installed("chromium"), *pages],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=dict(os.environ, HOME=folder), timeout=SECONDS, check=True)
    return json.loads(done.stdout)


def check_speed(result):
    slow = max(result["selections"].values())
    words = "ready %d ms, slowest selection %d ms, panning %.0f and %.0f frames a second, load %.1f" % (
        result["ready"], slow, result["pan"], result["panNear"], os.getloadavg()[0])
    print("# " + words)
    harness.must(result["ready"] <= READY_MOST and slow <= SELECTION_MOST and min(result["pan"], result["panNear"]) >= FRAMES_LEAST,
                 "%s: %s" % (words, result["selections"]))
    return words


def run(options, folder):
    pages = {kind: make(options, folder, kind, MILLION) for kind in SIZES}
    for kind, most in SIZES.items():
        harness.attempt("view/size of %s" % kind, check_size, pages[kind], most)
    if not os.environ.get("PERFRAY_LONG"):
        return
    for kind, result in zip(pages, measure(options, folder, list(pages.values()))):
        harness.attempt("view/speed of %s" % kind, check_speed, result)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--modules", required=True)
    parser.add_argument("--maker", required=True)
    options = parser.parse_args()
    reason = run_browser.missing(os.path.join(options.modules, "playwright-core"))
    if reason:
        return harness.skip("view speed", reason)
    with harness.scratch("view-speed") as folder:
        harness.attempt("view/speed", run, options, folder)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
