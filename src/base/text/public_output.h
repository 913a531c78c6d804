/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_PUBLIC_OUTPUT_H
#define PFR_BASE_PUBLIC_OUTPUT_H
/*
 * What lies behind a pfr_output: an output of this folder, its memory, and how names from files are shown on it.
 * Printers of the library write to `out` directly and show names with print_name.
 */
#include <perfray/out.h>
#include "base/io/output.h"

struct pfr_output {
    struct output out;
    struct memory memory;
    bool raw_names;
};

/* A name from a file: escaped (escape.h), or as it is where raw names are wanted. */
void print_name(pfr_output *to, const void *bytes, size_t length);

#endif
