/* SPDX-License-Identifier: Apache-2.0 */
/* Parquet files: see parquet_file.h. Metadata are Thrift structs in the compact protocol: a field is its distance from
   the field before it and its type in a byte, numbers are zig-zag varints, a struct ends with 0. */
#include "export/binary/parquet_file.h"

#include "base/memory/fail.h"
#include "base/text/escape.h"
#include "base/text/proto.h"

#include <zstd.h>

#define GROUP_ROWS 65536u
#define LEVEL 1
#define MAGIC "PAR1"
#define ZSTD_BYTES ((uint64_t)4 << 20) /* of a context, about */

enum { T_I32 = 5, T_I64 = 6, T_BINARY = 8, T_LIST = 9, T_STRUCT = 12 };
enum { TYPE_INT64 = 2, TYPE_BYTES = 6, UTF8 = 0, CODEC_ZSTD = 6, PLAIN = 0, RLE = 3 };

/* --- Thrift. */

struct thrift {
    struct output *to;
    unsigned last; /* field */
};

static void put_field(struct thrift *t, unsigned field, unsigned type) {
    out_char(t->to, (char)((field - t->last) << 4 | type));
    t->last = field;
}

static void put_zigzag(struct output *to, int64_t number) {
    proto_varint(to, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

static void put_int(struct thrift *t, unsigned field, unsigned type, int64_t number) {
    put_field(t, field, type);
    put_zigzag(t->to, number);
}

static void put_string(struct output *to, const char *text) {
    proto_varint(to, strlen(text));
    out_text(to, text);
}

static void put_list(struct output *to, size_t count, unsigned type) {
    if (count < 15) {
        out_char(to, (char)(count << 4 | type));
        return;
    }
    out_char(to, (char)(0xf0 | type));
    proto_varint(to, count);
}

static void put_end(struct output *to) {
    out_char(to, 0);
}

/* --- Opening. */

static void free_all(struct parquet_file *f) {
    for (unsigned i = 0; f->chunks && i < f->nr_columns; i++) {
        out_close(&f->chunks[i].values, NULL);
        out_close(&f->chunks[i].present, NULL);
    }
    mem_free(f->memory, f->chunks, f->chunks ? f->nr_columns : 0, sizeof *f->chunks);
    out_close(&f->groups, NULL);
    out_close(&f->page, NULL);
    out_close(&f->packed, NULL);
    if (f->zstd)
        mem_discharge(f->memory, ZSTD_BYTES);
    ZSTD_freeCCtx(f->zstd);
}

static pfr_status make_parts(struct parquet_file *f, pfr_error *err) {
    f->chunks = mem_alloc(f->memory, f->nr_columns, sizeof *f->chunks);
    for (unsigned i = 0; f->chunks && i < f->nr_columns; i++) {
        out_open_memory(&f->chunks[i].values, f->memory);
        out_open_memory(&f->chunks[i].present, f->memory);
    }
    out_open_memory(&f->groups, f->memory);
    out_open_memory(&f->page, f->memory);
    out_open_memory(&f->packed, f->memory);
    if (f->chunks && mem_charge(f->memory, ZSTD_BYTES)) {
        f->zstd = ZSTD_createCCtx();
        if (!f->zstd)
            mem_discharge(f->memory, ZSTD_BYTES);
    }
    if (f->zstd)
        return PFR_OK;
    return f->memory->failed ? mem_fail(f->memory, err, "parquet")
                             : pfr_fail(err, PFR_ERR_MEMORY, PFR_NO_OFFSET, 0, "parquet", "no memory for zstd");
}

pfr_status parquet_open(struct parquet_file *f, const char *path, const struct parquet_column *columns,
                        struct memory *memory, pfr_error *err) {
    *f = (struct parquet_file){.memory = memory, .columns = columns};
    while (columns[f->nr_columns].name)
        f->nr_columns++;
    PFR_TRY(whole_file_may_be(path, err));
    PFR_TRY(whole_file_open(&f->file, path, memory, &f->out, err));
    const pfr_status st = make_parts(f, err);
    if (st < 0) {
        free_all(f);
        whole_file_close(&f->file, &f->out, false, NULL);
        return st;
    }
    out_text(&f->out, MAGIC);
    return PFR_OK;
}

/* --- Values. */

static struct parquet_chunk *next_chunk(struct parquet_file *f, bool is_present) {
    const unsigned at = f->at++;
    if (f->columns[at].optional)
        out_char(&f->chunks[at].present, is_present);
    return &f->chunks[at];
}

static void put_u64(struct output *to, uint64_t number) {
    uint8_t bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
    out_write(to, bytes, sizeof bytes);
}

static void put_u32(struct output *to, uint32_t number) {
    const uint8_t bytes[4] = {(uint8_t)number, (uint8_t)(number >> 8), (uint8_t)(number >> 16),
                              (uint8_t)(number >> 24)};
    out_write(to, bytes, sizeof bytes);
}

void parquet_number(struct parquet_file *f, uint64_t number) {
    put_u64(&next_chunk(f, true)->values, number < INT64_MAX ? number : INT64_MAX);
}

void parquet_signed(struct parquet_file *f, int64_t number) {
    put_u64(&next_chunk(f, true)->values, (uint64_t)number);
}

void parquet_text(struct parquet_file *f, const void *bytes, size_t length) {
    struct output *to = &next_chunk(f, true)->values;
    const size_t before = to->used;
    put_u32(to, 0);
    out_escaped(to, bytes, length);
    if (to->status < 0)
        return;
    const uint32_t made = (uint32_t)(to->used - before - 4);
    const uint8_t size[4] = {(uint8_t)made, (uint8_t)(made >> 8), (uint8_t)(made >> 16), (uint8_t)(made >> 24)};
    memcpy(to->buffer + before, size, sizeof size);
}

void parquet_null(struct parquet_file *f) {
    next_chunk(f, false);
}

/* --- Row groups. */

/* Definition levels: runs of 8 rows, a bit for each. */
static void put_levels(struct parquet_file *f, const struct output *present) {
    const size_t bytes = (present->used + 7) / 8;
    struct output *to = &f->page;
    put_u32(to, (uint32_t)(proto_length(bytes << 1 | 1) + bytes));
    proto_varint(to, bytes << 1 | 1);
    for (size_t i = 0; i < bytes; i++) {
        unsigned bits = 0;
        for (size_t j = 0; j < 8 && i * 8 + j < present->used; j++)
            bits |= (unsigned)present->buffer[i * 8 + j] << j;
        out_char(to, (char)bits);
    }
}

static pfr_status pack_page(struct parquet_file *f, size_t *length, pfr_error *err) {
    const size_t room = ZSTD_compressBound(f->page.used);
    out_clear(&f->packed);
    while (f->packed.status == PFR_OK && f->packed.capacity < room)
        out_fill(&f->packed, 0, room - f->packed.used);
    if (f->packed.status < 0 || f->page.status < 0)
        return mem_fail(f->memory, err, "parquet");
    *length = ZSTD_compressCCtx(f->zstd, f->packed.buffer, f->packed.capacity, f->page.buffer ? f->page.buffer : "",
                                f->page.used, LEVEL);
    if (ZSTD_isError(*length))
        return pfr_fail(err, PFR_ERR_MEMORY, PFR_NO_OFFSET, 0, "parquet", "zstd: %s", ZSTD_getErrorName(*length));
    return PFR_OK;
}

static void put_page_header(struct parquet_file *f, size_t packed) {
    struct thrift page = {&f->out, 0}, data = {&f->out, 0};
    put_int(&page, 1, T_I32, 0);
    put_int(&page, 2, T_I32, (int64_t)f->page.used);
    put_int(&page, 3, T_I32, (int64_t)packed);
    put_field(&page, 5, T_STRUCT);
    put_int(&data, 1, T_I32, f->waiting);
    put_int(&data, 2, T_I32, PLAIN);
    put_int(&data, 3, T_I32, RLE);
    put_int(&data, 4, T_I32, RLE);
    put_end(&f->out);
    put_end(&f->out);
}

static void put_chunk_facts(struct parquet_file *f, unsigned column, uint64_t begin, uint64_t plain, uint64_t packed) {
    struct thrift chunk = {&f->groups, 0}, facts = {&f->groups, 0};
    put_int(&chunk, 2, T_I64, (int64_t)begin);
    put_field(&chunk, 3, T_STRUCT);
    put_int(&facts, 1, T_I32, f->columns[column].type == PARQUET_TEXT ? TYPE_BYTES : TYPE_INT64);
    put_field(&facts, 2, T_LIST);
    put_list(&f->groups, 2, T_I32);
    put_zigzag(&f->groups, PLAIN);
    put_zigzag(&f->groups, RLE);
    put_field(&facts, 3, T_LIST);
    put_list(&f->groups, 1, T_BINARY);
    put_string(&f->groups, f->columns[column].name);
    put_int(&facts, 4, T_I32, CODEC_ZSTD);
    put_int(&facts, 5, T_I64, f->waiting);
    put_int(&facts, 6, T_I64, (int64_t)plain);
    put_int(&facts, 7, T_I64, (int64_t)packed);
    put_int(&facts, 9, T_I64, (int64_t)begin);
    put_end(&f->groups);
    put_end(&f->groups);
}

static pfr_status write_chunk(struct parquet_file *f, unsigned column, uint64_t *plain, pfr_error *err) {
    struct parquet_chunk *c = &f->chunks[column];
    const uint64_t begin = out_written(&f->out);
    size_t packed = 0;
    out_clear(&f->page);
    if (f->columns[column].optional)
        put_levels(f, &c->present);
    out_write(&f->page, c->values.buffer ? c->values.buffer : "", c->values.used);
    if (c->values.status < 0 || c->present.status < 0)
        return mem_fail(f->memory, err, "parquet");
    PFR_TRY(pack_page(f, &packed, err));
    put_page_header(f, packed);
    const uint64_t head = out_written(&f->out) - begin;
    out_write(&f->out, f->packed.buffer, packed);
    put_chunk_facts(f, column, begin, head + f->page.used, head + packed);
    *plain += head + f->page.used;
    out_clear(&c->values);
    out_clear(&c->present);
    return PFR_OK;
}

static pfr_status write_group(struct parquet_file *f, pfr_error *err) {
    struct thrift group = {&f->groups, 0};
    uint64_t plain = 0;
    if (!f->waiting)
        return PFR_OK;
    put_field(&group, 1, T_LIST);
    put_list(&f->groups, f->nr_columns, T_STRUCT);
    for (unsigned i = 0; i < f->nr_columns; i++)
        PFR_TRY(write_chunk(f, i, &plain, err));
    put_int(&group, 2, T_I64, (int64_t)plain);
    put_int(&group, 3, T_I64, f->waiting);
    put_end(&f->groups);
    f->nr_groups++;
    f->waiting = 0;
    return f->out.status < 0 ? out_flush(&f->out, err) : PFR_OK;
}

pfr_status parquet_end_row(struct parquet_file *f, pfr_error *err) {
    f->at = 0;
    f->rows++;
    return ++f->waiting == GROUP_ROWS ? write_group(f, err) : PFR_OK;
}

/* --- The end. */

static void put_schema(struct parquet_file *f) {
    struct thrift root = {&f->out, 0};
    put_list(&f->out, f->nr_columns + 1u, T_STRUCT);
    put_field(&root, 4, T_BINARY);
    put_string(&f->out, "perfray");
    put_int(&root, 5, T_I32, f->nr_columns);
    put_end(&f->out);
    for (unsigned i = 0; i < f->nr_columns; i++) {
        struct thrift column = {&f->out, 0};
        const bool is_text = f->columns[i].type == PARQUET_TEXT;
        put_int(&column, 1, T_I32, is_text ? TYPE_BYTES : TYPE_INT64);
        put_int(&column, 3, T_I32, f->columns[i].optional);
        put_field(&column, 4, T_BINARY);
        put_string(&f->out, f->columns[i].name);
        if (is_text)
            put_int(&column, 6, T_I32, UTF8);
        put_end(&f->out);
    }
}

static void put_footer(struct parquet_file *f) {
    const uint64_t begin = out_written(&f->out);
    struct thrift file = {&f->out, 0};
    put_int(&file, 1, T_I32, 1);
    put_field(&file, 2, T_LIST);
    put_schema(f);
    put_int(&file, 3, T_I64, (int64_t)f->rows);
    put_field(&file, 4, T_LIST);
    put_list(&f->out, f->nr_groups, T_STRUCT);
    out_write(&f->out, f->groups.buffer ? f->groups.buffer : "", f->groups.used);
    put_field(&file, 6, T_BINARY);
    put_string(&f->out, "perfray");
    put_end(&f->out);
    put_u32(&f->out, (uint32_t)(out_written(&f->out) - begin));
    out_text(&f->out, MAGIC);
}

pfr_status parquet_close(struct parquet_file *f, bool is_whole, pfr_error *err) {
    pfr_status st = is_whole ? write_group(f, err) : PFR_OK;
    if (is_whole && st >= 0 && f->groups.status < 0)
        st = mem_fail(f->memory, err, "parquet");
    if (is_whole && st >= 0)
        put_footer(f);
    free_all(f);
    const pfr_status closed = whole_file_close(&f->file, &f->out, is_whole && st >= 0, st < 0 ? NULL : err);
    return st < 0 ? st : closed;
}
