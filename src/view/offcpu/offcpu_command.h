/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_OFFCPU_COMMAND_H
#define PFR_VIEW_OFFCPU_COMMAND_H
/* Interface of offcpu_command.c; that file describes how it works. */
#include "view/offcpu/offcpu_parts.h"

/* Notes a record; only COMM records matter. */
void offcpu_command_note(struct offcpu *o, const pfr_record *rec);
/* Marks the threads of the recorded command and of its descendants. */
pfr_status offcpu_command_mark(struct offcpu *o, pfr_error *err);

#endif
