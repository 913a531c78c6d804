/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_PARTS_H
#define PFR_MODEL_PROFILE_PARTS_H
/*
 * How a profile is made, one file per step:
 *
 *    profile_pick.c            reduces a sample to the values that the request needs
 *    profile_count.c           counts equal samples in one entry (struct sample_counter); most samples end here
 *    profile_new_entries.c     samples without a known entry
 *    profile_pour.c            at the end, adds the weights of entries to their nodes
 *    profile_entries.c         table of entries by hash, private to a worker or shared by all
 *    profile_fast_path.c       fast path for flat reports: entries without a resolved address
 *    profile_deferred_names.c  resolves the addresses of the entries of the fast path when all is counted
 *    profile_tracepoint.c      text of tracepoints
 *    profile_waits.c           waits of threads in place of samples
 *    profile_reads.c           samples in order of time, and samples that represent one of every counter read
 *    profile_entry_key.c       the words of a sample that identify its entry
 *    profile_values.c          values by which a new entry is grouped
 *    profile_stacks.c          resolves the call chain of a new entry
 *    profile_known.c           flat samples equal to earlier ones, if each is passed on
 *    profile_cache.c           a worker's cache of resolved addresses
 *    profile_frames.c          shared by all workers: address in a space to frame; interned names
 *    profile_names.c           deferred symbolization: names of addresses when all is counted
 *    profile_tree.c            groups, and stacks as a tree of frames
 *    profile_tree_shared.c     trees shared by several workers
 *    node_weights.c            weights of nodes, compact if most have none
 *    profile_whole_stacks.c    stacks one by one
 *    profile_sums.c            only the weights of the frames in stacks
 *    profile_frame_classes.c   classes of similar frames, for sums
 *    profile_sums_join.c       adds the sums of several workers
 *    profile_workers.c         slices of the recording, counted by several threads
 *    profile.c                 the passes over the recording
 *    profile_calls.c           profiles of traces: calls, added up by workers
 *    profile_lines.c           lines of frames, and inlined functions as frames
 *    profile_tally.c           sums of calls by group and path
 *
 * The functions of each file are declared in the header of the same name, except those of profile_sums_join.c
 * (profile_sums.h) and profile_tree_shared.c (profile_tree.h). profile_frames.h has the types of names, classes and the
 * frame cache. This header has what several files share.
 *
 * An entry is identified by (event, cpumode, thread identity, sampled address, keys, chain); with chains, by a 128-bit
 * hash of these. The thread identity is a name and an address space, determined for each sample at its own timestamp,
 * so the order of samples does not matter. Addresses are resolved once, when the entry is new, with the final state of
 * the recording. This is right for all samples after the maps that were used; `since` is the latest timestamp of these
 * maps. A sample that is not later than `since` is resolved individually, at its own timestamp.
 *
 * If two words identify an entry (thread identity and sampled address), samples after the last change of their address
 * space are counted by these words only. Their addresses are resolved when all is counted, each once for all workers.
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

/* A timestamp key as one number, which orders samples and state as far as one number can: the time, or the offset in
   the file if times are not used. The order of equal keys is not known. */
static inline uint64_t moment_of(const struct state *s, const struct record_key *key) {
    return s->timed ? key->time : key->offset;
}

/* --- profile_pick.c */

/* The values of a sample that the request needs. */
struct picked {
    uint32_t event, pid, tid, cpu;
    uint64_t ip, time, period;
    pfr_u64s chain;
    unsigned mode;
    bool made;  /* the chain was built, not taken as recorded; it is complete */
    bool uncut; /* the chain must not be cut, however long it is */
    bool bare;  /* there is no sample, so no chain can be built */
    bool grown; /* the period is the growth of a counter; the recorded period is in `recorded` */
    uint64_t recorded;
    const uint8_t *bytes;               /* the record; NULL: there is no sample */
    const struct pfr_rec_sample *whole; /* the decoded sample; NULL: no field that is not in this struct is needed */
    const struct pfr_rec_branch_entry *branch; /* the current branch, in branch mode */
    struct record_key key;
};

