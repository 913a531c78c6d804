/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_TREE_PARALLEL_H
#define PFR_VIEW_REPORT_TREE_PARALLEL_H
/* Interface of report_tree_parallel.c; that file describes how it works. */
#include "view/report/print/report_print.h"

/* The call trees of lines, in the order of lines; several threads make them in advance. */
struct trees_ahead;

pfr_status trees_open(struct trees_ahead **trees, struct report *r, const struct lines *lines, const pfr_output *to,
                      pfr_error *err);

/* Prints the tree of a line, if it has one. Must be called once for each line, in display order. */
pfr_status trees_print(struct trees_ahead *trees, uint32_t line, pfr_output *to, pfr_error *err);
void trees_close(struct trees_ahead *trees); /* NULL is fine */

#endif
