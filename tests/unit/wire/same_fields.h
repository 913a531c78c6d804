/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_SAME_FIELDS_H
#define PFR_TESTS_SAME_FIELDS_H
/*
 * Compares two structs of one layout field by field through the descriptors, whatever the byte order of their views.
 * memcmp would also compare padding, and words whose bit fields are in different places.
 */
#include "wire/layout.h"

/* NULL if equal; otherwise the name of the first field that differs. */
const char *first_difference(const struct layout *l, const void *a, const void *b);

#endif
