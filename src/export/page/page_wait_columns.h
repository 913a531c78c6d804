/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PAGE_WAIT_COLUMNS_H
#define PFR_EXPORT_PAGE_WAIT_COLUMNS_H
/* A column of the stream of a page, and the columns of thread states. */
#include "export/page/page_stream.h"

typedef uint64_t count_fn(const struct page_data *d);
typedef uint64_t value_fn(const struct page_data *d, uint64_t i);

struct page_column {
    const char *name;
    count_fn *count;
    value_fn *value;
};

#define PAGE_WAIT_COLUMNS 15u
extern const struct page_column page_wait_columns[PAGE_WAIT_COLUMNS];

#endif
