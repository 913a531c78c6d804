/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_PUT_RECORD_H
#define PFR_RECORD_PUT_RECORD_H
/* Records made by the recorder: see put_record.c. */
#include "record/rings/recorder_parts.h"

pfr_status put_record(pfr_recorder *r, uint32_t type, uint16_t misc, const void *body, size_t size, pfr_error *err);

#endif
