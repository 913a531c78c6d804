/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_ANNOTATE_TEXT_H
#define PFR_VIEW_ANNOTATE_TEXT_H
/* Prints rows as text. */
#include "view/annotate/annotate_lines.h"
#include "view/annotate/annotate_rows.h"

pfr_status annotate_text(struct annotate *a, const struct function_rows *rows, pfr_error *err);
void annotate_text_lines(struct annotate *a, const struct line_rows *lines);

#endif
