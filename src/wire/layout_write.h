/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_WIRE_LAYOUT_WRITE_H
#define PFR_WIRE_LAYOUT_WRITE_H
/*
 * Writes structs as bytes, for any layout, in the byte order and bit order of a context.
 *
 *    uint8_t bytes[256];
 *    struct writing to = writing_into(bytes, sizeof bytes);
 *    status = layout_write(layout_at(L_comm), &context, &comm, &to, &err);        -> to.used bytes
 *
 * Members cannot contradict each other: a count is written as the number of elements counted, a size as the bytes
 * written, a word as its bits. Parts in views are read in the context they carry and written in the target's, so byte
 * order conversion needs no other code. Bytes of unknown layout are copied unchanged.
 *
 * Text up to the end of its layout, and STR32: if `room` is not 0, the text and zeros after it take `room` bytes. If it
 * is 0, the writer chooses the size: text to the end is followed by zeros up to a multiple of 8 of the position, STR32
 * gets a multiple of 64 bytes, and an empty text gets no bytes.
 *
 * Presence that depends on length (ROOM): a view is present if its `at` is not NULL. A number is present if `extent`,
 * or the size that the layout itself carries, leaves room for it. If neither is known, a number is present if it, or a
 * later number, is not 0.
 */
#include "wire/layout.h"

#define EXTENT_UNKNOWN UINT64_MAX

struct writing {
    uint8_t *bytes; /* NULL: count only */
    uint64_t used, capacity;
    uint64_t extent; /* value of `used` where the layout must end; EXTENT_UNKNOWN: see above */
};

static inline struct writing writing_into(void *bytes, uint64_t capacity) {
    return (struct writing){bytes, 0, capacity, EXTENT_UNKNOWN};
}

static inline struct writing writing_nowhere(void) {
    return writing_into(NULL, UINT64_MAX);
}

/* Errors: LIMIT, the bytes exceed the capacity; USAGE, the struct cannot be expressed in this layout and context (a
   count too large for its member, registers outside the mask); DAMAGE, a view does not contain valid parts. */
pfr_status layout_write(const struct layout *l, const struct pfr_context *c, const void *rec, struct writing *to,
                        pfr_error *err);

/* Converts the bytes of one layout from one context to another; bytes after the last field are copied. `offset` is that
   of `bytes` in the input, for errors. */
pfr_status layout_convert(const struct layout *l, const struct pfr_context *from, const void *bytes, uint64_t length,
                          uint64_t offset, const struct pfr_context *c, struct writing *to, pfr_error *err);

#endif
