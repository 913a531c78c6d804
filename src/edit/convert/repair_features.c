/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Features that recover rebuilds at the end, from the copied events and records: features that the recorder did not
 * write, or whose contents contradict these events and records. Facts about the machine cannot be rebuilt.
 *
 * perf refuses files with tracepoints whose formats are missing. Such tracepoints get formats with their id and the
 * fields that all tracepoints have, but no fields of their own.
 */
#include "edit/convert/repair_features.h"
#include "edit/convert/convert_losses.h"
#include "file/read/tracing_blob.h"
#include "wire/any_layout.h"
#include "wire/feature_bits.h"

#include <inttypes.h>
#include <stdio.h>

static const struct pfr_rec_attr *attr_at(const struct conversion *c, uint32_t i) {
    return &c->reader->events.list[i].public.attr;
}

/* --- The span of the samples. */

static bool is_known(struct conversion *c, uint32_t bit) {
    pfr_error why;
    struct pfr_rec_feature_sample_time span;
    if (!c->given[bit])
        return false;
    const pfr_feature *f = pfr_find_feature(c->reader, bit, &why);
    if (!f || bit != BIT_SAMPLE_TIME || pfr_decode_feature(c->reader, f, &span, sizeof span, &why) != PFR_OK)
        return true;
    return span.first || span.last;
}

static pfr_status make_span(struct conversion *c, pfr_error *err) {
    const struct pfr_rec_feature_sample_time span = {c->first_time, c->last_time};
    if (is_known(c, BIT_SAMPLE_TIME) || c->last_time == 0)
        return PFR_OK;
    return pfr_writer_put_feature(c->writer, BIT_SAMPLE_TIME, &span, sizeof span, err);
}

/* --- The flag of branch stacks. */

static pfr_status make_flag(struct conversion *c, pfr_error *err) {
    for (uint32_t i = 0; i < c->reader->events.count && !is_known(c, BIT_BRANCH_STACK); i++)
        if (attr_at(c, i)->sample_type & PFR_SAMPLE_BRANCH_STACK)
            return pfr_writer_feature(c->writer, BIT_BRANCH_STACK, NULL, 0, err);
    return PFR_OK;
}

/* --- Names and ids of events. */

static uint32_t size_of_attr(const struct pfr_rec_attr *a) {
    return a->size ? a->size : 64;
}

static uint32_t largest_attr(const struct conversion *c) {
    uint32_t most = 64;
    for (uint32_t i = 0; i < c->reader->events.count; i++)
        most = size_of_attr(attr_at(c, i)) > most ? size_of_attr(attr_at(c, i)) : most;
    return most;
}

static pfr_status write_entry(struct conversion *c, const pfr_event *e, uint32_t size, struct writing *to,
                              pfr_error *err) {
    uint8_t ids[8];
    struct pfr_rec_event_desc_entry entry = {.attr = e->attr, .nr_ids = (uint32_t)e->nr_ids};
    entry.name = (pfr_text){e->name, (uint32_t)strlen(e->name), 0};
    if (size != size_of_attr(&e->attr)) {
        entry.attr.size = size;
        entry.attr.beyond = (pfr_bytes){NULL, 0};
    }
    entry.ids = (pfr_u64s){e->nr_ids ? (const uint8_t *)e->ids : ids, e->nr_ids, 0};
    return layout_write(layout_at(L_event_desc_entry), &c->writer->context, &entry, to, err);
}

static pfr_status write_entries(struct conversion *c, struct writing *to, pfr_error *err) {
    const uint32_t size = largest_attr(c);
    if (to->bytes) {
        put_u32(to->bytes, (uint32_t)c->reader->events.count, c->writer->context.swap);
        put_u32(to->bytes + 4, size, c->writer->context.swap);
    }
    to->used = 8;
    for (uint32_t i = 0; i < c->reader->events.count; i++)
        PFR_TRY(write_entry(c, &c->reader->events.list[i].public, size, to, err));
    return PFR_OK;
}

static pfr_status make_names(struct conversion *c, pfr_error *err) {
    struct writing to = writing_nowhere();
    if (is_known(c, BIT_EVENT_DESC) || c->reader->events.count == 0 || c->to == PFR_PIPE)
        return PFR_OK;
    PFR_TRY(write_entries(c, &to, err));
    const size_t length = (size_t)to.used;
    uint8_t *bytes = mem_alloc(&c->reader->memory, length, 1);
    if (!bytes)
        return mem_fail(&c->reader->memory, err, "event_desc");
    to = writing_into(bytes, length);
    pfr_status s = write_entries(c, &to, err);
    if (s >= 0)
        s = pfr_writer_feature(c->writer, BIT_EVENT_DESC, bytes, length, err);
    mem_free(&c->reader->memory, bytes, length, 1);
    return s;
}

/* --- Formats of tracepoints. */

