/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_RECORDING_BUILDER_H
#define PFR_TESTS_RECORDING_BUILDER_H
/*
 * Builds small recordings in memory, in either byte order, without the tables of src/wire: numbers are added one by
 * one.
 *
 *     struct builder b = {.big = true};
 *     begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
 *     put_comm(&b, 7, "seven");
 *     end_file(&b);                      writes the size of the data into the header
 *     pfr_reader *r = open_built(&b, NULL);
 *
 * Events sample IP, TID and TIME, and also IDENTIFIER if there are several events; event n has the id 100 + n.
 */
#include <stdlib.h>
#include <string.h>
#include "test.h"

#include <perfray/reader.h>

struct builder {
    uint8_t *bytes;
    size_t length, room;
    bool big;
    size_t data; /* offset of the records */
};

struct plan {
    unsigned header_size; /* 72 or 104 */
    unsigned events;
    const char *magic; /* NULL: chosen by the byte order */
    uint64_t features; /* bits 0 to 63; the caller appends the sections after the data */
};

enum { BUILT_ATTR = 64, SAMPLE_BITS = 7, IDENTIFIER_BIT = 1 << 16, ID_ALL_FLAG = 18, FIRST_ID = 100 };

static inline uint8_t *put_room(struct builder *b, size_t length) {
    if (b->length + length > b->room) {
        b->room = (b->length + length) * 2;
        b->bytes = realloc(b->bytes, b->room);
        assert_non_null(b->bytes);
    }
    uint8_t *at = b->bytes + b->length;
    memset(at, 0, length);
    b->length += length;
    return at;
}

