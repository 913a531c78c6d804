#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every public header by itself, as strict C11 and as C++17, with warnings as errors.

There is one test per header and language, headers/NAME.h:c11 and headers/NAME.h:c++17; without a C++ compiler, the C++ test is skipped.
headers/installed checks that the meson.build of its folder lists each header of the source tree.
"""
import argparse
import os
import shlex
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402

FLAGS = ["-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]


def compile_alone(command, standard, language, folders, name):
    arguments = command + [f"-std={standard}", "-x", language, *FLAGS, *(f"-I{folder}" for folder in folders), "-"]
    source = f"#include <perfray/{name}>\nextern int unit_is_not_empty;\n"
    return subprocess.run(arguments, input=source, text=True, capture_output=True, check=False)


def check_installed(folder):
    """Prints the result for a folder of headers in the source tree."""
    listed = (folder / "meson.build").read_text()
    forgotten = [path.name for path in sorted(folder.glob("*.h")) if f"'{path.name}'" not in listed]
    harness.result("headers/installed", [f"{name} is not in {folder.name}/meson.build, so it is not installed" for name in forgotten])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--include", action="append", required=True, help="first the source tree's")
    parser.add_argument("--c", required=True, help="command of the C compiler")
    parser.add_argument("--cxx", help="command of the C++ compiler")
    options = parser.parse_args()
    languages = [("c11", "c", options.c), ("c++17", "c++", options.cxx)]
    headers = sorted({path.name for folder in options.include for path in Path(folder, "perfray").glob("*.h")})
    check_installed(Path(options.include[0], "perfray"))
    for name in headers:
        for standard, language, command in languages:
            if not command:
                harness.skip(f"headers/{name}:{standard}", "there is no C++ compiler")
                continue
            result = compile_alone(shlex.split(command), standard, language, options.include, name)
            harness.result(f"headers/{name}:{standard}", result.returncode and (result.stderr.splitlines() or True))
    return harness.status() if headers else 1


if __name__ == "__main__":
    sys.exit(main())
