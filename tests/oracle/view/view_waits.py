# SPDX-License-Identifier: Apache-2.0
"""Tests that the waits of a page equal those of perfray offcpu, to the nanosecond."""
import json
import os
import struct

import growth_families as made_of
import harness
from view_exercise import equal, must_be_quiet

STEPS = [["facts", "start"], ["click", ".wait-threads tr:nth-child(2) button"], ["facts", "thread"], ["key", "Escape"],
         ["click", ".wait-list tr:nth-child(1) button"], ["facts", "shown"], ["key", "1"], ["key", "7"], ["facts", "again"],
         ["drag", 0.21, 0.64], ["facts", "dragged"]]
STATES = ("running", "runnable", "blocked", "unknown")


def add(sums, key, *numbers):
    sums[key] = tuple(a + b for a, b in zip(sums.get(key, (0,) * len(numbers)), numbers))


def wanted_of(made):
    """({tid: (states, reasons)}, {(cause, function): (ns, count)}) of the JSON of offcpu."""
    threads = {thread["tid"]: ([thread[state + "_ns"] for state in STATES], thread["blocked_by_ns"]) for thread in made["threads"]}
    groups = {}
    for wait in (wait for thread in made["threads"] for wait in thread["waits"]):
        if wait["state"] in ("runnable", "blocked"):
            add(groups, (wait["reason"] or wait["state"], wait["function"] or ""), wait["ns"], wait["count"])
    return threads, groups


def wakers_of(made):
    sums = {}
    for wait in (wait for thread in made["threads"] for wait in thread["waits"]):
        if wait.get("waker"):
            add(sums, (wait["reason"], wait["function"] or "", wait["waker"]["tid"], wait["waker"]["function"] or ""), wait["ns"])
    return sums


def lines_of(made):
    """{(cause, function, line): ns} of waits whose line is known: that of the innermost frame of the function."""
    sums = {}
    for wait in (wait for thread in made["threads"] for wait in thread["waits"] if wait["state"] == "blocked"):
        frame = next((frame for frame in wait["stack"] if frame["function"] == wait["function"]), {})
        if frame.get("line"):
            add(sums, (wait["reason"], wait["function"], frame["line"]), wait["ns"])
    return sums


def check_lines(facts, made):
    shown = {(row["cause"], row["name"], line): (ns,) for row in facts["waits"]["groups"] for line, ns in row["lines"] if row["cause"] != "runnable"}
    equal("lines", shown, lines_of(made))
    (_, function, line), _ = max(shown.items(), key=lambda item: item[1])
    cells = [cells[2] for cells in facts["waitRows"] if cells[2].startswith(function + " ")]
    harness.must(any("waits.c:%d" % line in cell for cell in cells), "%s:%d is not shown: %s" % (function, line, cells))


def offcpu(path, *words):
    return json.loads(harness.perfray("offcpu", "--no-cache", "--format=json", *words, path).stdout)


def check_sums(page, made):
    threads, groups = wanted_of(made)
    shown, wakers = {}, {}
    equal("threads", {row["tid"]: (row["states"], row["reasons"]) for row in page["threads"]}, threads)
    for row in page["groups"]:
        add(shown, (row["cause"], row["name"]), row["ns"], row["number"])
        for waker in row["wakers"]:
            add(wakers, (row["cause"], row["name"], waker["tid"], waker["name"]), waker["ns"])
    equal("causes and functions", shown, groups)
    equal("wakers", wakers, wakers_of(made))
    return "%d threads, %d groups" % (len(threads), len(groups))


def check_selection(facts, begin, path, *words):
    """The waits of a selection are those of offcpu --time, with the parts of intervals that reach beyond it."""
    times = [begin + time for time in facts["state"]["time"]]
    check_sums(facts["waits"], offcpu(path, "--time", "-".join("%d.%09d" % divmod(time, 10 ** 9) for time in times), *words))


def check_waits(result, *words_and_path):
    *words, path = words_and_path
    must_be_quiet(result)
    facts, made = result["facts"], offcpu(path, *words)
    page = facts["start"]["waits"]
    summary = check_sums(page, made)
    check_selection(facts["dragged"], made["begin_ns"], path, *words)
    check_selection(facts["shown"], made["begin_ns"], path, *words)
    check_lines(facts["start"], made)
    blocked = [row for row in page["groups"] if row["cause"] != "runnable"]
    first = "%.1f %% %s in %s" % (100 * blocked[0]["closed"] / sum(row["closed"] for row in blocked), blocked[0]["cause"], blocked[0]["name"])
    harness.must(first in facts["start"]["answer"] and "__schedule" not in facts["start"]["answer"], "%s is not in: %s" % (first, facts["start"]["answer"]))
    equal("panel", (facts["start"]["state"]["panel"], facts["again"]["state"]["panel"]), ("waits", "waits"))
    harness.must(len(facts["thread"]["state"]["threads"]) == 1 and len(facts["thread"]["waitRows"]) < len(facts["start"]["waitRows"]), "a thread selects nothing")
    harness.must(facts["shown"]["state"]["time"] and not facts["start"]["state"]["time"], "a wait is not shown in the timeline")
    harness.must(facts["start"]["answer"].startswith("No CPU samples: perfray record -e cpu-clock --off-cpu records them with the waits. All threads waited "), facts["start"]["answer"])
    harness.must("switches" in facts["again"]["status"], facts["again"]["status"])
    harness.must(all(parts and "NaN" not in text for text, parts in facts["start"]["bars"]), "a thread without a bar: %s" % facts["start"]["bars"])
    return summary


