/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for features, and for their claims about events, records and the machine. */
#include "file/read/features.h"
#include "edit/verify/verify_parts.h"

#include "file/read/tracing_blob.h"
#include "wire/any_layout.h"
#include "wire/feature_bits.h"
#include "wire/record_bits.h"

#include <inttypes.h>
#include <string.h>

#define TRACEPOINT 2u
#define SLOT 16u

/* Decodes the current feature. Returns false if that is impossible, which another rule reports. */
static bool body_of(const struct verify *v, union any_layout *body) {
    const struct layout *l = layout_at(v->feature->layout);
    return l && v->feature->bytes.at && v->feature->status == PFR_OK &&
           pfr_decode_feature(v->reader, v->feature, body, l->size, NULL) == PFR_OK;
}

static void report_feature(struct verify *v, const struct rule *rule, const char *text) {
    verify_report(v, rule, v->feature->offset, v->feature->bytes.length, "feature %s: %s",
                  v->feature->name ? v->feature->name : "without a name", text);
}

/* Whether the feature is a section of the file. Features of a stream are records, which the reader checks. */
static bool has_place(const struct verify *v, const pfr_feature *f) {
    return v->reader->header.container != PFR_PIPE && f->status == PFR_OK && f->bytes.length > 0;
}

/* Reports the bytes of the feature inside the file; if there are none, reports the feature's entry in the table. */
pfr_status feature_outside(struct verify *v, const struct rule *rule, pfr_error *err) {
    const pfr_feature *f = v->feature;
    const uint64_t entry = v->reader->header.features_offset + SLOT * (uint64_t)(f - v->reader->features.list);
    const bool is_seen = f->offset < v->reader->header.file_size;
    (void)err;
    if (f->status == PFR_HOLE)
        verify_report(v, rule, is_seen ? f->offset : entry, is_seen ? f->bytes.length : SLOT,
                      "feature %s at %" PRIu64 " is (partly) outside the file", f->name ? f->name : "without a name",
                      f->offset);
    return PFR_OK;
}

static bool overlap(uint64_t a, uint64_t a_length, uint64_t b, uint64_t b_length) {
    return a < b + b_length && b < a + a_length;
}

/* Compares the feature with every earlier one; there are at most 256 features. */
pfr_status feature_shares(struct verify *v, const struct rule *rule, pfr_error *err) {
    const pfr_feature *f = v->feature;
    const pfr_reader *r = v->reader;
    (void)err;
    if (!has_place(v, f))
        return PFR_OK;
    if (f->bit != BIT_TRACING_DATA && r->header.data_size > 0 &&
        overlap(f->offset, f->bytes.length, r->header.data_offset, r->header.data_size)) {
        report_feature(v, rule, "shares bytes with the records");
        return PFR_OK;
    }
    for (const pfr_feature *other = r->features.list; other < f; other++)
        if (has_place(v, other) && overlap(f->offset, f->bytes.length, other->offset, other->bytes.length)) {
            report_feature(v, rule, "shares bytes with another");
            return PFR_OK;
        }
    return PFR_OK;
}

pfr_status cpus_online(struct verify *v, const struct rule *rule, pfr_error *err) {
    union any_layout body;
    (void)err;
    if (body_of(v, &body) && body.as_feature_nrcpus.online > body.as_feature_nrcpus.available)
        verify_report(v, rule, v->feature->offset, v->feature->bytes.length, "%u CPUs exist, but %u are online",
                      body.as_feature_nrcpus.available, body.as_feature_nrcpus.online);
    return PFR_OK;
}

pfr_status event_desc_fits(struct verify *v, const struct rule *rule, pfr_error *err) {
    union any_layout body;
    struct pfr_rec_event_desc_entry entry;
    uint32_t index = 0;
    (void)err;
    if (!body_of(v, &body))
        return PFR_OK;
    if (body.as_feature_event_desc.nr != v->reader->events.count) {
        verify_report(v, rule, v->feature->offset, 4, "EVENT_DESC describes %u events; there are %zu",
                      body.as_feature_event_desc.nr, v->reader->events.count);
        return PFR_OK;
    }
    pfr_items_iter it = pfr_items_begin(&body.as_feature_event_desc.events);
    for (; pfr_items_next(&it, &entry, sizeof entry, NULL) == PFR_OK; index++) {
        const struct pfr_rec_attr *a = &v->reader->events.list[index].public.attr;
        if (entry.attr.type == a->type && entry.attr.config == a->config && entry.attr.sample_type == a->sample_type)
            continue;
        verify_report(v, rule, v->feature->offset, v->feature->bytes.length,
                      "EVENT_DESC differs from the attr of event %u", index);
        return PFR_OK;
    }
    return PFR_OK;
}

