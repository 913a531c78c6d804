/* SPDX-License-Identifier: Apache-2.0 */
/* Filters of samples: see sample_filter.h. */
#include "query/sample_filter.h"

#include "base/memory/fail.h"
#include "file/read/recording.h"

/* --- Numbers and times. */

pfr_status sample_filter_read(struct sample_filter *f, struct memory *memory, const struct sample_lists *lists,
                              pfr_error *err) {
    *f = (struct sample_filter){.memory = memory, .lists = *lists, .times.any = true};
    f->pids.any = f->tids.any = true; /* set before any failure, because the caller frees the filter in any case */
    PFR_TRY(ranges_read(memory, &f->cpus, "cpu", lists->cpus, err));
    PFR_TRY(ranges_read(memory, &f->pids, "pid", lists->pids, err));
    return ranges_read(memory, &f->tids, "tid", lists->tids, err);
}

pfr_status sample_filter_read_time(struct sample_filter *f, const char *time, const struct times_known *known,
                                   pfr_error *err) {
    f->times.any = !time;
    if (!time)
        return PFR_OK;
    PFR_TRY(times_read(f->memory, time, known, &f->times, &f->waits_for_start, err));
    if (f->waits_for_start && known->bounded) {
        f->start = known->first;
        f->waits_for_start = false;
    }
    return PFR_OK;
}

pfr_status sample_filter_read_time_of(struct sample_filter *f, const char *time, pfr_reader *reader, pfr_error *err) {
    struct times_known known = {0};
    if (time)
        times_learn(reader, &known);
    PFR_TRY(sample_filter_read_time(f, time, &known, err));
    return !f->waits_for_start
               ? PFR_OK
               : pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "time",
                          "the time of the first sample was not recorded: give times of the samples' clock");
}

void sample_filter_free(struct sample_filter *f) {
    struct ranges *const lists[] = {&f->cpus, &f->pids, &f->tids, &f->times};
    for (size_t i = 0; f->memory && i < sizeof lists / sizeof *lists; i++)
        mem_free(f->memory, lists[i]->at, lists[i]->room, sizeof *lists[i]->at);
}

bool sample_filter_has_numbers(const struct sample_filter *f) {
    return !(f->cpus.any && f->pids.any && f->tids.any && f->times.any);
}

/* --- Names. */

bool list_any(const char *list, bool (*is)(const void *context, const char *word, size_t length), const void *context) {
    for (const char *at = list; *at; at += *at == ',') {
        const size_t length = strcspn(at, ",");
        if (is(context, at, length))
            return true;
        at += length;
    }
    return false;
}

bool list_has(const char *list, const char *name, size_t length) {
    for (const char *at = list; *at; at += *at == ',') {
        const size_t own = strcspn(at, ",");
        if (own == length && memcmp(at, name, length) == 0)
            return true;
        at += own;
    }
    return false;
}

bool sample_filter_has_names(const struct sample_filter *f) {
    return f->lists.comms || f->lists.objects || f->lists.symbols;
}

bool sample_filter_wants_comm(const struct sample_filter *f, const char *comm, size_t length) {
    return !f->lists.comms || list_has(f->lists.comms, comm, length);
}

bool sample_filter_wants_symbol(const struct sample_filter *f, const char *symbol, size_t length) {
    return !f->lists.symbols || (symbol && list_has(f->lists.symbols, symbol, length));
}

bool sample_filter_wants_object(const struct sample_filter *f, const struct intern_text *path,
                                const struct intern_text *part) {
    const char *const list = f->lists.objects;
    return !list || list_has(list, (const char *)path->bytes, path->length) ||
           list_has(list, (const char *)part->bytes, part->length);
}

/* --- Requirements of the recording. */

#define KINDS 64u

/* The first event whose samples have no CPU. As in perf, the first event of each kind represents all events of that
   kind. The calls of a trace have CPUs. */
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

pfr_status samples_need_cpu(const pfr_reader *reader, const char *option, pfr_error *err) {
    const pfr_event *event = first_without_cpu(reader);
    return !event ? PFR_OK
                  : pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "cpu",
                             "samples of %.60s have no CPU (record with --sample-cpu or -a), so --%s cannot select any",
                             event->name, option);
}

pfr_status samples_check_cpus(const pfr_reader *reader, const char *cpus, pfr_error *err) {
    return cpus ? samples_need_cpu(reader, "cpu", err) : PFR_OK;
}
