/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_DUMP_AUX_H
#define PFR_VIEW_DUMP_AUX_H
/* What other files use of dump_aux.c, which says how it works. */
#include "view/dump/dump_form.h"

/* dump_aux.c */
pfr_status dump_aux(struct dump *d, pfr_error *err);

#endif
