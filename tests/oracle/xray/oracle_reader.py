# SPDX-License-Identifier: Apache-2.0
"""Reads records of XRay traces and their threads by the rules that oracle.py lists."""
import struct
from collections import defaultdict


KINDS = ("new_buffer", "end_of_buffer", "new_cpu_id", "tsc_wrap", "wall_clock_time", "custom_event", "call_argument",
         "buffer_extents", "typed_event", "pid")
ACTIONS = ("enter", "exit", "tail_exit", "enter_arg")
MASK64 = (1 << 64) - 1
PROFILE_MAGIC = 0x7872617970726f66


class NotXRay(Exception):
    """The file has no header of a known version."""


class Record:
    """One record; `kind` is one of KINDS or ACTIONS, or "block" or "path" of a profile. Absent values are None."""

    def __init__(self, kind, offset, size, **members):
        self.kind, self.offset, self.size = kind, offset, size
        self.tsc = self.cpu = self.tid = self.pid = self.func = self.data = self.value = None
        self.args = []
        self.__dict__.update(members)


class Trace:
    def __init__(self):
        self.header = {}
        self.records, self.damage, self.notes = [], [], []
        self.threads = {}  # {(pid, tid): records in time order}

    def hole(self, offset, length, why):
        self.damage.append((offset, length, why))

    def note(self, offset, why):
        self.notes.append((offset, why))


# --- Headers.

def read(data):
    """Reads the trace in these bytes."""
    if len(data) >= 8:
        for order in "<>":
            if struct.unpack_from(order + "Q", data)[0] == PROFILE_MAGIC:
                return read_profile(data, order)
    for order in "<>":
        if len(data) < 4:
            break
        version, form = struct.unpack_from(order + "HH", data)
        if (form == 0 and 1 <= version <= 3) or (form == 1 and 1 <= version <= 5):
            if len(data) < 32:
                raise NotXRay("the header is cut at %d of 32 bytes" % len(data))
            return read_log(data, order, version, form)
    raise NotXRay("no XRay header of a known version")


def read_log(data, order, version, form):
    trace = Trace()
    flags, frequency, buffer_size = struct.unpack_from(order + "IQQ", data, 4)
    if order == ">":
        flags |= flags >> 31 | (flags >> 30 & 1) << 1
    trace.header = {"type": form, "version": version, "big_endian": order == ">", "constant_tsc": bool(flags & 1),
                    "nonstop_tsc": bool(flags & 2), "cycle_frequency": frequency, "buffer_size": buffer_size}
    if form == 0:
        read_basic(trace, data, order, version)
    else:
        FdrReader(trace, data, order).read()
    order_threads(trace)
    return trace


# --- FDR.

