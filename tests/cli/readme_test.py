#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""readme_test.py ROOT BUILD-ROOT COMPILER...: the program in README.md works, and the image in it is made by the command in it.

readme/program  the C block compiles as printed without warnings, and prints the address of every sample of demo.data
readme/image    docs/flame.svg is byte for byte the output of the `perfray flame` command in the README
readme/links    every relative link leads to a file

The console examples are run by check_manual.py.
"""
import json
import os
import re
import shlex
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402

IMAGE = "docs/flame.svg"
WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Wpedantic", "-Werror"]


def one_match(pattern, text, what):
    found = re.findall(pattern, text, re.M | re.S)
    harness.must(len(found) == 1, "README.md has %d times %s, not once" % (len(found), what))
    return found[0]


def check_program(text, root, build, compiler, folder):
    source, program = Path(folder) / "samples.c", Path(folder) / "samples"
    source.write_text(one_match(r"^```c\n(.*?)^```$", text, "a block of C"))
    library = Path(os.environ["PERFRAY_LIBRARY"])
    done = harness.run([*compiler, *WARNINGS, "-I", root / "include", "-I", build / "include", source, library,
                        "-Wl,-rpath," + str(library.parent), "-o", program])
    harness.must(done.returncode == 0, "it does not compile: " + done.stderr.decode())
    recording = root / "tests/fixtures/recorded/demo.data"
    done = harness.run([program, recording])
    harness.must(done.returncode == 0, "it fails: " + harness.last_line(done))
    records = [json.loads(line) for line in harness.perfray("dump", "--format=jsonl", recording).stdout.splitlines()]
    wanted = [record["fields"]["ip"] for record in records if record.get("name") == "sample"]
    harness.must(wanted, "perfray dump prints no samples")
    difference = harness.first_difference(wanted, [int(word, 16) for word in done.stdout.split()])
    harness.must(difference is None, difference)
    done = harness.run([program, Path(folder) / "missing"])
    harness.must(done.returncode == 1 and b"missing" in done.stderr, "a missing file: status %d, %r" % (done.returncode, done.stderr))
    return "%d addresses" % len(wanted)


def check_image(text, root, folder):
    command = one_match(r"^    (perfray flame .*?-o %s .*?)$" % re.escape(IMAGE), text, "a command that writes " + IMAGE)
    made = os.path.join(folder, "flame.svg")
    words = [made if word == IMAGE else word for word in shlex.split(command)]
    done = harness.perfray(*words[1:], cwd=root)
    harness.must(done.returncode == 0, harness.last_line(done))
    difference = harness.first_difference((root / IMAGE).read_bytes(), Path(made).read_bytes())
    harness.must(difference is None, "%s is not what this makes: %s (%s)" % (IMAGE, command, difference))
    harness.must("](%s)" % IMAGE in text, "README.md does not show " + IMAGE)


def check_links(text, root):
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text) if "://" not in link]
    harness.must(links, "README.md has no links")
    lost = [link for link in links if not (root / link).exists()]
    harness.must(not lost, "no such file: " + ", ".join(lost))
    return "%d links" % len(links)


def main():
    root, build, compiler = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    text = (root / "README.md").read_text(encoding="utf-8")
    with harness.scratch("readme") as folder:
        harness.attempt("readme/program", check_program, text, root, build, compiler, folder)
        harness.attempt("readme/image", check_image, text, root, folder)
        harness.attempt("readme/links", check_links, text, root)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
