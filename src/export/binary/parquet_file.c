/* SPDX-License-Identifier: Apache-2.0 */
/* Parquet files: see parquet_file.h. Metadata are Thrift structs in the compact protocol: each field begins with a byte
   that holds the distance from the previous field's number and the type of the field; numbers are zig-zag varints, and
   a struct ends with 0. */
#include "export/binary/parquet_file.h"

#include "base/memory/fail.h"
#include "base/text/escape.h"
#include "base/text/proto.h"
#include "export/binary/parquet_pages.h"

#include <zstd.h>

#define GROUP_ROWS 65536u
#define GROUP_TEXT ((uint64_t)64 << 20) /* bytes of texts at which a row group ends */
#define FIRST_ROWS 1024u
#define LEVEL 1
#define MAGIC "PAR1"
#define ZSTD_BYTES ((uint64_t)4 << 20) /* approximate size of a compression context */

enum { T_I32 = 5, T_I64 = 6, T_BINARY = 8, T_LIST = 9, T_STRUCT = 12 };
enum { TYPE_INT64 = 2, TYPE_BYTES = 6, UTF8 = 0, CODEC_ZSTD = 6 };
enum { PLAIN = 0, RLE = 3, DELTA_BINARY_PACKED = 5, RLE_DICTIONARY = 8 }; /* encodings */
enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2, DATA_HEADER = 5, DICTIONARY_HEADER = 7 };

/* --- Thrift. */

