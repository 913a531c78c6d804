/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_FIELD_PATH_H
#define PFR_TESTS_FIELD_PATH_H
/* Finds a field by a path such as "branch.entries[1].cycles" in a struct of any layout, with the layout's
   descriptors. */
#include "wire/layout.h"

struct found_value {
    enum { FOUND_INTEGER, FOUND_TEXT, FOUND_BYTES } kind;
    uint64_t integer; /* a word of bit fields has the bit order of a little-endian writer */
    unsigned width;   /* size of the integer */
    const void *at;
    uint64_t length;
};

/* Returns false if there is no such field or element. A path that ends at a nested layout means its first field. */
bool find_value(const struct layout *l, const void *rec, const char *path, struct found_value *value);

#endif
