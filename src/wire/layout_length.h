/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_WIRE_LAYOUT_LENGTH_H
#define PFR_WIRE_LAYOUT_LENGTH_H
/*
 * How long a record must be, said once per context so that it costs a few instructions per record: for layouts where
 * at most one field's length depends on the content, and that one is a counted list of 64-bit numbers (the call chain
 * of a sample), a count of bytes and these (its raw data), or a text that ends the layout.
 *
 *     length = fixed + 8 * (the number at count_at)       counted
 *     length = fixed + (the 32-bit number at count_at)    sized
 *     length = fixed + text, NUL, at most 7 zero bytes    text
 *     length = fixed                                      neither
 */
#include "wire/layout.h"

struct length_rule {
    uint32_t fixed;    /* bytes of the fields whose length is known */
    uint32_t count_at; /* where the count stands in the bytes */
    bool known;        /* false: only reading tells */
    bool counted, sized, text;
};

/* Under this context; presence that depends on room or on members makes the rule unknown. */
struct length_rule layout_length(const struct layout *l, const struct pfr_context *c);

/* Where the 64-bit member at offset `at` of the struct stands in the bytes; false: it is absent under this context, or
   a field of unknown length stands before it. */
bool layout_place(const struct layout *l, const struct pfr_context *c, uint16_t at, uint32_t *place);
bool layout_place_u32(const struct layout *l, const struct pfr_context *c, uint16_t at, uint32_t *place);

/* Whether `bytes` of one instance are as long as the rule says; false also where the rule is unknown. */
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
