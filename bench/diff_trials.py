# SPDX-License-Identifier: Apache-2.0
"""diff_trials.py [--windows N] [--runs N] [--seconds N] [--loaded] [--processes]: how often `perfray diff` is right about real recordings.

Environment: PERFRAY, the command. Requires gcc and permission to sample CPU time.

- No change: two programs with phases of random length run side by side; N windows of 12 s (--windows, default 21) of each are recorded. All pairs
  of windows of one program are compared. A pair with any verdict is wrong. With --processes each window is of a new process, whose memory layout and
  hash seed differ: one recording a side cannot tell such differences from a change, and `perfray diff` prints a note about it.
- Planted changes: a program whose function `target` takes 20 % of its time, and two builds of it in which `target` does 5 % and 1 % more. Each is
  recorded N times (--runs, default 40). Eight recordings of the base, drawn at random, are compared with eight of the 5 % build: `target` must be
  "slower". Three are compared with three of the 1 % build: `target` should not get a verdict. The sizes are confirmed by timing `target` without the other
  functions.

--loaded keeps every CPU busy with two more processes.
"""
import argparse
import csv
import itertools
import os
import random
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "support"))
import harness  # noqa: E402

DRAWS = 100
SECONDS = 12
CPUS = sorted(os.sched_getaffinity(0))
PHASES = """import json, os, random, re, time
end = time.time() + %d
random.seed(os.urandom(8))
text = " ".join(str(random.random()) for _ in range(2000))
def numbers(): return sorted(float(word) for word in text.split())
def packed(): return json.loads(json.dumps([text.split()] * 3))
def words(): return re.findall(r"\\d+\\.(\\d)\\d+", text)
while time.time() < end:
    work = random.choice((numbers, packed, words))
    for _ in range(random.randrange(1, 60)): work()
"""
STEPS = """#include <stdlib.h>
#include <string.h>
#include <time.h>
#define LOOP(name, count, own) __attribute__((noinline)) unsigned name(unsigned x) { \\
    for (unsigned i = 0; i < count; i++) x = (x ^ x >> own) * 2654435761u + i; return x; }
LOOP(first, 100000, 5) LOOP(second, 100000, 6) LOOP(third, 100000, 9) LOOP(fourth, 100000, 11)
LOOP(target, TARGET, 7)
static unsigned (*const all[])(unsigned) = {first, second, third, fourth, target};
int main(int argc, char **argv) { /* seconds; or rounds of all in a random order (a fixed one is in step with the timer), or of target without the others */
    const time_t end = time(NULL) + atoi(argv[2]);
    const unsigned rounds = (unsigned)atoi(argv[2]);
    unsigned x = 1;
    srand((unsigned)(time(NULL) ^ (long)&x >> 12));
    for (unsigned round = 0; !strcmp(argv[1], "phases") && time(NULL) < end; round++)
        for (int of = rand() % 4, left = rand() % 60; left >= 0; left--) x = all[of](x);
    for (unsigned round = 0; !strcmp(argv[1], "all") && round < rounds; round++)
        for (unsigned of = rand() % 5, step = 1 + rand() % 4, left = 5; left; left--, of = (of + step) % 5) x = all[of](x);
    for (unsigned round = 0; !strcmp(argv[1], "target") && round < rounds; round++)
        x = target(x);
    return x == 7 && argc == 9;
}
"""


def build(folder, name, count):
    """Builds have the same name, because `diff` matches objects by name."""
    path = os.path.join(folder, name, "steps")
    os.mkdir(os.path.dirname(path))
    subprocess.run(["gcc", "-O1", "-DTARGET=%d" % count, "-x", "c", "-o", path, "-"], input=STEPS.encode(), check=True)
    return path


def start(*words):
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def record(output, *words):
    return start(harness.PERFRAY, "record", "-e", "cpu-clock", "-F", "4000", "-o", output, *words)


def pinned(at, words):
    return ["taskset", "-c", str(CPUS[at % len(CPUS)]), *words]


def wait_for(running):
    for process in running:
        harness.must(process.wait() == 0, "a recording failed")


def record_all(commands):
    """Two at a time, each on a CPU of its own."""
    for pair in range(0, len(commands), 2):
        wait_for([record(output, "--", *pinned(at, words)) for at, (output, words) in enumerate(commands[pair:pair + 2])])