/* Checks that the formats and all data after them can be read. *left is the number of bytes after the data. */
static pfr_status end_of_blob(const pfr_feature *f, size_t *left, pfr_error *err) {
    struct tracing_blob blob;
    struct tracing_format format;
    struct tracing_rest rest;
    pfr_status s;
    PFR_TRY(blob_open(&blob, f->bytes.at, f->bytes.length, f->offset, err));
    while ((s = blob_next(&blob, &format, err)) == PFR_OK)
        if (format.name.length == 0 || format.id == UINT64_MAX)
            return pfr_fail(err, PFR_HOLE, f->offset, f->bytes.length, "tracing_data",
                            "a format without name or number");
    PFR_TRY(s);
    PFR_TRY(blob_rest(&blob, &rest, err));
    *left = cursor_left(&blob.in);
    return PFR_OK;
}

/* Also removes the padding to 8 bytes that streams have. */
pfr_status repair_check_blob(pfr_feature *f, pfr_error *err) {
    size_t left;
    const pfr_status s = end_of_blob(f, &left, err);
    if (s < 0)
        err->status = PFR_HOLE;
    if (s != PFR_OK)
        return PFR_HOLE;
    if (left >= 8)
        return pfr_fail(err, PFR_HOLE, f->offset, f->bytes.length, "tracing_data",
                        "there are %zu bytes after the formats of tracepoints", left);
    f->bytes.length -= left;
    return PFR_OK;
}

static uint32_t count_tracepoints(const struct conversion *c) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->reader->events.count; i++)
        count += attr_at(c, i)->type == PFR_ATTR_TYPE_TRACEPOINT;
    return count;
}

static void put_number(struct output *out, uint64_t v, unsigned width, bool swap) {
    uint8_t bytes[8];
    put_u64(bytes, v, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__); /* bytes[0] is the lowest byte */
    const bool big = swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    for (unsigned i = 0; i < width; i++)
        out_char(out, (char)bytes[big ? width - 1 - i : i]);
}

static void put_format(struct output *out, uint64_t id, bool swap) {
    char text[640];
    const int length = snprintf(text, sizeof text,
                                "name: event_%" PRIu64 "\nID: %" PRIu64 "\nformat:\n"
                                "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                                "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
                                "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
                                "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\n"
                                "print fmt: \"format lost\"\n",
                                id, id);
    put_number(out, (uint64_t)length, 8, swap);
    out_write(out, text, (size_t)length);
}

/* Writes the name with its NUL, the length of the text, and the text. perf rejects an empty text. */
static void put_named(struct output *out, const char *name, const char *text, bool swap) {
    out_write(out, name, strlen(name) + 1);
    put_number(out, strlen(text), 8, swap);
    out_text(out, text);
}

static void put_blob(const struct conversion *c, struct output *out) {
    static const char page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                               "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                               "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                               "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
    const bool swap = c->reader->context.swap; /* the byte order of raw data in samples, which conversions never swap */
    out_write(out, "\x17\x08\x44tracing0.6", 14);
    out_char(out, (char)c->reader->header.big_endian);
    out_char(out, 8);
    put_number(out, 4096, 4, swap);
    put_named(out, "header_page", page, swap);
    put_named(out, "header_event", "# compressed entry header\n", swap);
    put_number(out, 0, 4, swap);
    put_number(out, 1, 4, swap);
    out_write(out, "lost", 5);
    put_number(out, count_tracepoints(c), 4, swap);
    for (uint32_t i = 0; i < c->reader->events.count; i++)
        if (attr_at(c, i)->type == PFR_ATTR_TYPE_TRACEPOINT)
            put_format(out, attr_at(c, i)->config, swap);
    put_number(out, 0, 8, swap); /* no kernel symbols, no printk formats */
    put_number(out, 0, 8, swap);
}

pfr_status repair_formats(struct conversion *c, pfr_error *err) {
    struct output blob;
    size_t length;
    if (is_known(c, BIT_TRACING_DATA) || count_tracepoints(c) == 0)
        return PFR_OK;
    c->given[BIT_TRACING_DATA] = true;
    out_open_memory(&blob, &c->reader->memory);
    put_blob(c, &blob);
    const char *bytes = out_bytes(&blob, &length);
    pfr_status s = blob.status;
    if (s >= 0)
        s = pfr_writer_feature(c->writer, BIT_TRACING_DATA, bytes, length, err);
    else
        mem_fail(&c->reader->memory, err, "tracing data");
    pfr_error lost;
    pfr_fail(&lost, PFR_HOLE, PFR_NO_OFFSET, 0, "tracing_data",
             "the formats of tracepoints are lost: events are named lost:event_N, and their fields are not known");
    conversion_lost(c, &lost);
    out_close(&blob, NULL);
    return s;
}

pfr_status repair_end(struct conversion *c, pfr_error *err) {
    PFR_TRY(make_span(c, err));
    PFR_TRY(make_flag(c, err));
    PFR_TRY(c->to == PFR_PIPE ? PFR_OK : repair_formats(c, err));
    return make_names(c, err);
}
