/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_WIRE_LAYOUT_WRITE_H
#define PFR_WIRE_LAYOUT_WRITE_H
/*
 * Structs to bytes, for any layout, in the byte order and bit order of a context.
 *
 *     uint8_t bytes[256];
 *     struct writing to = writing_into(bytes, sizeof bytes);
 *     status = layout_write(layout_at(L_comm), &context, &comm, &to, &err);      -> to.used bytes
 *
 * No two members can disagree: a member that counts is written as the count of what it counts, a size as the bytes that
 * were written, a word as its bits. Parts in views are read in the context they carry and written in the target's, so
 * that conversion of byte order needs no code of its own. Bytes whose layout is not known are copied as they are.
 *
 * Text: `room` bytes, zeros behind the text. room 0 lets the writer choose: a multiple of 8 of the position for text to
 * the end, a multiple of 64 for STR32; an empty text without room takes no bytes.
 *
 * Presence that the length decides (ROOM): a view is there when its `at` is not NULL; a number when `extent`, or the
 * size that the layout carries itself, leaves room for it, and where neither is known when it or a later one is not 0.
 */
#include "wire/layout.h"

#define EXTENT_UNKNOWN UINT64_MAX

struct writing {
    uint8_t *bytes; /* NULL: count only */
    uint64_t used, capacity;
    uint64_t extent; /* value of `used` at which the layout shall end, EXTENT_UNKNOWN: see above */
};

static inline struct writing writing_into(void *bytes, uint64_t capacity) {
    return (struct writing){bytes, 0, capacity, EXTENT_UNKNOWN};
}

static inline struct writing writing_nowhere(void) {
    return writing_into(NULL, UINT64_MAX);
}

/* Errors: LIMIT, the bytes do not fit the capacity; USAGE, the struct cannot be said in this layout and context (a
   count too large for its member, registers that the mask does not have); DAMAGE, a view does not hold what it says. */
pfr_status layout_write(const struct layout *l, const struct pfr_context *c, const void *rec, struct writing *to,
                        pfr_error *err);

/* Bytes of one layout from one context into another; what follows the last field is copied. `offset`: of `bytes` in
   the input, for errors. */
pfr_status layout_convert(const struct layout *l, const struct pfr_context *from, const void *bytes, uint64_t length,
                          uint64_t offset, const struct pfr_context *c, struct writing *to, pfr_error *err);

#endif
