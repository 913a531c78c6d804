/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PARQUET_PAGES_H
#define PFR_EXPORT_PARQUET_PAGES_H
/*
 * The contents of Parquet pages (parquet.apache.org/docs/file-format/data-pages/encodings): definition levels, numbers
 * as DELTA_BINARY_PACKED, which takes few bits for numbers that change little from row to row, and texts as a
 * dictionary with the index of each row.
 */
#include "base/io/output.h"
#include "base/tables/intern.h"

/* Whether each of `rows` rows has a value, by a byte each. */
void parquet_put_levels(struct output *to, const uint8_t *present, uint32_t rows);
/* count 0: nothing. */
void parquet_put_deltas(struct output *to, const uint64_t *numbers, uint32_t count);
/* Indexes into a dictionary of `entries` texts. */
void parquet_put_indexes(struct output *to, const uint64_t *indexes, uint32_t count, uint32_t entries);
void parquet_put_texts(struct output *to, const struct intern_table *texts);

#endif
