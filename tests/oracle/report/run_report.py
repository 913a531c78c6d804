#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_report.py - compares perfray report with perf report, for new recordings of the installed perf, and for
recordings of the corpus that have call chains, branches or memory accesses.

usage: run_report.py [NAME...]

Environment: PERFRAY, the command; PERFRAY_CORPUS, the corpus; PERFRAY_KEEP, a folder for the files of failed checks.
Each recording is read by `perf report --stdio --no-inline` and by `perfray report --format=perf --raw-names`, once for
each set of options of its row. Rows, their order, their percentages and the lines of call trees must be equal
(report_text.py). If a row differs, a rule of report_text.py must explain the difference (docs/differences.md); the
number of explained rows is printed. If something is not installed, not recorded or not permitted: `skip NAME reason`.
"""
import concurrent.futures
import csv
import json
import os
import shutil
import sys
from collections import Counter
from dataclasses import dataclass, replace

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
import fresh  # noqa: E402
import report_text  # noqa: E402
from fresh import Skip, Wrong  # noqa: E402

# -fno-plt: perf calls the stubs of a procedure linkage table _init in some programs (overlapping-symbols); few samples are in stubs.
CALLS = ("../../report/programs/many_calls.c", "calls", "-O1", "-g", "-fno-omit-frame-pointer", "-fno-plt")
SAMPLED = ("-e", "cpu-clock", "-F", "3999")

TREES = ("", "--no-children", "--no-children -g caller", "-g callee", "--children -g none", "--no-children -g folded", "-g folded")
CUTS = ("-g", "-g --no-children", "-g caller --max-stack 3", "--max-stack 1", "--max-stack 2 --no-children -G", "-g callee -G",
        "-g caller,5 --max-stack 5 --no-children", "-G --no-children -g fractal", "-g fractal,count --no-children",
        "-g folded,period,caller --no-children", "-g flat,10,2 --no-children", "--no-children -g address", "-g folded,address --no-children")
MORE_TREES = ("--no-children -g flat", "--no-children -g fractal", "-g fractal", "-g fractal,0.5,callee", "-g graph,0.5,2",
              "-g graph,3,caller,count", "--no-children -g period", "-G", "--percent-limit 2", "--no-children --max-stack 4",
              "--no-children -p main", "-p main -x --no-children -g caller", "-s parent --no-children", "-t , -n -g none",
              "--ignore-callees ^(main|spin)$ --no-children -g callee")
SORTS = tuple("--no-children -g none -s " + keys for keys in (
    "comm", "dso", "sym", "pid", "cpu", "sym,dso", "dso,comm", "comm,pid,dso", "addr", "symbol_size,sym", "trace", "cgroup", "time", "socket,sym"))
FIELDS = ("-F comm,dso --no-children", "-F sym,overhead,sample", "-F +period --no-children", "-F overhead_sys,overhead_us,comm",
          "-s comm,dso -F +sym --no-children")
FILTERS = tuple("--no-children -g none " + words for words in (
    "-c calls", "-d libc.so.6", "-d calls,libc.so.6 -s dso_size,sym", "-S compare,spin", "-d calls --percentage relative", "-c nobody",
    "--symbol-filter co", "--symbol-filter c --percentage relative", "-x")) + (
    "-d calls --percentage relative --no-children", "--symbol-filter c --percentage relative --no-children", "-p main -g -x")
FLAT = ("--no-children -g none", "-n -g none", "--sort comm,dso")
GROUPS = ("", "--no-children", "--no-children -g caller", "-g callee", "--children -g none", "--no-children -g folded", "-n -g none",
          "--no-children -g none -s dso")
READS = ("--no-group -g none", "--no-group -g none --no-children -s comm -F +period,sample", "--time 20%-70% -g none")
MEMORY = tuple("--mem-mode " + words for words in (
    "", "--no-children", "-g none -s mem,sym", "-g none -s local_weight,weight,local_ins_lat", "-g none -s tlb,snoop,locked,blocked",
    "-g none -s phys_daddr", "-g none -s dcacheline,dso_daddr", "-g none -s symbol_iaddr",
    "-g none -s sym,symbol_daddr,dso_daddr", "-g none -s data_page_size,code_page_size"))
HIERARCHY = tuple("--hierarchy " + words for words in (
    "", "--no-children", "-n --percent-limit 3", "-s sym,dso", "-c calls", "-d libc.so.6 -s dso,sym",
    "--no-children -g caller,2", "-g none -t ,", "-G", "-g none -s comm,pid,dso,sym", "-g none -s cpu,sym"))
TRACED = tuple("-s " + words for words in (
    "trace", "trace --raw-trace", "id", "comm,next_pid,next_comm", "sched:sched_switch.prev_state", "sched_switch.prev_state/raw",
    "sys_enter.id,sym", "sched_stat_runtime.*", "prev_pid,common_pid --raw-trace", "next_comm,pid"))
BRANCHES = ("", "-s comm,sym", "-s dso_to,dso_from", "-s mispredict,in_tx,abort", "-s addr_from,addr_to", "-s cycles", "-b -s pid", "-n",
            "--no-branch-stack -g none")


@dataclass(frozen=True)
class Fresh:
    """A recording made by `perf record RECORD -- WORDS`, and the options for its reports."""
    record: tuple
    reports: tuple = TREES
    words: tuple = ("./calls", "60")
    source: tuple = CALLS
    strip: bool = False


# perf prints "@plt+0", "object[address]" or "crt.o:0" for stubs (srcline-of-unknown-lines). Stubs have few samples; but if the kernel is busy, these samples
# can exceed 3 % of a program in a single file.
LINES = tuple("--percent-limit 3 --no-children -g none -s " + keys for keys in ("srcline", "srcfile", "srcline,dso", "srcfile,comm,dso"))
BUSY = ("busy_loops.c", "busy", "-O1", "-g", "-fno-omit-frame-pointer", "-fno-plt")
EVENTS = ("-F", "3999", "-g")

FRESH = {
    "chains": Fresh((*SAMPLED, "-g"), TREES + MORE_TREES),
    "cuts": Fresh((*SAMPLED, "-g"), CUTS),
    "sorts": Fresh((*SAMPLED, "-g"), SORTS + FIELDS + FILTERS),
    "hierarchy": Fresh((*SAMPLED, "-g", "--sample-cpu"), HIERARCHY),
    "hierarchy_of_a_group": Fresh(("-e", "{cpu-clock,page-faults}", *EVENTS), ("--hierarchy", "--hierarchy -n -g none", "--hierarchy --percent-limit 3 -g none")),
    "flat": Fresh(SAMPLED, FLAT + SORTS),
    "user": Fresh(("-e", "cpu-clock:u", "-F", "3999", "-g")),
    "kernel": Fresh(("-e", "cpu-clock:k", "-F", "3999", "-g")),
    "fixed_period": Fresh(("-e", "task-clock", "-c", "250000", "-g")),
    "zstd": Fresh((*SAMPLED, "-g", "-z")),
    "folder": Fresh((*SAMPLED, "-g", "--threads", "-a"), ("-c busy --no-children -g none",), ("./busy", "100"), BUSY),
    "busy": Fresh((*SAMPLED, "-g"), TREES + MORE_TREES, ("./busy", "100"), BUSY),
    "stripped": Fresh((*SAMPLED, "-g"), TREES, ("./busy", "100"), BUSY, strip=True),
    "build_ids_of_maps": Fresh((*SAMPLED, "-g", "--buildid-mmap")),
    "vdso": Fresh((*SAMPLED, "-g"), TREES, ("./clock",), ("clock.c", "clock", "-O2", "-fno-plt")),
    "odd_frames": Fresh((*SAMPLED, "-g"), TREES, ("./odd",), ("odd_frames.c", "odd", "-O1", "-fomit-frame-pointer", "-fno-plt")),
    "threads": Fresh((*SAMPLED, "-g"), TREES + ("--no-children -g none --symfs=/sys",), ("./threads", "60"), ("many_threads.c", "threads", "-O1", "-pthread", "-fno-plt")),
    "lines": Fresh((*SAMPLED, "-g"), LINES),
    "lines_flat": Fresh(SAMPLED, LINES, ("./busy", "100"), BUSY),
    "lines_of_inlined": Fresh(("-e", "cpu-clock:u", "-F", "3999"), LINES, ("./inlined", "500"), ("inlined.c", "inlined", "-O2", "-g", "-static")),
    "lines_of_stripped": Fresh(SAMPLED, LINES, ("./busy", "100"), BUSY, strip=True),
    "addresses_of_processes": Fresh((*SAMPLED, "-g"), tuple("--no-children -g none -s " + keys for keys in ("addr", "comm,addr", "addr,sym")),
                                    ("sh", "-c", "./busy 40; ./busy 40; ./busy 40"), BUSY),
    "chains_of_one_event": Fresh(("-e", "cpu-clock/freq=999,call-graph=fp/", "-e", "task-clock/freq=999,call-graph=no/"),
                                 tuple("--no-children " + words for words in TREES if "children" not in words)),
    "more_keys": Fresh((*SAMPLED, "-g", "--sample-cpu"), ("-s +cpu -g none", "--socket-filter 0 --no-children -g none", "-s +pid,symbol_size --no-children -g none", "-F comm,sample -s +cpu --no-children")),
    "classes": Fresh((*SAMPLED, "-g"), TREES, ("./shapes",), ("shapes.cpp", "shapes", "-O1", "-g", "-fno-omit-frame-pointer", "-fno-plt")),
    "group": Fresh(("-e", "{cpu-clock,page-faults}", *EVENTS), GROUPS + ("--no-group -g none",)),
    "group_of_three": Fresh(("-e", "{cpu-clock,task-clock,context-switches}", *EVENTS), GROUPS),
    "counters_read": Fresh(("-e", "{cpu-clock,page-faults,context-switches}:S", *EVENTS), GROUPS + READS),
    "counters_read_on_all_cpus": Fresh(
        ("-a", "-e", "{cpu-clock,page-faults,context-switches}:S", "-F", "3999"), tuple("-c calls " + words for words in FLAT + READS + ("-C 0 -g none",))),
    "counters_read_and_others": Fresh(("-e", "{cpu-clock,page-faults}:S", "-e", "task-clock", "-c", "250000"), FLAT + READS),
    "two_events": Fresh(("-e", "cpu-clock", "-e", "page-faults", *EVENTS), TREES + tuple("--group " + words for words in GROUPS)),
    "page_faults": Fresh(("-e", "page-faults", "-c", "1", "-d", "-g"), TREES + MEMORY, ("./calls", "6")),
    "addresses": Fresh((*SAMPLED, "-d", "-W", "--phys-data", "-g"), TREES + MEMORY),
    "page_sizes": Fresh((*SAMPLED, "-d", "--data-page-size", "--code-page-size"), MEMORY + ("-s code_page_size",)),
    "cgroups": Fresh((*SAMPLED, "-g", "--all-cgroups"), ("", "-s cgroup -g none --no-children", "-s cgroup,comm --no-children")),
    "tracepoints": Fresh(("-e", "raw_syscalls:sys_enter", "-g"), TREES + ("-s trace,comm --no-children", "-s comm,sym"), ("./calls", "1")),
    "fields_of_tracepoints": Fresh(("-e", "raw_syscalls:sys_enter,sched:sched_switch,sched:sched_stat_runtime"), TRACED, ("./calls", "6")),
}

# A symfs without the recorded objects: the recordings come from another machine, whose kernel and vdso have other symbols.
ELSEWHERE = ("--symfs=/sys",)
CORPUS = {
    "recorded/rec61.cg_fp": (TREES, ()),
    "recorded/rec61.group_S": (FLAT + READS, ()),
    "recorded/rec61.read_s": (FLAT + READS, ()),
    "bigendian/be.rec61.group_S": (FLAT + READS, ()),
    "recorded/rec61.cg_fp_user_only": (TREES, ()),
    "recorded/rec61.max_size": (TREES, ()),
    "recorded/rec61.mmap1": (TREES, ()),
    "recorded/rec61.snapshot_overwrite_0": (TREES, ()),
    "recorded/rec61.switch_output_0": (TREES, ELSEWHERE),
    "recorded/rec61.syswide": (TREES, ELSEWHERE),
    "recorded/rec61.file_z": (TREES, ELSEWHERE),
    "recorded/rec61.inject_unz": (TREES, ELSEWHERE),
    "recorded/rec61.data_phys": (MEMORY, ()),
    "recorded/rec61.data_page_size": (MEMORY, ()),
    "quipper/quipper.callgraph-3.8": (TREES, ELSEWHERE),
    "simpleperf/abi128.simpleperf.perf_test_vmlinux.data": (TREES, ELSEWHERE),
    "simpleperf/abi128.simpleperf.perf_lbr.data": (BRANCHES, ()),
    "simpleperf/simpleperf.two_process_perf.data": (TREES, ELSEWHERE),
    "simpleperf/simpleperf.wrong_ip_callchain_perf.data": (TREES, ELSEWHERE),
    "simpleperf/simpleperf.perf_g_fp.data": (TREES, ELSEWHERE),
    "other/autofdo.perf-kernel.data": (BRANCHES, ()),
    "other/perfparser.parallel_static_gcc_zstd": (TREES, ELSEWHERE),
    "other/perfparser.vector_static_gcc_zstd": (TREES, ELSEWHERE),
    "other/perfparser.vector_static_clang": (TREES, ELSEWHERE),
}


def perf_report(folder, recording, words):
    done = fresh.run(["perf", "report", "--stdio", "--no-inline", "-i", recording, *words], folder)
    if done.returncode != 0:
        raise Wrong("perf report %s: %s" % (" ".join(words), fresh.last_line(done)))
    return done.stdout.decode("utf-8", "surrogateescape")


def our_report(folder, recording, words):
    done = fresh.run([harness.PERFRAY, "report", "--format=perf", "--raw-names", "--no-pager", "-i", recording, *words], folder)
    if done.returncode != 0:
        raise Wrong("perfray report %s: status %d, %s" % (" ".join(words), done.returncode, fresh.last_line(done)))
    return done.stdout.decode("utf-8", "surrogateescape")


def both_reports(folder, recording, words):
    return perf_report(folder, recording, words), our_report(folder, recording, words)


def compare(folder, recording, reports, always=()):
    """Totals over all reports. Two reports run at a time: this test does not run in parallel with others, so the second CPU is free."""
    rules, lines = Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        made = list(pool.map(lambda options: both_reports(folder, recording, [*options.split(), *always]), reports))
    for options, texts in zip(reports, made):
        words = [*options.split(), *always]
        separator = words[words.index("-t") + 1] if "-t" in words else None
        if not separator and not report_text.same_headings(*texts):
            raise Wrong("report %s: perf's headings are %s, ours %s" % (options, *map(report_text.read_headings, texts)))
        result = report_text.Comparison(*texts, separator)
        if result.unexplained:
            raise Wrong("report %s: %s" % (options, result.complaint()))
        rules.update(result.rules)
        lines += result.lines
    if lines == 0:
        raise Skip("nothing was recorded")
    return ", ".join(["%d reports, %d lines" % (len(reports), lines)] + ["%d %s" % (rules[rule], rule) for rule in sorted(rules)])


def with_own_name(row):
    source, name, *options = row.source
    own = fresh.own_name(name)
    reports = tuple(words.replace("-c " + name, "-c " + own) for words in row.reports)
    return replace(row, source=(source, own, *options), words=("./" + own, *row.words[1:]), reports=reports)


def check_fresh(folder, row):
    if "-a" in row.record:
        row = with_own_name(row)
    fresh.build(folder, *row.source, compiler=fresh.first_of("g++", "clang++") if row.source[0].endswith(".cpp") else None)
    if row.strip:
        fresh.must(["strip", row.source[1]], folder, "strip")
    fresh.record(folder, "perf.data", row.record, row.words)
    return compare(folder, "perf.data", row.reports)


def check_corpus(folder, name, reports, always):
    path = os.path.join(harness.corpus("perf") or "", name)
    fresh.need("perf")
    if not os.path.exists(path):
        raise Skip("PERFRAY_CORPUS has no %s" % name)
    shutil.copy(path, os.path.join(folder, "perf.data"))
    return compare(folder, "perf.data", reports, always)


FORMS = ("stream", "folder", "zstd", "swapped")
FORMS_TOOL = os.path.join(HERE, "..", "..", "support", "other_forms.py")


def check_forms(folder):
    """The same recording in every form, read by one thread and by two, gives the same report."""
    fresh.build(folder, *CALLS)
    fresh.record(folder, "perf.data", (*SAMPLED, "-g"), ("./calls", "60"))
    for options in ("", "--no-children -g callee -s sym,pid", "--tree", "--format=csv -s comm,dso,sym,tid"):
        wanted = our_report(folder, "perf.data", options.split())
        for form in FORMS:
            if not os.path.exists(os.path.join(folder, form)):
                fresh.must([sys.executable, FORMS_TOOL, form, "perf.data", form], folder, form)
            for jobs in ("1", "2"):
                if our_report(folder, form, [*options.split(), "-j", jobs]) != wanted:
                    raise Wrong("%s of the %s with -j%s is another one" % (options, form, jobs))
    return "%d lines" % wanted.count("\n")


def check_chains(folder):
    """The weights of the chains that CSV and JSON show for a row add up to the weight of the row, if no chain is left out for its small share."""
    fresh.build(folder, *CALLS)
    fresh.record(folder, "perf.data", (*SAMPLED, "-g"), ("./calls", "60"))
    count = 0
    for options in ("-g callee,0", "-g caller,0", "--children -g caller,0", "--children -g callee,0", "-s pid,tid -g callee,0"):
        sums = {}
        for line in csv.DictReader(our_report(folder, "perf.data", ["--format=csv", *options.split()]).splitlines()):
            chain = [int(line.pop("chain_weight")), int(line.pop("chain_samples")), line.pop("chain")]
            total = sums.setdefault(tuple(line.values()), [line, 0, 0])
            total[1:] = total[1] + chain[0], total[2] + chain[1]
        number = 0
        for line, weight, samples in sums.values():
            alike = weight // int(line["weight"])  # functions of one name, such as @plt, may have rows that are equal
            if alike < 1 or (weight, samples) != (alike * int(line["weight"]), alike * int(line["samples"])):
                raise Wrong("%s: chains of %s weigh %d" % (options, line, weight))
            number += alike
        rows = json.loads(our_report(folder, "perf.data", ["--format=json", *options.split()]))["events"][0]["rows"]
        if len(rows) != number or any(sum(frame.get("self", {"weight": 0})["weight"] for frame in row["tree"]) != row["weight"] for row in rows):
            raise Wrong("%s: frames of JSON weigh something else" % options)
        count += len(rows)
    return "%d rows" % count


def check_stat(folder, *options):
    """For counts of perf stat record, the report is the table of perf stat report."""
    fresh.need("perf")
    fresh.build(folder, *BUSY)
    events = "task-clock,context-switches,page-faults,cycles"
    fresh.must(["perf", "stat", "record", "-o", "perf.data", "-e", events, *options, "--", "./busy", "70"], folder, "perf stat record")
    done = fresh.run(["perf", "stat", "report", "-i", "perf.data"], folder)
    theirs = done.stdout.decode("utf-8", "surrogateescape") or done.stderr.decode("utf-8", "surrogateescape")
    ours = fresh.run([harness.PERFRAY, "report", "--raw-names", "--no-pager", "perf.data"], folder).stdout.decode()
    if theirs != ours or not ours:
        raise Wrong("perf stat report:\n%s\nperfray report:\n%s" % (theirs, ours))
    return "%d lines" % ours.count("\n")


CHECKS = {
    "forms": check_forms,
    "chains_as_data": check_chains,
    "stat": check_stat,
    "stat_intervals": lambda folder: check_stat(folder, "-I", "20"),
    **{"stat_of_each_%s%s" % (name, "_in_intervals" if more else ""):
       lambda folder, words=("-a", by, *more): check_stat(folder, *words)
       for more in ((), ("-I", "20")) for name, by in (("cpu", "-A"), ("core", "--per-core"), ("socket", "--per-socket"),
                                                       ("die", "--per-die"), ("node", "--per-node"))},
    "stat_threads": lambda folder: check_stat(folder, "--per-thread", "-p", str(os.getpid())),
    **{name: lambda folder, row=row: check_fresh(folder, row) for name, row in FRESH.items()},
    **{"corpus_" + os.path.basename(name): lambda folder, name=name, row=row: check_corpus(folder, name, *row)
       for name, row in CORPUS.items()},
}


def main(names):
    return fresh.attempt_all("report", CHECKS, names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
