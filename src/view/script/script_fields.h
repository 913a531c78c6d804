/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_FIELDS_H
#define PFR_VIEW_SCRIPT_FIELDS_H
/* Interface of script_fields.c; that file describes how it works. */
#include "view/script/script_parts.h"

struct script_row {
    const char *name;      /* as -F takes it */
    uint64_t needs;        /* bits of sample_type, one of which must be there */
    const char *attribute; /* what perf calls them */
    uint8_t types;         /* kinds of events it is valid for, a bit each */
    bool begins;           /* stands before the name of the event, and in lines of other records too */
    script_printer *print; /* NULL: says how others are printed */
};

extern const struct script_row script_rows[SCRIPT_FIELDS];

/* Reads options->fields into s->shared->choices. */
pfr_status script_choose(struct script *s, pfr_error *err);
const char *script_type_name(enum script_type type);

#endif
