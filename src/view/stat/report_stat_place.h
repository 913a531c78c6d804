/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_STAT_PLACE_H
#define PFR_VIEW_REPORT_STAT_PLACE_H
/*
 * The places by which counts of `perf stat record` are summed: the CPUs of a core, die, socket or node according to the
 * recorded topology; a CPU; a thread; or everything.
 */
#include <perfray/out.h>
#include <perfray/reader.h>

struct memory;

/* Values as in STAT_CONFIG. */
enum stat_mode { STAT_CPU, STAT_ALL, STAT_SOCKET, STAT_DIE, STAT_CORE, STAT_THREAD, STAT_UNSET, STAT_NODE, STAT_MODES };

struct stat_place {
    int32_t node, socket, die, core, cpu, thread; /* members that the mode uses; others are 0 */
};

struct stat_thread {
    int64_t pid;
    char comm[17];
};

struct stat_places {
    struct memory *memory;
    uint64_t mode;
    struct stat_place *cpus; /* by CPU number */
    struct stat_thread *threads;
    size_t nr_cpus, nr_threads;
};

/* Sets the mode. If the mode needs the topology, reads it from the features, unless it was read before; unknown numbers
   are -1. */
pfr_status stat_places_learn(struct stat_places *places, pfr_reader *reader, uint64_t mode, struct memory *memory,
                             pfr_error *err);
/* Processes a THREAD_MAP record. */
pfr_status stat_places_threads(struct stat_places *places, const pfr_record *rec, struct memory *memory,
                               pfr_error *err);
void stat_places_free(struct stat_places *places);

struct stat_place stat_place_of(const struct stat_places *places, uint32_t cpu, uint32_t thread);
int stat_place_compare(const struct stat_place *a, const struct stat_place *b);
/* Whether lines are grouped by place before event; otherwise by event before place. */
bool stat_mode_groups(uint64_t mode);
/* Writes the start of a line; stat_place_heading is the heading above it if there are intervals. */
void stat_place_write(const struct stat_places *places, const struct stat_place *place, uint32_t cpus, pfr_output *to);
const char *stat_place_heading(uint64_t mode);

#endif
