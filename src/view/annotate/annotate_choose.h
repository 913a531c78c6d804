/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_ANNOTATE_CHOOSE_H
#define PFR_VIEW_ANNOTATE_CHOOSE_H
/* Chooses the functions to print. */
#include "view/annotate/annotate_parts.h"

/* Errors: END: no requested function has samples; MEMORY, LIMIT. */
pfr_status annotate_choose(struct annotate *a, pfr_error *err);

#endif
