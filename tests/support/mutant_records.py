# SPDX-License-Identifier: Apache-2.0
"""The damage classes for records of perf.data and their contents; they are numbered after those of mutant_classes.py."""
import struct

from mutant_classes import FILE, PERF, PIPE, RECS, cls, need, set_extreme
from mutant_files import FEATS, HOSTILE, Skip, USER_TYPES


@cls("rec_size_zero", PERF, "diagnose", "a record of size 0")
def _(d, r):
    p, t, n = r.pick(need(d.recs))
    d.p(p + 6, 16, 0)
    return p + 6, "type %d" % t


@cls("rec_size_small", PERF, "diagnose", "a record smaller than its header (1-7)")
def _(d, r):
    p, t, n = r.pick(need(d.recs))
    d.p(p + 6, 16, r.between(1, 7))
    return p + 6, "type %d" % t


@cls("rec_size_odd", PERF, "diagnose", "a record size that is not a multiple of 8")
def _(d, r):
    p, t, n = r.pick(need(d.recs))
    v = max(9, n + r.pick([-7, -5, -4, -3, -1, 1, 3, 4, 5, 7]))
    d.p(p + 6, 16, v)
    return p + 6, "type %d: %d -> %d" % (t, n, v)


@cls("rec_size_near", PERF, "survive", "a record one or two words shorter or longer than it is")
def _(d, r):
    p, t, n = r.pick(need(d.recs))
    v = max(8, n + r.pick([-16, -8, 8, 16, 8 - n, 16 - n, 24 - n]))
    d.p(p + 6, 16, v)
    return p + 6, "type %d: %d -> %d" % (t, n, v)


@cls("rec_size_max", PERF, "survive", "a record that claims 32-64 KB")
def _(d, r):
    p, t, n = r.pick(need(d.recs))
    v = r.pick([0xFFFF, 0xFFF8, 0x8000, 0x7FF8, 0xFFF0])
    d.p(p + 6, 16, v)
    return p + 6, "type %d: %d -> %d" % (t, n, v)


@cls("rec_size_past_end", PERF, "diagnose", "the last record reaches past the end")
def _(d, r):
    p, t, n = need(d.recs)[-1]
    v = min(n + r.pick([8, 16, 4096]), 0xFFF8)
    d.p(p + 6, 16, v)
    return p + 6, "type %d: %d -> %d" % (t, n, v)


@cls("rec_type_unknown", PERF, "survive", "a record type nobody knows")
def _(d, r):
    p, t, n = r.pick(need(d.recs))
    v = r.pick([0, 22, 30, 63, 84, 90, 255, 256, 65535, 1 << 31, 0xFFFFFFFF])
    d.p(p, 32, v)
    return p, "%d -> %d" % (t, v)


@cls("rec_type_other", PERF, "survive", "a record whose type is changed to another valid type")
def _(d, r):
    p, t, n = r.pick(need(d.recs))
    v = r.pick(list(range(1, 22)) + USER_TYPES)
    d.p(p, 32, v)
    return p, "%d -> %d" % (t, v)


@cls("rec_misc", PERF, "survive", "random misc bits (cpumode, build-id, exact ip)")
def _(d, r):
    p, t, n = r.pick(need(d.recs))
    d.p(p + 4, 16, r.u64())
    return p + 4, "type %d" % t


def fix_data(d, delta):
    """Corrects the section offsets after records were inserted or removed."""
    if d.kind != "perf":
        return
    do, dl = d.g(40, 64), d.g(48, 64)
    d.p(48, 64, dl + delta)
    for s in d.sections:
        if s[2] >= do + dl and s[1] >= 0:
            at = s[1] + (delta if s[1] >= do + dl else 0)
            if s[3] or s[2]:
                d.p(at, 64, s[2] + delta)


@cls("rec_dup", RECS, "survive", "a record written twice (offsets kept right)")
def _(d, r):
    p, t, n = r.pick(need(d.recs))
    d.b[p:p] = d.b[p:p + n]
    fix_data(d, n)
    return p, "type %d" % t


