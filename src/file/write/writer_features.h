/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_WRITER_FEATURES_H
#define PFR_FILE_WRITER_FEATURES_H
/* What other files use of writer_features.c, which says how it works. */
#include "file/write/recording_writer.h"

pfr_status features_stream(pfr_writer *w, pfr_error *err); /* all so far, as records */
pfr_status features_last(pfr_writer *w, pfr_error *err);   /* those that only the end knows */

#endif
