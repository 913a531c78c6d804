# SPDX-License-Identifier: Apache-2.0
"""The damage classes of mutate.py, in the order in which mutants are numbered. Classes for bytes, headers, sections and attributes are
here; those for records (mutant_records.py) and traces (mutant_traces.py) follow."""
from mutant_files import FEATS, M64, Skip, extremes

CLASSES = {}


def cls(name, kinds, expect, doc):
    def wrap(fn):
        CLASSES[name] = (fn, kinds, expect, doc)
        return fn
    return wrap


ANY = ("perf", "pipe", "xray", "raw")
PERF = ("perf", "pipe")
FILE = ("perf",)
PIPE = ("pipe",)
XRAY = ("xray",)
RECS = ("perf", "pipe", "xray")


def need(x):
    if not x:
        raise Skip
    return x


def set_extreme(d, r, fields, vals=None):
    off, bits, _, name = r.pick(need(fields))
    cur = d.g(off, bits)
    v = r.pick(vals) if vals else r.pick(extremes(bits, cur, len(d.b)))
    d.p(off, bits, v)
    return off, "%s: %#x -> %#x" % (name, cur, v & ((1 << bits) - 1))


@cls("flip_bit", ANY, "survive", "flip one bit anywhere")
def _(d, r):
    o = r.below(len(d.b))
    d.b[o] ^= 1 << r.below(8)
    return o, ""


@cls("flip_byte", ANY, "survive", "replace one byte by another")
def _(d, r):
    o = r.below(len(d.b))
    d.b[o] ^= r.between(1, 255)
    return o, ""


@cls("flip_head", ANY, "survive", "replace one byte in the first 256")
def _(d, r):
    o = r.below(min(256, len(d.b)))
    d.b[o] ^= r.between(1, 255)
    return o, ""


@cls("flip_burst", ANY, "survive", "replace 2-64 adjacent bytes by random ones")
def _(d, r):
    n = r.between(2, 64)
    o = r.below(max(1, len(d.b) - n))
    d.b[o:o + n] = r.bytes(n)[:len(d.b) - o]
    return o, "%d bytes" % n


