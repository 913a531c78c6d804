/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_PARTS_H
#define PFR_MODEL_PROFILE_PARTS_H
/*
 * How a profile is made, one file for each step:
 *
 *     profile_pick.c      a sample to the few numbers that the wish asks for
 *     profile_count.c     equal samples to one entry (struct sample_counter); most samples end here
 *     profile_new_entries.c  those that no entry is known for
 *     profile_pour.c      at the end, what entries weigh to their nodes
 *     profile_entries.c   entries by hash, of one lane or of all
 *     profile_fast_path.c     the plainest of them, without more ado, to entries that know no place,
 *     profile_deferred_names.c      which are looked up when all is counted
 *     profile_tracepoint.c     what tracepoints say
 *     profile_waits.c     waits of threads in the place of samples
 *     profile_reads.c     samples in order, and those that stand for one of each counter they read
 *     profile_entry_key.c     by the words that a sample is made into
 *     profile_values.c    what groups a new entry
 *     profile_stacks.c    its chain, by
 *     profile_cache.c     what the lane knows of addresses, and
 *     profile_frames.c    what all know: an address in a space to its frame; names, each once,
 *     profile_names.c     or those of addresses when all is counted
 *     profile_tree.c      groups, and stacks as a tree of frames,
 *     profile_tree_shared.c that several lanes have in common,
 *     node_weights.c      what nodes weigh, where most weigh nothing,
 *     profile_whole_stacks.c     or as they are,
 *     profile_sums.c      or only what their frames weigh,
 *     profile_frame_classes.c     of which some are one;
 *     profile_sums_join.c those of several lanes become one's
 *     profile_workers.c     slices of the recording, counted by several threads
 *     profile.c           the passes over the recording
 *     profile_calls.c     all of it for traces: calls, which lanes add up
 *     profile_lines.c     lines of frames, and inlined functions as frames
 *     profile_tally.c     by group and path, to groups and nodes
 *
 * The functions of each file are declared in the header of its name (of names, classes and the cache of frames in
 * profile_frames.h, of joined sums in profile_sums.h, of shared trees in profile_tree.h); what several share is here.
 *
 * An entry is found by (event, cpumode, who, sampled address, keys, chain), with chains by 128 bits of a hash of all
 * that. Who is a name and an address space, worked out for each sample at its own moment: so the order of samples does
 * not matter. What its addresses mean is worked out once, when the entry is new, by the state at the end of the
 * recording, which is right for all samples that came after their maps. `since` is the moment of the youngest of these:
 * a sample that is not behind it is looked up alone, as of its own moment.
 *
 * Where two words tell entries apart, who and the sampled address, samples behind all that ever changed in their
 * address space are counted by these words alone. They are looked up when all is counted: each once, whatever lane met
 * it.
 */
#include "model/profile/result/profile.h"

#include "base/memory/capped_sum.h"
#include "base/memory/cursor.h"
#include "base/memory/fail.h"
#include "base/io/output.h"
#include "base/memory/sizes.h"
#include "file/read/recording.h"
#include "model/stacks/chain.h"
#include "model/stacks/chain_maker.h"
#include "model/profile/result/profile_frames.h"
#include "model/profile/count/profile_sums.h"
#include "model/profile/result/profile_tree.h"
#include "model/timeline/timeline.h"

#define NOT_RECORDED UINT32_MAX
#define NO_TIME_MOMENT (UINT64_MAX - 1)

/* A moment orders samples and state as far as one number can: the time, or the place in the file where times do not
   count. Equal ones tell nothing. */
static inline uint64_t moment_of(const struct state *s, const struct record_key *key) {
    return s->timed ? key->time : key->offset;
}

/* --- profile_pick.c */

/* What a sample says, as far as it was asked for. */
struct picked {
    uint32_t event, pid, tid, cpu;
    uint64_t ip, time, period;
    pfr_u64s chain;
    unsigned mode;
    bool made;  /* the chain is not as it was recorded, and has all that is wanted, */
    bool uncut; /* however long it is */
    bool bare;  /* there is no sample: nothing to make a chain of */
    bool grown; /* the period is what a counter grew by; the recorded one is: */
    uint64_t recorded;
    const struct pfr_rec_sample *whole;        /* NULL: nothing else is needed */
    const struct pfr_rec_branch_entry *branch; /* the one at hand, in branch mode */
    struct record_key key;
};

