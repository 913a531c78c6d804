/* SPDX-License-Identifier: Apache-2.0 */
/* Copies events and features. Features that describe the container are left to the writer. */
#include "edit/convert/convert_features.h"
#include "edit/convert/convert_losses.h"
#include "edit/convert/repair_features.h"
#include "wire/any_layout.h"
#include "wire/feature_bits.h"

#define UPDATE_NAME 2u
#define SLOT 16u

pfr_status conversion_events(struct conversion *c, pfr_error *err) {
    for (; c->writer && !c->verbatim && c->events_given < c->reader->events.count; c->events_given++) {
        const pfr_event *e = &c->reader->events.list[c->events_given].public;
        PFR_TRY(pfr_writer_event(c->writer, &e->attr, e->ids, (size_t)e->nr_ids, err));
    }
    return PFR_OK;
}

/* --- Features. */

/* The type of compression; 0 if the file is not compressed (perf stat writes the feature in this case too). */
static uint32_t compression_said(const struct conversion *c, const pfr_feature *f) {
    return f->bytes.length >= 8 ? load_u32(f->bytes.at + 4, c->reader->context.swap) : 0;
}

/* True for features that the writer makes from the records it writes. */
static bool is_the_writers(const struct conversion *c, const pfr_feature *f) {
    if (f->bit == BIT_COMPRESSED)
        return compression_said(c, f) && !c->keeps_packed;
    if (f->bit == BIT_AUXTRACE) /* an index without entries is copied */
        return f->bytes.length > 8;
    return f->bit == BIT_DIR_FORMAT;
}

static void report_outside(struct conversion *c, const pfr_feature *f) {
    pfr_error lost;
    if (f->status == PFR_HOLE && pfr_check_feature(c->reader, f, &lost) == PFR_HOLE)
        conversion_lost(c, &lost);
}

pfr_status conversion_feature(struct conversion *c, const pfr_feature *f, pfr_error *err) {
    pfr_error lost;
    pfr_status s = PFR_OK;
    pfr_feature own = *f;
    if (!c->writer || f->bit >= FEATURES)
        return PFR_OK;
    if (is_the_writers(c, f))
        return report_outside(c, f), PFR_OK;
    if (c->recover && f->status == PFR_OK && f->bit == BIT_TRACING_DATA)
        s = repair_check_blob(&own, &lost);
    else if (c->recover)
        s = pfr_check_feature(c->reader, f, &lost);
    if (s == PFR_OK)
        s = pfr_writer_copy_feature(c->writer, c->reader, &own, &lost);
    if (s == PFR_HOLE)
        return conversion_lost(c, &lost), PFR_OK;
    if (s < 0 && err)
        *err = lost;
    c->given[f->bit] = true;
    return s;
}

/* Recorders leave unused slots after the table of features for features that they could not write; a copied file keeps
   these slots. */
static uint32_t spare_slots(const pfr_reader *r) {
    const uint64_t end = r->header.features_offset + (uint64_t)r->features.count * SLOT;
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < r->features.count; i++)
        if (r->features.list[i].bytes.length && r->features.list[i].offset < first)
            first = r->features.list[i].offset;
    const uint64_t slots = first != UINT64_MAX && first > end ? (first - end) / SLOT : 0;
    return slots < FEATURES ? (uint32_t)slots : 0;
}

static pfr_status conversion_features(struct conversion *c, pfr_error *err) {
    pfr_error why;
    for (uint32_t i = 0; i < pfr_feature_count(c->reader); i++) {
        const pfr_feature *f = pfr_get_feature(c->reader, i, &why);
        if (!f && err)
            *err = why;
        if (!f)
            return why.status;
        PFR_TRY(conversion_feature(c, f, err));
    }
    return PFR_OK;
}

/* --- Names of events. Readers of a stream take names only from EVENT_UPDATE records. */

static pfr_status name_event(struct conversion *c, const pfr_event *e, pfr_error *err) {
    const size_t length = strlen(e->name), room = (length + 8) / 8 * 8;
    uint8_t *text = mem_zeroed(&c->reader->memory, room, 1);
    if (!text)
        return mem_fail(&c->reader->memory, err, "event names");
    memcpy(text, e->name, length);
    const struct pfr_rec_event_update update = {
        .type = UPDATE_NAME,
        .id = e->ids[0],
        .data = {text, room, 1, &c->reader->context, L_event_update_name},
    };
    const pfr_status s = pfr_writer_put(c->writer, 0, PFR_RECORD_EVENT_UPDATE, 0, &update, sizeof update, NULL, err);
    mem_free(&c->reader->memory, text, room, 1);
    return s;
}

static pfr_status conversion_names(struct conversion *c, pfr_error *err) {
    for (uint32_t i = 0; i < c->reader->events.count; i++) {
        const pfr_event *e = &c->reader->events.list[i].public;
        if (e->named && e->nr_ids && strcmp(e->name, e->rebuilt) != 0)
            PFR_TRY(name_event(c, e, err));
    }
    return PFR_OK;
}

/* --- Before the records. */

/* Reads the events and features of a stream, which all precede its first kernel record; then rewinds. */
static pfr_status learn_front(struct conversion *c, pfr_error *err) {
    pfr_record rec;
    pfr_error why;
    pfr_status s;
    while ((s = pfr_next(c->reader, &rec, &why)) >= 0 && s != PFR_END)
        if (s == PFR_OK && rec.type < FIRST_USER)
            break;
    if (s < 0 && err)
        *err = why;
    return s < 0 ? s : pfr_rewind(c->reader, err);
}

pfr_status conversion_front(struct conversion *c, pfr_error *err) {
    const pfr_container from = c->reader->header.container;
    if (!c->writer || c->verbatim)
        return PFR_OK;
    if (from == PFR_PIPE)
        PFR_TRY(learn_front(c, err));
    PFR_TRY(conversion_events(c, err));
    PFR_TRY(conversion_features(c, err));
    if (c->recover && c->to == PFR_PIPE) /* in a stream, features precede the records */
        PFR_TRY(repair_formats(c, err));
    if (from == PFR_FILE && c->to == PFR_FILE && !c->recover)
        c->writer->features.spare_slots = spare_slots(c->reader);
    return from != PFR_PIPE && c->to == PFR_PIPE ? conversion_names(c, err) : PFR_OK;
}
