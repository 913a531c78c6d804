/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_STATE_H
#define PFR_MODEL_STATE_H
/*
 * Threads, their address spaces and names at every time of a recording. Built in one pass over the records of state;
 * then queried for samples in any order.
 *
 *    state_build(&state, reader, &memory, &err);      reads the recording once, to its end
 *    pfr_rewind(reader, &err);
 *    ... for each sample:
 *    key = state_key(&state, &rec, sample.time);
 *    state_place(&state, &rec, &sample, key, &place);
 */
#include "model/state/deferred.h"
#include "model/state/guests.h"
#include "model/state/jit.h"
#include "model/state/objects.h"
#include "model/state/threads.h"

struct state {
    struct memory *memory;
    const pfr_reader *reader;
    struct intern_table names; /* comms, paths, short names */
    struct objects objects;
    struct spaces spaces;
    struct threads threads;
    uint32_t kernel, modules; /* spaces shared by all processes; a module takes precedence */
    uint32_t ksymbols;        /* space made from the KSYMBOL records; a map with NO_OBJECT: the symbol was removed */
    struct guests guests;
    struct jit jit; /* code that programs generated and described in jitdumps */
    struct deferred_chains deferred;
    struct u64_map cgroup_of; /* id -> index in `cgroups` */
    struct changes *cgroups;  /* paths of a cgroup over time, as ids in `names` */
    size_t nr_cgroups, cgroups_room;
    struct arena cgroup_paths;     /* memory of the lists in `cgroups` */
    bool timed;                    /* keys have times */
    uint32_t events_seen;          /* number of events that state_has_times has examined */
    bool is_recorded, has_untimed; /* whether any event has records of state, and whether any such event has no times */
    uint64_t late;    /* records older than others already sorted; known when the whole recording was read */
    bool as_recorded; /* times are ignored: only the order of the file counts */
    bool learns;      /* incremental form: records are noted one by one, in order */
};

/* Reads the recording to PFR_END, and no other file. Holes are counted by the reader and do not stop it. < 0: *err;
   call state_free in this case, too. */
pfr_status state_build(struct state *state, pfr_reader *reader, struct memory *memory, pfr_error *err);
/* As state_build, with callbacks for holes and for the first sample of each run of samples; each may be NULL. `jit` has
   the options for generated code. */
struct state_watch {
    void (*hole)(void *context, const pfr_error *hole);
    void (*sample)(void *context, const pfr_record *rec);
    void *context;
    uint32_t readers; /* maximum threads that read the file in parallel; the records are handled one after the other */
    struct jit_request jit;
};
pfr_status state_build_watched(struct state *state, pfr_reader *reader, struct memory *memory,
                               const struct state_watch *watch, pfr_error *err);
/* As state_build, but the order in the file counts as the order of time. */
pfr_status state_build_as_recorded(struct state *state, pfr_reader *reader, struct memory *memory,
                                   const struct jit_request *jit, pfr_error *err);
void state_free(struct state *state);

/* Incremental form, for a stream. After state_begin (results as state_build), each record is noted in order of time;
   the state is then right for this record and earlier ones. Records without state are ignored. */
pfr_status state_begin(struct state *state, pfr_reader *reader, struct memory *memory, const struct jit_request *jit,
                       pfr_error *err);
pfr_status state_note(struct state *state, const pfr_record *rec, pfr_error *err);
/* Call it for each record when it is read, before records are reordered: it keeps data that earlier samples need. */
pfr_status state_hear(struct state *state, const pfr_record *rec, pfr_error *err);
/* Disables reading of jitdumps, for callers that open no file but the recording. */
extern const struct jit_request no_jit;

struct record_key state_key(const struct state *state, const pfr_record *rec, uint64_t time);

/* Resolution of an address to a map. */
struct place {
    const struct map *map; /* NULL: [unknown] */
    uint32_t object;       /* NO_OBJECT: [unknown] */
    bool is_passing; /* the map no longer applies once its thread is seen in user mode: rule 17 of docs/state.md */
    bool too_deep;   /* the place is unknown, and more ancestors exist than were searched (limit depth) */
    uint64_t offset; /* offset in the file of the object; for the kernel and anonymous memory, the address itself */
    const struct map
        *ksymbol; /* the KSYMBOL that covers the address: its object's path is the symbol; NULL: no KSYMBOL */
    struct record_key since; /* latest key of all that was used: for a smaller key, the result may differ */
};

void state_place(const struct state *state, const pfr_record *rec, uint32_t pid, uint32_t tid, uint64_t address,
                 struct record_key key, struct place *place);

/* As state_place, for an address of this cpumode (misc bits 0 to 2) in the address space from thread_space_at. */
void state_place_in(const struct state *state, unsigned cpumode, uint32_t space, uint64_t address,
                    struct record_key key, struct place *place);

/* A time, or an offset if the state has no times. All later keys give the same result, at every address of this cpumode
   and space. `space` NO_SPACE: for samples without a known process. */
uint64_t state_settled(const struct state *state, unsigned cpumode, uint32_t space);

/* Sets *name to the name of the thread, in state->names; `swapper` or `:TID` if it has no name. */
pfr_status state_comm(struct state *state, uint32_t tid, struct record_key key, uint32_t *name, pfr_error *err);

/* The path of a cgroup, in state->names; NO_VALUE: unknown. */
uint32_t state_cgroup(const struct state *state, uint64_t id, struct record_key key);
/* The record that named the cgroup; NULL: unnamed. */
const struct change *state_cgroup_change(const struct state *state, uint64_t id, struct record_key key);

#endif
