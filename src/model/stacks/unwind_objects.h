/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_UNWIND_OBJECTS_H
#define PFR_MODEL_UNWIND_OBJECTS_H
/*
 * Unwind tables of the objects of a recording. The table of an object is opened when code of the object is first met;
 * then any thread may use it. An object is looked for at the same places as for names (address_names.h), and must be
 * the recorded build. The memory for one object is bounded (unwind_limits.h).
 */
#include "model/names/naming.h"
#include "model/state/state.h"
#include "model/stacks/unwind_limits.h"
#include "symbol/unwind/unwind_table.h"

#include <pthread.h>

struct unwind_options {
    pfr_symbol_options naming; /* no_symbols: no unwinding */
    const char *release;       /* release of the recorded kernel; NULL: unknown */
    const char *arch;          /* architecture of the recorded machine; NULL or "": this machine's */
};

/* An object. It does not change after it was found, except for `ended`. */
struct unwind_object {
    struct memory memory;       /* share of the memory for the object's table */
    struct unwind_table *table; /* NULL: no table */
    enum unwind_limit limit;    /* why it has no table, or only a part */
    uint32_t number;
    bool ended; /* `limit` has ended a stack, and the object is counted in `limits` */
};

struct unwind_objects {
    const struct state *state;
    struct unwind_options options;
    struct memory memory, tables; /* shares of the memory given to unwind_objects_init */
    pthread_mutex_t lock;
    struct unwind_object **at; /* by number, as in state->objects; NULL: not requested */
    size_t room;
    struct unwind_limits limits;
    unsigned open_files;
    uint32_t asked; /* number of objects examined by unwind_objects_any */
    bool any;
};

/* The texts of the options must outlive `all`. Allocates nothing yet. */
void unwind_objects_init(struct unwind_objects *all, const struct state *state, struct memory *memory,
                         const struct unwind_options *options);
void unwind_objects_free(struct unwind_objects *all);

/* Finds an object. The table is opened on first request. Any thread may call it. Fails only for lack of memory. */
pfr_status unwind_objects_find(struct unwind_objects *all, uint32_t number, struct unwind_object **object,
                               pfr_error *err);

/* Notes that a stack ended in the object because of a limit. Any thread may call it. */
void unwind_objects_end(struct unwind_objects *all, struct unwind_object *object);

/* Sets *any to whether the file of any object is available. If there is none, perf unwinds nothing and shows no user
   part of chains. Any thread may call it. */
pfr_status unwind_objects_any(struct unwind_objects *all, bool *any, pfr_error *err);

#endif
