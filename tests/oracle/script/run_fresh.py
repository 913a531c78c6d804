#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_fresh.py - compares perfray script with perf script for new recordings of the installed perf.

usage: run_fresh.py [NAME...]

Environment: PERFRAY, the command; PERFRAY_KEEP, a folder for the files of failed checks. Each recording of RECORDINGS is made in a temporary folder, and read
by `perf script --no-inline` and `perfray script --raw-names`, once without and once with the non-sample events that its row selects (if FINISHED_ROUND is among
them, both read in file order). If a line differs, a rule of tests/oracle/corpus/script_rules.py must explain it (docs/differences.md); the number of explained
lines is printed. If something is not installed or not permitted: `skip NAME reason`.
"""
import os
import re
import sys
from dataclasses import dataclass, replace

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
import fresh
from fresh import Skip, Wrong

STATE = ("--show-task-events", "--show-mmap-events", "--show-bpf-events", "--show-lost-events", "--show-text-poke-events",
         "--show-cgroup-events", "--show-namespace-events", "--show-switch-events")
ROUNDS = ("--show-round-events",)
BUSY = ("./busy", "60")
HERE = ("-e", "cpu-clock", "-F", "3999")


def perf_data(folder, options, words, output="perf.data"):
    fresh.record(folder, output, options, words)
    return output


@dataclass(frozen=True)
class Recording:
    """A recording made by `perf record OPTIONS -- WORDS`, and the options with which both commands read it."""
    options: tuple
    words: tuple = BUSY
    read: tuple = ()     # for every reading
    shows: tuple = STATE
    source: tuple = ("busy_loops.c", "busy", "-O1", "-g", "-fno-omit-frame-pointer")
    least: int = 3       # the minimum number of lines; fewer lines prove nothing


# In recordings of the whole system only the test's own programs are compared: other programs, and how perf names them (symbols inside symbols, objects that
# perf gives up), differ from run to run.
OURS = ("-c", "busy,storm,swapper")

RECORDINGS = {
    "chains": Recording((*HERE, "-g"), shows=STATE + ROUNDS),
    "dwarf": Recording((*HERE, "--call-graph", "dwarf"), read=("-G",)),
    "zstd": Recording((*HERE, "-g", "-z")),
    "folder": Recording((*HERE, "-a", "-g", "--threads"), read=OURS),
    "group": Recording(("-F", "3999", "-e", "{cpu-clock,task-clock,context-switches}:S", "-g")),
    "group_all": Recording(("-F", "3999", "-a", "-e", "{cpu-clock,page-faults,context-switches}:S"), read=OURS),
    "two_events": Recording(("-c", "300000", "-e", "cpu-clock:u", "-e", "task-clock", "-e", "page-faults")),
    "all_cpus": Recording((*HERE, "-a", "-g"), read=OURS),
    "switches": Recording((*HERE, "--switch-events")),
    "switches_all": Recording((*HERE, "-a", "-g", "--switch-events"), read=OURS),
    "namespaces": Recording((*HERE, "--namespaces"), ("unshare", "-p", "-f", "-u", "-n", "./busy", "40")),
    "cgroups": Recording((*HERE, "-a", "--all-cgroups"), read=OURS),
    "sched": Recording(("-a", "-e", "sched:*"), least=10),
    "sched_chains": Recording(("-g", "-e", "sched:sched_switch,sched:sched_wakeup,raw_syscalls:sys_enter"), least=100),
    "addresses": Recording((*HERE, "-d", "--phys-data", "-W"), read=("-F", "+addr,+phys_addr,+weight,+data_src")),
    "registers": Recording((*HERE, "--user-regs=ax,bx,ip,sp", "--intr-regs=ip,sp"), read=("-F", "+uregs,+iregs")),
    "build_ids_of_maps": Recording((*HERE, "-g", "--buildid-mmap"), ("./clock",), source=("clock.c", "clock", "-O2"), least=100),
    "overwrite": Recording((*HERE, "-a", "--overwrite", "-m", "16"), read=OURS, shows=()),
    "storm": Recording((*HERE, "-g"), ("./storm", "150"), source=("storm.c", "storm", "-O1", "-pthread"), least=200),
    "storm_all": Recording((*HERE, "-a", "-g", "--switch-events"), ("./storm", "150"), read=OURS,
                           source=("storm.c", "storm", "-O1", "-pthread"), least=200),
    "storm_in_file_order": Recording((*HERE, "-a", "--switch-events"), ("./storm", "60"), read=OURS, shows=STATE + ROUNDS,
                                     source=("storm.c", "storm", "-O1", "-pthread"), least=20),
    "vdso": Recording((*HERE, "-g"), ("./clock",), source=("clock.c", "clock", "-O2"), least=100),
    "odd_frames": Recording((*HERE, "-g"), ("./odd",), source=("odd_frames.c", "odd", "-O1", "-fomit-frame-pointer"), least=100),
    "threads": Recording((*HERE, "-g"), ("./threads", "200"), source=("many_threads.c", "threads", "-O1", "-pthread"), least=400),
}


def compare_once(folder, recording, options, least):
    result, _ = fresh.compare_scripts(folder, recording, options)
    if result.lines < least:
        raise Skip("only %d lines were recorded" % result.lines)
    result.check(" ".join(options) or "as it is")
    return result


def compare(folder, recording, read=(), shows=STATE, least=3):
    """The figures of both readings."""
    result = compare_once(folder, recording, read, least)
    text = result.figures()
    if shows:
        text += "; with state: " + compare_once(folder, recording, (*read, *shows), least).figures()
    return text


def with_own_name(row):
    source, name, *options = row.source
    own = fresh.own_name(name)
    read = tuple(word.replace("busy,storm,", own + ",") for word in row.read)
    return replace(row, source=(source, own, *options), words=("./" + own, *row.words[1:]), read=read)


def check_recording(folder, row):
    if row.read[:2] == OURS:
        row = with_own_name(row)
    fresh.need("perf", row.words[0] if not row.words[0].startswith("./") else "cat")
    fresh.build(folder, *row.source)
    return compare(folder, perf_data(folder, row.options, row.words), row.read, row.shows, row.least)


def check_pipe(folder):
    """Pipes `perf record -o -` into perfray script, and compares with perf's reading of the same bytes."""
    fresh.need("perf", "tee", "sh")
    fresh.build(folder, *Recording.source)
    command = "perf record -N -q %s -g -o - -- ./busy 60 | tee perf.data | \"$0\" script --raw-names --no-pager -" % " ".join(HERE)
    done = fresh.must(["sh", "-c", command, harness.PERFRAY], folder, "perf record -o -")
    theirs = fresh.perf_script(folder, "perf.data")
    result = fresh.Comparison(theirs, done.stdout.decode("utf-8", "surrogateescape"))
    result.check("straight")
    return result.figures() + "; saved: " + compare(folder, "perf.data")