pfr_status group_desc_fits(struct verify *v, const struct rule *rule, pfr_error *err) {
    union any_layout body;
    struct pfr_rec_group_desc_entry entry;
    (void)err;
    if (!body_of(v, &body))
        return PFR_OK;
    pfr_items_iter it = pfr_items_begin(&body.as_feature_group_desc.groups);
    while (pfr_items_next(&it, &entry, sizeof entry, NULL) == PFR_OK)
        if ((uint64_t)entry.leader_idx + entry.nr_members > v->reader->events.count) {
            verify_report(v, rule, v->feature->offset, v->feature->bytes.length,
                          "a group of %u events starts at event %u; the recording has %zu", entry.nr_members,
                          entry.leader_idx, v->reader->events.count);
            return PFR_OK;
        }
    return PFR_OK;
}

pfr_status build_id_sizes(struct verify *v, const struct rule *rule, pfr_error *err) {
    union any_layout body;
    struct pfr_rec_build_id_entry entry;
    uint64_t at = 0;
    (void)err;
    if (!body_of(v, &body))
        return PFR_OK;
    pfr_items_iter it = pfr_items_begin(&body.as_feature_build_id.entries);
    for (; pfr_items_next(&it, &entry, sizeof entry, NULL) == PFR_OK; at = it.taken)
        if (has_bit(entry.misc, MISC_BIT_ID_LENGTH) && entry.length > RECORDED_ID_MOST)
            verify_report(v, rule, v->feature->offset + at, it.taken - at, "a build-id of %u bytes in a field of %u",
                          entry.length, RECORDED_ID_MOST);
    return PFR_OK;
}

pfr_status sample_time_span(struct verify *v, const struct rule *rule, pfr_error *err) {
    union any_layout body;
    const struct verify_sums *sums = &v->sums;
    (void)err;
    if (!body_of(v, &body) || sums->first > sums->last ||
        (body.as_feature_sample_time.first == 0 && body.as_feature_sample_time.last == 0))
        return PFR_OK;
    if (sums->first < body.as_feature_sample_time.first || sums->last > body.as_feature_sample_time.last)
        verify_report(v, rule, v->feature->offset, v->feature->bytes.length,
                      "SAMPLE_TIME is %" PRIu64 " to %" PRIu64 "; samples are from %" PRIu64 " to %" PRIu64,
                      body.as_feature_sample_time.first, body.as_feature_sample_time.last, sums->first, sums->last);
    return PFR_OK;
}

/* --- Tracepoint formats. */

static bool has_blob(const struct verify *v) {
    return v->feature->status == PFR_OK && v->feature->bytes.at && v->feature->bytes.length > 0;
}

/* Reads all formats; `ids` may be NULL. The text of the error is escaped. */
static pfr_status read_blob(const struct verify *v, struct u64_map *ids, pfr_error *err) {
    struct tracing_blob blob;
    struct tracing_format format;
    struct tracing_rest rest;
    pfr_status s;
    PFR_TRY(blob_open(&blob, v->feature->bytes.at, v->feature->bytes.length, v->feature->offset, err));
    while ((s = blob_next(&blob, &format, err)) == PFR_OK)
        if (ids && format.id != UINT64_MAX)
            PFR_TRY(u64_map_put(ids, format.id, 1, err));
    PFR_TRY(s);
    return blob_rest(&blob, &rest, err);
}

pfr_status tracing_blob_reads(struct verify *v, const struct rule *rule, pfr_error *err) {
    pfr_error why;
    (void)err;
    if (has_blob(v) && read_blob(v, NULL, &why) == PFR_ERR_DAMAGE)
        verify_report(v, rule, why.offset == PFR_NO_OFFSET ? v->feature->offset : why.offset, why.length, "%s",
                      why.text);
    return PFR_OK;
}

