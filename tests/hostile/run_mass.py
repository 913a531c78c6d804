#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_mass.py - runs the printers of the library, in process, on many damaged recordings.

usage: run_mass.py [--traces] [--count N] [--long-count N] [--seed N] [--extra N] [--jobs N] [--printers NAME,...] PROGRAM INPUT...

PROGRAM is built from mass_mutants.c with sanitizers; INPUT is a recording, or a folder of *.data files (--traces: *.xray). With PERFRAY_LONG
in the environment, --long-count replaces --count. The mutants are those of tests/support/mutate.py with the same seed; they are made here and
passed on through pipes, so no file is written. Prints one line for each kind of defect (crash, hang, raw control byte, broken JSON, silence
on structural damage): `ok hostile/mass WHAT ...`, or `not ok ...` with the first defects and how to reproduce them.
"""
import argparse
import collections
import multiprocessing
import os
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
import mutant_files  # noqa: E402
import mutate  # noqa: E402
import run_mutants  # noqa: E402

PIECE = 200
KINDS = ("crash", "hang", "raw", "json", "silent")
COMMANDS = {"info": "info", "info-json": "info --format=json", "dump": "dump", "dump-jsonl": "dump --format=jsonl",
            "report": "report --no-pager --symfs=/sys --kallsyms=/dev/null",
            "script": "script --symfs=/sys --kallsyms=/dev/null",
            "trace-script": "script", "trace-script-json": "script --format=json",
            "trace-script-yaml": "script --format=llvm-yaml",
            "offcpu": "offcpu --wakers --symfs=/sys --kallsyms=/dev/null",
            "offcpu-json": "offcpu --format=json --symfs=/sys --kallsyms=/dev/null",
            "latency": "latency --by=caller --histogram", "latency-json": "latency --by=thread -d --format=json",
            "folded": "export --symfs=/sys --kallsyms=/dev/null",
            "pprof": "export --format=pprof --symfs=/sys --kallsyms=/dev/null",
            "format-json": "export --format=speedscope", "format-other": "export --format=perfetto", "replay": "replay --min-duration 1ns",
            "annotate": "annotate --by-line 0x401000 --symfs=/sys --kallsyms=/dev/null", "view": "view -o OUT/made",
            "symbols": "symbols --symfs=/sys --kallsyms=/dev/null",
            "flame": "flame --symfs=/sys --kallsyms=/dev/null",
            "convert": "convert --byte-order=big -o OUT/made", "recover": "recover -o OUT/made",
            "model": "info", "verify": "verify --notes --most=100", "verify-json": "verify --notes --most=100 --format=json"}


def keep_parsed():
    """Mutants of one input start from the same parsed input, which is made once and copied, including its lists, because damage may change
    them."""
    parse, parsed = mutate.parse, {}

    def parse_once(data, name, kind="auto"):
        if name not in parsed or parsed[name][0] is not data:
            if not isinstance(data, bytes):
                return parse(data, name, kind)
            parsed[name] = (data, parse(data, name, kind))
        document = mutant_files.Doc(b"", name)
        for key, value in vars(parsed[name][1]).items():
            setattr(document, key, value.copy() if isinstance(value, (list, dict, bytearray)) else value)
        return document

    mutate.parse = parse_once


class Maker:
    """Makes the mutants of a run, by number."""

    def __init__(self, options):
        self.options, self.documents = options, []
        for path in sorted(options.inputs, key=os.path.basename):
            with open(path, "rb") as file:
                self.documents.append((os.path.basename(path), file.read()))
        mutate.KIND_CACHE[:] = [mutate.parse(data, name, "auto").kind for name, data in self.documents]
        kinds = set(mutate.KIND_CACHE)
        self.names = [name for name, row in mutate.CLASSES.items() if kinds & set(row[1])]

    def make(self, number):
        """(bytes, class, source, expect), or None if no input can be damaged in this way."""
        made = mutate.make(self.documents, "auto", self.options.seed, number, self.names, self.options.extra)
        return made and (made[0], made[3], made[2], made[5])


def write_mutants(maker, job, pipe):
    """Writes the mutants of one job, each preceded by its number, 1 for structural damage, and its length."""
    options = maker.options
    for number in range(options.count):
        made = maker.make(number) if number // PIECE % options.jobs == job else None
        if made:
            pipe.write(struct.pack("=III", number, made[3] == "diagnose", len(made[0])) + made[0])
    pipe.close()


class Results:
    def __init__(self):
        self.findings = []  # (number, printer, kind, text, options, sizes)
        self.mutants = self.structural = 0
        self.slowest = (0, 0)
        self.unfinished = 0

    def take(self, line):
        words = line.rstrip("\n").split(" ", 3)
        if words[0] == "done":
            self.mutants += int(words[1])
            self.structural += int(words[2])
            microseconds, number = words[3].split()
            self.slowest = max(self.slowest, (int(microseconds), int(number)))
        else:
            text, drawn, sizes = words[3].split("\t")
            self.findings.append((int(words[0]), words[1], words[2], text, drawn, sizes))


def read_results(results, lock, program):
    finished = False
    for line in program.stdout:
        finished = finished or line.startswith("done ")
        with lock:
            results.take(line)
    if program.wait() != 0 or not finished:
        with lock:
            results.unfinished += 1


def run_jobs(options, maker):
    results, lock, readers, writers = Results(), threading.Lock(), [], []
    for job in range(options.jobs):
        program = subprocess.Popen([options.program, *options.printers], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        program.stdout = open(os.dup(program.stdout.fileno()), encoding="utf-8", errors="replace")
        writers.append(multiprocessing.Process(target=write_mutants, args=(maker, job, program.stdin)))
        writers[-1].start()
        program.stdin.close()
        readers.append(threading.Thread(target=read_results, args=(results, lock, program)))
    for thread in readers:
        thread.start()
    for thread in readers:
        thread.join()
    for writer in writers:
        writer.join()
        results.unfinished += writer.exitcode != 0
    return results


def reproduction(options, number, printer, drawn, sizes):
    return "%s --seed %d --count %d --extra %d --only %d OUT %s && PERFRAY_SIZES=%s %s %s%s OUT/m%06d_*" % (
        os.path.relpath(run_mutants.MUTATE), options.seed, options.count, options.extra, number,
        " ".join(options.inputs), sizes, os.environ.get("PERFRAY", "perfray"), COMMANDS[printer], drawn, number)


def print_kind(options, maker, kind, findings):
    """Prints the findings of a kind; returns true if there are no findings."""
    shown = ["%d" % len(findings)] if findings else []
    for number, printer, _, text, drawn, sizes in sorted(findings)[:options.show]:
        _, damage, source, _ = maker.make(number)
        shown.append("%s: %s of %s: %s\n    %s" % (printer, damage, source, text, reproduction(options, number, printer, drawn, sizes)))
    return harness.result("hostile/mass no %s" % kind, shown)


def report(options, maker, results, seconds):
    by_kind = collections.defaultdict(list)
    for finding in results.findings:
        by_kind[finding[2]].append(finding)
    good = all([print_kind(options, maker, kind, by_kind[kind]) for kind in KINDS])
    good = good and results.unfinished == 0 and results.mutants > 0
    harness.result("hostile/mass (%d mutants of %d files, %d of them structural, seed %d; slowest %.2f s, number %d; %.0f s)" % (
        results.mutants, len(maker.documents), results.structural, options.seed, results.slowest[0] / 1e6, results.slowest[1],
        seconds), not good)
    return harness.status()


def parse_arguments(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--long-count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--extra", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", type=int, default=5)
    parser.add_argument("--traces", action="store_true", help="of a folder the *.xray files")
    parser.add_argument("--printers", type=lambda text: text.split(","), default=[], help="only these, as in COMMANDS")
    parser.add_argument("program")
    parser.add_argument("inputs", nargs="+")
    options = parser.parse_args(arguments)
    if options.long_count and harness.LONG:
        options.count = options.long_count
    options.inputs = sorted(path for given in options.inputs for path in
                            run_mutants.files_of(given, ".xray" if options.traces else ".data") if os.path.isfile(path))
    return options


def main(arguments):
    options = parse_arguments(arguments)
    keep_parsed()
    maker = Maker(options)
    start = time.monotonic()
    return report(options, maker, run_jobs(options, maker), time.monotonic() - start)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
