/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_DUMP_H
#define PFR_VIEW_SCRIPT_DUMP_H
/* Interface of script_dump.c; that file describes how it works. */
#include "view/script/script_parts.h"

/* These functions print a record with its bytes, like perf's dump, and the thread and object of a sample. */
void script_dump_begin(struct script *s);
void script_dump_record(struct script *s, const pfr_record *rec);
void script_dump_sample(struct script *s, const struct moment *m);
void script_dump_left_out(struct script *s, const struct moment *m);

#endif
