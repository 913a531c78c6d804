#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the command-line cases: every folder tests/cli/<command>/<case>/ that has a file `cmd`.

    cmd      shell text, run by sh -e in an empty folder; $PERFRAY is the command, $FIXTURES is tests/fixtures, $CASE the
             case's folder, and $PERFRAY_CORPUS the corpus, if there is one
    stdout   the expected output; no file: no output
    stderr   the same for standard error
    exit     the expected exit status, a number; no file: 0
    needs    optional; requirements, without which the case is skipped: `corpus`, `root`, or a program's name;
             `default-sizes`: the case is skipped in a run that sets PERFRAY_SIZES

    run_cli.py [--update] [WORD...]     only the cases whose names contain one of the words
    run_cli.py --with NAME=VALUE        with this variable in the environment; PERFRAY_SIZES=@smallest: all sizes at
                                        their minimum
    run_cli.py --update                 writes the output into the expected files; review the difference

When run by hand, $PERFRAY must name the command to test.
"""
import argparse
import difflib
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402

HERE = Path(__file__).resolve().parent
DEFAULT_SIZES = "default-sizes"
import tiny_sizes  # noqa: E402

TIME_LIMIT_SECONDS = 120
PARTS = ("stdout", "stderr", "exit")
NOTHING = {"stdout": b"", "stderr": b"", "exit": b"0\n"}


def is_asked_for(case):
    """The data that exceeds a memory limit depends on buffer sizes, so a run that sets these skips such cases."""
    needs = case / "needs"
    return not os.environ.get("PERFRAY_SIZES") or not needs.exists() or DEFAULT_SIZES not in needs.read_text().split()


def missing_need(case):
    """The first word of the case's `needs` that is not fulfilled, or None."""
    needs = case / "needs"
    for word in needs.read_text().split() if needs.exists() else []:
        if word == "corpus":
            holds = harness.corpus() is not None
        elif word == DEFAULT_SIZES:
            holds = True  # is_asked_for has left it out otherwise
        elif word == "root":
            holds = os.geteuid() == 0
        else:
            holds = shutil.which(word) is not None
        if not holds:
            return word
    return None


def case_environment(case, folder):
    known = dict(os.environ)
    known.pop("PERF_CONFIG", None)
    known.pop("XDG_CACHE_HOME", None)
    known.setdefault("FIXTURES", str(HERE.parent / "fixtures"))
    known.update(CASE=str(case), HOME=folder, LC_ALL="C", TZ="UTC", NO_COLOR="1", PAGER="cat")
    return known


def run_case(case):
    """The results of the case, as {"stdout": bytes, "stderr": bytes, "exit": bytes}."""
    with harness.scratch("cli") as folder:
        try:
            result = subprocess.run(["sh", "-e", str(case / "cmd")], cwd=folder, env=case_environment(case, folder),
                                    stdin=subprocess.DEVNULL, capture_output=True, timeout=TIME_LIMIT_SECONDS,
                                    check=False)
        except subprocess.TimeoutExpired as late:
            return {"stdout": late.stdout or b"", "stderr": late.stderr or b"", "exit": b"over the time limit\n"}
    return {"stdout": result.stdout, "stderr": result.stderr, "exit": b"%d\n" % result.returncode}


def expected(case):
    return {part: (case / part).read_bytes() if (case / part).exists() else NOTHING[part] for part in PARTS}


def rewrite(case, printed):
    for part in PARTS:
        if printed[part] != NOTHING[part]:
            (case / part).write_bytes(printed[part])
        else:
            (case / part).unlink(missing_ok=True)


def show_difference(name, part, want, got):
    lines = [text.decode(errors="backslashreplace").splitlines() for text in (want, got)]
    for line in difflib.unified_diff(*lines, f"{name}/{part}", "printed", lineterm=""):
        print("   ", line)


def check_case(case, name, update):
    missing = missing_need(case)
    if missing:
        harness.skip(f"cli/{name}", f"it needs {missing}")
        return
    printed, want = run_case(case), expected(case)
    if update:
        rewrite(case, printed)
        want = printed
    wrong = [part for part in PARTS if printed[part] != want[part]]
    for part in wrong:
        show_difference(name, part, want[part], printed[part])
    harness.result(f"cli/{name}", ", ".join(wrong))


def main():
    parser = argparse.ArgumentParser(description="Runs the command-line cases.")
    parser.add_argument("--update", action="store_true", help="rewrite the expected files")
    parser.add_argument("--with", dest="variables", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("words", nargs="*", help="run only cases whose name holds one of these")
    options = parser.parse_args()
    if not os.access(os.environ.get("PERFRAY", ""), os.X_OK):
        parser.error("$PERFRAY names no program")
    for variable in options.variables:
        name, _, value = variable.partition("=")
        os.environ[name] = tiny_sizes.smallest() if value == "@smallest" else value
    if options.variables and not harness.LONG:  # the run without variables looks for leaks
        os.environ["ASAN_OPTIONS"] = ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"), "detect_leaks=0")))
    for case in sorted(path.parent for path in HERE.glob("*/*/cmd")):
        name = str(case.relative_to(HERE))
        if is_asked_for(case) and (not options.words or any(word in name for word in options.words)):
            check_case(case, name, options.update)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
