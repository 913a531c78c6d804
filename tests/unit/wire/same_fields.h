/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_SAME_FIELDS_H
#define PFR_TESTS_SAME_FIELDS_H
/*
 * Comparing two structs of one layout field by field through the descriptors, whatever the byte order their views are
 * in. memcmp would trip over padding and over words, whose bits stand differently.
 */
#include "wire/layout.h"

/* NULL: equal; else the name of the first field that differs. */
const char *first_difference(const struct layout *l, const void *a, const void *b);

#endif
