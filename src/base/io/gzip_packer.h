/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_GZIP_PACKER_H
#define PFR_BASE_GZIP_PACKER_H
/*
 * Compresses bytes to gzip (RFC 1952, one member without time and name), a piece at a time. The build uses
 * packer_isal.c, which is four times as fast, if ISA-L is installed, and packer_zlib.c otherwise.
 */
#include "base/memory/memory.h"

struct gzip_packer;

/* Input and output positions; both advance as bytes are consumed and produced. */
struct gzip_piece {
    const uint8_t *from;
    uint8_t *to;
    uint32_t left, room;
};

/* NULL: out of memory. */
struct gzip_packer *gzip_packer_new(struct memory *memory);
void gzip_packer_free(struct memory *memory, struct gzip_packer *packer);

/* Compresses until the input is used up or the output is full; the packer may buffer some bytes. */
void gzip_pack(struct gzip_packer *packer, struct gzip_piece *piece);

/* After the last byte: writes the buffered bytes and the trailer. Returns false if the output is full; call it again
   with more room. */
bool gzip_pack_end(struct gzip_packer *packer, struct gzip_piece *piece);

#endif
