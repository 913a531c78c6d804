/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_HIT_BUILD_IDS_H
#define PFR_RECORD_HIT_BUILD_IDS_H
/* What other files use of hit_build_ids.c, which says how it works. */
#include "record/rings/recorder_parts.h"

struct finished_file {
    pfr_writer *writer;
    const char *path;
    int fd; /* the writer's own; -1: standard output */
};

struct hit_times {
    uint64_t first, last; /* of samples; 0: none has one */
};

/* The build-ids of a file whose records are all written, read by the writer's own descriptor; rings that fill are
   drained meanwhile where r has a writer and it is not this one. */
pfr_status hits_put(pfr_recorder *r, const struct finished_file *file, struct hit_times *times, pfr_error *err);

#endif
