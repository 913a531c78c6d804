#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_waits.py - tests the event offcpu-time, and waits in recordings whose switches have no raw bytes.

usage: run_waits.py FIXTURES

    waits/FILE/threads     report -e offcpu-time by thread has the sums of offcpu --format=csv, runnable and blocked
    waits/FILE/functions   a function with its callees has the sums of offcpu --function
    waits/FILE/exports     every form of export and all numbers of threads have the same sum
    waits/FILE/min         --min leaves out shorter intervals and adds none
    waits/cgroup           offcpu --by=cgroup sums by the cgroup of the thread's last sample before the interval, or of its first
                           sample if there is none before; the formats agree, and add up to the sums of the threads
    waits/no-cgroup        a recording without cgroup ids is refused, with the option that records them
    waits/no-raw           without raw bytes a wait ends with the thread's next sample: as computed from the records
    waits/trace-offcpu     the same for simpleperf's recording in the corpus
    waits/last             offcpu --wakers begins with a wait whose end is the last event of the recording
    waits/stream           a stream, whose events are records, gives the output of the file
    waits/idle             offcpu names the CPUs whose events of the idle task are missing, and no other CPU
    waits/command          threads of the command that the recorder started, and of its children, come first; a page marks
                           them, and its first sentence is about their waits
    waits/only-command     a page that has no other threads does not mark them
    waits/FILE/page        the sums of a page are those of its intervals, to the nanosecond
    waits/FILE/intervals   the intervals of sql have the threads and the sums of offcpu, also those of threads that are only in
                           records of the scheduler (waits/unnamed: such a recording of the corpus)
    waits/machine          a recording of all threads names the options that select those of one program

