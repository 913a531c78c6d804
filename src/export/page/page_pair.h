/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PAGE_PAIR_H
#define PFR_EXPORT_PAGE_PAIR_H
/*
 * Combines two models into one, for a page that compares them. Functions are the same if they agree
 * in their name and in the name and kind of their object, so that equal stacks of both models are a
 * single node. Events of the newer model come first, events of the baseline last. Times of the
 * baseline are moved so that both recordings begin together. Only intervals of the newer model are
 * copied.
 */
#include "base/memory/memory.h"

#include <perfray/model.h>

/* The models that are combined. */
enum page_side { PAGE_NEWER, PAGE_BASELINE, PAGE_SIDES };

struct page_pair {
    pfr_model *model; /* NULL: nothing is compared */
    struct memory *memory;
    uint32_t *symbols[PAGE_SIDES]; /* by symbol id of the side's model: id in `model` */
    size_t room[PAGE_SIDES];
};

/* Errors: MEMORY, LIMIT, and errors of reading samples. page_pair_free must be called after every outcome. */
pfr_status page_pair_make(struct page_pair *pair, const pfr_model *newer, const pfr_model *baseline,
                          struct memory *memory, pfr_error *err);
void page_pair_free(struct page_pair *pair);

#endif
