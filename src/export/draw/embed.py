#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed.py FILE... - each file as a C string: flame.css becomes flame_css."""
import os
import sys


def quoted(line):
    return '"%s\\n"' % line.replace("\\", "\\\\").replace('"', '\\"')


print("/* Made by embed.py. */")
for path in sys.argv[1:]:
    with open(path, encoding="ascii") as file:
        print("static const char %s[] =" % os.path.basename(path).replace(".", "_"))
        print("\n".join("    " + quoted(line) for line in file.read().splitlines()) + ";")
