/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_FDR_RECORDS_H
#define PFR_FILE_FDR_RECORDS_H
/* One record of the flight recorder: length, plausibility, and how it changes the current thread, cpu and time. */
#include "file/xray/xray.h"

void fdr_learn(pfr_reader *r);

/* Offset of a member in its layout; only for layouts whose field sizes depend on the context, not on content. */
uint32_t xray_field_place(const pfr_reader *r, unsigned layout, const char *name);

/* The fault of a record of this kind, judged by its first `have` bytes; NULL: it is plausible. */
const char *fdr_wrong(const pfr_reader *r, uint32_t kind, const uint8_t *bytes, size_t have);

/* Length of the record, including its payload. */
uint64_t fdr_length(const pfr_reader *r, uint32_t kind, const uint8_t *bytes);

/* Applies the record to the current thread, cpu and time. */
void fdr_step(pfr_reader *r, uint32_t kind, const uint8_t *bytes);

/* Starts a buffer at r->at. */
void fdr_begin(pfr_reader *r, uint64_t end);

/* Version 1: keeps the base of the current thread, from which its next buffer continues. */
pfr_status fdr_keep_base(pfr_reader *r, pfr_error *err);

/* Call this if the current buffer has unreadable records: the base for the thread's next buffer is then unknown. */
pfr_status fdr_lose_base(pfr_reader *r, pfr_error *err);

/* Sets *base for a buffer that does not state a base: the one kept for its thread; false: unknown. */
bool fdr_kept_base(const pfr_reader *r, uint64_t *base);

#endif
