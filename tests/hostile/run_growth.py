#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_growth.py - twice the input takes twice the time, and memory stays bounded.

usage: run_growth.py [--scale N] [--long-scale N] [--only WORD] MEASURE

MEASURE is the program made of bench/measure.c. Environment: PERFRAY, the command (a build without sanitizers); with
PERFRAY_LONG --long-scale takes the place of --scale.

Recordings are made by hand, each of FAMILIES, TRACES and ASKED in three sizes, 1x, 2x and 4x. What is doubled is what the family is called
by; the hostile ones are made of what costs the search for records most. Of each of COMMANDS, for
traces TRACE_COMMANDS, for ASKED its own commands, is asked

    time    user and system time grow by RATIO at most per doubling, where they are more than FLOOR; and no input takes more
            than twice the time of as many bytes of sound samples and one second, SECOND_EACH for every 4 MB
    memory  `info` and `dump` stay below FLAT MB; what counts stacks does where nothing distinct grows, else it grows with
            the input. What does not fit is told in [limit] (LIMITED), and all else is there
    text    `report` prints at most TEXT_EACH bytes for each byte of the recording and TEXT_ALSO more (BOUNDED). Where trees are
            cut, [limit] stands in the place, standard error tells how many and by which limit; with a higher one all is there. Packed recordings are cut alike