@cls("flip_sprinkle", ANY, "survive", "replace 0.1 % of all bytes (at least 4)")
def _(d, r):
    n = max(4, len(d.b) // 1000)
    for _i in range(n):
        d.b[r.below(len(d.b))] = r.below(256)
    return -1, "%d bytes" % n


@cls("fill_run", ANY, "survive", "overwrite a run (8-4096 bytes) with 00 or ff: a lost disk block")
def _(d, r):
    n = min(r.pick([8, 64, 512, 4096]), len(d.b))
    o = r.below(len(d.b) - n + 1)
    c = r.pick([0, 255])
    d.b[o:o + n] = bytes([c]) * n
    return o, "%d x %02x" % (n, c)


@cls("insert", ANY, "survive", "insert 1-64 random bytes: everything after shifts")
def _(d, r):
    n, o = r.between(1, 64), r.below(len(d.b))
    d.b[o:o] = r.bytes(n)
    return o, "%d bytes" % n


@cls("delete", ANY, "survive", "delete 1-64 bytes: everything after shifts")
def _(d, r):
    n, o = r.between(1, 64), r.below(len(d.b))
    del d.b[o:o + n]
    return o, "%d bytes" % n


@cls("append", ANY, "survive", "append up to 4 KB of garbage")
def _(d, r):
    o = len(d.b)
    n = r.between(1, 4096)
    d.b += r.bytes(n)
    return o, "%d bytes" % n


@cls("swap_blocks", ANY, "survive", "exchange two 512-byte blocks")
def _(d, r):
    nb = len(d.b) // 512
    if nb < 2:
        raise Skip
    i, j = r.below(nb), r.below(nb)
    a, b = d.b[i * 512:i * 512 + 512], d.b[j * 512:j * 512 + 512]
    d.b[i * 512:i * 512 + 512], d.b[j * 512:j * 512 + 512] = b, a
    return i * 512, "with %d" % (j * 512)


@cls("trunc_any", ANY, "survive", "cut the file at any byte")
def _(d, r):
    o = r.below(len(d.b))
    del d.b[o:]
    return o, ""


@cls("trunc_empty", ANY, "diagnose", "cut to 0-7 bytes")
def _(d, r):
    o = r.below(8)
    del d.b[o:]
    return o, ""


@cls("trunc_header", RECS, "diagnose", "cut inside the file header")
def _(d, r):
    o = r.between(8, {"perf": 103, "pipe": 15, "xray": 31}[d.kind])
    del d.b[o:]
    return o, ""


@cls("trunc_attr", PERF, "diagnose", "cut inside an event attribute")
def _(d, r):
    a, n = r.pick(need(d.attrs))
    o = a + r.between(1, max(1, n - 1))
    del d.b[o:]
    return o, ""


@cls("trunc_rec_header", RECS, "diagnose", "cut inside a record's header")
def _(d, r):
    p, t, n = r.pick(need(d.recs))
    o = p + r.between(1, min(7, n - 1))
    del d.b[o:]
    return o, "type %d" % t


@cls("trunc_rec_body", RECS, "diagnose", "cut inside a record's body")
def _(d, r):
    c = [x for x in d.recs if x[2] > 9]
    p, t, n = r.pick(need(c))
    o = p + r.between(9, n - 1)
    del d.b[o:]
    return o, "type %d" % t


@cls("trunc_rec_edge", RECS, "survive", "cut exactly between two records")
def _(d, r):
    o = r.pick(need(d.recs))[0]
    del d.b[o:]
    return o, ""


@cls("trunc_data_end", FILE, "diagnose", "cut exactly after the data section: no feature table")
def _(d, r):
    need(d.feats)
    o = d.feats[0][1]
    del d.b[o:]
    return o, ""


@cls("trunc_feat_table", FILE, "diagnose", "cut inside the feature table")
def _(d, r):
    need(d.feats)
    o = r.between(d.feats[0][1] + 1, d.feats[-1][1] + 15)
    del d.b[o:]
    return o, ""


@cls("trunc_feature", FILE, "diagnose", "cut inside a feature section")
def _(d, r):
    c = [f for f in d.feats if f[3] > 1 and f[2] + f[3] <= len(d.b)]
    f = r.pick(need(c))
    o = f[2] + r.between(1, f[3] - 1)
    del d.b[o:]
    return o, FEATS.get(f[0], str(f[0]))


@cls("hdr_magic", RECS, "diagnose", "damage the magic (XRay: version/type)")
def _(d, r):
    if d.kind == "xray":
        return set_extreme(d, r, [f for f in d.fields if f[3] in ("version", "type")],
                           [6, 7, 100, 0xFFFF, 0x7FFF, 0x100])
    m = r.pick([b"PERFFILE", b"PERFILE3", b"perfile2", b"\0" * 8, b"PERFILE2"[::-1] if d.end == "<" else b"PERFILE2"])
    d.b[:8] = m
    return 0, repr(m)


@cls("hdr_size", PERF, "diagnose", "header size field to an extreme")
def _(d, r):
    return set_extreme(d, r, [f for f in d.fields if f[3] == "header.size"],
                       [0, 1, 8, 17, 103, 105, 96, 88, 4096, len(d.b), M64, 1 << 32, 1 << 63])


@cls("hdr_attr_size", FILE, "diagnose", "attr_size field to an extreme")
def _(d, r):
    return set_extreme(d, r, [f for f in d.fields if f[3] == "header.attr_size"])


@cls("hdr_flags", FILE, "survive", "feature bitmap: random bits, all, none or one past the known")
def _(d, r):
    old = bytes(d.b[72:104])
    m = r.below(5)
    if m == 0:
        d.b[72:104] = b"\xff" * 32
    elif m == 1:
        d.b[72:104] = b"\0" * 32
    elif m == 2:
        d.b[72:104] = r.bytes(32)
    elif m == 3:
        d.b[72 + 4 + r.below(28)] |= 1 << r.below(8)
    else:
        d.b[72 + r.below(4)] ^= 1 << r.below(8)
    return 72, "%s -> %s" % (old[:8].hex(), bytes(d.b[72:80]).hex())


@cls("hdr_swap", FILE, "survive", "byte-swap the header, attributes and record headers only")
def _(d, r):
    if r.below(2):
        d.b[:8] = d.b[:8][::-1]
    for o in range(8, 104, 8):
        d.b[o:o + 8] = d.b[o:o + 8][::-1]
    deep = r.below(2)
    if deep:
        for p, _t, _n in d.recs:
            d.b[p:p + 4] = d.b[p:p + 4][::-1]
            d.b[p + 4:p + 6] = d.b[p + 4:p + 6][::-1]
            d.b[p + 6:p + 8] = d.b[p + 6:p + 8][::-1]
    return 0, "records too" if deep else "header only"


@cls("word_swap", ANY, "survive", "byte-swap one aligned 2/4/8-byte word")
def _(d, r):
    n = r.pick([2, 4, 8])
    if len(d.b) < 2 * n:
        raise Skip
    o = r.below(len(d.b) // n) * n
    d.b[o:o + n] = d.b[o:o + n][::-1]
    return o, "%d bytes" % n


@cls("sec_extreme", FILE, "survive", "a section offset or size to an extreme")
def _(d, r):
    return set_extreme(d, r, d.group("sec", "featsec"))


@cls("sec_beyond", FILE, "diagnose", "a section that starts or ends past the end of file")
def _(d, r):
    s = r.pick(need([s for s in d.sections if s[3]]))
    n = len(d.b)
    if r.below(2):
        v = n + r.pick([0, 1, 8, 4096, 1 << 20, 1 << 33])
        d.p(s[1], 64, v)
        return s[1], "%s.offset -> %#x" % (s[0], v)
    v = n - min(s[2], n) + r.pick([1, 8, 4096, 1 << 20, 1 << 33])
    d.p(s[1] + 8, 64, v)
    return s[1] + 8, "%s.size -> %#x" % (s[0], v)


@cls("sec_wrap", FILE, "diagnose", "offset + size wraps around 2^64 (or 2^63)")
def _(d, r):
    s = r.pick(need([s for s in d.sections if s[3]]))
    top = r.pick([1 << 64, 1 << 63])
    if r.below(2):
        v = top - s[2] + r.pick([0, 1, 8, 64, -1, -8])
        d.p(s[1] + 8, 64, v)
        return s[1] + 8, "%s.size -> %#x" % (s[0], v & M64)
    v = top - s[3] + r.pick([0, 1, 8, 64, -1, -8])
    d.p(s[1], 64, v)
    return s[1], "%s.offset -> %#x" % (s[0], v & M64)


@cls("sec_overlap", FILE, "survive", "a section laid over another one")
def _(d, r):
    a, b = r.pick(need(d.sections)), r.pick(d.sections)
    d.p(a[1], 64, b[2] + r.pick([0, 0, 1, 4, 8]))
    if r.below(2):
        d.p(a[1] + 8, 64, b[3])
    return a[1], "%s over %s" % (a[0], b[0])


@cls("sec_self", FILE, "survive", "a section that contains its own descriptor, or the file header")
def _(d, r):
    s = r.pick(need(d.sections))
    v = r.pick([0, s[1], s[1] - 8, 8, 24])
    d.p(s[1], 64, v)
    if r.below(2):
        d.p(s[1] + 8, 64, len(d.b) - v)
    return s[1], "%s at %#x" % (s[0], v)


@cls("sec_data_zero", FILE, "diagnose", "data section size 0: a recorder that died")
def _(d, r):
    d.p(48, 64, 0)
    if r.below(2):
        del d.b[d.g(40, 64) + sum(x[2] for x in d.recs[:r.below(len(d.recs) + 1)]):]
    return 48, ""


@cls("data_size_off", FILE, "diagnose", "data section size wrong by 1, 8, one record, half, double")
def _(d, r):
    cur = d.g(48, 64)
    last = d.recs[-1][2] if d.recs else 8
    v = r.pick([cur + 1, cur - 1, cur + 8, cur - 8, cur - last, cur + last, cur // 2, cur * 2, cur - 4]) & M64
    d.p(48, 64, v)
    return 48, "%d -> %d" % (cur, v)


@cls("attr_extreme", PERF, "survive", "an attribute field to an extreme")
def _(d, r):
    return set_extreme(d, r, d.group("attr"))


@cls("attr_sample_type", PERF, "survive", "sample_type/read_format/branch/regs bits: all, none, random, one flipped")
def _(d, r):
    f = r.pick(need([f for f in d.group("attr") if f[3] in (
        "attr.sample_type", "attr.read_format", "attr.branch_sample_type", "attr.sample_regs_user",
        "attr.sample_regs_intr", "attr.flags")]))
    cur = d.g(f[0], 64)
    v = r.pick([M64, 0, r.u64(), cur ^ (1 << r.below(26)), cur ^ (1 << r.below(26)), cur | 0x3ffffff])
    d.p(f[0], 64, v)
    return f[0], "%s: %#x -> %#x" % (f[3], cur, v)
