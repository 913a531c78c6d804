/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_STAT_H
#define PFR_VIEW_REPORT_STAT_H
/* Prints recordings that contain counts instead of samples. */
#include <perfray/out.h>
#include <perfray/reader.h>

bool report_is_stat(const pfr_reader *reader);

/* Reads to the end of the recording and prints the counts. PFR_HOLE: parts of the recording could not be used; other
 * results are those of pfr_next. */
pfr_status report_stat_print(pfr_reader *reader, pfr_output *out, pfr_error *err);

#endif
