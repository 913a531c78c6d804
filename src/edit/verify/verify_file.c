/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for a file as a whole, for its events and their ids. */
#include "edit/verify/verify_parts.h"

#include "wire/names.h"
#include "wire/feature_bits.h"

#include <stddef.h>

#define DATA_SIZE_AT 48u
#define ATTRS_AT 24u
#define SLOT 16u
#define IDENTIFIER ((uint64_t)1 << 16)
/* Bits of sample_type that change the position of the id. In samples, these bits are IP to ADDR. In other records, the
   position is counted from the end, and the bits are ID, STREAM_ID and CPU. */
#define ID_PLACE_BITS ((uint64_t)0x2cf)

pfr_status not_finished(struct verify *v, const struct rule *rule, pfr_error *err) {
    (void)err;
    if (v->reader->header.not_finalised)
        verify_report(v, rule, DATA_SIZE_AT, 8, "the size of the records is 0: the recorder did not finish the file");
    return PFR_OK;
}

static uint64_t within_file(const struct verify *v, uint64_t offset) {
    return offset < v->reader->header.file_size ? offset : v->reader->header.file_size;
}

pfr_status records_cut(struct verify *v, const struct rule *rule, pfr_error *err) {
    const pfr_header *h = &v->reader->header;
    (void)err;
    if (h->container == PFR_PIPE || h->data_size >= h->data_size_said)
        return PFR_OK;
    verify_report(v, rule, within_file(v, h->data_offset + h->data_size), 0, "%llu bytes of records are missing",
                  (unsigned long long)(h->data_size_said - h->data_size));
    return PFR_OK;
}

static uint32_t count_bits(const pfr_header *h) {
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof h->features / sizeof *h->features; i++)
        count += (uint32_t)__builtin_popcountll(h->features[i]);
    return count;
}

/* Reports table entries past the end of the file; the reader omits these features. */
pfr_status feature_slots(struct verify *v, const struct rule *rule, pfr_error *err) {
    const pfr_header *h = &v->reader->header;
    const uint32_t said = count_bits(h), have = v->reader->features.count;
    (void)err;
    if (v->point || h->container == PFR_PIPE || h->not_finalised || have >= said)
        return PFR_OK;
    verify_report(v, rule, within_file(v, h->features_offset + (uint64_t)SLOT * have), 0,
                  "%u of %u features are beyond the end of the table", said - have, said);
    return PFR_OK;
}

pfr_status compressed_unsaid(struct verify *v, const struct rule *rule, pfr_error *err) {
    const pfr_header *h = &v->reader->header;
    (void)err;
    if (v->sums.compressed_at != UINT64_MAX && h->container != PFR_PIPE && !h->not_finalised &&
        !(h->features[0] >> BIT_COMPRESSED & 1))
        verify_report(v, rule, v->sums.compressed_at, 8, "the feature COMPRESSED is missing");
    return PFR_OK;
}

/* --- Events. */

pfr_status no_events(struct verify *v, const struct rule *rule, pfr_error *err) {
    const pfr_header *h = &v->reader->header;
    (void)err;
    if (v->point || v->reader->events.count > 0)
        return PFR_OK;
    if (h->container == PFR_PIPE)
        verify_report(v, rule, h->header_size, 0, "there is no HEADER_ATTR record, so the recorded events are unknown");
    else
        verify_report(v, rule, ATTRS_AT, SLOT, "the header has no attrs");
    return PFR_OK;
}

/* Reports the word at `at` in the attr of the current event. */
static void report_attr_word(struct verify *v, const struct rule *rule, uint64_t at, const char *text, uint64_t value) {
    uint64_t length;
    const uint64_t place = verify_event_place(v, v->event_index, &length);
    verify_report(v, rule, place + at, 8, "event %u: %s %#llx", v->event_index, text, (unsigned long long)value);
}

pfr_status event_bits(struct verify *v, const struct rule *rule, pfr_error *err) {
    const struct pfr_rec_attr *a = &v->event->public.attr;
    const struct {
        uint64_t value, known, at;
        const char *text;
    } words[] = {
        {a->sample_type, names_bits(SHOW_SAMPLE_TYPE), 24, "sample_type has unknown bits"},
        {a->read_format, names_bits(SHOW_READ_FORMAT), 32, "read_format has unknown bits"},
        {a->branch_sample_type, names_bits(SHOW_BRANCH_SAMPLE), 72, "branch_sample_type has unknown bits"},
    };
    (void)err;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].value & ~words[i].known)
            report_attr_word(v, rule, words[i].at, words[i].text, words[i].value & ~words[i].known);
    return PFR_OK;
}

/* If several events list an id, it belongs to the last of them. */
pfr_status event_ids(struct verify *v, const struct rule *rule, pfr_error *err) {
    const pfr_event *e = &v->event->public;
    (void)err;
    for (uint64_t i = 0; i < e->nr_ids; i++) {
        if (pfr_event_of_id(v->reader, e->ids[i]) == (int32_t)v->event_index)
            continue;
        report_attr_word(v, rule, 0, "another event has its id", e->ids[i]);
        return PFR_OK;
    }
    return PFR_OK;
}

/* Readers expect the id of every record at the position that it has in records of the first event. */
pfr_status events_agree(struct verify *v, const struct rule *rule, pfr_error *err) {
    const pfr_reader *r = v->reader;
    const struct event *first = &r->events.list[0];
    const uint64_t bits = v->event->public.attr.sample_type, all = first->public.attr.sample_type;
    (void)err;
    if (r->events.count < 2)
        return PFR_OK;
    if (v->event->public.attr.flags.sample_id_all != first->public.attr.flags.sample_id_all)
        report_attr_word(v, rule, 40, "its sample_id_all differs from the first event's:",
                         v->event->public.attr.flags.sample_id_all);
    else if (!(bits & all & IDENTIFIER) && ((bits ^ all) & (ID_PLACE_BITS | IDENTIFIER)))
        report_attr_word(v, rule, 24, "its id is at another position than the first event's; sample_type", bits);
    return PFR_OK;
}
