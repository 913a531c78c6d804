#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dump_recording.py - print the number of records per type, then all records as JSON lines.

usage: PYTHONPATH=bindings/python python3 examples/dump_recording.py FILE
If perfray is not installed, also set PERFRAY_LIBRARY=build/libperfray.so.
"""
import collections
import sys

import perfray

with perfray.open(sys.argv[1]) as recording:
    counts = collections.Counter(record.name or "unknown" for record in recording)
    for name, count in counts.most_common():
        print("%8d %s" % (count, name), file=sys.stderr)
    for hole in recording.holes:
        print("byte %s: %s" % (hole.offset, hole.text), file=sys.stderr)
    sys.exit(0 if recording.dump(sys.stdout, "jsonl") else 4)
