/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_READS_H
#define PFR_VIEW_SCRIPT_READS_H
/* Interface of script_reads.c; that file describes how it works. */
#include "view/script/script_parts.h"

/* script_has_reads: whether the READ of an event's samples identifies counters, so that each recorded sample represents
 * one sample of each counter. script_reads prints these samples. */
bool script_has_reads(const struct script_event *event);
void script_reads(struct script *s, struct moment *m);

#endif
