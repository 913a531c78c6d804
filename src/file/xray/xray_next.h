/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_XRAY_NEXT_H
#define PFR_FILE_XRAY_NEXT_H
/* What other files use of xray_next.c, which says how it works. */
#include "file/xray/xray.h"

pfr_status trace_next(pfr_reader *r, pfr_record *rec, pfr_error *err);

/* The record at r->at, which is there and `length` long: filled, counted, stepped over. */
void trace_give(pfr_reader *r, pfr_record *rec, uint32_t kind, const uint8_t *bytes, uint64_t length);

/* From r->at to `next` nothing can be used; reading goes on there. `kind` is a member of r->quality. */
pfr_status trace_hole(pfr_reader *r, uint64_t *kind, uint64_t next, pfr_error *err, const char *where, const char *text,
                      ...) __attribute__((format(printf, 6, 7)));

/* The input ends at r->at + have, within what it should hold: `missing` bytes are not there. Nothing follows. */
pfr_status trace_cut(pfr_reader *r, uint64_t have, uint64_t missing, pfr_error *err, const char *text);

/* *next, which a file's number made, becomes the end of the input where that comes first. */
pfr_status trace_clip(pfr_reader *r, uint64_t *next, pfr_error *err);

/* The input has nothing more: PFR_END, or once the damage by which a compressed one ended. */
pfr_status trace_end(pfr_reader *r, pfr_error *err);

#endif
