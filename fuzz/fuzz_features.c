/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One header feature in a generated file: header, one attr, NRCPUS, and the payload at the very end. It is decoded by
 * its layout, and printed by `info` and `dump` in a format selected by a byte.
 */
#include "fuzz_print.h"

#include <perfray/dump.h>
#include <perfray/info.h>

#include <stdlib.h>

#define HEADER 104u
#define ATTR 128u
#define ENTRY (ATTR + 16u)
#define SLOTS_AT (HEADER + ENTRY + 8u) /* after one FINISHED_ROUND */
#define BITS 256u
#define HOSTNAME 3u
#define NRCPUS 7u
#define BIG 1u /* of the bits of the form: byte order */

struct recipe {
    uint8_t bit, form, cpus;
    const uint8_t *payload;
    size_t length;
};

/* Stores an integer in the byte order of the file. */
static void put(uint8_t *at, unsigned width, uint64_t v, bool big) {
    for (unsigned i = 0; i < width; i++)
        at[big ? width - 1 - i : i] = (uint8_t)(v >> 8 * i);
}

static void put_section(uint8_t *at, uint64_t offset, uint64_t size, bool big) {
    put(at, 8, offset, big);
    put(at + 8, 8, size, big);
}

static void put_head(uint8_t *file, bool big) {
    static const uint64_t sample_type = 0x107;
    memcpy(file, big ? "2ELIFREP" : "PERFILE2", 8);
    put(file + 8, 8, HEADER, big);
    put(file + 16, 8, ENTRY, big);
    put_section(file + 24, HEADER, ENTRY, big);
    put_section(file + 40, HEADER + ENTRY, 8, big);
    put(file + HEADER, 4, 1, big);
    put(file + HEADER + 4, 4, ATTR, big);
    put(file + HEADER + 24, 8, sample_type, big);
    put(file + HEADER + ENTRY, 4, 68, big);
    put(file + HEADER + ENTRY + 6, 2, 8, big);
}

/* In big-endian files the bit of HOSTNAME shows the word size of the bitmap, so this feature is always present, and
   empty. */
static void put_bit(uint8_t *file, unsigned bit, bool big) {
    uint8_t *word = file + 72 + bit / 64 * 8;
    word[big ? 7 - bit % 64 / 8 : bit % 64 / 8] |= (uint8_t)(1u << bit % 8);
}

static bool has_bit(const struct recipe *r, unsigned bit) {
    return bit == HOSTNAME || bit == NRCPUS || bit == r->bit;
}

static uint8_t *make_file(const struct recipe *r, size_t *size) {
    const bool big = r->form & BIG;
    const unsigned slots = 2u + (r->bit != HOSTNAME && r->bit != NRCPUS);
    const size_t cpus_at = SLOTS_AT + 16u * slots, payload_at = cpus_at + 8;
    uint8_t *file = calloc(*size = payload_at + r->length, 1), *slot = file + SLOTS_AT;
    LAW(file, "no memory");
    put_head(file, big);
    put(file + cpus_at, 4, r->cpus, big);
    put(file + cpus_at + 4, 4, r->cpus, big);
    for (unsigned bit = 0; bit < BITS; bit++) {
        if (!has_bit(r, bit))
            continue;
        put_bit(file, bit, big);
        if (bit == r->bit)
            put_section(slot, payload_at, r->length, big);
        else if (bit == NRCPUS)
            put_section(slot, cpus_at, 8, big);
        slot += 16;
    }
    if (r->length)
        memcpy(file + payload_at, r->payload, r->length);
    return file;
}

static void decode(const uint8_t *file, size_t size, const struct recipe *r) {
    const pfr_open_options options = {.size = sizeof options, .limits = &fuzz_limits};
    pfr_error err;
    union any_layout body;
    pfr_reader *reader = pfr_open_bytes(file, size, &options, &err);
    LAW(reader, "a file with feature %u does not open: %s", r->bit, err.text);
    const pfr_feature *f = pfr_find_feature(reader, r->bit, &err);
    LAW(f && f->bytes.length == r->length, "feature %u is not found whole", r->bit);
    const struct layout *l = layout_at(f->layout);
    if (l) {
        const pfr_status s = pfr_decode_feature(reader, f, &body, l->size, &err);
        if (s == PFR_OK)
            fuzz_touch(l, &body);
        else
            fuzz_check_error(&err, s, size);
    }
    pfr_close(reader);
}

static pfr_status print_info(pfr_reader *reader, const void *options, pfr_output *out, pfr_error *err) {
    return pfr_info_print(reader, options, out, err);
}

static pfr_status print_dump(pfr_reader *reader, const void *options, pfr_output *out, pfr_error *err) {
    return pfr_dump(reader, options, out, err);
}

#define INFO(part_, format_)                                                                                           \
    { .size = sizeof(pfr_info_options), .part = part_, .format = format_ }
#define DUMP(format_)                                                                                                  \
    { .size = sizeof(pfr_dump_options), .format = format_ }
static const pfr_info_options infos[] = {
    INFO(PFR_INFO_OVERVIEW, PFR_INFO_TEXT),  INFO(PFR_INFO_OVERVIEW, PFR_INFO_PERF),
    INFO(PFR_INFO_OVERVIEW, PFR_INFO_JSON),  INFO(PFR_INFO_EVENTS, PFR_INFO_TEXT),
    INFO(PFR_INFO_BUILD_IDS, PFR_INFO_TEXT),
};
static const pfr_dump_options dumps[] = {DUMP(PFR_DUMP_TEXT), DUMP(PFR_DUMP_JSON_LINES)};

static const struct printing ways[] = {
    {.kind = TEXT_PLAIN, .options = &infos[0], .print = print_info},
    {.kind = TEXT_PLAIN, .options = &infos[1], .print = print_info},
    {.kind = TEXT_JSON, .options = &infos[2], .print = print_info},
    {.kind = TEXT_PLAIN, .options = &infos[3], .print = print_info},
    {.kind = TEXT_PLAIN, .options = &infos[4], .print = print_info},
    {.kind = TEXT_PLAIN, .options = &dumps[0], .print = print_dump},
    {.kind = TEXT_JSON_LINES, .options = &dumps[1], .print = print_dump},
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct cursor in = cursor_on(bytes, length, 0, false);
    struct recipe r = {.bit = (uint8_t)fuzz_take(&in, 1), .form = (uint8_t)fuzz_take(&in, 1)};
    r.cpus = (uint8_t)fuzz_take(&in, 1);
    r.payload = in.at;
    r.length = cursor_left(&in);
    struct printing how = ways[r.form / 2 % (sizeof ways / sizeof *ways)];
    how.open = (pfr_open_options){.size = sizeof how.open, .limits = &fuzz_limits};
    size_t size;
    uint8_t *file = make_file(&r, &size);
    decode(file, size, &r);
    fuzz_print(&how, file, size);
    free(file);
    return 0;
}