Environment: PERFRAY, the command; PERFRAY_CORPUS, the corpus.
"""
import csv
import io
import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402
import page_columns  # noqa: E402
import growth_families as made  # noqa: E402
from harness import Skip, must  # noqa: E402

EVENT = ("-e", "offcpu-time")
FILES = ("waits.data", "switch-events.data")
SHOWN_FUNCTIONS = 12
PLAIN = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
RAW = 1 << 10  # bit of sample_type
SAMPLE, SWITCHES, ID_INDEX = 9, (14, 15), 69
CONTEXT_SWITCH = 1 << 26  # bit of an attr's flags
MS = 1000000


def perfray(*words):
    done = harness.perfray(*words)
    must(done.returncode in (0, 4), "%s: status %d, %s" % (" ".join(words), done.returncode, done.stderr.decode()))
    return done.stdout.decode()


def names(fixtures):
    recorded = os.path.join(fixtures, "recorded")
    return ("--symfs", os.path.join(recorded, "waits-root"), "--kallsyms", os.path.join(recorded, "waits.kallsyms"))


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def waits_of(path, *options):
    """{tid: ns}, runnable and blocked."""
    sums = {}
    for row in rows(perfray("offcpu", "--format=csv", "--no-lines", *options, path)):
        if row["state"] in ("runnable", "blocked"):
            sums[int(row["tid"])] = sums.get(int(row["tid"]), 0) + int(row["ns"])
    return sums


# --- The event.

def check_threads(path, options):
    found = {int(row["tid"]): int(row["weight"]) for row in rows(perfray("report", *EVENT, "-s", "tid", "--format=csv", *options, path))}
    wanted = waits_of(path, *options)
    must(sum(wanted.values()) > 0, "there are no waits")
    must(found == wanted, ["thread %d: %s ns, must be %s" % (tid, found.get(tid), wanted.get(tid))
                           for tid in sorted(set(found) | set(wanted)) if found.get(tid) != wanted.get(tid)])


def check_functions(path, options):
    found = {}
    for row in rows(perfray("report", *EVENT, "--children", "-s", "sym", "--format=csv", *options, path)):
        name = row["sym"].partition("] ")[2]  # "[k] schedule"
        found[name] = found.get(name, 0) + int(row["weight"])
    plain = sorted((name for name in found if name and set(name) <= PLAIN and not name[0].isdigit()), key=lambda name: (-found[name], name))
    must(plain or path.endswith("switch-events.data"), "no function has a name")
    for name in plain[::max(1, len(plain) // SHOWN_FUNCTIONS)]:
        wanted = sum(waits_of(path, "--function", name, *options).values())
        must(found[name] == wanted, "%s: %d ns, must be %d" % (name, found[name], wanted))


def folded_sum(text):
    return sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines())


def check_exports(path, options):
    wanted = sum(waits_of(path, *options).values())
    for jobs in ("1", "2", "5"):
        text = perfray("export", *EVENT, "--format=folded", "-j", jobs, *options, path)
        must(folded_sum(text) == wanted, "folded, -j %s: %d, must be %d" % (jobs, folded_sum(text), wanted))
    lines = [json.loads(line) for line in perfray("export", *EVENT, "--format=jsonl", *options, path).splitlines()]
    found = sum(line.get("weight", 0) for line in lines)
    must(found == wanted, "jsonl: %d, must be %d" % (found, wanted))
    page = perfray("flame", *EVENT, *options, path)
    must("offcpu-time" in page, "the flame graph does not name its event")


def check_kept(row, least, longest, total):
    key = (row["tid"], row["state"])
    must(least <= int(row["max_ns"]) <= longest.get(key, 0), "%s: an interval of %s ns, the longest has %d" % (key, row["max_ns"], longest.get(key, 0)))
    must(int(row["ns"]) <= total[key], "%s: %s ns of %d" % (key, row["ns"], total[key]))


def check_min(path, options):
    """Rows that consist of one interval remain if the interval is at least the limit."""
    every = rows(perfray("offcpu", "--format=csv", "--no-lines", *options, path))
    longest, total = {}, {}
    for row in every:
        key = (row["tid"], row["state"])
        longest[key] = max(longest.get(key, 0), int(row["max_ns"]))
        total[key] = total.get(key, 0) + int(row["ns"])
    for ms in (1, 50):
        for row in rows(perfray("offcpu", "--format=csv", "--no-lines", "--min=%dms" % ms, *options, path)):
            check_kept(row, ms * MS, longest, total)


# --- Cgroups.

CGROUP, CGROUP_IDS = 19, 1 << 21  # record; bit of sample_type
CONTEXT_SWITCHES = 3  # software event
STEPS = (  # ms, thread, whether it leaves its cpu, cgroup of the sample there (0: no sample)
    (1, 7, False, 0), (3, 7, True, 5), (5, 8, False, 0), (6, 8, True, 6), (10, 7, False, 0), (12, 7, True, 6), (20, 7, False, 0),
    (21, 7, True, 9), (21, 10, False, 0), (22, 10, True, 0))
BY_CGROUP = {  # ms, by path and state; 9 has no path, and thread 10 no sample
    ("/a", "running"): 2, ("/a", "blocked"): 7, ("/b", "running"): 1 + 2, ("/b", "blocked"): 4 + 8 + 16,
    ("unknown", "running"): 1, ("unknown", "blocked"): 1, ("", "running"): 1, ("", "blocked"): 20}
MEMBERS = {"/a": 1, "/b": 2, "unknown": 1, None: 1}


def in_cgroups(cgroups=True):
    names = b"".join(made.record(CGROUP, struct.pack("<Q", number) + path.ljust(8, b"\0") + struct.pack("<IIQ", 0, 0, 1000))
                     for number, path in ((5, b"/a"), (6, b"/b")))
    records = names if cgroups else b""
    for time, tid, out, cgroup in STEPS:
        if cgroup:
            body = struct.pack("<QIIQQ", 0x401000, 7, tid, time * MS, 1) + (struct.pack("<Q", cgroup) if cgroups else b"")
            records += made.record(made.SAMPLE, body)
        records += made.switch(tid, time * MS, out)
    return made.recording(records, made.IP_TID_TIME_PERIOD | (CGROUP_IDS if cgroups else 0), flags=made.SWITCHES, config=CONTEXT_SWITCHES)


def by_cgroup(path, *options):
    sums = {}
    for row in rows(perfray("offcpu", "--by=cgroup", "--format=csv", "--no-lines", *options, path)):
        must(row["comm"] == row["pid"] == row["tid"] == "", "a row names a thread: %s" % row)
        key = row["cgroup"], row["state"]
        sums[key] = sums.get(key, 0) + int(row["ns"])
    return sums


def check_cgroup(folder):
    path = os.path.join(folder, "cgroups.data")
    with open(path, "wb") as file:
        file.write(in_cgroups())
    wanted = {key: ms * MS for key, ms in BY_CGROUP.items()}
    must(by_cgroup(path) == wanted, "%s, must be %s" % (by_cgroup(path), wanted))
    groups = json.loads(perfray("offcpu", "--by=cgroup", "--format=json", path))["threads"]
    must({group["cgroup"]: group["threads"] for group in groups} == MEMBERS, "members: %s" % groups)
    found = {(group["cgroup"] or "", state): group[state + "_ns"] for group in groups for state in ("running", "blocked")}
    must(found == wanted, "JSON: %s" % found)
    text = perfray("offcpu", "--by=cgroup", path)
    for line in ("cgroup /a, 1 thread: wall 9.00ms", "cgroup /b, 2 threads: wall 31.0ms", "cgroup unknown, 1 thread: wall 2.00ms", "no cgroup id, 1 thread: wall 21.0ms"):
        must(line in text.splitlines(), "there is no line %r: %s" % (line, text))
    one = by_cgroup(path, "--thread=8")
    must(one == {("/b", "running"): MS, ("/b", "blocked"): 20 * MS}, "--thread=8: %s" % one)
    for view in ("--wakers", "--locks"):
        done = harness.perfray("offcpu", "--by=cgroup", view, path)
        must(done.returncode == 2 and b"--by" in done.stderr, "%s: status %d, %s" % (view, done.returncode, done.stderr.decode()))


def check_no_cgroup(folder, fixtures):
    path = os.path.join(folder, "no-cgroups.data")
    with open(path, "wb") as file:
        file.write(in_cgroups(False))
    for each in (path, os.path.join(fixtures, "recorded", "waits.data")):
        done = harness.perfray("offcpu", "--by=cgroup", each)
        must(done.returncode not in (0, 4) and not done.stdout and b"record --off-cpu --all-cgroups" in done.stderr,
             "status %d, %s" % (done.returncode, done.stderr.decode()))


# --- Recordings without raw bytes, made of one that has them.

def attrs_of(data):
    """[(offset, sample_type, ids)] of the events of a file."""
    size, at, length = struct.unpack_from("<QQQ", data, 16)
    found = []
    for entry in range(at, at + length, size):
        ids_at, ids_length = struct.unpack_from("<QQ", data, entry + size - 16)
        found.append((entry, struct.unpack_from("<Q", data, entry + 24)[0],
                      struct.unpack_from("<%dQ" % (ids_length // 8), data, ids_at) if ids_length else ()))
    return found


def records_of(data):
    at, size = struct.unpack_from("<QQ", data, 40)
    end = at + size
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        yield kind, at, length
        at += length


def without_raw(data):
    """RAW is the last field of these samples. The payloads of features keep their positions; the index is moved to the end of the data."""
    made, body = bytearray(data), bytearray()
    at, size = struct.unpack_from("<QQ", data, 40)
    for entry, sample_type, _ in attrs_of(data):
        must(sample_type < RAW << 1 or not sample_type >> 11 & 0x1f, "fields follow RAW")
        flags, = struct.unpack_from("<Q", data, entry + 40)
        struct.pack_into("<Q", made, entry + 24, sample_type & ~RAW)
        struct.pack_into("<Q", made, entry + 40, flags & ~CONTEXT_SWITCH)
    for kind, place, length in records_of(data):
        if kind in SWITCHES:
            continue
        record = bytearray(data[place:place + length])
        if kind == SAMPLE:
            raw = next(p for p in range(length - 8, 8, -4) if p + 4 + struct.unpack_from("<I", record, p)[0] == length and
                       struct.unpack_from("<I", record, p)[0] >= 24)
            del record[raw:]
            struct.pack_into("<H", record, 6, len(record))
        body += record
    features = bin(int.from_bytes(data[72:104], "little")).count("1")
    index = data[at + size:at + size + 16 * features]
    made[at:at + len(body) + len(index)] = body + index
    struct.pack_into("<Q", made, 48, len(body))
    return bytes(made)


def dumped(path, kind):
    return [json.loads(line) for line in perfray("dump", "--format=json", "--only", kind, path).splitlines()]


def next_samples(path, switch):
    """{tid: (blocked, unknown)} ns by the rule: from a switch (a sample of event SWITCH) to the next sample of its thread, unknown where records were lost."""
    samples = sorted((r["fields"]["time"], n, r["fields"]["tid"], r["event"] == switch) for n, r in enumerate(dumped(path, "sample"))
                     if 0 < r["fields"]["tid"] < 1 << 31)
    lost = sorted(r["id"]["time"] for r in dumped(path, "lost"))
    exits = {r["fields"]["tid"]: r["fields"]["time"] for r in dumped(path, "exit")}
    away, sums = {}, {}

    def end_wait(tid, time):
        since = away.pop(tid)
        is_lossy = any(since < t <= time for t in lost)
        pair = sums.setdefault(tid, [0, 0])
        pair[is_lossy] += time - since

    for time, _, tid, leaves in samples:
        if tid in away:
            end_wait(tid, time)
        if leaves and not exits.get(tid, time + 1) <= time:
            away[tid] = time
    for tid in list(away):
        end_wait(tid, min(samples[-1][0], exits.get(tid, samples[-1][0])))
    return {tid: tuple(pair) for tid, pair in sums.items()}


def check_rule(path, switch):
    wanted = next_samples(path, switch)
    must(wanted and sum(pair[0] for pair in wanted.values()), "there are no waits")
    blocked = {}
    for row in rows(perfray("offcpu", "--format=csv", "--no-lines", path)):
        if row["state"] == "blocked":
            blocked[int(row["tid"])] = blocked.get(int(row["tid"]), 0) + int(row["ns"])
    must(all(blocked.get(tid, 0) == pair[0] for tid, pair in wanted.items()),
         ["thread %d: blocked %d ns, must be %d" % (tid, blocked.get(tid, 0), pair[0])
          for tid, pair in wanted.items() if blocked.get(tid, 0) != pair[0]])


def check_no_raw(fixtures, folder):
    path = os.path.join(folder, "no-raw.data")
    with open(os.path.join(fixtures, "recorded", "waits.data"), "rb") as file:
        data = file.read()
    with open(path, "wb") as file:
        file.write(without_raw(data))
    check_rule(path, 0)
    check_threads(path, ())


def check_simpleperf():
    path = os.path.join(harness.corpus() or "/", "perf", "simpleperf", "simpleperf.perf_with_trace_offcpu.data")
    if not os.path.exists(path):
        raise Skip("no corpus")
    check_rule(path, 1)
    check_threads(path, ())


def check_last(folder):
    path = os.path.join(folder, "last.data")
    with open(path, "wb") as file:
        file.write(made.recording(made.switch(7, MS, False) + made.switch(7, 2 * MS, True) + made.switch(7, 100 * MS, False), flags=made.SWITCHES))
    found = [(row["state"], int(row["ns"])) for row in rows(perfray("offcpu", "--wakers", "--format=csv", path))]
    must(found == [("running", MS), ("blocked", 98 * MS)], "steps: %s" % found)


def check_stream(fixtures, folder):
    path, stream, options = os.path.join(fixtures, "recorded", "waits.data"), os.path.join(folder, "stream.data"), names(fixtures)
    with open(stream, "wb") as file:
        file.write(harness.perfray("convert", "-o", "-", path).stdout)
    for words in (("offcpu", "--format=csv"), ("offcpu", "--locks", "--format=csv"), ("report", "--latency", "--format=csv"),
                  ("report", *EVENT, "--format=csv")):
        must(perfray(*words, *options, stream) == perfray(*words, *options, path), "%s differs" % " ".join(words))


def comm(tid, name, time, executes):
    return made.record(made.COMM, struct.pack("<II16sIIQ", tid, tid, name, tid, tid, time), 1 << 13 if executes else 0)


def with_command(waiting, other=7):
    """Thread `other` waits longest. The recorder's child 8 executes a command, and forks 9, which waits longer than 8."""
    records = made.record(ID_INDEX, struct.pack("<QQQQq", 1, 0, 0, 0, -1)) + comm(other, b"other", 0, False) + comm(8, waiting, 0, False)
    records += comm(8, b"program", MS, True) + made.record(made.FORK, struct.pack("<IIIIQIIQ", 9, 8, 9, 8, 2 * MS, 8, 8, 2 * MS))
    for tid, wait in ((other, 90), (8, 20), (9, 50)):
        records += made.switch(tid, 3 * MS, False) + made.switch(tid, 5 * MS, True) + made.switch(tid, (5 + wait) * MS, False)
    return made.recording(records, flags=made.SWITCHES)