Times of a busy machine are up to twice those of an idle one, for a while. So what seems to grow too fast is measured again AGAIN
times, the sizes in turns, and the least of each size counts; then in three larger sizes, LARGER. Only what grows too fast between the
least and the most of these, too, is wrong: RATIO for each doubling.
"""
import argparse
import array
import os
import random
import resource
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import harness  # noqa: E402

HEADER, ATTR = 104, 128
DATA = HEADER + 8 + ATTR + 16
IP_TID_TIME_PERIOD = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 8
CALLCHAIN = 1 << 5
IDENTIFIER = 1 << 16
ADDR, DATA_SRC = 1 << 3, 1 << 15
COMMANDS = (["info", "--stats"], ["info"], ["dump", "--format=jsonl"], ["report", "--no-pager", "--no-symbols"],
            ["export", "--no-symbols"], ["export", "--format=pprof", "--no-symbols"], ["flame", "--no-symbols"],
            ["symbols", "--symfs", "/sys", "--kallsyms", "/dev/null"], ["verify"],
            ["convert", "-z", "-o", "-"], ["recover", "-o", "-"])
TRACE_COMMANDS = [command for command in COMMANDS if command[0] not in ("verify", "convert")] + [
    ["latency"], ["latency", "--by=caller"], ["script"], ["convert", "--trace=fdr5", "-o", "-"]]
OF_PROFILES = ("report", "export", "flame", "latency")
RATIO, FLOOR, FLAT = 2.6, 0.05, 32
AGAIN = 3
LARGER = (4, 8, 16)
SECONDS = 60
SAMPLE, FORK, COMM, MMAP, MMAP2 = 9, 7, 3, 1, 10
COMPRESSED, AUXTRACE, THREAD_MAP = 81, 71, 73
CMDLINE, EVENT_DESC = 11, 12

# malloc of the C library fills what it gives where this is set, so that memory counts which nobody uses
UNFILLED = {name: value for name, value in os.environ.items() if name != "MALLOC_PERTURB_"}


def record(kind, body, misc=2):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def sample(ip=0x400000, pid=7):
    return record(SAMPLE, struct.pack("<QIIQQ", ip, pid, pid, 1000, 1))


def attr(sample_type, config=0, read_format=0):
    return struct.pack("<IIQQQQQ", 1, ATTR, config, 4000, sample_type, read_format, 0).ljust(ATTR, b"\0")


def recording(records, sample_type=IP_TID_TIME_PERIOD, features=(), read_format=0):
    """A file of one event."""
    sections, payloads, end = b"", b"", DATA + len(records) + 16 * len(features)
    for _, payload in features:
        sections += struct.pack("<QQ", end + len(payloads), len(payload))
        payloads += payload
    header = struct.pack("<8sQQQQQQQQ", b"PERFILE2", HEADER, ATTR + 16, HEADER + 8, ATTR + 16, DATA, len(records), 0, 0)
    bitmap = struct.pack("<QQQQ", sum(1 << bit for bit, _ in features), 0, 0, 0)
    return (header + bitmap + struct.pack("<Q", 1) + attr(sample_type, read_format=read_format) + struct.pack("<QQ", HEADER, 8) + records +
            sections + payloads)


# --- What an honest recorder may write.

def samples(n):
    words = array.array("Q", sample()) * n
    words[1::5] = array.array("Q", (0x400000 + number % 4096 for number in range(n)))
    return recording(words.tobytes())


def long_names(n):
    """Names of 4 000 bytes, no two the same."""
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
    """n attrs with an id each, and a sample of each."""
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
    """Each process is the child of the one before, and only the first one has maps."""
    first = record(MMAP, struct.pack("<IIQQQ", 2, 2, 0x400000, 4096, 0) + b"/bin/sh".ljust(8, b"\0"))
    return recording(first + b"".join(start(i + 1, i) for i in range(2, n + 2)) +
                     b"".join(sample(pid=i) for i in range(2, n + 2)))


def one_pid(n):
    """The same number for n processes; the samples see none of them yet."""
    return recording(sample(pid=9) * n + b"".join(start(9, 1) + record(COMM, struct.pack("<II", 9, 9) + b"sh%06d" % i)
                                                  for i in range(n)))


def call_chains(n):
    chain = array.array("Q", range(0x400000, 0x400000 + 8100)).tobytes()
    one = record(SAMPLE, struct.pack("<QIIQQQ", 0x400000, 7, 7, 1000, 1, 8100) + chain)
    return recording(one * n, IP_TID_TIME_PERIOD | CALLCHAIN)


# --- What nobody writes.

def counters_read(n):
    """Samples of a group that read its counters, the last ones first: they wait for each other."""
    def one(i):
        return record(SAMPLE, struct.pack("<QIIQ", 0x400000, 7, 7, 1000 + i) + struct.pack("<QQQ", 1, i * 10, 1))
    return recording(b"".join(one(i) for i in range(n, 0, -1)), 1 << 0 | 1 << 1 | 1 << 2 | 1 << 4, read_format=1 << 2 | 1 << 3)


def raw_frame(content):
    """A zstd frame of one stored block; less than 128 KB."""
    return b"\x28\xb5\x2f\xfd\x00\x38" + (1 | len(content) << 3).to_bytes(3, "little") + content


def compressed_in_compressed(n):
    """n records within each other, as deep as 64 KB allow, again and again."""
    inner = sample()
    for _ in range(1000):
        inner = record(COMPRESSED, raw_frame(inner))
    return recording(inner * (n // 1000))


def maps_upon_maps(n):
    return recording(b"".join(record(MMAP, struct.pack("<IIQQQ", 7, 7, 0x400000 + i * 64 % 65536, 1 << 20, 0) +
                                     b"/lib/%03d" % (i % 100) + bytes(8)) + sample(0x400000 + i) for i in range(n)))


def maps_of_one_place(n):
    """Each of another file, in the place of the one before, and a sample in it."""
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
    """Each payload holds all that follows, up to the same garbage at the end."""
    step = 48 + 3 * 40
    return recording(b"".join(auxtrace((n - i) * step - 48) + sample() * 3 for i in range(n)) + bytes(64))


def headers(kind, size, tail=b""):
    return repeated(struct.pack("<IHH", kind, 0, size) + tail)


def stream(content):
    return struct.pack("<8sQ", b"PERFILE2", 16) + content


def tracepoint_stream(n):
    """n formats, n events that want them, n features: in a stream each may bring names for all."""
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
    """Each 16 bytes may begin an index of 64 KB, which one more follows, and then none."""
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
    """As before, each attr and its update right before the sample: names and widths change with every line."""
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
    """n events, and n GROUP_DESC groups that each contain all of them."""
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
    """n BPF programs, each with types of its own, listed in the opposite order."""
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
    """A stream with n features that nobody knows."""
    return stream(record(64, attr(IP_TID_TIME_PERIOD)) +
                  b"".join(record(80, struct.pack("<QQ", 1000 + i, i)) for i in range(n)))


def shared_ids(n):
    """n attrs, all of which name the same 16 n ids as theirs, and a sample for each of n ids."""
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
    """Of (thread, first tick, records)."""
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
    """No two calls take the same time."""
    return in_buffers(b"".join(call(0, 1 + i % 64) + call(1, 1 + i % 64, i * 7) for i in range(n)))


def trace_recursion(n):
    return in_buffers(call(0, 1) * n + call(1, 1) * n)


def trace_deep_paths(n):
    """No two paths end alike."""
    return in_buffers(b"".join(call(0, 1 + i) for i in range(n)) + b"".join(call(1, 1 + i) for i in range(n - 1, -1, -1)))


def chains_in_time(n):
    """Each sample has a time and a chain of its own, which leaves the one before at another depth."""
    return recording(b"".join(record(SAMPLE, struct.pack("<QIIQQQ100Q", 0x400000 + i, 7, 7, 1000 + i, 1, 100,
                                                         *(0x400000 + (i % (1 << at % 20)) * 128 + at for at in range(100, 0, -1))))
                              for i in range(n)), IP_TID_TIME_PERIOD | CALLCHAIN)


def forking_chains(n):
    """Chains of up to 100 entries, which leave the deepest one at another depth each."""
    def chain(i):
        return [0x400000 + i] + [0x500000 + 4096 * at for at in range(1 + i % 100, 0, -1)]
    return recording(b"".join(record(SAMPLE, struct.pack("<QIIQQQ%dQ" % len(chain(i)), 0x400000 + i, 7, 7, 1000 + i, 1,
                                                         len(chain(i)), *chain(i))) for i in range(n)),
                     IP_TID_TIME_PERIOD | CALLCHAIN)


def threads_and_maps(n):
    """A process of n maps begins n others, which have them too; each has a thread, a map of its own, and a sample."""
    def mapped(pid, at):
        return record(MMAP, struct.pack("<IIQQQ", pid, pid, at << 12, 4096, 0) + b"/lib%06d\0" % (at % 1000000))
    records = b"".join(mapped(7, 0x1000 + i) for i in range(n))
    for i in range(n):
        pid = 100 + 2 * i
        records += start(pid, 7) + record(FORK, struct.pack("<IIIIQ", pid, pid, pid + 1, pid, 1000)) + mapped(pid, 0x800000 + i)
        records += sample((0x1000 + i) << 12, pid) + record(SAMPLE, struct.pack("<QIIQQ", (0x800000 + i) << 12, pid, pid + 1, 1000, 1))
    return recording(records)


def trace_lone_exits(n):
    """Exits of what is not open, above a stack that is deep."""
    return in_buffers(b"".join(call(0, 1 + i % 1000) for i in range(n)) + b"".join(call(1, 5000 + i) for i in range(n)))


def trace_exceptions(n):
    """One exit ends many calls."""
    return in_buffers((call(0, 9) + call(0, 3) * 500 + call(1, 9)) * n)


def trace_buffers(n):
    """One call each, the last buffer first."""
    return trace((7, 1000 + 100 * i, call(0, 1) + call(1, 1)) for i in range(n, 0, -1))


def trace_extents(n):
    """Each says that it holds all that follows."""
    return trace([]) + (metadata(7, "Q", 1 << 40) + metadata(0, "i", 7) + metadata(4, "qi", 1, 0)) * n


def trace_noise(n):
    return trace([(7, 1000, call(0, 1) + call(1, 1))]) + noise(n)


def trace_zeros(n):
    return trace([(7, 1000, bytes(n))])


GARBAGE = b"\xee" * 8
MB = 1 << 20

# name: (maker, its 1x at scale 1, whether distinct things grow)
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

# What is looked into only when it is asked for: name: (maker, its 1x at scale 1, commands, bytes of memory for one of input:
# in time each call has a stack of its own, of 256 entries)
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
    "chains in time": (chains_in_time, 200, (IN_TIME, IN_TIME[:3] + IN_TIME[5:]), 64),
    "recursion in time": (trace_recursion, 4000, (IN_TIME,), 1200),
}

# What more stacks than fit are made into: name: (maker, its size, commands)
LIMITED = {
    "deep paths": (trace_deep_paths, 20000, (IN_TIME, ["export", "--no-symbols"], ["flame", "--no-symbols"])),
}
LIMIT = "20M"


# Whose text may not grow faster than the recording: name: (maker, its size, commands, whether trees are cut)
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
    """The least of each size, until these do not seem to grow too fast."""
    for _ in range(AGAIN):
        if seem_too_much(costs):
            again = [measure(options, command, path) for path in paths]
            costs = [min(pair, key=lambda cost: cost.seconds) for pair in zip(costs, again)]
    return costs


def judge_growth(options, command, costs, larger):
    """LARGER gives the paths of larger sizes, which are made when they are asked for."""
    if not seem_too_much(costs):
        return None
    paths = larger()
    most = measure_again(options, command, paths, [measure(options, command, path) for path in paths])
    less, more = most[0].seconds, most[-1].seconds
    if more <= RATIO ** (len(most) - 1) * max(less, FLOOR):
        return None
    return "%s s in sizes that are doubled" % "/".join("%.2f" % cost.seconds for cost in (*costs, *most))


def judge_pace(options, command, costs, sizes, paths):
    """What seems too slow is measured again: another load on the machine may have made it so."""
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
    """A status that tells of the recording; verify has one of its own."""
    good = (0, 1, 3) if command[0] == "verify" else (0, 3, 4)
    bad = [cost.status for cost in costs if cost.status not in good]
    return "status %d" % bad[0] if bad else None


def learn_pace(options, folder):
    """Seconds a byte of sound samples takes each command."""
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
    """Paths of recordings of so many times the amount."""
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
    """What does not fit is one row, and all else is there."""
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
    """What is cut depends on the recording, not on how it is packed."""
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
