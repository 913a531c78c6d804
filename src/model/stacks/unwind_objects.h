/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_UNWIND_OBJECTS_H
#define PFR_MODEL_UNWIND_OBJECTS_H
/*
 * The tables by which stacks are unwound, of the objects of a recording: each is opened when its code is met first, and
 * then any thread may use it. An object is looked for as for its names (address_names.h), and must be the recorded
 * build.
 */
#include "model/state/state.h"
#include "symbol/unwind/unwind_table.h"

#include <pthread.h>

struct unwind_options {
    const char *symfs;                  /* objects are looked for under this folder; NULL: / */
    const char *debug_folder, *fetched; /* as names have them (address_names.h) */
    const char *release;                /* of the recorded kernel; NULL: not told */
    const char *arch;                   /* of the recorded machine; NULL or "": this one's */
    bool none;                          /* open nothing: no stack is unwound */
};

struct unwind_object {
    struct unwind_table *table; /* NULL: none */
    bool asked;
};

struct unwind_objects {
    const struct state *state;
    struct unwind_options options;
    struct memory memory; /* a share */
    pthread_mutex_t lock;
    struct unwind_object *at; /* by number, as in state->objects */
    size_t room;
    unsigned open_files;
    uint32_t asked; /* objects that were looked at for unwind_objects_any */
    bool any;
};

/* The texts of the options must outlive it. Takes no memory yet. */
void unwind_objects_init(struct unwind_objects *all, const struct state *state, struct memory *memory,
                         const struct unwind_options *options);
void unwind_objects_free(struct unwind_objects *all);

/* The table of an object, for any thread. *table NULL: it has none, or cannot be had. Errors: no memory. */
pfr_status unwind_objects_find(struct unwind_objects *all, uint32_t object, const struct unwind_table **table,
                               pfr_error *err);

/* Whether a file of any object can be had: where there is none perf unwinds nothing, and shows nothing of the program's
   part of a chain. For any thread. */
pfr_status unwind_objects_any(struct unwind_objects *all, bool *any, pfr_error *err);

#endif
