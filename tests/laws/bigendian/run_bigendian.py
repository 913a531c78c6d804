#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the unit tests on a big-endian machine: built for s390x by a cross compiler, run by qemu.

    tests/laws/bigendian/fetch.sh build/s390x/root
    tests/laws/bigendian/run_bigendian.py SOURCE_FOLDER build/s390x

Builds in build/s390x/build, next to the libraries, and runs the tests of FOLDERS; with PERFRAY_LONG also those of views, with
all their cases. Prints each line of a test program with the prefix `bigendian/`. If a requirement is missing, prints a line
`skip` and ends with status 77.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402

FOLDERS = ("model", "base", "wire", "file", "symbol")  # the longest first
if harness.LONG:
    FOLDERS += ("view",)
TOOLS = ("s390x-linux-gnu-gcc", "qemu-s390x", "meson", "ninja")


def find_missing(libraries):
    """A description of the missing tools or libraries, or None."""
    for tool in TOOLS:
        if not shutil.which(tool):
            return f"{tool} is not installed"
    if not os.path.exists(os.path.join(libraries, ".complete")):
        return "the libraries of s390x are not there (tests/laws/bigendian/fetch.sh)"
    return None


def run_or_die(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        print(done.stdout[-4000:], file=sys.stderr)
        harness.result("bigendian/build", os.path.basename(command[0]) + " fails")
        sys.exit(harness.status())


def write_constants(build, libraries):
    path = os.path.join(build, "root.ini")
    with open(path, "w", encoding="utf-8") as constants:
        constants.write(f"[constants]\nroot = '{libraries}'\n")
    return path


def configure(source, build, libraries):
    os.makedirs(build, exist_ok=True)
    if os.path.exists(os.path.join(build, "build.ninja")):
        return
    run_or_die("meson", "setup", build, source, "-Doptimization=1", "-Ddebug=false", "-Dmanual=disabled",
               "--cross-file", write_constants(build, libraries),
               "--cross-file", os.path.join(source, "tests", "laws", "bigendian", "s390x.ini"))


def run_folder(source, build, libraries, folder):
    """Runs the tests of one folder. True if all passed."""
    library_path = os.path.join(libraries, "usr", "lib", "s390x-linux-gnu")
    command = ["qemu-s390x", "-L", "/usr/s390x-linux-gnu", "-E", f"LD_LIBRARY_PATH={library_path}",
               os.path.join(build, "tests", "unit", f"unit_{folder}")]
    environment = dict(os.environ, FIXTURES=os.path.join(source, "tests", "fixtures"))
    if not harness.LONG:
        environment["PERFRAY_SPARSE"] = "1"
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment, check=False)
    lines = [line for line in done.stdout.splitlines() if re.match(r"(ok|not ok|skip) ", line)]
    named = [re.sub(r"^(ok|not ok|skip) (unit/)?", r"\1 bigendian/", line) for line in lines]
    print("".join(line + "\n" for line in named), end="", flush=True)  # in one write, because others print too
    failed = any(line.startswith("not ok ") for line in lines)
    if failed or done.returncode != 0 or not lines:
        print(done.stderr[-4000:], file=sys.stderr)
    if not failed and (done.returncode != 0 or not lines):
        print(f"not ok bigendian/{folder} ends with status {done.returncode} after {len(lines)} tests")
        failed = True
    return not failed


def main():
    source, folder = (os.path.abspath(argument) for argument in sys.argv[1:3])
    libraries, build = os.path.join(folder, "root"), os.path.join(folder, "build")
    missing = find_missing(libraries)
    if missing:
        for folder in FOLDERS:
            harness.skip("bigendian/" + folder, missing)
        return harness.status()
    configure(source, build, libraries)
    run_or_die("ninja", "-C", build, *(f"tests/unit/unit_{folder}" for folder in FOLDERS))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda folder: run_folder(source, build, libraries, folder), FOLDERS))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
