# SPDX-License-Identifier: Apache-2.0
"""Families of recordings and traces for run_growth.py. Each grows by one kind of item: MAKER(n) returns a file with n items."""
import array
import random
import struct

HEADER, ATTR = 104, 128
DATA = HEADER + 8 + ATTR + 16
IP_TID_TIME_PERIOD = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 8
CALLCHAIN = 1 << 5
IDENTIFIER = 1 << 16
ADDR, DATA_SRC = 1 << 3, 1 << 15
SAMPLE, FORK, COMM, MMAP, MMAP2, SWITCH = 9, 7, 3, 1, 10, 14
SWITCHES = 1 << 18 | 1 << 26  # flags: sample_id_all, context_switch
OUT = 1 << 13  # misc of SWITCH
COMPRESSED, AUXTRACE, THREAD_MAP = 81, 71, 73
CMDLINE, EVENT_DESC = 11, 12


def record(kind, body, misc=2):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def sample(ip=0x400000, pid=7):
    return record(SAMPLE, struct.pack("<QIIQQ", ip, pid, pid, 1000, 1))


def attr(sample_type, config=0, read_format=0, flags=0):
    return struct.pack("<IIQQQQQ", 1, ATTR, config, 4000, sample_type, read_format, flags).ljust(ATTR, b"\0")


def recording(records, sample_type=IP_TID_TIME_PERIOD, features=(), read_format=0, flags=0, config=0):
    """A file of one event."""
    sections, payloads, end = b"", b"", DATA + len(records) + 16 * len(features)
    for _, payload in features:
        sections += struct.pack("<QQ", end + len(payloads), len(payload))
        payloads += payload
    header = struct.pack("<8sQQQQQQQQ", b"PERFILE2", HEADER, ATTR + 16, HEADER + 8, ATTR + 16, DATA, len(records), 0, 0)
    bitmap = struct.pack("<QQQQ", sum(1 << bit for bit, _ in features), 0, 0, 0)
    return (header + bitmap + struct.pack("<Q", 1) + attr(sample_type, config, read_format, flags) + struct.pack("<QQ", HEADER, 8) + records +
            sections + payloads)


# --- Recordings that a normal recorder could write.

def samples(n):
    words = array.array("Q", sample()) * n
    words[1::5] = array.array("Q", (0x400000 + number % 4096 for number in range(n)))
    return recording(words.tobytes())


def long_names(n):
    """Distinct names of 4 000 bytes."""
    return recording(b"".join(record(COMM, struct.pack("<II", i, i) + b"%08d" % i + b"n" * 3992 + bytes(8)) +
                              record(MMAP, struct.pack("<IIQQQ", i, i, 0x400000, 4096, 0) + b"/%08d" % i +
                                     b"m" * 3990 + bytes(8)) + sample(pid=i) for i in range(n)))


def feature_strings(n):
    text = struct.pack("<I", 16) + b"argument".ljust(16, b"\0")
    return recording(sample() * 10, features=((CMDLINE, struct.pack("<I", n) + text * n),))


def feature_events(n):
    one = attr(IP_TID_TIME_PERIOD) + struct.pack("<II", 0, 16) + b"cycles".ljust(16, b"\0")
    return recording(sample() * 10, features=((EVENT_DESC, struct.pack("<II", n, ATTR) + one * n),))


def events(n):
    """n attrs with one id each, and a sample of each."""
    kind = IP_TID_TIME_PERIOD | IDENTIFIER
    data = HEADER + 8 * n + (ATTR + 16) * n
    records = b"".join(record(SAMPLE, struct.pack("<QQIIQQ", 100 + i, 0x400000, 7, 7, 1000, 1)) for i in range(n))
    header = struct.pack("<8sQQQQQQQQ", b"PERFILE2", HEADER, ATTR + 16, HEADER + 8 * n, (ATTR + 16) * n, data,
                         len(records), 0, 0).ljust(HEADER, b"\0")
    ids = array.array("Q", range(100, 100 + n)).tobytes()
    return header + ids + b"".join(attr(kind, i) + struct.pack("<QQ", HEADER + 8 * i, 8) for i in range(n)) + records


def start(pid, parent):
    return record(FORK, struct.pack("<IIIIQ", pid, parent, pid, parent, 1000))


def processes(n):
    return recording(b"".join(start(i, 1) + record(COMM, struct.pack("<II", i, i) + b"sh".ljust(8, b"\0")) +
                              record(MMAP, struct.pack("<IIQQQ", i, i, 0x400000, 4096, 0) + b"/bin/sh".ljust(8, b"\0")) +
                              sample(pid=i) for i in range(2, n + 2)))