def record_windows(programs, made, windows):
    """Both programs run throughout."""
    running = {name: start(*pinned(at, words)) for at, (name, words) in enumerate(programs.items())}
    try:
        for at in range(windows):
            wait_for([record(made[name][at], "-p", str(running[name].pid), "--", "sleep", str(SECONDS)) for name in programs])
    finally:
        for process in running.values():
            process.kill()


def compare(*words):
    done = harness.perfray("diff", "--format=csv", "--no-cache", *words)
    harness.must(done.returncode == 0, harness.last_line(done))
    return {row["symbol"]: row["verdict"] for row in csv.DictReader(done.stdout.decode().splitlines())}


def count_false_verdicts(folder, windows, processes):
    steps = build(folder, "steps", 100000)
    seconds = SECONDS if processes else 2 * SECONDS * windows
    programs = {"python": [sys.executable, "-c", PHASES % seconds], "steps": [steps, "phases", str(seconds)]}
    made = {name: [os.path.join(folder, "%s-%d.data" % (name, at)) for at in range(windows)] for name in programs}
    if processes:
        record_all([(made[name][at], programs[name]) for at in range(windows) for name in programs])
    else:
        record_windows(programs, made, windows)
    for name, recordings in made.items():
        pairs = list(itertools.combinations(recordings, 2))
        wrong = sum(any(verdict != "noise" for symbol, verdict in compare(*pair).items() if symbol != "[total]") for pair in pairs)
        print("%s against itself: %d of %d pairs have a verdict (%.1f %%)" % (name, wrong, len(pairs), 100 * wrong / len(pairs)), flush=True)


def seconds_of(words):
    before = os.times()
    subprocess.run(words, check=True)
    after = os.times()
    return after.children_user - before.children_user


def print_sizes(builds, rounds):
    timed = [[seconds_of([path, "target", str(rounds)]) for path in builds.values()] for _ in range(9)]
    for at, name in enumerate(builds):
        ratio = statistics.median(row[at] / row[0] for row in timed)
        print("target of %s, timed without the others: %+.2f %%" % (name, 100 * (ratio - 1)), flush=True)


def count_found(base, new, runs):
    """How often `target` is slower, and how often any other function has a verdict, among random draws of `runs` recordings a side."""
    found = others = 0
    for _ in range(DRAWS):
        sides = [",".join(random.sample(recordings, runs)) for recordings in (base, new)]
        verdicts = compare("--base", sides[0], "--new", sides[1])
        found += verdicts.get("target") == "slower"
        others += any(verdict == "slower" for symbol, verdict in verdicts.items() if symbol not in ("target", "[total]"))
    print("%d runs a side: target is slower in %d of %d, another function in %d" % (runs, found, DRAWS, others), flush=True)


def try_planted(folder, runs, seconds):
    builds = {"base": build(folder, "base", 100000), "5 % more": build(folder, "five", 105000), "1 % more": build(folder, "one", 101000)}
    rounds = max(1, int(100 * seconds / seconds_of([builds["base"], "all", "100"])))
    made = {name: [os.path.join(folder, "planted%s-%d.data" % (name[0], at)) for at in range(runs)] for name in builds}
    record_all([(made[name][at], [builds[name], "all", str(rounds)]) for at in range(runs) for name in builds])
    print_sizes(builds, 4 * rounds // seconds)
    for name, count in (("5 % more", 8), ("1 % more", 3), ("1 % more", 8)):
        print(name, end=", ")
        count_found(made["base"], made[name], count)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--windows", type=int, default=21)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--seconds", type=int, default=5, help="CPU time of a planted run")
    parser.add_argument("--loaded", action="store_true")
    parser.add_argument("--processes", action="store_true")
    options = parser.parse_args()
    random.seed(1)
    load = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * len(CPUS) if options.loaded else 0)]
    try:
        with harness.scratch("trials") as folder:
            began = time.time()
            count_false_verdicts(folder, options.windows, options.processes)
            if options.runs:
                try_planted(folder, options.runs, options.seconds)
            print("%.0f s; load %.1f" % (time.time() - began, os.getloadavg()[0]))
    finally:
        for process in load:
            process.kill()


if __name__ == "__main__":
    main()
