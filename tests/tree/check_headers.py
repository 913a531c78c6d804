#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every public header alone, as strict C11 and as C++17, with warnings as errors.

One test per header and language, headers/NAME.h:c11 and headers/NAME.h:c++17; without a C++ compiler the second
is skipped. One more, headers/installed: each header of the source tree is named in its folder's meson.build.
"""
import argparse
import shlex
import subprocess
import sys
from pathlib import Path

FLAGS = ["-pedantic-errors", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]


def compile_alone(command, standard, language, folders, name):
    arguments = command + [f"-std={standard}", "-x", language, *FLAGS, *(f"-I{folder}" for folder in folders), "-"]
    source = f"#include <perfray/{name}>\nextern int unit_is_not_empty;\n"
    return subprocess.run(arguments, input=source, text=True, capture_output=True, check=False)


def check_installed(folder):
    """Prints the result for a folder of headers in the source tree, and returns whether all are named."""
    listed = (folder / "meson.build").read_text()
    forgotten = [path.name for path in sorted(folder.glob("*.h")) if f"'{path.name}'" not in listed]
    for name in forgotten:
        print(f"    {name} is not in {folder.name}/meson.build, so it is not installed")
    print("not ok" if forgotten else "ok", "headers/installed")
    return not forgotten


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--include", action="append", required=True, help="first the source tree's")
    parser.add_argument("--c", required=True, help="command of the C compiler")
    parser.add_argument("--cxx", help="command of the C++ compiler")
    options = parser.parse_args()
    languages = [("c11", "c", options.c), ("c++17", "c++", options.cxx)]
    headers = sorted({path.name for folder in options.include for path in Path(folder, "perfray").glob("*.h")})
    failed = not check_installed(Path(options.include[0], "perfray")) or not headers
    for name in headers:
        for standard, language, command in languages:
            if not command:
                print(f"skip headers/{name}:{standard} there is no C++ compiler")
                continue
            result = compile_alone(shlex.split(command), standard, language, options.include, name)
            bad = result.returncode != 0
            if bad:
                print("".join(f"    {line}\n" for line in result.stderr.splitlines()), end="")
            print("not ok" if bad else "ok", f"headers/{name}:{standard}")
            failed = failed or bad
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
