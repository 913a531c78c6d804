#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_transforms.py - compares the viewer's trees with lists of frames in Python, after steps on random stacks.

usage: run_transforms.py

Here a step takes one stack, a list of frames from the outermost on, and returns another stack, or None if the stack is dropped. The viewer works on a merged
tree instead, so the two share no code.
"""
import itertools
import json
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = 300
LONG_CASES = 10000
NAMES = ["a@p", "b@p", "c@p", "e@lib", "g@lib", "i@lib'", "j@p'", "k1@[kernel]", "k2@[kernel]"]
SECONDS = 300


def name_of(frame):
    return frame.split("@")[0]


def object_of(frame):
    return frame.rstrip("'").split("@")[1]


def from_first(stack, holds):
    found = [i for i, frame in enumerate(stack) if holds(frame)]
    return stack[found[0]:] if found else None


def without(stack, holds):
    return [frame for i, frame in enumerate(stack) if not holds(i, frame)]


def one_frame(stack, holds, name):
    made = []
    for inside, frames in itertools.groupby(stack, holds):
        made += [name] if inside else list(frames)
    return made


def has_path(stack, path):
    return [name_of(frame) for frame in stack[:len(path)]] == path


def recursion(stack, name):
    at = [i for i, frame in enumerate(stack) if name_of(frame) == name]
    return stack[:at[0] + 1] + stack[at[-1] + 1:] if at else stack


def direct_recursion(stack, name):
    return [frame for i, frame in enumerate(stack) if not (i and name_of(frame) == name == name_of(stack[i - 1]))]


def collapse(stack, name):
    at = [i for i, frame in enumerate(stack) if name_of(frame) == name]
    return stack[:at[0] + 1] if at else stack


STEPS = {
    "f": lambda stack, name: from_first(stack, lambda frame: name_of(frame) == name),
    "F": lambda stack, path: stack[len(path) - 1:] if has_path(stack, path) else None,
    "S": lambda stack, name: stack if name_of(stack[-1]) == name else None,
    "m": lambda stack, name: without(stack, lambda i, frame: name_of(frame) == name),
    "M": lambda stack, path: without(stack, lambda i, frame: i == len(path) - 1) if has_path(stack, path) else stack,
    "d": lambda stack, name: None if name in map(name_of, stack) else stack,
    "c": collapse,
    "C": lambda stack, wanted: one_frame(stack, lambda frame: object_of(frame) == wanted, "[%s]@%s" % (wanted, wanted)),
    "r": recursion,
    "R": direct_recursion,
    "k": lambda stack, _: one_frame(stack, lambda frame: frame.endswith("[kernel]"), "[kernel]@[kernel]"),
    "i": lambda stack, _: without(stack, lambda i, frame: frame.endswith("'")),
    "+": lambda stack, text: stack if any(text in name_of(frame) for frame in stack) else None,
    "-": lambda stack, text: None if any(text in name_of(frame) for frame in stack) else stack,
}


def apply_steps(stacks, steps):
    """Returns [(frames, weight)] after the steps, and the weight that they dropped."""
    dropped = 0
    for key, what in steps:
        changed = [(STEPS[key](frames, what), weight) for frames, weight in stacks]
        dropped += sum(weight for frames, weight in changed if not frames)
        stacks = [(frames, weight) for frames, weight in changed if frames]
    return stacks, dropped


def expected(case):
    stacks, dropped = apply_steps([(list(frames), weight) for frames, weight in case["stacks"]], case["steps"])
    folded, selves, totals = {}, {}, {}
    for frames, weight in stacks:
        names = [name_of(frame) for frame in frames]
        folded[" ".join(names)] = folded.get(" ".join(names), 0) + weight
        selves[names[-1]] = selves.get(names[-1], 0) + weight
        for name in set(names):
            totals[name] = totals.get(name, 0) + weight
    return {"folded": sorted("%s = %d" % pair for pair in folded.items()), "dropped": dropped,
            "table": sorted([name, selves.get(name, 0), total] for name, total in totals.items())}


def random_step(chance, stacks):
    key = chance.choice(sorted(STEPS))
    if key in "FM":
        frames = chance.choice(stacks)[0]
        return [key, [name_of(frame) for frame in frames[:chance.randrange(1, len(frames) + 1)]]]
    if key == "C":
        return [key, chance.choice(["p", "lib"])]
    if key in "ki":
        return [key, None]
    return [key, name_of(chance.choice(NAMES)) if key not in "+-" else chance.choice(["k", "a", "1", "zz"])]


def random_case(chance):
    names = NAMES[:chance.randrange(2, len(NAMES) + 1)]
    stacks = [([chance.choice(names) for _ in range(chance.randrange(1, 9))], chance.randrange(1, 100)) for _ in range(chance.randrange(1, 25))]
    case = {"stacks": stacks, "steps": []}
    for _ in range(chance.randrange(1, 5)):
        left = apply_steps(stacks, case["steps"])[0]
        if left:
            case["steps"].append(random_step(chance, left))
    return case


def compare(folder, cases):
    path = os.path.join(folder, "cases.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(cases, file)
    done = subprocess.run(["node", os.path.join(HERE, "transform_random.mjs"), path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=SECONDS, check=False)
    harness.must(done.returncode == 0, done.stderr.decode("utf-8", "replace")[-1000:])
    for case, got in zip(cases, json.loads(done.stdout)):
        wanted = expected(case)
        wrong = [key for key in wanted if wanted[key] != got[key]]
        harness.must(not wrong, "steps %s of %s: %s is %s, not %s" % (case["steps"], case["stacks"], wrong, [got[key] for key in wrong], [wanted[key] for key in wrong]))
    counts = {key: sum(step[0] == key for case in cases for step in case["steps"]) for key in STEPS}
    harness.must(all(counts.values()), "steps that no case has: %s" % re.sub(r"[{}]", "", str(counts)))
    return "%d cases, %d steps" % (len(cases), sum(counts.values()))


def main():
    if not harness.installed("node"):
        return harness.skip("web/random steps", "node is not installed")
    chance = random.Random(11)
    cases = [random_case(chance) for _ in range(LONG_CASES if os.environ.get("PERFRAY_LONG") else CASES)]
    with harness.scratch("transforms") as folder:
        harness.attempt("web/random steps", compare, folder, cases)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
