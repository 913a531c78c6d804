/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PAGE_COLUMNS_H
#define PFR_EXPORT_PAGE_COLUMNS_H
/* The numbers of a page as columns, which page_stream.c encodes and web/data.js reads by name. */
#include "export/page/page_stream.h"

struct page_column {
    const char *name;
    uint64_t (*count)(const struct page_data *d);
    uint64_t (*value)(const struct page_data *d, uint64_t i);
};

size_t page_columns_count(void);
const struct page_column *page_column_at(size_t i); /* i < page_columns_count() */

#endif
