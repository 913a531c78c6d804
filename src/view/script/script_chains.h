/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_CHAINS_H
#define PFR_VIEW_SCRIPT_CHAINS_H
/* Interface of script_chains.c; that file describes how it works. */
#include "view/script/script_parts.h"

/* script_make_chain builds the callchain of a sample that was recorded without a callchain, and stores it in s->sample.
 * script_add_unwound adds another script's counts of unwound samples to those of s. script_chains_free frees what both
 * allocated. */
void script_make_chain(struct script *s, const struct moment *m);
pfr_status script_add_unwound(struct script *s, const struct script *from, pfr_error *err);
void script_chains_free(struct script *s);

#endif
