# SPDX-License-Identifier: Apache-2.0
"""The inputs of mutate.py, parsed into the fields that a damage class may pick, and the random generator."""
import hashlib
import struct

M64 = (1 << 64) - 1


class Rng:
    """SplitMix64: the same random numbers on every machine."""

    def __init__(self, *parts):
        h = hashlib.sha256("|".join(str(p) for p in parts).encode()).digest()
        self.s = int.from_bytes(h[:8], "little")

    def u64(self):
        self.s = (self.s + 0x9E3779B97F4A7C15) & M64
        z = self.s
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & M64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & M64
        return z ^ (z >> 31)

    def below(self, n):
        return self.u64() % n if n > 0 else 0

    def pick(self, seq):
        return seq[self.below(len(seq))]

    def between(self, a, b):
        return a + self.below(b - a + 1)

    def bytes(self, n):
        out = b""
        while len(out) < n:
            out += struct.pack("<Q", self.u64())
        return out[:n]


class Skip(Exception):
    """This class has nothing to damage in this input."""


def extremes(bits, cur, size=0):
    """Interesting values for an integer field."""
    m = (1 << bits) - 1
    vals = [0, 1, 2, 3, 7, 8, cur + 1, cur - 1, cur * 2, cur // 2, m, m - 1, m - 7,
            m >> 1, (m >> 1) + 1, 1 << (bits // 2), (1 << (bits // 2)) - 1,
            1 << (bits - 4), size, size + 1, size - 1, m - size, m - size + 1,
            m + 1 - cur]
    return sorted({v & m for v in vals} - {cur & m})


HOSTILE = [b"../../../../etc/passwd", b"/etc/passwd", b"\x1b[2J\x1b]0;owned\x07", b"%s%s%n%n",
           b"<script>alert(1)</script>", b"\"><svg onload=alert(1)>", b"=cmd|'/C calc'!A0",
           b"\",\"x\":\"y", b"'; DROP TABLE samples;--", b"a\nb\rc\td", b"\xff\xfe\xc0\x80",
           b"\xe2\x80\xae\xe2\x80\x8b", b"a;b;c 1", b"-rf", b"`id`$(id)", b"\\u0000\\x00",
           b"A" * 300, b"x|y|z", b"//[..]//..", b"vmlinux", b"[kernel.kallsyms]_text", b"_Z" + b"N1a" * 60]


class Doc:
    """A parsed input: its bytes and the positions of its fields."""

    def __init__(self, data, name):
        self.b = bytearray(data)
        self.name = name
        self.end = "<"
        self.kind = "raw"
        self.fields = []    # (off, bits, group, name)
        self.recs = []      # (off, type, size) inside the data section
        self.sections = []  # (name, descriptor off or -1, off, size)
        self.feats = []     # (bit, descriptor off, off, size)
        self.attrs = []     # (off, size)
        self.strings = []   # (off, room)
        self.counts = []    # (off, bits, name)
        self.zstd = []      # (record off, payload off, payload len)
        self.extra = {}

    def g(self, off, bits):
        return int.from_bytes(self.b[off:off + bits // 8], "little" if self.end == "<" else "big")

    def p(self, off, bits, v):
        if off < 0 or off + bits // 8 > len(self.b):
            raise Skip
        self.b[off:off + bits // 8] = (v & ((1 << bits) - 1)).to_bytes(
            bits // 8, "little" if self.end == "<" else "big")

    def field(self, off, bits, group, name):
        if off + bits // 8 <= len(self.b):
            self.fields.append((off, bits, group, name))

    def group(self, *groups):
        f = [x for x in self.fields if x[2] in groups]
        if not f:
            raise Skip
        return f


FEATS = {1: "TRACING_DATA", 2: "BUILD_ID", 3: "HOSTNAME", 4: "OSRELEASE", 5: "VERSION", 6: "ARCH",
         7: "NRCPUS", 8: "CPUDESC", 9: "CPUID", 10: "TOTAL_MEM", 11: "CMDLINE", 12: "EVENT_DESC",
         13: "CPU_TOPOLOGY", 14: "NUMA_TOPOLOGY", 15: "BRANCH_STACK", 16: "PMU_MAPPINGS",
         17: "GROUP_DESC", 18: "AUXTRACE", 19: "STAT", 20: "CACHE", 21: "SAMPLE_TIME",
         22: "MEM_TOPOLOGY", 23: "CLOCKID", 24: "DIR_FORMAT", 25: "BPF_PROG_INFO", 26: "BPF_BTF",
         27: "COMPRESSED", 28: "CPU_PMU_CAPS", 29: "CLOCK_DATA", 30: "HYBRID_TOPOLOGY",
         31: "PMU_CAPS"}
STR_FEATS = {3, 4, 5, 6, 8, 9}
ATTR_FIELDS = [(0, 32, "type"), (4, 32, "size"), (8, 64, "config"), (16, 64, "sample_period"),
               (24, 64, "sample_type"), (32, 64, "read_format"), (40, 64, "flags"),
               (72, 64, "branch_sample_type"), (80, 64, "sample_regs_user"),
               (88, 32, "sample_stack_user"), (92, 32, "clockid"), (96, 64, "sample_regs_intr"),
               (104, 32, "aux_watermark"), (108, 16, "sample_max_stack")]
USER_TYPES = list(range(64, 84))


def parse_attr(d, off, size):
    d.attrs.append((off, size))
    for o, bits, name in ATTR_FIELDS:
        if o + bits // 8 <= size:
            d.field(off + o, bits, "attr", "attr." + name)


def parse_perf_records(d, pos, end):
    while pos + 8 <= end:
        t, sz = d.g(pos, 32), d.g(pos + 6, 16)
        if sz < 8 or pos + sz > end:
            break
        d.recs.append((pos, t, sz))
        if len(d.recs) < 5000:
            d.field(pos + 6, 16, "recsize", "rec.size")
            d.field(pos, 32, "rectype", "rec.type")
            d.field(pos + 4, 16, "recmisc", "rec.misc")
            if t == 9 and sz >= 16:
                for o in range(8, min(sz, 128) - 7, 8):
                    d.field(pos + o, 64, "sample", "sample+%d" % o)
                if sz > 200:
                    for o in range(128, min(sz, 2048) - 7, 64):
                        d.field(pos + o, 64, "sample", "sample+%d" % o)
            elif t == 1 and sz > 40:
                d.strings.append((pos + 40, sz - 40))
            elif t == 10 and sz > 72:
                d.strings.append((pos + 72, sz - 72))
            elif t == 3 and sz > 16:
                d.strings.append((pos + 16, sz - 16))
            elif t == 17 and sz > 24:
                d.strings.append((pos + 24, sz - 24))
            elif t == 19 and sz > 16:
                d.strings.append((pos + 16, sz - 16))
            elif t == 67 and sz > 36:
                d.strings.append((pos + 36, sz - 36))
            elif t == 64 and sz >= 72:
                parse_attr(d, pos + 8, min(max(d.g(pos + 12, 32), 64), sz - 8))
            elif t == 80 and sz >= 16:
                d.field(pos + 8, 64, "featid", "feature.id")
                parse_feature(d, d.g(pos + 8, 64), pos + 16, sz - 16)
            elif t in (69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 82):
                for o in range(8, min(sz, 72) - 7, 8):
                    d.field(pos + o, 64, "userrec", "user%d+%d" % (t, o))
                if t in (73, 74):
                    d.field(pos + 8, 64, "count", "map%d.nr" % t)
                    d.field(pos + 10, 16, "count", "map%d.inner" % t)
            elif t in (2, 12, 13, 16):
                for o in range(8, sz - 7, 8):
                    d.field(pos + o, 64, "userrec", "kern%d+%d" % (t, o))
            elif t == 14 or t == 15:
                d.field(pos + 8, 64, "userrec", "switch+8")
            if t == 66 and sz >= 12:
                d.field(pos + 8, 32, "extsize", "tracing_data.size")
            if t == 71 and sz >= 16:
                d.field(pos + 8, 64, "extsize", "auxtrace.size")
            if t == 81:
                d.zstd.append((pos, pos + 8, sz - 8))
            if t == 83 and sz > 16:
                d.field(pos + 8, 64, "extsize", "compressed2.data_size")
                n = min(d.g(pos + 8, 64), sz - 16)
                d.zstd.append((pos, pos + 16, n))
        if t == 66 and sz >= 12:
            pos += (d.g(pos + 8, 32) + 7) & ~7
        elif t == 71 and sz >= 16:
            pos += d.g(pos + 8, 64)
        pos += sz


def parse_string(d, off, end, what):
    """Reads a length-prefixed perf header string; returns the next offset."""
    if off + 4 > end:
        return end
    n = d.g(off, 32)
    d.field(off, 32, "strlen", what + ".len")
    if n and off + 4 + n <= end:
        d.strings.append((off + 4, n))
    return min(off + 4 + n, end)


def parse_feature(d, bit, off, size):
    end = min(off + size, len(d.b))
    if off >= end:
        return
    nm = FEATS.get(bit, "FEAT%d" % bit)
    if bit in STR_FEATS:
        parse_string(d, off, end, nm)
    elif bit == 2:
        pos = off
        while pos + 36 <= end:
            sz = d.g(pos + 6, 16)
            d.field(pos + 6, 16, "bidsize", "build_id.size")
            d.field(pos + 4, 16, "recmisc", "build_id.misc")
            d.field(pos + 8, 32, "id", "build_id.pid")
            d.field(pos + 32, 32, "id", "build_id.len")
            if sz < 37:
                break
            d.strings.append((pos + 36, min(sz - 36, end - pos - 36)))
            pos += sz
    elif bit == 7:
        d.field(off, 32, "count", "NRCPUS.avail")
        d.field(off + 4, 32, "count", "NRCPUS.online")
    elif bit == 11:
        d.field(off, 32, "count", "CMDLINE.nr")
        pos = off + 4
        while pos + 4 <= end:
            pos = parse_string(d, pos, end, nm)
    elif bit == 12:
        d.field(off, 32, "count", "EVENT_DESC.nr")
        d.field(off + 4, 32, "count", "EVENT_DESC.attr_size")
        nr, asz = d.g(off, 32), d.g(off + 4, 32)
        pos = off + 8
        for _ in range(min(nr, 64)):
            if pos + asz + 4 > end:
                break
            d.field(pos + asz, 32, "count", "EVENT_DESC.nr_ids")
            ids = d.g(pos + asz, 32)
            pos = parse_string(d, pos + asz + 4, end, nm) + ids * 8
    elif bit in (13, 14, 16, 17):
        d.field(off, 32, "count", nm + ".nr")
        pos = off + 4
        while pos + 4 <= end:
            if bit == 14:
                d.field(pos, 32, "id", nm + ".node")
                pos += 20
            elif bit == 16:
                d.field(pos, 32, "id", nm + ".type")
                pos += 4
            nxt = parse_string(d, pos, end, nm)
            if bit == 17:
                d.field(nxt, 32, "count", nm + ".leader")
                d.field(nxt + 4, 32, "count", nm + ".members")
                nxt += 8
            if bit == 13 and nxt < end and d.g(nxt, 32) > 4096:
                break
            if nxt <= pos:
                break
            pos = nxt
    elif bit == 1:
        for o in range(0, min(size, 64) - 3, 4):
            d.field(off + o, 32, "count", nm + "+%d" % o)
        for o in range(64, min(size, 60000) - 7, 997):
            d.field(off + o, 32, "count", nm + "+%d" % o)
    else:
        for o in range(0, min(size, 64) - 3, 4):
            d.field(off + o, 32, "count", nm + "+%d" % o)
        for o in range(0, min(size, 64) - 7, 8):
            d.field(off + o, 64, "count", nm + "+%d" % o)


def parse_perf(d):
    m = bytes(d.b[:8])
    if m == b"PERFILE2":
        d.end = "<"
    elif m == b"2ELIFREP":
        d.end = ">"
    else:
        return False
    if len(d.b) < 16:
        return False
    hs = d.g(8, 64)
    if hs == 16:
        d.kind = "pipe"
        d.field(8, 64, "hdr", "header.size")
        parse_perf_records(d, 16, len(d.b))
        return True
    if len(d.b) < 104:
        return False
    d.kind = "perf"
    for o, n in ((8, "header.size"), (16, "header.attr_size")):
        d.field(o, 64, "hdr", n)
    for o, n in ((24, "attrs"), (40, "data"), (56, "event_types")):
        d.field(o, 64, "sec", n + ".offset")
        d.field(o + 8, 64, "sec", n + ".size")
        d.sections.append((n, o, d.g(o, 64), d.g(o + 8, 64)))
    asz = d.g(16, 64)
    ao, al = d.g(24, 64), d.g(32, 64)
    if 64 < asz < 4096 and al // asz < 10000:
        for i in range(min(al // asz, 200)):
            a = ao + i * asz
            if a + asz > len(d.b):
                break
            parse_attr(d, a, asz - 16)
            d.field(a + asz - 16, 64, "sec", "ids.offset")
            d.field(a + asz - 8, 64, "sec", "ids.size")
            if i < 4:
                d.sections.append(("ids", a + asz - 16, d.g(a + asz - 16, 64), d.g(a + asz - 8, 64)))
    do, dl = d.g(40, 64), d.g(48, 64)
    parse_perf_records(d, do, min(do + dl, len(d.b)))
    pos = do + dl
    for bit in range(256):
        if d.b[72 + bit // 8 if d.end == "<" else 72 + (bit // 64) * 8 + 7 - (bit % 64) // 8] >> (bit % 8) & 1:
            if pos + 16 > len(d.b):
                break
            fo, fs = d.g(pos, 64), d.g(pos + 8, 64)
            d.feats.append((bit, pos, fo, fs))
            d.sections.append(("feat:" + FEATS.get(bit, str(bit)), pos, fo, fs))
            d.field(pos, 64, "featsec", "feat%d.offset" % bit)
            d.field(pos + 8, 64, "featsec", "feat%d.size" % bit)
            parse_feature(d, bit, fo, min(fs, len(d.b)))
            pos += 16
    return True


XMETA = ["NewBuffer", "EndOfBuffer", "NewCPUId", "TSCWrap", "WalltimeMarker", "CustomEvent",
         "CallArgument", "BufferExtents", "TypedEvent", "PidEntry"]


def parse_xray(d):
    if len(d.b) < 32:
        return False
    for d.end in "<>":
        ver, typ = d.g(0, 16), d.g(2, 16)
        if 1 <= ver <= 5 and typ <= 1:
            break
    else:
        d.end = "<"
        return False
    d.kind = "xray"
    d.extra = {"ver": ver, "type": typ}
    d.field(0, 16, "xhdr", "version")
    d.field(2, 16, "xhdr", "type")
    d.field(4, 32, "xhdr", "bitfield")
    d.field(8, 64, "xhdr", "cycle_frequency")
    d.field(16, 64, "xhdr", "freeform.buffer_size")
    pos, n = 32, len(d.b)
    if typ == 0:
        while pos + 32 <= n:
            d.recs.append((pos, d.g(pos, 16), 32))
            if len(d.recs) < 5000:
                for o, bits, nm in ((0, 16, "rectype"), (2, 8, "cpu"), (3, 8, "type"), (4, 32, "funcid"),
                                    (8, 64, "tsc"), (16, 32, "tid"), (20, 32, "pid")):
                    d.field(pos + o, bits, "xfunc" if nm in ("funcid", "tid", "pid", "cpu") else "xnaive",
                            "naive." + nm)
            pos += 32
        return True
    bufsz = d.g(16, 64) if ver == 1 else 0
    start = pos
    top = d.end == ">" and n > 32 and d.b[32] in (0x80, 0x87)  # big-endian bit fields, not LLVM's hybrid
    while pos < n:
        c = d.b[pos]
        if (c >> 7 if top else c & 1):
            k = c & 0x7F if top else c >> 1
            if pos + 16 > n:
                break
            size = 16
            if k < len(XMETA):
                d.field(pos, 8, "xkind", XMETA[k] + ".kind")
                body = pos + 1
                if k in (5, 8):
                    d.field(body, 32, "xsize", XMETA[k] + ".size")
                    d.field(body + 4, 32 if ver >= 5 else 64, "xtime", XMETA[k] + ".tsc")
                    if k == 8:
                        d.field(body + 8, 16, "xfunc", "TypedEvent.type")
                    size += min(d.g(body, 32), n)
                elif k == 7:
                    d.field(body, 64, "xextent", "BufferExtents.size")
                elif k == 0:
                    d.field(body, 32, "xfunc", "NewBuffer.tid")
                elif k == 2:
                    d.field(body, 16, "xfunc", "NewCPUId.cpu")
                    d.field(body + 2, 64, "xtime", "NewCPUId.tsc")
                elif k in (3, 6):
                    d.field(body, 64, "xtime", XMETA[k] + ".value")
                elif k == 4:
                    d.field(body, 64, "xtime", "Walltime.sec")
                    d.field(body + 8, 32, "xtime", "Walltime.nanos")
                elif k == 9:
                    d.field(body, 32, "xfunc", "Pid.pid")
            d.recs.append((pos, 1000 + k, min(size, n - pos)))
            if k == 1 and bufsz:
                pos = start + ((pos - start) // bufsz + 1) * bufsz
                continue
            pos += size
        else:
            if pos + 8 > n:
                break
            if len(d.recs) < 5000:
                d.field(pos, 32, "xfunc", "func.id")
                d.field(pos + 4, 32, "xtime", "func.delta")
            d.recs.append((pos, (c >> 4 if top else c >> 1) & 7, 8))
            pos += 8
    return True


def parse(data, name, fmt="auto"):
    d = Doc(data, name)
    if fmt in ("auto", "perf", "pipe") and parse_perf(d):
        return d
    if fmt in ("auto", "xray") and parse_xray(d):
        return d
    d.kind = "raw"
    return d
