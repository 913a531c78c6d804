/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_FDR_RECORDS_H
#define PFR_FILE_FDR_RECORDS_H
/* What other files use of fdr_records.c, which says how it works. */
#include "file/xray/xray.h"

void fdr_learn(pfr_reader *r);

/* Where a member stands in the bytes of its layout; only layouts whose fields' sizes the context decides have one. */
uint32_t trace_field_place(const pfr_reader *r, unsigned layout, const char *name);

/* What is wrong with the record of this kind by itself, `have` bytes of which are seen; NULL: nothing. */
const char *fdr_wrong(const pfr_reader *r, uint32_t kind, const uint8_t *bytes, size_t have);

/* Its length with its payload. */
uint64_t fdr_length(const pfr_reader *r, uint32_t kind, const uint8_t *bytes);

/* What it says of thread, cpu and time. */
void fdr_step(pfr_reader *r, uint32_t kind, const uint8_t *bytes);

/* A buffer begins at r->at. */
void fdr_begin(pfr_reader *r, uint64_t end);

/* Version 1 goes on from there with the thread's next buffer. */
pfr_status fdr_keep_base(pfr_reader *r, pfr_error *err);

/* The buffer at hand has records that cannot be read: what the thread's next one counts from is not known. */
pfr_status fdr_lose_base(pfr_reader *r, pfr_error *err);

/* What the thread at hand counts from where its buffer does not say; false: not known. */
bool fdr_kept_base(const pfr_reader *r, uint64_t *base);

#endif
