# SPDX-License-Identifier: Apache-2.0
"""Tests the controls of a page: focus, undo of a zoom, chips, messages, exports, and narrow pages."""
import harness
from view_exercise import equal, must_be_quiet

TABLE = ".functions:not(.compact)"
STATUS = ".status .message"
SHOW = ["click", ".wait-list tr:nth-child(1) button"]
POINTS = 12
BUILT = [["key", "3"], ["focus", "focus"], ["key", "End"], ["read", "end", TABLE], ["click", TABLE + " th[data-column=self] button"], ["read", "sorted", TABLE],
         ["key", "6"], ["read", "no code", STATUS], ["key", "x"], ["read", "exported", STATUS], ["tsv", "table"], ["key", "/"], ["type", "function"], ["key", "Control+Enter"], ["key", "Escape"], ["focus", "escaped"],
         ["read", "chip", ".chip button"], ["click", ".chip button"], ["facts", "removed"], ["key", "Escape"], ["key", "/"], ["type", "function"], ["key", "Alt+Enter"], ["facts", "hidden"], ["key", "Escape"], ["key", "Control+z"], ["key", "Escape"],
         ["key", "]"], ["key", "1"], ["svg", "picture"], ["focus", "graph"], ["key", "ArrowDown"], ["facts", "walked"]]
WAITS = [["focus", "start"], ["key", "7"], ["focus", "list"], ["key", "ArrowDown"], ["read", "more", ".more"], ["tsv", "waits"], ["facts", "bars"], SHOW, ["facts", "shown"], ["read", "whole", ".whole"], ["key", "Backspace"], ["facts", "undone"],
         SHOW, ["click", ".chip button"], ["facts", "removed"], SHOW, ["key", "1"], ["key", "0"], ["facts", "reset"]]
WAITS += [step for i in range(POINTS) for step in (["point", (i + 0.5) / POINTS, 60], ["read", "point %d" % i, STATUS])]
THREADS = [["facts", "two"], ["click", ".wait-threads tr[data-thread] button"], ["facts", "one"], ["click", ".wait-threads tr[data-thread] button"], ["facts", "all"]]
NARROW = [["key", "3"], ["read", "name", TABLE + " td.name"], ["key", "]"], ["read", "chip", ".chip button"]]


def jobs(built, demo, waits):
    """`built` has samples, calls and no code; `demo` has no calls; `waits` has states of threads."""
    return [{"name": "controls", "file": built, "width": 1100, "steps": BUILT}, {"name": "controls of waits", "file": waits, "steps": WAITS},
            {"name": "chosen threads", "file": waits, "hash": "#1&p=waits&th=0,1", "steps": THREADS}, {"name": "no calls", "file": demo, "steps": [["key", "4"], ["key", "x"], ["read", "status", STATUS]]},
            {"name": "controls narrow", "file": built, "width": 390, "height": 844, "steps": NARROW}]


def check_built(facts):
    harness.must(facts["focus"].startswith("tabpanel Table"), "key 3 focuses %s" % facts["focus"])
    harness.must(facts["end"]["scrollTop"] > 0 and facts["sorted"]["scrollTop"] == 0, "the table does not show the first rows after a sort")
    harness.must("perfray view --code" in facts["no code"]["text"], "key 6: %s" % facts["no code"]["text"])
    equal("x", facts["exported"]["text"], "Exported Table as perfray.tsv.")
    harness.must(facts["table"].startswith("self_"), facts["table"][:80])
    harness.must(facts["escaped"].startswith("tabpanel Table"), "Escape in the search focuses %s" % facts["escaped"])
    harness.must(facts["chip"]["reached"] and not facts["removed"]["chips"], "the button of a chip is covered: %s" % facts["removed"]["chips"])
    hidden = facts["hidden"]
    equal("found and counted after all stacks were removed", (hidden["found"].startswith("0 functions \u00b7 0 frames"), hidden["details"]["samples"], hidden["total"]), (True, "0", 0))
    harness.must(sum(row.endswith("idle") for row in hidden["listed"]) == 1, "threads: %s" % hidden["listed"])
    harness.must("worker-" in facts["picture"] and "double-click" not in facts["picture"], "the picture does not name the thread")
    harness.must(facts["graph"].startswith("tree") and facts["walked"]["state"]["node"], "key 1 focuses %s" % facts["graph"])


def check_waits(facts):
    harness.must("Largest waits" in facts["list"] and "Waiting threads" in facts["more"]["text"], "key 7 focuses %s" % facts["list"])
    head, first = (line.split("\t") for line in facts["waits"].splitlines()[:2])
    equal("threads of the TSV", len(first[head.index("thread_names")].split(", ")), int(first[head.index("threads")]))
    harness.must(all("%" in text for text, _ in facts["bars"]["bars"]), "%s" % facts["bars"]["bars"])
    harness.must(facts["shown"]["state"]["visible"] and facts["whole"]["reached"], "no wait is shown, or the button for the whole recording is covered")
    equal("visible ranges", [facts[label]["state"]["visible"] for label in ("undone", "removed", "reset")], [None] * 3)
    texts = [facts["point %d" % i]["text"] for i in range(POINTS)]
    harness.must(any("blocked: " in text for text in texts), "no reason: %s" % texts)


def check_threads(facts):
    equal("chosen threads", [len(facts[label]["state"]["threads"] or []) for label in ("two", "one", "all")], [2, 1, 0])


def check_empty(facts):
    equal("x without calls", facts["status"]["text"], "This view has nothing to export.")


def check_narrow(facts):
    name, chip = facts["name"], facts["chip"]
    harness.must(name["right"] - name["left"] >= 200 and name["right"] <= 390, "the name has %d pixels" % (name["right"] - name["left"]))
    harness.must(chip["right"] <= 390 and chip["reached"], "the button of the chip is at %d" % chip["right"])


CHECKS = {"controls": check_built, "controls of waits": check_waits, "chosen threads": check_threads, "no calls": check_empty, "controls narrow": check_narrow}


def checked(result, check):
    must_be_quiet(result)
    check(result["facts"])
    return "%d facts" % len(result["facts"])


def attempt_all(results):
    for name, check in CHECKS.items():
        harness.attempt("view/" + name, checked, results[name], check)
