#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_json.py - checks that the JSON output of the command conforms to docs/json/*.schema.json.

Environment: PERFRAY, the command. Every recording of tests/fixtures/recorded goes through `info`, `report`, `dump`, `verify` and
`script`, some through `diff`, every trace of tests/fixtures/xray through `info`, `report`, `latency`, `dump`, `verify` and `script`; of JSON lines at most five
of each kind are checked, because checking all takes minutes. Prints `ok NAME`, `not ok NAME`, or `skip NAME reason` if python3-jsonschema is not installed.
"""
import json
import os
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402

try:
    import jsonschema
except ImportError:
    jsonschema = None

ROOT = Path(harness.ROOT)
RECORDINGS = ROOT / "tests" / "fixtures" / "recorded"
TRACES = ROOT / "tests" / "fixtures" / "xray"
OF_TRACES = ("info", "dump", "script", "report", "verify", "latency", "latency of callers", "latency of threads", "diff")
OF_TRACES_ALONE = OF_TRACES[5:8]
EACH = 5
VERBS = {
    "info": ["info", "--format=json"],
    "report": ["report", "--format=json", "--no-symbols"],
    "report -g": ["report", "-g", "--format=json", "--children", "--no-symbols"],
    "symbols": ["symbols", "--format=json"],
    "latency": ["latency", "--format=json"],
    "latency of callers": ["latency", "--by=caller", "--histogram", "--format=json"],
    "latency of threads": ["latency", "--by=thread", "--ticks", "--format=json"],
    "offcpu": ["offcpu", "--format=json"],
    "offcpu locks": ["offcpu", "--locks", "--format=json"],
    "offcpu wakers": ["offcpu", "--wakers", "--format=json"],
    "diff": ["diff", "--no-symbols", "--rounds=100", "--format=json"],
    "verify": ["verify", "--notes", "--format=json"],
    "dump": ["dump", "--format=jsonl"],
    "script": ["script", "--format=json"],
}
# Options for more records, which traces do not have.
MORE = {
    "script": ["--no-symbols", "--show-task-events", "--show-mmap-events", "--show-lost-events", "--show-switch-events",
               "--show-namespace-events", "--show-cgroup-events", "--show-bpf-events"],
}
# Options that name functions of traces.
NAMED = {verb: ["--instr-map=%s" % (ROOT / "tests" / "fixtures" / "maps" / "functions.yaml")] for verb in ("dump", "script")}
# The base of a comparison, and the recording that is compared with it.
MORE["diff"], NAMED["diff"] = [RECORDINGS / "demo.data"], [TRACES / "fdr-v5.xray"]
COMPARED = ("demo.data", "threads.data", "chains.data", "exec.data", "period.data", "cpu-clock.data", "two-events.data", "fdr-v3.xray",
            "fdr-v5.xray", "basic-v3.xray")
# commands that print JSON lines, and the member that gives the kind of a line
LINES = {
    "dump": lambda line: line.get("name"),
    "script": lambda line: (line.get("type"), line.get("event"), line.get("record", {}).get("name")),
}


def recordings(verb):
    traces = TRACES.iterdir() if verb in OF_TRACES else ()
    if verb == "script":  # a profile has no events
        traces = [path for path in traces if not path.name.startswith("profile")]
    recorded = () if verb in OF_TRACES_ALONE else RECORDINGS.iterdir()
    if verb.startswith("offcpu"):  # for recordings with thread states
        recorded = [path for path in recorded if path.name in ("waits.data", "switch-events.data")]
    if verb == "diff":
        return sorted(path for path in (*recorded, *traces) if path.name in COMPARED)
    return sorted([path for path in recorded if path.suffix == ".data"] + list(traces))


def documents(verb, path):
    """The output of the command, as documents to check; an invalid one raises ValueError."""
    more = NAMED if path.parent == TRACES else MORE
    done = harness.perfray(*VERBS[verb], *more.get(verb, ()), path)
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
    """The problems of one command with all recordings, and the number of documents checked."""
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
    """The same for `list`, which reads no file: each line is checked."""
    schema = json.loads((ROOT / "docs" / "json" / "list.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    done = harness.perfray("list", "--format=jsonl")
    rows = [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]
    problems = [error.message[:200] for row in rows for error in validator.iter_errors(row)]
    kinds = {row["kind"] for row in rows}
    if done.returncode or not {"hardware", "software", "cache", "raw", "breakpoint", "tracepoint"} <= kinds:
        problems.append("exit status %d, kinds %s" % (done.returncode, sorted(kinds)))
    harness.result("json/list", problems)


def main():
    if jsonschema is None:
        for verb in [*VERBS, "list"]:
            harness.skip("json/" + verb, "python3-jsonschema is not installed")
        return harness.status()
    check_list()
    for verb in VERBS:
        problems, count = check(verb)
        harness.result("json/" + verb, problems or count < len(recordings(verb)))
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
