/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_PARTS_H
#define PFR_MODEL_PROFILE_PARTS_H
/*
 * How a profile is made, one file for each step:
 *
 *     profile_pick.c      a sample to the few numbers that the wish asks for
 *     profile_count.c     equal samples to one entry (struct sample_counter); most samples end here
 *     profile_entries.c   entries by hash, of one lane or of all
 *     profile_fast_path.c     the plainest of them, without more ado, to entries that know no place,
 *     profile_deferred_names.c      which are looked up when all is counted
 *     profile_tracepoint.c     what tracepoints say
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
 * What stands by itself is declared in profile_frames.h (frames, names, alike, cache), profile_sums.h and
 * profile_tree.h; the rest is here.
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
#include "model/profile/profile.h"

#include "base/memory/capped_sum.h"
#include "base/memory/cursor.h"
#include "base/memory/fail.h"
#include "base/io/output.h"
#include "base/memory/sizes.h"
#include "file/read/recording.h"
#include "model/stacks/chain.h"
#include "model/stacks/chain_maker.h"
#include "model/profile/profile_frames.h"
#include "model/profile/profile_sums.h"
#include "model/profile/profile_tree.h"
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

void pick_learn(struct pick_places *places, const pfr_reader *reader, uint32_t event,
                const struct profile_request *request);

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
    out->made = out->uncut = out->grown = false;
    out->whole = NULL;
}
void pick_decoded(const struct pick_places *places, const struct pfr_rec_sample *sample, struct picked *out);
/* Where the length rule holds, what is at fixed places is there; other samples are decoded. */
static inline bool pick_is_plain(const pfr_reader *reader, const struct pick_places *places, const pfr_record *rec) {
    return places->fixed && length_holds(&reader->events[rec->event].length, rec->bytes + RECORD_HEADER,
                                         (uint64_t)rec->size - RECORD_HEADER, reader->context.swap);
}
/* After the rest: `place` is part << 48 | offset. */
static inline void pick_key(const struct state *state, struct picked *s, uint64_t place, uint64_t inner) {
    s->key = (struct record_key){.offset = place, .inner = inner};
    if (state->timed)
        s->key.time = s->time == UINT64_MAX ? NO_TIME_MOMENT : s->time;
}

/* The number of a key; those that are texts or places still are what was recorded. */
uint64_t pick_value(const struct profile_request *request, const struct pick_places *places,
                    const struct picked *picked, enum profile_key key);

/* --- profile_lines.c */

/* After all is counted. */
pfr_status profile_learn_lines(struct profile *p, pfr_error *err);

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
void profile_stacks_init(struct profile_stacks *s, struct memory *memory);
void profile_stacks_free(struct profile_stacks *s);
/* Where the sampled address of a row to come is. */
void profile_stacks_expect(struct sample_counter *c, unsigned row, const struct picked *picked, uint32_t space,
                           const struct record_key *key);
/* Of a row to come what can be fetched meanwhile is; before it is added, at most AHEAD rows before. */
void profile_stacks_fetch(const struct sample_counter *c, unsigned row, const struct picked *picked, uint32_t space,
                          const struct record_key *key);
/* One more row: the frames of the sample. There must be room: `count` goes back to 0 when its rows were taken. */
pfr_status profile_stacks_add(struct sample_counter *c, const struct picked *picked, const struct stack_place *place,
                              pfr_error *err);
/* Before rows are looked at, once for all of them: what was put aside, and the sampled addresses. What does not fit
   into memory is a row's status. */
pfr_status profile_stacks_settle(struct sample_counter *c, pfr_error *err);
/* All rows to their nodes; each has a status of its own. What looks at nodes of the tree stands between begin and end.
 */
pfr_status profile_stacks_begin(struct sample_counter *c, pfr_error *err);
void profile_stacks_walk(struct sample_counter *c, pfr_error *err);
void profile_stacks_end(struct sample_counter *c);

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

void whole_init(struct whole_stacks *w, struct memory *memory);
void whole_free(struct whole_stacks *w);
/* One more, with these frames; stack->first is not looked at. */
pfr_status whole_put(struct sample_counter *c, const struct profile_stack *stack, const uint32_t *frames,
                     uint32_t *number, pfr_error *err);
