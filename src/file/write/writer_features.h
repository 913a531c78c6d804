/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_WRITER_FEATURES_H
#define PFR_FILE_WRITER_FEATURES_H
/* Header features of a recording being written. */
#include "file/write/recording_writer.h"

pfr_status features_stream(pfr_writer *w, pfr_error *err); /* writes all features so far as records */
pfr_status features_last(pfr_writer *w, pfr_error *err);   /* adds the features that are known only at the end */

/*
 * Converts a payload, which begins at `offset` of its file, to the writer's byte order. `from`: the context of the file
 * or record. PFR_ERR_DAMAGE: the feature has no layout, or the payload does not fit it.
 */
pfr_status features_convert(const pfr_writer *w, const struct pfr_context *from, uint32_t bit, pfr_bytes payload,
                            uint64_t offset, struct writing *to, pfr_error *err);

#endif