def check_command(folder):
    path = os.path.join(folder, "command.data")
    for waiting, order in ((b"perf-exec", [9, 8, 7]), (b"perfray-exec", [9, 8, 7]), (b"program", [7, 9, 8])):
        with open(path, "wb") as file:
            file.write(with_command(waiting))
        text, data = perfray("offcpu", path), json.loads(perfray("offcpu", "--format=json", path))
        must([thread["tid"] for thread in data["threads"]] == order, "%s: order of threads in %s" % (waiting, data))
        check_command_page(path, order[0] == 9)
        must(("those of the recorded command come first" in text) == (order[0] == 9), "%s: the note of %s" % (waiting, text))


def check_only_command(folder):
    """A page that has only the threads of the command does not mark them. Threads that ended have the tid -1."""
    path = os.path.join(folder, "only.data")
    with open(path, "wb") as file:
        file.write(with_command(b"perf-exec", 0xffffffff))
    _, columns = page_data(path)
    must({8, 9} <= set(columns["thread.tid"]) and columns["thread.command"] == [], "threads %s, marks %s" % (columns["thread.tid"], columns["thread.command"]))


def check_command_page(path, knows):
    _, columns = page_data(path)
    marked = {tid for tid, is_commands in zip(columns["thread.tid"], columns["thread.command"]) if is_commands}
    must(marked == ({8, 9} if knows else set()), "marked threads: %s" % marked)
    html = perfray("view", "--no-cache", "-o", "-", path)
    wanted = "Threads of the recorded command waited 70 ms: 100.0 % without a recorded reason (program 9 and 1 other thread)." if knows \
        else "All threads waited 160 ms: 100.0 % without a recorded reason ("
    must('<p id="answer">No CPU samples: perfray record -e cpu-clock --off-cpu records them with the waits. ' + wanted in html, html[html.find('<p id="answer">'):][:200])


