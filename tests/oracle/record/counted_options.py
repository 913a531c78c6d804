# SPDX-License-Identifier: Apache-2.0
"""Compares single options of record, and the events that list prints, with the installed perf."""
import concurrent.futures
import json
import os
import subprocess

import harness
from harness import Wrong
from counted_recorders import must_be_clean, record
from run_record import PERFRAY, Skip, events, features, must, must_be_root, run, text


# --- options, one by one ----------------------------------------------------------------------------------------------

OPTIONS = """
-e cpu-clock:k
-e cpu-clock:uD,page-faults:kI
-e {cpu-clock:u,page-faults:k}:S
-e sched:sched_process_exit -F 100
-e cpu-clock/call-graph=dwarf,stack-size=4096/,page-faults/call-graph=fp,max-stack=5/
-e cpu-clock/overwrite/
-a -F 100 --call-graph dwarf,1024
-a -P -e page-faults -c 10
--namespaces --all-cgroups --switch-events
-k boottime
--user-regs=ax,sp --intr-regs=ip
-D 10 -g
-s -n
-r 1 -e page-faults
--tail-synthesize -a -e page-faults
--running-time -e {cpu-clock,page-faults}:S
-g --kernel-callchains
-g --user-callchains --no-bpf-event
--group -e cpu-clock,page-faults
-e sched:sched_switch --exclude-perf
--buildid-all --synth no --timestamp-boundary
-a -e page-faults --synth task
"""

# Only with PERFRAY_LONG.
MORE_OPTIONS = """
-e page-faults -F 100
-e faults -c 1
-e cpu-clock:uH
-e cpu-clock:kG
-e cpu-clock:pp
-e cpu-clock:P
-e task-clock:S,page-faults
-e {cpu-clock,page-faults,cs}:u
-e cycles:u
-e sched:sched_process_ex*
-e sched:sched_switch --filter prev_pid==1
-e cpu-clock/period=20000/
-e cpu-clock/freq=500,name=foo/
-e cpu-clock/no-inherit/,page-faults/time=0/
-e software/config=0/
-e bpf-output/no-inherit,name=x/
-F max -n
-C 0 -F 100 -g -d
-a -F 100 --all-user
-a -e page-faults:u -c 1
--per-thread -T
-i -m 16
-W --phys-data -R
--data-page-size --code-page-size --sample-cpu
--buildid-mmap
--no-buildid
--overwrite -g
-D -1
-P -c 100000
--transaction --sample-identifier
--all-kernel
--max-size 10M
--no-buffering
"""


def compare_options(folder, number, options):
    """Both files have the same events with the same attrs, and the same features."""
    found = {}
    for tool in ("perf", "ours"):
        out = os.path.join(folder, "%d.%s" % (number, tool))
        record(tool, out, options, ["true"])
        found[tool] = (events(out), features(out))
    must(found["perf"][0] == found["ours"][0], "events:\n%s\n%s" % tuple("\n".join(found[t][0]) for t in found))
    must(found["perf"][1] == found["ours"][1], "missing features: perf %s, ours %s" % tuple(found[t][1] for t in found))
    out = os.path.join(folder, "%d.ours" % number)
    must_be_clean(out)
    warned = run("perf", "report", "--stdio", "-i", out).stderr
    must(not warned or b"has no samples" in warned, "perf says of ours: %s" % warned.decode("utf-8", "replace")[:300])


def all_options(folder):
    must_be_root()
    def one(numbered):
        number, line = numbered
        try:
            return compare_options(folder, number, line.split())
        except Skip as reason:
            return "skip record/options %s: %s" % (line, reason)
        except (Wrong, subprocess.TimeoutExpired) as problem:
            return Wrong("%s: %s" % (line, problem))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        lines = OPTIONS + (MORE_OPTIONS if harness.LONG else "")
        results = list(pool.map(one, enumerate(line for line in lines.split("\n") if line)))
    for result in results:
        if isinstance(result, str):
            print(result)
    wrong = [str(result) for result in results if isinstance(result, Wrong)]
    must(not wrong, "\n    ".join(wrong))


def listed(folder):
    """Tests the events that perf lists: events that perfray lists as possible can be recorded, and all others are rejected."""
    must_be_root()
    rows = [row.strip() for row in text("perf", "list", "--no-desc").splitlines()]
    theirs = {kind: {row.split()[0] for row in rows if row.endswith(mark)} for kind, mark in
              (("software", "[Software event]"), ("pmu", "[Kernel PMU event]"), ("tracepoint", "[Tracepoint event]"))}
    possible, others = [], []
    for kind, names in theirs.items():
        own = {}
        for row in text(PERFRAY, "list", "--kind", kind, "--format", "jsonl").splitlines():
            found = json.loads(row)
            own[found["event"]] = found.get("reason")
        must(own.keys() == names, "%s: perf alone %s, ours alone %s" % (kind, sorted(names - own.keys())[:5],
                                                                       sorted(own.keys() - names)[:5]))
        some = sorted(own)[:20]
        possible += [name for name in some if not own[name]]
        others += [name for name in some if own[name]]
    must(possible, "nothing is possible")
    faults = run(PERFRAY, "list", "faults")
    must(faults.returncode == 0 and faults.stdout == b"software:\n  page-faults or faults\n", "%r" % (faults.stdout,))
    vain = [(["nosuch"], b"no event matches 'nosuch'")]
    vain += [(["--possible", name], b"can be recorded here") for name in others[:1]]
    for words, says in vain:
        none = run(PERFRAY, "list", *words)
        must(none.returncode == 1 and not none.stdout and says in none.stderr, "%s: %r" % (words, none.stderr))
    record("ours", os.path.join(folder, "listed.data"), ["-e", ",".join(possible)], ["true"])
    for name in others:
        done = run(PERFRAY, "record", "-o", os.path.join(folder, "refused.data"), "-e", name, "true")
        must(done.returncode in (2, 6), "%s is refused by list, and recorded" % name)