class FdrReader:
    def __init__(self, trace, data, order):
        self.trace, self.data, self.order = trace, data, order
        self.version = trace.header["version"]
        first = data[32] if len(data) > 32 else 0
        # LLVM's reader also accepts big-endian integers with little-endian bit fields, which no machine writes.
        self.top_bits = order == ">" and first != (0x01 if self.version == 1 else 0x0f)
        trace.header["hybrid"] = order == ">" and not self.top_bits
        self.last_base = {}  # version 1: {tid: base at the end of its previous buffer}

    def metadata_kind(self, at):
        byte = self.data[at]
        if self.top_bits:
            return byte & 0x7f if byte & 0x80 else None
        return byte >> 1 if byte & 1 else None

    def whole_metadata(self, at, kind):
        return at + 16 <= len(self.data) and self.metadata_kind(at) == kind

    def read(self):
        if self.version == 1:
            self.read_strides()
        else:
            self.read_extents()

    def read_strides(self):
        at, stride = 32, self.trace.header["buffer_size"]
        while at < len(self.data):
            if stride < 16:
                at = self.read_body(at, len(self.data))
                continue
            if at + stride > len(self.data):
                self.trace.note(at, "the last buffer is cut short")
            self.read_body(at, min(at + stride, len(self.data)))
            at += stride

    def looks_like_extents(self, at):
        if not self.whole_metadata(at, 7):
            return False
        then = at + 16
        return then == len(self.data) or self.metadata_kind(then) in (0, 7)

    def read_extents(self):
        at = 32
        while at < len(self.data):
            if not self.whole_metadata(at, 7):
                start = at
                while at < len(self.data) and not self.looks_like_extents(at):
                    at += 1
                self.trace.hole(start, at - start, "no BufferExtents")
                continue
            size = self.take("Q", at + 1)
            self.add("buffer_extents", at, 16, value=size)
            at, end = at + 16, at + 16 + size
            if end > len(self.data):
                self.trace.note(at - 16, "extents promise %d more bytes" % (end - len(self.data)))
            at = self.read_body(at, min(end, len(self.data)))

    def take(self, form, at):
        return struct.unpack_from(self.order + form, self.data, at)[0]

    def add(self, kind, at, size, **members):
        record = Record(kind, at, size, **members)
        self.trace.records.append(record)
        return record

    def read_body(self, at, end):
        """Reads up to `end`; returns where the next buffer begins."""
        self.tid = self.pid = self.base = None
        self.cpu, self.previous, self.block = 0, None, []
        self.timed = False
        while at < end:
            if self.version > 1 and self.looks_like_extents(at):
                self.trace.note(at, "the extents before this buffer were too large")
                return at
            size, why = self.read_record(at, end)
            if why:
                self.trace.hole(at, end - at, why)
                break
            at += size
            if self.version == 1 and self.trace.records[-1].kind == "end_of_buffer":
                if self.trace.header["buffer_size"] < 16:
                    end = at
                break
        if self.tid is not None:
            self.last_base[self.tid] = self.base
        return end

    def read_record(self, at, end):
        kind = self.metadata_kind(at)
        if kind is None:
            return self.read_function(at, end)
        if kind >= len(KINDS):
            return 0, "unknown kind %d" % kind
        if at + 16 > end:
            return 0, "a record is cut"
        name, size = KINDS[kind], 16
        if name in ("custom_event", "typed_event"):
            payload = self.take("i", at + 1)
            if payload < 0:
                return 0, "an event of negative size"
            size += payload
            if at + size > end:
                return 0, "a payload is cut"
        getattr(self, "on_" + name)(self.add(name, at, size), at + 1)
        return size, None

    def read_function(self, at, end):
        if at + 8 > end:
            return 0, "a record is cut"
        word, delta = struct.unpack_from(self.order + "II", self.data, at)
        action = word >> 28 & 7 if self.top_bits else word >> 1 & 7
        if action >= len(ACTIONS):
            return 0, "unknown action %d" % action
        record = self.add(ACTIONS[action], at, 8, func=word & 0xfffffff if self.top_bits else word >> 4, value=delta)
        if self.base is None and self.version == 1:
            self.base = self.last_base.get(self.tid)
            self.timed = self.base is not None
        self.base = ((self.base or 0) + delta) & MASK64
        self.happened(record, self.base)
        return 8, None

    def happened(self, record, tsc):
        record.tsc, record.cpu, record.tid, record.pid, record.timed = tsc, self.cpu, self.tid, self.pid, self.timed
        record.block = self.block
        self.block.append(record)
        self.previous = record

    def on_new_buffer(self, record, at):
        record.value = self.tid = self.take("i", at)

    def on_end_of_buffer(self, record, at):
        if self.version > 1:
            self.trace.note(at - 1, "EndOfBuffer has no meaning from version 2 on")

    def on_new_cpu_id(self, record, at):
        record.cpu = self.cpu = self.take("H", at)
        record.value = self.base = self.take("Q", at + 2)
        self.timed = True

    def on_tsc_wrap(self, record, at):
        record.value = self.base = self.take("Q", at)
        self.timed = True

    def on_wall_clock_time(self, record, at):
        record.value = (self.take("q", at), self.take("i", at + 8))

    def on_pid(self, record, at):
        record.value = self.pid = self.take("i", at)

    def on_buffer_extents(self, record, at):
        record.value = self.take("Q", at)
        self.trace.note(at - 1, "BufferExtents within a buffer")

    def on_call_argument(self, record, at):
        record.value = self.take("Q", at)
        if self.previous is None or self.previous.kind not in ACTIONS:
            self.trace.note(at - 1, "an argument of nothing")
            return
        if self.previous.kind in ("exit", "tail_exit"):
            self.trace.note(at - 1, "an argument of an exit")
        if self.previous.kind == "enter":
            self.previous.kind = "enter_arg"
            self.previous.plain = True
        self.previous.args.append(record.value)

    def on_custom_event(self, record, at):
        record.data = self.data[at + 15:at + 15 + self.take("i", at)]
        if self.version == 5:
            return self.on_delta_event(record, at)
        record.value = self.take("Q", at + 4)
        self.happened(record, record.value)
        record.timed = True
        if self.version == 4:
            record.cpu = self.take("H", at + 12)

    def on_typed_event(self, record, at):
        record.data = self.data[at + 15:at + 15 + self.take("i", at)]
        record.event_type = self.take("H", at + 8)
        self.on_delta_event(record, at)

    def on_delta_event(self, record, at):
        record.value = self.take("i", at + 4)
        self.base = ((self.base or 0) + record.value) & MASK64
        self.happened(record, self.base)


