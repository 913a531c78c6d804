#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_json.py - what the command prints as JSON fits docs/json/*.schema.json.

Environment: PERFRAY, the command. Every recording of tests/fixtures/recorded goes through `info`, `report`, `dump`, `verify` and
`script`, every trace of tests/fixtures/xray through `info`, `report`, `latency`, `dump`, `verify` and `script`; of lines at most five of each kind are looked at, since all of them take minutes. Prints `ok NAME`, `not ok NAME`, or
`skip NAME reason` where python3-jsonschema is not installed.
"""
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

try:
    import jsonschema
except ImportError:
    jsonschema = None

ROOT = Path(__file__).resolve().parent.parent.parent
RECORDINGS = ROOT / "tests" / "fixtures" / "recorded"
TRACES = ROOT / "tests" / "fixtures" / "xray"
OF_TRACES = ("info", "dump", "script", "report", "verify", "latency", "latency of callers", "latency of threads")
OF_TRACES_ALONE = OF_TRACES[5:]
EACH = 5
VERBS = {
    "info": ["info", "--format=json"],
    "report": ["report", "--format=json", "--no-symbols"],
    "report -g": ["report", "-g", "--format=json", "--children", "--no-symbols"],
    "symbols": ["symbols", "--format=json"],
    "latency": ["latency", "--format=json"],
    "latency of callers": ["latency", "--by=caller", "--histogram", "--format=json"],
    "latency of threads": ["latency", "--by=thread", "--ticks", "--format=json"],
    "verify": ["verify", "--notes", "--format=json"],
    "dump": ["dump", "--format=jsonl"],
    "script": ["script", "--format=json"],
}
# More records, which traces do not have.
MORE = {
    "script": ["--no-symbols", "--show-task-events", "--show-mmap-events", "--show-lost-events", "--show-switch-events",
               "--show-namespace-events", "--show-cgroup-events", "--show-bpf-events"],
}
# What names functions of traces.
NAMED = {verb: ["--instr-map=%s" % (ROOT / "tests" / "fixtures" / "maps" / "functions.yaml")] for verb in ("dump", "script")}
# verbs that print JSON lines, and what kind a line is of
LINES = {
    "dump": lambda line: line.get("name"),
    "script": lambda line: (line.get("type"), line.get("event"), line.get("record", {}).get("name")),
}


def recordings(verb):
    traces = TRACES.iterdir() if verb in OF_TRACES else ()
    if verb == "script":  # a profile has no events
        traces = [path for path in traces if not path.name.startswith("profile")]
    recorded = () if verb in OF_TRACES_ALONE else RECORDINGS.iterdir()
    return sorted([path for path in recorded if path.suffix == ".data"] + list(traces))


def documents(verb, path):
    """What the command printed, as documents to check; a broken one raises ValueError."""
    more = NAMED if path.parent == TRACES else MORE
    done = subprocess.run([os.environ["PERFRAY"], *VERBS[verb], *more.get(verb, ()), str(path)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60, check=False)
    if done.returncode not in (0, 4) and not (verb == "verify" and done.returncode == 1):
        raise ValueError("exit status %d" % done.returncode)
    text = done.stdout.decode("utf-8")
    if verb not in LINES:
        return [json.loads(text)]
    seen, chosen = Counter(), []
    for line in text.splitlines():
        document = json.loads(line)
        name = LINES[verb](document)
        seen[name] += 1
        if seen[name] <= EACH:
            chosen.append(document)
    return chosen


def check(verb):
    """Problems of one verb over all recordings, and how many documents were looked at."""
    schema = json.loads((ROOT / "docs" / "json" / (verb.split()[0] + ".schema.json")).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    problems, count = [], 0
    for path in recordings(verb):
        try:
            for document in documents(verb, path):
                count += 1
                problems += ["%s: %s" % (path.name, error.message[:200]) for error in validator.iter_errors(document)]
        except ValueError as error:
            problems.append("%s: %s" % (path.name, error))
    return problems, count


def check_list():
    """The same of `list`, which reads no file: each line is looked at."""
    schema = json.loads((ROOT / "docs" / "json" / "list.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    done = subprocess.run([os.environ["PERFRAY"], "list", "--format=jsonl"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, timeout=60, check=False)
    rows = [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]
    problems = [error.message[:200] for row in rows for error in validator.iter_errors(row)]
    kinds = {row["kind"] for row in rows}
    if done.returncode or not {"hardware", "software", "cache", "raw", "breakpoint", "tracepoint"} <= kinds:
        problems.append("exit status %d, kinds %s" % (done.returncode, sorted(kinds)))
    print("%s json/list" % ("not ok" if problems else "ok"))
    for problem in problems[:20]:
        print("    " + problem)
    return not problems


def main():
    if jsonschema is None:
        for verb in [*VERBS, "list"]:
            print("skip json/%s python3-jsonschema is not installed" % verb)
        return 77
    failed = not check_list()
    for verb in VERBS:
        problems, count = check(verb)
        failed = failed or bool(problems) or count < len(recordings(verb))
        print("%s json/%s" % ("not ok" if problems or count < len(recordings(verb)) else "ok", verb))
        for problem in problems[:20]:
            print("    " + problem)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
