/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_FIELDS_H
#define PFR_VIEW_SCRIPT_FIELDS_H
/* Interface of script_fields.c; that file describes how it works. */
#include "view/script/script_parts.h"

struct script_row {
    const char *name;      /* as accepted by -F */
    uint64_t needs;        /* bits of sample_type; at least one of them must be set */
    const char *attribute; /* perf's name of these bits */
    uint8_t types;         /* kinds of events it is valid for, one bit each */
    bool begins;           /* printed before the event's name, also in lines of records that are not samples */
    script_printer *print; /* NULL: changes how other fields are printed, or (F_UNSEEN) prints nothing */
};

extern const struct script_row script_rows[SCRIPT_FIELDS];

/* Reads options->fields into s->shared->choices. */
pfr_status script_choose(struct script *s, pfr_error *err);
const char *script_type_name(enum script_type type);

#endif
