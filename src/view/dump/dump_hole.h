/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_DUMP_HOLE_H
#define PFR_VIEW_DUMP_HOLE_H
/* Interface of dump_hole.c; that file describes how it works. */
#include "view/dump/dump_form.h"

/* dump_hole.c: prints a range that could not be read */
void dump_report_hole(struct dump *d, const pfr_error *hole);

#endif
