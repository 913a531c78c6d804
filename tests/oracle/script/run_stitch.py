#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_stitch.py - compares call stacks from branch registers (LBR), as recorded and stitched, with perf's and with the true stacks of
the generator.

usage: run_stitch.py [NAME...]

Environment: PERFRAY, the command. The recordings are those of lbr.py. If all registers are in use in every sample, perf script and
perf report must print the same stacks as perfray, with and without --stitch-lbr. Otherwise perf forgets stacks (docs/differences.md,
stitched-stacks): perf's stack must be the beginning of perfray's stack, and perfray's stack the beginning of the thread's true stack.
"""
import os
import re
import subprocess
import sys
from collections import Counter

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
import fresh
import lbr
from fresh import Wrong

HERE = os.path.dirname(os.path.abspath(__file__))
import report_text  # noqa: E402

FIELDS = ("-F", "tid,time,ip,sym,dso", "--kallsyms", "kallsyms", "--ns")
STITCH = "--stitch-lbr"
REGISTERS = (32, 16, 8)
DEPTHS = ((), ("--max-stack", "1"), ("--max-stack", "3"), ("--max-stack", "6"), ("--max-stack", "1000"))
FROM_CALLEES = ("--no-children", "-g callee", "--no-children -g folded", "--no-children --max-stack 1", "--no-children --max-stack 3",
                "--no-children -s comm,dso -g folded,callee", "--no-children -g none -s comm,sym", "--no-children -g address")
FROM_CALLERS = ("--children", "--no-children -g caller", "--children -g none", "-G --no-children", "-g caller --max-stack 3",
                "--no-children -s comm,sym -g folded,caller", "--no-children -G --max-stack 1")
FORMS_TOOL = os.path.join(HERE, "..", "..", "support", "other_forms.py")
FORMS = ("stream", "folder", "zstd", "swapped")
HEIGHT = re.compile(r'class="flame" width="\d+" height="(\d+)"')


def equal_scripts(folder, options):
    theirs = fresh.perf_script(folder, "perf.data", (*FIELDS, *options))
    ours = fresh.our_script(folder, "perf.data", (*FIELDS, *options))
    if theirs != ours:
        pair = next(pair for pair in zip(theirs.split("\n"), ours.split("\n")) if pair[0] != pair[1])
        raise Wrong("%s: - %s + %s" % (" ".join(options), *pair))
    return ours.count("\n")


def check_scripts(folder):
    """As recorded: any recording; stitched: only those with all registers in use."""
    lines = stitched = 0
    fresh.need("perf")
    for seed, registers in enumerate(REGISTERS):
        lbr.write_recording(folder, "perf.data", 100, registers, seed)
        lines += sum(equal_scripts(folder, depth) for depth in DEPTHS)
        lbr.write_recording(folder, "perf.data", 100, registers, seed, full=True)
        as_recorded = equal_scripts(folder, ())
        more = [equal_scripts(folder, (*depth, STITCH)) for depth in DEPTHS]
        if more[0] < as_recorded * 1.2:
            raise Wrong("%d lines, stitched %d" % (as_recorded, more[0]))
        lines, stitched = lines + as_recorded, stitched + sum(more)
    return "%d lines, %d stitched" % (lines, stitched)


def stacks_of(text):
    """Yields [addresses in the kernel, addresses in the program] of each sample."""
    for block in text.split("\n\n"):
        lines = block.strip("\n").split("\n")
        if lines[0]:
            frames = [int(line.split()[0], 16) for line in lines[1:]]
            yield [[frame for frame in frames if frame >= lbr.KERNEL], [frame for frame in frames if frame < lbr.KERNEL]]


def is_begin(part, whole):
    return part == whole[:len(part)]


def check_truth(folder):
    """If registers are free, perf forgets stacks. perfray's stacks are the true stacks, and perf's stacks are the beginnings of these."""
    fresh.need("perf")
    figures = Counter()
    for seed in range(6):
        truth = lbr.write_recording(folder, "perf.data", 300, REGISTERS[seed % 3], seed)
        options = ("-F", "tid,ip", STITCH)
        theirs, ours, plain = ([*stacks_of(text)] for text in (
            fresh.perf_script(folder, "perf.data", options), fresh.our_script(folder, "perf.data", options),
            fresh.our_script(folder, "perf.data", options[:2])))
        if not len(theirs) == len(ours) == len(plain) == len(truth):
            raise Wrong("%d samples, ours %d, perf's %d" % (len(truth), len(ours), len(theirs)))
        for real, stitched, other, short in zip(truth, ours, theirs, plain):
            if stitched[0] != real[0] or not is_begin(stitched[1], real[1]) or not is_begin(short[1], stitched[1]):
                raise Wrong("%s is not %s" % (stitched, real))
            if other[0] != real[0] or not is_begin(other[1], stitched[1]):
                raise Wrong("perf's %s is not the beginning of %s" % (other, stitched))
            for name, one in (("real", real), ("ours", stitched), ("perf's", other), ("recorded", short)):
                figures[name] += len(one[1])
    if not figures["recorded"] < figures["perf's"] < figures["ours"] < figures["real"]:
        raise Wrong("frames: %s; the entry of docs/differences.md should go?" % dict(figures))
    return ", ".join("%d %s" % (figures[name], name) for name in ("recorded", "perf's", "ours", "real"))


def report(folder, words, program):
    done = fresh.run([*program, *words, "--kallsyms", "kallsyms", "-i", "perf.data"], folder)
    if done.returncode != 0:
        raise Wrong("%s %s: %s" % (" ".join(program), " ".join(words), fresh.last_line(done)))
    return done.stdout.decode()


def check_reports(folder):
    """In caller order perf looks up kernel addresses in the program (docs/differences.md, kernel-above-branches)."""
    fresh.need("perf")
    rules, lines = Counter(), []
    for has_kernel, more in ((False, ()), (False, (STITCH,)), (True, ()), (True, (STITCH,))):
        lbr.write_recording(folder, "perf.data", 60, 16, 5, full=True, has_kernel=has_kernel)
        for options in FROM_CALLEES + (() if has_kernel else FROM_CALLERS):
            words = [*options.split(), *more]
            result = report_text.Comparison(report(folder, words, ("perf", "report", "--stdio", "--no-inline")),
                                            report(folder, words, (harness.PERFRAY, "report", "--format=perf", "--no-pager")))
            if result.unexplained:
                raise Wrong("report %s: %s" % (" ".join(words), result.complaint()))
            rules.update(result.rules)
            lines.append(result.lines)
    first = len(FROM_CALLEES + FROM_CALLERS)
    if sum(lines[first:2 * first]) < sum(lines[:first]) * 1.2:
        raise Wrong("stitched trees are as small as those recorded: %s" % lines)
    return ", ".join(["%d reports, %d lines" % (len(lines), sum(lines))] + ["%d %s" % (rules[rule], rule) for rule in sorted(rules)])


def ours(folder, verb, *words):
    done = fresh.run([harness.PERFRAY, *verb, "--kallsyms", "kallsyms", *words], folder)
    if done.returncode != 0:
        raise Wrong("%s: status %d, %s" % (" ".join(verb), done.returncode, fresh.last_line(done)))
    return done.stdout.decode(), done.stderr.decode()


def fold(text):
    """Makes folded stacks from the frames' addresses, with the thread's name as the outermost frame."""
    stacks = Counter()
    for block in text.split("\n\n"):
        lines = block.strip("\n").split("\n")
        if lines[0]:
            stacks[";".join([lines[0].split()[0], *(line.split(None, 1)[1] for line in lines[:0:-1])])] += 1
    return stacks


def check_views(folder):
    """report, export and flame count the same stacks that script prints, with any number of threads."""
    lbr.write_recording(folder, "perf.data", 300, 16, 3)
    text, said = ours(folder, ("script", STITCH, "-F", "comm,ip,sym", "perf.data"))
    wanted = fold(text)
    if "extended with calls of earlier samples" not in said:
        raise Wrong("script says nothing of it: %s" % said)
    for jobs in ("1", "2"):
        folded = ours(folder, ("export", "--format=folded", STITCH, "perf.data"), "-j" + jobs)[0]
        found = Counter({line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in folded.splitlines()})
        if found != wanted:
            raise Wrong("-j%s: %d stacks, not %d: %s" % (jobs, len(found), len(wanted), sorted((found - wanted).keys())[:1]))
    short, tall = (int(HEIGHT.search(ours(folder, ("flame", *more, "perf.data"))[0])[1]) for more in ((), (STITCH,)))
    if tall < short * 1.2:
        raise Wrong("flame graphs of %d and %d pixels" % (short, tall))
    return "%d stacks, flame graphs of %d and %d pixels" % (len(wanted), short, tall)


def check_forms(folder):
    """The same recording is read in every form, by one thread and by two."""
    fresh.need("zstd")
    lbr.write_recording(folder, "perf.data", 300, 16, 4)
    figures = []
    for words in (("script", "-F", "comm,time,ip,sym"), ("report", "--no-children", "-g", "folded"),
                  ("export", "--format=folded")):
        wanted = ours(folder, (*words, STITCH, "perf.data"))
        for form in FORMS:
            if not os.path.exists(os.path.join(folder, form)):
                fresh.must([sys.executable, FORMS_TOOL, form, "perf.data", form], folder, form)
            for jobs in ("-j1", "-j2"):
                if ours(folder, (*words, STITCH, form), jobs) != (wanted[0], wanted[1].replace("perf.data", form)):
                    raise Wrong("%s of the %s is another one" % (words[0], form))
        with open(os.path.join(folder, "stream"), "rb") as stream:
            done = subprocess.run([harness.PERFRAY, *words, STITCH, "--kallsyms", "kallsyms", "-"], cwd=folder, stdin=stream,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
        if done.stdout.decode() != wanted[0]:
            raise Wrong("%s of a pipe is another one" % words[0])
        figures.append("%d lines of %s" % (wanted[0].count("\n"), words[0]))
    return ", ".join(figures)


def check_filters(folder):
    """Samples that a filter removes still contribute to stitching: the remaining samples have the same stacks as without a filter."""
    lbr.write_recording(folder, "perf.data", 300, 16, 6)
    for words in (("script", "-F", "comm,tid,time,ip,sym", "--ns"), ("export", "--format=folded")):
        early, late, whole = (ours(folder, (*words, STITCH, *more, "perf.data"))[0] for more in (
            ("--time", "0,0.000000160"), ("--time", "0.000000161,"), ()))
        if words[0] == "script" and early + late != whole:
            raise Wrong("script: the parts are not the whole")
        if words[0] == "export":
            sums = Counter()
            for line in (early + late).splitlines():
                sums[line.rpartition(" ")[0]] += int(line.rpartition(" ")[2])
            if sums != Counter({line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in whole.splitlines()}):
                raise Wrong("export: the parts are not the whole")
    return "%d stacks" % len(sums)


def check_unknown(folder):
    """Samples that cannot be stitched are printed as recorded, and that is reported."""
    for more in ({"known": 0}, {"known": 5000}, {"branches": lbr.LBR}):
        lbr.write_recording(folder, "perf.data", 50, 8, 7, **more)
        plain, _ = ours(folder, ("script", "perf.data"))
        text, said = ours(folder, ("script", STITCH, "perf.data"))
        if text != plain or "none of " not in said:
            raise Wrong("%s: %s" % (more, said))
    return ""


def check_kernel_from_callers(folder):
    """In caller-based trees perf has no names for kernel addresses; perfray prints the same names as in callee-based trees."""
    fresh.need("perf")
    lbr.write_recording(folder, "perf.data", 60, 16, 5)
    words = ["--no-children", "-g", "caller,0"]
    theirs, own = (report(folder, words, program) for program in (
        ("perf", "report", "--stdio", "--no-inline"), (harness.PERFRAY, "report", "--format=perf", "--no-pager")))
    missing, named = (len(re.findall(pattern, theirs)) for pattern in (r"--0xffffffff8100|  0xffffffff8100", "kernel_"))
    if not missing:
        raise Wrong("perf names the kernel's part; the entry of docs/differences.md should go")
    if "0xffffffff8100" in own or own.count("kernel_") <= named:
        raise Wrong("the kernel's part has no names")
    return "%d without a name" % missing


CHECKS = {"scripts": check_scripts, "reports": check_reports, "truth": check_truth, "views": check_views, "forms": check_forms,
          "filters": check_filters, "unknown": check_unknown,
          "fault_kernel_from_callers": check_kernel_from_callers}


def main(names):
    return fresh.attempt_all("script/stitch", CHECKS, names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
