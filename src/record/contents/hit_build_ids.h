/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_HIT_BUILD_IDS_H
#define PFR_RECORD_HIT_BUILD_IDS_H
/* Build-ids of hit objects: see hit_build_ids.c. */
#include "record/rings/recorder_parts.h"

struct finished_file {
    pfr_writer *writer;
    const char *path;
    int fd; /* the writer's descriptor; -1: standard output */
};

struct hit_times {
    uint64_t first, last; /* times of the first and last sample; 0: no sample has a time */
};

/* Writes the build-ids of a file that has all its records. If r->writer already writes another file, rings that fill up
 * are drained into that file meanwhile. */
pfr_status hits_put(pfr_recorder *r, const struct finished_file *file, struct hit_times *times, pfr_error *err);

#endif
