/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_TREE_PRINT_H
#define PFR_VIEW_REPORT_TREE_PRINT_H
/* Interface of report_tree_print.c; that file describes how it works. */
#include "view/report/print/report_print.h"
#include "view/report/fields/report_parts.h"

/* Prints a call tree as the lines below its row. */
/* Stops early after it has written more than `most` bytes. */
pfr_status tree_print(struct report *r, struct report_tree *tree, uint32_t row, uint64_t most, pfr_output *to,
                      pfr_error *err);

/* Writes the name of a frame in the form used in call trees. */
void tree_write_frame(struct report *r, uint32_t frame, size_t before, pfr_output *to);

#endif
