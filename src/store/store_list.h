/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_STORE_LIST_H
#define PFR_STORE_STORE_LIST_H
/* Tables of texts as lines with tabs, CSV, or JSON lines. */
#include "base/text/public_output.h"
#include "store/store_parts.h"

struct store_printer {
    pfr_output *out;
    pfr_store_format format;
    bool named; /* JSON: objects, whose keys are plain words; else arrays, the first of names */
};

/* values[i] NULL: nothing is known there; values NULL: the heading. */
void store_print_row(const struct store_printer *p, uint32_t columns, const struct store_text *const *values,
                     const char *const *names);

#endif
