#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_growth.py - checks that twice the input takes at most twice the time, and that memory is bounded.

usage: run_growth.py [--scale N] [--long-scale N] [--only WORD] MEASURE

MEASURE is the program built from bench/measure.c. Environment: PERFRAY, the command (a build without sanitizers); with PERFRAY_LONG, --long-scale replaces
--scale.

Each of FAMILIES, TRACES and ASKED is generated in three sizes: 1x, 2x and 4x. The name of the family says what is doubled; the hostile ones consist of the
bytes in which searching for records is most expensive. Requirements for each of COMMANDS (for traces TRACE_COMMANDS, for ASKED its own commands):

    time    User plus system time grows by at most RATIO per doubling, if it exceeds FLOOR. An input takes at most twice the time of as many bytes of sound
            samples, plus one second or, for inputs above 4 MB, one second per 4 MB.
    memory  A command uses at most FLAT MB. If the number of distinct items grows with the input, it may use 2 bytes more per byte of input; the commands
            OF_PROFILES 16 bytes, `latency` 24. Each row of ASKED has its own number of bytes. Stacks over the limit are counted in [limit] (LIMITED), and
            everything else is complete.
    text    `report` prints at most TEXT_EACH bytes per byte of the recording, plus TEXT_ALSO (BOUNDED). Cut trees end with [limit], and stderr reports the
            number of cut trees and the limit. With a higher limit everything is printed. Compressed recordings are cut at the same place.

