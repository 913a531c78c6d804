/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_LINES_H
#define PFR_VIEW_SCRIPT_LINES_H
/* Interface of script_lines.c; that file describes how it works. */
#include "view/script/script_parts.h"

bool script_line_wanted(const struct script *s, uint32_t type);
void script_line(struct script *s, const pfr_record *rec, struct record_key key);
pfr_status script_lines_make(struct script *s, pfr_error *err);
void script_lines_free(struct script *s);

#endif
