/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_PUBLIC_OUTPUT_H
#define PFR_BASE_PUBLIC_OUTPUT_H
/*
 * The implementation of pfr_output: an output of this folder, its memory, and how names from files are shown. Printers
 * of the library write to `out` directly and show names with print_name.
 */
#include <perfray/out.h>
#include "base/io/output.h"

struct pfr_output {
    struct output out;
    struct memory memory;
    bool raw_names;
    unsigned columns; /* width of the terminal; 0: no limit */
};

/* A name from a file: escaped (escape.h), or unchanged if raw names were requested. */
void print_name(pfr_output *to, const void *bytes, size_t length);

/* As print_name, after `before` columns of a line: a name that does not fit into to->columns is cut in the middle, but
   never to fewer than 16 characters. */
void print_name_within(pfr_output *to, const void *bytes, size_t length, size_t before);

/* Like print_name, but cuts a name of more than `width` characters in the middle. */
void print_name_in(pfr_output *to, const void *bytes, size_t length, size_t width);

/* Text, not escaped, in at most `width` columns (one per character): longer text is cut in the middle. */
void out_text_within(struct output *to, const char *bytes, size_t length, size_t width);
/* The number of UTF-8 characters: about the number of columns. */
size_t text_width(const char *bytes, size_t length);

#endif
