/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_CHAINS_H
#define PFR_VIEW_SCRIPT_CHAINS_H
/* Interface of script_chains.c; that file describes how it works. */
#include "view/script/script_parts.h"

/* A chain that is not as it was recorded, in s->sample; how many addresses of it are shown; what
 * another script counted; the end of it. */
void script_make_chain(struct script *s, const struct moment *m);
pfr_status script_add_unwound(struct script *s, const struct script *from, pfr_error *err);
void script_chains_free(struct script *s);

#endif