# --- The recorded command.

MS = 1000000
ID_INDEX = 69
COMMAND_STEPS = [["facts", "start"], ["click", ".chips > .option"], ["facts", "command"]]


def comm(tid, name, time, executes):
    return made_of.record(made_of.COMM, struct.pack("<II16sIIQ", tid, tid, name, tid, tid, time), 1 << 13 if executes else 0)


def sampled(tid, name, at, count):
    """`count` samples of a thread in the object `name`, which is mapped at `at`."""
    made = made_of.record(made_of.MMAP, struct.pack("<IIQQQ16sIIQ", tid, tid, at, 0x1000, 0, name, tid, tid, 2 * MS))
    return made + b"".join(made_of.record(made_of.SAMPLE, struct.pack("<QIIQQ", at + 16, tid, tid, 3 * MS + i, MS)) for i in range(count))


def write_command(folder, name="command", samples=b""):
    """Thread 7 waits longest; the command, 8, and its child 9 are recorded with the whole machine."""
    path = os.path.join(folder, name + ".data")
    records = made_of.record(ID_INDEX, struct.pack("<QQQQq", 1, 0, 0, 0, -1)) + comm(7, b"other", 0, False) + comm(8, b"perf-exec", 0, False)
    records += comm(8, b"program", MS, True) + made_of.record(made_of.FORK, struct.pack("<IIIIQIIQ", 9, 8, 9, 8, 2 * MS, 8, 8, 2 * MS))
    for tid, wait in ((7, 90), (8, 20), (9, 50)):
        records += made_of.switch(tid, 3 * MS, False) + made_of.switch(tid, 5 * MS, True) + made_of.switch(tid, (5 + wait) * MS, False)
    records += samples
    with open(path, "wb") as file:
        file.write(made_of.recording(records, flags=made_of.SWITCHES))
    return path


SAMPLES = sampled(7, b"/bin/other", 0x400000, 9) + sampled(8, b"/bin/program", 0x500000, 3) + sampled(9, b"/lib/child.so", 0x600000, 1)


def jobs(view, folder, words):
    """A job for a page of the recording that the words name, and one for a command recorded with the whole machine."""
    return [{"name": "waits", "file": view(folder, "waits", "--lines", *words), "steps": STEPS},
            {"name": "command", "file": view(folder, "command", write_command(folder)), "steps": COMMAND_STEPS},
            {"name": "sampled command", "file": view(folder, "sampled", write_command(folder, "sampled", SAMPLES)), "steps": [["facts", "start"]]}]


def check_sampled_command(result):
    """The first sentence is about the recorded command, although another thread has more samples; it names its scope."""
    must_be_quiet(result)
    equal("answer", result["facts"]["start"]["answer"], "Threads of the recorded command: 75.0 % in [program], 25.0 % in [child.so] itself. Threads of the recorded command waited 70 ms: "
          "100.0 % without a recorded reason (program 9 and 1 other thread). Reasons need call chains (record --off-cpu).")
    equal("panel", result["facts"]["start"]["state"]["panel"], "flame")
    return "2 functions"


def check_command(result):
    """Threads of the recorded command come first in the timeline and in the panel, under a heading that chooses them."""
    must_be_quiet(result)
    start, command = result["facts"]["start"], result["facts"]["command"]
    names = [label.split(",")[0] for label in start["labels"]]
    equal("timeline", sorted(names[:3]) + names[3:], ["program", "program", "recorded command: choose the 2 threads", "other threads: choose the 1 thread", "other"])
    equal("heading", names[0], "recorded command: choose the 2 threads")
    equal("panel", [row["tid"] for row in start["waits"]["threads"]], [9, 8, 7])
    equal("chosen", sorted(command["threads"][i] for i in command["state"]["threads"]), ["8/8", "9/9"])
    harness.must("Threads of the recorded command waited 70 ms" in start["answer"], start["answer"])
    return "2 of 3 threads"
