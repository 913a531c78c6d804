/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_ZSTD_OUTPUT_H
#define PFR_BASE_ZSTD_OUTPUT_H
/*
 * An output that compresses its bytes as one zstd frame into another output. Used like gzip_output.h:
 *
 *     struct zstd_output zstd;
 *     zstd_output_open(&zstd, to, memory, &err);
 *     ... out_text(&zstd.out, "...") ...
 *     zstd_output_close(&zstd, &err);
 *
 * A failure of `to` is stored in `to`.
 */
#include "base/io/output.h"

struct zstd_output {
    struct output out;
    struct output *to;
    void *context; /* ZSTD_CCtx */
};

/* If the result is < 0, *err is filled and nothing needs to be closed. */
pfr_status zstd_output_open(struct zstd_output *zstd, struct output *to, struct memory *memory, pfr_error *err);

/* Writes the end of the frame and frees the state; `to` stays open. Call it once. */
pfr_status zstd_output_close(struct zstd_output *zstd, pfr_error *err);

#endif
