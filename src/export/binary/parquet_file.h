/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PARQUET_FILE_H
#define PFR_EXPORT_PARQUET_FILE_H
/*
 * Writes Parquet files (parquet.apache.org/docs/file-format): flat columns of 64-bit integers and of text, pages
 * compressed with zstd, one row group per 65 536 rows, or fewer if the texts are long. parquet_pages.h describes the
 * encodings. The values of a row are written in the order of the columns:
 *
 *     static const struct parquet_column columns[] = {
 *         {"ts", PARQUET_NUMBER, true}, {"comm", PARQUET_TEXT, false}, {0}};
 *     parquet_open(&file, path, columns, memory, &err);
 *     parquet_number(&file, time);
 *     parquet_text(&file, 1, "main", 4);
 *     parquet_end_row(&file, &err);
 *     parquet_close(&file, is_whole, &err);
 */
#include "base/io/whole_file.h"
#include "base/tables/intern.h"

enum parquet_type { PARQUET_NUMBER, PARQUET_TEXT };

struct parquet_column {
    const char *name; /* NULL: end of the list */
    enum parquet_type type;
    bool optional; /* values can be missing */
};

#define PARQUET_KNOWN 64u

struct parquet_chunk { /* a column of the current row group */
    uint64_t *values;  /* numbers, or indexes of texts; without missing values */
    uint32_t count, values_room;
    uint8_t *present; /* by row: whether it has a value; only for optional columns */
    uint32_t present_room;
    struct intern_table texts;
    struct parquet_known {
        uint32_t key, index; /* key 0: unused */
    } known[PARQUET_KNOWN];  /* cache of texts, by key */
};

struct parquet_file {
    struct whole_file file;
    struct output out;
    struct memory *memory;
    const struct parquet_column *columns;
    unsigned nr_columns;
    struct parquet_chunk *chunks;
    unsigned at;            /* column of the next value */
    uint64_t rows;          /* rows of the whole file so far */
    uint32_t waiting, room; /* rows of the current group; rows that its columns have room for */
    uint64_t text_bytes;    /* bytes of the texts of the current group */
    pfr_status status;      /* < 0: a text could not be stored */
    struct output groups, page, packed, text;
    uint32_t nr_groups;
    void *zstd;
};

/* On errors (status < 0), nothing needs to be closed. */
pfr_status parquet_open(struct parquet_file *file, const char *path, const struct parquet_column *columns,
                        struct memory *memory, pfr_error *err);
static inline void parquet_signed(struct parquet_file *file, int64_t number) {
    struct parquet_chunk *c = &file->chunks[file->at++];
    if (c->present)
        c->present[file->waiting] = 1;
    c->values[c->count++] = (uint64_t)number;
}

/* Larger numbers are stored as 2^63 - 1. */
static inline uint64_t parquet_most(uint64_t number) {
    return number < INT64_MAX ? number : INT64_MAX;
}

static inline void parquet_number(struct parquet_file *file, uint64_t number) {
    parquet_signed(file, (int64_t)parquet_most(number));
}

/* Only for optional columns. */
static inline void parquet_null(struct parquet_file *file) {
    file->chunks[file->at++].present[file->waiting] = 0;
}

/* Stores the escaped text, which is UTF-8. `key` identifies equal texts of a column and makes the lookup fast; 0: no
 * key. */
void parquet_text(struct parquet_file *file, uint32_t key, const void *bytes, size_t length);
pfr_status parquet_end_row(struct parquet_file *file, pfr_error *err);

/* Many rows can be added at once if all columns are numbers and no column is optional. For each column, store 1 to
   parquet_room values at parquet_values; then call parquet_end_rows. */
static inline uint32_t parquet_room(const struct parquet_file *file) {
    return file->room - file->waiting;
}

static inline uint64_t *parquet_values(const struct parquet_file *file, unsigned column) {
    return file->chunks[column].values + file->waiting;
}

pfr_status parquet_end_rows(struct parquet_file *file, uint32_t count, pfr_error *err);

/* Frees everything, even on errors. is_whole false: the file is discarded. */
pfr_status parquet_close(struct parquet_file *file, bool is_whole, pfr_error *err);

#endif
