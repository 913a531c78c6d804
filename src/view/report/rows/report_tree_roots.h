/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_TREE_ROOTS_H
#define PFR_VIEW_REPORT_TREE_ROOTS_H
/* Interface of report_tree_roots.c; that file describes how it works. */
#include "view/report/fields/report_parts.h"

/* row_has_tree tells whether a row is heavy enough for a tree; walk_list_members lists the nodes of the rows that have
   trees. */
bool row_has_tree(const struct report *r, uint32_t row);
pfr_status walk_list_members(struct report *r, pfr_error *err);
void members_free(struct report *r);

#endif
