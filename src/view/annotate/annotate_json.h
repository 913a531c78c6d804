/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_ANNOTATE_JSON_H
#define PFR_VIEW_ANNOTATE_JSON_H
/* Prints rows as one JSON document. */
#include "view/annotate/annotate_lines.h"
#include "view/annotate/annotate_rows.h"

void annotate_json_begin(struct annotate *a);
void annotate_json(struct annotate *a, const struct function_rows *rows);
void annotate_json_lines(struct annotate *a, const struct line_rows *lines);
void annotate_json_end(struct annotate *a);

#endif
