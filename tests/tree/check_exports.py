#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the shared library exports exactly the functions that the public headers declare, and that exactly
these are visible in the archive. runtime.h belongs to another library, which tests/runtime checks.

The headers are preprocessed together and text in braces is removed. Every remaining declaration with `pfr_name(` that is
neither a typedef nor static declares pfr_name.
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


def preprocess(command, folders):
    names = sorted({path.name for folder in folders for path in Path(folder, "perfray").glob("*.h")} - {"runtime.h"})
    source = "".join(f"#include <perfray/{name}>\n" for name in names)
    arguments = shlex.split(command) + ["-std=c11", "-E", "-P", *(f"-I{folder}" for folder in folders), "-"]
    return subprocess.run(arguments, input=source, text=True, stdout=subprocess.PIPE, check=True).stdout


def drop_braces(text):
    """Replaces every outermost {...} by a semicolon."""
    out, depth = [], 0
    for character in text:
        if character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            out.append(";" if depth == 0 else "")
        elif depth == 0:
            out.append(character)
    return "".join(out)


def declared(command, folders):
    functions = set()
    for declaration in drop_braces(preprocess(command, folders)).split(";"):
        words = declaration.split()
        if words and words[0] != "typedef" and "static" not in words:
            functions.update(re.findall(r"\b(pfr_\w+)\s*\(", declaration)[:1])
    return functions


def exported(library, which):
    lines = subprocess.run(["nm", which, "--defined-only", library], text=True, stdout=subprocess.PIPE,
                           check=True).stdout.splitlines()
    symbols = [line.split()[-2:] for line in lines if len(line.split()) > 2]
    return {name.split("@")[0] for kind, name in symbols if kind != "A"}


def report(name, what, wrong):
    harness.result(f"exports/{name}", [f"{function} {what}" for function in sorted(wrong)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("archive")
    parser.add_argument("--include", action="append", required=True)
    parser.add_argument("--c", required=True, help="command of the C compiler")
    options = parser.parse_args()
    in_headers = declared(options.c, options.include)
    in_library, in_archive = exported(options.library, "-D"), exported(options.archive, "-g")
    report("header", "is declared in a public header, but not exported", in_headers - in_library)
    report("library", "is exported, but no public header declares it", in_library - in_headers)
    report("archive", "is seen in the archive, but no public header declares it", in_archive ^ in_headers)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