/* Offsets of the values in the samples of an event; 0: not recorded. */
struct pick_places {
    uint64_t sample_type;
    uint64_t period; /* default period, for samples without a recorded period */
    uint32_t ip, pid, time, cpu, period_at, chain;
    bool fixed;    /* all needed values are at fixed offsets: no decoding needed */
    bool makes;    /* chains are built from more than the recorded chain */
    bool stitches; /* chains also use earlier samples */
    bool reads;    /* each sample represents one sample of every counter that it read */
};

/* `bytes` must be a whole sample of the event. */
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

/* Start of a chain's stack, and the state that resolves its addresses. */
struct stack_place {
    uint32_t root, space;
    uint64_t since;
    const struct record_key *key; /* resolve at this key; NULL: with the final state */
    unsigned row;                 /* the row passed to profile_stacks_expect */
};

/* A chain's address that is not in the cache; it is resolved when the batch is complete. */
struct deferred_stack {
    uint64_t address, in;
    struct place place;
    uint32_t at; /* index of the frame in its row; an index after the last frame: no frame */
    uint8_t row;
};
#define DEFERRED_MOST ((unsigned)SIZE_MOST_count_deferred)

/* A stack being inserted into the tree. */
struct stack_row {
    const struct picked *picked; /* valid until the row has its leaf */
    struct stack_place place;
    uint64_t since; /* latest `since` of its frames */
    uint32_t node;  /* current node; in the end that of the stack */
    uint32_t at, count;
    uint32_t from; /* start of its frames within its room */
    pfr_status status;
    bool too_deep, whole; /* whole: the stack becomes a whole stack or sums, not nodes */
};

struct profile_stacks {
    struct memory *memory;
    struct stack_row rows[BATCH];
    unsigned count;
    struct place leaves[BATCH]; /* without chains: places of the sampled addresses */
    struct deferred_stack deferred[DEFERRED_MOST];
    unsigned nr_deferred;
    uint32_t *frames; /* frames of each row, outermost first; room + 1 per row */
    uint32_t *slots;  /* frame cache slots of the addresses in the next rows */
    size_t room;
    uint32_t nodes; /* number of nodes that the rows may add */
    bool within;    /* between profile_tree_enter and profile_tree_leave */
};
#define AHEAD 2u /* rows prefetched before they are added */

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
    struct stack_part *parts; /* frames taken over from other counters, and in the end those of this counter */
    uint32_t count, nr_parts;
    uint32_t settled; /* number of stacks that point to their frames */
    uint32_t until;   /* number of stacks at which memory is checked again */
};

/* --- profile_count.c */

#define WORDS_MOST (2 + PROFILE_KEYS + 2)
#define WHO_BITS 29
#define WHO_MOST ((1u << WHO_BITS) - 1)
#define VIEWS 512u

/* Thread identity of a sample, as far as the request needs it. */
struct who {
    uint32_t name;  /* id in state->names; NO_NAME: use the name of tid */
    uint32_t tid;   /* 0 if name is set or names are not needed */
    uint32_t space; /* NO_SPACE: unknown process, or not needed */
};

/* The counts of an entry, stored directly after the words of its key. */
struct entry_count {
    uint64_t weight, samples; /* sums of the samples later than `since`; other samples are counted at their nodes */
    uint64_t since;           /* a timestamp key */
    uint32_t node; /* node, index of a whole stack, or row of sums; NO_NODE: unused, because an equal entry was added
                      first */
    bool too_deep;
};

/* Samples resolved individually, by resulting node. */
struct alone {
    uint32_t node;
    struct profile_weight self;
};
struct individual_samples {
    struct u64_map of; /* node -> index in `at` */
    struct alone *at;
    size_t room, count;
};

/* Cache entry: the group of a set of words. */
struct group_memo {
    uint64_t word, keys[PROFILE_KEYS], since;
    uint32_t root;
    bool used;
};
#define MEMOS 32u