/* Where the numbers stand in the samples of an event; 0: they are not recorded. */
struct pick_places {
    uint64_t sample_type;
    uint64_t period; /* of samples that have none of their own */
    uint32_t ip, pid, time, cpu, period_at, chain;
    bool fixed;    /* all that is wished for stands at fixed places: no need to decode */
    bool makes;    /* chains are made of more than what was recorded as such */
    bool stitches; /* and of what the samples before had */
    bool reads;    /* its samples stand for one of each counter they read */
};

/* `bytes` is a whole sample of the event. */
static inline void pick_fixed(const struct pick_places *p, const uint8_t *bytes, bool swap, struct picked *out) {
    out->pid = p->pid ? load_u32(bytes + p->pid, swap) : NOT_RECORDED;
    out->tid = p->pid ? load_u32(bytes + p->pid + 4, swap) : NOT_RECORDED;
    out->cpu = p->cpu ? load_u32(bytes + p->cpu, swap) : NOT_RECORDED;
    out->ip = p->ip ? load_u64(bytes + p->ip, swap) : 0;
    out->time = p->time ? load_u64(bytes + p->time, swap) : UINT64_MAX;
    out->period = p->period_at ? load_u64(bytes + p->period_at, swap) : p->period;
    out->chain.count = p->chain ? load_u64(bytes + p->chain, swap) : 0;
    out->chain.at = bytes + p->chain + 8;
    out->chain.swap = swap;
    out->made = out->uncut = out->grown = out->bare = false;
    out->whole = NULL;
}

/* --- profile_stacks.c */

#define BATCH ((unsigned)SIZE_MOST_count_batch)

/* Where a chain's stack begins, and what its addresses mean. */
struct stack_place {
    uint32_t root, space;
    uint64_t since;
    const struct record_key *key; /* as of this moment; NULL: as of the end */
    unsigned row;                 /* that was given to profile_stacks_expect */
};

/* An address of a chain that nobody knows yet: it is looked up when the batch is read. */
struct deferred_stack {
    uint64_t address, in;
    struct place place;
    uint32_t at; /* which of the row's frames it is; behind them all: none */
    uint8_t row;
};
#define ASIDE_MOST ((unsigned)SIZE_MOST_count_deferred)

/* A stack on its way down the tree. */
struct stack_row {
    const struct picked *picked; /* until it has its leaf */
    struct stack_place place;
    uint64_t since; /* of its frames */
    uint32_t node;  /* where it is; at the end: its own */
    uint32_t at, count;
    uint32_t from; /* where its frames begin in its room */
    pfr_status status;
    bool too_deep, whole; /* whole: it does not go down the tree */
};

struct profile_stacks {
    struct memory *memory;
    struct stack_row rows[BATCH];
    unsigned count;
    struct place leaves[BATCH]; /* without chains: where the sampled addresses are */
    struct deferred_stack aside[ASIDE_MOST];
    unsigned nr_deferred;
    uint32_t *frames; /* of each row, outermost first; room + 1 for each */
    uint32_t *slots;  /* of the rows that come next: where in the frame cache each address belongs */
    size_t room;
    uint32_t nodes; /* that the rows may make */
    bool within;    /* the tree: it lets them */
};
#define AHEAD 2u /* rows that are fetched before they are added */

static inline uint32_t *stack_frames(const struct profile_stacks *s, unsigned row) {
    return s->frames + row * (s->room + 1) + s->rows[row].from;
}

struct sample_counter;

/* --- profile_whole_stacks.c */

struct whole_stacks {
    struct memory *memory;
    struct profile_stack *at;
    uint32_t *frames;
    size_t room, frames_room, nr_frames;
    struct stack_part *parts; /* with frames of other counters, and at the end its own */
    uint32_t count, nr_parts;
    uint32_t settled; /* stacks that know their frames */
    uint32_t until;   /* stacks that there may be before the memory is looked at again */
};

/* --- profile_count.c */

#define WORDS_MOST (2 + PROFILE_KEYS + 2)
#define WHO_BITS 29
#define WHO_MOST ((1u << WHO_BITS) - 1)
#define VIEWS 128u

/* Who a sample belongs to, as far as anybody asks. */
struct who {
    uint32_t name;  /* in state->names; NO_NAME: that of tid */
    uint32_t tid;   /* 0 where there is a name, or nobody asks for one */
    uint32_t space; /* NO_SPACE: nobody's, or nobody asks */
};

/* Behind the words of an entry. */
struct entry_count {
    uint64_t weight, samples; /* of those behind `since`; others are with their nodes */
    uint64_t since;           /* a moment */
    uint32_t node;            /* or whole stack, or row of sums; NO_NODE: the same is another entry */
    bool too_deep;
};

