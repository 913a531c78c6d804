/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CHAIN_MAKER_H
#define PFR_MODEL_CHAIN_MAKER_H
/*
 * Builds call chains that were recorded only in part. The callers in the program come from unwinding if registers and
 * stack were copied (unwind.h), from the branches if these were recorded as a call stack (LBR), or from a later record
 * (deferred.h). They are put after the kernel's part, and the chain is then read as any other (chain.h). Call stacks
 * from branches may be stitched (call_stitch.h); samples must then come in order of time.
 *
 *    struct chain_maker maker;
 *    chain_maker_init(&maker, &objects, memory);
 *    if (chain_is_made(event))
 *        st = chain_make(&maker, event, &sample, &place, 127, words, &chain, &err);
 *    maker.counts, one for each event that unwound
 *    chain_maker_free(&maker);
 */
#include "model/stacks/call_stitch.h"
#include "model/stacks/unwind.h"

#include <perfray/reader.h>
#include <perfray/record_structs.h>

#define CHAIN_MADE_MOST 8192u  /* addresses of one part */
#define CHAIN_CALLS_MOST 4800u /* addresses from branches: as many as fit in a record, and STITCHED_MOST */

/* Counts of how an event's stacks ended. */
struct chain_counts {
    uint64_t ends[UNWOUND_ENDS];
    uint64_t guessed;
    uint64_t limited[UNWIND_LIMITS]; /* broken stacks that were ended by a limit, by limit */
    uint64_t deferred;               /* stacks whose user part is recorded later */
    uint64_t missing;                /* stacks whose user part was never recorded, so that they are truncated */
    uint64_t calls;                  /* stacks from branches that were to be stitched */
    uint64_t placed;                 /* those of `calls` whose number of registers is known */
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
/* Whether the user parts of the event's chains are recorded later, as a whole. */
bool chain_is_deferred(const pfr_event *event);

/* Whether the event's branches are a call stack. It replaces the user part of the chain, and is not cut to the maximum
   length. */
bool chain_has_calls(const pfr_event *event);

/* Maximum words of a built chain. It has at most `most` addresses in the kernel, and as many in the program or, with
   `of_calls`, all calls of a call stack from branches. */
size_t chain_made_words(uint32_t most, bool of_calls);

/* Allocates nothing before the first chain. */
void chain_maker_init(struct chain_maker *maker, struct unwind_objects *objects, struct memory *memory);
void chain_maker_free(struct chain_maker *maker);
/* Enables stitching, before the first chain, for a cpu with this many registers (branch_registers). */
void chain_maker_stitch(struct chain_maker *maker, uint32_t registers);
/* Call it after new maps if the state is learnt while records are read. */
void chain_maker_forget(struct chain_maker *maker);

/* Adds the maker's counts to `counts`, of `events` events. */
void chain_counts_add(struct chain_counts *counts, uint32_t events, const struct chain_maker *from);

/* Number of stacks ended by limits. */
uint64_t chain_counts_limited(const struct chain_counts *counts);

/* Reports stacks ended by limits, of all events; returns whether there were any. */
bool chain_counts_report_limits(const struct chain_counts *counts, uint32_t events, const struct unwind_limits *limits,
                                void (*on_hole)(void *context, const pfr_error *hole), void *context);

/* How the stacks of an event ended, as a sentence without final punctuation: "97.2 % of 1200 unwound stacks are whole,
   ...". false: no stack was unwound. */
#define CHAIN_SENTENCE_MOST 280u
bool chain_counts_describe(const struct chain_counts *counts, char sentence[CHAIN_SENTENCE_MOST]);

/* Passes that sentence to `note` for each event; if there are several events, with the number of the event. */
void chain_counts_note(const struct chain_counts *counts, uint32_t events,
                       void (*note)(void *context, const char *sentence), void *context);

/* Builds the whole chain in `words`, with room for chain_made_words(most, chain_has_calls(event)). Fails only for lack
   of memory. */
pfr_status chain_make(struct chain_maker *maker, const pfr_event *event, const struct pfr_rec_sample *sample,
                      const struct chain_place *place, uint32_t most, uint64_t *words, pfr_u64s *chain, pfr_error *err);
/* For a sample whose chain is not needed: keeps what later samples need for stitching. Fails only for lack of memory.
 */
pfr_status chain_pass(struct chain_maker *maker, const pfr_event *event, const struct pfr_rec_sample *sample,
                      const struct chain_place *place, uint32_t most, pfr_error *err);

/* Fills *hole if stitching started again because memory was short. */
bool chain_stitch_met_limit(uint64_t begun_anew, pfr_error *hole);

#endif
