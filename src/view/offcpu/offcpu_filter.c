/* SPDX-License-Identifier: Apache-2.0 */
/* Selects threads and parts of time: see offcpu_parts.h. */
#include "view/offcpu/offcpu_filter.h"

#include "base/text/text.h"

#include <fnmatch.h>

pfr_status offcpu_filter_read(struct offcpu *o, pfr_error *err) {
    const pfr_offcpu_options *options = o->options;
    PFR_TRY(sample_filter_read(&o->filter, o->memory, &(struct sample_lists){.pids = options->pids}, err));
    if (options->min_duration && !parse_duration(options->min_duration, &o->least))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "filter",
                        "--min '%.60s': write a number with ns, us, ms or s", options->min_duration);
    return options->time ? sample_filter_read_time_of(&o->filter, options->time, o->reader, err) : PFR_OK;
}

/* Names in the list are globs, numbers are tids. */
static bool list_names(const char *list, const char *comm, uint32_t tid) {
    char word[64];
    for (const char *at = list; *at;) {
        const size_t length = strcspn(at, ",");
        uint64_t number;
        if (length && length < sizeof word) {
            memcpy(word, at, length);
            word[length] = '\0';
            if (parse_u64(word, &number) ? number == tid : comm && fnmatch(word, comm, 0) == 0)
                return true;
        }
        at += length + (at[length] == ',');
    }
    return false;
}

bool offcpu_wants_thread(const struct offcpu *o, const struct offcpu_thread *t) {
    if (!o->filter.pids.any && !ranges_have(&o->filter.pids, t->pid))
        return false;
    return !o->options->threads || list_names(o->options->threads, t->comm, t->tid);
}

/* If there are several time ranges, only the longest part of an interval that lies in a single range counts. Nothing is
 * lost if no interval spans two ranges. */
bool offcpu_clip(const struct offcpu *o, struct thread_interval *interval) {
    const struct ranges *times = &o->filter.times;
    uint64_t best_from = 0, best_end = 0;
    if (times->any)
        return interval->end - interval->start >= o->least;
    for (size_t i = 0; i < times->count; i++) {
        const uint64_t start = o->filter.start, first = times->at[i].first + start;
        const uint64_t last = times->at[i].last > UINT64_MAX - start ? UINT64_MAX : times->at[i].last + start;
        const uint64_t from = interval->start > first ? interval->start : first;
        const uint64_t end = interval->end < last ? interval->end : last;
        if (end > from && end - from > best_end - best_from) {
            best_from = from;
            best_end = end;
        }
    }
    interval->start = best_from;
    interval->end = best_end;
    return best_end > best_from && best_end - best_from >= o->least;
}
