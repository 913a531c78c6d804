/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zstd_pace.c - compresses a file with plain libzstd: one stream, level 1, reads and writes of 1 MB.
 *
 * usage: zstd_pace INPUT OUTPUT [CHECKSUM]
 *
 * The reference for `convert --compress` (compare_edit.py). CHECKSUM 1: with checksums, as in perfray's frames.
 */
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

enum { PIECE = 1 << 20 };

static int fail(const char *what) {
    fprintf(stderr, "zstd_pace: %s\n", what);
    return 1;
}

static int pack(ZSTD_CCtx *z, FILE *from, FILE *to, char *in, char *out) {
    size_t got, left;
    do {
        got = fread(in, 1, PIECE, from);
        ZSTD_inBuffer input = {in, got, 0};
        do {
            ZSTD_outBuffer output = {out, PIECE, 0};
            left = ZSTD_compressStream2(z, &output, &input, got < PIECE ? ZSTD_e_end : ZSTD_e_continue);
            if (ZSTD_isError(left) || fwrite(out, 1, output.pos, to) != output.pos)
                return fail("cannot compress");
        } while (got < PIECE ? left > 0 : input.pos < input.size);
    } while (got == PIECE);
    return ferror(from) || fclose(to) != 0 ? fail("cannot read or write") : 0;
}

int main(int argc, char **argv) {
    FILE *from = argc > 2 ? fopen(argv[1], "rb") : NULL, *to = argc > 2 ? fopen(argv[2], "wb") : NULL;
    ZSTD_CCtx *z = ZSTD_createCCtx();
    char *room = malloc(2 * PIECE);
    if (!from || !to || !z || !room)
        return fail("usage: zstd_pace INPUT OUTPUT [CHECKSUM]");
    setvbuf(from, NULL, _IONBF, 0);
    setvbuf(to, NULL, _IONBF, 0);
    ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, argc > 3 && argv[3][0] == '1');
    return pack(z, from, to, room, room + PIECE);
}
