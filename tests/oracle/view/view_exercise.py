# SPDX-License-Identifier: Apache-2.0
"""Steps for every page, and checks that every recording must pass: sums, undo, options, keys, the address."""
import harness

DROPPING, KEEPING, PLAIN = "fSd", "mcrRC", "ki"
OPTION_KEYS = ("v", "v", "u", "u") + 12 * ("o",) + ("l", "l", "l", "t", "t", "t", "]", "[", "\\", "\\")


def step_keys():
    """Does each step with the heaviest function, then undoes it."""
    made = []
    for key in DROPPING + KEEPING + PLAIN:
        made += [["key", key], ["facts", "step " + key], ["key", "Backspace"]]
    return made


def exercise():
    steps = [["facts", "start"], ["tab", "Table"], ["facts", "table"], ["click", ".functions:not(.compact) tr[data-func] td.name"], ["facts", "chosen"]]
    steps += step_keys() + [["facts", "undone"], ["key", "Control+Shift+Z"], ["facts", "redone"], ["key", "Control+z"]]
    steps += [["tab", "Callers & callees"], ["facts", "sandwich"], ["tab", "Latency"], ["facts", "latency"], ["tab", "Flame graph"], ["click", ".boxes"]]
    steps += [["key", "ArrowDown"], ["key", "ArrowDown"], ["facts", "walked"], ["key", "ArrowRight"], ["key", "ArrowLeft"], ["key", "ArrowUp"], ["key", "ArrowDown"], ["key", "Enter"], ["key", "F"], ["facts", "step F"],
              ["key", "Backspace"], ["key", "M"], ["facts", "step M"], ["key", "Backspace"], ["key", "."], ["facts", "menu"], ["key", "Escape"], ["key", "0"]]
    steps += [["key", key] for key in OPTION_KEYS] + [["facts", "options"]]
    steps += [["key", "u"], ["facts", "counts"], ["key", "u"], ["key", "/"], ["type", "a"], ["facts", "found"], ["key", "Enter"], ["key", "Alt+Enter"], ["facts", "hidden"], ["key", "Escape"],
              ["key", "Control+z"], ["key", "/"], ["type", "/(/"], ["facts", "wrong"]] + 3 * [["key", "Escape"]]
    steps += [["key", "?"], ["facts", "help"], ["key", "Escape"], ["click", "#losses"], ["facts", "loss"], ["key", "Escape"], ["drag", 0.3, 0.7], ["facts", "timed"], ["reload"], ["facts", "reloaded"]]
    return steps


def on_threads(count):
    """Selects the busiest threads, one after the other."""
    return [step for i in range(count) for step in (["key", "]"], ["facts", "thread %d" % i])]


def must_be_quiet(result):
    harness.must(not result["messages"], "messages: %s" % result["messages"][:4])
    harness.must(len(set(result["requests"])) <= 1, "requests: %s" % result["requests"][:4])


def equal(what, got, wanted):
    harness.must(got == wanted, "%s: %s, not %s" % (what, got, wanted))


def check_sums(facts, label):
    made = facts[label]
    equal("%s: sum of selves" % label, sum(row["self"] for row in made["table"]), made["total"])


def check_steps(facts):
    start = facts["start"]
    chosen = next(row for row in start["table"] if row["name"] == facts["chosen"]["shown"][0]["name"] and row["total"] == facts["chosen"]["shown"][0]["weights"][1])
    left = {"f": chosen["total"], "S": chosen["self"], "d": start["total"] - chosen["total"]}
    for key in DROPPING + KEEPING + PLAIN:
        made = facts["step " + key]
        check_sums(facts, "step " + key)
        harness.must(made["total"] <= start["total"], "%s adds weight" % key)
        if key in left:
            equal("step %s" % key, made["total"], left[key])
        elif key in "crRCk":
            equal("step %s" % key, made["total"], start["total"])
        harness.must(made["chips"] or key not in "fSmdcrRki", "%s shows no chip" % key)


def check_exercise(result):
    facts = result["facts"]
    must_be_quiet(result)
    start = facts["start"]
    check_sums(facts, "start")
    shown = facts["table"]["shown"]
    equal("first row of the table", shown[0]["weights"][1], max(row["total"] for row in start["table"]))
    check_steps(facts)
    equal("undo", (facts["undone"]["total"], facts["undone"]["chips"]), (start["total"], []))
    harness.must(facts["redone"]["chips"], "redo does nothing")
    harness.must(facts["sandwich"]["state"]["panel"] == "sandwich" and facts["latency"]["state"]["panel"] == "latency", "tabs do nothing")
    harness.must(facts["walked"]["state"]["node"], "arrows choose nothing")
    harness.must(facts["menu"]["menu"] and facts["help"]["dialogs"] == ["Keys"] and facts["loss"]["dialogs"] == ["Quality of the recording"], "no menu or dialog")
    equal("options that were all set back", {**facts["options"]["state"], "node": 0, "func": 0}, {**start["state"], "node": 0, "func": 0})
    equal("theme", facts["options"]["theme"], "system")
    equal("counts", facts["counts"]["total"], start["rows"])
    harness.must("function" in facts["found"]["found"] and facts["wrong"]["found"], "search says nothing")
    searched = facts["hidden"]
    harness.must(searched["total"] <= start["total"] and searched["chips"], "Alt+Enter hides nothing")
    equal("state after a reload", facts["reloaded"]["state"], facts["timed"]["state"])
    equal("sums after a reload", (facts["reloaded"]["total"], facts["reloaded"]["rows"]), (facts["timed"]["total"], facts["timed"]["rows"]))
    return "%d functions, %d samples" % (len(start["table"]), start["rows"])