/* Samples that were looked up alone, by the node that was found. */
struct alone {
    uint32_t node;
    struct profile_weight self;
};
struct individual_samples {
    struct u64_map of; /* node -> its place in `at` */
    struct alone *at;
    size_t room, count;
};

/* The group that words were found to make. */
struct group_memo {
    uint64_t word, keys[PROFILE_KEYS], since;
    uint32_t root;
    bool used;
};
#define MEMOS 32u

/* A thread as it is between two moments, neither of them included; in the kernel it may be somebody else. */
struct view_slot {
    uint64_t from, until;
    uint64_t settled; /* of plain counters: not before `from`, and what is behind it may be counted plainly */
    uint32_t pid, tid, who;
    bool used;
};

/* A sample's words, and what was counted of them. No samples: empty. */
struct plain_entry {
    uint64_t words[2];
    struct profile_weight self;
};

/* Found by the words' hash; `count` is a power of two. */
struct plain_table {
    struct memory *memory;
    struct plain_entry *at;
    size_t count, used;
    bool full; /* the limit was met: what is new is not taken in */
};

/* Entries by hash: words of the key, then a struct entry_count. */
struct entry_table {
    struct memory *memory;
    uint64_t *slots; /* upper half of the hash << 32 | entry + 1; 0: empty */
    uint64_t *entries;
    size_t slot_count, room;
    uint32_t count;    /* of a shared one atomic, as is */
    uint32_t reserved; /* entries that those within may still make */
};

struct sample_counter {
    struct profile *profile; /* which is not changed, but by way of `cache.frames` */
    struct memory *memory;   /* its own: a part of what the profile may take, so that enough is left for the rest */
    pfr_reader *reader;
    struct pick_places *places;           /* by event; the profile's */
    unsigned words;                       /* of a sample that tell it apart */
    unsigned key_words;                   /* of an entry, by which it is found: those, or their hash */
    bool by_digest;                       /* the latter */
    size_t stride;                        /* words of an entry in all */
    struct entry_table *table, own_table; /* the former is the latter, or one that all lanes have in common */
    uint64_t seed, chain_seed;            /* of chains, and of digests: the same in all lanes */
    struct frame_cache cache;
    struct node_tree *tree, own_tree; /* the former is the latter, or one that all lanes have in common */
    struct profile_stacks stacks;
    struct whole_stacks whole;
    struct sums sums;
    struct individual_samples individual_samples;
    struct group_memo memos[MEMOS];
    struct intern_table whos;
    struct view_slot views[VIEWS];
    struct intern_table texts; /* of PROFILE_TRACE */
    struct trace_text *trace;
    bool no_trace;
    struct chain_maker maker;
    uint64_t *made;                 /* room for the chains of a batch; NULL: none is made */
    size_t made_words;              /* of one */
    uint32_t made_most;             /* addresses of those that are deferred: of them the outermost may be wanted */
    bool has_places;                /* keys that depend on the address space */
    bool kernel_apart;              /* the kernel's addresses are nobody's: they are the same in all spaces */
    bool plain;                     /* two words tell an entry apart: who, and the sampled address */
    struct plain_table plainly;     /* what was counted so; others are entries */
    struct timeline *timeline;      /* where the order of samples counts: they come from here; else NULL */
    struct u64_map before;          /* what each counter was when it was read last, by id */
    bool full;                      /* the limit was met: nothing new is taken in */
    struct profile_weight *limited; /* by event; what could not be taken in */
    struct profile_weight *totals;  /* by event */
    uint64_t left_out, guests, too_deep;
    size_t wait_hint;   /* of sample_waits_find */
    uint64_t undivided; /* as of the profile */
    bool lossy;
    uint32_t number, run; /* of the counter, and what it counts: for request.each */
};

static inline uint64_t *entry_words(const struct sample_counter *c, uint32_t entry) {
    return c->table->entries + entry * c->stride;
}

static inline struct entry_count *entry_count_of(const struct sample_counter *c, const uint64_t *words) {
    return (struct entry_count *)(void *)(uintptr_t)(words + c->key_words);
}

/* --- profile_entries.c */

