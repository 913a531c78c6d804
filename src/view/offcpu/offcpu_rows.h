/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_OFFCPU_ROWS_H
#define PFR_VIEW_OFFCPU_ROWS_H
/* Interface of offcpu_rows.c; that file describes how it works. */
#include "view/offcpu/offcpu_parts.h"

const char *offcpu_state_name(enum offcpu_state state);
pfr_status offcpu_order(struct offcpu *o, pfr_error *err);
uint64_t offcpu_wall(const struct offcpu_thread *t);

/* Lists the indexes of sums by thread, for each thread the longest sum first: thread t has order[first[t]] to
 * order[first[t + 1] - 1]. The caller releases both arrays with offcpu_waits_drop, also after an error. */
pfr_status offcpu_waits_by_thread(struct offcpu *o, uint32_t **order, uint32_t **first, pfr_error *err);
void offcpu_waits_drop(struct offcpu *o, uint32_t *order, uint32_t *first);

#endif
