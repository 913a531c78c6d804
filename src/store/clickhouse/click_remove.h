/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_CLICK_REMOVE_H
#define PFR_STORE_CLICK_REMOVE_H
/* What click_remove.c and click_collect.c share. */
#include "store/clickhouse/click_parts.h"

/* Waits until the servers have deleted what they were told to. Errors: those of queries; IO after ten minutes. */
pfr_status click_wait_for_mutations(struct store_handle *handle, pfr_error *err);

/* Marks attempts in table upload as dropped where the condition holds. */
pfr_status click_hide(struct store_handle *handle, const struct http_table *ids, const char *condition, pfr_error *err);

/* Deletes the rows of these attempts on every shard, not at once: see click_wait_for_mutations. */
pfr_status click_delete_rows(struct store_handle *handle, enum store_table_number table,
                             const struct click_attempts *attempts, pfr_error *err);

#endif
