/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CHAIN_MAKER_H
#define PFR_MODEL_CHAIN_MAKER_H
/*
 * Builds call chains that were recorded only in part. The callers in the program come from unwinding if registers and
 * stack were copied (unwind.h), from the branches if these were recorded as a call stack (LBR), or from a later record
 * (deferred.h). They are put after the part in the kernel, and the chain is then read as any other (chain.h). Call
 * stacks from branches may be stitched (call_stitch.h); samples must then come in order of time.
 *
 *    struct chain_maker maker;
 *    chain_maker_init(&maker, &objects, memory);
 *    if (chain_is_made(event))
 *        st = chain_make(&maker, event, &sample, &place, 127, words, &chain, &err);
 *    ... maker.counts has an element for each event whose stacks were unwound
 *    chain_maker_free(&maker);
 */
#include "model/stacks/call_stitch.h"
#include "model/stacks/unwind.h"

#include <perfray/reader.h>
#include <perfray/record_structs.h>

#define CHAIN_MADE_MOST 8192u  /* maximum addresses in the part that is built */
#define CHAIN_CALLS_MOST 4800u /* maximum addresses from branches: as many as fit in a record, plus STITCHED_MOST */

/* Numbers of stacks of an event, by how they ended. */
struct chain_counts {
    uint64_t ends[UNWOUND_ENDS];
    uint64_t guessed;
    uint64_t limited[UNWIND_LIMITS]; /* those of the broken stacks that a limit ended, by limit */
    uint64_t deferred;               /* stacks whose user part is recorded later */
    uint64_t missing;                /* stacks whose user part was never recorded, so that they are truncated */
    uint64_t calls;                  /* stacks from branches to which stitching was applied */
    uint64_t placed;                 /* those of `calls` for which the number of registers is known */
    uint64_t stitched;               /* those of `placed` that stitching made longer */
};

struct chain_maker {
    struct unwind_worker worker;
    struct memory *memory;
    struct chain_counts *counts; /* by event */
    size_t room;
    bool open;
    bool stitches;
    struct stitcher stitcher; /* used if `stitches` */
};

/* Context of a chain. */
struct chain_place {
    uint32_t event, space;
    uint32_t tid; /* as recorded in the sample */
    struct record_key key;
    bool swap; /* the recording's byte order differs from this machine's */
};

bool chain_is_made(const pfr_event *event);
/* Whether a later record has the user part of the event's chains as a whole. */
bool chain_is_deferred(const pfr_event *event);

/* Whether the event's branches are a call stack. Such a call stack replaces the user part of the chain, and is not cut
   to the maximum length of chains. */
bool chain_has_calls(const pfr_event *event);

/* Maximum number of words of a built chain. The chain has at most `most` addresses in the kernel, and as many in the
   program; with `of_calls`, it has all calls of a call stack from branches instead. */
size_t chain_made_words(uint32_t most, bool of_calls);

/* Initialises a maker. Memory is allocated only for the first chain. */
void chain_maker_init(struct chain_maker *maker, struct unwind_objects *objects, struct memory *memory);
void chain_maker_free(struct chain_maker *maker);
/* Enables stitching for a cpu with this many registers (branch_registers). Call it before the first chain. */
void chain_maker_stitch(struct chain_maker *maker, uint32_t registers);
/* Discards cached results. Call it after new maps if the state is learnt while records are read. */
void chain_maker_forget(struct chain_maker *maker);

/* Adds the counts of the maker to `counts`, which has `events` elements. */
void chain_counts_add(struct chain_counts *counts, uint32_t events, const struct chain_maker *from);

/* Number of stacks ended by limits. */
uint64_t chain_counts_limited(const struct chain_counts *counts);

/* Reports the stacks of all events that were ended by limits. Returns whether there were any. */
bool chain_counts_report_limits(const struct chain_counts *counts, uint32_t events, const struct unwind_limits *limits,
                                void (*on_hole)(void *context, const pfr_error *hole), void *context);

/* How the stacks of an event ended, as a sentence without final punctuation: "97.2 % of 1200 unwound stacks are whole,
   ...". false: no stack was unwound. */
#define CHAIN_SENTENCE_MOST 280u
bool chain_counts_describe(const struct chain_counts *counts, char sentence[CHAIN_SENTENCE_MOST]);

/* Passes a sentence to `note` for each event that has unwound stacks which are not all whole. With several events, the
   sentence begins with the number of the event. */
void chain_counts_note(const struct chain_counts *counts, uint32_t events,
                       void (*note)(void *context, const char *sentence), void *context);

/* Builds the whole chain in `words`, which must have room for chain_made_words(most, chain_has_calls(event)). Fails
   only for lack of memory. */
pfr_status chain_make(struct chain_maker *maker, const pfr_event *event, const struct pfr_rec_sample *sample,
                      const struct chain_place *place, uint32_t most, uint64_t *words, pfr_u64s *chain, pfr_error *err);
/* Call it for a sample whose chain is not needed: keeps data that later samples need for stitching. Fails only for lack
   of memory. */
pfr_status chain_pass(struct chain_maker *maker, const pfr_event *event, const struct pfr_rec_sample *sample,
                      const struct chain_place *place, uint32_t most, pfr_error *err);

/* Fills *hole if stitching discarded all threads because memory was short. */
bool chain_stitch_met_limit(uint64_t begun_anew, pfr_error *hole);

#endif