/* Identity of a thread, valid between two timestamp keys, both exclusive. Samples in the kernel have other slots. */
struct view_slot {
    uint64_t from, until;
    uint64_t settled; /* for the fast path: only samples after this key may take it; not before `from` */
    uint32_t pid, tid, who;
    bool used;
};

/* Cache of the digest of a sample without a chain, whose words are these two. */
struct digest_memo {
    uint64_t words[2], digest[2];
    uint32_t entry; /* its entry, + 1; 0: not known */
    bool used;
};
#define DIGESTS 1024u

/* Two words that identify samples, and their counts. An entry without samples is empty. */
struct plain_entry {
    uint64_t words[2];
    struct profile_weight self;
};

/* Hash table of plain entries; `count` is a power of two. */
struct plain_table {
    struct memory *memory;
    struct plain_entry *at;
    size_t count, used;
    bool full; /* the memory limit was reached: no entries are added */
};

/* Entries by hash: the words of the key, then a struct entry_count. */
struct entry_table {
    struct memory *memory;
    uint64_t *slots; /* upper half of the hash << 32 | entry + 1; 0: empty */
    uint64_t *entries;
    size_t slot_count, room;
    uint32_t count;    /* atomic if shared, like the next member */
    uint32_t reserved; /* entries that workers between enter and leave may still add */
};

/* What identifies a sample: the words of its entry. */
struct counter_keys {
    unsigned words;            /* number of words that identify a sample */
    unsigned key_words;        /* number of words of the key of an entry: all words of the sample, or only their hash */
    bool by_digest;            /* the key is the hash */
    bool has_places;           /* some keys depend on the address space */
    bool kernel_apart;         /* kernel addresses are the same in all spaces, so they need no thread identity */
    bool plain;                /* two words identify an entry: thread identity and sampled address */
    size_t stride;             /* total words of an entry */
    uint64_t seed, chain_seed; /* seeds of hashes of chains and of words; the same in all workers */
};

/* Chains that are not used as recorded. */
struct counter_chains {
    struct chain_maker maker;
    uint64_t *made;     /* room for the chains of a batch; NULL: chains are used as recorded */
    size_t made_words;  /* words of one chain */
    uint32_t made_most; /* maximum addresses of a deferred chain: all, if max_stack counts from the outermost */
};

/* Sums over all samples, and counts of samples that are in no entry. */
struct counter_facts {
    struct profile_weight *limited; /* by event: samples counted as [limit] */
    struct profile_weight *totals;  /* by event */
    uint64_t left_out, guests, too_deep;
    uint64_t undivided; /* see profile_facts.undivided */
    bool lossy;
    bool full; /* the memory limit was reached: no entries are added */
};

struct sample_counter {
    struct profile *profile; /* not changed, except through `cache.frames` */
    struct memory *memory;   /* the counter's share of the profile's memory, so that enough is left for later steps */
    pfr_reader *reader;
    struct pick_places *places; /* by event; belongs to the profile */
    struct counter_keys keys;
    struct entry_table *table, own_table; /* table points to own_table, or to the table shared by all workers */
    struct frame_cache cache;
    struct node_tree *tree, own_tree; /* tree points to own_tree, or to the tree shared by all workers */
    struct profile_stacks stacks;
    struct whole_stacks whole;
    struct sums sums;
    struct individual_samples individual_samples;
    struct group_memo memos[MEMOS];
    struct intern_table whos;
    struct view_slot views[VIEWS];
    struct digest_memo
        *digests;              /* DIGESTS of them; NULL: keys are not digests or have more words, or memory is short */
    bool knows;                /* profile_known.c may count samples */
    struct intern_table texts; /* texts of PROFILE_TRACE */
    struct tracepoint_text *trace;
    bool no_trace;
    struct counter_chains chains;
    struct plain_table plainly; /* samples that two words identify; the other samples are in `table` */
    struct timeline *timeline;  /* source of samples, if the order of samples matters; otherwise NULL */
    struct u64_map before;      /* id of a counter -> its value when it was last read */
    struct counter_facts facts;
    size_t wait_hint;     /* hint of sample_waits_find */
    uint32_t number, run; /* number of the counter and of its current run, for request.each */
};

