# SPDX-License-Identifier: Apache-2.0
"""Recordings in which every field that can contain a name contains a chosen one.

    bytes_of_a_file, bytes_of_a_stream = make_file(name), make_stream(name)

`name(field, room)` returns the bytes for a field: at most `room` bytes, without NUL. Layouts: linux/perf_event.h, and
tools/perf/Documentation/perf.data-file-format.txt of the kernel.
"""
import struct

SAMPLE_TYPE = 0x47  # IP, TID, TIME, ID
FLAGS = 1 << 18     # sample_id_all
ROOM = 400          # bytes of a name where the format sets no limit
EVENT_ROOM = 100    # of the two parts of a tracepoint's name
PID = 7
KERNEL_START = 0xFFFFFFFF81000000
PAGE = 4096

STRING_FEATURES = {3: "hostname", 4: "osrelease", 5: "version", 6: "arch", 8: "cpudesc", 9: "cpuid"}


def string(text):
    """Length with padding, text, NULs: a text of a header feature."""
    room = len(text) + 1 + -(len(text) + 1) % 4
    return struct.pack("<I", room) + text.ljust(room, b"\0")


def padded(text, to=8):
    return text + bytes(to - len(text) % to)


def record(kind, body, misc=0):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def attr(kind, config, size=64):
    return struct.pack("<IIQQQQQ", kind, size, config, 4000, SAMPLE_TYPE, 0, FLAGS) + bytes(size - 48)


def tail(time=1000, pid=PID):
    """sample_id of a record other than a sample: pid, tid, time, id."""
    return struct.pack("<IIQQ", pid, pid, time, 1)


def sample(ip, misc, event, time, pid=PID):
    return record(9, struct.pack("<QIIQQ", ip, pid, pid, time, event), misc)


def state_records(name):
    """Kernel records about tasks, maps and code."""
    kernel = b"[kernel.kallsyms]" + name("kernel_map", ROOM)
    yield record(1, struct.pack("<iIQQQ", -1, 0, KERNEL_START, 1 << 24, KERNEL_START) + padded(kernel) + tail(0), 1)
    yield record(1, struct.pack("<iIQQQ", -1, 0, KERNEL_START + (1 << 24), PAGE, 0)
                 + padded(b"/lib/" + name("module_map", ROOM) + b".ko") + tail(0), 1)
    yield record(3, struct.pack("<II", PID, PID) + padded(name("comm", ROOM)) + tail())
    yield record(1, struct.pack("<IIQQQ", PID, PID, 0x10000, PAGE, 0) + padded(b"/usr/" + name("mmap", ROOM)) + tail(), 2)
    yield record(10, struct.pack("<IIQQQIIQQII", PID, PID, 0x20000, PAGE, 0, 8, 1, 99, 0, 5, 2)
                 + padded(b"/opt/" + name("mmap2", ROOM)) + tail(), 2)
    yield record(10, struct.pack("<IIQQQB3x20sII", PID, PID, 0x30000, PAGE, 0, 20, b"\x5a" * 20, 5, 2)
                 + padded(name("mmap2_build_id", ROOM)) + tail(), 2 | 1 << 14)
    yield record(17, struct.pack("<QIHH", KERNEL_START + (1 << 25), 64, 1, 0) + padded(name("ksymbol", ROOM))
                 + tail())
    yield record(19, struct.pack("<Q", 77) + padded(b"/" + name("cgroup", ROOM)) + tail())


def user_records(name):
    """Records that perf itself writes."""
    yield record(65, struct.pack("<Q", 4) + name("event_type", 63).ljust(64, b"\0"))
    yield record(72, struct.pack("<IIiIIIQ", 1, 5, 0, 7, 7, 0, 0x1234) + padded(name("auxtrace_error", 63)))
    yield record(73, struct.pack("<QQ", 1, 7) + name("thread_map", 15).ljust(16, b"\0"))
    yield record(78, struct.pack("<QQ", 0, 1) + padded(name("event_update_unit", ROOM)))
    metadata = name("bpf_metadata_name", 127).ljust(128, b"\0") + struct.pack("<Q", 1)
    metadata += name("bpf_metadata_key", 63).ljust(64, b"\0") + name("bpf_metadata_value", 255).ljust(256, b"\0")
    yield record(84, metadata)
    yield record(91, padded(name("unknown_record", ROOM)))


def samples(events):
    places = ((KERNEL_START + 0x100, 1), (KERNEL_START + (1 << 24) + 8, 1), (0x10010, 2), (0x20010, 2), (0x30010, 2))
    for number, (ip, misc) in enumerate(places):
        for event in events:
            yield sample(ip, misc, event, 2000 + number)


