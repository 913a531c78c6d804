#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_both.py - tests pages of a recording and a trace of the same run.

usage: run_both.py

    both/calls     the page has the calls of the trace, in their threads, with their starts, durations and depths; the threads
                   of the recording are in another order than those of the trace
    both/lines     with --lines, functions have lines of their own
    both/waits     the sums of waits are those of a page of the recording alone

The program is recorded and traced here. Environment: PERFRAY, the command.
"""
import csv
import io
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
import page_columns  # noqa: E402
from harness import Skip, must  # noqa: E402

THREADS = 8
# The threads work in the reverse of the order in which they start, so that most have their first samples in that order: it is the order of the
# trace only if all but one happen to be sampled while they start.
PROGRAM = r"""
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
static volatile unsigned long sink;
static inline __attribute__((always_inline)) void spin(unsigned long rounds) { for (unsigned long i = 0; i < rounds; i++) sink += i; }
__attribute__((noinline)) void work(unsigned long rounds) { spin(rounds); }
__attribute__((noinline)) void step(int deep) { work(100000); if (deep) step(deep - 1); }
static sem_t turns[%d + 1];
static void *run(void *argument) {
    const intptr_t number = (intptr_t)argument;
    work(1);
    sem_wait(&turns[number]);
    for (int i = 0; i < 40; i++) step(2);
    if (number > 0) sem_post(&turns[number - 1]);
    return 0;
}
int main(void) {
    pthread_t threads[%d];
    for (int i = 0; i < %d; i++) sem_init(&turns[i], 0, 0);
    for (intptr_t i = 0; i < %d; i++) pthread_create(&threads[i], 0, run, (void *)i);
    sem_post(&turns[%d - 1]);
    for (int i = 0; i < %d; i++) pthread_join(threads[i], 0);
    return 0;
}
""" % ((THREADS,) * 6)


def make(folder):
    with open(os.path.join(folder, "both.c"), "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    built = harness.run([harness.first_of("gcc", "cc"), "-O1", "-g", "-fno-omit-frame-pointer", "-finstrument-functions", "-pthread", "-o", "both",
                         "both.c"], cwd=folder)
    must(built.returncode == 0, "the program cannot be built: %s" % harness.last_line(built))
    trace = [harness.PERFRAY, "trace", "-q", "-o", "both.xray", "./both"]
    done = harness.run([harness.PERFRAY, "record", "-k", "monotonic", "-e", "cpu-clock", "-F", "999", "--switch-events", "-g", "-o", "both.data", "--",
                        *trace], cwd=folder)
    if done.returncode not in (0, 1) or not os.path.exists(os.path.join(folder, "both.xray")):
        raise Skip("a run cannot be recorded and traced here: %s" % harness.last_line(done))
    return [os.path.join(folder, name) for name in ("both.data", "both.xray")]


def sql(query, path):
    done = harness.perfray("sql", "--format=csv", "-q", query, path)
    must(done.returncode == 0, done.stderr.decode())
    return list(csv.DictReader(io.StringIO(done.stdout.decode())))


def page(*paths):
    done = harness.perfray("view", "--data", "-o", "-", *paths)
    must(done.returncode == 0, done.stderr.decode())
    return page_columns.read(done.stdout)


def calls_of(columns, quantum):
    """{tid: [(start, duration, depth)]} of a page."""
    at, found = 0, {}
    for tid, count in zip(columns["thread.tid"], columns["thread.calls"]):
        start = 0
        for i in range(at, at + count):
            start += columns["call.gap"][i] * quantum
            found.setdefault(tid, []).append((start, columns["call.duration"][i] * quantum, columns["call.depth"][i]))
        at += count
    must(at == len(columns["call.gap"]), "threads have %d calls, the page %d" % (at, len(columns["call.gap"])))
    return found


def check_calls(data, trace):
    meta, columns = page(data, trace)
    quantum = meta.get("call_quantum", 1)
    found, wanted = calls_of(columns, quantum), {}
    for row in sql("SELECT t.tid, c.ts, c.dur, c.depth FROM call c JOIN thread t ON t.id = c.thread_id ORDER BY c.id", trace):
        wanted.setdefault(int(row["tid"]), []).append((int(row["ts"]), int(row["dur"]), int(row["depth"])))
    order = [tid for tid in columns["thread.tid"] if tid in wanted]
    must(len(wanted) == THREADS + 1 and order != list(wanted), "the threads have one order: %s" % order)
    must(set(found) == set(wanted), "threads %s, must be %s" % (sorted(found), sorted(wanted)))
    begin = min(calls[0][0] for calls in wanted.values()) - min(calls[0][0] for calls in found.values())
    for tid, calls in wanted.items():
        must(len(calls) == len(found[tid]), "thread %d: %d calls, must be %d" % (tid, len(found[tid]), len(calls)))
        for is_, must_be in zip(found[tid], calls):
            must(abs(is_[0] + begin - must_be[0]) <= 2 * quantum and abs(is_[1] - must_be[1]) <= quantum and is_[2] == must_be[2],
                 "thread %d: call at %d lasts %d in depth %d, must be %s" % (tid, is_[0] + begin, is_[1], is_[2], must_be))
    return "%d calls" % sum(map(len, wanted.values()))


def check_lines(data, trace):
    """The line of a function is one of its own, not of a function that is inlined into it."""
    _, columns = page("--lines", data, trace)
    lines = PROGRAM.splitlines()
    found = {columns["strings"][name]: line for name, line in zip(columns["func.name"], columns["func.line"])}
    for name in ("work", "step"):
        must(name in found and "void %s(" % name in lines[found[name] - 1], "%s is at line %s" % (name, found.get(name)))
    _, columns = page("--lines", trace)
    traced = {columns["strings"][name]: line for name, line in zip(columns["func.name"], columns["func.line"])}
    traced.pop("[rare stacks]", None)  # not a function
    must(traced and all(traced.values()), "functions of the trace have no lines: %s" % traced)


def waits_of(columns):
    """{(tid, state, reason): ns} of a page."""
    sums = {}
    for thread, state, reason, ns in zip(*(columns["wait." + name] for name in ("thread", "state", "reason", "ns"))):
        key = columns["thread.tid"][thread], state, reason
        sums[key] = sums.get(key, 0) + ns
    return sums


def check_waits(data, trace):
    found, wanted = waits_of(page(data, trace)[1]), waits_of(page(data)[1])
    must(len(wanted) > 4, "the recording has %d sums of waits" % len(wanted))
    must(found == wanted, "%s, must be %s" % (found, wanted))


def main():
    with harness.scratch("both") as folder:
        try:
            paths = make(folder)
        except Skip as reason:
            harness.skip("both", reason)
            return harness.status()
        harness.attempt("both/calls", check_calls, *paths)
        harness.attempt("both/lines", check_lines, *paths)
        harness.attempt("both/waits", check_waits, *paths)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
