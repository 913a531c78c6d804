#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_stories.py - checks that each sample gets the same process state in every command and form, and with any number of threads.

usage: run_stories.py

Environment: PERFRAY, the command. Random process histories (forks, threads, exec, exit, reused tids, overlapping mappings, names) are written with
rounds, late records, equal times, and records without a time; in "all-valid", every record has a time. A recording contains many histories. state_oracle.py determines the state for each sample.
It is compared with script (with -j 1, 2, 4 and 7, three times each), with report and export by threads and objects, and with dump; all of these also for
the recording compressed, as a stream and as a folder; and with script while state changes and samples wait for fewer or for more rounds.

PERFRAY_LONG: 20 000 histories instead of a few hundred. PERFRAY_SEED: the first seed.
"""
import collections
import csv
import io
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
import harness  # noqa: E402
from harness import LONG  # noqa: E402
import other_forms  # noqa: E402
import state_oracle as oracle  # noqa: E402

RECORDINGS, STORIES, STEPS = (100, 200, 60) if LONG else (6, 50, 50)
FOUND = {"very-late": (4, 200, 60)}  # a story that revealed a fault: seed, stories, steps; repeated in each run
JOBS, RUNS = (1, 2, 4, 7), 3
NEVER = (1 << 64) - 1
ROUND = 68
IP, TID, TIME, CHAIN, PERIOD = 1, 2, 4, 32, 256
SAMPLE_ID_ALL = 1 << 18
KERNEL_MARK, USER_MARK = (1 << 64) - 128, (1 << 64) - 512
KERNEL_IP = 0xffffffff81000000
PAGES = [0x400000 + 0x1000 * n for n in range(6)]
SECONDS = 600


def text(name):
    name = name.encode() + b"\0"
    return name + bytes(-len(name) % 8)


class Story:
    """Makes records of a few processes whose tids begin at `first`; the times are those of the recording."""

    def __init__(self, chance, first, clock, late, all_valid=False):
        self.chance, self.tids, self.clock, self.late, self.all_valid = chance, range(first, first + 6), clock, late, all_valid
        self.process = {tid: first + (tid - first) // 2 * 2 for tid in self.tids}

    def time(self):
        x = self.chance.random()
        self.clock[0] += 0 if x < .2 else 10
        late = self.late and self.chance.random() < self.late
        return max(1, self.clock[0] - self.chance.randrange(3000)) if late else self.clock[0]

    def state_time(self):
        x = 1 if self.all_valid else self.chance.random()
        return 0 if x < .02 else NEVER if x < .04 else self.time()

    def tail(self, tid):
        return struct.pack("<IIQ", self.process[tid], tid, self.state_time())

    def sample(self, number):
        chance, tid = self.chance, self.chance.choice(self.tids)
        time = NEVER if not self.all_valid and chance.random() < .01 else self.time()
        users = [chance.choice(PAGES) + 16 * chance.randrange(200) for _ in range(chance.randrange(1, 4))]
        if chance.random() < .3:
            chain = [KERNEL_MARK, KERNEL_IP, USER_MARK, *users]
            misc, ip = oracle.KERNEL, KERNEL_IP
        else:
            chain, misc, ip = [USER_MARK, *users], oracle.USER, users[0]
        pid = self.process[tid] if chance.random() < .9 else chance.choice(self.tids)
        body = struct.pack("<QIIQQQ", ip, pid, tid, time, number, len(chain)) + struct.pack("<%dQ" % len(chain), *chain)
        return oracle.SAMPLE, misc, body

    def comm(self, number):
        tid = self.chance.choice(self.tids)
        leader = self.process[tid] == tid
        misc = oracle.BARE if leader and self.chance.random() < .4 else 0
        return oracle.COMM, misc, struct.pack("<II", self.process[tid], tid) + text("c%d" % number) + self.tail(tid)

    def fork(self, _):
        chance = self.chance
        tid, parent = chance.choice(self.tids), chance.choice(self.tids)
        if chance.random() < .5:
            self.process[tid] = tid
        else:
            self.process[tid] = chance.choice([one for one in self.tids if self.process[one] == one] or [tid])
        misc = oracle.BARE if chance.random() < .1 else 0
        body = struct.pack("<IIIIQ", self.process[tid], self.process[parent], tid, parent, 0)
        return oracle.FORK, misc, body + self.tail(tid)

    def leave(self, _):
        tid = self.chance.choice(self.tids)
        return oracle.EXIT, 0, struct.pack("<IIIIQ", self.process[tid], self.process[tid], tid, tid, 0) + self.tail(tid)

    def map(self, number):
        chance, tid = self.chance, self.chance.choice(self.tids)
        start, length = chance.choice(PAGES), chance.choice([0, 0x800, 0x1000, 0x2000, 0x3000])
        head = struct.pack("<IIQQQ", self.process[tid], tid, start, length, 0)
        if chance.random() < .5:
            return oracle.MMAP, oracle.USER, head + text("/lib/%d" % number) + self.tail(tid)
        head += struct.pack("<IIQQII", 8, 1, number, 0, 5, 2)
        return oracle.MMAP2, oracle.USER, head + text("/lib/%d" % number) + self.tail(tid)

    def step(self, number):
        x = self.chance.random()
        make = self.sample if x < .6 else self.comm if x < .72 else self.map if x < .88 else self.fork if x < .97 else self.leave
        return make(number)


def make_records(seed, late, rounds, stories_most=STORIES, steps=STEPS, all_valid=False):
    """Interleaves stories, a few at a time: each record comes from any one of these."""
    chance, clock, records = random.Random(seed), [5000], []
    stories = [Story(chance, 100 + 10 * n, clock, late, all_valid) for n in range(stories_most)]
    for number in range(stories_most * steps):
        at = number // steps
        records.append(chance.choice(stories[max(0, at - 3):at + 1]).step(number + 1))
        if rounds and chance.random() < .03:
            records.append((ROUND, 0, b""))
    return records


def make_executed_once(seed, order):
    """A program is executed at the start, and another runs in parallel. The first user-mode samples come after the
    record at which a walk could wrongly stop. These samples are not late: samples of the round that is being written
    may be older than the records already written."""
    chance, story = random.Random(seed), Story(random.Random(seed), 100, [5000], 0)
    old, new = PAGES[0], PAGES[3]

    def tail(time):
        return struct.pack("<IIQ", 100, 100, time)

    def sample(number, time, misc, address):
        tid = 101 if misc is None else 100
        chain = [USER_MARK, address] if misc != oracle.KERNEL else [KERNEL_MARK, KERNEL_IP, USER_MARK, address]
        body = struct.pack("<QIIQQQ", address, tid, tid, time, number, len(chain)) + struct.pack("<%dQ" % len(chain), *chain)
        return oracle.SAMPLE, oracle.USER if misc is None else misc, body

    def mapped(address, name, time):
        return oracle.MMAP, oracle.USER, struct.pack("<IIQQQ", 100, 100, address, 0x1000, 0) + text(name) + tail(time)

    mark = (ROUND, 0, b"")
    begin = [mapped(old, "/bin/old", 50), (oracle.COMM, oracle.BARE, struct.pack("<II", 100, 100) + text("new") + tail(100)),
             mapped(new, "/bin/new", 101), sample(1, 110, oracle.KERNEL, old), mark]
    first, times = [sample(2, 400, None, new), sample(3, 500, oracle.USER, new)], list(range(150, 400, 10))
    chance.shuffle(times)
    rest = [sample(4 + n, time, order[n % len(order)], new if n % 2 else old) for n, time in enumerate(times)]
    half = len(rest) // 2
    return begin + first + rest[:half] + [mark] + rest[half:] + [mark, mark] + [story.sample(100 + n) for n in range(20)] + [mark]


def attr():
    sampled = IP | TID | TIME | CHAIN | PERIOD
    return struct.pack("<IIQQQQQ", 1, 128, 0, 4000, sampled, 0, SAMPLE_ID_ALL).ljust(128, b"\0")


def run(*words, through=None, sizes=""):
    """Returns the output of the command. `through`: a file that the command reads through a pipe; `sizes`: PERFRAY_SIZES."""
    data = open(through, "rb").read() if through else None
    done = harness.perfray(*words, input=data, timeout=SECONDS, env={**os.environ, "PERFRAY_SIZES": sizes})
    if done.returncode != 0:
        raise AssertionError("%s: status %d: %s" % (" ".join(words), done.returncode, done.stderr.decode()[-300:]))
    return done.stdout


SCRIPT = ("script", "--no-symbols", "--ns", "-F", "comm,tid,time,period,event,ip,sym,dso")


def read_script(out):
    """Yields the same as lines() of the oracle, from the output of script."""
    samples, places = [], None
    for line in out.split(b"\n"):
        words = line.split()
        if line[:1] == b"\t":
            places.append((int(words[0], 16), words[-1][1:-1].decode()))
        elif line:
            places = []
            seconds, fraction = words[2][:-1].split(b".") if words[2][0:1].isdigit() else (b"0", b"0")
            time = int(seconds) * 10 ** 9 + int(fraction)
            samples.append((int(words[3]), time, int(words[1]), words[0].decode(), places))
    return samples


def bare(samples):
    """Removes the addresses, which perf's text shows as offsets in their object."""
    return [(*one[:4], [object for _, object in one[4]]) for one in samples]