On a busy machine, times can temporarily double. Therefore everything that grows too fast is measured AGAIN times more, alternating between sizes, and the
minimum of each size is used. If the minimum still grows too fast, the three sizes LARGER are measured in the same way. It is an error only if the minimum
grows by more than RATIO per doubling there too.
"""
import argparse
import os
import resource
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
from growth_families import (  # noqa: E402
    MMAP2, SAMPLE, THREAD_MAP, auxtrace, call_chains, chains_in_time, compressed_in_compressed, counters_read, events,
    events_between, events_updated, feature_events, feature_repeated, feature_strings, fork_chain, forking_chains,
    headers, indices_over_zeros, long_function_name, long_names, maps_of_one_place, maps_upon_maps, noise_alone,
    noise_between, one_pid, overlapping_groups, payloads_in_payloads, processes, programs_and_types,
    programs_of_one_type_list, record, repeated, sample, samples, shared_ids, switches, switching_threads, threads_and_maps, trace_buffers,
    trace_calls, trace_deep_paths, trace_exceptions, trace_extents, trace_functions, trace_latencies, trace_lone_exits,
    trace_noise, trace_recursion, trace_threads, trace_zeros, tracepoint_stream, unknown_features, wide_group)

COMMANDS = (["info", "--stats"], ["info"], ["dump", "--format=jsonl"], ["report", "--no-pager", "--no-symbols"],
            ["export", "--no-symbols"], ["export", "--format=pprof", "--no-symbols"], ["flame", "--no-symbols"],
            ["symbols", "--symfs", "/sys", "--kallsyms", "/dev/null"], ["verify"],
            ["convert", "-z", "-o", "-"], ["recover", "-o", "-"], ["offcpu", "--no-pager", "--no-lines"])
TRACE_COMMANDS = [command for command in COMMANDS if command[0] not in ("verify", "convert", "offcpu")] + [
    ["latency"], ["latency", "--by=caller"], ["script"], ["convert", "--trace=fdr5", "-o", "-"]]
OF_PROFILES = ("report", "export", "flame", "latency")
RATIO, FLOOR, FLAT = 2.6, 0.05, 32
AGAIN = 3
LARGER = (4, 8, 16)
SECONDS = 60

# if this is set, malloc of the C library fills the memory that it returns, so unused memory counts as resident
UNFILLED = {name: value for name, value in os.environ.items() if name != "MALLOC_PERTURB_"}

GARBAGE = b"\xee" * 8
MB = 1 << 20

# name: (maker, n for size 1x at scale 1, whether the number of distinct items grows)
FAMILIES = {
    "samples": (samples, 25000, False),
    "long names": (long_names, 250, True),
    "feature strings": (feature_strings, 16384, True),
    "described events": (feature_events, 1024, True),
    "events": (events, 1024, True),
    "processes": (processes, 5000, True),
    "depth of forks": (fork_chain, 12500, True),
    "one pid": (one_pid, 10000, True),
    "call chains": (call_chains, 16, False),
    "counters read": (counters_read, 12500, True),
    "maps upon maps": (maps_upon_maps, 4000, True),
    "compressed in compressed": (compressed_in_compressed, 16000, False),
    "names of a stream": (tracepoint_stream, 500, True),
    "indices over zeros": (indices_over_zeros, 2, False),
    "noise between records": (noise_between, 4000, False),
    "noise": (noise_alone, MB // 2, False),
    "zeros": (repeated(bytes(8)), MB, False),
    "ones": (repeated(b"\xff" * 8), MB, False),
    "headers of 8 bytes": (headers(84, 8), MB // 2, False),
    "headers of samples": (headers(SAMPLE, 65528), MB, False),
    "headers of attrs": (headers(64, 65535, bytes(8)), MB // 8, False),
    "headers of maps": (headers(MMAP2, 65528), MB, False),
    "headers in headers": (repeated(b"".join(struct.pack("<IHH", kind, 0, 65528 - 8 * kind) for kind in range(1, 22))),
                           MB // 4, False),
    "headers of thread maps": (headers(THREAD_MAP, 65528, struct.pack("<Q", 4095)), MB, False),
    "unknown types": (headers(200, 16, bytes(8)), MB // 2, False),
    "samples of a wrong length": (repeated(record(SAMPLE, bytes(40))), MB // 4, False),
    "payloads before garbage": (repeated(auxtrace(16) + bytes(16) + GARBAGE + sample()), MB // 4, False),
    "payloads past the end": (repeated(auxtrace(1 << 40) + sample() * 3), MB // 4, False),
    "payloads in payloads": (payloads_in_payloads, 1500, False),
    "records past the end": (headers(SAMPLE, 65528, GARBAGE), MB // 4, False),
}

TRACES = {
    "trace of calls": (trace_calls, 20000, False),
    "trace of threads": (trace_threads, 4000, True),
    "trace of functions": (trace_functions, 20000, True),
    "trace of latencies": (trace_latencies, 40000, True),
    "trace of recursion": (trace_recursion, 60000, True),
    "trace of lone exits": (trace_lone_exits, 30000, True),
    "trace of exceptions": (trace_exceptions, 100, False),
    "trace of buffers": (trace_buffers, 5000, True),
    "trace of extents": (trace_extents, 5000, True),
    "trace of noise": (trace_noise, MB // 2, True),
    "trace of zeros": (trace_zeros, MB // 2, True),
}

PLAIN_REPORT = ["report", "--no-pager", "--no-symbols"]
IN_TIME = PLAIN_REPORT + ["-g", "none", "-s", "time", "--time-quantum", "1ns"]

WAITING = (["offcpu", "--no-pager"], ["offcpu", "--format=csv"], ["offcpu", "--wakers", "--no-pager"], ["offcpu", "--by=process"],
           PLAIN_REPORT + ["-e", "offcpu-time"], PLAIN_REPORT + ["--latency"], PLAIN_REPORT + ["-s", "parallelism"])

# Features used only on request: {name: (maker, n for size 1x, commands, bytes of memory per byte of input)}. "recursion in time" needs so much memory because
# every call is a row, and has its own stack of 256 entries.
ASKED = {
    "events with samples": (events, 8000, (PLAIN_REPORT, PLAIN_REPORT + ["--format=csv"], PLAIN_REPORT + ["--tree"]), 16),
    "events updated": (events_updated, 12000, (["script", "--no-symbols"], PLAIN_REPORT, ["info", "--format=json"], ["verify"]), 16),
    "events between": (events_between, 2000, (["script", "--no-symbols"], PLAIN_REPORT, ["info", "--format=json"], ["verify"],
                                              ["dump"], ["convert", "-o", "-"], ["script", "--no-symbols", "--switch-on=name000000"]), 16),
    "members of a group": (wide_group, 1000, (PLAIN_REPORT, PLAIN_REPORT + ["--group"], ["info", "--format=json"]), 16),
    "overlapping groups": (overlapping_groups, 2000, (["info"], ["info", "--format=perf"], ["info", "--format=json"], PLAIN_REPORT), 16),
    "BPF programs and types": (programs_and_types, 5000, (["info"], ["info", "--format=perf"], ["info", "--format=json"]), 16),
    "BPF programs of one list": (programs_of_one_type_list, 4000, (["info", "--format=perf"],), 16),
    "BPF functions of one name": (long_function_name, 2000, (["info", "--format=perf"],), 16),
    "features repeated": (feature_repeated, 2000, (["info"], ["info", "--format=perf"], ["info", "--format=json"], ["dump"]), 16),
    "features unknown": (unknown_features, 16000, (["info"], ["info", "--format=perf"], ["info", "--format=json"], ["dump"], ["verify"],
                                                   ["convert", "-o", "-"], PLAIN_REPORT), 16),
    "shared ids": (shared_ids, 500, (["script", "--no-symbols"], PLAIN_REPORT, ["info", "--format=json"], ["dump"],
                                     ["convert", "-o", "-"]), 16),
    "maps of one place": (maps_of_one_place, 8000, (PLAIN_REPORT + ["-s", "dso_size"], PLAIN_REPORT + ["--mem-mode"]), 16),
    "threads and maps": (threads_and_maps, 1000, (PLAIN_REPORT, PLAIN_REPORT + ["-s", "pid,tid,dso"], ["script", "--no-symbols"],
                                                  ["info", "--format=json"], ["export", "--no-symbols"], ["dump"], ["verify"]), 16),
    "switches": (switches, 20000, WAITING, 16),
    "threads that switch": (switching_threads, 10000, WAITING, 32),
    "chains in time": (chains_in_time, 200, (IN_TIME, IN_TIME[:3] + IN_TIME[5:]), 64),
    "recursion in time": (trace_recursion, 4000, (IN_TIME,), 1200),
}

# More stacks than fit, as {name: (maker, size, commands)}.
LIMITED = {
    "deep paths": (trace_deep_paths, 20000, (IN_TIME, ["export", "--no-symbols"], ["flame", "--no-symbols"])),
}
LIMIT = "20M"


# Inputs for which the text must not grow faster than the recording, as {name: (maker, size, commands, whether trees are cut)}.
BOUNDED = {
    "deep trees": (trace_deep_paths, 5000, (PLAIN_REPORT, PLAIN_REPORT + ["-g", "fractal"], PLAIN_REPORT + ["-j2"]), True),
    "deep chains": (trace_deep_paths, 10000, (PLAIN_REPORT + ["-g", "flat"], PLAIN_REPORT + ["-g", "folded"], IN_TIME), False),
    "deeper chains": (trace_deep_paths, 300, (PLAIN_REPORT + ["--max-stack=300"], PLAIN_REPORT + ["--max-stack=300", "-j4"]), True),
    "chains in time": (chains_in_time, 2000, (IN_TIME, IN_TIME[:3] + IN_TIME[5:], PLAIN_REPORT), False),
}
TEXT_EACH, TEXT_ALSO = 24, 20 * MB


class Cost:
    def __init__(self, words):
        self.seconds, self.megabytes, self.status = (int(words[0]) + int(words[1])) / 1e6, int(words[2]) / MB, int(words[3])


def measure(options, command, path):
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    done = subprocess.run([options.measure, harness.PERFRAY] + command + [path], stdout=subprocess.PIPE, check=True,
                          env=UNFILLED, preexec_fn=limit)
    return Cost(done.stdout.split())


def is_too_much(less, more):
    return more > RATIO * max(less, FLOOR)


def seem_too_much(costs):
    return any(is_too_much(a.seconds, b.seconds) for a, b in zip(costs, costs[1:]))


def measure_again(options, command, paths, costs):
    """The minimum for each size, measured until the minima no longer grow too fast."""
    for _ in range(AGAIN):
        if seem_too_much(costs):
            again = [measure(options, command, path) for path in paths]
            costs = [min(pair, key=lambda cost: cost.seconds) for pair in zip(costs, again)]
    return costs


def judge_growth(options, command, costs, larger):
    """`larger` returns the paths of larger sizes, which are made only on request."""
    if not seem_too_much(costs):
        return None
    paths = larger()
    most = measure_again(options, command, paths, [measure(options, command, path) for path in paths])
    less, more = most[0].seconds, most[-1].seconds
    if more <= RATIO ** (len(most) - 1) * max(less, FLOOR):
        return None
    return "%s s in sizes that are doubled" % "/".join("%.2f" % cost.seconds for cost in (*costs, *most))


def judge_pace(options, command, costs, sizes, paths):
    """Measures again what seems too slow, because another load on the machine may be the cause."""
    for cost, size, path in zip(costs, sizes, paths):
        allowed = 2 * options.sound_pace[" ".join(command)] * size + max(1, size / (4 * MB))
        seconds = cost.seconds
        for _ in range(AGAIN if seconds > allowed else 0):
            seconds = min(seconds, measure(options, command, path).seconds)
        if seconds > allowed:
            return "%.2f s for %.1f MB, %.2f s are allowed" % (seconds, size / MB, allowed)
    return None


def judge_memory(name, command, costs, sizes, distinct):
    if name in ASKED:
        most = [FLAT + ASKED[name][3] * size / MB for size in sizes]
    elif command[0] in OF_PROFILES and distinct:
        times = 24 if command[0] == "latency" else 16  # a call of 16 bytes may be a row
        most = [FLAT + times * size / MB for size in sizes]
    else:
        most = [FLAT + (2 * size / MB if distinct else 0) for size in sizes]
    for cost, allowed in zip(costs, most):
        if cost.megabytes > allowed:
            return "%.0f MB of memory, %.0f MB are allowed" % (cost.megabytes, allowed)
    return None


def judge_status(command, costs):
    """The exit status must be 0, or a status that reports on the input: 3 or 4, for verify 1 or 3."""
    good = (0, 1, 3) if command[0] == "verify" else (0, 3, 4)
    bad = [cost.status for cost in costs if cost.status not in good]
    return "status %d" % bad[0] if bad else None


def learn_pace(options, folder):
    """The seconds that each command takes per byte of sound samples."""
    path = os.path.join(folder, "sound")
    size = write(path, samples(100000))
    asked = [command for _, _, commands, _ in ASKED.values() for command in commands]
    options.sound_pace = {" ".join(command): measure(options, command, path).seconds / size for command in COMMANDS}
    options.sound_pace.update({" ".join(command): measure(options, command, path).seconds / size for command in asked
                               if command not in COMMANDS})
    size = write(path, trace_calls(100000))
    for command in TRACE_COMMANDS:
        pace = measure(options, command, path).seconds / size
        options.sound_pace[" ".join(command)] = max(pace, options.sound_pace.get(" ".join(command), 0))


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)
    return len(content)


def write_sizes(folder, make, amount, sizes):
    """Paths of recordings of these multiples of the amount."""
    paths = [os.path.join(folder, "%dx.data" % times) for times in sizes]
    for path, times in zip(paths, sizes):
        if not os.path.exists(path):
            write(path, make(amount * times))
    return paths


def run_family(options, folder, name):
    make, amount, distinct = {**FAMILIES, **TRACES, **{at: (row[0], row[1], True) for at, row in ASKED.items()}}[name]
    commands = ASKED[name][2] if name in ASKED else TRACE_COMMANDS if name in TRACES else COMMANDS
    own = os.path.join(folder, name.replace("/", "-"))
    os.mkdir(own)
    paths = write_sizes(own, make, amount * options.scale, (1, 2, 4))
    sizes = [os.path.getsize(path) for path in paths]
    for command in commands:
        costs = measure_again(options, command, paths, [measure(options, command, path) for path in paths])
        wrong = judge_status(command, costs) or judge_growth(options, command, costs, lambda: write_sizes(
            own, make, amount * options.scale, LARGER)) or judge_pace(
                options, command, costs, sizes, paths) or judge_memory(name, command, costs, sizes, distinct)
        figures = "%s MB: %s s, %.0f MB of memory" % ("/".join("%.1f" % (size / MB) for size in sizes), "/".join(
            "%.3f" % cost.seconds for cost in costs), max(cost.megabytes for cost in costs))
        words = " ".join(word for word in command if word not in ("--no-pager", "--no-symbols"))
        harness.result("hostile/growth %s of %s (%s)" % (words, name, figures), wrong)
    shutil.rmtree(own)


def run_limited(folder, name):
    """Stacks that do not fit are one row, and everything else is complete."""
    make, amount, commands = LIMITED[name]
    path = os.path.join(folder, "limited.data")
    write(path, make(amount))
    for command in commands:
        done = subprocess.run([harness.PERFRAY] + command + ["--limit", "memory=" + LIMIT, path], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        fine = done.returncode == 4 and b"[limit]" in done.stdout and done.stdout.count(b"\n") > 10
        harness.result("hostile/growth %s of %s in %s" % (command[0], name, LIMIT),
                       "" if fine else "status %d, %r" % (done.returncode, done.stderr[:200]))


def run_bounded(folder, name):
    make, amount, commands, cut = BOUNDED[name]
    path = os.path.join(folder, "bounded.data")
    size = write(path, make(amount))
    for command in commands:
        done = subprocess.run([harness.PERFRAY] + command + [path], check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wrong = []
        if len(done.stdout) > TEXT_EACH * size + TEXT_ALSO:
            wrong.append("%d bytes of text for %d" % (len(done.stdout), size))
        marks = done.stdout.count(b"  [limit]\n")
        if cut and (done.returncode != 4 or b"%d call tree" % marks not in done.stderr or b"limit trees" not in done.stderr):
            wrong.append("status %d, %d marks, %r" % (done.returncode, marks, done.stderr[:200]))
        if cut:
            whole = subprocess.run([harness.PERFRAY] + command + ["--limit", "trees=2G", path], check=False,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if whole.returncode or b"[limit]" in whole.stdout or len(whole.stdout) <= len(done.stdout):
                wrong.append("with a higher limit status %d, %d bytes of text" % (whole.returncode, len(whole.stdout)))
        harness.result("hostile/growth text %s of %s" % (" ".join(command[3:]), name), wrong)


def run_packed(folder):
    """The place where trees are cut depends on the recording, not on its compression or container."""
    path, packed, streamed = (os.path.join(folder, name) for name in ("packed.plain", "packed.zstd", "packed.pipe"))
    write(path, forking_chains(2000))
    command = [harness.PERFRAY] + PLAIN_REPORT + ["--percent-limit=0", "--limit", "trees=1"]
    answers = []
    for made, options in ((path, None), (packed, ["--compress=19"]), (streamed, ["--to=pipe"])):
        if options:
            subprocess.run([harness.PERFRAY, "convert", *options, "-o", made, path], check=True)
        done = subprocess.run([*command, made], check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        lines = done.stdout.split(b"\n")
        answers.append((done.returncode, [line for line in lines if not line.startswith(b"#")],
                        done.stderr.replace(made.encode(), b"")))
    fine = answers[0][0] == 4 and b"limit trees" in answers[0][2] and all(other == answers[0] for other in answers)
    harness.result("hostile/growth text of packed recordings", not fine)


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--long-scale", type=int)
    parser.add_argument("--only", default="")
    parser.add_argument("measure")
    options = parser.parse_args(arguments)
    if options.long_scale and harness.LONG:
        options.scale = options.long_scale
    with harness.scratch("growth") as folder:
        learn_pace(options, folder)
        for name in (name for name in (*FAMILIES, *TRACES, *ASKED) if options.only in name):
            run_family(options, folder, name)
        for name in (name for name in BOUNDED if options.only in name):
            run_bounded(folder, name)
        if options.only in "packed":
            run_packed(folder)
        for name in (name for name in LIMITED if options.only in name):
            run_limited(folder, name)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
