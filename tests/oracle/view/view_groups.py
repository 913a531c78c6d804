# SPDX-License-Identifier: Apache-2.0
"""Tests the headings of a timeline, cgroups and the recordings of a comparison, and that each recording keeps its losses."""
import os
import struct

import growth_families as made
import harness
from view_exercise import equal, must_be_quiet

LOST, CGROUP = 2, 19  # records
CGROUP_IDS, SAMPLE_ID_ALL = 1 << 21, 1 << 18
MS = 1000000
NEW = ((7, 70, 5), (7, 71, 5), (8, 80, 6), (8, 80, 6), (8, 80, 6), (9, 90, 6))  # pid, tid, cgroup of each sample
OLD = ((6, 60, 5), (6, 61, 5), (6, 60, 6))
PATHS = ((5, b"/shop/web"), (6, b"/shop/db"))
STEPS = [["facts", "start"], ["click", ".thread.group.cgroup"], ["facts", "cgroup"]]


def sample_id(tid, ms):
    return struct.pack("<IIQ", tid // 10, tid, ms * MS)


def recording(samples, lost):
    records = b"".join(made.record(CGROUP, struct.pack("<Q", number) + path.ljust(16, b"\0") + sample_id(0, 1)) for number, path in PATHS)
    for i, (pid, tid, cgroup) in enumerate(samples):
        records += made.record(made.SAMPLE, struct.pack("<QIIQQQ", 0x401000, pid, tid, (10 + i) * MS, 1, cgroup))
    records += made.record(LOST, struct.pack("<QQ", 1, lost) + sample_id(samples[0][1], 11))
    return made.recording(records, made.IP_TID_TIME_PERIOD | CGROUP_IDS, flags=SAMPLE_ID_ALL)


def write(folder):
    paths = [os.path.join(folder, name) for name in ("shop.data", "shop-before.data")]
    for path, content in zip(paths, (recording(NEW, 12), recording(OLD, 3400))):
        with open(path, "wb") as file:
            file.write(content)
    return paths


def jobs(view, folder):
    """Jobs for a page with two cgroups, light, dark and narrow, and for a comparison. `view` makes a page."""
    new, old = write(folder)
    one, two = view(folder, "shop", new), view(folder, "shop-diff", "--diff", old, new)
    return [{"name": "cgroups", "file": one, "steps": STEPS}, {"name": "cgroups dark", "file": one, "scheme": "dark", "steps": STEPS[:1]},
            {"name": "cgroups narrow", "file": one, "width": 390, "height": 844, "steps": STEPS[:1]}, {"name": "two recordings", "file": two, "steps": STEPS}]


def headings(facts):
    return [label.split(":")[0] for label in facts["labels"] if ": choose its" in label]


def check(results):
    one = results["cgroups"]["facts"]
    for name in ("cgroups", "cgroups dark", "cgroups narrow"):
        must_be_quiet(results[name])
        equal(name, headings(results[name]["facts"]["start"]), ["cgroup /shop/db", "cgroup /shop/web", "process process, pid 7"])
    equal("threads of /shop/db", [one["start"]["threads"][i] for i in one["cgroup"]["state"]["threads"]], ["8/80", "9/90"])
    equal("samples of /shop/db", one["cgroup"]["rows"], 4)
    return "2 cgroups"


def check_two(result):
    must_be_quiet(result)
    start, chosen = result["facts"]["start"], result["facts"]["cgroup"]
    equal("headings", headings(start), ["recording new", "cgroup /shop/db", "cgroup /shop/web", "process process, pid 7", "recording baseline", "cgroup /shop/db", "cgroup /shop/web"])
    equal("marks", [row[1:] for row in start["marks"]], [["lost", "12 records"], ["baseline: lost", "3 400 records"]])
    harness.must("12 " in start["losses"] and "baseline: 3400 " in start["losses"], "losses: %s" % start["losses"])
    harness.must("4 threads, 2 of the baseline" in start["facts"], start["facts"])
    rows = {row["name"]: (row["baseline"], row["new"]) for row in chosen["changes"]}
    equal("a cgroup of the new recording with the whole baseline", list(rows.values()), [(3, 4)])
    return "2 recordings"
