/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_CLICK_REMOVE_H
#define PFR_STORE_CLICK_REMOVE_H
/* Functions that click_remove.c and click_collect.c share. */
#include "store/clickhouse/click_parts.h"

/* Waits until the servers have finished deleting rows. Errors: those of queries; IO after ten minutes. */
pfr_status click_wait_for_mutations(struct store_handle *handle, pfr_error *err);

/* Marks the attempts in table upload for which the condition is true as dropped. */
pfr_status click_hide(struct store_handle *handle, const struct http_table *ids, const char *condition, pfr_error *err);

/* Starts to delete the rows of these attempts on every shard; click_wait_for_mutations waits for the end. */
pfr_status click_delete_rows(struct store_handle *handle, enum store_table_number table,
                             const struct click_attempts *attempts, pfr_error *err);

#endif
