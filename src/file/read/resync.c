/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where bytes are no record, the next place is searched that records follow each other from: three believable ones in a
 * row, or up to the end (docs/perf-data-format.md, resynchronising). The search is bytewise, because records of user
 * types need not be multiples of 8, and linear: what cannot begin a record is passed after a look at its type.
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
#define PATIENCE 16u /* bytes of bodies looked through for one that is passed */
#define SIGHT ((size_t)256 << 10)

/* Records with data behind them that may be larger than what can be seen. */
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
    return type < TYPE_RULES ? r->rules[type].layout != 0 : layout_find(TABLE_PERF_RECORD, type) != 0;
}

enum link {
    LINK_BROKEN,
    LINK_LAST,    /* a record that reaches out of sight */
    LINK_UNKNOWN, /* of a type that no table has */
    LINK_UNSURE,  /* its header could be one; its body tells nothing, does not fit, or leaves bytes over */
    LINK_GOOD,
    LINK_FIRM
};

/* Kernels leave bits of misc clear and write whole words. */
static bool has_sane_header(const pfr_record *rec) {
    return rec->type >= KERNEL_TYPES || (rec->size % 8 == 0 && !(rec->misc & CLEAR_MISC));
}

/*
 * What a body tells. Bodies overlap where every few bytes could begin a large record, and each would be looked through
 * again and again: what is looked through is kept within a multiple of what is passed, and untold bodies are unsure.
 */
static enum plausibility patient_plausibility(pfr_reader *r, const pfr_record *rec) {
    enum plausibility plausibility;
    if (plausibility_at_once(r, rec, &plausibility))
        return plausibility;
    if (r->patience < rec->size)
        return PLAUSIBILITY_NONE;
    r->patience -= rec->size;
    return plausibility_of(r, rec);
}

static void pass(pfr_reader *r, uint64_t bytes) {
    r->patience += bytes * PATIENCE;
}

/* The record at `at`, and where the next one is. */
static enum link link_at(pfr_reader *r, const struct visible_bytes *s, uint64_t at, uint64_t *next) {
    const uint64_t left = s->length - at;
    pfr_record rec;
    if (left < RECORD_HEADER)
        return LINK_LAST;
    const uint16_t size = load_u16(s->bytes + at + 6, r->context.swap);
    const uint32_t type = load_u32(s->bytes + at, r->context.swap);
    if (size < RECORD_HEADER)
        return LINK_BROKEN;
    if (size > left) /* of an unknown type, where more may come: the rest of it is not seen yet */
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
 * Three that are good, or many that could be; those that could be may stand between the good ones. What ends in sight
 * of the end may be fewer: `least` of them are asked for.
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

/* Whether records go on behind a record. Recorders number their own types from 64, from 32768 or so; behind a number
   that nobody would take something known must stand, as far as can be seen. */
static bool goes_on(pfr_reader *r, const struct visible_bytes *s, const pfr_record *rec) {
    return follow(r, s, rec->size, 0, s->pieces || rec->type < TYPES_MOST ? 0 : 1);
}

/* Whether records begin here: the first must be good by itself, and firmly so where the end spares it others. */
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
    return type < TYPE_RULES && r->rules[type].layout && load_u16(at + 6, r->context.swap) >= RECORD_HEADER;
}

uint64_t chain_after(pfr_reader *r, const struct visible_bytes *s, uint64_t at, uint64_t until, unsigned least) {
    for (; at <= until && s->length - at >= RECORD_HEADER; at++, pass(r, 1))
        if (may_begin(r, s->bytes + at) && begins(r, s, at, least))
            return at;
    return s->length;
}

/*
 * A record that could be one goes where its size says and its successors stand there, unless others stand inside it:
 * then its size is wrong.
 */
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

/* What of `wanted` bytes from `at` on can be asked for at once. */
static size_t ask(const pfr_reader *r, uint64_t at, size_t wanted) {
    const uint64_t room = r->parts[r->part].end - at;
    const uint64_t most = room < r->limits.chunk ? room : r->limits.chunk;
    return wanted < most ? wanted : (size_t)most;
}

/* Where the window has to move, twice of what is needed is asked for: else each look would move it. */
pfr_status sight_at(pfr_reader *r, uint64_t at, struct visible_bytes *s, pfr_error *err) {
    struct part *p = &r->parts[r->part];
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
