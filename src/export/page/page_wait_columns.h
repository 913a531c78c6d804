/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PAGE_WAIT_COLUMNS_H
#define PFR_EXPORT_PAGE_WAIT_COLUMNS_H
/* The columns of thread states and waits. */
#include "export/page/page_columns.h"

#define PAGE_WAIT_COLUMNS 21u
extern const struct page_column page_wait_columns[PAGE_WAIT_COLUMNS];

#endif
