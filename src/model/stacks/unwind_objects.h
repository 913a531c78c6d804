/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_UNWIND_OBJECTS_H
#define PFR_MODEL_UNWIND_OBJECTS_H
/*
 * The tables by which stacks are unwound, of the objects of a recording: each is opened when its code is met first, and
 * then any thread may use it. An object is looked for as for its names (address_names.h), and must be the recorded
 * build. What one object may take is bounded (unwind_limits.h).
 */
#include "model/names/naming.h"
#include "model/state/state.h"
#include "model/stacks/unwind_limits.h"
#include "symbol/unwind/unwind_table.h"

#include <pthread.h>

struct unwind_options {
    pfr_symbol_options naming; /* no_symbols: no stack is unwound */
    const char *release;       /* of the recorded kernel; NULL: not told */
    const char *arch;          /* of the recorded machine; NULL or "": this one's */
};

/* Does not change once it was found, but for `ended`. */
struct unwind_object {
    struct memory memory;       /* a share, of its table */
    struct unwind_table *table; /* NULL: none */
    enum unwind_limit limit;    /* why it has none, or not all of it */
    uint32_t number;
    bool ended; /* a stack, for that reason: it is among `limits` */
};

struct unwind_objects {
    const struct state *state;
    struct unwind_options options;
    struct memory memory, tables; /* shares */
    pthread_mutex_t lock;
    struct unwind_object **at; /* by number, as in state->objects; NULL: not asked for */
    size_t room;
    struct unwind_limits limits;
    unsigned open_files;
    uint32_t asked; /* objects that were looked at for unwind_objects_any */
    bool any;
};

/* The texts of the options must outlive it. Takes no memory yet. */
void unwind_objects_init(struct unwind_objects *all, const struct state *state, struct memory *memory,
                         const struct unwind_options *options);
void unwind_objects_free(struct unwind_objects *all);

/* An object, whose table is opened when it is asked for first; for any thread. Errors: no memory. */
pfr_status unwind_objects_find(struct unwind_objects *all, uint32_t number, struct unwind_object **object,
                               pfr_error *err);

/* A stack ended in the object, since it met a limit. For any thread. */
void unwind_objects_end(struct unwind_objects *all, struct unwind_object *object);

/* Whether a file of any object can be had: where there is none perf unwinds nothing, and shows nothing of the program's
   part of a chain. For any thread. */
pfr_status unwind_objects_any(struct unwind_objects *all, bool *any, pfr_error *err);

#endif