def page_data(path, *words):
    return page_columns.read(harness.perfray("view", "--no-cache", "--data", "-o", "-", *words, path).stdout)


def check_library_notes(meta, columns, path, options):
    """The sums of the page give the sentence of offcpu on the C library, for all threads and for those of each process."""
    for pid in [None] + sorted(set(columns["thread.pid"]) - {0}):
        rows = [i for i, thread in enumerate(columns["wait.thread"]) if pid in (None, columns["thread.pid"][thread])]
        stacked, library = (sum(columns["wait." + name][i] for i in rows) for name in ("stacked", "library"))
        notes = json.loads(perfray("offcpu", "--format=json", *options, *(() if pid is None else ("--pid", str(pid))), path))["notes"]
        is_shown = meta["library_text"] and library > stacked // meta["library_least"]
        wanted = ["%.0f%% %s" % (100 * library / stacked, meta["library_text"])] if is_shown else []
        must([note for note in notes if "the C library" in note] == wanted, "process %s: %s, not %s" % (pid, notes, wanted))


def check_intervals(path, options):
    meta, columns = page_data(path, *options)
    sums = [[0, 0, 0] for _ in columns["wait.ns"]]
    must(meta["interval_quantum"] == 1 and meta["interval_least"] == 0, "%s" % meta)
    for row, ns, kind in zip(columns["interval.wait"], columns["interval.duration"], columns["interval.kind"]):
        sums[row] = [sums[row][0] + ns, sums[row][1] + (ns if kind >> 3 else 0), sums[row][2] + 1]
    must(sums and sums == [list(row) for row in zip(columns["wait.ns"], columns["wait.open"], columns["wait.count"])], "sums differ")
    check_library_notes(meta, columns, path, options)
    check_library_notes(*page_data(path), path, ())
    return "%d intervals" % len(columns["interval.wait"])


