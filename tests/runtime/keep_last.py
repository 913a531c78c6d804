#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keep_last.py LIBRARY SECONDS SIZE - records into a ring of SIZE for SECONDS, and checks the memory use and that the end is
complete.

programs/recorded_ring.c makes about 200 000 calls per second in numbered ticks, so that missing calls are noticed. For each thread
the trace must have every tick from its first one to the last one of the program. After a third of the run the resident memory must
not grow by more than 64 pages, and the file must not grow at all.
"""
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
from recorded import Recorded

HERE = Path(__file__).resolve().parent / "programs"


def ticks_of(records, names):
    """Returns {thread: [calls of leaf in each complete tick, in order]}, and the first and last time."""
    threads, times = {}, {}
    for r in sorted((r for r in records if r.kind in ("enter", "exit")), key=lambda r: r.tsc):
        ticks = threads.setdefault(r.tid, [])
        times.setdefault(r.tid, [r.tsc, r.tsc])[1] = r.tsc
        name = names.get(r.func)
        if name == "tick" and r.kind == "enter":
            ticks.append([0, False])
        elif name == "tick" and ticks:
            ticks[-1][1] = True
        elif name == "leaf" and r.kind == "enter" and ticks:
            ticks[-1][0] += 1
    return {tid: [n for n, ended in ticks if ended] for tid, ticks in threads.items()}, times


def missing(counts, end):
    """Returns a description of the ticks before number `end` that have too few or too many calls."""
    first = end - len(counts)
    return [f"tick {first + i}: {n} calls, not {100 + (first + i) % 7}" for i, n in enumerate(counts) if n != 100 + (first + i) % 7]


def run(folder, library, seconds, size):
    program, trace = folder / "ring", folder / "trace"
    subprocess.run(["gcc", "-O1", "-finstrument-functions", "-pthread", str(HERE / "recorded_ring.c"), "-o", str(program), library,
                    f"-Wl,-rpath,{Path(library).resolve().parent}"], check=True)
    done = subprocess.run([str(program), seconds], env=dict(os.environ, PERFRAY_RT=f"file={trace} keep=last size={size}"),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
    first, second, least, most = map(int, done.stdout.split())
    on_disk = trace.stat().st_blocks * 512
    recorded = Recorded(trace)
    threads, times = ticks_of(recorded.trace.records, recorded.names)
    wrong = [str(gap) for gap in recorded.gaps()] + done.stderr.splitlines()
    rate = recorded.trace.header["cycle_frequency"]
    for tid in sorted(threads):
        end = [n for n in (first, second) if not missing(threads[tid], n)]
        if not end:
            wrong += missing(threads[tid], first)[:4] + [f"of {first} or {second}"]
        print(f"thread {tid}: the last {len(threads[tid])} ticks of {end or '?'}, "
              f"{(times[tid][1] - times[tid][0]) / rate:.1f} s")
    if len(threads) != 2 or min(map(len, threads.values())) < 100:
        wrong.append(f"{len(threads)} threads")
    if most - least > 64:
        wrong.append(f"resident memory grew from {least} to {most} pages")
    if on_disk > trace.stat().st_size + 65536:
        wrong.append(f"{on_disk} bytes on the disk")
    print(f"{seconds} s: resident memory {least * 4} to {most * 4} kB, {on_disk >> 10} kB on the disk, lost {recorded.lost}")
    harness.result("runtime/keep_last", wrong)


def main(*words):
    with harness.scratch("keep-last") as folder:
        run(Path(folder), *words)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
