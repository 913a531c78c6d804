/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_DUMP_RECORD_H
#define PFR_VIEW_DUMP_RECORD_H
/* Interface of dump_record.c; that file describes how it works. */
#include "view/dump/dump_form.h"

void dump_show(struct dump *d, const struct dump_head *head, const struct dump_shown *shown);
void dump_show_fields(struct dump *d, const struct dump_shown *shown);
void dump_show_record(struct dump *d, const pfr_record *rec, unsigned layout);

#endif