def by_state(path):
    """{(tid, state): ns} of offcpu, and of sql, whose states of runnable threads are two and whose tids are signed."""
    of_offcpu, of_sql = {}, {}
    for row in rows(perfray("offcpu", "--format=csv", "--no-lines", path)):
        key = int(row["tid"]), row["state"]
        of_offcpu[key] = of_offcpu.get(key, 0) + int(row["ns"])
    query = "SELECT t.tid, CASE WHEN state IN ('preempted', 'woken') THEN 'runnable' ELSE state END AS state, sum(dur) AS ns " \
            "FROM interval i JOIN thread t ON t.id = i.thread_id GROUP BY 1, 2"
    for row in rows(perfray("sql", "--format=csv", "-q", query, path)):
        of_sql[int(row["tid"]) & 0xffffffff, row["state"]] = int(row["ns"])
    return of_offcpu, of_sql


def check_states(path):
    wanted, found = by_state(path)
    must(wanted, "there are no intervals")
    must(found == wanted, ["%s: %s ns, must be %s" % (key, found.get(key), wanted.get(key))
                           for key in sorted(set(found) | set(wanted)) if found.get(key) != wanted.get(key)])


def check_unnamed():
    path = os.path.join(harness.corpus() or "/", "perf", "other", "lttp.perf.data")
    if not os.path.exists(path):
        raise Skip("no corpus")
    check_states(path)


