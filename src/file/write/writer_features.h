/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_WRITER_FEATURES_H
#define PFR_FILE_WRITER_FEATURES_H
/* Header features of a recording being written. */
#include "file/write/recording_writer.h"

pfr_status features_stream(pfr_writer *w, pfr_error *err); /* writes all features so far as records */
pfr_status features_last(pfr_writer *w, pfr_error *err);   /* adds the features that are known only at the end */

#endif
