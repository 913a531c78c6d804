/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_RECORDER_H
#define PFR_RECORD_RECORDER_H
/* Opens recorders on simulated kernels, for tests. */
#include "record/rings/recorder_parts.h"

/* pfr_recorder_open, on the given kernel. */
pfr_recorder *recorder_open_on(const struct kernel *kernel, const pfr_recorder_options *options, pfr_error *err);

#endif
