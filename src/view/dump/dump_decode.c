/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes bytes to structs for the dump. Unlike pfr_decode, it keeps the context (misc, variant) in struct dump,
 * because the traversal (dump_walk.c) needs the context for every field. It also returns a cursor, which shows where
 * the known fields end.
 */
#include "view/dump/dump_decode.h"

#include "file/read/recording.h"
#include "wire/fast_sample.h"
#include "wire/variant.h"

#include <perfray/trace.h>

unsigned dump_layout_of(const struct dump *d, uint32_t type) {
    const struct pfr_context *c = &d->reader->context;
    const uint32_t value = c->trace ? type - PFR_TRACE_TYPES : type;
    return value < DUMP_TYPES ? d->of_type[value] : layout_of_type(c, type);
}

static struct cursor body_of(const pfr_record *rec) {
    const unsigned head = layout_head(rec->context);
    const size_t length = (size_t)rec->size - head - rec->tail;
    return cursor_on(rec->bytes + head, length, rec->offset + head, rec->context->swap);
}

pfr_status dump_decode(struct dump *d, const pfr_record *rec, unsigned layout, struct cursor *in, pfr_error *err) {
    d->context = *rec->context;
    d->context.word[WORD_MISC] = rec->misc;
    d->context.home = NULL;
    *in = body_of(rec);
    if (layout == L_sample && rec->event == PFR_NO_EVENT)
        return pfr_fail(err, PFR_ERR_DAMAGE, rec->offset, rec->size, "sample", "the sample's id belongs to no event");
    if (layout == L_sample && fast_sample(&d->context, in, &d->body.sample_))
        return PFR_OK;
    *in = body_of(rec);
    d->context.word[WORD_VARIANT] = variant_of(layout, rec->bytes, rec->size, rec->context);
    return layout_read(d->layouts[layout], &d->context, in, &d->body, err);
}

pfr_status dump_decode_id(const pfr_record *rec, struct pfr_rec_sample_id *id, pfr_error *err) {
    struct cursor in = cursor_on(rec->bytes + rec->size - rec->tail, rec->tail, rec->offset + rec->size - rec->tail,
                                 rec->context->swap);
    if (rec->tail == 0)
        return PFR_END;
    return fast_sample_id(rec->context, &in, id) ? PFR_OK : pfr_decode_id(rec, id, err);
}

/* Returns the version in the first word of the feature CPU_DOMAIN_INFO, which determines the layout of its parts; 0 for
   other features. */
static uint64_t version_of(unsigned layout, const pfr_bytes *payload, bool swap) {
    return layout == L_feature_cpu_domain_info && payload->length >= 4 ? load_u32(payload->at, swap) : 0;
}

pfr_status dump_decode_feature(struct dump *d, const pfr_bytes *payload, uint64_t offset, unsigned layout,
                               struct cursor *in, pfr_error *err) {
    d->context = d->reader->context;
    d->context.home = NULL;
    d->context.word[WORD_VARIANT] = variant_of(layout, payload->at, payload->length, &d->reader->context);
    d->context.word[WORD_VERSION] = version_of(layout, payload, d->context.swap);
    *in = cursor_on(payload->at, payload->length, offset, d->context.swap);
    return layout_read(d->layouts[layout], &d->context, in, &d->body, err);
}