def differ(what, expected, got):
    for number, (one, other) in enumerate(zip(expected, got)):
        if one != other:
            raise AssertionError("%s: sample %d is %r, must be %r" % (what, number, other, one))
    if len(expected) != len(got):
        raise AssertionError("%s: %d samples, must be %d" % (what, len(got), len(expected)))


def check_script(path, expected):
    first = run(*SCRIPT, "-j1", path)
    differ("script", bare(expected), bare(read_script(first)))
    for jobs in JOBS:
        for again in range(RUNS):
            if run(*SCRIPT, "-j%d" % jobs, path) != first:
                raise AssertionError("script -j%d, time %d: other bytes than with -j1" % (jobs, again + 1))
    if run(*SCRIPT, path) != first:
        raise AssertionError("script without -j: other bytes than with -j1")
    return first


def report_rows(out, *columns):
    sums = collections.Counter()
    for row in csv.DictReader(io.StringIO(out.decode())):
        sums[tuple(row[column] for column in columns)] += int(row["weight"])
    return sums


def same_sums(what, expected, got):
    if expected != got:
        keys = sorted(key for key in expected.keys() | got.keys() if expected[key] != got[key])
        raise AssertionError("%s: %s, must be %s" % (what, {key: got[key] for key in keys[:3]}, {key: expected[key] for key in keys[:3]}))


