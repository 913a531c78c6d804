# SPDX-License-Identifier: Apache-2.0
"""Tests a page with events that the traced program logged: pointer and keyboard find them on the timeline, a list shows their kinds, and markup in their texts has no effect."""
import os

import harness
import xray_files
from view_exercise import equal, must_be_quiet

HOSTILE = b"</script><img src=x onerror=owned=1>\xe2\x80\xae"
PAYLOADS = (b"begin request 17", HOSTILE, b"\x00\xff", b"end")
SHOWN = ("\u201cbegin request 17\u201d", "\u201c</script><img src=x onerror=owned=1>\\u202e\u201d", "2 bytes", "\u201cend\u201d")
TICK, FIRST = 1000, 2000000
LANES = 30  # pixels from the top of the timeline to the calls of the first thread


def write(folder):
    """A thread that calls one function and logs events in it, and one that only logs."""
    path, trace = os.path.join(folder, "logged.xray"), xray_files.Fdr(5)
    steps = [("call", 0, 1, FIRST)]
    for i, data in enumerate(PAYLOADS):
        steps += [("custom", FIRST + (2 * i + 1) * TICK, data), ("typed", FIRST + (2 * i + 2) * TICK, 7 + i, data)]
    steps += [("call", 1, 1, FIRST + 10 * TICK)]
    with open(path, "wb") as file:
        file.write(trace.header() + trace.buffer(201, 5, 3, FIRST, steps) + trace.buffer(202, 5, 3, FIRST, [("custom", FIRST + 9 * TICK, b"alone")]))
    return path


def job(page):
    steps = [["facts", "start"], ["point", 0.1, LANES], ["facts", "pointed"], ["click", ".times"], ["key", "m"], ["facts", "first"], ["key", "m"], ["facts", "second"],
             ["key", "M"], ["key", "M"], ["facts", "last"], ["key", "]"], ["key", "]"], ["facts", "other"], ["key", "Escape"], ["drag", 0.05, 0.25], ["facts", "selected"]]
    return {"name": "marks", "file": page, "steps": steps}


def wanted_rows():
    rows = [["%d µs" % (i + 1), "typed event" if i % 2 else "event", ("%d: " % (7 + i // 2) if i % 2 else "") + SHOWN[i // 2]] for i in range(2 * len(PAYLOADS))]
    return rows + [["9 µs", "event", "\u201calone\u201d"]]


def check(result):
    must_be_quiet(result)
    facts, rows = result["facts"], wanted_rows()
    harness.must(facts["start"].get("owned") is None, "a text ran")
    equal("list", facts["start"]["marks"], rows)
    equal("name of a row", facts["start"]["named"][3].replace("\u2009", " "), "typed event 8: %s, 4 µs after the start, thread 201" % SHOWN[1])
    equal("pointed", facts["pointed"]["pointed"], "event " + SHOWN[0])
    for label, row in (("first", rows[0]), ("second", rows[1]), ("last", rows[-1])):
        harness.must(facts[label]["status"].replace("\u2009", " ").startswith("%s %s, %s after the start" % (row[1], row[2], row[0])), "%s: %s" % (label, facts[label]["status"]))
    equal("thread 202", facts["other"]["marks"], rows[-1:])
    equal("selected time", facts["selected"]["marks"], rows[:2])
    return "%d events" % len(rows)
