# SPDX-License-Identifier: Apache-2.0
"""The kernel records of dump --format=jsonl without their positions, sorted, because a directory has another order."""
import json
import sys

lines = []
for line in sys.stdin:
    record = json.loads(line)
    for place in ("offset", "part", "inner", "inside"):
        record.pop(place, None)
    if record.get("type", 64) < 64:
        lines.append(json.dumps(record, sort_keys=True))
print("\n".join(sorted(lines)))
