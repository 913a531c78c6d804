#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a histogram of the durations of a function's calls: latency_histogram.py TRACE [PATTERN]. The default is the
function with the largest sum."""
import sys

import perfray


def main() -> None:
    with perfray.open_model(sys.argv[1]) as model:
        table = model.latency(sys.argv[2] if len(sys.argv) > 2 else None, histogram=True, top=1)
    if not table:
        sys.exit("no such function was called")
    row = table[0]
    print("%s: %d calls, p50 %s, p99 %s, max %s %s" % (row.function, row.count, row.p50, row.p99, row.max, table.unit))
    most = max((bin.count for bin in row.histogram), default=1)
    for bin in row.histogram:
        print("%12d - %-12d %8d %s" % (bin.start, bin.end, bin.count, "#" * round(50 * bin.count / most)))


if __name__ == "__main__":
    main()
