/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_THREADS_H
#define PFR_MODEL_THREADS_H
/*
 * Threads through time. A tid is used again and again: each FORK of it begins a new generation, which has names and
 * address spaces by key. Built in the order of keys, asked in any order afterwards.
 */
#include "base/tables/hashmap.h"
#include "base/tables/intern.h"
#include "model/state/value_history.h"
#include "model/state/space.h"

#define NO_NAME UINT32_MAX
#define NOBODY ((uint32_t)-1)

struct generation {
    uint32_t tid, pid;    /* the process that it was in when it began; NOBODY: not told */
    uint32_t parent;      /* the generation that forked it; NO_GENERATION: not told */
    uint32_t previous;    /* generation of this tid before, NO_GENERATION */
    uint32_t jump, depth; /* one further back, and how many there are before: see link_back */
    uint32_t name, space; /* from its begin on; NO_NAME: it has none yet */
    struct record_key begin;
    struct record_key met;        /* the first record of state that names it; not before its begin */
    struct changes names, spaces; /* what came later */
};

#define NO_GENERATION UINT32_MAX

#define TIDS_EACH 16u

/* Tids that follow each other are asked for one after the other: what is known of them lies side by side. */
struct tid_row {
    uint32_t newest[TIDS_EACH]; /* its last generation; NO_GENERATION */
};

struct threads {
    struct memory *memory;
    struct spaces *spaces;
    struct generation *at;
    size_t count, room;
    struct u64_map row_of; /* tid / TIDS_EACH -> its place in `rows` */
    struct tid_row *rows;
    size_t nr_rows, rows_room;
    struct arena arena; /* names and spaces of generations */
    uint32_t idle_name; /* what a child of tid 0 is called before tid 0 has a name; NO_NAME: nothing */
};

void threads_init(struct threads *all, struct memory *memory, struct spaces *spaces);
void threads_free(struct threads *all);

/* While building, in the order of keys mostly: what comes late takes its place. A tid that was not seen before begins
 * here, in the process of pid. */
pfr_status threads_fork(struct threads *all, uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid, bool bare,
                        struct record_key key, pfr_error *err);
pfr_status threads_name(struct threads *all, uint32_t pid, uint32_t tid, uint32_t name, bool exec,
                        struct record_key key, pfr_error *err);
/* The space that a map of this thread goes into. */
pfr_status threads_space(struct threads *all, uint32_t pid, uint32_t tid, struct record_key key, uint32_t *space,
                         pfr_error *err);

/* Afterwards: what a sample at `key` sees. */
struct thread_view {
    uint32_t name;  /* the first one holds for what came before it, too, as in a report; NO_NAME: it never had one */
    uint32_t space; /* NO_SPACE: nobody's */
    uint32_t generation;           /* NO_GENERATION: no record of state names it */
    struct record_key from, until; /* the same is seen by all keys behind `from`, up to `until` */
};
void thread_at(const struct threads *all, uint32_t pid, uint32_t tid, struct record_key key, struct thread_view *view);
uint32_t thread_space_at(const struct threads *all, uint32_t pid, uint32_t tid, struct record_key key);
/* NO_NAME: it never had one. `early`: its first name holds for what came before, too, as in a report. */
uint32_t thread_name_at(const struct threads *all, uint32_t tid, struct record_key key, bool early);

#endif
