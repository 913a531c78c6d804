/* SPDX-License-Identifier: Apache-2.0 */
/* Expands names.def into tables, and looks names up in them. */
#include "wire/names.h"

#include "wire/layout.h"

#include <strings.h>

#define VALUES NAMES_VALUES
#define FLAGS NAMES_FLAGS
#define PARTS NAMES_PARTS
#define SET(set, mode, doc) static const struct name names_##set[] = {
#define NAME(value, text) {value, text},
#define END_SET                                                                                                        \
    { 0, NULL }                                                                                                        \
    }                                                                                                                  \
    ;
#include "wire/names.def"

static const struct name_set sets[] = {
#define SET(set, mode, doc) {#set, doc, mode, names_##set},
#define NAME(value, text)
#define END_SET
#include "wire/names.def"
};

const struct name_set *name_set_of(unsigned show) {
    return show >= SHOW_SETS && show < SHOW_KINDS ? &sets[show - SHOW_SETS] : NULL;
}

const char *name_of(unsigned show, uint64_t value) {
    const struct name_set *set = name_set_of(show);
    if (!set)
        return NULL;
    for (const struct name *n = set->names; n->text; n++)
        if (n->value == value)
            return n->text;
    return NULL;
}

bool name_value(unsigned show, const char *text, size_t length, uint64_t *value) {
    const struct name_set *set = name_set_of(show);
    if (!set)
        return false;
    for (const struct name *n = set->names; n->text; n++) {
        if (strlen(n->text) == length && strncasecmp(n->text, text, length) == 0) {
            *value = n->value;
            return true;
        }
    }
    return false;
}

uint64_t names_bits(unsigned show) {
    uint64_t bits = 0;
    for (const struct name *n = name_set_of(show)->names; n->text; n++)
        bits |= 1ull << n->value;
    return bits;
}