/* Before either pours: the entries of another counter, and their stacks, whose frames stay where they are and become
   `to`'s. `more`: there will be others. What there is no room for is `limited`. */
pfr_status whole_join(struct sample_counter *to, struct sample_counter *from, bool more, pfr_error *err);
/* At the end of counting: each stack is told its frames. */
void whole_settle(struct whole_stacks *w);
void stack_parts_free(struct memory *memory, struct stack_part *parts, uint32_t count);
/* What it holds becomes the profile's. `sorted`: it is in the order of first samples. */
pfr_status whole_give(struct whole_stacks *w, bool sorted, struct profile *p, pfr_error *err);

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

/* Of a counter whose keys are known. common NULL: a table of its own, in this memory. */
pfr_status counter_entries_begin(struct sample_counter *c, struct entry_table *common, struct memory *memory,
                                 pfr_error *err);
/* Slots, when nobody looks for entries any more; then entries. */
void counter_entries_free_slots(struct entry_table *t);
void counter_entries_free(struct entry_table *t, size_t stride);

/* Around all that looks at entries or at nodes, and makes at most so many nodes and BATCH entries. Only where tables
   and trees are shared it does anything. < 0: not within. */
pfr_status counter_enter(struct sample_counter *c, uint32_t nodes, pfr_error *err);
void counter_leave(struct sample_counter *c, uint32_t nodes);

/* Within: what the slot of this key holds; 0: there is no entry, and *empty, if anybody asks, is where it belongs, if
   no other lane puts something there. */
uint64_t entry_find(const struct sample_counter *c, const uint64_t *key, uint64_t hash, uint64_t **empty);
/* A new one, unless another lane makes it first; *entry is what the slot holds then. */
pfr_status entry_put(struct sample_counter *c, const uint64_t *key, uint64_t hash, const struct entry_count *count,
                     uint64_t *entry, pfr_error *err);
void entry_add(const struct sample_counter *c, struct entry_count *count, uint64_t weight);

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

/* The words, hash and moment of item->picked. */
pfr_status words_make(struct sample_counter *c, struct sample_item *item, pfr_error *err);
/* A sample that is left out: what those behind it are stitched with. */
pfr_status words_pass(struct sample_counter *c, const struct picked *s, pfr_error *err);
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

/* Addresses of a chain that are wanted. */
uint32_t profile_max_stack(const struct sample_counter *c);

/* --- profile_count.c, what others call */

/* What lanes have in common: where stacks are nodes. */
struct common {
    struct node_tree tree;
    struct entry_table table;
};

/* common NULL: a tree and entries of its own. */
pfr_status counter_init(struct sample_counter *c, struct frames_of *frames, pfr_reader *reader,
                        struct pick_places *places, struct common *common, struct memory *memory, pfr_error *err);
void counter_free(struct sample_counter *c);

/* Counts the samples of the reader from where it is, to its end. */
pfr_status counter_run(struct sample_counter *c, pfr_error *err);

/* At the end: nothing is looked up any more, and what entries weigh goes to their nodes or stacks, and the entries go.
 */
void counter_end_lookups(struct sample_counter *c);
pfr_status counter_pour(struct sample_counter *c, pfr_error *err);
/* Before it, of what several have in common, one part of so many; the tree has weights. */
void counter_pour_common(struct sample_counter *c, uint32_t part, uint32_t parts);
/* Before that, where nodes are marked: those of that part, and those of samples that were looked up alone. */
void counter_mark_common(const struct sample_counter *c, uint32_t part, uint32_t parts);
void counter_mark_individual_samples(const struct sample_counter *c);
/* Something did not fit. */
bool counter_met_limit(const struct sample_counter *c);

/* Frees entries and whole stacks, which another counter has. Samples that were looked up individually stay: they weigh
   in the counter's tree, and counter_pour adds them to it. */
void counter_drop(struct sample_counter *c);

