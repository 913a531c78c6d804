#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_diff_truth.py - checks that the intervals of perfray diff contain the true change in 93 to 97 % of simulated comparisons.

Programs are simulated with numpy: a process alternates between two phases of random length, each with its own shares of six
objects, and is sampled by a timer. The true shares follow from the parameters, so the true change is known exactly. With PERFRAY_LONG set, there are
400 comparisons of each kind, with strict bounds; otherwise few comparisons with fixed seeds and loose bounds.
"""
import csv
import json
import math
import os
import statistics
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
import made  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None

LOST = 2                       # record type
OBJECTS = 6
TRIALS = 400 if harness.LONG else 6
BASE = ((30, 25, 20, 15, 8, 2), (10, 15, 20, 25, 28, 2))      # the share of each object in each phase, in percent
NEW = ((33, 24, 19, 14, 8, 2), (12, 14, 20, 24, 28, 2))
# name, samples per run, mean length of a phase in samples (0: one phase, so samples are independent), runs per side
KINDS = (("independent", 3000, 0, 1), ("short phases", 3000, 10, 1), ("long phases", 6000, 60, 1), ("few samples", 400, 0, 1),
         ("three runs", 1000, 20, 3), ("eight runs", 1000, 20, 8))


def truth(shares, length):
    return numpy.mean(shares, axis=0) if length else numpy.array(shares[0], float)


def phases(random, count, length):
    """The phase of each sample. Lengths have a geometric distribution, so that the process is stationary from its start."""
    if not length:
        return numpy.zeros(count, int)
    changes = random.random(count) < 1 / length
    return (numpy.cumsum(changes) + random.integers(2)) % 2


def draw(random, shares, count, length):
    bounds = numpy.cumsum(shares, axis=1)[phases(random, count, length)] / 100
    return (random.random(count)[:, None] > bounds[:, :-1]).sum(axis=1)


def write(path, objects, more=()):
    records = [made.comm("made", 1)]
    records += [made.map_of(f"/none/object{i}", (i + 1) << 20, 1 << 16, 0, 2) for i in range(OBJECTS)]
    records += [made.sample((int(one) + 1 << 20) + 16, 1000 + 1000000 * at) for at, one in enumerate(objects)]
    made.write_file(path, records + list(more))


def differing(random, shares, differs):
    """The shares of one run: the time of each object deviates from the average by a random fraction with this standard deviation."""
    if not differs:
        return shares
    work = numpy.array(shares, float) * numpy.exp(differs * random.standard_normal(OBJECTS))
    return 100 * work / work.sum(axis=1)[:, None]


def compare(folder, random, kind, new, seed, differs=0):
    """The rows of one comparison by object."""
    _, count, length, runs = kind
    sides = []
    for side, shares in (("base", BASE), ("new", new)):
        sides.append([os.path.join(folder, f"{side}{i}.data") for i in range(runs)])
        for path in sides[-1]:
            write(path, draw(random, differing(random, shares, differs), count, length))
    done = harness.perfray("diff", "--by", "object", "--no-symbols", "--format=csv", "--seed", str(seed), "--base",
                           ",".join(sides[0]), "--new", ",".join(sides[1]))
    harness.must(done.returncode == 0, done.stderr)
    text = done.stdout if isinstance(done.stdout, str) else done.stdout.decode()
    return {row["object"] or row["symbol"]: row for row in csv.DictReader(text.splitlines())}


def check(kind, new, wanted):
    random = numpy.random.default_rng(29)
    change = truth(new, kind[2]) - truth(BASE, kind[2])
    inside = total = raised = 0
    with harness.scratch("diff-truth") as folder:
        for trial in range(TRIALS):
            rows = compare(folder, random, kind, new, trial + 1)
            found = [rows[key] for key in sorted(rows) if "object" in key]
            harness.must(len(found) == OBJECTS, f"{len(found)} rows of {OBJECTS}")
            inside += sum(float(row["low"]) <= true <= float(row["high"]) for row, true in zip(found, change))
            total += OBJECTS
            raised += any(row["verdict"] != "noise" for row in found)
    wanted(inside / total, raised / TRIALS)


def covers(coverage, _):
    low, high = (0.93, 0.97) if harness.LONG else (0.6, 1)
    print(f"# coverage {100 * coverage:.1f} %")
    harness.must(low <= coverage <= high, f"intervals contain the truth in {100 * coverage:.1f} %")


def keeps_quiet(coverage, raised):
    covers(coverage, raised)
    most = 0.075 if harness.LONG else 0.05 + 6 * math.sqrt(0.05 * 0.95 / TRIALS)
    print(f"# {100 * raised:.1f} % of comparisons without a change raise a verdict")
    harness.must(raised <= most, f"{100 * raised:.1f} % raise a verdict")


# --- A planted change: an object with a share of 20 % takes longer by a given fraction, everything else as long as before.

PLANTED = 2                    # its share in BASE's first phase is 20 %
PLANTED_TRIALS = 30
RATE = 4000                    # samples per second, the default of record
RUNS_DIFFER = 0.01             # the variation between runs of one program, caused by memory layout and CPU frequency


def slower(part):
    work = numpy.array(BASE[0], float)
    work[PLANTED] *= 1 + part
    return (tuple(100 * work / work.sum()),) * 2


def share_found(kind, part):
    random = numpy.random.default_rng(31)
    with harness.scratch("diff-truth") as folder:
        return sum(compare(folder, random, kind, slower(part), trial + 1, RUNS_DIFFER if kind[3] > 1 else 0)[f"object{PLANTED}"]["verdict"] == "slower"
                   for trial in range(PLANTED_TRIALS)) / PLANTED_TRIALS


def check_found(kind, part, low, high):
    found = share_found(kind, part)
    print(f"# {kind[0]}: {100 * part:+.0f} % found in {100 * found:.1f} % of {PLANTED_TRIALS}")
    harness.must(low <= found <= high, f"found in {100 * found:.1f} %")


# --- A recording with losses: the header of the output says how many samples of how many were lost.

def check_losses():
    random, lost = numpy.random.default_rng(32), struct.pack("<QQ", made.ID, 50) + made.tail(5000000)
    with harness.scratch("diff-truth") as folder:
        paths = [os.path.join(folder, name) for name in ("base.data", "new.data")]
        for path, more in zip(paths, ([], [(LOST, 0, lost)])):
            write(path, draw(random, BASE, 400, 0), more)
        done = harness.perfray("diff", "--by", "object", "--no-symbols", *paths)
        notes = [line for line in done.stdout.decode().splitlines() if line.startswith("# note") and "lost" in line]
        harness.must(done.returncode == 0 and len(notes) == 1 and "50" in notes[0], f"{done.returncode}: {notes}")


# --- Percentiles of traced calls.

PARTS = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}
FUNCTIONS, CALLS, TRACES = (50, 10000, 10) if harness.LONG else (20, 2000, 1)
SPREAD = 1.5                   # of the logarithms of durations, which have a normal distribution
MEDIAN = 100000


def write_trace(path, random):
    """A basic-mode log of consecutive calls, in which the functions take turns."""
    calls = FUNCTIONS * CALLS
    durations = (MEDIAN * numpy.exp(SPREAD * random.standard_normal(calls))).astype(numpy.uint64) + 1
    records = numpy.zeros(2 * calls, [("type", "<u2"), ("cpu", "u1"), ("kind", "u1"), ("function", "<i4"), ("tsc", "<u8"),
                                      ("tid", "<u4"), ("pid", "<u4"), ("room", "<u8")])
    records["tid"] = records["pid"] = made.PID
    records["kind"][1::2] = 1
    records["function"] = numpy.repeat(numpy.arange(calls) % FUNCTIONS + 1, 2)
    ends = 1000 + numpy.cumsum(durations + 1)
    records["tsc"][0::2], records["tsc"][1::2] = ends - durations, ends
    with open(path, "wb") as file:
        file.write(struct.pack("<HHIQ16x", 3, 0, 3, 1000000000) + records.tobytes())


def check_percentiles():
    """The true percentile of the distribution is known: it is exp of the percentile of the normal distribution."""
    random, normal = numpy.random.default_rng(30), statistics.NormalDist()
    inside, trials = dict.fromkeys(PARTS, 0), 0
    with harness.scratch("diff-truth") as folder:
        paths = [os.path.join(folder, name) for name in ("base.xray", "new.xray")]
        for _ in range(TRACES):
            for path in paths:
                write_trace(path, random)
            done = harness.perfray("diff", "--format=json", "--rounds", "100", *paths)
            harness.must(done.returncode == 0, done.stderr)
            for calls in [row[side] for row in json.loads(done.stdout)["latencies"] for side in ("base", "new")]:
                harness.must(calls["count"] == CALLS, f"{calls['count']} calls of {CALLS}")
                trials += 1
                for name, part in PARTS.items():
                    _, low, high = calls[name]
                    inside[name] += low <= MEDIAN * math.exp(SPREAD * normal.inv_cdf(part)) <= (math.inf if high is None else high)
    harness.must(trials == 2 * FUNCTIONS * TRACES, f"{trials} trials")
    low, high = (0.93, 0.97) if harness.LONG else (0.75, 1)
    for name, count in inside.items():
        print(f"# {name}: {100 * count / trials:.1f} % of {trials}")
        harness.must(low <= count / trials <= high, f"intervals of {name} contain the truth in {100 * count / trials:.1f} %")


def main():
    if numpy is None:
        harness.skip("diff/truth", "Python has no numpy")
        return harness.status()
    for kind in KINDS:
        if len(sys.argv) > 1 and kind[0] not in sys.argv[1:]:
            continue
        harness.attempt(f"diff/truth/{kind[0]}/changed", check, kind, NEW, covers)
        harness.attempt(f"diff/truth/{kind[0]}/same", check, kind, BASE, keeps_quiet)
    if harness.LONG and (not sys.argv[1:] or "planted" in sys.argv[1:]):
        harness.attempt("diff/truth/planted/eight", check_found, ("eight runs of 10 s", 10 * RATE, 0, 8), 0.05, 0.9, 1)
        harness.attempt("diff/truth/planted/minute", check_found, ("60 s a side", 60 * RATE, 0, 1), 0.05, 0.9, 1)
        harness.attempt("diff/truth/planted/little", check_found, ("three runs of 10 s", 10 * RATE, 0, 3), 0.01, 0, 0)
    harness.attempt("diff/truth/losses", check_losses)
    if not sys.argv[1:] or "percentiles" in sys.argv[1:]:
        harness.attempt("diff/truth/percentiles", check_percentiles)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
