/* SPDX-License-Identifier: Apache-2.0 */
/*
 * After bytes that are not a record, finds the next place where a chain of records begins: three plausible ones in a
 * row, or fewer if they reach the end (docs/perf-data-format.md, resynchronising). The search tries every byte, because
 * the sizes of user-type records need not be multiples of 8. It takes linear time: the type field rules out most
 * places.
 */
#include "file/read/resync.h"
#include "file/read/next.h"
#include "file/read/plausible_record.h"

#define KERNEL_TYPES 64u
#define TYPES_MOST (1u << 16)
#define CLEAR_MISC 0x0ff8u /* bits that no kernel sets */

#define GOOD_CHAIN 3u
#define UNSURE_CHAIN 8u
#define MOST_UNKNOWN 64u
#define REACH (GOOD_CHAIN * (RECORD_MOST + 1u))
#define PATIENCE 16u /* bytes of bodies that may be decoded per byte of progress */
#define SIGHT ((size_t)256 << 10)

/* Types of records that are followed by a payload, which may extend past the visible bytes. */
static const bool carries_payload[TYPE_RULES] = {[PFR_RECORD_TRACING_DATA] = true, [PFR_RECORD_AUXTRACE] = true};

static const bool compressed[TYPE_RULES] = {[PFR_RECORD_COMPRESSED] = true, [PFR_RECORD_COMPRESSED2] = true};

bool holds_compressed(uint32_t type) {
    return type < TYPE_RULES && compressed[type];
}

bool may_be_followed(uint32_t type) {
    return type < TYPE_RULES && carries_payload[type];
}

bool may_hide_records(const pfr_record *rec) {
    return rec->type != PFR_RECORD_SAMPLE && !holds_compressed(rec->type);
}

static bool is_known(const pfr_reader *r, uint32_t type) {
    return type < TYPE_RULES ? r->events.rules[type].layout != 0 : layout_find(TABLE_PERF_RECORD, type) != 0;
}

enum link {
    LINK_BROKEN,
    LINK_LAST,    /* a record that ends past the visible bytes */
    LINK_UNKNOWN, /* a record of an unknown type */
    LINK_UNSURE,  /* its header is possible, but its body cannot be judged, does not match, or is followed by bytes */
    LINK_GOOD,
    LINK_FIRM
};

/* Records of the kernel have the reserved bits of misc clear and a size that is a multiple of 8. */
static bool has_sane_header(const pfr_record *rec) {
    return rec->type >= KERNEL_TYPES || (rec->size % 8 == 0 && !(rec->misc & CLEAR_MISC));
}

/*
 * Plausibility within a budget. If a large record could begin every few bytes, their bodies overlap, and each would be
 * decoded again and again. So the bytes decoded are limited to a multiple of the bytes passed; bodies over the budget
 * count as unsure.
 */
static enum plausibility patient_plausibility(pfr_reader *r, const pfr_record *rec) {
    enum plausibility plausibility;
    if (plausibility_at_once(r, rec, &plausibility))
        return plausibility;
    if (r->damage.patience < rec->size)
        return PLAUSIBILITY_NONE;
    r->damage.patience -= rec->size;
    return plausibility_of(r, rec);
}

static void pass(pfr_reader *r, uint64_t bytes) {
    r->damage.patience += bytes * PATIENCE;
}

/* Classifies the record at `at`; *next is the offset of the next one. */
static enum link link_at(pfr_reader *r, const struct visible_bytes *s, uint64_t at, uint64_t *next) {
    const uint64_t left = s->length - at;
    pfr_record rec;
    if (left < RECORD_HEADER)
        return LINK_LAST;
    const uint16_t size = load_u16(s->bytes + at + 6, r->context.swap);
    const uint32_t type = load_u32(s->bytes + at, r->context.swap);
    if (size < RECORD_HEADER)
        return LINK_BROKEN;
    if (size > left) /* a record of unknown type may end past the visible bytes only if more bytes may follow */
        return is_known(r, type) || !s->whole ? LINK_LAST : LINK_BROKEN;
    frame(r, &rec, s->bytes + at, 0);
    *next = at + size;
    if (!has_sane_header(&rec))
        return LINK_BROKEN;
    if (may_be_followed(type))
        return LINK_LAST;
    if (!is_known(r, type))
        return LINK_UNKNOWN;
    static const enum link links[] = {
        [PLAUSIBILITY_NONE] = LINK_UNSURE, [PLAUSIBILITY_WEAK] = LINK_UNSURE, [PLAUSIBILITY_ODD] = LINK_UNSURE,
        [PLAUSIBILITY_FULL] = LINK_GOOD,   [PLAUSIBILITY_FIRM] = LINK_FIRM,
    };
    return links[patient_plausibility(r, &rec)];
}

/*
 * Whether a chain continues at `at`: either GOOD_CHAIN good records, possibly with unsure ones between them, or
 * UNSURE_CHAIN unsure ones. A chain that reaches the end of the visible bytes needs only `least` good records. `good`:
 * the number of good records before `at`.
 */
