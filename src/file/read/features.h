/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_FEATURES_H
#define PFR_FILE_FEATURES_H
/* What other files use of features.c, which says how it works. */
#include "file/read/recording.h"

pfr_status features_open(pfr_reader *r, pfr_error *err);
pfr_status features_add(pfr_reader *r, uint32_t bit, uint64_t offset, const uint8_t *bytes, size_t length,
                        pfr_error *err);

/* What decides the fields of a feature whose payload is there. */
struct pfr_context feature_context(const pfr_reader *r, const pfr_feature *f);

/* Who asks for a feature and goes on without it asks this at the end: < 0 when the feature was there but could not be
   read (memory, input). */
pfr_status features_unread(const pfr_reader *r, pfr_error *err);

/* The bitmap, also as big-endian writers get it wrong. */
void features_bitmap(pfr_reader *r, const uint8_t *bytes);

#endif