struct thrift {
    struct output *to;
    unsigned last; /* number of the last field written */
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

static void free_chunk(struct parquet_file *f, struct parquet_chunk *c) {
    mem_free(f->memory, c->values, c->values_room, sizeof *c->values);
    mem_free(f->memory, c->present, c->present_room, 1);
    intern_free(&c->texts);
}

static void free_all(struct parquet_file *f) {
    for (unsigned i = 0; f->chunks && i < f->nr_columns; i++)
        free_chunk(f, &f->chunks[i]);
    mem_free(f->memory, f->chunks, f->chunks ? f->nr_columns : 0, sizeof *f->chunks);
    out_close(&f->groups, NULL);
    out_close(&f->page, NULL);
    out_close(&f->packed, NULL);
    out_close(&f->text, NULL);
    if (f->zstd)
        mem_discharge(f->memory, ZSTD_BYTES);
    ZSTD_freeCCtx(f->zstd);
}

static bool grow_chunk(struct parquet_file *f, unsigned column, uint32_t room) {
    struct parquet_chunk *c = &f->chunks[column];
    uint64_t *values = mem_resize(f->memory, c->values, c->values_room, room, sizeof *values);
    if (!values)
        return false;
    c->values = values;
    c->values_room = room;
    if (!f->columns[column].optional)
        return true;
    uint8_t *present = mem_resize(f->memory, c->present, c->present_room, room, 1);
    if (!present)
        return false;
    c->present = present;
    c->present_room = room;
    return true;
}

static bool grow_columns(struct parquet_file *f) {
    const uint32_t room = f->room ? f->room * 2 : FIRST_ROWS;
    for (unsigned i = 0; i < f->nr_columns; i++)
        if (!grow_chunk(f, i, room))
            return false;
    f->room = room;
    return true;
}

static pfr_status make_parts(struct parquet_file *f, pfr_error *err) {
    out_open_memory(&f->groups, f->memory);
    out_open_memory(&f->page, f->memory);
    out_open_memory(&f->packed, f->memory);
    out_open_memory(&f->text, f->memory);
    f->chunks = mem_zeroed(f->memory, f->nr_columns, sizeof *f->chunks);
    for (unsigned i = 0; f->chunks && i < f->nr_columns; i++)
        intern_init(&f->chunks[i].texts, f->memory);
    if (!f->chunks || !grow_columns(f))
        return mem_fail(f->memory, err, "parquet");
    if (mem_charge(f->memory, ZSTD_BYTES)) {
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

/* --- Texts. */

static void put_u32(struct output *to, uint32_t number) {
    const uint8_t bytes[4] = {(uint8_t)number, (uint8_t)(number >> 8), (uint8_t)(number >> 16),
                              (uint8_t)(number >> 24)};
    out_write(to, bytes, sizeof bytes);
}

static uint32_t find_text(struct parquet_file *f, struct parquet_chunk *c, const void *bytes, size_t length) {
    const uint32_t before = c->texts.count;
    uint32_t index = 0;
    out_clear(&f->text);
    out_escaped(&f->text, bytes, length);
    pfr_status st = f->text.status;
    if (st >= 0)
        st = intern_put(&c->texts, f->text.used ? f->text.buffer : "", f->text.used, &index, NULL);
    f->status = st < 0 ? st : f->status;
    f->text_bytes += c->texts.count > before ? f->text.used : 0;
    return index;
}

void parquet_text(struct parquet_file *f, uint32_t key, const void *bytes, size_t length) {
    struct parquet_chunk *c = &f->chunks[f->at];
    struct parquet_known *known = &c->known[key % PARQUET_KNOWN];
    const uint32_t index = key && known->key == key ? known->index : find_text(f, c, bytes, length);
    if (key)
        *known = (struct parquet_known){key, index};
    parquet_signed(f, index);
}

/* --- Row groups. */

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

static void put_page_header(struct parquet_file *f, unsigned type, uint32_t values, unsigned encoding, size_t packed) {
    struct thrift page = {&f->out, 0}, own = {&f->out, 0};
    put_int(&page, 1, T_I32, type);
    put_int(&page, 2, T_I32, (int64_t)f->page.used);
    put_int(&page, 3, T_I32, (int64_t)packed);
    put_field(&page, type == DATA_PAGE ? DATA_HEADER : DICTIONARY_HEADER, T_STRUCT);
    put_int(&own, 1, T_I32, values);
    put_int(&own, 2, T_I32, encoding);
    if (type == DATA_PAGE) {
        put_int(&own, 3, T_I32, RLE);
        put_int(&own, 4, T_I32, RLE);
    }
    put_end(&f->out);
    put_end(&f->out);
}

struct chunk_place {
    uint64_t begin, data; /* offsets in the file: data is where the data page begins */
    uint64_t plain;       /* uncompressed bytes, with headers */
};

/* Compresses and writes f->page. */
static pfr_status write_page(struct parquet_file *f, unsigned type, uint32_t values, unsigned encoding,
                             struct chunk_place *place, pfr_error *err) {
    const uint64_t begin = out_written(&f->out);
    size_t packed = 0;
    PFR_TRY(pack_page(f, &packed, err));
    put_page_header(f, type, values, encoding, packed);
    place->plain += out_written(&f->out) - begin + f->page.used;
    out_write(&f->out, f->packed.buffer, packed);
    out_clear(&f->page);
    return PFR_OK;
}

static void put_chunk_facts(struct parquet_file *f, unsigned column, unsigned encoding, const struct chunk_place *at) {
    struct thrift chunk = {&f->groups, 0}, facts = {&f->groups, 0};
    const unsigned encodings[] = {encoding, RLE, PLAIN};
    const bool is_text = f->columns[column].type == PARQUET_TEXT;
    put_int(&chunk, 2, T_I64, (int64_t)at->begin);
    put_field(&chunk, 3, T_STRUCT);
    put_int(&facts, 1, T_I32, is_text ? TYPE_BYTES : TYPE_INT64);
    put_field(&facts, 2, T_LIST);
    put_list(&f->groups, is_text ? 3 : 2, T_I32);
    for (unsigned i = 0; i < (is_text ? 3 : 2); i++)
        put_zigzag(&f->groups, encodings[i]);
    put_field(&facts, 3, T_LIST);
    put_list(&f->groups, 1, T_BINARY);
    put_string(&f->groups, f->columns[column].name);
    put_int(&facts, 4, T_I32, CODEC_ZSTD);
    put_int(&facts, 5, T_I64, f->waiting);
    put_int(&facts, 6, T_I64, (int64_t)at->plain);
    put_int(&facts, 7, T_I64, (int64_t)(out_written(&f->out) - at->begin));
    put_int(&facts, 9, T_I64, (int64_t)at->data);
    if (is_text)
        put_int(&facts, 11, T_I64, (int64_t)at->begin);
    put_end(&f->groups);
    put_end(&f->groups);
}

/* A column without values is PLAIN and empty. */
static unsigned encoding_of(const struct parquet_file *f, unsigned column) {
    if (f->columns[column].type == PARQUET_TEXT)
        return RLE_DICTIONARY;
    return f->chunks[column].count ? DELTA_BINARY_PACKED : PLAIN;
}

static void forget_values(struct parquet_file *f, struct parquet_chunk *c) {
    c->count = 0;
    memset(c->known, 0, sizeof c->known);
    intern_free(&c->texts);
    intern_init(&c->texts, f->memory);
}

static pfr_status write_chunk(struct parquet_file *f, unsigned column, uint64_t *plain, pfr_error *err) {
    struct parquet_chunk *c = &f->chunks[column];
    struct chunk_place place = {.begin = out_written(&f->out)};
    const unsigned encoding = encoding_of(f, column);
    out_clear(&f->page);
    if (encoding == RLE_DICTIONARY) {
        parquet_put_texts(&f->page, &c->texts);
        PFR_TRY(write_page(f, DICTIONARY_PAGE, c->texts.count, PLAIN, &place, err));
    }
    place.data = out_written(&f->out);
    if (f->columns[column].optional)
        parquet_put_levels(&f->page, c->present, f->waiting);
    if (encoding == RLE_DICTIONARY)
        parquet_put_indexes(&f->page, c->values, c->count, c->texts.count);
    else
        parquet_put_deltas(&f->page, c->values, c->count);
    PFR_TRY(write_page(f, DATA_PAGE, f->waiting, encoding, &place, err));
    put_chunk_facts(f, column, encoding, &place);
    *plain += place.plain;
    forget_values(f, c);
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
    f->text_bytes = 0;
    return f->out.status < 0 ? out_flush(&f->out, err) : PFR_OK;
}

static pfr_status add_rows(struct parquet_file *f, uint32_t count, pfr_error *err) {
    f->rows += count;
    f->waiting += count;
    if (f->status < 0)
        return mem_fail(f->memory, err, "parquet");
    if (f->waiting == GROUP_ROWS || f->text_bytes >= GROUP_TEXT)
        return write_group(f, err);
    return f->waiting < f->room || grow_columns(f) ? PFR_OK : mem_fail(f->memory, err, "parquet");
}

pfr_status parquet_end_row(struct parquet_file *f, pfr_error *err) {
    f->at = 0;
    return add_rows(f, 1, err);
}

pfr_status parquet_end_rows(struct parquet_file *f, uint32_t count, pfr_error *err) {
    for (unsigned i = 0; i < f->nr_columns; i++)
        f->chunks[i].count += count;
    return add_rows(f, count, err);
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
