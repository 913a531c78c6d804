/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_XRAY_NEXT_H
#define PFR_FILE_XRAY_NEXT_H
/* Shared by the readers of all trace formats: records, holes, the end. */
#include "file/xray/xray.h"

pfr_status xray_next(pfr_reader *r, pfr_record *rec, pfr_error *err);

/* Returns the complete record of `length` bytes at r->at: fills *rec, counts it, moves past it. */
void xray_give(pfr_reader *r, pfr_record *rec, uint32_t kind, const uint8_t *bytes, uint64_t length);

/* Reports that the bytes from r->at to `next` are unusable, and continues there. `kind` is a member of r->quality. */
pfr_status xray_hole(pfr_reader *r, uint64_t *kind, uint64_t next, pfr_error *err, const char *where, const char *text,
                     ...) __attribute__((format(printf, 6, 7)));

/* Reports that the input ends at r->at + have, although `missing` more bytes should follow. Ends the trace. */
pfr_status xray_cut(pfr_reader *r, uint64_t have, uint64_t missing, pfr_error *err, const char *text);

/* If the input ends before *next, which a number in the file determined, sets *next to the end of the input. */
pfr_status xray_clip(pfr_reader *r, uint64_t *next, pfr_error *err);

/* Ends the trace: returns PFR_END, but first PFR_HOLE if damage ended a compressed input. */
pfr_status xray_end(pfr_reader *r, pfr_error *err);

#endif