@cls("rec_storm", RECS, "survive", "a record repeated 100-2000 times (offsets kept right)")
def _(d, r):
    p, t, n = r.pick(need(d.recs))
    k = min(r.pick([100, 500, 2000]), max(1, 2000000 // n))
    d.b[p:p] = bytes(d.b[p:p + n]) * k
    fix_data(d, n * k)
    return p, "type %d x %d" % (t, k)


@cls("rec_drop", RECS, "survive", "a record removed (offsets kept right)")
def _(d, r):
    p, t, n = r.pick(need(d.recs))
    del d.b[p:p + n]
    fix_data(d, -n)
    return p, "type %d" % t


@cls("rec_reorder", RECS, "survive", "two records exchanged")
def _(d, r):
    i, j = sorted((r.below(len(need(d.recs))), r.below(len(d.recs))))
    if i == j:
        raise Skip
    (p, t, n), (q, u, m) = d.recs[i], d.recs[j]
    a, b, mid = bytes(d.b[p:p + n]), bytes(d.b[q:q + m]), bytes(d.b[p + n:q])
    if p + n > q:
        raise Skip
    d.b[p:q + m] = b + mid + a
    return p, "type %d with %d at %d" % (t, u, q)


@cls("rec_insert", PERF, "survive", "a well-formed record of any type with random body inserted")
def _(d, r):
    p = r.pick(need(d.recs))[0]
    n = r.pick([8, 16, 24, 32, 40, 64, 104, 256, 4096])
    t = r.pick(list(range(1, 24)) + USER_TYPES + [84, 200])
    body = r.bytes(n - 8) if r.below(2) else b"\xff" * (n - 8) if r.below(2) else bytes(n - 8)
    e = d.end
    d.b[p:p] = struct.pack(e + "IHH", t, r.pick([0, 1, 2, 3, 0x4001, 0x8002, r.below(65536)]), n) + body
    fix_data(d, n)
    return p, "type %d size %d" % (t, n)


@cls("rec_interleave_garbage", PERF, "diagnose", "8-64 random bytes between two records (offsets kept right)")
def _(d, r):
    p = r.pick(need(d.recs))[0]
    n = r.between(1, 8) * 8
    g = bytearray(r.bytes(n))
    g[6:8] = b"\0\0"
    d.b[p:p] = g
    fix_data(d, n)
    return p, "%d bytes" % n


@cls("sample_extreme", PERF, "survive", "one u64 in a sample body (ip, nr, abi, size, time ...) to an extreme")
def _(d, r):
    return set_extreme(d, r, d.group("sample"))


@cls("sample_random", PERF, "survive", "a sample's whole body random")
def _(d, r):
    p, t, n = r.pick(need([x for x in d.recs if x[1] == 9]))
    d.b[p + 8:p + n] = r.bytes(n - 8)
    return p + 8, "%d bytes" % n


@cls("userrec_extreme", PERF, "survive", "a count/size/id in a non-sample record to an extreme")
def _(d, r):
    return set_extreme(d, r, d.group("userrec", "extsize", "featid"))


@cls("ext_size", PERF, "survive", "payload sizes outside the record (tracing data, AUX, compressed2)")
def _(d, r):
    return set_extreme(d, r, d.group("extsize"))


@cls("time_order", PERF, "survive", "timestamps in samples reversed, equal, 0 or max")
def _(d, r):
    s = need([x for x in d.recs if x[1] == 9 and x[2] >= 32])
    m = r.below(4)
    o = r.pick([16, 24, 32])
    ts = [bytes(d.b[x[0] + o:x[0] + o + 8]) for x in s if x[2] >= o + 8]
    for x, v in zip([x for x in s if x[2] >= o + 8],
                    {0: ts[::-1], 1: ts[:1] * len(ts), 2: [b"\0" * 8] * len(ts), 3: [b"\xff" * 8] * len(ts)}[m]):
        d.b[x[0] + o:x[0] + o + 8] = v
    return s[0][0] + o, ["reversed", "equal", "zero", "max"][m]


@cls("str_nonul", PERF, "survive", "a string field filled to the brim: no NUL anywhere")
def _(d, r):
    o, n = r.pick(need(d.strings))
    d.b[o:o + n] = (b"A" * n)[:len(d.b) - o]
    return o, "%d bytes" % n


@cls("str_hostile", PERF, "survive", "escape sequences, markup, traversal, formulas, formats in a string field")
def _(d, r):
    o, n = r.pick(need(d.strings))
    s = r.pick(HOSTILE)[:max(0, n - 1)]
    d.b[o:o + n] = (s + bytes(n - len(s)))[:len(d.b) - o]
    return o, repr(s[:40])


@cls("str_hostile_all", PERF, "survive", "the same in every string of the file")
def _(d, r):
    for o, n in need(d.strings):
        s = r.pick(HOSTILE)[:max(0, n - 1)]
        d.b[o:o + n] = (s + bytes(n - len(s)))[:max(0, len(d.b) - o)]
    return d.strings[0][0], "%d strings" % len(d.strings)


@cls("strlen_extreme", PERF, "diagnose", "a header string's length beyond its section")
def _(d, r):
    f = r.pick(d.group("strlen"))
    v = r.pick([0xFFFFFFFF, 0xFFFFFFFC, 0x7FFFFFFF, 0x80000000, len(d.b), len(d.b) * 2, 1 << 24])
    d.p(f[0], 32, v)
    return f[0], "%s -> %#x" % (f[3], v)


@cls("feat_count", PERF, "survive", "a count inside a feature (nr, cpus, nodes, caps) to an extreme")
def _(d, r):
    return set_extreme(d, r, d.group("count"))


@cls("feat_count_huge", PERF, "diagnose", "a count inside a feature far beyond the section")
def _(d, r):
    return set_extreme(d, r, [f for f in d.group("count") if f[3].endswith((".nr", ".nr_ids"))],
                       [0xFFFFFFFF, 0x7FFFFFFF, 0x80000000, 0x10000000, 0x01000000, 0x20000001])


@cls("feat_alias", FILE, "survive", "two features share one section")
def _(d, r):
    a, b = r.pick(need(d.feats)), r.pick(d.feats)
    d.p(a[1], 64, b[2])
    d.p(a[1] + 8, 64, b[3])
    return a[1], "%d = %d" % (a[0], b[0])


@cls("feat_size", FILE, "survive", "a feature section 0, 1, 3, 4 bytes, half, +1, -1")
def _(d, r):
    f = r.pick(need(d.feats))
    v = r.pick([0, 1, 3, 4, 7, f[3] // 2, f[3] + 1, max(0, f[3] - 1)])
    d.p(f[1] + 8, 64, v)
    return f[1] + 8, "%s: %d -> %d" % (FEATS.get(f[0], f[0]), f[3], v)


@cls("feat_random", FILE, "survive", "a feature section's body random")
def _(d, r):
    f = r.pick(need([f for f in d.feats if f[3] and f[2] + f[3] <= len(d.b)]))
    n = min(f[3], 65536)
    d.b[f[2]:f[2] + n] = r.bytes(n)
    return f[2], FEATS.get(f[0], str(f[0]))


@cls("buildid", PERF, "survive", "build-id record size/length/pid to an extreme")
def _(d, r):
    return set_extreme(d, r, d.group("bidsize", "id"))


@cls("pipe_feature_id", PIPE, "survive", "HEADER_FEATURE with unknown or huge feature number")
def _(d, r):
    return set_extreme(d, r, d.group("featid"))


@cls("pipe_drop_attr", PIPE, "diagnose", "no attribute before the first sample")
def _(d, r):
    c = [x for x in d.recs if x[1] == 64]
    need(c)
    for p, _t, n in reversed(c):
        del d.b[p:p + n]
    return c[0][0], "%d dropped" % len(c)


@cls("zstd_flip", PERF, "survive", "damage inside a compressed payload")
def _(d, r):
    _p, o, n = r.pick(need([z for z in d.zstd if z[2] > 16]))
    at = o + r.below(n)
    d.b[at] ^= r.between(1, 255)
    return at, ""


@cls("zstd_header", PERF, "survive", "damage in the first 6 bytes of a compressed payload")
def _(d, r):
    _p, o, n = r.pick(need([z for z in d.zstd if z[2] > 16]))
    at = o + r.below(6)
    d.b[at] ^= r.between(1, 255)
    return at, ""


@cls("zstd_swap", PERF, "survive", "two compressed payloads exchanged (a stream out of order)")
def _(d, r):
    c = need([x for x in d.recs if x[1] in (81, 83)])
    if len(c) < 2:
        raise Skip
    i = r.below(len(c) - 1)
    (p, _t, n), (q, _u, m) = c[i], c[i + 1]
    a, b, mid = bytes(d.b[p:p + n]), bytes(d.b[q:q + m]), bytes(d.b[p + n:q])
    d.b[p:q + m] = b + mid + a
    return p, ""


def rle_frame(total, byte, window_log):
    """Makes a zstd frame of RLE blocks: 4 bytes decompress to 128 KB."""
    out = b"\x28\xb5\x2f\xfd" + b"\x00" + bytes([(window_log - 10) << 3])
    blocks = max(1, total // 131072)
    for i in range(blocks):
        h = (1 if i == blocks - 1 else 0) | (1 << 1) | (131072 << 3)
        out += h.to_bytes(3, "little") + bytes([byte])
    return out


@cls("zstd_bomb", PERF, "diagnose", "a compressed record that grows 30000-fold (tens of MB to 2 GB), or asks for a giant window")
def _(d, r):
    p = r.pick(need(d.recs))[0]
    mb = r.pick([16, 256, 1024, 2047])
    wl = r.pick([17, 20, 27, 31, 41])
    pay = rle_frame(mb << 20, r.pick([0, 9, 255]), wl)[:65500]
    pay += bytes(-len(pay) % 8)
    d.b[p:p] = struct.pack(d.end + "IHH", 81, 0, len(pay) + 8) + pay
    fix_data(d, len(pay) + 8)
    return p, "%d MB, window 2^%d" % (mb, wl)


@cls("zstd_nested", PERF, "diagnose", "a compressed record whose content is a compressed record")
def _(d, r):
    p = r.pick(need(d.recs))[0]
    inner = struct.pack(d.end + "IHH", 81, 0, 24) + rle_frame(131072, 0, 17)[:16].ljust(16, b"\0")
    raw = b"\x28\xb5\x2f\xfd\x00\x38" + ((1 | (len(inner) << 3)).to_bytes(3, "little")) + inner
    raw += bytes(-len(raw) % 8)
    d.b[p:p] = struct.pack(d.end + "IHH", 81, 0, len(raw) + 8) + raw
    fix_data(d, len(raw) + 8)
    return p, ""