def check_uprobe(folder):
    """A probe on a function of the test program, deleted afterwards."""
    fresh.need("perf")
    fresh.build(folder, "busy_loops.c", "busy", "-O1", "-g", "-fno-omit-frame-pointer")
    group = "perfray_%d" % os.getpid()
    fresh.must(["perf", "probe", "-q", "-x", "./busy", "--add", group + ":leaf=leaf rounds"], folder, "perf probe")
    try:
        recording = perf_data(folder, ("-g", "-e", group + ":leaf"), BUSY)
        return compare(folder, recording)
    finally:
        fresh.run(["perf", "probe", "-q", "--del", group + ":*"], folder)


def check_breakpoint(folder):
    """Records writes to a variable at a fixed address; page faults instead if breakpoints never trap on this machine."""
    fresh.need("perf", "nm")
    fresh.build(folder, "busy_loops.c", "busy", "-O1", "-g", "-no-pie", "-fno-omit-frame-pointer")
    names = fresh.must(["nm", "./busy"], folder, "nm").stdout.decode()
    address = re.search(r"^([0-9a-f]+) \w counter$", names, re.M)[1]
    recording = perf_data(folder, ("-g", "-c", "1", "-e", "mem:0x%s:w" % address), BUSY)
    if "mem:" not in fresh.perf_script(folder, recording):
        return "no breakpoint fires here; page faults: " + compare(folder, perf_data(folder, ("-g", "-c", "1", "-e", "faults"), BUSY))
    return compare(folder, recording, least=100)


def check_tids_again(folder):
    """Many processes and threads reuse a few tids in their own pid namespace. The first process of the namespace is a shell, because orphans that end in it
    would end perf."""
    fresh.need("perf", "unshare", "sh")
    fresh.build(folder, "storm.c", "storm", "-O1", "-pthread")
    command = "perf record -N -q %s -g -o perf.data -- ./storm 60 reuse; status=$?; exit $status" % " ".join(HERE)
    fresh.must(["unshare", "--pid", "--fork", "--mount", "--mount-proc", "sh", "-c", command], folder, "tids cannot be chosen")
    figures = compare(folder, "perf.data", least=100)
    begun = re.findall(r"RECORD_FORK\(\d+:(\d+)\)", fresh.our_script(folder, "perf.data", ("--show-task-events",)))
    if len(begun) < 2 * len(set(begun)):
        raise Wrong("%d forks of %d tids: too few came again" % (len(begun), len(set(begun))))
    return "%s; %d forks of %d tids" % (figures, len(begun), len(set(begun)))


def check_stat(folder, *options):
    fresh.need("perf")
    fresh.build(folder, *Recording.source)
    events = "task-clock,context-switches,page-faults"
    fresh.must(["perf", "stat", "record", "-o", "perf.data", "-e", events, *options, "--", *BUSY], folder, "perf stat record")
    return compare(folder, "perf.data", least=2)


def check_stat_stream(folder):
    """Sample fields are requested for a stream without samples: its counts are still printed."""
    fresh.need("perf", "sh")
    fresh.must(["sh", "-c", "perf stat record -o - -e task-clock,page-faults true >counts 2>messages"], folder, "perf stat record -o -")
    lines = 0
    for options in ((), ("-F", "comm,tid"), ("-F", "ip,sym")):
        theirs, ours = fresh.perf_script(folder, "counts", options), fresh.our_script(folder, "counts", options)
        if theirs != ours or "task-clock" not in ours:
            raise Wrong("%s: perf %r, ours %r" % (options, theirs[:200], ours[:200]))
        lines += ours.count("\n")
    return "%d lines" % lines


CHECKS = {
    "pipe": check_pipe,
    "uprobe": check_uprobe,
    "breakpoint": check_breakpoint,
    "tids_again": check_tids_again,
    "stat": check_stat,
    "stat_stream": check_stat_stream,
    "stat_intervals": lambda folder: check_stat(folder, "-a", "-I", "20"),
    **{name: lambda folder, row=row: check_recording(folder, row) for name, row in RECORDINGS.items()},
}


def main(names):
    return fresh.attempt_all("script/fresh", CHECKS, names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
