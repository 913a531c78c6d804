/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_JIT_H
#define PFR_MODEL_JIT_H
/*
 * Code that programs made while they ran, as their jitdumps tell it (symbol/jit/jit_dump.h). A dump is found by its
 * name, which is mapped as code for this purpose alone; each LOAD and MOVE in it is then a map of a part of that file,
 * at its own time, in the address space of that process. Maps of memory in no file, which come again and again where
 * code is made, never hide it; those of files do, when they are newer.
 *
 * Times of a dump are those of CLOCK_MONOTONIC (record -k mono), or of the cpu's counter where a TIME_CONV record tells
 * how that becomes the recording's. Where they cannot be compared, code is where it was last.
 */
#include "model/state/objects.h"
#include "model/state/space.h"
#include "symbol/jit/jit_dump.h"

/* What may be read beside the recording. */
struct jit_request {
    bool read;         /* false: no dump is opened, and its map is one like others */
    const char *symfs; /* dumps are looked for under this folder; NULL: / */
    bool grows;        /* the recording is on its way, and so may the dumps be: jit_catch_up */
};

/* How the cpu's counter becomes time (TIME_CONV). */
struct jit_clock {
    uint64_t shift, multiplier, zero, cycles, mask;
    bool known, monotonic, cut; /* the recording's clock is CLOCK_MONOTONIC; the counter has fewer bits than 64 */
};

/* A dump, and an address space that it is mapped in. */
struct jit_map {
    uint32_t object, space;
    struct record_key since; /* of the map record */
};

struct jit_opened {
    struct jit_dump *dump;     /* NULL: it could not be had, */
    enum symbol_result result; /* for this reason */
    uint32_t object;
    uint32_t code;  /* the space of its code, one for all processes that map it */
    size_t done;    /* changes that this space knows */
    bool has_times; /* those of the recording */
};

struct jit {
    struct memory *memory;
    struct u64_map dump_of; /* object -> its place in `dumps` */
    struct jit_request request;
    struct jit_clock clock;
    struct jit_opened *dumps;
    struct jit_map *expected;
    size_t nr_dumps, dumps_room, nr_expected, expected_room;
    uint64_t crowded; /* maps that were left out: SPACE_CODES_MOST */
    bool timed;       /* the recording has times */
    bool misplaced;   /* and some dump has those of another clock */
};

void jit_init(struct jit *jit, struct memory *memory, const struct jit_request *request);
void jit_free(struct jit *jit);

/* The dump of an object; NULL: it is none that was read. */
const struct jit_dump *jit_dump_of(const struct jit *jit, uint32_t object);

/* A dump's map was met: opens it, makes its object one of kind OBJECT_JITDUMP, and maps its code. Errors: no memory. */
pfr_status jit_meet(struct jit *jit, struct objects *objects, const char *path, struct spaces *spaces,
                    const struct jit_map *map, pfr_error *err);

/* The same later, when all is known of clocks. */
pfr_status jit_expect(struct jit *jit, const struct jit_map *map, pfr_error *err);
pfr_status jit_meet_expected(struct jit *jit, struct objects *objects, struct spaces *spaces, pfr_error *err);

/* Maps what was written since, with .grows. */
pfr_status jit_catch_up(struct jit *jit, struct spaces *spaces, pfr_error *err);

/* Says which dumps could not be used, in whole or in part. */
void jit_note(const struct jit *jit, const struct objects *objects, void (*note)(void *context, const char *sentence),
              void *context);

#endif
