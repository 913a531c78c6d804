/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PARQUET_PAGES_H
#define PFR_EXPORT_PARQUET_PAGES_H
/*
 * Encodings of Parquet pages (parquet.apache.org/docs/file-format/data-pages/encodings): definition levels; numbers as
 * DELTA_BINARY_PACKED, which takes few bits if numbers change little from row to row; texts as a dictionary with an
 * index for each row.
 */
#include "base/io/output.h"
#include "base/tables/intern.h"

/* Stores for each of `rows` rows whether it has a value; `present` has one byte per row. */
void parquet_put_levels(struct output *to, const uint8_t *present, uint32_t rows);
/* If count is 0, writes nothing. */
void parquet_put_deltas(struct output *to, const uint64_t *numbers, uint32_t count);
/* Writes indexes into a dictionary of `entries` texts. */
void parquet_put_indexes(struct output *to, const uint64_t *indexes, uint32_t count, uint32_t entries);
void parquet_put_texts(struct output *to, const struct intern_table *texts);

#endif
