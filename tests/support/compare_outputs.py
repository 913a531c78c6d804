#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_outputs.py - checks that two builds of the command print the same, byte for byte.

usage: compare_outputs.py [-j JOBS] [--largest BYTES] OLD NEW FOLDER...

For changes that must not change behaviour. Every command of COMMANDS (TRACE_COMMANDS for traces) of both builds reads each recording and trace in the folders;
standard output, standard error and the exit status must be equal. Prints each difference, then the number of compared runs. The exit status is 1 if anything
differed.
"""
import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SECONDS = 120
REFERENCES = (".txt", ".err", ".csv", ".dot", ".yaml", ".dump", ".json", ".md", ".html", ".c", ".cc", ".sh", ".py", ".svg")
BOTH = (("info",), ("info", "--header-only"), ("info", "--format=json"), ("info", "--stats"), ("verify",), ("verify", "--format=json"),
        ("dump",), ("dump", "--format=json"), ("dump", "--form=perf"), ("report",), ("report", "-g", "none", "--format=csv"),
        ("report", "--format=json", "-g", "caller"), ("script",), ("script", "--format=json"), ("export",),
        ("export", "--format=pprof"), ("flame", "-o", "-"), ("convert", "-o", "-"), ("recover", "-o", "-"))
COMMANDS = BOTH + (
    ("report", "--children", "-g", "none"), ("report", "--no-children", "-s", "comm,tid,dso,sym,cpu"), ("report", "-s", "dso", "--tree"),
    ("report", "-s", "sym,symbol_from,symbol_to,mispredict"), ("report", "--mem-mode"), ("report", "-s", "srcline"),
    ("report", "--no-symbols", "-F", "overhead,overhead_us,overhead_sys,sample,period,comm"), ("report", "-s", "time", "--time-quantum", "10ms"),
    ("report", "-g", "callee,0.5,callee"), ("report", "--inline", "-g", "caller"), ("script", "-F", "comm,pid,tid,cpu,time,event,ip,sym,symoff,dso"),
    ("script", "-F", "+srcline,+brstack,+weight,+data_src,+period,+phys_addr"), ("script", "-D"), ("script", "--show-mmap-events",
    "--show-task-events", "--show-switch-events", "--show-lost-events"), ("script", "-j", "3"), ("symbols", "--no-cache"),
    ("offcpu",), ("offcpu", "--locks"), ("offcpu", "--wakers"), ("symbols", "--format=json", "--no-cache"), ("convert", "--byte-order=big", "-o", "-"), ("convert", "--to=quipper", "-o", "-"))
TRACE_COMMANDS = BOTH + (
    ("latency",), ("latency", "--by=caller"), ("latency", "--by=thread", "--format=csv"), ("latency", "--format=json"),
    ("latency", "-j", "3"), ("script", "--format=yaml"), ("script", "--ticks"), ("convert", "--trace=basic", "-o", "-"))


def run(build, words, path):
    environment = dict(os.environ, LC_ALL="C", TZ="UTC", XDG_CACHE_HOME="/dev/null", PERFRAY_HASH_SEED="1")
    try:
        done = subprocess.run([build, *words, path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=environment, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return None
    return done.returncode, done.stdout, done.stderr


def is_trace(path):
    with open(path, "rb") as file:
        return file.read(8) not in (b"PERFILE2", b"2ELIFREP", b"PERFFILE")


def inputs(folders, largest):
    for folder in folders:
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file() and path.suffix not in REFERENCES and 0 < path.stat().st_size <= largest:
                yield path


def compare(task):
    old, new, words, path = task
    before, after = run(old, words, path), run(new, words, path)
    return None if before == after else "%s %s" % (" ".join(words), path)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("-j", type=int, default=2)
    parser.add_argument("--largest", type=int, default=4 << 20)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("folder", nargs="+")
    options = parser.parse_args()
    tasks = [(options.old, options.new, words, path) for path in inputs(options.folder, options.largest)
             for words in (TRACE_COMMANDS if is_trace(path) else COMMANDS)]
    differences = 0
    with ThreadPoolExecutor(options.j) as pool:
        for difference in pool.map(compare, tasks):
            if difference:
                differences += 1
                print("differs: " + difference, flush=True)
    print("%d runs of each build, %d differ" % (len(tasks), differences))
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