def build_id_entry(filename, kind=0):
    body = struct.pack("<i20sB3x", -1, b"\xa5" * 20, 20) + padded(filename)
    return struct.pack("<IHH", kind, 1 << 15 | 2, 8 + len(body)) + body


def tracing_data(name):
    """Formats of the tracepoint 5, in a system with the chosen name."""
    def sized(text):
        return struct.pack("<Q", len(text)) + text
    text = (b"name: " + name("trace_event", EVENT_ROOM).replace(b"\n", b" ") + b"\nID: 5\nformat:\n"
            b"\tfield:int " + name("trace_field", ROOM).replace(b";", b" ")
            + b";\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"%d\", REC->x\n")
    blob = b"\x17\x08\x44tracing0.6\0\0\x08" + struct.pack("<I", PAGE)
    blob += b"header_page\0" + sized(b"") + b"header_event\0" + sized(b"") + struct.pack("<I", 0)
    blob += struct.pack("<I", 1) + name("trace_system", EVENT_ROOM) + b"\0" + struct.pack("<I", 1) + sized(text)
    symbols = b"ffffffff81000000 T " + name("trace_kallsyms", ROOM) + b"\n"
    formats = b"0xffffffff81000000 : \"" + name("trace_printk", ROOM) + b"\"\n"
    saved = b"7 " + name("trace_cmdline", ROOM) + b"\n"
    return blob + struct.pack("<I", len(symbols)) + symbols + struct.pack("<I", len(formats)) + formats + sized(saved)


def bpf_program(name):
    """struct bpf_prog_info of a program with two functions, whose names are in BTF; and that BTF."""
    info = bytearray(208)
    struct.pack_into("<II8sII", info, 0, 1, 11, b"\1\2\3\4\5\6\7\x08", 64, 64)
    info[64:80] = name("bpf_program", 15).ljust(16, b"\0")
    struct.pack_into("<IIQQ", info, 104, 2, 2, 0, 16)  # nr_jited_ksyms, nr_jited_func_lens and where they are
    struct.pack_into("<IIQI", info, 128, 21, 8, 24, 2)  # btf_id, func_info_rec_size, func_info, nr_func_info
    struct.pack_into("<IQ", info, 180, 2, 40)           # nr_prog_tags, prog_tags
    data = struct.pack("<QQ", KERNEL_START, KERNEL_START + 64) + struct.pack("<II", 64, 64)
    data += struct.pack("<IIII", 0, 1, 8, 2) + bytes(range(16))
    entry = struct.pack("<IIQ", len(info), len(data), 0) + bytes(info) + data
    first = name("btf_function", ROOM)
    names = b"\0" + first + b"\0" + name("btf_function_2", ROOM) + b"\0"
    types = struct.pack("<IIIIII", 1, 12 << 24, 0, 2 + len(first), 12 << 24, 0)
    btf = struct.pack("<HBBIIIII", 0xEB9F, 1, 0, 24, 0, len(types), len(types), len(names)) + types + names
    return struct.pack("<I", 1) + entry, struct.pack("<III", 1, 21, len(btf)) + btf


def counted(*texts):
    return struct.pack("<I", len(texts)) + b"".join(string(text) for text in texts)


def features(name):
    """(bit, payload) of every header feature with a text in it."""
    programs, types = bpf_program(name)
    made = {bit: string(name(field, ROOM)) for bit, field in STRING_FEATURES.items()}
    made.update({
        1: tracing_data(name),
        2: build_id_entry(b"/usr/lib/" + name("build_id", ROOM)),
        7: struct.pack("<II", 1, 1),
        11: counted(name("cmdline_program", ROOM), name("cmdline_argument", ROOM)),
        12: struct.pack("<II", 2, 64) + b"".join(
            attr(1, number) + struct.pack("<I", 1) + string(name("event_desc_%d" % number, ROOM))
            + struct.pack("<Q", number + 1) for number in (0, 1)),
        13: counted(name("core_siblings", ROOM)) + counted(name("thread_siblings", ROOM)) + struct.pack("<II", 0, 0)
            + counted(name("die_siblings", ROOM)) + struct.pack("<I", 0),
        14: struct.pack("<IIQQ", 1, 0, 1000, 500) + string(name("numa_cpus", ROOM)),
        16: struct.pack("<II", 1, 9) + string(name("pmu_mapping", ROOM)),
        17: struct.pack("<I", 1) + string(name("group_desc", ROOM)) + struct.pack("<II", 0, 2),
        20: struct.pack("<IIIIII", 1, 1, 1, 64, 64, 8) + string(name("cache_type", ROOM))
            + string(name("cache_size", ROOM)) + string(name("cache_map", ROOM)),
        25: programs,
        26: types,
        28: struct.pack("<I", 1) + string(name("cpu_pmu_cap", ROOM)) + string(name("cpu_pmu_cap_value", ROOM)),
        30: struct.pack("<I", 1) + string(name("hybrid_pmu", ROOM)) + string(name("hybrid_cpus", ROOM)),
        31: struct.pack("<II", 1, 1) + string(name("pmu_cap", ROOM)) + string(name("pmu_cap_value", ROOM))
            + string(name("pmu_caps_pmu", ROOM)),
        32: struct.pack("<IIIII", 17, 1, 0, 1, 0) + string(name("domain_name", ROOM))
            + string(name("domain_mask", ROOM)) + string(name("domain_list", ROOM)),
        129: name("meta_key", ROOM) + b"\0" + name("meta_value", ROOM) + b"\0",
        132: struct.pack("<I", 60) + name("simpleperf_file", 60).ljust(60, b"\0"),
        40: name("unknown_feature", ROOM),
    })
    return sorted(made.items())


