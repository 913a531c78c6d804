#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_contexts.py - tests programs whose signal handlers switch contexts, run on their own stacks or leave by siglongjmp.

usage: run_contexts.py LIBRARY INCLUDE [WORD...]

programs/recorded_contexts.c prints how often its modes call leaf. The program must end as it would without the recorder, and each enter and exit must
be in the trace or counted as lost. Environment: PERFRAY, whose `info` must report the losses. With WORDs only the tests whose names contain one of them
are run.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
from recorded import Recorded

SOURCE = Path(__file__).resolve().parent / "programs/recorded_contexts.c"
OPTIONS = "keep=first size=64M"
# mode, COUNT, WORD, buffer, number of hooks that each COUNT may leave unfinished, minimum share of calls in the trace
CASES = (
    ("scheduler", 30, "mapped", "64k", 0, 0.25), ("scheduler", 30, "thread", "64k", 0, 0.25), ("scheduler", 30, "locals", "64k", 0, 0.25),
    # small buffers: many hooks are interrupted while they take a new buffer
    ("scheduler", 30, "mapped", "4k", 0, 0.25),
    ("moved", 50, "", "64k", 0, 0.25), ("moved", 50, "", "4k", 0, 0.25),
    ("dropped", 10, "", "64k", 1, 0.9), ("jumps", 10, "near", "64k", 1, 0.9), ("jumps", 10, "deep", "64k", 1, 0.5),
    ("handler_stack", 25, "armed", "64k", 0, 0.5), ("handler_stack", 25, "armed_local", "64k", 0, 0.5),
    ("handler_stack", 25, "disarmed", "64k", 0, 0.5), ("handler_stack", 25, "disarmed_local", "64k", 0, 0.5))


def differences_of_perfray(trace, lost):
    """perfray reports this number of lost calls, and finds no error."""
    info = harness.perfray("info", "--format=json", str(trace))
    verify = harness.perfray("verify", str(trace), text=True)
    reported = json.loads(info.stdout)["quality"].get("lost_calls", 0)
    return ([] if reported == lost else [f"perfray info reports {reported} lost calls, not {lost}"]) + (verify.stdout.splitlines() if verify.returncode else [])


def judge(done, trace, unfinished, share):
    if done.returncode != 0 or done.stderr:
        return [f"status {done.returncode}: {done.stderr}"]
    recorded = Recorded(trace)
    # a hook that is left for good may have begun a buffer whose byte count is still 0
    gaps = recorded.trace.damage if unfinished else recorded.gaps()
    wrong = [f"damage at {at}, {size} bytes: {why}" for at, size, why in gaps]
    calls, made = recorded.calls(("enter", "exit")), 2 * int(done.stdout)
    found, lost = calls.get("leaf", 0), recorded.lost[0]
    # a hook that is left for good may or may not have written its record; its call has begun, but is not counted as made
    if not made - unfinished <= found + lost <= made + unfinished or len(calls) != 1 or any(recorded.lost[1:]):
        wrong.append(f"{dict(calls)} in the trace and lost {recorded.lost}, of {made}")
    if found < made * share:
        wrong.append(f"only {found} of {made} are in the trace, lost {lost}")
    return wrong + (differences_of_perfray(trace, sum(recorded.lost)) if "PERFRAY" in os.environ else [])


def main(library, include, *words):
    library = Path(library).resolve()
    with harness.scratch("contexts") as folder:
        program, trace = Path(folder) / "contexts", Path(folder) / "trace"
        subprocess.run(["gcc", "-O1", "-finstrument-functions", "-pthread", f"-I{include}", str(SOURCE), "-o", str(program), str(library),
                        f"-Wl,-rpath,{library.parent}"], check=True)
        for mode, count, word, size, unfinished, share in CASES:
            name = "/".join(filter(None, (mode, word, size)))
            if words and not any(part in name for part in words):
                continue
            trace.unlink(missing_ok=True)
            environment = dict(os.environ, PERFRAY_RT=f"file={trace} {OPTIONS} buffer={size}")
            done = subprocess.run([str(program), mode, str(count), word], env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, timeout=120, check=False)
            wrong = judge(done, trace, 2 * unfinished * count, share)
            harness.result("contexts/" + name, wrong)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
