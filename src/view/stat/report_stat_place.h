/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_STAT_PLACE_H
#define PFR_VIEW_REPORT_STAT_PLACE_H
/*
 * What counts of `perf stat record` are added up by: the cpus of a core, die, socket or node, as the recording says
 * which are whose; a cpu; a thread; or nothing.
 */
#include <perfray/out.h>
#include <perfray/reader.h>

struct memory;

/* As STAT_CONFIG has them. */
enum stat_mode { STAT_CPU, STAT_ALL, STAT_SOCKET, STAT_DIE, STAT_CORE, STAT_THREAD, STAT_UNSET, STAT_NODE, STAT_MODES };

struct stat_place {
    int32_t node, socket, die, core, cpu, thread; /* those that the mode has; others 0 */
};

struct stat_thread {
    int64_t pid;
    char comm[17];
};

struct stat_places {
    struct memory *memory;
    uint64_t mode;
    struct stat_place *cpus; /* by number */
    struct stat_thread *threads;
    size_t nr_cpus, nr_threads;
};

/* What the reader's features say, once; -1 stands for what they do not. The mode may change. */
pfr_status stat_places_learn(struct stat_places *places, pfr_reader *reader, uint64_t mode, struct memory *memory,
                             pfr_error *err);
/* A THREAD_MAP record. */
pfr_status stat_places_threads(struct stat_places *places, const pfr_record *rec, struct memory *memory,
                               pfr_error *err);
void stat_places_free(struct stat_places *places);

struct stat_place stat_place_of(const struct stat_places *places, uint32_t cpu, uint32_t thread);
int stat_place_compare(const struct stat_place *a, const struct stat_place *b);
/* Groups of cpus stand before events; else each event has its places. */
bool stat_mode_groups(uint64_t mode);
/* What stands at the begin of a line, and above it where there are intervals. */
void stat_place_write(const struct stat_places *places, const struct stat_place *place, uint32_t cpus, pfr_output *to);
const char *stat_place_heading(uint64_t mode);

#endif
