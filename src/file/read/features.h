/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_FEATURES_H
#define PFR_FILE_FEATURES_H
/* Header features: the table of a file, the records of a stream, their payloads. */
#include "file/read/recording.h"

pfr_status features_open(pfr_reader *r, pfr_error *err);
pfr_status features_add(pfr_reader *r, uint32_t bit, uint64_t offset, const uint8_t *bytes, size_t length,
                        pfr_error *err);

/* The context that decides which fields a feature has; its payload must be loaded. */
struct pfr_context feature_context(const pfr_reader *r, const pfr_feature *f);

/* Sets *c as feature_context does, for a payload that need not be in the list of a reader. Views point to *c. `file`:
   the context of the file or record. */
void feature_payload_context(struct pfr_context *c, const struct pfr_context *file, unsigned layout, pfr_bytes payload);

/* Returns < 0 if an earlier request for a feature failed although the file has the feature (out of memory, read error).
   A caller that treats NULL as "no such feature" must call this at the end. */
pfr_status features_unread(const pfr_reader *r, pfr_error *err);

/* Loads the bitmap, also from big-endian writers with a 32-bit unsigned long. */
void features_bitmap(pfr_reader *r, const uint8_t *bytes);

#endif
