/* SPDX-License-Identifier: Apache-2.0 */
/* Judges whether bytes are a record, by the members that its type requires and by its length. Most records take a few
   instructions (layout_length.h); the others are decoded by their layout. */
#include "file/read/plausible_record.h"
#include "wire/any_layout.h"
#include "wire/fast_sample.h"
#include "wire/layout_check.h"
#include "wire/variant.h"

#define KERNEL_TYPES 64u

/* Learns the length rule and the smallest body of each type. The smallest body prevents reading a sample_id in a record
   that has no room for one. */
void plausibility_learn(pfr_reader *r) {
    struct pfr_context shortest = r->events.count ? r->events.list[0].context : r->context;
    struct pfr_context usual = shortest;
    shortest.word[WORD_VARIANT] = 1; /* the shorter form of MMAP2 */
    usual.word[WORD_MISC] = 0;
    for (uint32_t type = 0; type < TYPE_RULES; type++) {
        const unsigned number = layout_find(TABLE_PERF_RECORD, type);
        if (number)
            r->events.rules[type] =
                (struct type_rule){(uint16_t)number, (uint32_t)layout_least_size(layout_at(number), &shortest),
                                   layout_length(layout_at(number), &usual)};
    }
}

static struct cursor body_of(const pfr_record *rec) {
    const size_t length = (size_t)rec->size - RECORD_HEADER - rec->tail;
    return cursor_on(rec->bytes + RECORD_HEADER, length, rec->offset + RECORD_HEADER, rec->context->swap);
}

static enum plausibility plausibility_of_sample(const pfr_reader *r, const pfr_record *rec) {
    struct cursor in = body_of(rec);
    struct pfr_rec_sample body;
    if (rec->event == PFR_NO_EVENT)
        return PLAUSIBILITY_WEAK;
    const struct event *e = &r->events.list[rec->event];
    if (length_holds(&e->length, in.at, cursor_left(&in), in.swap))
        return PLAUSIBILITY_FIRM;
    if ((e->length.known && !e->open_ended) || !fast_sample(rec->context, &in, &body))
        return PLAUSIBILITY_NONE;
    return cursor_left(&in) == 0 ? PLAUSIBILITY_FIRM : e->open_ended ? PLAUSIBILITY_ODD : PLAUSIBILITY_NONE;
}

static struct pfr_context context_of(const pfr_record *rec, unsigned number) {
    struct pfr_context c = *rec->context;
    c.word[WORD_MISC] = rec->misc;
    c.word[WORD_VARIANT] = variant_of(number, rec->bytes, rec->size, rec->context);
    return c;
}

static void count_odd(void *context, const struct check_finding *finding) {
    unsigned *odd = context;
    *odd += finding->severity >= CHECK_ODD || finding->length >= 8;
}

static enum plausibility plausibility_by_layout(const pfr_record *rec, unsigned number) {
    union any_layout body;
    struct cursor in = body_of(rec);
    const struct pfr_context c = context_of(rec, number);
    const uint8_t *const at = in.at;
    const uint64_t length = cursor_left(&in);
    unsigned odd = 0;
    if (layout_read(layout_at(number), &c, &in, &body, NULL) != PFR_OK)
        return PLAUSIBILITY_NONE;
    layout_check(layout_at(number), &c, at, length, 0, count_odd, &odd);
    return odd ? PLAUSIBILITY_ODD : PLAUSIBILITY_FULL;
}

static enum plausibility whole_words(const pfr_record *rec, enum plausibility plausibility) {
    return plausibility >= PLAUSIBILITY_FULL && rec->type < KERNEL_TYPES && rec->size % 8 != 0 ? PLAUSIBILITY_ODD
                                                                                               : plausibility;
}

bool plausibility_at_once(const pfr_reader *r, const pfr_record *rec, enum plausibility *plausibility) {
    const struct type_rule *rule = rec->type < TYPE_RULES ? &r->events.rules[rec->type] : NULL;
    const struct cursor body = body_of(rec);
    if (rec->type == PFR_RECORD_SAMPLE)
        *plausibility = plausibility_of_sample(r, rec);
    else if (rule ? !rule->layout : !layout_find(TABLE_PERF_RECORD, rec->type))
        *plausibility = PLAUSIBILITY_WEAK;
    else if (rule && length_holds(&rule->length, body.at, cursor_left(&body), body.swap))
        *plausibility = whole_words(rec, PLAUSIBILITY_FIRM);
    else
        return false;
    return true;
}

enum plausibility plausibility_of(const pfr_reader *r, const pfr_record *rec) {
    enum plausibility plausibility;
    if (plausibility_at_once(r, rec, &plausibility))
        return plausibility;
    const unsigned number =
        rec->type < TYPE_RULES ? r->events.rules[rec->type].layout : layout_find(TABLE_PERF_RECORD, rec->type);
    return whole_words(rec, plausibility_by_layout(rec, number));
}

void implausible_because(const pfr_record *rec, pfr_error *why) {
    union any_layout body;
    struct cursor in = body_of(rec);
    const unsigned number = layout_find(TABLE_PERF_RECORD, rec->type);
    const struct pfr_context c = context_of(rec, number);
    if (!number)
        pfr_fail(why, PFR_HOLE, rec->offset, rec->size, "record", "type %u is unknown, and no record follows",
                 rec->type);
    else if (layout_read(layout_at(number), &c, &in, &body, why) == PFR_OK)
        pfr_fail(why, PFR_HOLE, rec->offset, rec->size, layout_at(number)->name,
                 "%s of %u bytes, %zu more than its fields", layout_at(number)->name, rec->size,
                 (size_t)cursor_left(&in));
}
