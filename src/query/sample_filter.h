/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_QUERY_SAMPLE_FILTER_H
#define PFR_QUERY_SAMPLE_FILTER_H
/*
 * A filter of samples (or calls of a trace), with lists in perf's syntax:
 *
 *     cpus  0,2-3    pids, tids  12,13    comms  sh,make    time  see ranges.h
 *     objects  libc.so.6,/usr/bin/sh    symbols  main,area
 *
 * All lists are parsed once. Then each sample is checked by the facts that the caller knows about it. A list that is
 * NULL accepts all samples.
 *
 *     struct sample_filter filter;
 *     sample_filter_read(&filter, memory, &(struct sample_lists){.cpus = "0-3", .comms = "sh"}, &err);
 *     sample_filter_read_time(&filter, "10%-20%", &known, &err);
 *     sample_filter_passes(&filter, &(struct sample_facts){.cpu = 1, .time = 5, .known = SAMPLE_CPU | SAMPLE_TIME});
 *     sample_filter_free(&filter);
 */
#include "model/profile/result/profile.h"
#include "query/ranges.h"

/* The texts of the options; must outlive the filter. */
struct sample_lists {
    const char *cpus, *pids, *tids, *comms, *objects, *symbols;
};

struct sample_filter {
    struct memory *memory; /* NULL: not parsed yet */
    struct sample_lists lists;
    struct ranges cpus, pids, tids, times;
    uint64_t start;       /* `times` are relative to this time */
    bool waits_for_start; /* the time of the first sample is not known: when the first sample comes, the caller must set
                             `start` to its time */
};

/* Bits of sample_facts.known: the facts that the caller knows about a sample. If the filter has a list for a number,
   and the number is unknown, the sample is rejected. */
enum { SAMPLE_CPU = 1, SAMPLE_PID = 2, SAMPLE_TID = 4, SAMPLE_TIME = 8, SAMPLE_ALL = 15 };
struct sample_facts {
    uint64_t time;
    uint32_t cpu, pid, tid;
    unsigned known;
};

static inline struct sample_facts sample_facts_of(const struct profile_sample *s) {
    return (struct sample_facts){.time = s->time, .cpu = s->cpu, .pid = s->pid, .tid = s->tid, .known = SAMPLE_ALL};
}

/* Parses the lists. All times are accepted until sample_filter_read_time is called. USAGE: syntax error;
   sample_filter_free is required nevertheless. */
pfr_status sample_filter_read(struct sample_filter *filter, struct memory *memory, const struct sample_lists *lists,
                              pfr_error *err);
/* Parses times. `time` NULL: accept all times. Errors as times_read. */
pfr_status sample_filter_read_time(struct sample_filter *filter, const char *time, const struct times_known *known,
                                   pfr_error *err);
/* As sample_filter_read_time, for samples in any order. Also fails with USAGE if the times depend on the first sample
   and its time was not recorded. */
pfr_status sample_filter_read_time_of(struct sample_filter *filter, const char *time, pfr_reader *reader,
                                      pfr_error *err);
void sample_filter_free(struct sample_filter *filter);

/* sample_filter_has_numbers: whether the filter has lists of numbers or times. sample_filter_has_names: whether it has
   lists of names. */
bool sample_filter_has_numbers(const struct sample_filter *filter);
bool sample_filter_has_names(const struct sample_filter *filter);

/* Whether the sample passes the lists of numbers and times. Thread-safe. */
static inline bool sample_filter_passes(const struct sample_filter *f, const struct sample_facts *s) {
    return (f->times.any || (s->known & SAMPLE_TIME && ranges_have(&f->times, s->time - f->start))) &&
           (f->cpus.any || (s->known & SAMPLE_CPU && ranges_have(&f->cpus, s->cpu))) &&
           (f->pids.any || (s->known & SAMPLE_PID && ranges_have(&f->pids, s->pid))) &&
           (f->tids.any || (s->known & SAMPLE_TID && ranges_have(&f->tids, s->tid)));
}

/* Whether a sample passes a list of names; `comm` NULL: the sample has no name. */
bool sample_filter_wants_comm(const struct sample_filter *filter, const char *comm, size_t length);
bool sample_filter_wants_symbol(const struct sample_filter *filter, const char *symbol, size_t length);
/* An object matches by its path or by the last part of its path. */
bool sample_filter_wants_object(const struct sample_filter *filter, const struct intern_text *path,
                                const struct intern_text *part);

/* Whether a word of this comma-separated list equals the name. */
bool list_has(const char *list, const char *name, size_t length);
/* Whether `is` returns true for some word of the list. */
bool list_any(const char *list, bool (*is)(const void *context, const char *word, size_t length), const void *context);

/*
 * USAGE: the filter lists CPUs, but the samples of the recording have no CPU. Events of a stream that are not known yet
 * are not checked.
 */
pfr_status samples_check_cpus(const pfr_reader *reader, const char *cpus, pfr_error *err);
/* As samples_check_cpus, for an option that needs the CPU of each sample. */
pfr_status samples_need_cpu(const pfr_reader *reader, const char *option, pfr_error *err);

#endif
