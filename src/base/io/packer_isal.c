/* SPDX-License-Identifier: Apache-2.0 */
/* gzip with ISA-L (igzip_lib.h), which allocates nothing: the caller provides its state and tables. */
#include "base/io/gzip_packer.h"

#include <isa-l/igzip_lib.h>

#define LEVEL 2 /* as fast as ISA-L's level 1; output as small as that of zlib's level 1 */

struct gzip_packer {
    struct isal_zstream stream;
    uint8_t tables[ISAL_DEF_LVL2_DEFAULT];
};

struct gzip_packer *gzip_packer_new(struct memory *memory) {
    struct gzip_packer *packer = mem_zeroed(memory, 1, sizeof *packer);
    if (!packer)
        return NULL;
    isal_deflate_init(&packer->stream);
    packer->stream.level = LEVEL;
    packer->stream.level_buf = packer->tables;
    packer->stream.level_buf_size = sizeof packer->tables;
    packer->stream.gzip_flag = IGZIP_GZIP;
    packer->stream.flush = NO_FLUSH;
    return packer;
}

void gzip_packer_free(struct memory *memory, struct gzip_packer *packer) {
    mem_free(memory, packer, 1, sizeof *packer);
}

/* isal_deflate fails only for invalid settings, and the settings here are constant. */
static void pack(struct isal_zstream *z, struct gzip_piece *piece) {
    z->next_in = (uint8_t *)(uintptr_t)piece->from;
    z->avail_in = piece->left;
    z->next_out = piece->to;
    z->avail_out = piece->room;
    isal_deflate(z);
    *piece = (struct gzip_piece){z->next_in, z->next_out, z->avail_in, z->avail_out};
}

void gzip_pack(struct gzip_packer *packer, struct gzip_piece *piece) {
    pack(&packer->stream, piece);
}

bool gzip_pack_end(struct gzip_packer *packer, struct gzip_piece *piece) {
    packer->stream.end_of_stream = 1;
    pack(&packer->stream, piece);
    return packer->stream.internal_state.state == ZSTATE_END;
}
