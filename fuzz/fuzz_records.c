/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One record in a context, decoded as a whole, field by field, and by the fast path of fast_sample.c, which must agree
 * with the table in every member. The check must find an error exactly if the record cannot be decoded.
 */
#include "fuzz.h"
#include "same_fields.h"
#include "wire/fast_sample.h"
#include "wire/layout_check.h"
#include "wire/variant.h"

#define RECORD_HEADER 8u
#define RECORD_MOST 65528u
#define USER_TYPES 64u

/* If `wanted`, returns the number of bytes of sample_id at the end of a record, which the reader removes; else 0. */
static uint16_t tail_of(const pfr_record *rec, bool wanted) {
    struct pfr_context shortest = *rec->context;
    shortest.word[WORD_VARIANT] = 1;
    const struct layout *l = layout_at(layout_find(TABLE_PERF_RECORD, rec->type));
    const uint64_t least = l ? layout_least_size(l, &shortest) : 0;
    const uint64_t tail = layout_fixed_size(layout_at(L_sample_id), rec->context);
    const bool has = wanted && rec->type < USER_TYPES && rec->type != PFR_RECORD_SAMPLE;
    return has && rec->size >= RECORD_HEADER + least + tail ? (uint16_t)tail : 0;
}

static void check_fast_sample(const pfr_record *rec, const union any_layout *body, pfr_status status) {
    union any_layout fast;
    struct cursor in = cursor_on(rec->bytes + RECORD_HEADER, rec->size - RECORD_HEADER, 0, rec->context->swap);
    const bool ok = fast_sample(rec->context, &in, &fast.as_sample);
    LAW(ok == (status == PFR_OK), "the table says %s, the straight-line code %d", pfr_status_name(status), ok);
    const char *different = ok ? first_difference(layout_at(L_sample), body, &fast) : NULL;
    LAW(!different, "sample.%s is read as something else", different);
}

static void check_fast_id(const pfr_record *rec) {
    struct pfr_rec_sample_id id;
    union any_layout slow;
    struct cursor in = cursor_on(rec->bytes + rec->size - rec->tail, rec->tail, 0, rec->context->swap);
    const pfr_status s = pfr_decode_id(rec, &id, NULL);
    LAW((s == PFR_END) == (rec->tail == 0), "%s, with %u bytes of id", pfr_status_name(s), rec->tail);
    if (s == PFR_END)
        return;
    LAW(s == layout_read(layout_at(L_sample_id), rec->context, &in, &slow, NULL), "the id is %s", pfr_status_name(s));
    const char *different = first_difference(layout_at(L_sample_id), &id, &slow);
    LAW(!different, "sample_id.%s is read as something else", different);
}

/* If the whole record can be decoded, every field can be decoded by name; nested parts have their own fields. */
static void check_get(const pfr_record *rec, const struct layout *l, pfr_status status) {
    pfr_value value;
    pfr_error err;
    for (const struct field *f = l->fields(); f->name; f++) {
        const pfr_status s = pfr_get(rec, f->name, &value, &err);
        const bool is_part = status == PFR_OK && s == PFR_ERR_USAGE && f->kind == K_SUB;
        LAW(s == status || is_part, "%s.%s: %s, the whole: %s", l->name, f->name, pfr_status_name(s),
            pfr_status_name(status));
    }
}

static void note_misfit(void *misfit, const struct check_finding *finding) {
    if (strcmp(finding->rule, "does-not-fit") == 0 && finding->offset == finding->error->offset && !finding->field)
        *(bool *)misfit = true;
}

static void check_check(const pfr_record *rec, const struct layout *l, pfr_status status) {
    struct pfr_context c = *rec->context;
    bool misfit = false;
    c.word[WORD_MISC] = rec->misc;
    c.word[WORD_VARIANT] = variant_of((unsigned)layout_named(l->name), rec->bytes, rec->size, rec->context);
    layout_check(l, &c, rec->bytes + RECORD_HEADER, (uint64_t)rec->size - RECORD_HEADER - rec->tail, 0, note_misfit,
                 &misfit);
    LAW(misfit == (status != PFR_OK), "%s decodes: %s, the check: %d", l->name, pfr_status_name(status), misfit);
}

static void check_record(const pfr_record *rec) {
    const struct layout *l = layout_at(layout_find(TABLE_PERF_RECORD, rec->type));
    union any_layout body;
    pfr_error err;
    check_fast_id(rec);
    if (!l) {
        LAW(!pfr_record_name(rec), "type %u has a name and no layout", rec->type);
        return;
    }
    const pfr_status s = pfr_decode(rec, &body, l->size, &err);
    if (s == PFR_OK)
        fuzz_touch(l, &body);
    else
        fuzz_check_error(&err, s, rec->size);
    if (rec->type == PFR_RECORD_SAMPLE)
        check_fast_sample(rec, &body, s);
    check_get(rec, l, s);
    check_check(rec, l, s);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct cursor in = cursor_on(bytes, length, 0, false);
    const struct pfr_context context = fuzz_context(&in);
    const bool has_id = fuzz_take(&in, 1) & 1;
    const size_t left = cursor_left(&in);
    if (left < RECORD_HEADER || left > RECORD_MOST)
        return 0;
    pfr_record rec = {.bytes = in.at, .context = &context, .size = (uint16_t)left};
    rec.type = load_u32(in.at, context.swap);
    rec.misc = load_u16(in.at + 4, context.swap);
    rec.tail = tail_of(&rec, has_id);
    check_record(&rec);
    return 0;
}
