#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_listed.py - checks everything that `perfray export --format=list` says about each format.

usage: run_listed.py [--npm DIR]

    list     the table of losses and the list of formats in the manual, and the messages on standard error, agree with the list
    suffix   -o NAME.SUFFIX selects the format; .gz and .zst after it compress the same bytes; formats written to folders get
             their files
    names    in recordings with the names of tests/hostile/run_names.py, each format has the same stacks, totals and names by
             the checks of run_formats.py; without PERFRAY_LONG, a quarter of the names are used
"""
import argparse
import gzip
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "support"), os.path.join(HERE, "..", "..", "hostile")]
import harness  # noqa: E402
from harness import must  # noqa: E402

import named_recording  # noqa: E402
import run_formats  # noqa: E402
import run_names  # noqa: E402

DEMO = os.path.join(harness.FIXTURES, "recorded", "demo.data")
MANUAL = os.path.join(HERE, "..", "..", "..", "docs", "man", "perfray-export.1.scd")


def listed():
    """[(name, suffix, reader, losses)]."""
    return [line.split("\t") for line in harness.perfray("export", "--format=list").stdout.decode("utf-8").splitlines()]


def losses_of_manual():
    with open(MANUAL, encoding="utf-8") as file:
        table = file.read().partition("\n# LOSSES\n")[2].partition("\n# ")[0]
    rows = re.findall(r"^\|  (.*)\n:  (.*)$", table, re.M)
    return {name: losses for names, losses in rows for name in names.split(", ")}


def check_list():
    with open(MANUAL, encoding="utf-8") as file:
        formats = file.read().partition("\n# FORMATS\n")[2].partition("\n# ")[0]
    manual, rows = losses_of_manual(), listed()
    must(sorted(manual) == sorted(name for name, *_ in rows), "the manual has losses of %s" % sorted(manual))
    for name, _, reader, losses in rows:
        must(manual[name] == losses, "%s: the manual says %r, the list %r" % (name, manual[name], losses))
        must(reader, "%s has no reader" % name)
        must(re.search(r"^_%s_|, _%s_$|^_\w+_, _%s_" % (name, name, name), formats, re.M), "%s is not in FORMATS" % name)
    return "%d formats" % len(rows)


def unpacked(path):
    if path.endswith(".gz"):
        with gzip.open(path) as file:
            return file.read()
    harness.need("zstd")
    return harness.run(["zstd", "-dc", path]).stdout


def export_to(path, *more):
    done = harness.perfray("export", "--no-cache", "--symfs", run_formats.SYMFS, *more, "-o", path, DEMO)
    must(done.returncode == 0 and not done.stdout, "-o %s: status %d, %s" % (path, done.returncode, harness.last_line(done)))
    return done.stderr.decode("utf-8")


def check_suffix(folder, name, suffix, losses):
    path = os.path.join(folder, "out" + suffix)
    said = export_to(path)
    is_reported = losses in said  # for formats of row sinks the losses are also reported on standard error
    must(is_reported or name in ("folded", "pprof"), "%s: standard error says %r" % (name, said))
    if os.path.isdir(path):
        must(len(os.listdir(path)) >= 2, "%s has %s" % (path, os.listdir(path)))
        return
    with open(path, "rb") as file:
        plain = file.read()
    must(plain == run_formats.export(DEMO, name), "%s: other bytes than on stdout" % name)
    for packing in () if suffix.endswith(".gz") else (".gz", ".zst"):
        export_to(path + packing)
        must(unpacked(path + packing) == plain, "%s%s: other bytes" % (name, packing))
        with open(path + packing, "rb") as file:
            must(len(file.read()) < len(plain) or len(plain) < 600, "%s%s is not smaller" % (name, packing))


def check_suffixes():
    rows = listed()
    for name, suffix, _, losses in rows:
        with harness.scratch("suffix") as folder:
            check_suffix(folder, name, suffix, losses)
    return "%d formats" % len(rows)


def check_names(payload):
    checks = 0
    with harness.scratch("names") as folder:
        path = os.path.join(folder, "named.data")
        with open(path, "wb") as file:
            file.write(named_recording.make_file(run_names.Names(payload)))
        case = run_formats.Case(path)
        must(case.total > 0, "no samples")
        for name, check in run_formats.OURS.items():
            try:
                check(case)
            except harness.Wrong as problem:
                raise harness.Wrong("%s: %s" % (name, problem)) from problem
            checks += 1
    return "%d samples, %d formats" % (case.total, checks)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--npm", metavar="DIR", help="node_modules")
    run_formats.npm.OPTIONS["folder"] = parser.parse_args(arguments).npm
    if not harness.has_command():
        return harness.skip("export/listed", "PERFRAY is not set")
    harness.attempt("export/listed/list", check_list)
    harness.attempt("export/listed/suffix", check_suffixes)
    for name, payload in list(run_names.PAYLOADS.items())[::1 if harness.LONG else 4]:
        harness.attempt("export/names/" + name, check_names, payload)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