def fork_chain(n):
    """Each process is the child of the previous process; only the first process has mappings."""
    first = record(MMAP, struct.pack("<IIQQQ", 2, 2, 0x400000, 4096, 0) + b"/bin/sh".ljust(8, b"\0"))
    return recording(first + b"".join(start(i + 1, i) for i in range(2, n + 2)) +
                     b"".join(sample(pid=i) for i in range(2, n + 2)))


def one_pid(n):
    """n processes with the same pid; all samples come before the first process."""
    return recording(sample(pid=9) * n + b"".join(start(9, 1) + record(COMM, struct.pack("<II", 9, 9) + b"sh%06d" % i)
                                                  for i in range(n)))


def call_chains(n):
    chain = array.array("Q", range(0x400000, 0x400000 + 8100)).tobytes()
    one = record(SAMPLE, struct.pack("<QIIQQQ", 0x400000, 7, 7, 1000, 1, 8100) + chain)
    return recording(one * n, IP_TID_TIME_PERIOD | CALLCHAIN)


def switch(tid, time, out):
    return record(SWITCH, struct.pack("<IIQ", 7, tid, time), OUT if out else 0)


def switches(n):
    """Two threads that run alternately, with one sample each time."""
    turn = b"".join(switch(tid, 0, False) + sample(pid=tid) + switch(tid, 0, True) for tid in (7, 8))
    words = array.array("Q", turn * (n // 2))
    each, time = len(turn) // 8, 1000
    for at in range(0, len(words), each):
        for place in (2, 6, 10, 13, 17, 21):  # of the times
            words[at + place] = time
            time += 10
    return recording(words.tobytes(), flags=SWITCHES)


def switching_threads(n):
    return recording(b"".join(switch(tid, 1000 + 30 * tid, False) + switch(tid, 1010 + 30 * tid, True) for tid in range(8, n + 8)),
                     flags=SWITCHES)


# --- Recordings that no recorder writes.

def counters_read(n):
    """Samples of a group that read its counters, in descending time order, so that they wait for each other."""
    def one(i):
        return record(SAMPLE, struct.pack("<QIIQ", 0x400000, 7, 7, 1000 + i) + struct.pack("<QQQ", 1, i * 10, 1))
    return recording(b"".join(one(i) for i in range(n, 0, -1)), 1 << 0 | 1 << 1 | 1 << 2 | 1 << 4, read_format=1 << 2 | 1 << 3)


def raw_frame(content):
    """A zstd frame of one stored block; less than 128 KB."""
    return b"\x28\xb5\x2f\xfd\x00\x38" + (1 | len(content) << 3).to_bytes(3, "little") + content


def compressed_in_compressed(n):
    """n records that contain each other, as deep as 64 KB allow, repeatedly."""
    inner = sample()
    for _ in range(1000):
        inner = record(COMPRESSED, raw_frame(inner))
    return recording(inner * (n // 1000))


def maps_upon_maps(n):
    return recording(b"".join(record(MMAP, struct.pack("<IIQQQ", 7, 7, 0x400000 + i * 64 % 65536, 1 << 20, 0) +
                                     b"/lib/%03d" % (i % 100) + bytes(8)) + sample(0x400000 + i) for i in range(n)))


def maps_of_one_place(n):
    """Mappings of different files that replace each other, with a sample in each."""
    return recording(b"".join(record(MMAP, struct.pack("<IIQQQ", 7, 7, 0x400000, 4096, 0) + b"/lib/%08d" % i + bytes(8)) +
                              record(SAMPLE, struct.pack("<QIIQQQQ", 0x400010, 7, 7, 1000, 0, 1, 0)) for i in range(n)),
                     IP_TID_TIME_PERIOD | ADDR | DATA_SRC)


def noise(length):
    return random.Random(length).getrandbits(8 * length).to_bytes(length, "little")


def noise_between(n):
    return recording(b"".join(sample() + noise(61) for _ in range(n)))


def noise_alone(n):
    return recording(noise(n))


def repeated(piece):
    return lambda n: recording(piece * (n // len(piece)))


def auxtrace(size, index=0):
    return struct.pack("<IHHQQQIIII", AUXTRACE, 0, 48, size, 0, 0, index, 7, 0, 0)


def payloads_in_payloads(n):
    """Each payload extends over all following bytes, up to the same garbage at the end."""
    step = 48 + 3 * 40
    return recording(b"".join(auxtrace((n - i) * step - 48) + sample() * 3 for i in range(n)) + bytes(64))


def headers(kind, size, tail=b""):
    return repeated(struct.pack("<IHH", kind, 0, size) + tail)


def stream(content):
    return struct.pack("<8sQ", b"PERFILE2", 16) + content


def tracepoint_stream(n):
    """n formats, n events that need them, n features; in a stream each feature may change the names of all events."""
    formats = [b"name: call%06d\nID: %d\n" % (i, i) for i in range(n)]
    blob = (b"\x17\x08\x44tracing0.6\0" + struct.pack("<BBI", 0, 8, 4096) + b"header_page\0" + bytes(8) +
            b"header_event\0" + bytes(8) + struct.pack("<II", 0, 1) + b"calls\0" + struct.pack("<I", n) +
            b"".join(struct.pack("<Q", len(text)) + text for text in formats))
    blob += bytes(-len(blob) % 8)
    kinds = [struct.pack("<IIQQQQQ", 2, ATTR, i, 1, IP_TID_TIME_PERIOD, 0, 0).ljust(ATTR, b"\0") for i in range(n)]
    return stream(struct.pack("<IHHI", 66, 0, 12, len(blob)) + blob +
                  b"".join(record(64, kind + struct.pack("<Q", 1000 + i)) for i, kind in enumerate(kinds)) +
                  record(80, struct.pack("<QI", 3, 8) + b"machine\0") * n)


def indices_over_zeros(n):
    """At every 16 bytes, there might be an index of 64 KB that is followed by exactly one further index."""
    index = struct.pack("<IHHQ", 69, 0, 65520, 2047)
    return stream(record(64, attr(IP_TID_TIME_PERIOD)) + (bytes(8) + index * 8186 + bytes(16 * 8192)) * n)


def events_updated(n):
    """n attrs of a stream, each with an update that names it, and a sample of each."""
    kind = IP_TID_TIME_PERIOD | IDENTIFIER
    made = [record(64, attr(kind, i) + struct.pack("<Q", i)) + record(78, struct.pack("<QQ", 2, i) + b"name%06d" % i)
            for i in range(n)]
    made += [record(SAMPLE, struct.pack("<QQIIQQ", i, 0x400000, 7, 7, 1000, 1)) for i in range(n)]
    return stream(b"".join(made))


def events_between(n):
    """Like events_updated, but each attr and its update is directly before its sample, so names and widths change with every line."""
    kind = IP_TID_TIME_PERIOD | IDENTIFIER
    return stream(b"".join(record(64, attr(kind, i) + struct.pack("<Q", i)) + record(78, struct.pack("<QQ", 2, i) + b"name%06d" % i) +
                           record(SAMPLE, struct.pack("<QQIIQQ", i, 0x400000, 7, 7, 1000 + i, 1)) for i in range(n)))


def wide_group(n):
    """One GROUP_DESC group of n events, and a sample of each."""
    kind = IP_TID_TIME_PERIOD | IDENTIFIER
    attrs_at, entry = HEADER + 8 * n, ATTR + 16
    data = attrs_at + entry * n
    records = b"".join(record(SAMPLE, struct.pack("<QQIIQQ", i, 0x400000 + i, 7, 7, 1000, 1)) for i in range(n))
    group = struct.pack("<II", 1, 64) + b"group".ljust(64, b"\0") + struct.pack("<II", 0, n)
    header = struct.pack("<8sQQQQQQQQQ", b"PERFILE2", HEADER, entry, attrs_at, entry * n, data, len(records), 0, 0, 1 << 17).ljust(HEADER, b"\0")
    ids = array.array("Q", range(n)).tobytes()
    attrs = b"".join(attr(kind, i) + struct.pack("<QQ", HEADER + 8 * i, 8) for i in range(n))
    features = struct.pack("<QQ", data + len(records) + 16, len(group)) + group
    return header + ids + attrs + records + features


def overlapping_groups(n):
    """n events, and n GROUP_DESC groups that each contain all events."""
    attrs = b"".join(attr(IP_TID_TIME_PERIOD, i) for i in range(n))
    groups = (struct.pack("<I", 8) + b"group".ljust(8, b"\0") + struct.pack("<II", 0, n)) * n
    described = struct.pack("<II", n, ATTR) + b"".join(
        attr(IP_TID_TIME_PERIOD, i) + struct.pack("<II", 0, 16) + (b"event%06d" % i).ljust(16, b"\0") for i in range(n))
    entries = b"".join(attrs[at:at + ATTR] + bytes(16) for at in range(0, len(attrs), ATTR))
    data = HEADER + len(entries) + 160
    header = struct.pack("<8sQQQQQQQQQ", b"PERFILE2", HEADER, ATTR + 16, HEADER, len(entries), data - 160, 160, 0, 0,
                         1 << 17 | 1 << EVENT_DESC).ljust(HEADER, b"\0")
    groups = struct.pack("<I", n) + groups
    sections = struct.pack("<QQQQ", data + 32, len(described), data + 32 + len(described), len(groups))
    return header + entries + sample() * 4 + sections + described + groups


def bpf_program(number, btf_id, parts):
    """An entry of BPF_PROG_INFO whose functions are the types 1 to `parts` of a BTF."""
    info = bytearray(192)
    struct.pack_into("<II", info, 0, 1, number)
    struct.pack_into("<IIQQII", info, 104, parts, parts, 0, 8 * parts, btf_id, 8)
    struct.pack_into("<QI", info, 136, 20 * parts, parts)
    struct.pack_into("<IQ", info, 180, parts, 12 * parts)
    functions = b"".join(struct.pack("<II", 0, 1 + i) for i in range(parts))
    data = bytes(20 * parts) + functions
    return struct.pack("<IIQ", len(info), len(data), 0) + bytes(info) + data


def btf_entry(number, types, name=b"function"):
    """An entry of BPF_BTF: `types` functions of one name."""
    strings = b"\0" + name + b"\0"
    body = struct.pack("<III", 1, 12 << 24, 0) * types
    data = struct.pack("<HBBIIIII", 0xeb9f, 1, 0, 24, 0, len(body), len(body), len(strings)) + body + strings
    return struct.pack("<II", number, len(data)) + data


def bpf_features(programs, types):
    return recording(sample() * 10, features=((25, struct.pack("<I", len(programs)) + b"".join(programs)),
                                              (26, struct.pack("<I", len(types)) + b"".join(types))))


def programs_and_types(n):
    """n BPF programs, each with its own types, which are listed in reverse order."""
    return bpf_features([bpf_program(i, n - i, 1) for i in range(n)], [btf_entry(1 + i, 1) for i in range(n)])


def programs_of_one_type_list(n):
    """n BPF programs, each of whose functions is the last of n types in the same BTF."""
    last = struct.pack("<II", 0, n)
    return bpf_features([bpf_program(i, 1, 1)[:-8] + last for i in range(n)], [btf_entry(1, n)])


def long_function_name(n):
    """A BPF program of n functions, all of which have the same name of 16 n bytes."""
    return bpf_features([bpf_program(1, 1, n)], [btf_entry(1, n, b"f" * 16 * n)])


def feature_repeated(n):
    """A stream with a command line of 16 n bytes, and n more records of this feature."""
    text = b"".join(struct.pack("<I", 16) + b"argument".ljust(16, b"\0") for _ in range(min(n, 3000)))
    again = record(80, struct.pack("<QII", CMDLINE, 1, 8) + b"again\0\0\0")
    return stream(record(64, attr(IP_TID_TIME_PERIOD)) +
                  record(80, struct.pack("<QI", CMDLINE, min(n, 3000)) + text) + again * n)


def unknown_features(n):
    """A stream with n unknown features."""
    return stream(record(64, attr(IP_TID_TIME_PERIOD)) +
                  b"".join(record(80, struct.pack("<QQ", 1000 + i, i)) for i in range(n)))


def shared_ids(n):
    """n attrs, all of which list the same 16 n ids, and a sample for each of n ids."""
    kind = IP_TID_TIME_PERIOD | IDENTIFIER
    data = HEADER + 8 * 16 * n + (ATTR + 16) * n
    records = b"".join(record(SAMPLE, struct.pack("<QQIIQQ", i, 0x400000, 7, 7, 1000, 1)) for i in range(n))
    header = struct.pack("<8sQQQQQQQQ", b"PERFILE2", HEADER, ATTR + 16, HEADER + 8 * 16 * n, (ATTR + 16) * n, data,
                         len(records), 0, 0).ljust(HEADER, b"\0")
    ids = array.array("Q", range(16 * n)).tobytes()
    return header + ids + b"".join(attr(kind, i) + struct.pack("<QQ", HEADER, len(ids)) for i in range(n)) + records


# --- Traces of the flight recorder, version 5.

def metadata(kind, form, *values):
    return (bytes([kind << 1 | 1]) + struct.pack("<" + form, *values)).ljust(16, b"\0")


def call(action, function, delta=10):
    return struct.pack("<II", function << 4 | action << 1, delta)


def trace(buffers):
    """A trace of buffers (thread, first tick, records)."""
    parts = [struct.pack("<HHIQQQ", 5, 1, 3, 10**9, 1 << 16, 0)]
    for tid, tsc, records in buffers:
        body = (metadata(0, "i", tid) + metadata(4, "qi", 1, tsc % 1000000) + metadata(9, "i", 1) + metadata(2, "HQ", 0, tsc) +
                records)
        parts += [metadata(7, "Q", len(body)), body]
    return b"".join(parts)


def in_buffers(records, tid=7, size=1 << 16):
    return trace((tid, 1000 + at * 1000, records[at:at + size]) for at in range(0, len(records), size))


def trace_calls(n):
    return in_buffers((call(0, 1) + call(0, 2) + call(1, 2) + call(1, 1)) * n)


def trace_threads(n):
    return trace((100 + i, 1000, call(0, 1) + call(1, 1)) for i in range(n))


def trace_functions(n):
    return in_buffers(b"".join(call(0, i % (1 << 28)) + call(1, i % (1 << 28)) for i in range(1, n + 1)))


def trace_latencies(n):
    """Calls that all have different durations."""
    return in_buffers(b"".join(call(0, 1 + i % 64) + call(1, 1 + i % 64, i * 7) for i in range(n)))


def trace_recursion(n):
    return in_buffers(call(0, 1) * n + call(1, 1) * n)


def trace_deep_paths(n):
    """Call paths whose ends are all different."""
    return in_buffers(b"".join(call(0, 1 + i) for i in range(n)) + b"".join(call(1, 1 + i) for i in range(n - 1, -1, -1)))


def chains_in_time(n):
    """Each sample has a different time and chain; each chain branches off from the previous one at another depth."""
    return recording(b"".join(record(SAMPLE, struct.pack("<QIIQQQ100Q", 0x400000 + i, 7, 7, 1000 + i, 1, 100,
                                                         *(0x400000 + (i % (1 << at % 20)) * 128 + at for at in range(100, 0, -1))))
                              for i in range(n)), IP_TID_TIME_PERIOD | CALLCHAIN)


def forking_chains(n):
    """Chains of up to 100 entries; each branches off from the deepest chain at another depth."""
    def chain(i):
        return [0x400000 + i] + [0x500000 + 4096 * at for at in range(1 + i % 100, 0, -1)]
    return recording(b"".join(record(SAMPLE, struct.pack("<QIIQQQ%dQ" % len(chain(i)), 0x400000 + i, 7, 7, 1000 + i, 1,
                                                         len(chain(i)), *chain(i))) for i in range(n)),
                     IP_TID_TIME_PERIOD | CALLCHAIN)


def threads_and_maps(n):
    """A process with n maps forks n others, which inherit them; each has a thread, one more map, and a sample."""
    def mapped(pid, at):
        return record(MMAP, struct.pack("<IIQQQ", pid, pid, at << 12, 4096, 0) + b"/lib%06d\0" % (at % 1000000))
    records = b"".join(mapped(7, 0x1000 + i) for i in range(n))
    for i in range(n):
        pid = 100 + 2 * i
        records += start(pid, 7) + record(FORK, struct.pack("<IIIIQ", pid, pid, pid + 1, pid, 1000)) + mapped(pid, 0x800000 + i)
        records += sample((0x1000 + i) << 12, pid) + record(SAMPLE, struct.pack("<QIIQQ", (0x800000 + i) << 12, pid, pid + 1, 1000, 1))
    return recording(records)


def trace_lone_exits(n):
    """Exits of functions that are not open, on a deep stack."""
    return in_buffers(b"".join(call(0, 1 + i % 1000) for i in range(n)) + b"".join(call(1, 5000 + i) for i in range(n)))


def trace_exceptions(n):
    """One exit ends many calls."""
    return in_buffers((call(0, 9) + call(0, 3) * 500 + call(1, 9)) * n)


def trace_buffers(n):
    """Buffers with one call each, the last buffer first."""
    return trace((7, 1000 + 100 * i, call(0, 1) + call(1, 1)) for i in range(n, 0, -1))


def trace_extents(n):
    """Buffers whose extents include everything after them."""
    return trace([]) + (metadata(7, "Q", 1 << 40) + metadata(0, "i", 7) + metadata(4, "qi", 1, 0)) * n


def trace_noise(n):
    return trace([(7, 1000, call(0, 1) + call(1, 1))]) + noise(n)


def trace_zeros(n):
    return trace([(7, 1000, bytes(n))])