def make_file(name):
    """A perf.data file with two named events, and a tracepoint whose name is in the tracing data."""
    attrs = (attr(1, 0), attr(1, 1), attr(2, 5))
    at = 104
    ids = b"".join(struct.pack("<Q", number + 1) for number in range(len(attrs)))
    entries_at = at + len(ids)
    entries = b"".join(a + struct.pack("<QQ", at + 8 * i, 8) for i, a in enumerate(attrs))
    types_at = entries_at + len(entries)
    types = struct.pack("<Q", 0) + name("event_types_section", 63).ljust(64, b"\0")
    data_at = types_at + len(types)
    data = b"".join(state_records(name)) + b"".join(user_records(name)) + b"".join(samples((1, 2, 3)))
    sections, bodies, bits = b"", b"", 0
    made = features(name)
    first = data_at + len(data) + 16 * len(made)
    for bit, body in made:
        sections += struct.pack("<QQ", first + len(bodies), len(body))
        bodies += body + bytes(-len(body) % 8)
        bits |= 1 << bit
    header = struct.pack("<8sQQQQQQQQ", b"PERFILE2", 104, 80, entries_at, len(entries), data_at, len(data), types_at,
                         len(types))
    return header + bits.to_bytes(32, "little") + ids + entries + types + data + sections + bodies


def make_stream(name):
    """The file of make_file as a stream: attrs, features and build-ids are records."""
    made = b"PERFILE2" + struct.pack("<Q", 16)
    for number, one in enumerate((attr(1, 0), attr(1, 1), attr(2, 5))):
        made += record(64, one + struct.pack("<Q", number + 1))
    for bit, body in features(name):
        if bit not in (1, 2):
            made += record(80, struct.pack("<Q", bit) + body)
    blob = tracing_data(name)
    blob += bytes(-len(blob) % 8)
    made += struct.pack("<IHHI", 66, 0, 12, len(blob)) + blob
    made += build_id_entry(b"/usr/lib/" + name("build_id", ROOM), 67)
    made += record(78, struct.pack("<QQ", 2, 1) + padded(name("event_update_name", ROOM)))
    return made + b"".join(state_records(name)) + b"".join(user_records(name)) + b"".join(samples((1, 2, 3)))


def make_jit_stream(comm, pid):
    """Samples of a process in memory that belongs to no file; their names are in /tmp/perf-PID.map."""
    made = b"PERFILE2" + struct.pack("<Q", 16) + record(64, attr(1, 0) + struct.pack("<Q", 1))
    made += record(3, struct.pack("<II", pid, pid) + padded(comm) + tail(1000, pid))
    made += record(1, struct.pack("<IIQQQ", pid, pid, 0x10000, PAGE, 0) + padded(b"//anon") + tail(1000, pid), 2)
    return made + sample(0x10010, 2, 1, 2000, pid)


def make_fork_stream(forks):
    """A process that maps an object, its child, its grandchild and so on; a sample of the last one is in that object."""
    made = b"PERFILE2" + struct.pack("<Q", 16) + record(64, attr(1, 0) + struct.pack("<Q", 1))
    made += record(3, struct.pack("<II", 100, 100) + padded(b"ancestor") + tail(1000, 100))
    made += record(1, struct.pack("<IIQQQ", 100, 100, 0x10000, PAGE, 0) + padded(b"/srv/ancestor") + tail(1000, 100), 2)
    for pid in range(101, 101 + forks):
        body = struct.pack("<IIIIQ", pid, pid - 1, pid, pid - 1, 1000 + pid)
        made += record(7, body + tail(1000 + pid, pid - 1))
    return made + sample(0x10010, 2, 1, 1 << 40, 100 + forks)
