/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums by day and function (table daily), computed from the rows that were sent as samples. A sum represents all slots
 * of its upload on a day, and has the time of one of these slots. So a test on times can be applied to the sum if the
 * test has the same result for all of these slots.
 */
#include "store/store_push.h"

/* Changes rows, which are in time order, to rows by day: the time becomes that of the day's first row, the stack its
   innermost function. */
static void turn_rows(struct push *p) {
    uint64_t time = 0;
    for (size_t i = 0; i < p->nr_rows; i++) {
        struct push_row *const row = &p->rows[i];
        if (row->time && (!time || row->time / DAY_NS != time / DAY_NS))
            time = row->time;
        row->time = row->time ? time : 0;
        row->stack = row->leaf;
    }
}

/* If a sum does not fit into 64 bits, the upload gets no sums at all, and views read its samples. */
pfr_status push_sums(struct push *p, pfr_error *err) {
    struct store_columns *c = &p->columns[STORE_TABLE_daily];
    turn_rows(p);
    p->upload.sums = push_join_rows(p) ? p->nr_rows : 0;
    for (size_t i = 0; i < p->upload.sums; i++) {
        const struct push_row *row = &p->rows[i];
        const uint64_t numbers[] = {
            p->upload.first / DAY_NS, p->upload.id, row->time, row->event, row->comm, row->stack, row->n, row->weight};
        for (uint32_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            store_columns_number(c, k, numbers[k]);
        PFR_TRY(push_next(p, STORE_TABLE_daily, err));
    }
    return PFR_OK;
}