/* What entry_slot will look at, to be fetched: first the one, also from outside, a while later the other. */
static inline void entry_fetch_slot(const struct sample_counter *c, uint64_t hash) {
    const size_t mask = __atomic_load_n(&c->table->slot_count, __ATOMIC_RELAXED) - 1;
    __builtin_prefetch(&__atomic_load_n(&c->table->slots, __ATOMIC_RELAXED)[hash & mask]);
}
static inline void entry_fetch(const struct sample_counter *c, uint64_t hash) {
    const struct entry_table *t = c->table;
    const uint64_t slot = __atomic_load_n(&t->slots[hash & (t->slot_count - 1)], __ATOMIC_RELAXED);
    if (slot)
        __builtin_prefetch(entry_words(c, (uint32_t)slot - 1));
}

/* --- profile_entry_key.c */

#define KEYS_APART (PROFILE_BIT(PROFILE_COMM)) /* that have no word of their own */

/* A sample on its way. */
struct sample_item {
    uint64_t words[WORDS_MOST];
    uint64_t digest[2]; /* of the words, with chains; the same in all lanes */
    uint64_t hash, moment;
    struct picked picked;
    uint64_t *made; /* room for a chain */
    uint32_t node;  /* where it weighs, when it is counted */
    bool alone;     /* what its addresses mean is asked as of its own moment */
    bool limited;   /* there was no memory for it; it is in the batch only so that the order is kept */
};

static inline uint64_t words_hash_of(uint64_t seed, const uint64_t *words, unsigned count) {
    uint64_t h = seed;
    for (unsigned i = 0; i < count; i++) {
        h = (h ^ words[i]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    return h * 0xd6e8feb86659fd93u;
}
static inline bool words_are_same(const uint64_t *a, const uint64_t *b, unsigned words) {
    uint64_t difference = 0;
    for (unsigned i = 0; i < words; i++)
        difference |= a[i] ^ b[i];
    return difference == 0;
}
static inline uint64_t words_hash(const struct sample_counter *c, const uint64_t *key) {
    return c->by_digest ? key[0] : words_hash_of(c->seed, key, c->key_words);
}
/* What the sample's entry is found by. */
static inline const uint64_t *item_key(const struct sample_counter *c, const struct sample_item *item) {
    return c->by_digest ? item->digest : item->words;
}

/* Where a thread that was met lately is kept. */
static inline size_t view_number(uint32_t tid, bool in_kernel) {
    return (tid ^ tid >> 6) % (VIEWS / 2) * 2 + in_kernel;
}
static inline struct view_slot *words_view(struct sample_counter *c, const struct picked *s) {
    return &c->views[view_number(s->tid, c->kernel_apart && s->mode == PFR_CPUMODE_KERNEL)];
}
static inline bool words_view_holds(const struct view_slot *slot, const struct picked *s, uint64_t moment) {
    return slot->used && slot->tid == s->tid && slot->pid == s->pid && slot->from < moment && moment < slot->until;
}
static inline uint64_t words_first(const struct picked *s, uint32_t who) {
    return (uint64_t)s->event << 32 | (uint64_t)s->mode << WHO_BITS | who;
}
/* words_make without a call, for nearly all samples of flat reports; false: not for this one. */
static inline bool words_make_plain(struct sample_counter *c, struct sample_item *item) {
    const struct picked *s = &item->picked;
    const struct view_slot *slot = words_view(c, s);
    item->moment = moment_of(&c->profile->state, &s->key);
    if (!c->plain || !words_view_holds(slot, s, item->moment))
        return false;
    item->words[0] = words_first(s, slot->who);
    item->words[1] = s->ip;
    item->hash = words_hash_of(c->seed, item->words, 2);
    entry_fetch_slot(c, item->hash);
    return true;
}

/* --- profile_count.c, what others call */

/* What lanes have in common: where stacks are nodes. */
struct common {
    struct node_tree tree;
    struct entry_table table;
};

/* What counter_find will look at, to be fetched: first the one, a while later the other. */
static inline void counter_fetch_slot(const struct sample_counter *c, const uint64_t *key) {
    entry_fetch_slot(c, words_hash(c, key));
}
static inline void counter_fetch_entry(const struct sample_counter *c, const uint64_t *key) {
    entry_fetch(c, words_hash(c, key));
}

static inline struct who counter_who(const struct sample_counter *c, uint64_t first_word) {
    struct who who;
    memcpy(&who, intern_get(&c->whos, (uint32_t)first_word & WHO_MOST).bytes, sizeof who);
    return who;
}

/* --- profile_tracepoint.c */

/* Sums of periods stay at 2^64 - 1, in any order of adding, so that profile_load sees that they do not fit. */
static inline uint64_t weights_sum(const struct profile *p, uint64_t a, uint64_t b) {
    return p->signed_steps ? a + b : capped_sum(a, b);
}

#endif
