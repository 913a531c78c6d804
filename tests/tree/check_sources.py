#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every source and private header without the forced include of src/exported.h.

The build includes all public headers at the start of each source of the library, to make their functions visible. A file
that uses a public type without including its header compiles there, but fails if it is compiled by itself: in an editor,
a static analyser, another build system.

sources/FOLDER   each .c and .h file of src/FOLDER and its sub-folders compiles without any header included before it;
                 the runtime is left out, because it is built without that include and with other flags
sources/whole    <perfray/perfray.h> includes every public header of the library
"""
import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402

FLAGS = ["-std=gnu17", "-fsyntax-only", "-w", "-Werror=implicit-function-declaration", "-D_GNU_SOURCE",
         "-D_FILE_OFFSET_BITS=64"]
NOT_OF_THE_LIBRARY = {"perfray.h", "runtime.h"}  # the runtime is a separate library


def report(name, findings):
    harness.result(f"sources/{name}", list(findings))


def sources(folder):
    """Programs that generate sources during the build (gen_*.c) are not part of the library."""
    return sorted(str(path) for path in folder.rglob("*.[ch]") if not path.name.startswith("gen_"))


FIRST = re.compile(r'^#include ["<]([^">]+)[">]', re.M)


def to_compile(src, folder):
    """All headers except those that a source includes first: the compilation of the source shows that they are
    complete."""
    paths = sources(folder)
    found = [FIRST.search(Path(path).read_text()) for path in paths if path.endswith(".c")]
    first = {str(src / one.group(1)) for one in found if one}
    return [path for path in paths if path not in first]


def failures(command, paths):
    result = subprocess.run(command + paths, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    errors = [line for line in result.stdout.splitlines() if "error" in line]
    return errors if errors or result.returncode == 0 else ["the compiler ended with status %d" % result.returncode]


def missing_headers(folder):
    whole = set(re.findall(r"#include <perfray/(\w+\.h)>", (folder / "perfray.h").read_text()))
    for path in sorted(folder.glob("*.h")):
        if path.name not in whole | NOT_OF_THE_LIBRARY:
            yield f"perfray.h does not include {path.name}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=Path)
    parser.add_argument("--include", action="append", required=True, help="folders searched for headers")
    parser.add_argument("--c", required=True, help="command of the C compiler")
    options = parser.parse_args()
    src = options.root / "src"
    command = shlex.split(options.c) + FLAGS + [f"-I{folder}" for folder in [src, *options.include]]
    report("whole", list(missing_headers(options.root / "include/perfray")))
    for folder in sorted(path for path in src.iterdir() if path.is_dir() and path.name != "runtime"):
        report(folder.name, failures(command, to_compile(src, folder)))
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
