# SPDX-License-Identifier: Apache-2.0
"""The damage classes only for traces; their numbers follow those of the other classes."""
from mutant_classes import XRAY, cls, need, set_extreme
from mutant_files import M64


@cls("xray_header", XRAY, "survive", "an XRay header field to an extreme")
def _(d, r):
    return set_extreme(d, r, d.group("xhdr"))


@cls("xray_version", XRAY, "survive", "the version changed to another valid one: records mean something else")
def _(d, r):
    v = r.pick([x for x in range(1, 6) if x != d.extra["ver"]])
    d.p(0, 16, v)
    return 0, "%d -> %d" % (d.extra["ver"], v)


@cls("xray_type", XRAY, "survive", "naive mode read as flight recorder mode and back")
def _(d, r):
    d.p(2, 16, 1 - d.extra["type"])
    return 2, ""


@cls("xray_kind", XRAY, "survive", "a metadata record's kind changed (known or unknown)")
def _(d, r):
    f = r.pick(d.group("xkind"))
    v = (r.pick(list(range(0, 10)) + [10, 11, 63, 127]) << 1 | 1) & 255
    d.p(f[0], 8, v)
    return f[0], "%s -> %d" % (f[3], v >> 1)


@cls("xray_extent", XRAY, "survive", "a buffer's extent to an extreme")
def _(d, r):
    return set_extreme(d, r, d.group("xextent"))


@cls("xray_extent_huge", XRAY, "diagnose", "a buffer's extent beyond the end of file")
def _(d, r):
    f = r.pick(d.group("xextent"))
    v = r.pick([len(d.b) + 8, len(d.b) * 16, 1 << 32, 1 << 40, 1 << 63, M64, M64 - 7, M64 - 15])
    d.p(f[0], 64, v)
    return f[0], "-> %#x" % v


@cls("xray_event_size", XRAY, "survive", "a custom/typed event's size to an extreme (it is signed 32 bits)")
def _(d, r):
    return set_extreme(d, r, d.group("xsize"))


@cls("xray_event_neg", XRAY, "diagnose", "a custom/typed event with size <= 0 or past the end")
def _(d, r):
    f = r.pick(d.group("xsize"))
    v = r.pick([0, 0xFFFFFFFF, 0xFFFFFFF0, 0x80000000, 0x7FFFFFFF, 0xFFFFFFF1, len(d.b), 0x7FFFFFF0])
    d.p(f[0], 32, v)
    return f[0], "%s -> %#x" % (f[3], v)


@cls("xray_time", XRAY, "survive", "a TSC, delta, wrap or wall time to an extreme")
def _(d, r):
    return set_extreme(d, r, d.group("xtime", "xnaive"))


@cls("xray_ids", XRAY, "survive", "function id, tid, pid, cpu to an extreme")
def _(d, r):
    return set_extreme(d, r, d.group("xfunc"))


@cls("xray_unbalanced", XRAY, "survive", "entries turned into exits, exits into entries")
def _(d, r):
    c = need([x for x in d.recs if x[1] < 8 and x[2] == 8] if d.extra["type"] else d.recs)
    n = max(1, len(c) * r.pick([1, 5, 25, 100]) // 100)
    for _i in range(n):
        p = r.pick(c)[0]
        if d.extra["type"]:
            d.b[p] = (d.b[p] & 0xF1) | (r.below(8) << 1)
        else:
            d.b[p + 3] = r.below(6)
    return c[0][0], "%d records" % n


@cls("xray_deep", XRAY, "survive", "5000-50000 entries without exit: a very deep stack")
def _(d, r):
    c = need([x for x in d.recs if x[1] < 8 and x[2] in (8, 32)])
    p, _t, n = r.pick(c)
    rec = bytearray(d.b[p:p + n])
    if d.extra["type"]:
        rec[0] &= 0xF1
    else:
        rec[3] = 0
    k = r.pick([5000, 20000, 50000])
    d.b[p:p] = bytes(rec) * k
    return p, "%d" % k


@cls("xray_no_preamble", XRAY, "survive", "the first metadata records removed: functions before any buffer")
def _(d, r):
    c = [x for x in d.recs if x[1] >= 1000]
    need(c)
    k = r.between(1, min(4, len(c)))
    cut = sum(x[2] for x in c[:k])
    del d.b[c[0][0]:c[0][0] + cut]
    return c[0][0], "%d records" % k