def early_names(records):
    """{sample: name} as in a report: the first name of a thread also applies to its samples before that."""
    by_sample = oracle.seen(records)
    unnamed, named = collections.defaultdict(list), {}
    state = oracle.State()
    for one in sorted(records, key=oracle.Record.key):
        if one.kind == oracle.SAMPLE:
            named[one] = by_sample[one][0]
            thread = state.threads.get(one.tid)
            if not (thread and thread.name):
                unnamed[one.tid].append(one)
            continue
        state.apply(one)
        if one.kind == oracle.FORK:
            unnamed.pop(struct.unpack_from("<IIII", one.body)[2], None)
        if one.kind == oracle.COMM:
            tid = struct.unpack_from("<II", one.body)[1]
            for earlier in unnamed.pop(tid, ()):
                named[earlier] = state.threads[tid].name
    return named


def check_sums(path, records, ways=JOBS):
    """report and export: the weight of each thread name and each object."""
    by_sample, named = oracle.seen(records), early_names(records)
    rows, stacks = collections.Counter(), collections.Counter()
    for one, (_, places) in by_sample.items():
        rows[named[one], os.path.basename(places[0][1])] += one.period
        stacks[named[one], *(place[1] for place in reversed(places))] += one.period
    for jobs in ways:
        out = run("report", "--no-symbols", "--format=csv", "-g", "none", "-s", "comm,dso", "-j%d" % jobs, path)
        same_sums("report -j%d" % jobs, rows, report_rows(out, "comm", "dso"))
    out = run("export", "--format=folded", "--weight=period", "--no-symbols", "-o", "-", path)
    folded = collections.Counter()
    for line in out.decode().splitlines():
        stack, _, weight = line.rpartition(" ")
        folded[stack.split(";")[0], stack.count(";")] += int(weight)
    expected = collections.Counter()
    for stack, weight in stacks.items():
        expected[stack[0], len(stack) - 1] += weight
    same_sums("export", expected, folded)


