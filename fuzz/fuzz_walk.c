/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads all records of a reader and asserts the laws of all readers: records and holes are inside the input and
 * contiguous; every record has its stated size; decoding succeeds or reports the place of the error; after the end, the
 * reader always returns the end.
 */
#include "fuzz.h"

struct walk {
    struct walked *to;
    uint64_t size; /* of the input */
    uint64_t at;   /* where the next record must begin, unless there is a hole before it; 0: unknown */
};

static uint64_t sum_of_record(const pfr_record *rec) {
    const uint64_t facts[] = {rec->type, rec->misc, rec->size, rec->tail, (uint64_t)(int64_t)rec->event, rec->payload};
    return fuzz_mix(fuzz_mix(1, facts, sizeof facts), rec->bytes, rec->size);
}

/* The decoded value of the record, or the error status. */
static uint64_t sum_of_body(const pfr_record *rec, uint64_t size) {
    const struct layout *l = layout_at(layout_of_type(rec->context, rec->type));
    union any_layout body;
    pfr_error err;
    if (!l)
        return 0;
    const pfr_status s = pfr_decode(rec, &body, l->size, &err);
    if (s != PFR_OK)
        fuzz_check_error(&err, s, rec->inside ? UINT64_MAX : size);
    return s == PFR_OK ? fuzz_touch(l, &body) : (uint64_t)(int64_t)s;
}

static uint64_t sum_of_id(const pfr_record *rec, uint64_t size) {
    struct pfr_rec_sample_id id;
    pfr_error err;
    const pfr_status s = pfr_decode_id(rec, &id, &err);
    LAW((s == PFR_END) == (rec->tail == 0), "%s, with %u bytes of id", pfr_status_name(s), rec->tail);
    if (s < 0)
        fuzz_check_error(&err, s, rec->inside ? UINT64_MAX : size);
    return s == PFR_OK ? fuzz_touch(layout_at(L_sample_id), &id) : (uint64_t)(int64_t)s;
}

/* In version 1 of flight-recorder traces there is filler between buffers. */
static bool may_skip(const pfr_record *rec) {
    return rec->context->trace && rec->context->word[WORD_VERSION] == 1;
}

static void take_place(struct walk *w, const pfr_record *rec) {
    if (rec->inside)
        return;
    LAW(!w->at || rec->offset == w->at || (may_skip(rec) && rec->offset > w->at),
        "a record at %ju, the last one ended at %ju", (uintmax_t)rec->offset, (uintmax_t)w->at);
    LAW(rec->offset <= w->size && rec->size <= w->size - rec->offset, "%u bytes at %ju of %ju", rec->size,
        (uintmax_t)rec->offset, (uintmax_t)w->size);
    w->at = rec->offset + rec->size + rec->payload;
}

static void take_record(struct walk *w, const pfr_record *rec) {
    const unsigned head = layout_head(rec->context);
    LAW(rec->size >= 8 && rec->tail <= rec->size - head, "a record of %u bytes with an id of %u", rec->size, rec->tail);
    take_place(w, rec);
    const uint64_t sums[] = {sum_of_record(rec), sum_of_body(rec, w->size), sum_of_id(rec, w->size)};
    w->to->sum = fuzz_mix(w->to->sum, sums, sizeof sums);
    if (rec->inside) {
        w->to->inside++;
        w->to->inside_sum = fuzz_mix(w->to->inside_sum, sums, sizeof sums);
    } else {
        w->to->sum = fuzz_mix(w->to->sum, &rec->offset, sizeof rec->offset);
    }
    w->to->records++;
}

static void take_hole(struct walk *w, const pfr_error *err) {
    fuzz_check_error(err, PFR_HOLE, w->size);
    LAW(err->offset == PFR_NO_OFFSET || err->length <= w->size - err->offset, "%ju bytes at %ju of %ju: %s",
        (uintmax_t)err->length, (uintmax_t)err->offset, (uintmax_t)w->size, err->text);
    w->to->holes++;
    w->to->hole_sum += fuzz_mix(1, &err->offset, sizeof err->offset);
    w->at = 0;
}

struct walked fuzz_walk(pfr_reader *reader, uint64_t size) {
    struct walked walked = {0};
    struct walk w = {&walked, size, 0};
    pfr_record rec;
    pfr_error err;
    while ((walked.status = pfr_next(reader, &rec, &err)) >= 0 && walked.status != PFR_END) {
        if (walked.status == PFR_OK)
            take_record(&w, &rec);
        else
            take_hole(&w, &err);
    }
    if (walked.status < 0)
        fuzz_check_error(&err, walked.status, size);
    else
        LAW(pfr_next(reader, &rec, &err) == PFR_END, "something comes behind the end");
    const uint64_t counted = pfr_get_quality(reader)->records;
    LAW(counted == walked.records || (walked.status < 0 && counted == walked.records + 1),
        "%ju records counted, %ju given", (uintmax_t)counted, (uintmax_t)walked.records);
    return walked;
}

void fuzz_same_walk(const struct walked *first, const struct walked *again, const char *how) {
    LAW(again->status == first->status, "%s, %s %s", pfr_status_name(first->status), how,
        pfr_status_name(again->status));
    LAW(again->records == first->records && again->sum == first->sum, "%ju records, %s %ju others",
        (uintmax_t)first->records, how, (uintmax_t)again->records);
    LAW(again->holes == first->holes && again->hole_sum == first->hole_sum, "%ju holes, %s %ju others",
        (uintmax_t)first->holes, how, (uintmax_t)again->holes);
}
