#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the functions with the most weight in each thread, using pandas: top_per_thread.py RECORDING [COUNT]."""
import sys

import perfray


def main() -> None:
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with perfray.open_model(sys.argv[1]) as model:
        samples = model.samples().to_pandas()
        if model.losses:
            print("# missing:", model.losses)
    weights = samples.groupby(["tid", "comm", "symbol"], observed=True)["weight"].sum()
    shares = 100 * weights / weights.groupby(level="tid").transform("sum")
    top = shares.sort_values(ascending=False).groupby(level="tid").head(count).sort_index(level="tid", sort_remaining=False)
    for (tid, comm, symbol), share in top.items():
        print("%8d  %-16s %6.2f %%  %s" % (tid, comm, share, symbol))


if __name__ == "__main__":
    main()