static bool follow(pfr_reader *r, const struct visible_bytes *s, uint64_t at, unsigned good, unsigned least) {
    unsigned unsure = 0, unknown = 0;
    while (good < GOOD_CHAIN && unsure < UNSURE_CHAIN && at < s->length) {
        const enum link link = link_at(r, s, at, &at);
        if (link == LINK_BROKEN || unknown > MOST_UNKNOWN)
            return false;
        if (link == LINK_LAST)
            return good >= least;
        good += link >= LINK_GOOD;
        unsure += link == LINK_UNSURE;
        unknown += link == LINK_UNKNOWN;
    }
    return good >= GOOD_CHAIN || unsure >= UNSURE_CHAIN || good + 1 >= least;
}

/* Whether records follow this one. Recorders number their own record types from 64, simpleperf from 32768. After a
   record of a type from TYPES_MOST on, at least one known record must be visible. */
static bool goes_on(pfr_reader *r, const struct visible_bytes *s, const pfr_record *rec) {
    return follow(r, s, rec->size, 0, s->pieces || rec->type < TYPES_MOST ? 0 : 1);
}

/* Whether a chain begins at `at`. The first record must be good. If the chain reaches the end before GOOD_CHAIN
   records, the first record must be firm. */
static bool begins(pfr_reader *r, const struct visible_bytes *s, uint64_t at, unsigned least) {
    uint64_t next;
    const enum link first = link_at(r, s, at, &next);
    return first >= LINK_GOOD && follow(r, s, next, 1, first == LINK_FIRM ? least : GOOD_CHAIN);
}

bool is_record_at(pfr_reader *r, const struct visible_bytes *s, uint64_t at) {
    uint64_t next;
    return link_at(r, s, at, &next) >= LINK_GOOD;
}

static inline bool may_begin(const pfr_reader *r, const uint8_t *at) {
    const uint32_t type = load_u32(at, r->context.swap);
    return type < TYPE_RULES && r->events.rules[type].layout && load_u16(at + 6, r->context.swap) >= RECORD_HEADER;
}

uint64_t chain_after(pfr_reader *r, const struct visible_bytes *s, uint64_t at, uint64_t until, unsigned least) {
    for (; at <= until && s->length - at >= RECORD_HEADER; at++, pass(r, 1))
        if (may_begin(r, s->bytes + at) && begins(r, s, at, least))
            return at;
    return s->length;
}

/* Accepts a possible but uncertain record if other records follow it. If a chain begins inside the record instead, its
   size is wrong. */
uint64_t implausible_bytes(pfr_reader *r, const struct visible_bytes *s, const pfr_record *rec) {
    const enum plausibility plausibility = plausibility_of(r, rec);
    const bool sane = has_sane_header(rec);
    pass(r, rec->size);
    if (plausibility >= PLAUSIBILITY_FULL || (plausibility == PLAUSIBILITY_WEAK && sane && goes_on(r, s, rec)))
        return 0;
    const uint64_t inside = chain_after(r, s, 1, rec->size - 1u, 1);
    if (inside < s->length)
        return inside;
    if (plausibility == PLAUSIBILITY_ODD)
        return 0;
    return goes_on(r, s, rec) ? rec->size : chain_after(r, s, rec->size, s->length, 1);
}

/* The number of bytes to request from `at` on: `wanted`, limited by the end of the part and the limit of a request. */
static size_t ask(const pfr_reader *r, uint64_t at, size_t wanted) {
    const uint64_t room = r->parts[r->cursor.part].end - at;
    const uint64_t most = room < r->limits.chunk ? room : r->limits.chunk;
    return wanted < most ? wanted : (size_t)most;
}

/* If the read buffer must move, asks for twice the needed size, because otherwise each call would move the buffer. */
pfr_status sight_at(pfr_reader *r, uint64_t at, struct visible_bytes *s, pfr_error *err) {
    struct part *p = &r->parts[r->cursor.part];
    const uint64_t room = p->end - at;
    const size_t least = ask(r, at, SIGHT);
    const size_t wanted = input_holds(&p->in, at, least) ? least : ask(r, at, 2 * SIGHT);
    size_t have;
    PFR_TRY(input_window(&p->in, at, wanted, &s->bytes, &have, err));
    s->whole = have < SIGHT || room <= have;
    s->length = have < room ? have : room;
    s->pieces = false;
    return PFR_OK;
}

pfr_status resync(pfr_reader *r, uint64_t *at, uint64_t last, unsigned least, pfr_error *err) {
    struct visible_bytes s;
    for (;;) {
        PFR_TRY(sight_at(r, *at, &s, err));
        const uint64_t seen = s.whole ? s.length : s.length - REACH, asked = last - *at;
        const uint64_t until = asked < seen ? asked : seen;
        const uint64_t found = chain_after(r, &s, 0, until, least);
        const bool is_end = s.whole || asked <= seen;
        *at += found < s.length ? found : is_end ? s.length : until + 1;
        if (found < s.length)
            return PFR_OK;
        if (is_end)
            return PFR_END;
    }
}
