/* SPDX-License-Identifier: Apache-2.0 */
/* See report_samples.h. */
#include "view/report_samples.h"

#include "base/fail.h"
#include "file/recording.h"

bool samples_keep(const struct report_samples *kept, const struct profile_sample *sample) {
    return script_ranges_have(&kept->cpus, sample->cpu) && script_ranges_have(&kept->times, sample->time - kept->start);
}

/* Times since the first sample: samples come in no order, so that the recording itself must say when it began. */
static pfr_status choose_times(struct report_samples *kept, pfr_reader *reader, const char *time, pfr_error *err) {
    struct times_known known = {0};
    bool since_start = false;
    kept->times.any = !time;
    if (!time)
        return PFR_OK;
    script_times_learn(reader, &known);
    PFR_TRY(script_times_read(kept->memory, time, &known, &kept->times, &since_start, err));
    if (since_start && !known.bounded)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "time",
                        "the recording does not say when its first sample was: name times by the samples' clock");
    kept->start = since_start ? known.first : 0;
    return PFR_OK;
}

pfr_status samples_choose(struct report_samples *kept, pfr_reader *reader, const char *cpus, const char *time,
                          pfr_error *err) {
    *kept = (struct report_samples){.memory = &reader->memory, .any = cpus || time};
    PFR_TRY(script_ranges_read(kept->memory, &kept->cpus, "cpu", cpus, err));
    return choose_times(kept, reader, time, err);
}

void samples_free(struct report_samples *kept) {
    struct memory *memory = kept->memory;
    if (!memory)
        return;
    mem_free(memory, kept->cpus.at, kept->cpus.room, sizeof *kept->cpus.at);
    mem_free(memory, kept->times.at, kept->times.room, sizeof *kept->times.at);
}
