/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_ANNOTATE_CSV_H
#define PFR_VIEW_ANNOTATE_CSV_H
/* Prints rows as CSV. */
#include "view/annotate/annotate_lines.h"
#include "view/annotate/annotate_rows.h"

void annotate_csv_head(struct annotate *a);
void annotate_csv(struct annotate *a, const struct function_rows *rows);
void annotate_csv_lines(struct annotate *a, const struct line_rows *lines);

#endif
