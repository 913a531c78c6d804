#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""state_oracle.py - computes the process state for each sample of a recording by the rules of docs/state.md, only from the bytes of the file.

usage: state_oracle.py FILE...

FILE is a little-endian perf.data file, or a folder with one, whose events sample IP, TID, TIME, CHAIN and PERIOD with sample_id_all. Prints a line per
sample, in perf's order: time, tid, name, and for each address (recorded address, object). It shares no code with the library: records are parsed with
struct, sorted by key and applied in order. COMPRESSED records require the program zstd.
"""
import os
import struct
import subprocess
import sys

MMAP, COMM, EXIT, FORK, SAMPLE, MMAP2, ROUND, COMPRESSED = 1, 3, 4, 7, 9, 10, 68, 81
KERNEL, USER = 1, 2                 # cpumode
BARE = 1 << 13                      # misc of COMM: by exec; of FORK: nothing is inherited
NOBODY = (1 << 32) - 1
CONTEXTS = {-128: KERNEL, -512: USER}
MARKERS = (1 << 64) - 4095          # chain entries from this value on are markers
NEVER = (1 << 64) - 1


class Record:
    """One record and its position: (part, offset, offset inside a COMPRESSED record)."""

    def __init__(self, where, kind, misc, body):
        self.where, self.kind, self.misc, self.body = where, kind, misc, body
        if kind == SAMPLE:
            self.ip, self.pid, self.tid, self.time, self.period, count = struct.unpack_from("<QIIQQQ", body)
            self.chain = struct.unpack_from("<%dQ" % count, body, 40)
        else:
            self.time = struct.unpack_from("<Q", body, len(body) - 8)[0] if kind < 64 else NEVER

    def has_time(self):
        return self.kind < 64 and 0 < self.time < NEVER

    def key(self):
        """Sort key by time. Without a time, state records come before all others, samples after all others."""
        late = self.kind == SAMPLE and self.time == NEVER
        return (NEVER - 1 if late else self.time % NEVER, self.where)


def split(part, data, at, end, inside=None):
    while at < end:
        kind, misc, size = struct.unpack_from("<IHH", data, at)
        where = (part, at, 0) if inside is None else (part, inside, at)
        yield Record(where, kind, misc, data[at + 8:at + size])
        at += size


def inflate(part, records):
    """A COMPRESSED record is replaced by the records inside it, each of which must be complete."""
    for one in records:
        if one.kind != COMPRESSED:
            yield one
            continue
        plain = subprocess.run(["zstd", "-dqc"], input=one.body, stdout=subprocess.PIPE, check=True).stdout
        yield from split(part, plain, 0, len(plain), one.where[1])


def read_part(path, part):
    with open(path, "rb") as file:
        data = file.read()
    at, size = struct.unpack_from("<QQ", data, 40) if part == 0 else (0, len(data))
    return list(inflate(part, split(part, data, at, at + size)))


def read(path):
    if not os.path.isdir(path):
        return read_part(path, 0)
    records = read_part(os.path.join(path, "data"), 0)
    parts = sorted(int(name[5:]) for name in os.listdir(path) if name[:5] == "data." and name[5:].isdigit())
    for number in parts:
        with open(os.path.join(path, "data.%d" % number), "rb") as file:
            data = file.read()
        records += inflate(number + 1, split(number + 1, data, 0, len(data)))
    return records


# --- The order of records.

def in_order(records):
    """The order of perf: when a round ends, all records up to the latest one of the previous round are delivered."""
    given, queue, latest, limit = [], [], 0, 0

    def flush(until):
        queue.sort(key=lambda one: one.time)
        while queue and queue[0].time <= until:
            given.append(queue.pop(0))
    for one in records:
        if one.has_time():
            queue.append(one)
            latest = max(latest, one.time)
            continue
        given.append(one)
        if one.kind == ROUND:
            flush(limit)
            limit = latest
    flush(NEVER)
    return given


# --- State.

class Space:
    """The mappings of a process: the newest one that covers an address applies."""

    def __init__(self, maps=(), left=None):
        self.maps, self.left = list(maps), left

    def find(self, address):
        return next((name for start, length, name in reversed(self.maps) if 0 <= address - start < length), None)


class Thread:
    def __init__(self, space, name=None):
        self.space, self.name = space, name


class State:
    """The threads at one point of the order, by tid."""

    def __init__(self):
        self.threads = {}

    def current(self, pid, tid):
        if tid not in self.threads:
            joins = pid not in (tid, NOBODY)
            self.threads[tid] = Thread(self.current(pid, pid).space if joins else Space())
        return self.threads[tid]

    def apply(self, one):
        if one.kind == FORK:
            self.fork(one.misc & BARE, *struct.unpack_from("<IIII", one.body))
        if one.kind == COMM:
            self.name(one, *struct.unpack_from("<II", one.body))
        if one.kind in (MMAP, MMAP2):
            self.map(one, *struct.unpack_from("<IIQQ", one.body))

    def fork(self, bare, pid, ppid, tid, ptid):
        parent = self.current(ppid, ptid)
        if tid == pid:
            space = Space(() if bare or pid == ppid else parent.space.maps)
        else:
            space = self.current(pid, pid).space
        self.threads[tid] = Thread(space, parent.name or ("swapper" if ptid == 0 else None))

    def name(self, one, pid, tid):
        thread = self.current(pid, tid)
        thread.name = one.body[8:].split(b"\0")[0].decode()
        if one.misc & BARE:
            thread.space = Space(left=Space(thread.space.maps))

    def map(self, one, pid, tid, start, length):
        name = one.body[64 if one.kind == MMAP2 else 32:].split(b"\0")[0].decode()
        if one.misc & 7 == USER:
            self.current(pid, tid).space.maps.append((start, length, name))

    def see(self, one):
        """Returns (name, objects of its addresses, innermost first) of a sample. A thread known only from samples is treated like its process."""
        thread = self.threads.get(one.tid)
        place = thread or self.threads.get(one.pid)
        in_kernel = one.misc & 7 == KERNEL
        if place and one.misc & 7 == USER:
            place.space.left = None
        name = (thread and thread.name) or ("swapper" if one.tid == 0 else ":%d" % one.tid)
        return name, [(address, self.find(place, address, mode, in_kernel)) for address, mode in addresses(one)]

    @staticmethod
    def find(place, address, mode, in_kernel):
        if not place or mode != USER:
            return "[unknown]"
        found = place.space.find(address)
        if not found and in_kernel and place.space.left:
            found = place.space.left.find(address)
        return found or "[unknown]"


def addresses(one):
    """The addresses of a sample, innermost first; only the ip if there is no chain."""
    mode, chain = one.misc & 7, []
    for entry in one.chain:
        if entry >= MARKERS:
            mode = CONTEXTS.get(entry - (1 << 64), 0)
        else:
            chain.append((entry, mode))
    return chain or [(one.ip, one.misc & 7)]


def seen(records):
    """Returns {sample: its state}; all records are applied in the order of their keys."""
    state, by_sample = State(), {}
    for one in sorted(records, key=Record.key):
        if one.kind == SAMPLE:
            by_sample[one] = state.see(one)
        else:
            state.apply(one)
    return by_sample


def lines(records):
    """Yields (period, time, tid, name, addresses and objects) of each sample, in perf's order."""
    by_sample = seen(records)
    return [(one.period, one.time, one.tid, *by_sample[one]) for one in in_order(records) if one.kind == SAMPLE]


def main(paths):
    for path in paths:
        for period, time, tid, name, places in lines(read(path)):
            print(period, time, tid, name, " ".join("%x:%s" % place for place in places))


if __name__ == "__main__":
    main(sys.argv[1:])
