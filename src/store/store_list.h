/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_STORE_LIST_H
#define PFR_STORE_STORE_LIST_H
/* Prints tables of texts as tab-separated lines, CSV or JSON lines. */
#include "base/text/public_output.h"
#include "store/store_parts.h"

struct store_printer {
    pfr_output *out;
    pfr_store_format format;
    bool named; /* JSON: true: rows are objects, whose keys are plain words; false: rows are arrays, and the first array
                   has the names */
};

/* If values[i] is NULL, the value is not known; if `values` is NULL, prints the heading. */
void store_print_row(const struct store_printer *p, uint32_t columns, const struct store_text *const *values,
                     const char *const *names);

#endif
