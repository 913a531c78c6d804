/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SYMBOLS_MEND_H
#define PFR_VIEW_SYMBOLS_MEND_H
/* Interface of symbols_mend.c; that file describes how it works. */
#include "view/symbols/symbols_parts.h"

pfr_status symbols_find_faults(struct symbols *s, const struct symbols_row *row, struct symbols_faults *faults,
                               pfr_error *err);

#endif
