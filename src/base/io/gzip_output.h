/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_GZIP_OUTPUT_H
#define PFR_BASE_GZIP_OUTPUT_H
/*
 * An output whose bytes go into another one as gzip. Equal bytes give equal gzip: no time and no name stands in it.
 * (Another packer, gzip_packer.h, or ISA-L on a cpu of another kind, may choose other gzip for the same bytes.)
 *
 *     struct gzip_output gzip;
 *     gzip_output_open(&gzip, to, memory, &err);
 *     ... out_text(&gzip.out, "...") ...
 *     gzip_output_close(&gzip, &err);
 *
 * A failure of `to` stays with `to`.
 */
#include "base/io/output.h"

struct gzip_output {
    struct output out;
    struct output *to;
    struct gzip_packer *packer;
};

/* < 0: *err; nothing needs to be closed. */
pfr_status gzip_output_open(struct gzip_output *gzip, struct output *to, struct memory *memory, pfr_error *err);

/* Writes the end and frees; `to` stays open. Call it once. */
pfr_status gzip_output_close(struct gzip_output *gzip, pfr_error *err);

#endif