# --- Basic-mode logs and profiles.

def read_basic(trace, data, order, version):
    previous = None
    for at in range(32, len(data), 32):
        if at + 32 > len(data):
            trace.hole(at, len(data) - at, "a record is cut")
            break
        kind = struct.unpack_from(order + "H", data, at)[0]
        if kind == 0:
            cpu, action, func, tsc, tid, pid = struct.unpack_from(order + "BBiQii", data, at + 2)
            if action >= len(ACTIONS):
                trace.hole(at, 32, "unknown action %d" % action)
                previous = None
                continue
            previous = Record(ACTIONS[action], at, 32, cpu=cpu, func=func, tsc=tsc, tid=tid,
                              pid=pid if version == 3 else None, timed=True, block=trace)
            trace.records.append(previous)
        elif kind == 1:
            func, tid, pid, value = struct.unpack_from(order + "iiiQ", data, at + 4)
            trace.records.append(Record("call_argument", at, 32, func=func, tid=tid, value=value))
            if previous and (func, tid) == (previous.func, previous.tid) and (version < 3 or pid == previous.pid):
                previous.args.append(value)
                if previous.kind == "enter":
                    previous.kind = "enter_arg"
            else:
                trace.note(at, "an argument of another function")
        else:
            trace.hole(at, 32, "unknown kind %d" % kind)
            previous = None


def read_profile(data, order):
    trace = Trace()
    if len(data) < 32:
        raise NotXRay("the header is cut at %d of 32 bytes" % len(data))
    _, version, time, pid = struct.unpack_from(order + "QQQQ", data)
    trace.header = {"type": "profile", "version": version, "time_ns": time, "pid": pid, "big_endian": order == ">"}
    at = 32
    while at + 16 <= len(data):
        size, number, tid = struct.unpack_from(order + "IIQ", data, at)
        if size < 16:
            trace.hole(at, len(data) - at, "a block of %d bytes" % size)
            return trace
        trace.records.append(Record("block", at, 16, value=number, tid=tid, pid=pid))
        read_paths(trace, data, order, at + 16, min(at + size, len(data)), tid, pid)
        at += size
    if at != len(data):
        trace.hole(min(at, len(data)), max(0, len(data) - at), "the last block is cut")
    return trace


def read_paths(trace, data, order, at, end, tid, pid):
    while at < end:
        path, then = [], at
        while then + 4 <= end:
            path.append(struct.unpack_from(order + "i", data, then)[0])
            then += 4
            if path[-1] == 0:
                break
        if not path or path[-1] != 0 or then + 16 > end:
            trace.hole(at, end - at, "a path is cut")
            return
        count, time = struct.unpack_from(order + "QQ", data, then)
        trace.records.append(Record("path", at, then + 16 - at, args=path[:-1], value=(count, time), tid=tid, pid=pid))
        at = then + 16


# --- Threads and calls.

def order_threads(trace):
    """Groups records by (pid, tid). A block of a flight recorder trace is ordered by its first NewCPUId."""
    first, groups = {}, defaultdict(list)
    cpu_of_block = None
    for record in trace.records:
        if record.kind in ("new_buffer", "buffer_extents"):
            cpu_of_block = None
        elif record.kind == "new_cpu_id" and cpu_of_block is None:
            cpu_of_block = record.value
        elif record.kind in ACTIONS or record.kind in ("custom_event", "typed_event"):
            if id(record.block) not in first:
                first[id(record.block)] = cpu_of_block if cpu_of_block is not None else record.tsc
            groups[record.pid, record.tid].append(record)
    basic = trace.header["type"] == 0
    for thread, records in groups.items():
        trace.threads[thread] = records if basic else sorted(records, key=lambda r: first[id(r.block)])
