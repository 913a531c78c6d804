/* SPDX-License-Identifier: Apache-2.0 */
/* See sample_filter.h. */
#include "query/sample_filter.h"

#include "base/memory/fail.h"
#include "file/read/recording.h"

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

#define KINDS 64u

/* As perf: the first event of each kind speaks for all of that kind. Calls of a trace have cpus. */
static const pfr_event *first_without_cpu(const pfr_reader *reader) {
    uint64_t seen = 0;
    for (uint32_t i = 0; !reader->trace && i < profile_event_count(reader); i++) {
        const pfr_event *event = profile_event(reader, i);
        const uint64_t kind = 1ull << (event->attr.type < KINDS ? event->attr.type : KINDS - 1);
        if (!(seen & kind) && !(event->attr.sample_type & PFR_SAMPLE_CPU))
            return event;
        seen |= kind;
    }
    return NULL;
}

pfr_status samples_check_cpus(const pfr_reader *reader, const char *cpus, pfr_error *err) {
    const pfr_event *event = cpus ? first_without_cpu(reader) : NULL;
    return !event ? PFR_OK
                  : pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "cpu",
                             "samples of %.60s do not say on which cpu they were (record --sample-cpu or -a): "
                             "--cpu would leave out all",
                             event->name);
}

pfr_status samples_choose(struct report_samples *kept, pfr_reader *reader, const char *cpus, const char *time,
                          pfr_error *err) {
    *kept = (struct report_samples){.memory = &reader->memory, .any = cpus || time};
    PFR_TRY(script_ranges_read(kept->memory, &kept->cpus, "cpu", cpus, err));
    PFR_TRY(samples_check_cpus(reader, cpus, err));
    return choose_times(kept, reader, time, err);
}

void samples_free(struct report_samples *kept) {
    struct memory *memory = kept->memory;
    if (!memory)
        return;
    mem_free(memory, kept->cpus.at, kept->cpus.room, sizeof *kept->cpus.at);
    mem_free(memory, kept->times.at, kept->times.room, sizeof *kept->times.at);
}
