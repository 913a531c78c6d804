/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_DUMP_AUX_H
#define PFR_VIEW_DUMP_AUX_H
/* Interface of dump_aux.c; that file describes how it works. */
#include "view/dump/dump_form.h"

/* dump_aux.c */
pfr_status dump_aux(struct dump *d, pfr_error *err);

#endif
