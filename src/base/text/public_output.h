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
    unsigned columns; /* of a terminal; 0: no limit */
};

/* A name from a file: escaped (escape.h), or as it is where raw names are wanted. */
void print_name(pfr_output *to, const void *bytes, size_t length);

/* The same where a line already has `before` columns: a name that does not fit into to->columns is cut in its middle,
   but never to fewer than 16 characters. */
void print_name_within(pfr_output *to, const void *bytes, size_t length, size_t before);

/* Text as it is, in at most `width` columns (one for each character): longer text is cut in its middle. */
void out_text_within(struct output *to, const char *bytes, size_t length, size_t width);
/* Characters of UTF-8: about the columns that they take. */
size_t text_width(const char *bytes, size_t length);

#endif
