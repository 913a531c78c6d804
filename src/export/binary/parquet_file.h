/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PARQUET_FILE_H
#define PFR_EXPORT_PARQUET_FILE_H
/*
 * A writer of Parquet files (parquet.apache.org/docs/file-format): flat columns of 64-bit integers and of text,
 * encoding PLAIN, pages packed by zstd, a row group for each 65 536 rows.
 *
 *     static const struct parquet_column columns[] = {{"ts", PARQUET_NUMBER, true}, {"comm", PARQUET_TEXT, false},
 * {0}}; parquet_open(&file, path, columns, memory, &err); parquet_number(&file, time);              the values of a
 * row, in the order of the columns parquet_text(&file, "main", 4); parquet_end_row(&file, &err); parquet_close(&file,
 * is_whole, &err);
 */
#include "base/io/whole_file.h"

enum parquet_type { PARQUET_NUMBER, PARQUET_TEXT };

struct parquet_column {
    const char *name; /* NULL: end of the list */
    enum parquet_type type;
    bool optional; /* has values that are not there */
};

struct parquet_chunk { /* of the row group at hand, by column */
    struct output values;
    struct output present; /* a byte for each row */
};

struct parquet_file {
    struct whole_file file;
    struct output out;
    struct memory *memory;
    const struct parquet_column *columns;
    unsigned nr_columns;
    struct parquet_chunk *chunks;
    unsigned at;      /* column of the next value */
    uint64_t rows;    /* all */
    uint32_t waiting; /* rows of the group at hand */
    struct output groups, page, packed;
    uint32_t nr_groups;
    void *zstd;
};

/* < 0: *err; nothing needs to be closed. */
pfr_status parquet_open(struct parquet_file *file, const char *path, const struct parquet_column *columns,
                        struct memory *memory, pfr_error *err);
/* Numbers above 2^63 - 1 become that. */
void parquet_number(struct parquet_file *file, uint64_t number);
void parquet_signed(struct parquet_file *file, int64_t number);
/* Writes the escaped form, which is UTF-8. */
void parquet_text(struct parquet_file *file, const void *bytes, size_t length);
/* An optional column only. */
void parquet_null(struct parquet_file *file);
pfr_status parquet_end_row(struct parquet_file *file, pfr_error *err);
/* Frees in any case. is_whole false: there is no file. */
pfr_status parquet_close(struct parquet_file *file, bool is_whole, pfr_error *err);

#endif
