/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_STATE_H
#define PFR_MODEL_STATE_H
/*
 * Who ran, in which memory, under which name, at every moment of a recording: built in one pass over the records that
 * say so (state first), asked for samples in any order afterwards.
 *
 *     state_build(&state, reader, &memory, &err);      reads the recording once, to its end
 *     pfr_rewind(reader, &err);
 *     ... for each sample:
 *     key = state_key(&state, &rec, sample.time);
 *     state_place(&state, &rec, &sample, key, &place);
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
    uint32_t kernel, modules; /* spaces that all share; a module wins */
    uint32_t ksymbols;        /* what KSYMBOL says, by address; NO_OBJECT: it went */
    struct guests guests;
    struct jit jit; /* code that programs made, as they tell it themselves */
    struct deferred_chains deferred;
    struct u64_map cgroup_of; /* id -> its place in `cgroups` */
    struct changes *cgroups;  /* paths, in `names` */
    size_t nr_cgroups, cgroups_room;
    struct arena cgroup_paths;  /* what they were, by key */
    bool timed;                 /* keys have times */
    uint32_t events_seen;       /* of which it is known whether records of state come of them, */
    bool is_told, told_untimed; /* of any, and of any whose records have no times */
    uint64_t late;    /* records that came when later ones were sorted already; of a recording that was read whole */
    bool as_recorded; /* they have none: the order of the file alone counts */
    bool learns;      /* records are noted one by one, in order */
};

/* Reads to PFR_END, and no other file. Holes are counted by the reader and do not stop it. < 0: *err; call state_free
   all the same. */
pfr_status state_build(struct state *state, pfr_reader *reader, struct memory *memory, pfr_error *err);
/* The same for somebody who wants to know on the way of holes, and of each run of samples the first. Each may be NULL.
 * And `jit`, with code that programs made. */
struct state_watch {
    void (*hole)(void *context, const pfr_error *hole);
    void (*sample)(void *context, const pfr_record *rec);
    void *context;
    uint32_t readers; /* threads that may read the file side by side; the records are looked at one after the other */
    struct jit_request jit;
};
pfr_status state_build_watched(struct state *state, pfr_reader *reader, struct memory *memory,
                               const struct state_watch *watch, pfr_error *err);
/* The same with what stands earlier in the file happening earlier, whatever its time. */
pfr_status state_build_as_recorded(struct state *state, pfr_reader *reader, struct memory *memory,
                                   const struct jit_request *jit, pfr_error *err);
void state_free(struct state *state);

/* The same bit by bit, for a stream: after state_begin (as state_build), each record is noted in the order of time, and
   then the state holds for it and for what was before. Records that are no state do nothing. */
pfr_status state_begin(struct state *state, pfr_reader *reader, struct memory *memory, const struct jit_request *jit,
                       pfr_error *err);
pfr_status state_note(struct state *state, const pfr_record *rec, pfr_error *err);
/* Of each record when it is read, before it waits for its turn: what samples before it want to know. */
pfr_status state_hear(struct state *state, const pfr_record *rec, pfr_error *err);
/* Nothing that a program made itself, as for those who open no file but the recording. */
extern const struct jit_request no_jit;

struct record_key state_key(const struct state *state, const pfr_record *rec, uint64_t time);

/* Where an address is. */
struct place {
    const struct map *map;     /* NULL: [unknown] */
    uint32_t object;           /* NO_OBJECT: [unknown] */
    bool is_passing;           /* it is another before and after its thread is seen in user mode: rule 17 */
    bool too_deep;             /* unknown, and there are ancestors that were not asked (limit depth) */
    uint64_t offset;           /* in the object's file; the address itself in the kernel and in anonymous memory */
    const struct map *ksymbol; /* the KSYMBOL that covers it: its object's path is the symbol; NULL: none */
    struct record_key since;   /* of all that was found: what had a smaller key may have been elsewhere */
};

void state_place(const struct state *state, const pfr_record *rec, uint32_t pid, uint32_t tid, uint64_t address,
                 struct record_key key, struct place *place);

/* The same for an address of this cpumode (misc bits 0 to 2) in the address space that thread_space_at gave. */
void state_place_in(const struct state *state, unsigned cpumode, uint32_t space, uint64_t address,
                    struct record_key key, struct place *place);

/* A time, or where times do not count a place: all keys behind it have the same at all addresses of this cpumode and
   space, NO_SPACE for nobody's. */
uint64_t state_settled(const struct state *state, unsigned cpumode, uint32_t space);

/* The name of the thread, in state->names; made as `swapper` or `:TID` where it has none. */
pfr_status state_comm(struct state *state, uint32_t tid, struct record_key key, uint32_t *name, pfr_error *err);

/* The path of a cgroup, in state->names; NO_VALUE: nothing told it. */
uint32_t state_cgroup(const struct state *state, uint64_t id, struct record_key key);
/* The record that said so; NULL: none did. */
const struct change *state_cgroup_change(const struct state *state, uint64_t id, struct record_key key);

#endif
