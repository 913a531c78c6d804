/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_MACHINE_FEATURE_H
#define PFR_RECORD_MACHINE_FEATURE_H
/* What other files use of machine_feature.c, which says how it works. */
#include "record/rings/recorder_parts.h"

/* A feature for the file; its parts */
pfr_status machine_feature(pfr_recorder *r, uint32_t bit, struct output *payload, pfr_error *err);
void feature_u32(struct output *payload, uint32_t value);
void feature_u64(struct output *payload, uint64_t value);
void feature_text(struct output *payload, const char *text);

#endif
