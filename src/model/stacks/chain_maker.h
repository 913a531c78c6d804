/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CHAIN_MAKER_H
#define PFR_MODEL_CHAIN_MAKER_H
/*
 * Call chains of which only a part was recorded as one. Where registers and the stack were copied, the callers in the
 * program come from unwinding (unwind.h); where branches were recorded as a stack of calls (LBR), from those; where
 * they were recorded later, from what came then (deferred.h). They are put behind the kernel's part, and then the chain
 * is read as any other (chain.h). Branches that were recorded as such a stack may be stitched (call_stitch.h); then
 * samples must come in the order of time.
 *
 *     struct chain_maker maker;
 *     chain_maker_init(&maker, &objects, memory);
 *     if (chain_is_made(event))
 *         st = chain_make(&maker, event, &sample, &place, 127, words, &chain, &err);
 *     maker.counts, one for each event that unwound
 *     chain_maker_free(&maker);
 */
#include "model/stacks/call_stitch.h"
#include "model/stacks/unwind.h"

#include <perfray/reader.h>
#include <perfray/record_structs.h>

#define CHAIN_MADE_MOST 8192u  /* addresses of one part */
#define CHAIN_CALLS_MOST 4800u /* addresses out of branches: as many as fit a record, and STITCHED_MOST */

/* How the stacks of an event ended. */
struct chain_counts {
    uint64_t ends[UNWOUND_ENDS];
    uint64_t guessed;
    uint64_t limited[UNWIND_LIMITS]; /* of the broken ones: those that a limit ended */
    uint64_t deferred;               /* the program's part was to come later, */
    uint64_t missing;                /* and never came; they are truncated */
    uint64_t calls;                  /* stacks out of branches that were to be stitched, */
    uint64_t placed;                 /* of which it is known where in the cpu they stand, */
    uint64_t stitched;               /* and that are longer than what was recorded */
};

struct chain_maker {
    struct unwind_worker worker;
    struct memory *memory;
    struct chain_counts *counts; /* by event */
    size_t room;
    bool open;
    bool stitches;
    struct stitcher stitcher; /* where it does */
};

/* What a chain is made in. */
struct chain_place {
    uint32_t event, space;
    uint32_t tid; /* as the sample says it */
    struct record_key key;
    bool swap; /* the recording's byte order is not this machine's */
};

bool chain_is_made(const pfr_event *event);
/* The program's part of its chains was recorded later, and whole. */
bool chain_is_deferred(const pfr_event *event);

/* Its branches are a stack of calls, which stands for the program's part. However long chains may be, it is whole. */
bool chain_has_calls(const pfr_event *event);

/* How many words a made chain may take, of at most `most` addresses in the kernel and as many in the program;
   `of_calls`: or all calls of an event that has them. */
size_t chain_made_words(uint32_t most, bool of_calls);

/* Takes no memory before the first chain. */
void chain_maker_init(struct chain_maker *maker, struct unwind_objects *objects, struct memory *memory);
void chain_maker_free(struct chain_maker *maker);
/* Before the first chain: stacks of calls are stitched, of a cpu with so many registers (branch_registers). */
void chain_maker_stitch(struct chain_maker *maker, uint32_t registers);
/* After maps came: for a state that is learnt on the way. */
void chain_maker_forget(struct chain_maker *maker);

/* Adds what was counted, to `counts` of so many events. */
void chain_counts_add(struct chain_counts *counts, uint32_t events, const struct chain_maker *from);

/* Stacks that limits ended. */
uint64_t chain_counts_limited(const struct chain_counts *counts);

/* What limits ended, of all events; whether there is anything. */
bool chain_counts_tell_limits(const struct chain_counts *counts, uint32_t events, const struct unwind_limits *limits,
                              void (*tell)(void *context, const pfr_error *hole), void *context);

/* How the stacks of an event ended, in one sentence without its end: "97.2 % of 1200 unwound stacks are whole, ...".
   false: none was unwound. */
#define CHAIN_SENTENCE_MOST 280u
bool chain_counts_tell(const struct chain_counts *counts, char sentence[CHAIN_SENTENCE_MOST]);

/* Tells it of each event; of several by its place in the recording. */
void chain_counts_note(const struct chain_counts *counts, uint32_t events,
                       void (*note)(void *context, const char *sentence), void *context);

/* The whole chain in `words`, of which there must be chain_made_words(most, chain_has_calls(event)). Errors: no memory.
 */
pfr_status chain_make(struct chain_maker *maker, const pfr_event *event, const struct pfr_rec_sample *sample,
                      const struct chain_place *place, uint32_t most, uint64_t *words, pfr_u64s *chain, pfr_error *err);
/* A sample whose chain nobody wants, so that those behind it are stitched as if it had been. Errors: no memory. */
pfr_status chain_pass(struct chain_maker *maker, const pfr_event *event, const struct pfr_rec_sample *sample,
                      const struct chain_place *place, uint32_t most, pfr_error *err);

/* Fills *hole when stitching began anew because memory was short. */
bool chain_stitch_met_limit(uint64_t begun_anew, pfr_error *hole);

#endif
