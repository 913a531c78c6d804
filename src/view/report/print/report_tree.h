/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_TREE_H
#define PFR_VIEW_REPORT_TREE_H
/* Interface of report_tree.c; that file describes how it works. */
#include "view/report/fields/report_parts.h"

/* Makes the call tree of a row, with the subtrees that weigh at least `least`. */
pfr_status tree_make(struct report *r, struct report_tree *tree, uint32_t row, uint64_t least, pfr_error *err);

/* Makes the call tree of all samples of an event, caller first, in r->trees.whole. */
pfr_status tree_make_all(struct report *r, uint32_t event, uint64_t least, pfr_error *err);
void tree_free(const struct report *r, struct report_tree *tree);

#endif
