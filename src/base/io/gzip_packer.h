/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_GZIP_PACKER_H
#define PFR_BASE_GZIP_PACKER_H
/*
 * What turns bytes into gzip (RFC 1952, one member without time and name), a piece at a time. There are two, of which
 * the build takes one: packer_isal.c, which is four times as fast, where that library is, else packer_zlib.c.
 */
#include "base/memory/memory.h"

struct gzip_packer;

/* Where bytes come from and where they go; both move on. */
struct gzip_piece {
    const uint8_t *from;
    uint8_t *to;
    uint32_t left, room;
};

/* NULL: no memory. */
struct gzip_packer *gzip_packer_new(struct memory *memory);
void gzip_packer_free(struct memory *memory, struct gzip_packer *packer);

/* Takes bytes until there are none left or no room; the packer may keep some. */
void gzip_pack(struct gzip_packer *packer, struct gzip_piece *piece);

/* Behind the last byte: writes what was kept and the end. True: that is all; false: there was no room for it. */
bool gzip_pack_end(struct gzip_packer *packer, struct gzip_piece *piece);

#endif
