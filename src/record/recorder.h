/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_RECORDER_H
#define PFR_RECORD_RECORDER_H
/* What other files use of recorder.c, which says how it works. */
#include "record/rings/recorder_parts.h"

/* The same as pfr_recorder_open on another kernel. */
pfr_recorder *recorder_open_on(const struct kernel *kernel, const pfr_recorder_options *options, pfr_error *err);

#endif
