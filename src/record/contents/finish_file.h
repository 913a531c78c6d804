/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_FINISH_FILE_H
#define PFR_RECORD_FINISH_FILE_H
/* End of an output file: see finish_file.c. */
#include "record/rings/recorder_parts.h"

pfr_status file_finish(pfr_recorder *r, pfr_error *err);
pfr_status file_next(pfr_recorder *r, pfr_error *err);
void parts_forget(pfr_recorder *r);

#endif
