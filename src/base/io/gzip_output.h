/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_GZIP_OUTPUT_H
#define PFR_BASE_GZIP_OUTPUT_H
/*
 * An output that compresses its bytes as gzip into another output. The header has no time and no name, so equal input
 * gives equal output. (The compressed bytes may differ between the two packers of gzip_packer.h, and with ISA-L between
 * kinds of CPU.)
 *
 *    struct gzip_output gzip;
 *    gzip_output_open(&gzip, to, memory, &err);
 *    ... out_text(&gzip.out, "...") ...
 *    gzip_output_close(&gzip, &err);
 *
 * A failure of `to` is stored in `to`.
 */
#include "base/io/output.h"

struct gzip_output {
    struct output out;
    struct output *to;
    struct gzip_packer *packer;
};

/* If the result is < 0, *err is filled and nothing needs to be closed. */
pfr_status gzip_output_open(struct gzip_output *gzip, struct output *to, struct memory *memory, pfr_error *err);

/* Writes the end of the stream and frees the state; `to` stays open. Call it once. */
pfr_status gzip_output_close(struct gzip_output *gzip, pfr_error *err);

#endif
