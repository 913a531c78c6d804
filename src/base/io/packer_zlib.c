/* SPDX-License-Identifier: Apache-2.0 */
/* gzip with zlib. */
#include "base/io/gzip_packer.h"

#include "base/memory/library_memory.h"

#include <zlib.h>

#define LEVEL 1 /* level 2 takes 1.5 times as long and makes the output a tenth smaller */
#define GZIP_WINDOW (15 + 16)
#define MOST_MEMORY 9

struct gzip_packer {
    z_stream stream;
};

static void *take(void *memory, unsigned count, unsigned size) {
    return library_allocate(memory, count, size);
}

static void give_back(void *memory, void *at) {
    library_free(memory, at);
}

struct gzip_packer *gzip_packer_new(struct memory *memory) {
    struct gzip_packer *packer = mem_zeroed(memory, 1, sizeof *packer);
    if (!packer)
        return NULL;
    packer->stream = (z_stream){.zalloc = take, .zfree = give_back, .opaque = memory};
    if (deflateInit2(&packer->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, MOST_MEMORY, Z_DEFAULT_STRATEGY) == Z_OK)
        return packer;
    mem_free(memory, packer, 1, sizeof *packer);
    return NULL;
}

void gzip_packer_free(struct memory *memory, struct gzip_packer *packer) {
    deflateEnd(&packer->stream);
    mem_free(memory, packer, 1, sizeof *packer);
}

static int pack(z_stream *z, struct gzip_piece *piece, int flush) {
    z->next_in = (uint8_t *)(uintptr_t)piece->from;
    z->avail_in = piece->left;
    z->next_out = piece->to;
    z->avail_out = piece->room;
    const int result = deflate(z, flush);
    *piece = (struct gzip_piece){z->next_in, z->next_out, z->avail_in, z->avail_out};
    return result;
}

void gzip_pack(struct gzip_packer *packer, struct gzip_piece *piece) {
    pack(&packer->stream, piece, Z_NO_FLUSH);
}

bool gzip_pack_end(struct gzip_packer *packer, struct gzip_piece *piece) {
    return pack(&packer->stream, piece, Z_FINISH) == Z_STREAM_END;
}