def check_whole_machine(folder):
    path, note = os.path.join(folder, "machine.data"), "--pid PID selects"
    with open(path, "wb") as file:
        index = made.record(ID_INDEX, struct.pack("<QQQQq", 1, 0, 0, 0, -1))  # an event of a CPU, for all threads
        file.write(made.recording(index + made.switch(7, MS, False) + made.switch(7, 2 * MS, True), flags=made.SWITCHES))
    must(note in perfray("offcpu", path), "no note on other programs")
    must(note not in perfray("offcpu", "-t", "7", path), "a note although threads are selected")


# --- Switches of idle tasks.

IP, TID, TIME, CPU, PERIOD, TRACEPOINT = 1 << 0, 1 << 1, 1 << 2, 1 << 7, 1 << 8, 2
ATTR_AT = 112  # in the files of made.recording


def sched_switch(cpu, time, leaves, takes):
    """A sample with the raw bytes that 64-bit kernels write; the thread that leaves sleeps."""
    raw = struct.pack("<HBBi16siiq16sii", 1, 0, 0, leaves, b"a", leaves, 120, 1, b"b", takes, 120)
    raw += bytes(-(len(raw) + 4) % 8)
    return made.record(SAMPLE, struct.pack("<QIIQIIQI", 0x1000, leaves, leaves, time, cpu, 0, 1, len(raw)) + raw)


def switches_of_idle(cpus, dropped):
    """On each CPU its own thread runs for a millisecond in two. CPUs in `dropped` have no events of their idle task."""
    records = []
    for n in range(10):
        for cpu in cpus:
            records.append(sched_switch(cpu, (20 + 20 * n + cpu) * MS, 100 + cpu, 0))
            if cpu not in dropped:
                records.append(sched_switch(cpu, (30 + 20 * n + cpu) * MS, 0, 100 + cpu))
    sample_type = IP | TID | TIME | CPU | PERIOD | RAW
    attr = bytearray(made.attr(sample_type))
    struct.pack_into("<I", attr, 0, TRACEPOINT)
    described = struct.pack("<II", 1, len(attr)) + attr + struct.pack("<II64s", 0, 64, b"sched:sched_switch")
    file = bytearray(made.recording(b"".join(records), sample_type, features=((made.EVENT_DESC, described),)))
    struct.pack_into("<I", file, ATTR_AT, TRACEPOINT)
    return bytes(file)


def check_idle(folder):
    path = os.path.join(folder, "idle.data")
    for dropped, named in (((), None), ((3,), "on CPU 3 events"), ((0, 3), "on CPUs 0, 3 events"), (range(1, 6), "on CPUs 1, 2, 3, 4, ... events")):
        with open(path, "wb") as file:
            file.write(switches_of_idle(range(6), dropped))
        text, data = perfray("offcpu", path), json.loads(perfray("offcpu", "--format=json", path))
        must(" switches, 0 wake-ups" in text, "the switches are not read: " + text)
        must("# on CPU" not in text if named is None else named in text, "%s dropped, %s" % (list(dropped), text))
        must(named is None or any(named in note for note in data["notes"]), "json has no note: %s" % data["notes"])
        must("of them on CPU 3" in text if tuple(dropped) == (3,) else True, "contradictions of CPU 3: " + text)


def main(fixtures):
    for name in FILES:
        path = os.path.join(fixtures, "recorded", name)
        options = names(fixtures)
        harness.attempt("waits/%s/threads" % name, check_threads, path, options)
        harness.attempt("waits/%s/functions" % name, check_functions, path, options)
        harness.attempt("waits/%s/exports" % name, check_exports, path, options)
        harness.attempt("waits/%s/min" % name, check_min, path, options)
        harness.attempt("waits/%s/page" % name, check_intervals, path, options)
        harness.attempt("waits/%s/intervals" % name, check_states, path)
    with harness.scratch("waits") as folder:
        harness.attempt("waits/cgroup", check_cgroup, folder)
        harness.attempt("waits/no-cgroup", check_no_cgroup, folder, fixtures)
        harness.attempt("waits/no-raw", check_no_raw, fixtures, folder)
        harness.attempt("waits/last", check_last, folder)
        harness.attempt("waits/command", check_command, folder)
        harness.attempt("waits/only-command", check_only_command, folder)
        harness.attempt("waits/stream", check_stream, fixtures, folder)
        harness.attempt("waits/idle", check_idle, folder)
        harness.attempt("waits/machine", check_whole_machine, folder)
    harness.attempt("waits/trace-offcpu", check_simpleperf)
    harness.attempt("waits/unnamed", check_unnamed)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
