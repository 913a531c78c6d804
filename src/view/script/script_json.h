/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_JSON_H
#define PFR_VIEW_SCRIPT_JSON_H
/* Interface of script_json.c; that file describes how it works. */
#include "view/script/script_parts.h"

/* Print the first line, a sample, or a record other than a sample. */
void script_json_begin(struct script *s);
void script_json_sample(struct script *s, const struct moment *m);
void script_json_line(struct script *s, const struct moment *m);

#endif
