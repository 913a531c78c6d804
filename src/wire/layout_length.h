/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_WIRE_LAYOUT_LENGTH_H
#define PFR_WIRE_LAYOUT_LENGTH_H
/*
 * The required length of a record, as a rule computed once per context, so that the check costs a few instructions per
 * record. It covers layouts in which the content decides the length of at most one field, and that field is a counted
 * list of 64-bit numbers (the call chain of a sample), a byte count with its bytes (raw data), or a text that ends the
 * layout.
 *
 *    length = fixed + 8 * (the number at count_at)         counted
 *    length = fixed + (the 32-bit number at count_at)      sized
 *    length = fixed + text, NUL, at most 7 zero bytes      text
 *    length = fixed                                        otherwise
 */
#include "wire/layout.h"

struct length_rule {
    uint32_t fixed;    /* bytes of the fields whose length is known */
    uint32_t count_at; /* offset of the count in the bytes */
    bool known;        /* false: the length is known only after reading */
    bool counted, sized, text;
};

/* The rule under this context; unknown if presence depends on room or on members. */
struct length_rule layout_length(const struct layout *l, const struct pfr_context *c);

/* Finds the offset in the bytes of the 64-bit member at offset `at` of the struct; false: it is absent under this
   context, or follows a field of unknown length. */
bool layout_place(const struct layout *l, const struct pfr_context *c, uint16_t at, uint32_t *place);
bool layout_place_u32(const struct layout *l, const struct pfr_context *c, uint16_t at, uint32_t *place);

/* Whether `bytes` have the length that the rule requires; false also if the rule is unknown. */
static inline bool length_holds(const struct length_rule *rule, const uint8_t *bytes, uint64_t length, bool swap) {
    if (!rule->known || length < rule->fixed)
        return false;
    const uint64_t more = length - rule->fixed;
    if (rule->counted)
        return more % 8 == 0 && load_u64(bytes + rule->count_at, swap) == more / 8;
    if (rule->sized)
        return load_u32(bytes + rule->count_at, swap) == more;
    if (rule->text) {
        const uint64_t text = strnlen((const char *)bytes + rule->fixed, more);
        return text < more && more - text <= 8;
    }
    return more == 0;
}

#endif
