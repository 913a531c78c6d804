/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_DUMP_FILTER_H
#define PFR_VIEW_DUMP_FILTER_H
/* Interface of dump_filter.c; that file describes how it works. */
#include "view/dump/dump_form.h"

/* dump_filter.c */
pfr_status dump_filter_make(struct dump_filter *filter, const pfr_dump_options *options, pfr_error *err);
bool dump_wants(const struct dump *d, const pfr_record *rec, unsigned layout);
bool dump_wants_pseudo(const struct dump *d, unsigned layout, uint64_t offset);

#endif
