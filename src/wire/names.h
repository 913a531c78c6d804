/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_WIRE_NAMES_H
#define PFR_WIRE_NAMES_H
/* The sets of names.def: value or flag to name, and back. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum name_mode { NAMES_VALUES, NAMES_FLAGS, NAMES_PARTS };

struct name {
    uint32_t value; /* or bit number; PARTS: first bit, text is "part:width" */
    const char *text;
};

struct name_set {
    const char *name, *doc;
    enum name_mode mode;
    const struct name *names; /* ends with an entry without text */
};

/* The set of a show_kind, NULL if it is not a set. */
const struct name_set *name_set_of(unsigned show);
/* The text of a value (of a bit, for FLAGS); NULL if it has no text. */
const char *name_of(unsigned show, uint64_t value);
/* The value of a text, ignoring case; false if the set has no such text. */
bool name_value(unsigned show, const char *text, size_t length, uint64_t *value);

/* All bits that a set of FLAGS names. */
uint64_t names_bits(unsigned show);

#endif
