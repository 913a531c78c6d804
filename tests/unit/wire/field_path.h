/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_FIELD_PATH_H
#define PFR_TESTS_FIELD_PATH_H
/* A field by a path such as "branch.entries[1].cycles", found through the descriptors in a struct of any layout. */
#include "wire/layout.h"

struct found_value {
    enum { FOUND_INTEGER, FOUND_TEXT, FOUND_BYTES } kind;
    uint64_t integer; /* words: as a little-endian writer would have them */
    unsigned width;   /* bytes of the integer */
    const void *at;
    uint64_t length;
};

/* False: there is no such field, or not so many elements. A path that ends at a part means its first field. */
bool find_value(const struct layout *l, const void *rec, const char *path, struct found_value *value);

#endif
