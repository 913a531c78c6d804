/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PAGE_ROWS_SORT_H
#define PFR_EXPORT_PAGE_ROWS_SORT_H
/* Sorts the samples of a page in place: samples take most of the memory, so there is no room for a
   copy. */
#include "export/page/page_rows.h"

/* By thread, time, event, stack. */
void page_rows_sort_by_time(struct page_row *rows, size_t count);
/* By thread, event, stack, time. */
void page_rows_sort_by_stack(struct page_row *rows, size_t count);

#endif