static inline void set_number(const struct builder *b, uint8_t *at, uint64_t value, unsigned width) {
    for (unsigned i = 0; i < width; i++)
        at[b->big ? width - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

static inline void put_number(struct builder *b, uint64_t value, unsigned width) {
    set_number(b, put_room(b, width), value, width);
}

static inline void put_bytes(struct builder *b, const void *bytes, size_t length) {
    memcpy(put_room(b, length), bytes, length);
}

/* Adds the header of a record; the size is that of the whole record. */
static inline void put_head(struct builder *b, uint32_t type, uint16_t misc, size_t size) {
    put_number(b, type, 4);
    put_number(b, misc, 2);
    put_number(b, size, 2);
}

static inline void put_flag(struct builder *b, unsigned bit) {
    put_number(b, b->big ? 1ull << (63 - bit) : 1ull << bit, 8);
}

static inline void put_attr(struct builder *b, bool identifier) {
    put_number(b, 1, 4);
    put_number(b, BUILT_ATTR, 4);
    put_number(b, 0, 8);
    put_number(b, 4000, 8);
    put_number(b, SAMPLE_BITS | (identifier ? IDENTIFIER_BIT : 0), 8);
    put_number(b, 0, 8);
    put_flag(b, ID_ALL_FLAG);
    put_room(b, BUILT_ATTR - 48);
}

static inline const char *magic_of(const struct builder *b) {
    return b->big ? "2ELIFREP" : "PERFILE2";
}

static inline void begin_pipe(struct builder *b, unsigned events) {
    put_bytes(b, magic_of(b), 8);
    put_number(b, 16, 8);
    b->data = b->length;
    for (unsigned i = 0; i < events; i++) {
        put_head(b, 64, 0, 8 + BUILT_ATTR + 8);
        put_attr(b, events > 1);
        put_number(b, FIRST_ID + i, 8);
    }
}

static inline void put_section(struct builder *b, uint64_t offset, uint64_t size) {
    put_number(b, offset, 8);
    put_number(b, size, 8);
}

static inline void begin_file(struct builder *b, const struct plan *plan) {
    const uint64_t attrs = plan->header_size + 8 * plan->events, entry = BUILT_ATTR + 16;
    b->data = attrs + entry * plan->events;
    put_bytes(b, plan->magic ? plan->magic : magic_of(b), 8);
    put_number(b, plan->header_size, 8);
    put_number(b, entry, 8);
    put_section(b, attrs, entry * plan->events);
    put_section(b, b->data, 0);
    put_section(b, 0, 0);
    if (plan->header_size == 104) {
        put_number(b, plan->features, 8);
        put_room(b, 24);
    }
    for (unsigned i = 0; i < plan->events; i++)
        put_number(b, FIRST_ID + i, 8);
    for (unsigned i = 0; i < plan->events; i++) {
        put_attr(b, plan->events > 1);
        put_section(b, plan->header_size + 8 * i, 8);
    }
}

static inline void end_file(struct builder *b) {
    set_number(b, b->bytes + 48, b->length - b->data, 8);
}

/* Adds a COMM with its sample_id: tid, time and, with `id`, the identifier. */
static inline void put_comm(struct builder *b, uint32_t tid, const char *name, uint64_t id) {
    const size_t text = (strlen(name) + 8) / 8 * 8, size = 16 + text + 16 + (id ? 8 : 0);
    put_head(b, 3, 0, size);
    put_number(b, tid, 4);
    put_number(b, tid, 4);
    memcpy(put_room(b, text), name, strlen(name));
    put_number(b, tid, 4);
    put_number(b, tid, 4);
    put_number(b, 1000 + tid, 8);
    if (id)
        put_number(b, id, 8);
}

static inline void put_sample(struct builder *b, uint64_t ip, uint64_t id) {
    put_head(b, 9, 2, id ? 40 : 32);
    if (id)
        put_number(b, id, 8);
    put_number(b, ip, 8);
    put_number(b, 11, 4);
    put_number(b, 12, 4);
    put_number(b, 2000, 8);
}

static inline void put_text(struct builder *b, const char *text) {
    put_bytes(b, text, strlen(text) + 1);
}

static inline void put_sized_text(struct builder *b, const char *text) {
    put_number(b, strlen(text), 8);
    put_bytes(b, text, strlen(text));
}

/* Adds tracepoint formats with a single one, `format` in `system`. */
static inline void put_formats(struct builder *b, const char *system, const char *format) {
    put_bytes(b, "\27\10\104tracing", 10);
    put_text(b, "0.6");
    put_number(b, b->big, 1);
    put_number(b, 8, 1);
    put_number(b, 4096, 4);
    put_text(b, "header_page");
    put_sized_text(b, "");
    put_text(b, "header_event");
    put_sized_text(b, "");
    put_number(b, 0, 4);
    put_number(b, 1, 4);
    put_text(b, system);
    put_number(b, 1, 4);
    put_sized_text(b, format);
}

/* Adds HEADER_TRACING_DATA of a stream, followed by the formats. */
static inline void put_tracing_data(struct builder *b, const char *system, const char *format) {
    struct builder formats = {.big = b->big};
    put_formats(&formats, system, format);
    put_room(&formats, (8 - formats.length % 8) % 8);
    put_head(b, 66, 0, 16);
    put_number(b, formats.length, 4);
    put_number(b, 0, 4);
    put_bytes(b, formats.bytes, formats.length);
    free(formats.bytes);
}

static inline pfr_reader *open_built(const struct builder *b, pfr_error *err) {
    pfr_error own;
    err = err ? err : &own;
    pfr_reader *r = pfr_open_bytes(b->bytes, b->length, NULL, err);
    if (!r)
        fail_msg("not opened: %s", err->text);
    return r;
}

/* Reads the next record and checks its type. */
static inline void expect_record(pfr_reader *r, pfr_record *rec, uint32_t type) {
    pfr_error err;
    ASSERT_OK(pfr_next(r, rec, &err), err);
    assert_int_equal(rec->type, type);
}

static inline void expect_end(pfr_reader *r) {
    pfr_record rec;
    pfr_error err;
    ASSERT_STATUS(pfr_next(r, &rec, &err), PFR_END, err);
}

/* The results of one pass. */
struct tally {
    uint64_t records, samples, inside, holes, sum; /* sum: checksum of all bytes and offsets, to compare two passes */
    uint64_t hole_at;
    pfr_status last;
};

static inline uint64_t mix_bytes(uint64_t sum, const uint8_t *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        sum = (sum ^ bytes[i]) * 0x100000001b3u;
    return sum;
}

static inline struct tally read_through(pfr_reader *r) {
    struct tally t = {0};
    pfr_record rec;
    pfr_error err;
    while ((t.last = pfr_next(r, &rec, &err)) >= 0 && t.last != PFR_END) {
        if (t.last == PFR_HOLE) {
            t.hole_at = err.offset;
            t.holes++;
            assert_true(t.holes < 1000000);
            continue;
        }
        t.records++;
        t.samples += rec.type == PFR_RECORD_SAMPLE;
        t.inside += rec.inside;
        t.sum = mix_bytes(t.sum + rec.offset + rec.inner + rec.part, rec.bytes, rec.size);
    }
    return t;
}

#endif
