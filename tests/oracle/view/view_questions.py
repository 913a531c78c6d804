# SPDX-License-Identifier: Apache-2.0
"""Tests that a page answers a newcomer's questions: which thread is idle, in which thread does a function run, which calls were slow, what did a slow call do, is the recording complete?"""
import json
import os

import harness
from view_exercise import equal, must_be_quiet

LEAST = 300000  # ns


def jobs(built, trace, dwarf):
    """`built` has samples, calls and an idle thread, `dwarf` is incomplete, `trace` only has calls."""
    ask = [["facts", "start"], ["tab", "Table"], ["click", ".functions:not(.compact) tr[data-func] td.name"], ["facts", "chosen"],
           ["key", "/"], ["type", "function"], ["key", "Shift+Enter"], ["facts", "searched"]]
    slow = [["tab", "Latency"], ["click", ".latencies tbody .name .link"], ["facts", "function"], ["click", ".at-least input"], ["type", "%d ns" % LEAST], ["key", "Enter"],
            ["facts", "slow"], ["click", ".at-least input"], ["key", "Control+a"], ["type", "soon"], ["key", "Enter"], ["facts", "wrong"], ["click", ".slowest button"], ["facts", "call"], ["key", "o"], ["key", "o"], ["facts", "colours"]]
    return [{"name": "questions", "file": built, "steps": ask}, {"name": "slow calls", "file": trace, "steps": [["facts", "start"], *slow]},
            {"name": "notes", "file": dwarf, "steps": [["facts", "start"], ["click", "#losses"], ["facts", "loss"]]}]


def check_threads(result):
    must_be_quiet(result)
    facts = result["facts"]
    listed = facts["start"]["listed"]
    equal("shares of threads", sorted(row.split()[0] for row in listed[:-1]) + [listed[-1].split()[0]], ["worker-0", "worker-1", "worker-2", "mailer"])
    harness.must(listed[-1].endswith("idle") and not any(row.endswith("idle") for row in listed[:-1]), "%s" % listed)
    equal("label of the idle thread", [label for label in facts["start"]["labels"] if "idle" in label], ["mailer, pid 100, tid 103, idle: no samples"])
    harness.must(facts["chosen"]["listed"] and not any("mailer" in row for row in facts["chosen"]["listed"]), "%s" % facts["chosen"]["listed"])
    searched = facts["searched"]
    harness.must(searched["chosenRow"] and searched["chosenRow"] != facts["chosen"]["chosenRow"], "the function that the search chose is not in view: %s" % searched["chosenRow"])
    return "%d threads" % len(listed)


def durations_of(trace, words, name):
    """Durations in ns of the calls of a function, longest first."""
    done = harness.perfray("sql", "--format=jsonl", "-q", "SELECT dur FROM call JOIN symbol ON symbol.id = symbol_id WHERE name = :name ORDER BY dur DESC", "--param", "name=" + name, *words, trace)
    return [json.loads(line)["dur"] for line in done.stdout.decode().splitlines()]


def check_slow(result, trace, words):
    must_be_quiet(result)
    facts = result["facts"]
    name = facts["function"]["heading"]
    durations = durations_of(trace, words, name)
    slow = [duration for duration in durations if duration >= LEAST]
    harness.must(0 < len(slow) < len(durations), "%d of %d calls of %s" % (len(slow), len(durations), name))
    harness.must(any("%d call" % len(slow) in chip for chip in facts["slow"]["chips"]), "%s, %d calls" % (facts["slow"]["chips"], len(slow)))
    harness.must("soon is not a duration" in facts["wrong"]["status"] and facts["wrong"]["chips"] == facts["slow"]["chips"], facts["wrong"]["status"])
    call = facts["call"]
    harness.must(call["state"]["time"] and len(call["state"]["threads"]) == 1 and name in call["status"], "%s %s" % (call["state"], call["status"]))
    equal("weight of the call", call["total"], slow[0])
    equal("colour", (facts["start"]["state"]["colour"], facts["colours"]["state"]["colour"]), ("name", "name"))
    return "%d of %d calls" % (len(slow), len(durations))


def check_notes(result, recording):
    """The page shows the notes that the command prints while it makes the page."""
    must_be_quiet(result)
    with harness.scratch("notes") as folder:
        done = harness.perfray("view", "--no-cache", "-o", os.path.join(folder, "x.html"), recording)
    said = [line.split(": ", 2)[2] for line in done.stderr.decode().splitlines() if line.count(": ") > 1]
    harness.must(said and all(sentence in result["facts"]["start"]["quality"] for sentence in said), "said %s, page %s" % (said, result["facts"]["start"]["quality"]))
    harness.must(result["facts"]["loss"]["dialogs"] == ["Quality of the recording"], "no dialog")
    return said[0]
