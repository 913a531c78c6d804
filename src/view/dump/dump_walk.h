/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_DUMP_WALK_H
#define PFR_VIEW_DUMP_WALK_H
/* Interface of dump_walk.c; that file describes how it works. */
#include "view/dump/dump_form.h"

pfr_status dump_tables_make(struct dump *d, pfr_error *err);
void dump_tables_free(struct dump *d);

/* Shows the fields of a struct that was read from `at`; returns where they end. */
const uint8_t *dump_fields(struct dump *d, unsigned layout, const struct pfr_context *c, const void *body,
                           const uint8_t *at, const uint8_t *end);

#endif
