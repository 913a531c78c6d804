/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_PARTS_H
#define PFR_MODEL_PROFILE_PARTS_H
/*
 * How a profile is made, one file for each step:
 *
 *     profile_pick.c      a sample to the few numbers that the wish asks for
 *     profile_count.c     equal samples to one entry (struct counter); most samples end here
 *     raw_stacks.c        the chains of new entries, as a tree of addresses
 *     profile_frames.c    an address in a space to its frame: names, each once
 *     profile_tree.c      groups, and stacks as a tree of frames
 *     profile_resolve.c   entries to groups and nodes, by the state at the end of the recording, which is right for
 *                         all samples that came after their maps
 *     profile.c           the passes over the recording
 *
 * An entry is found by (event, cpumode, who, sampled address, keys, hash of the chain). Who is a name and an address
 * space, worked out for each sample at its own moment: so the order of samples does not matter. What its addresses mean
 * is worked out once for each entry, afterwards. Where a map came between the samples of one entry that may be wrong:
 * then `first`, the moment of the first of them, is not behind the map's, the entry is left out, and a further pass
 * looks its samples up one by one.
 */
#include "model/profile.h"

#include "base/fail.h"
#include "file/recording.h"
#include "model/raw_stacks.h"

#define CPUMODE 7u
#define CPUMODE_KERNEL 1u
#define CPUMODE_USER 2u
#define CPUMODE_HYPERVISOR 3u
#define CPUMODE_GUEST_USER 5u
#define NO_TIME_MOMENT (UINT64_MAX - 1)

/* A moment orders samples and state as far as one number can: the time, or the place in the file where times do not
   count. Equal ones tell nothing. */
static inline uint64_t moment_of(const struct state *s, const struct key *key) {
    return s->timed ? key->time : key->offset;
}

/* --- profile_pick.c */

/* What a sample says, as far as it was asked for. */
struct picked {
    uint32_t event, pid, tid, cpu;
    uint64_t ip, time, period;
    pfr_u64s chain;
    unsigned mode;
    const struct pfr_rec_sample *whole;        /* NULL: nothing else is needed */
    const struct pfr_rec_branch_entry *branch; /* the one at hand, in branch mode */
    struct key key;
};

/* Where the numbers stand in the samples of an event; 0: they are not recorded. */
struct pick_places {
    uint64_t sample_type;
    uint64_t period; /* of samples that have none of their own */
    uint32_t ip, pid, time, cpu, period_at, chain;
    bool fixed; /* all that is wished for stands at fixed places: no need to decode */
};

void pick_learn(struct pick_places *places, const pfr_reader *reader, uint32_t event, const struct profile_wish *wish);

/* `bytes` is a whole sample of the event. */
void pick_fixed(const struct pick_places *places, const uint8_t *bytes, bool swap, struct picked *out);
void pick_decoded(const struct pick_places *places, const struct pfr_rec_sample *sample, struct picked *out);

/* The number of a key; those that are texts or places still are what was recorded. */
uint64_t pick_value(const struct profile_wish *wish, const struct pick_places *places, const struct picked *picked,
                    enum profile_key key);

/* --- profile_count.c */

#define WORDS_MOST (2 + PROFILE_KEYS + 2)
#define WHO_BITS 29
#define WHO_MOST ((1u << WHO_BITS) - 1)
#define BATCH 64u
#define VIEWS 64u

/* Who a sample belongs to, as far as anybody asks. */
struct who {
    uint32_t name;  /* in state->names; NO_NAME: that of tid */
    uint32_t tid;   /* 0 where there is a name, or nobody asks for one */
    uint32_t space; /* NO_SPACE: nobody's, or nobody asks */
};

/* Behind the words of an entry. */
struct entry_count {
    uint64_t weight, samples, first, last; /* the moments of its first and last sample */
    uint32_t stack;                        /* in the counter's stacks; 0: it has no chain */
    uint32_t flags;
};
#define ENTRY_UNSURE 1u  /* its samples are looked up one by one */
#define ENTRY_LIMITED 2u /* it went into [limit] */

/* A thread as it is between two moments, neither of them included. */
struct view_slot {
    uint64_t from, until;
    uint32_t pid, tid, who;
    bool used;
};

struct counter {
    struct profile *profile; /* which is not changed */
    struct memory *memory;   /* its own: a part of what the profile may take, so that enough is left for the rest */
    pfr_reader *reader;
    struct pick_places *places; /* by event; the profile's */
    unsigned words;             /* of each entry that tell it apart */
    size_t stride;              /* words of an entry in all */
    uint64_t seed;
    uint64_t *slots; /* upper half of the hash << 32 | entry + 1; 0: empty */
    size_t slot_count;
    uint64_t *entries;
    size_t room;
    uint32_t count;
    struct raw_stacks stacks;
    struct intern_table whos;
    struct view_slot views[VIEWS];
    struct intern_table texts; /* of PROFILE_TRACE */
    struct trace_text *trace;
    bool no_trace;
    bool full;                      /* the limit was met: nothing new is taken in */
    struct profile_weight *limited; /* by event; what could not be taken in */
    struct profile_weight *totals;  /* by event */
    uint64_t left_out, guests;
    bool lossy;
};