/* What counter_find will look at, to be fetched: first the one, a while later the other. */
static inline void counter_fetch_slot(const struct sample_counter *c, const uint64_t *key) {
    entry_fetch_slot(c, words_hash(c, key));
}
static inline void counter_fetch_entry(const struct sample_counter *c, const uint64_t *key) {
    entry_fetch(c, words_hash(c, key));
}

/* The entry of this key, NULL: none; and a new one. */
struct entry_count *counter_find(const struct sample_counter *c, const uint64_t *key);
pfr_status counter_put(struct sample_counter *c, const uint64_t *key, const struct entry_count *count, pfr_error *err);

static inline struct who counter_who(const struct sample_counter *c, uint64_t first_word) {
    struct who who;
    memcpy(&who, intern_get(&c->whos, (uint32_t)first_word & WHO_MOST).bytes, sizeof who);
    return who;
}

/* The root of the group of an entry's words, as at the end. */
pfr_status counter_root(struct sample_counter *c, const uint64_t *words, uint32_t *root, uint64_t *since,
                        pfr_error *err);

/* --- profile_fast_path.c */

void plain_free(struct sample_counter *c);
/* Counts the item, of which the words and hash are made. false: it is to be an entry. < 0 of *status: memory. */
bool plain_take(struct sample_counter *c, const struct sample_item *item, uint64_t weight, pfr_status *status,
                pfr_error *err);

/* Entries of another counter, whose first words are others here. What there is no room for stays there. */
pfr_status plain_join(struct sample_counter *to, struct sample_counter *from,
                      uint64_t (*word_of)(const void *context, uint64_t word), const void *context, pfr_error *err);

/* Samples of one event out of one window. */
struct plain_run {
    const uint8_t *const *at;
    uint32_t count; /* at most BATCH */
    uint32_t event;
    uint64_t place; /* of the first, as in its key */
};
/* Numbers of those that were not counted. */
struct plain_left {
    uint8_t at[BATCH + 1];
    unsigned count;
};

/* Whether samples of the event may be counted by runs. */
bool plain_may(const struct sample_counter *c, uint32_t event);
/* Counts those that are plain, of threads that were met lately. */
pfr_status plain_count(struct sample_counter *c, const struct plain_run *run, struct plain_left *left, pfr_error *err);

/* --- profile_deferred_names.c */

/* When no lane runs any more: what counters counted plainly goes to nodes of `to`, one of them. */
pfr_status late_settle(struct sample_counter *to, struct sample_counter *const *all, uint32_t count, pfr_error *err);

/* --- profile_tracepoint.c */

/* The text of a tracepoint, with the fields that are wished for behind it: profile_trace_part takes it apart. */
pfr_status trace_parts_write(struct sample_counter *c, const struct picked *s, struct output *to, pfr_error *err);

/* Sums of periods stay at 2^64 - 1, in any order of adding, so that profile_load sees that they do not fit. */
static inline uint64_t weights_sum(const struct profile *p, uint64_t a, uint64_t b) {
    return p->signed_steps ? a + b : capped_sum(a, b);
}

/* --- profile_reads.c */

bool order_counts(const struct profile *p, const struct pick_places *places);
/* Around each run of the counter. */
pfr_status order_begin(struct sample_counter *c, pfr_error *err);
void order_end(struct sample_counter *c);
/* As pfr_next. */
pfr_status order_next(struct sample_counter *c, pfr_record *rec, pfr_error *err);
/* Of which event the sample of a counter is, and how much it grew by since it was read before. 0: it has no sample. */
pfr_status reads_grown(struct sample_counter *c, uint64_t id, uint64_t value, uint32_t *event, uint64_t *by,
                       pfr_error *err);

/* --- profile_values.c */

/* The root of the group that the words of an entry say; key NULL: as of the end, and *since is the moment of the
   youngest place. */
pfr_status values_root(struct sample_counter *c, const uint64_t *words, const struct record_key *key, uint32_t *root,
                       uint64_t *since, pfr_error *err);
/* At the end: groups for what there was no memory for. */
pfr_status values_take_limited(struct sample_counter *c, pfr_error *err);
/* One of them. */
pfr_status values_put_limited(struct profile *p, struct frames_of *frames, struct node_tree *tree, uint32_t event,
                              const struct profile_weight *limited, pfr_error *err);

#endif
