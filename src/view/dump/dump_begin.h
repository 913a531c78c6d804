/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_DUMP_BEGIN_H
#define PFR_VIEW_DUMP_BEGIN_H
/* Interface of dump_begin.c; that file describes how it works. */
#include "view/dump/dump_form.h"

/* dump_begin.c */
pfr_status dump_begin(struct dump *d, pfr_error *err);

#endif
