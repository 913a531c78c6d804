/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_THREADS_H
#define PFR_MODEL_THREADS_H
/* Threads through time. Tids are reused: each FORK of a tid begins a new generation, which has names and address spaces
   by key. Threads are built in key order. They can be queried in any order, at keys up to
   which all changes have been applied. */
#include "base/tables/hashmap.h"
#include "base/tables/intern.h"
#include "model/state/value_history.h"
#include "model/state/space.h"

#define NO_NAME UINT32_MAX
#define NOBODY ((uint32_t)-1)

struct generation {
    uint32_t tid, pid;    /* pid: process of the generation at its begin; NOBODY: unknown */
    uint32_t parent;      /* the generation that forked it; NO_GENERATION: unknown */
    uint32_t previous;    /* previous generation of this tid, or NO_GENERATION */
    uint32_t jump, depth; /* an earlier generation, and the number of all earlier ones of the tid: see link_back */
    uint32_t name, space; /* values at the begin of the generation; NO_NAME: it has no name yet */
    struct record_key begin;
    struct record_key met;        /* key of the first state record that mentions the generation; not before its begin */
    struct changes names, spaces; /* later changes of name and space */
};

#define NO_GENERATION UINT32_MAX

#define TIDS_EACH 16u

/* Consecutive tids are often looked up in sequence, so their entries are adjacent. */
struct tid_row {
    uint32_t newest[TIDS_EACH]; /* last generation of each tid, or NO_GENERATION */
};

struct threads {
    struct memory *memory;
    struct spaces *spaces;
    struct generation *at;
    size_t count, room;
    struct u64_map row_of; /* tid / TIDS_EACH -> index in `rows` */
    struct tid_row *rows;
    size_t nr_rows, rows_room;
    struct arena arena; /* names and spaces of generations */
    uint32_t idle_name; /* name of a child of tid 0 while tid 0 has no name; NO_NAME: no name */
};

void threads_init(struct threads *all, struct memory *memory, struct spaces *spaces);
void threads_free(struct threads *all);

/* These functions build the threads from records, mostly in key order; late records are inserted where they belong. A
   tid that is unknown begins with this record, in process pid. */
pfr_status threads_fork(struct threads *all, uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid, bool bare,
                        struct record_key key, pfr_error *err);
pfr_status threads_name(struct threads *all, uint32_t pid, uint32_t tid, uint32_t name, bool exec,
                        struct record_key key, pfr_error *err);
/* Sets *space to the space to which a map of this thread belongs. */
pfr_status threads_space(struct threads *all, uint32_t pid, uint32_t tid, struct record_key key, uint32_t *space,
                         pfr_error *err);

/* The identity of a thread for a sample at `key`. */
struct thread_view {
    uint32_t name;       /* the first name already applies before it was set, as in a report; NO_NAME: no name */
    uint32_t space;      /* NO_SPACE: unknown process */
    uint32_t generation; /* NO_GENERATION: no state record mentions the thread */
    struct record_key from, until; /* the view is the same for all keys after `from`, up to `until` */
};
void thread_at(const struct threads *all, uint32_t pid, uint32_t tid, struct record_key key, struct thread_view *view);
uint32_t thread_space_at(const struct threads *all, uint32_t pid, uint32_t tid, struct record_key key);
/* The name of a thread; NO_NAME: no name. `early`: before the first name was set, already that name, as in a report. */
uint32_t thread_name_at(const struct threads *all, uint32_t tid, struct record_key key, bool early);

#endif
