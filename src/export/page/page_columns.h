/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PAGE_COLUMNS_H
#define PFR_EXPORT_PAGE_COLUMNS_H
/*
 * The columns of a page's data, which web/data.js reads: for each a name, the number of its values, and a value.
 */
#include "export/page/page_stream.h"

typedef uint64_t count_fn(const struct page_data *d);
typedef uint64_t value_fn(const struct page_data *d, uint64_t i);

struct page_column {
    const char *name;
    count_fn *count;
    value_fn *value;
};

#define PAGE_COLUMNS_MOST 96u

extern const struct page_column page_columns[];
extern const size_t page_column_count; /* at most PAGE_COLUMNS_MOST */

#endif
