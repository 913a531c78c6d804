# SPDX-License-Identifier: Apache-2.0
"""Tests that the waits of a page equal those of perfray offcpu, to the nanosecond."""
import json

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


def check_waits(result, path, *words):
    must_be_quiet(result)
    facts, made = result["facts"], offcpu(path, *words)
    page = facts["start"]["waits"]
    summary = check_sums(page, made)
    check_selection(facts["dragged"], made["begin_ns"], path, *words)
    check_selection(facts["shown"], made["begin_ns"], path, *words)
    blocked = [row for row in page["groups"] if row["cause"] != "runnable"]
    first = "%.1f %% %s in %s" % (100 * blocked[0]["closed"] / sum(row["closed"] for row in blocked), blocked[0]["cause"], blocked[0]["name"])
    harness.must(first in facts["start"]["answer"] and "__schedule" not in facts["start"]["answer"], "%s is not in: %s" % (first, facts["start"]["answer"]))
    equal("panel", (facts["start"]["state"]["panel"], facts["again"]["state"]["panel"]), ("waits", "waits"))
    harness.must(len(facts["thread"]["state"]["threads"]) == 1 and len(facts["thread"]["waitRows"]) < len(facts["start"]["waitRows"]), "a thread selects nothing")
    harness.must(facts["shown"]["state"]["time"] and not facts["start"]["state"]["time"], "a wait is not shown in the timeline")
    harness.must(all(parts and "NaN" not in text for text, parts in facts["start"]["bars"]), "a thread without a bar: %s" % facts["start"]["bars"])
    return summary
