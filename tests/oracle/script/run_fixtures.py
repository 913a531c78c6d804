#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_fixtures.py - checks that perfray script prints the same as perf script, for the recordings in the source tree.

usage: run_fixtures.py [NAME...]

Environment: PERFRAY, the command; PERFRAY_CORPUS, the corpus, optional. Every recording of tests/fixtures/recorded and
those of CORPUS are dumped (-D and --dump-unsorted-raw-trace: each record with its bytes and, below a sample, its thread
and object, between the lines of the script), and read with the options of ROWS. Each byte must equal perf's; if a line
differs, a rule of tests/oracle/corpus/script_rules.py must explain the difference. Names of functions are left out,
because most of these programs are not installed. Recordings that perf does not read are counted.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
import fresh
from fresh import Skip, Wrong

RECORDED = os.path.join(fresh.HERE, "..", "..", "fixtures", "recorded")
CORPUS = ("quipper/quipper.ctx_switch_namespaces-4.14", "quipper/quipper.group_desc-4.14", "quipper/quipper.armv7-3.4",
          "recorded/rec61.group_S", "recorded/rec61.clk_mono", "recorded/rec61.cg_fp", "recorded/rec61.dir_threads_cpu")
DUMPS = ("-D", "--dump-unsorted-raw-trace")
FORM = ("-F", "comm,tid,time,event")
PLACES = ("-F", "comm,tid,time,event,ip", "-G")

BEGIN, EXEC = "sched:sched_process_fork", "sched:sched_process_exec"
TRACE = (
    ("--switch-on", BEGIN),
    ("--switch-on", BEGIN, "--show-on-off-events"),
    ("--switch-on", BEGIN, "--switch-off", EXEC),
    ("--switch-on", EXEC, "--switch-off", BEGIN),
    ("--switch-on", EXEC, "--switch-off", BEGIN, "--show-on-off-events"),
    ("--switch-on", BEGIN, "--switch-off", BEGIN),
    ("--switch-on", BEGIN, "--show-task-events"),
    ("--switch-on", BEGIN, "--tid", "11825"),
    ("--switch-on", BEGIN, "--time", "7226.77,"),
    ("--switch-on", EXEC, "-c", "perf-ex"),
    ("--show-on-off-events",),
    ("-D", "--switch-on", BEGIN),
)


def recorded(folder, name):
    """The recording under its own name, in a file that belongs to the user of this script."""
    fresh.need("perf")
    path = os.path.join(folder, os.path.basename(name))
    if not os.path.lexists(path):
        os.symlink(os.path.abspath(name), path)
    return os.path.basename(name)


EXECUTED = re.compile(r" \.{6} dso: ")


def explained(theirs, ours):
    """Whether perf shows an object below a sample that only the program image before an exec had (exec-ends-the-old-maps)."""
    return bool(theirs and ours and EXECUTED.match(theirs) and ours == " ...... dso: <not found>")


def compare(folder, name, options):
    """(lines, lines that a rule explains); None: perf does not read the recording."""
    done = fresh.run(["perf", "script", "--no-inline", "-f", "-i", name, *options], folder)
    if done.returncode != 0:
        return None
    theirs = done.stdout.decode("utf-8", "surrogateescape")
    result = fresh.Comparison(theirs, fresh.our_script(folder, name, ("--no-symbols", *options)))
    left = [pair for pair in result.unexplained if not explained(*pair)]
    known = len(result.unexplained) - len(left) + sum(result.rules.values())
    result.unexplained = left
    result.check("%s %s" % (name, " ".join(options)))
    return result.lines, known


def summed(folder, jobs):
    """Figures of [(recording, options)]."""
    found = [compare(folder, recorded(folder, name), options) for name, options in jobs]
    read = [one for one in found if one]
    if not read:
        raise Skip("perf reads none of them")
    return "%d texts of %d lines, %d explained, %d that perf does not read" % (
        len(read), sum(lines for lines, _ in read), sum(known for _, known in read), len(found) - len(read))


def all_recorded():
    return [os.path.join(RECORDED, name) for name in sorted(os.listdir(RECORDED)) if name.endswith(".data")]


def dumps(names, form):
    """Each recording is dumped in both ways. A folder is dumped only with -D, because without times perf orders its
    files as the folder lists them (files-of-a-directory)."""
    return [(name, (*form, dump)) for name in names for dump in DUMPS[:1 if os.path.isdir(name) else 2]]


def check_dumps(folder):
    return summed(folder, dumps(all_recorded(), PLACES))


def check_corpus_dumps(folder):
    root = harness.corpus()
    if not root:
        raise Skip("PERFRAY_CORPUS names no corpus")
    return summed(folder, dumps([os.path.join(root, "perf", name) for name in CORPUS], FORM))


def check_switches(folder):
    return summed(folder, [(os.path.join(RECORDED, "tracepoints.data"), (*FORM, *options)) for options in TRACE])


def check_switch_off_alone(folder):
    """A bug of perf: --switch-off without --switch-on leaves out the event itself and stops nothing."""
    name = recorded(folder, os.path.join(RECORDED, "tracepoints.data"))
    whole, theirs = (fresh.perf_script(folder, name, (*FORM, *options)).split("\n") for options in ((), ("--switch-off", BEGIN)))
    ours = fresh.our_script(folder, name, (*FORM, "--switch-off", BEGIN)).split("\n")[:-1]
    first = next(number for number, line in enumerate(whole) if BEGIN in line)
    if theirs != whole[:first] + whole[first + 1:]:
        raise Wrong("perf does something else")
    if ours != whole[:first]:
        raise Wrong("we do not stop there")
    return "%d lines up to it, %d in perf" % (first, len(theirs) - 1)


CHECKS = {
    "dumps": check_dumps,
    "dumps_of_the_corpus": check_corpus_dumps,
    "switches": check_switches,
    "fault_switch_off_alone": check_switch_off_alone,
}


def main(names):
    return fresh.attempt_all("script/fixtures", CHECKS, names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