static void check_formats(struct verify *v, const struct rule *rule, const struct u64_map *ids) {
    uint64_t ignored, length;
    for (uint32_t i = 0; i < v->reader->events.count; i++) {
        const struct pfr_rec_attr *a = &v->reader->events.list[i].public.attr;
        if (a->type != TRACEPOINT || u64_map_get(ids, a->config, &ignored))
            continue;
        verify_report(v, rule, verify_event_place(v, i, &length), 16, "event %u: tracepoint %" PRIu64 " has no format",
                      i, a->config);
    }
}

pfr_status tracing_formats_there(struct verify *v, const struct rule *rule, pfr_error *err) {
    struct u64_map ids;
    pfr_error why;
    if (!has_blob(v))
        return PFR_OK;
    u64_map_init(&ids, v->memory);
    const pfr_status s = read_blob(v, &ids, &why);
    if (s == PFR_OK)
        check_formats(v, rule, &ids);
    else if (s != PFR_ERR_DAMAGE && err)
        *err = why;
    u64_map_free(&ids);
    return s == PFR_ERR_DAMAGE ? PFR_OK : s;
}

/* --- The index of AUXTRACE records. */

static pfr_status learn_index(struct verify *v, pfr_error *err) {
    union any_layout body;
    struct pfr_rec_auxtrace_index_entry entry;
    v->feature = pfr_find_feature(v->reader, BIT_AUXTRACE, err);
    if (!v->feature || !body_of(v, &body))
        return PFR_OK;
    const pfr_items *entries = body.as_feature_auxtrace.entries.count ? &body.as_feature_auxtrace.entries
                                                                      : &body.as_feature_auxtrace.uncounted;
    pfr_items_iter it = pfr_items_begin(entries);
    while (pfr_items_next(&it, &entry, sizeof entry, NULL) == PFR_OK)
        PFR_TRY(u64_map_put(&v->index, entry.file_offset, entry.size, err));
    v->has_index = u64_map_count(&v->index) > 0;
    return PFR_OK;
}

/* Reports entries whose record is missing. */
pfr_status aux_index_missing(struct verify *v, const struct rule *rule, pfr_error *err) {
    union any_layout body;
    struct pfr_rec_auxtrace_index_entry entry;
    uint64_t left, at = 0;
    if (!v->has_index)
        return PFR_OK;
    v->feature = pfr_find_feature(v->reader, BIT_AUXTRACE, err);
    if (!v->feature || !body_of(v, &body))
        return PFR_OK;
    const bool counted = body.as_feature_auxtrace.entries.count > 0;
    pfr_items_iter it =
        pfr_items_begin(counted ? &body.as_feature_auxtrace.entries : &body.as_feature_auxtrace.uncounted);
    for (; pfr_items_next(&it, &entry, sizeof entry, NULL) == PFR_OK; at = it.taken)
        if (u64_map_get(&v->index, entry.file_offset, &left) && left != 0)
            verify_report(v, rule, v->feature->offset + (counted ? 8 : 0) + at, sizeof entry,
                          "there is no AUXTRACE record at %" PRIu64, entry.file_offset);
    return PFR_OK;
}

/* --- All features. */

pfr_status verify_learn_features(struct verify *v, pfr_error *err) {
    union any_layout body;
    v->feature = pfr_find_feature(v->reader, BIT_NRCPUS, err);
    if (v->feature && body_of(v, &body) && body.as_feature_nrcpus.online <= body.as_feature_nrcpus.available)
        v->cpus = body.as_feature_nrcpus.available;
    return learn_index(v, err);
}

static pfr_status check_body(struct verify *v, pfr_error *err) {
    const pfr_feature *f = v->feature;
    const struct layout *l = layout_at(f->layout);
    if (!l || !f->bytes.at || f->bytes.length == 0 || f->status != PFR_OK)
        return PFR_OK;
    const struct pfr_context c = feature_context(v->reader, f);
    return verify_layout(v, l, &c, f->bytes, f->offset, f->name ? f->name : l->name, err);
}

pfr_status verify_all_features(struct verify *v, pfr_error *err) {
    pfr_error own;
    for (uint32_t i = 0; i < pfr_feature_count(v->reader); i++) {
        v->feature = pfr_get_feature(v->reader, i, &own);
        if (!v->feature) {
            if (err)
                *err = own;
            return own.status;
        }
        PFR_TRY(verify_ask(v, AT_FEATURE, v->feature->bit, err));
        PFR_TRY(check_body(v, err));
    }
    return PFR_OK;
}
