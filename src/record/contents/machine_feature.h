/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_MACHINE_FEATURE_H
#define PFR_RECORD_MACHINE_FEATURE_H
/* Parts of features: see machine_feature.c. */
#include "record/rings/recorder_parts.h"

/* machine_feature writes a payload as a feature and clears it. The other functions append to a payload. */
pfr_status machine_feature(pfr_recorder *r, uint32_t bit, struct output *payload, pfr_error *err);
void feature_u32(struct output *payload, uint32_t value);
void feature_u64(struct output *payload, uint64_t value);
void feature_text(struct output *payload, const char *text);

#endif
