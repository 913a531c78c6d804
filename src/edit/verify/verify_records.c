/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for the records of perf.data: headers, times, and the few numbers that no layout can check. */
#include "edit/verify/verify_parts.h"

#include "wire/any_layout.h"
#include "wire/map_range.h"
#include "wire/record_bits.h"

#define KERNEL_TYPES 64u
#define MISC_NEVER 0x0ff8u /* no kernel sets these bits */
#define NO_CPU UINT32_MAX
#define FINISHED_ROUND 68u

/* Decodes the body of the record, which the reader found complete. */
static bool body_of(const struct verify *v, union any_layout *body) {
    const struct layout *l = layout_at(layout_of_type(v->rec->context, v->rec->type));
    return l && pfr_decode(v->rec, body, l->size, NULL) == PFR_OK;
}

pfr_status record_type_unknown(struct verify *v, const struct rule *rule, pfr_error *err) {
    (void)err;
    if (!layout_of_type(v->rec->context, v->rec->type))
        verify_report_record(v, rule, "type %u is unknown", v->rec->type);
    return PFR_OK;
}

pfr_status record_misc(struct verify *v, const struct rule *rule, pfr_error *err) {
    (void)err;
    if (v->rec->type < KERNEL_TYPES && (v->rec->misc & MISC_NEVER))
        verify_report_record(v, rule, "misc is %#x, but bits 3 to 11 are unused", v->rec->misc);
    return PFR_OK;
}

pfr_status record_words(struct verify *v, const struct rule *rule, pfr_error *err) {
    (void)err;
    if (v->rec->type < KERNEL_TYPES && v->rec->size % 8 != 0)
        verify_report_record(v, rule, "%u bytes: sizes of kernel records are multiples of 8", v->rec->size);
    return PFR_OK;
}

pfr_status record_of_no_event(struct verify *v, const struct rule *rule, pfr_error *err) {
    (void)err;
    if (v->rec->event == PFR_NO_EVENT)
        verify_report_record(v, rule,
                             v->reader->events.count ? "no event has the id of this sample" : "there are no events");
    return PFR_OK;
}

/* Also keeps the first and last time of the samples. */
pfr_status record_late(struct verify *v, const struct rule *rule, pfr_error *err) {
    const uint64_t late = v->rounds.late;
    (void)err;
    if (v->rec->type == FINISHED_ROUND) {
        rounds_end(&v->rounds);
        return PFR_OK;
    }
    const uint64_t time = time_of(v->reader, v->rec);
    if (time == NO_TIME || time == 0)
        return PFR_OK;
    rounds_note(&v->rounds, time);
    if (v->rounds.late != late)
        verify_report_record(v, rule,
                             "its time is %llu; FINISHED_ROUND promised that all records before %llu are complete",
                             (unsigned long long)time, (unsigned long long)v->rounds.limit);
    if (v->rec->type == PFR_RECORD_SAMPLE) {
        v->sums.first = time < v->sums.first ? time : v->sums.first;
        v->sums.last = time > v->sums.last ? time : v->sums.last;
    }
    return PFR_OK;
}

pfr_status sample_cpu(struct verify *v, const struct rule *rule, pfr_error *err) {
    struct pfr_rec_sample body;
    (void)err;
    if (v->cpus == 0 || v->rec->event < 0 || !has_bit(v->rec->context->word[WORD_SAMPLE], SAMPLE_BIT_CPU) ||
        pfr_decode(v->rec, &body, sizeof body, NULL) != PFR_OK)
        return PFR_OK;
    if (body.cpu >= v->cpus && body.cpu != NO_CPU)
        verify_report_record(v, rule, "CPU %u of a machine with %u CPUs", body.cpu, v->cpus);
    return PFR_OK;
}

static void check_range(struct verify *v, const struct rule *rule, uint64_t addr, uint64_t length) {
    if (range_wraps(addr, length))
        verify_report_record(v, rule, "%#llx bytes at %#llx", (unsigned long long)length, (unsigned long long)addr);
}

pfr_status map_wraps(struct verify *v, const struct rule *rule, pfr_error *err) {
    union any_layout body;
    (void)err;
    if (body_of(v, &body))
        check_range(v, rule, body.as_mmap.addr, body.as_mmap.len);
    return PFR_OK;
}

pfr_status map2_wraps(struct verify *v, const struct rule *rule, pfr_error *err) {
    union any_layout body;
    (void)err;
    if (body_of(v, &body))
        check_range(v, rule, body.as_mmap2.addr, body.as_mmap2.len);
    return PFR_OK;
}

pfr_status map2_build_id(struct verify *v, const struct rule *rule, pfr_error *err) {
    union any_layout body;
    (void)err;
    if (has_bit(v->rec->misc, MISC_BIT_MAP_ID) && body_of(v, &body) && body.as_mmap2.build_id_size > RECORDED_ID_MOST)
        verify_report_record(v, rule, "a build-id of %u bytes in a field of %u", body.as_mmap2.build_id_size,
                             RECORDED_ID_MOST);
    return PFR_OK;
}

pfr_status build_id_length(struct verify *v, const struct rule *rule, pfr_error *err) {
    union any_layout body;
    (void)err;
    if (has_bit(v->rec->misc, MISC_BIT_ID_LENGTH) && body_of(v, &body) &&
        body.as_header_build_id.length > RECORDED_ID_MOST)
        verify_report_record(v, rule, "a build-id of %u bytes in a field of %u", body.as_header_build_id.length,
                             RECORDED_ID_MOST);
    return PFR_OK;
}

/* The index has the offset and size of each AUXTRACE record; the size does not include the AUX data. */
pfr_status aux_indexed(struct verify *v, const struct rule *rule, pfr_error *err) {
    uint64_t size;
    if (!v->has_index)
        return PFR_OK;
    if (!u64_map_get(&v->index, v->rec->offset, &size))
        verify_report_record(v, rule, "the index (feature AUXTRACE) does not name it");
    else if (size != v->rec->size)
        verify_report_record(v, rule, "%u bytes; the index (feature AUXTRACE) says %llu", v->rec->size,
                             (unsigned long long)size);
    return u64_map_put(&v->index, v->rec->offset, 0, err);
}

pfr_status id_index_ids(struct verify *v, const struct rule *rule, pfr_error *err) {
    union any_layout body;
    struct pfr_rec_id_index_entry entry;
    (void)err;
    if (!body_of(v, &body))
        return PFR_OK;
    pfr_items_iter it = pfr_items_begin(&body.as_id_index.entries);
    while (pfr_items_next(&it, &entry, sizeof entry, NULL) == PFR_OK) {
        if (pfr_event_of_id(v->reader, entry.id) != PFR_NO_EVENT)
            continue;
        verify_report_record(v, rule, "id %llu belongs to no event", (unsigned long long)entry.id);
        return PFR_OK;
    }
    return PFR_OK;
}
