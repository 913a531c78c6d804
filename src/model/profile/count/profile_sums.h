/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_SUMS_H
#define PFR_MODEL_PROFILE_SUMS_H
/* Keeps only the weights of the frames in stacks, not the stacks: a part of profile_parts.h. */
#include "model/profile/result/profile.h"

struct sample_counter;

/* --- profile_sums.c */

/* Sums of a group by kind, in two levels: a group has pages, and a page has leaves of adjacent sums. Page 0 and leaf 0
   are empty and are used where nothing exists. */
#define SUM_BITS 4u
#define LEAF_BITS 6u
struct sum_page {
    uint32_t leaves[1u << LEAF_BITS];
};
struct sum_group {
    uint32_t *pages;
    size_t room;
};

/* A sum while counting. */
struct counted_sum {
    struct profile_weight total;
    uint32_t mark; /* mark of the last stack that was added to the sum */
    uint32_t self; /* index in `selves` + 1, or a mark: no entry is there; 0: the sum does not exist */
};

/* Self weight by group and frame, for all frames of a kind but the first, whose self entry belongs to the sum. */
struct self_slot {
    uint32_t group, frame, number; /* index + 1; 0: empty */
};

/* The sums of one stack, before its weight is added. */
struct sums_found {
    uint32_t *at; /* indices of sums; until sums_add, a missing sum has an index in the empty leaf */
    size_t room;
    uint32_t count, self;
};

struct sums {
    struct memory *memory;
    struct memory own; /* share for rows and entries, set aside at the start */
    uint64_t defer_lookup;
    struct sum_group *groups;
    struct sum_page *pages;
    struct counted_sum *at; /* leaves, one after the other */
    struct profile_sum_key *keys;
    struct profile_self *selves;
    struct self_slot *by_leaf;
    size_t groups_room, pages_room, room, keys_room, selves_room, self_slots, self_used;
    uint32_t nr_pages, nr_leaves, count, nr_selves;
    uint32_t until;             /* number of sums at which memory is checked again */
    uint32_t *kind_of[2];       /* kind by frame, and by frame of a sampled address; 0: unknown */
    struct sums_found found[2]; /* the sums of the current stack and of the next one */
    uint32_t mark;              /* mark of the current stack */
    uint32_t *seen;             /* parts of hashes; 0: empty */
    uint32_t *rows;             /* rows of repeated stacks: number of sums, self, the sums */
    size_t kinds_room[2], seen_count, rows_room;
    uint32_t rows_end;
};

/* A stack by its frames, outermost first. */
struct summed {
    const uint32_t *frames;
    uint32_t count, group;
    uint64_t place; /* offset of the sample */
};

pfr_status sums_begin(struct sample_counter *c, pfr_error *err);
void sums_free(struct sums *s);
/* Frees the data needed only for counting. */
void sums_free_rows(struct sums *s);
/* Looks up the existing sums of the next stack and prefetches them. */
pfr_status sums_expect(struct sums *s, const struct summed *stack, pfr_error *err);
/* Makes the expected stack the current one, so that another may be expected. */
void sums_turn(struct sums *s);
/* Adds the weight once to each sum of the stack, which must be the current one (sums_turn). < 0: nothing was added. */
pfr_status sums_add(struct sample_counter *c, const struct summed *stack, const struct profile_weight *weight,
                    pfr_error *err);
/* Adds to the sums of a row. */
void sums_add_row(struct sums *s, uint32_t row, const struct profile_weight *weight);
/* Whether this hash was looked up before. Only recent hashes are remembered. Adds the hash to them. */
bool sums_seen(struct sums *s, uint64_t hash);
#define SEEN_FEW 4u /* adjacent entries of `seen` that a hash may use, the latest first */
static inline uint32_t *sums_seen_few(const struct sums *s, uint64_t hash) {
    return &s->seen[hash & (s->seen_count - 1) & ~(uint64_t)(SEEN_FEW - 1)];
}
static inline void sums_fetch_seen(const struct sums *s, uint64_t hash) {
    __builtin_prefetch(sums_seen_few(s, hash), 1);
}
/* Keeps the sums of the current stack as a row. */
pfr_status sums_keep_found(struct sums *s, uint32_t *row, pfr_error *err);
/* The sum for the key's group and kind, added if new; key->sum is ignored. */
pfr_status sums_put(struct sample_counter *c, const struct profile_sum_key *key, uint32_t *number, pfr_error *err);
/* Finds or adds the self entry of a frame; a new entry belongs to `sum`. */
pfr_status sums_put_self(struct sums *s, uint32_t group, uint32_t frame, uint32_t sum, uint32_t *number,
                         pfr_error *err);

/* --- profile_sums_join.c */

/* Adds the sums of another counter, after its entries were poured. Weight without room goes to `limited`. */
pfr_status sums_join(struct sample_counter *to, struct sample_counter *from, pfr_error *err);
/* Moves the sums into the profile. `sorted`: they are already in the order of their first stacks. */
pfr_status sums_give(struct sums *s, bool sorted, struct profile *p, pfr_error *err);

#endif