static inline uint64_t *entry_words(const struct counter *c, uint32_t entry) {
    return c->entries + entry * c->stride;
}

static inline struct entry_count *entry_count_of(const struct counter *c, const uint64_t *words) {
    return (struct entry_count *)(void *)(uintptr_t)(words + c->words);
}

pfr_status counter_init(struct counter *c, struct profile *p, pfr_reader *reader, struct pick_places *places,
                        struct memory *memory, pfr_error *err);
void counter_free(struct counter *c);

/* Counts the samples of the reader from where it is, to its end. */
pfr_status counter_run(struct counter *c, pfr_error *err);

/* The same again, but each sample whose entry is unsure is given to `sample` instead of being counted. */
typedef pfr_status unsure_fn(void *context, struct counter *c, const uint64_t *words, const struct picked *picked,
                             pfr_error *err);
pfr_status counter_run_unsure(struct counter *c, unsure_fn *sample, void *context, pfr_error *err);

static inline struct who counter_who(const struct counter *c, uint64_t first_word) {
    struct who who;
    memcpy(&who, intern_get(&c->whos, (uint32_t)first_word & WHO_MOST).bytes, sizeof who);
    return who;
}

/* --- profile_frames.c */

struct frame_place {
    uint64_t address, since; /* since: a moment; samples behind it were there, too */
    uint32_t space, frame;   /* frame + 1; 0: empty slot */
    bool too_deep;
};

struct frames_of {
    struct profile *profile;
    struct memory *memory;
    struct frame_place *slots;
    size_t slot_count, used;
    struct intern_table keys; /* what makes two addresses one frame */
};

void profile_frames_init(struct frames_of *f, struct profile *p);
void profile_frames_free(struct frames_of *f);
/* The frame as the state at the end has it, and since when. The place lives until the next call. */
pfr_status profile_frame(struct frames_of *f, unsigned mode, uint32_t space, uint64_t address,
                         const struct frame_place **place, pfr_error *err);
/* The frame at one moment. */
pfr_status profile_frame_at(struct frames_of *f, unsigned mode, uint32_t space, uint64_t address, const struct key *key,
                            uint32_t *frame, bool *too_deep, pfr_error *err);
/* Gives back what was kept of addresses; they are looked up anew. */
void profile_frames_forget(struct frames_of *f);
/* A frame that is only a text. */
pfr_status profile_text_frame(struct frames_of *f, const char *text, uint32_t *frame, pfr_error *err);

/* --- profile_tree.c */

/* Of a node: as in raw_stacks.h, node + 1; 0: none. */
struct tree_link {
    uint32_t frame, inner, next;
};

struct tree {
    struct profile *profile;
    struct memory *memory;
    struct tree_link *links; /* by node */
    uint32_t *slots;         /* node + 1 of those that are not in the list of their parent; 0: empty */
    size_t links_room, slot_count, used;
    struct intern_table group_keys;
    struct u64_map places; /* frame -> its place */
};

void profile_tree_init(struct tree *t, struct profile *p);
void profile_tree_free(struct tree *t);
/* The group of an event and its values, and in it the root. */
pfr_status profile_group(struct tree *t, uint32_t event, const uint64_t *values, unsigned count, uint32_t *group,
                         pfr_error *err);
pfr_status profile_child(struct tree *t, uint32_t parent, uint32_t frame, uint32_t *node, pfr_error *err);
pfr_status profile_put_place(struct tree *t, uint32_t frame, uint64_t address, uint64_t *value, pfr_error *err);

/* --- profile_resolve.c */

/* All entries of the counter, whose stacks are given back; *unsure: how many more were left out. */
struct resolver {
    struct profile *profile;
    struct frames_of frames;
    struct tree tree;
    uint32_t *node_of, *stamp; /* by raw node: its node in the tree, if stamp is the one at hand */
    uint64_t *since;
    size_t raw_room;
    uint32_t now;
};

void resolver_init(struct resolver *r, struct profile *p);
void resolver_free(struct resolver *r);
pfr_status resolver_take(struct resolver *r, struct counter *c, uint32_t *unsure, pfr_error *err);
unsure_fn resolver_take_sample; /* context: the resolver */
/* At the end, when what the others needed can be given back. */
pfr_status resolver_take_limited(struct resolver *r, const struct counter *c, pfr_error *err);

#endif
