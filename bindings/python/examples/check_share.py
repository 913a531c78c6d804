#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A check for CI: fails if a function takes more than a given share, or if the recording is damaged.

    check_share.py RECORDING FUNCTION PERCENT

Exit status: 0 the share is smaller; 1 it is not smaller; 2 the recording cannot tell (damage, losses, no samples).
"""
import sys
import warnings

import perfray


def main() -> int:
    path, function, limit = sys.argv[1], sys.argv[2], float(sys.argv[3])
    warnings.simplefilter("error", perfray.DamageWarning)
    try:
        with perfray.open_model(path) as model:
            rows = [row for row in model.functions() if row.symbol == function]
            losses, samples = model.losses, model.sample_count
    except (perfray.Error, perfray.DamageWarning) as problem:
        print(problem)
        return 2
    if losses or not samples:
        print("not enough to judge: %d samples, losses %s" % (samples, losses))
        return 2
    share = sum(row.percent for row in rows)
    print("%s takes %.2f %%, the limit is %.2f %%" % (function, share, limit))
    return share > limit


if __name__ == "__main__":
    sys.exit(main())
