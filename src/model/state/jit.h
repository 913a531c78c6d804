/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_JIT_H
#define PFR_MODEL_JIT_H
/*
 * Code that programs generated while running, from their jitdumps (symbol/jit/jit_dump.h). A program maps its dump as
 * code only so that the dump can be found. Each LOAD and MOVE in the dump becomes a map of a part of the dump file, at
 * its own time, in the address space of the program. Anonymous maps, which are frequent where code is generated, never
 * hide this code; newer maps of files do.
 *
 * Times in a dump are CLOCK_MONOTONIC (record -k mono), or the cpu's counter if a TIME_CONV record states how to
 * convert the counter to the recording's clock. If the times cannot be compared, the last place of the code is used.
 */
#include "model/state/objects.h"
#include "model/state/space.h"
#include "symbol/jit/jit_dump.h"

/* Options for reading jitdumps. */
struct jit_request {
    bool read;         /* false: no dump is opened, and its map is an ordinary one */
    const char *symfs; /* dumps are looked for under this directory; NULL: / */
    bool grows;        /* the recording, and perhaps its dumps, are still being written: see jit_catch_up */
};

/* Conversion of the cpu's counter to time (TIME_CONV). */
struct jit_clock {
    uint64_t shift, multiplier, zero, cycles, mask;
    bool known, monotonic, cut; /* TIME_CONV was read; times are CLOCK_MONOTONIC; the counter has less than 64 bits */
};

/* A dump, and an address space that maps it. */
struct jit_map {
    uint32_t object, space;
    struct record_key since; /* key of the map record */
};

struct jit_opened {
    struct jit_dump *dump;     /* NULL: not readable */
    enum symbol_result result; /* result of opening the dump; the reason if `dump` is NULL */
    uint32_t object;
    uint32_t code;  /* space of the code of the dump, shared by all processes that map the dump */
    size_t done;    /* number of changes of the dump that were already added to that space */
    bool has_times; /* its times can be converted to the recording's clock */
};

struct jit {
    struct memory *memory;
    struct u64_map dump_of; /* object -> its index in `dumps` */
    struct jit_request request;
    struct jit_clock clock;
    struct jit_opened *dumps;
    struct jit_map *expected;
    size_t nr_dumps, dumps_room, nr_expected, expected_room;
    uint64_t crowded; /* maps left out because of SPACE_CODES_MOST */
    bool timed;       /* the recording has times */
    bool misplaced;   /* some dump has times of another clock */
};

void jit_init(struct jit *jit, struct memory *memory, const struct jit_request *request);
void jit_free(struct jit *jit);

/* The dump that an object is; NULL: the object is no dump, or its dump was not read. */
const struct jit_dump *jit_dump_of(const struct jit *jit, uint32_t object);

/* Handles the map of a dump: opens the dump, sets its object's kind to OBJECT_JITDUMP, and maps its code. Fails only
   for lack of memory. */
pfr_status jit_meet(struct jit *jit, struct objects *objects, const char *path, struct spaces *spaces,
                    const struct jit_map *map, pfr_error *err);

/* Keeps the map for jit_meet_expected, which calls jit_meet for it when all clocks are known. */
pfr_status jit_expect(struct jit *jit, const struct jit_map *map, pfr_error *err);
pfr_status jit_meet_expected(struct jit *jit, struct objects *objects, struct spaces *spaces, pfr_error *err);

/* With .grows: adds the code that was written since the last call. */
pfr_status jit_catch_up(struct jit *jit, struct spaces *spaces, pfr_error *err);

/* Reports dumps that could not be used, completely or in part. */
void jit_note(const struct jit *jit, const struct objects *objects, void (*note)(void *context, const char *sentence),
              void *context);

#endif
