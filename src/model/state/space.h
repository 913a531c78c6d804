/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_SPACE_H
#define PFR_MODEL_SPACE_H
/*
 * An address space through time: every map it ever had, with the key at which it came. The map that counts at an
 * address and a key is the newest of those that cover the address and have a smaller key: that is what trimming and
 * splitting overlapped maps would leave. A space that a fork began looks on in its parent, as it was at the fork.
 *
 * Maps may be added and looked up in turn, a few comparisons each: they are kept in runs that are merged as they grow.
 * spaces_seal makes one run of each space that has more than a few; without further space_add any thread may look up.
 */
#include "base/memory/arena.h"
#include "model/state/map_run.h"

#define NO_SPACE UINT32_MAX
#define SPACE_DEPTH_MOST 64u
#define NO_CODE UINT32_MAX
#define SPACE_CODES_MOST 64u /* jitdumps of one address space: each lookup asks all of them */

struct space {
    struct map_run *runs; /* each more than twice as large as the next */
    struct map *newest;   /* maps of no run yet */
    uint32_t nr_runs, runs_room;
    uint32_t nr_newest, newest_room;
    uint32_t parent; /* NO_SPACE: begins empty */
    uint32_t code;   /* what was made while the program ran, as jitdumps tell: number in spaces.codes; NO_CODE: none */
    uint32_t left;   /* what was mapped before an exec began this one, number in spaces.left; NO_SPACE: nothing */
    struct record_key inherited_at;
};

/* Code of one jitdump in an address space. The dump has a space of its own, which all processes share that map it: with
   keys of the dump's times, or of the order of its changes alone, all of which count from `since` on. */
struct space_code {
    uint32_t space, next; /* next: another dump's in the same address space; NO_CODE: no more */
    struct record_key since;
    bool has_times;
};

/* Until a thread of the new image is seen in user mode the one that called exec is on its way out of the old image,
   which counts then where the new one has nothing. */
struct left_image {
    uint32_t space;
    struct record_key at, until; /* of the exec; of the first sample of user mode */
};

struct left_tid {
    uint32_t tid, image; /* number in spaces.left */
};

/* Not before any of a space's own maps, by time or by place. */
struct space_settled {
    uint64_t time, offset;
};

struct spaces {
    struct memory *memory;
    struct space *at;
    struct space_settled *settled; /* of each: side by side, for who asks for nothing else */
    size_t count, room, settled_room;
    struct arena arena; /* the newest maps of each */
    struct left_image *left;
    size_t nr_left, left_room;
    bool left_open; /* images that are left count until something is seen; else not before left_images_settle */
    struct left_tid *left_tids; /* of all threads that are or were in such a space */
    size_t nr_left_tids, left_tids_room;
    size_t nr_with_runs; /* spaces that were given room for runs */
    struct space_code *codes;
    size_t nr_codes, codes_room; /* 0: no space has .code */
    uint32_t depth_most;         /* parents that space_find asks (limit depth) */
};

/* depth_most 64. */
void spaces_init(struct spaces *all, struct memory *memory);
void spaces_free(struct spaces *all);
/* A new space: number in *space. parent NO_SPACE: empty. */
pfr_status spaces_new(struct spaces *all, uint32_t parent, struct record_key at, uint32_t *space, pfr_error *err);
/* What `space`, which an exec began, leaves behind: nothing where nothing is mapped in `old`. */
pfr_status spaces_leave(struct spaces *all, uint32_t space, uint32_t old, struct record_key at, pfr_error *err);
/* A thread comes into the space; needed of those that an exec began. */
pfr_status spaces_join(struct spaces *all, uint32_t space, uint32_t tid, pfr_error *err);
/* What the image that was left has at the address; until when it counts in *until. NULL: nothing. */
const struct map *space_find_left(const struct spaces *all, uint32_t space, uint64_t address, struct record_key *until);
/* len 0 does nothing. */
pfr_status space_add(struct spaces *all, uint32_t space, uint64_t start, uint64_t len, uint64_t pgoff, uint32_t object,
                     struct record_key key, pfr_error *err);
/* Code that the program made itself, of which its maps say nothing: that of space code->space, whose maps are added
   with space_add (NO_OBJECT: what was there is gone). Nothing where it is there already; *joined false: there are
   SPACE_CODES_MOST. code->next is not read. */
pfr_status space_add_code(struct spaces *all, uint32_t space, const struct space_code *code, bool *joined,
                          pfr_error *err);
pfr_status spaces_seal(struct spaces *all, pfr_error *err);
/* NULL: nothing is mapped there at that moment. Lives until the next space_add. */
const struct map *space_find(const struct spaces *all, uint32_t space, uint64_t address, struct record_key key);
/* The same of what space_add_code added, and the key at which it came, which is not that of the map, in *since. */
const struct map *space_find_code(const struct spaces *all, uint32_t space, uint64_t address, struct record_key key,
                                  struct record_key *since);
/* Whether a map that space_find gave is all there is at its addresses, now and later: until the next space_add it needs
   not be looked for again. May be false where it is so. */
bool space_has_alone(const struct spaces *all, uint32_t space, const struct map *map);
/* Keys with later times, and those with later places, see the same in the space, of maps and of code. */
struct space_settled space_settled(const struct spaces *all, uint32_t space);
/* Whether more parents stand behind those that space_find asked. */
bool space_is_too_deep(const struct spaces *all, uint32_t space);

#endif
