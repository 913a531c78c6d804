/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_QUERY_SAMPLE_FILTER_H
#define PFR_QUERY_SAMPLE_FILTER_H
/* Samples that count at all: -C and --time. The others are in no total. */
#include "model/profile/profile.h"
#include "query/ranges.h"

struct report_samples {
    struct memory *memory;
    struct script_ranges cpus, times;
    uint64_t start; /* what times count from */
    bool any;       /* something was asked for */
};

/* cpus and time NULL: all. USAGE: no such form, or the recording does not hold what it needs. */
pfr_status samples_choose(struct report_samples *kept, pfr_reader *reader, const char *cpus, const char *time,
                          pfr_error *err);
/* USAGE: cpus are asked for, and the recording does not say where its samples were. An event of a stream that is not
   known yet passes. */
pfr_status samples_check_cpus(const pfr_reader *reader, const char *cpus, pfr_error *err);
void samples_free(struct report_samples *kept);

/* Any thread may ask. */
bool samples_keep(const struct report_samples *kept, const struct profile_sample *sample);

#endif