def check_dump(path, records):
    out = run("dump", "--format=jsonl", path)
    samples = sum(one.kind == oracle.SAMPLE for one in records)
    if out.count(b'"name":"sample"') != samples:
        raise AssertionError("dump: %d samples, must be %d" % (out.count(b'"name":"sample"'), samples))


def check_forms(scratch, path, expected):
    """The recording rewritten by perfray itself: the state of each sample, by its number."""
    ordered = sorted(bare(expected))
    for name, words in (("stream", ("--to=pipe",)), ("folder", ("--to=directory",)), ("compressed", ("-z",))):
        other = os.path.join(scratch, name)
        run("convert", *words, "-o", other, path)
        differ(name, ordered, sorted(bare(read_script(run(*SCRIPT, "-j4", other)))))
        if name == "stream":
            differ("stream read once", ordered, sorted(bare(read_script(run(*SCRIPT, "-", through=other)))))
    run("convert", "--to=file", "-o", other + "2", os.path.join(scratch, "folder"))
    differ("folder and back", ordered, sorted(bare(read_script(run(*SCRIPT, other + "2")))))


def check_stream(scratch, path, first):
    """The same records, with rounds and late ones, as a stream: in a file, and through a pipe, which the command copies into a temporary file. The
    output equals that of the file byte for byte."""
    stream = os.path.join(scratch, "rounds")
    other_forms.make_stream(other_forms.Recording(path), stream)
    for jobs in ("-j1", "-j4"):
        if run(*SCRIPT, jobs, stream) != first:
            raise AssertionError("stream in a file, %s: other bytes than the file" % jobs)
        if run(*SCRIPT, jobs, "-", through=stream) != first:
            raise AssertionError("stream, %s: other bytes than the file" % jobs)


def check_sizes(path, first):
    """Changes and samples in user mode wait for few or for many rounds, or the samples are read once more."""
    for sizes in ("state-round=1", "state-round=1,user-samples=64", "user-samples=8", "user-samples=1"):
        if run(*SCRIPT, path, sizes=sizes) != first:
            raise AssertionError("PERFRAY_SIZES=%s: other bytes" % sizes)


KINDS = {"in-order": (0, True), "all-valid": (0, True), "late": (.1, True), "very-late": (.4, True), "no-rounds": (.2, False)}


def check_one(scratch, name, number, made):
    own = tempfile.mkdtemp(dir=scratch)
    path = os.path.join(own, "story.data")
    other_forms.write(path, other_forms.pack_file([(attr(), struct.pack("<Q", 1))], made, {}))
    records = oracle.read(path)
    expected = oracle.lines(records)
    try:
        first = check_script(path, expected)
        check_sizes(path, first)
        check_sums(path, records)
        check_dump(path, records)
        check_forms(own, path, expected)
        check_stream(own, path, first)
    except AssertionError as why:
        if os.environ.get("PERFRAY_KEEP"):
            shutil.copy(path, os.environ["PERFRAY_KEEP"])
        raise AssertionError("seed %d: %s" % (number, why)) from None
    shutil.rmtree(own)
    return len(expected)


def check(scratch, name, late, rounds):
    samples = 0
    seed = int(os.environ.get("PERFRAY_SEED", "1"))
    for number in range(seed, seed + (RECORDINGS + len(KINDS) - 1) // len(KINDS)):
        samples += check_one(scratch, name, number, make_records("%s %d" % (name, number), late, rounds, all_valid=name == "all-valid"))
    if name in FOUND:
        number, *size = FOUND[name]
        samples += check_one(scratch, name, number, make_records("%s %d" % (name, number), late, rounds, *size))
    if name == "in-order":
        for number in range(4):
            samples += check_one(scratch, name, number, make_executed_once(number, (oracle.KERNEL, oracle.USER, oracle.KERNEL, None)))
    return "%d samples" % samples


def main():
    with harness.scratch("stories") as scratch:
        for name, (late, rounds) in KINDS.items():
            try:
                harness.result("script/stories:%s # %s" % (name, check(scratch, name, late, rounds)))
            except (AssertionError, subprocess.TimeoutExpired) as why:
                harness.result("script/stories:" + name, str(why) or True)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