static inline uint64_t *entry_words(const struct sample_counter *c, uint32_t entry) {
    return c->table->entries + entry * c->keys.stride;
}

static inline struct entry_count *entry_count_of(const struct sample_counter *c, const uint64_t *words) {
    return (struct entry_count *)(void *)(uintptr_t)(words + c->keys.key_words);
}

/* --- profile_entries.c */

/* Prefetch the data of an entry lookup. entry_fetch_slot fetches the slot, also outside of counter_enter. entry_fetch,
   called some time later, fetches the entry. */
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

#define KEYS_APART (PROFILE_BIT(PROFILE_COMM)) /* keys that need no word of their own */

/* A sample being counted. */
struct sample_item {
    uint64_t words[WORDS_MOST];
    uint64_t digest[2]; /* hash of the words, if there are chains; the same in all workers */
    uint64_t hash, moment;
    struct picked picked;
    uint64_t *made; /* room for a built chain */
    uint32_t node;  /* its node, once it is counted */
    uint32_t row;   /* of the batch, if the request has `each` */
    bool alone;     /* its addresses are resolved at its own timestamp */
    bool limited;   /* no memory was left for it; it stays in the batch only to keep the order */
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
    return c->keys.by_digest ? key[0] : words_hash_of(c->keys.seed, key, c->keys.key_words);
}
/* The key of the sample's entry. */
static inline const uint64_t *item_key(const struct sample_counter *c, const struct sample_item *item) {
    return c->keys.by_digest ? item->digest : item->words;
}

/* Slot of a recently seen thread. */
static inline size_t view_number(uint32_t tid, bool in_kernel) {
    return (tid ^ tid >> 6) % (VIEWS / 2) * 2 + in_kernel;
}
static inline struct view_slot *words_view(struct sample_counter *c, const struct picked *s) {
    return &c->views[view_number(s->tid, c->keys.kernel_apart && s->mode == PFR_CPUMODE_KERNEL)];
}
static inline bool words_view_holds(const struct view_slot *slot, const struct picked *s, uint64_t moment) {
    return slot->used && slot->tid == s->tid && slot->pid == s->pid && slot->from < moment && moment < slot->until;
}
static inline uint64_t words_first(const struct picked *s, uint32_t who) {
    return (uint64_t)s->event << 32 | (uint64_t)s->mode << WHO_BITS | who;
}
/* Inline form of words_make, which suffices for nearly all samples of flat reports; false: call words_make for this
   sample. */
static inline bool words_make_plain(struct sample_counter *c, struct sample_item *item) {
    const struct picked *s = &item->picked;
    const struct view_slot *slot = words_view(c, s);
    item->moment = moment_of(&c->profile->state, &s->key);
    if (!c->keys.plain || !words_view_holds(slot, s, item->moment))
        return false;
    item->words[0] = words_first(s, slot->who);
    item->words[1] = s->ip;
    item->hash = words_hash_of(c->keys.seed, item->words, 2);
    entry_fetch_slot(c, item->hash);
    return true;
}

/* --- profile_count.c, public part */

/* Data shared by all workers, if stacks are nodes. */
struct common {
    struct node_tree tree;
    struct entry_table table;
};

/* Prefetch the data of counter_find. counter_fetch_slot fetches the slot. counter_fetch_entry, called some time later,
   fetches the entry. */
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

/* Sums of periods saturate at 2^64 - 1 in any order of addition, so that profile_load notices the overflow. */
static inline uint64_t weights_sum(const struct profile *p, uint64_t a, uint64_t b) {
    return p->facts.signed_steps ? a + b : capped_sum(a, b);
}

#endif
