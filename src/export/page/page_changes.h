/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PAGE_CHANGES_H
#define PFR_EXPORT_PAGE_CHANGES_H
/*
 * The results of perfray diff for each function of a page that compares two recordings: change,
 * 95 % interval and verdict, for every event that all recordings of both sides have. The page shows
 * these results and has no statistics of its own. Values are percentages of each side's total,
 * stored in millionths of one percent.
 */
#include <perfray/diff.h>

#include "export/page/page_tables.h"

#define PAGE_CHANGE_PARTS 2u /* self, total */

struct page_change_value {
    int64_t delta, low, high;
    uint8_t verdict; /* pfr_diff_verdict */
    bool has_interval;
};

struct page_change {
    uint32_t event; /* index of the new recording's event, from 0 */
    uint32_t func;  /* tables.nr_funcs: this is the row [total] */
    struct page_change_value part[PAGE_CHANGE_PARTS];
};

struct page_changes {
    struct memory *memory;
    struct page_change *at;
    size_t count, room;
};

struct page_sides {
    const pfr_diff_run *base, *changed;
    uint32_t base_count, changed_count; /* at least 1 */
};

/* Compares the events of `newer`, a recording of the new side. `tables` are those of the combined
   model of page_pair_make. Errors are those of pfr_diff_open. page_changes_free must always be
   called afterwards. */
pfr_status page_changes_read(struct page_changes *changes, const struct page_tables *tables, const pfr_model *newer,
                             const struct page_sides *sides, struct memory *memory, pfr_error *err);
void page_changes_free(struct page_changes *changes);

#endif
