/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_SUMS_H
#define PFR_MODEL_PROFILE_SUMS_H
/*
 * Stacks as no more than what their frames weigh: a part of how profiles are made (profile_parts.h).
 */
#include "model/profile/result/profile.h"

struct sample_counter;

/* --- profile_sums.c */

/* Sums of a group by kind: groups have pages, those have leaves, which are sums that lie side by side. Page 0 and leaf
   0 are empty, and stand where there is none. */
#define SUM_BITS 4u
#define LEAF_BITS 6u
struct sum_page {
    uint32_t leaves[1u << LEAF_BITS];
};
struct sum_group {
    uint32_t *pages;
    size_t room;
};

/* A sum while it is counted. */
struct counted_sum {
    struct profile_weight total;
    uint32_t mark; /* of the last stack that it was in */
    uint32_t self; /* 0: there is no such sum; else a number in `selves` + 1, or that it has none */
};

/* What was sampled, by group and frame, where the sum's is another one. */
struct self_slot {
    uint32_t group, frame, number; /* + 1; 0: empty */
};

/* The sums of one stack, before anything is added to them. */
struct sums_found {
    uint32_t *at; /* before it is at hand: of the empty leaf where there is none */
    size_t room;
    uint32_t count, self;
};

struct sums {
    struct memory *memory;
    struct memory own; /* for rows and entries: a share that is set aside at the beginning */
    uint64_t defer_lookup;
    struct sum_group *groups;
    struct sum_page *pages;
    struct counted_sum *at; /* leaves */
    struct profile_sum_key *keys;
    struct profile_self *selves;
    struct self_slot *by_leaf;
    size_t groups_room, pages_room, room, keys_room, selves_room, self_slots, self_used;
    uint32_t nr_pages, nr_leaves, count, nr_selves;
    uint32_t until;             /* sums that there may be before the memory is looked at again */
    uint32_t *kind_of[2];       /* by frame, and by frame of a sampled address; 0: not known */
    struct sums_found found[2]; /* of the stack at hand, and of the next one */
    uint32_t mark;              /* of the former */
    uint32_t *seen;             /* parts of hashes; 0: none */
    uint32_t *rows;             /* of stacks that were met again: how many sums, self, the sums */
    size_t kinds_room[2], seen_count, rows_room;
    uint32_t rows_end;
};

/* A stack by its frames, outermost first. */
struct summed {
    const uint32_t *frames;
    uint32_t count, group;
    uint64_t place; /* of the sample */
};

pfr_status sums_begin(struct sample_counter *c, pfr_error *err);
void sums_free(struct sums *s);
/* What only counting needs. */
void sums_free_rows(struct sums *s);
/* The sums that a stack to come has already are looked up, and fetched from memory. */
pfr_status sums_expect(struct sums *s, const struct summed *stack, pfr_error *err);
/* The stack that was expected last is the one at hand; another one may be expected. */
void sums_turn(struct sums *s);
/* Adds to its sums, which are at hand then, each once. < 0: nothing was added. */
pfr_status sums_add(struct sample_counter *c, const struct summed *stack, const struct profile_weight *weight,
                    pfr_error *err);
/* Adds to those of a row. */
void sums_add_row(struct sums *s, uint32_t row, const struct profile_weight *weight);
/* Whether something with this hash was asked for before, as far as is remembered. */
bool sums_seen(struct sums *s, uint64_t hash);
#define SEEN_FEW 4u /* that lie together, the last one first */
static inline uint32_t *sums_seen_few(const struct sums *s, uint64_t hash) {
    return &s->seen[hash & (s->seen_count - 1) & ~(uint64_t)(SEEN_FEW - 1)];
}
static inline void sums_fetch_seen(const struct sums *s, uint64_t hash) {
    __builtin_prefetch(sums_seen_few(s, hash), 1);
}
/* Those at hand as a row. */
pfr_status sums_keep_found(struct sums *s, uint32_t *row, pfr_error *err);
/* The sum of the key's group and kind, made if it is new; key->sum is not read. */
pfr_status sums_put(struct sample_counter *c, const struct profile_sum_key *key, uint32_t *number, pfr_error *err);
/* What was sampled in the frame, which counts for `sum`. */
pfr_status sums_put_self(struct sums *s, uint32_t group, uint32_t frame, uint32_t sum, uint32_t *number,
                         pfr_error *err);

/* --- profile_sums_join.c */

/* Adds the other's, which has poured. What there is no room for is `limited`. */
pfr_status sums_join(struct sample_counter *to, struct sample_counter *from, pfr_error *err);
/* What it holds becomes the profile's. `sorted`: it is in the order of first stacks. */
pfr_status sums_give(struct sums *s, bool sorted, struct profile *p, pfr_error *err);

#endif
