/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PROTO_H
#define PFR_EXPORT_PROTO_H
/*
 * Writing protocol buffers (protobuf.dev/programming-guides/encoding), a field at a time. A message inside another is
 * written to memory first, because its length stands before it; so what is held is never more than one such part.
 *
 *     proto_u64(&part, 1, id);
 *     proto_message(out, 4, &part);
 */
#include "base/output.h"

#define PROTO_VARINT_MOST 10
#define PROTO_BYTES 2u /* wire type of what says its length */

/* Bytes of a number; and the number itself at `to`, which has room for them. */
size_t proto_length(uint64_t value);
size_t proto_put(uint8_t *to, uint64_t value);

void proto_varint(struct output *out, uint64_t value);
/* The head of a field of `length` bytes, which are to follow. */
void proto_head(struct output *out, unsigned field, uint64_t length);

/* A number; 0 is left out, as it is what an absent field means. */
void proto_u64(struct output *out, unsigned field, uint64_t value);
/* Text or bytes, also when there are none. */
void proto_bytes(struct output *out, unsigned field, const void *bytes, size_t length);
/* What was written to memory becomes a field; the memory is empty then, and keeps its failure. */
void proto_message(struct output *out, unsigned field, struct output *part);

#endif
