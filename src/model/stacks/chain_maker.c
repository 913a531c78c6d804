/* SPDX-License-Identifier: Apache-2.0 */
/* Builds call chains: see chain_maker.h. */
#include "model/stacks/chain_maker.h"

#include "base/memory/fail.h"
#include "model/stacks/chain.h"

#include <perfray/record.h>

#include <inttypes.h>
#include <stdio.h>

#define S_COPIES (3ull << 12) /* registers and stack were copied: REGS_USER and STACK_USER */
#define CALL_STACK (1ull << 11)
#define HW_INDEX (1ull << 17)
#define USER_MARKER ((uint64_t)-512)
#define MARKERS_ROOM 16u

static bool unwinds(const pfr_event *event) {
    return (event->attr.sample_type & S_COPIES) == S_COPIES;
}

bool chain_has_calls(const pfr_event *event) {
    return (event->attr.sample_type & PFR_SAMPLE_BRANCH_STACK) && (event->attr.branch_sample_type & CALL_STACK);
}

bool chain_is_deferred(const pfr_event *event) {
    return (event->attr.sample_type & PFR_SAMPLE_CALLCHAIN) && event->attr.flags.defer_callchain;
}

bool chain_is_made(const pfr_event *event) {
    return (event->attr.sample_type & PFR_SAMPLE_CALLCHAIN) &&
           (unwinds(event) || chain_has_calls(event) || chain_is_deferred(event));
}

static uint32_t bounded(uint32_t most) {
    return most < CHAIN_MADE_MOST ? most : CHAIN_MADE_MOST;
}

size_t chain_made_words(uint32_t most, bool of_calls) {
    return 3 * (size_t)bounded(most) + 2 * MARKERS_ROOM + (of_calls ? CHAIN_CALLS_MOST : 0);
}

void chain_maker_init(struct chain_maker *maker, struct unwind_objects *objects, struct memory *memory) {
    *maker = (struct chain_maker){.memory = memory, .worker.objects = objects};
}

void chain_maker_stitch(struct chain_maker *maker, uint32_t registers) {
    maker->stitches = true;
    stitcher_init(&maker->stitcher, registers, maker->memory);
}

void chain_maker_free(struct chain_maker *maker) {
    if (maker->open)
        unwind_worker_free(&maker->worker);
    stitcher_free(&maker->stitcher);
    maker->stitches = false;
    mem_free(maker->memory, maker->counts, maker->room, sizeof *maker->counts);
    maker->counts = NULL;
    maker->room = 0;
    maker->open = false;
}

void chain_maker_forget(struct chain_maker *maker) {
    if (maker->open)
        unwind_worker_forget(&maker->worker);
}

static pfr_status make_counts(struct chain_maker *maker, uint32_t event, pfr_error *err) {
    if (event < maker->room)
        return PFR_OK;
    const size_t room = (size_t)event + 8;
    void *more = mem_resize(maker->memory, maker->counts, maker->room, room, sizeof *maker->counts);
    if (!more)
        return mem_fail(maker->memory, err, "unwinding");
    maker->counts = more;
    memset(maker->counts + maker->room, 0, (room - maker->room) * sizeof *maker->counts);
    maker->room = room;
    return PFR_OK;
}

void chain_counts_add(struct chain_counts *counts, uint32_t events, const struct chain_maker *from) {
    for (uint32_t i = 0; i < events && i < from->room; i++) {
        for (unsigned end = 0; end < UNWOUND_ENDS; end++)
            counts[i].ends[end] += from->counts[i].ends[end];
        for (unsigned limit = 0; limit < UNWIND_LIMITS; limit++)
            counts[i].limited[limit] += from->counts[i].limited[limit];
        counts[i].guessed += from->counts[i].guessed;
        counts[i].deferred += from->counts[i].deferred;
        counts[i].missing += from->counts[i].missing;
        counts[i].calls += from->counts[i].calls;
        counts[i].placed += from->counts[i].placed;
        counts[i].stitched += from->counts[i].stitched;
    }
}

bool chain_counts_report_limits(const struct chain_counts *counts, uint32_t events, const struct unwind_limits *limits,
                                void (*on_hole)(void *context, const pfr_error *hole), void *context) {
    uint64_t stacks[UNWIND_LIMITS] = {0};
    for (uint32_t i = 0; i < events; i++)
        for (unsigned limit = UNWIND_LIMIT_NONE + 1; limit < UNWIND_LIMITS; limit++)
            stacks[limit] += counts[i].limited[limit];
    return unwind_limits_report(limits, stacks, on_hole, context);
}

uint64_t chain_counts_limited(const struct chain_counts *counts) {
    uint64_t sum = 0;
    for (unsigned limit = UNWIND_LIMIT_NONE + 1; limit < UNWIND_LIMITS; limit++)
        sum += counts->limited[limit];
    return sum;
}

static double share(uint64_t part, uint64_t whole) {
    return 100.0 * (double)part / (double)whole;
}

static void describe_deferred(const struct chain_counts *counts, uint64_t all, char sentence[CHAIN_SENTENCE_MOST]) {
    const uint64_t *ends = counts->ends;
    snprintf(sentence, CHAIN_SENTENCE_MOST,
             "%" PRIu64
             " stacks recorded in two parts: %.1f %% complete, %.1f %% truncated by --max-stack, %.1f %% (%" PRIu64
             ") without a user part, which was never recorded",
             all, share(ends[UNWOUND_COMPLETE], all), share(ends[UNWOUND_TRUNCATED] - counts->missing, all),
             share(counts->missing, all), counts->missing);
}

static void describe_unwound(const struct chain_counts *counts, uint64_t all, char sentence[CHAIN_SENTENCE_MOST]) {
    const uint64_t *ends = counts->ends, limited = chain_counts_limited(counts);
    int length =
        snprintf(sentence, CHAIN_SENTENCE_MOST,
                 "%" PRIu64 " stacks unwound: %.1f %% complete, %.1f %% truncated by the stack copy or --max-stack, "
                 "%.1f %% broken (objects or their unwind tables are missing)",
                 all, share(ends[UNWOUND_COMPLETE], all), share(ends[UNWOUND_TRUNCATED], all),
                 share(ends[UNWOUND_BROKEN] - limited, all));
    if (limited && length > 0 && (size_t)length < CHAIN_SENTENCE_MOST)
        length += snprintf(sentence + length, CHAIN_SENTENCE_MOST - (size_t)length, ", %.1f %% truncated by a limit",
                           share(limited, all));
    if (counts->guessed && length > 0 && (size_t)length < CHAIN_SENTENCE_MOST)
        snprintf(sentence + length, CHAIN_SENTENCE_MOST - (size_t)length, "; %" PRIu64 " have guessed frames",
                 counts->guessed);
}

static void describe_stitched(const struct chain_counts *counts, uint64_t all, char sentence[CHAIN_SENTENCE_MOST]) {
    if (counts->placed == 0)
        snprintf(
            sentence, CHAIN_SENTENCE_MOST,
            "none of %" PRIu64
            " LBR stacks is stitched: the number of LBR registers, or the index of the newest one, was not recorded",
            all);
    else
        snprintf(sentence, CHAIN_SENTENCE_MOST,
                 "%" PRIu64 " LBR stacks: %.1f %% extended with calls of earlier samples", all,
                 share(counts->stitched, all));
}

bool chain_counts_describe(const struct chain_counts *counts, char sentence[CHAIN_SENTENCE_MOST]) {
    const uint64_t *ends = counts->ends;
    const uint64_t all = ends[UNWOUND_COMPLETE] + ends[UNWOUND_TRUNCATED] + ends[UNWOUND_BROKEN];
    if (counts->calls)
        describe_stitched(counts, counts->calls, sentence);
    else if (all)
        (counts->deferred ? describe_deferred : describe_unwound)(counts, all, sentence);
    return counts->calls || all;
}

bool chain_stitch_met_limit(uint64_t begun_anew, pfr_error *hole) {
    if (begun_anew)
        pfr_fail(hole, PFR_HOLE, PFR_NO_OFFSET, 0, "memory",
                 "stitching of LBR stacks restarted %" PRIu64 " time%s: their threads did not fit (limit memory)",
                 begun_anew, begun_anew == 1 ? "" : "s");
    return begun_anew;
}

/* Whether stacks were unwound, and all of them were unwound up to their outermost frame, without guesses. */
static bool are_all_complete(const struct chain_counts *counts) {
    return counts->calls == 0 && counts->deferred == 0 && counts->guessed == 0 &&
           counts->ends[UNWOUND_TRUNCATED] + counts->ends[UNWOUND_BROKEN] == 0;
}

void chain_counts_note(const struct chain_counts *counts, uint32_t events,
                       void (*note)(void *context, const char *sentence), void *context) {
    char sentence[CHAIN_SENTENCE_MOST], text[CHAIN_SENTENCE_MOST + 32];
    for (uint32_t i = 0; i < events && note; i++) {
        if (!chain_counts_describe(&counts[i], sentence) || are_all_complete(&counts[i]))
            continue;
        snprintf(text, sizeof text, "event %" PRIu32 ": %s", i + 1, sentence);
        note(context, events > 1 ? text : sentence);
    }
}

/* Copies the part that was recorded as a chain: at most `most` addresses, and as many markers as there is room for. */
static size_t copy_chain(const pfr_u64s *chain, uint32_t most, uint64_t *to, uint64_t *last_marker) {
    size_t count = 0, room = (size_t)most + MARKERS_ROOM - 1;
    for (uint64_t i = 0; i < chain->count && most > 0 && count < room; i++) {
        to[count] = pfr_u64s_at(chain, i);
        if (to[count] >= CHAIN_MARKERS)
            *last_marker = to[count];
        else
            most--;
        count++;
    }
    return count;
}

static pfr_status unwind(struct chain_maker *maker, const pfr_event *event, const struct pfr_rec_sample *s,
                         const struct chain_place *place, uint32_t most, uint64_t *words, size_t *count,
                         pfr_error *err) {
    const struct unwind_sample sample = {
        .mask = event->attr.sample_regs_user,
        .abi = s->regs_user.abi,
        .registers = s->regs_user.regs,
        .stack = s->stack_user.data.at,
        .size = s->stack_user.dyn_size < s->stack_user.data.length ? s->stack_user.dyn_size : s->stack_user.data.length,
        .room = s->stack_user.data.length,
        .swap = place->swap,
        .space = place->space,
        .key = place->key};
    struct unwound unwound;
    if (!maker->open)
        PFR_TRY(unwind_worker_init(&maker->worker, maker->worker.objects, maker->memory, err));
    maker->open = true;
    PFR_TRY(make_counts(maker, place->event, err));
    PFR_TRY(unwind_stack(&maker->worker, &sample, most, words + *count + 1, &unwound, err));
    *count += unwound.count ? unwound.count + 1 : 0; /* 1 for the marker before the addresses */
    maker->counts[place->event].ends[unwound.end]++;
    maker->counts[place->event].limited[unwound.limit] += unwound.limit != UNWIND_LIMIT_NONE;
    maker->counts[place->event].guessed += unwound.guessed;
    return PFR_OK;
}

/* Finds the start of the user part among the first `most` entries, which calls from branches replace. false: the event
   has no such calls, or the chain has no user part. */
static bool find_calls(const pfr_event *event, const struct pfr_rec_sample *s, uint32_t most, uint64_t *user) {
    if (!chain_has_calls(event))
        return false;
    for (*user = 0; *user < s->chain.count && *user < most; ++*user)
        if (pfr_u64s_at(&s->chain, *user) == USER_MARKER)
            return true;
    return false;
}

static pfr_status find_lost(struct chain_maker *maker, const pfr_event *event, const struct pfr_rec_sample *s,
                            const struct chain_place *place, struct lost_calls *lost, pfr_error *err) {
    *lost = (struct lost_calls){.count = 0};
    if (!maker->stitches || place->tid == NOBODY || !(event->attr.branch_sample_type & HW_INDEX))
        return PFR_OK;
    return stitch_calls(&maker->stitcher, place->tid, place->space, &s->branch, lost, err);
}

static pfr_status count_lost(struct chain_maker *maker, const pfr_event *event, const struct chain_place *place,
                             const struct lost_calls *lost, pfr_error *err) {
    if (!maker->stitches)
        return PFR_OK;
    PFR_TRY(make_counts(maker, place->event, err));
    maker->counts[place->event].calls++;
    maker->counts[place->event].placed += maker->stitcher.registers && event->attr.branch_sample_type & HW_INDEX;
    maker->counts[place->event].stitched += lost->count > 0;
    return PFR_OK;
}

/* Writes the calls as a chain. The target of the newest branch is in the running function; the source of each branch is
   in the caller of that function. */
static size_t put_calls(const struct pfr_rec_sample *s, const struct lost_calls *lost, uint64_t *words) {
    struct pfr_rec_branch_entry entry;
    size_t count = 0;
    pfr_items_iter it = pfr_items_begin(&s->branch.entries);
    while (count < CHAIN_CALLS_MOST - 1 && pfr_items_next(&it, &entry, sizeof entry, NULL) == PFR_OK) {
        if (count == 0)
            words[count++] = entry.to;
        words[count++] = entry.from;
    }
    for (size_t i = lost->count; i-- > 0 && count < CHAIN_CALLS_MOST;)
        words[count++] = lost->from[i];
    return count;
}

/* Replaces the recorded user part, from its marker at `user` on. */
static pfr_status make_calls(struct chain_maker *maker, const pfr_event *event, const struct pfr_rec_sample *s,
                             const struct chain_place *place, uint64_t user, uint64_t *words, pfr_u64s *chain,
                             pfr_error *err) {
    struct lost_calls lost;
    PFR_TRY(find_lost(maker, event, s, place, &lost, err));
    PFR_TRY(count_lost(maker, event, place, &lost, err));
    for (uint64_t i = 0; i <= user; i++)
        words[i] = pfr_u64s_at(&s->chain, i);
    *chain = (pfr_u64s){.at = (const uint8_t *)words, .count = user + 1 + put_calls(s, &lost, words + user + 1)};
    return PFR_OK;
}

pfr_status chain_pass(struct chain_maker *maker, const pfr_event *event, const struct pfr_rec_sample *s,
                      const struct chain_place *place, uint32_t most, pfr_error *err) {
    struct lost_calls lost;
    uint64_t user;
    if (!maker->stitches)
        return PFR_OK;
    return find_calls(event, s, bounded(most), &user) ? find_lost(maker, event, s, place, &lost, err) : PFR_OK;
}

/* Appends the user marker and as many addresses as `most` permits. false: some addresses were left out. */
static bool put_rest(const pfr_u64s *rest, uint32_t most, uint64_t *words, size_t *count) {
    size_t addresses = 0;
    uint64_t marker = 0;
    for (size_t i = 0; i < *count; i++)
        addresses += words[i] < CHAIN_MARKERS;
    if (rest->count && pfr_u64s_at(rest, 0) < CHAIN_MARKERS)
        words[(*count)++] = USER_MARKER;
    const size_t put = copy_chain(rest, (uint32_t)(most - addresses), words + *count, &marker);
    *count += put;
    return put < rest->count;
}

static pfr_status join(struct chain_maker *maker, const struct chain_place *place, uint64_t cookie, uint32_t most,
                       uint64_t *words, size_t *count, pfr_error *err) {
    const struct deferred_chains *all = &maker->worker.objects->state->deferred;
    pfr_u64s rest;
    PFR_TRY(make_counts(maker, place->event, err));
    struct chain_counts *const counts = &maker->counts[place->event];
    const bool came = deferred_find(all, place->tid, cookie, &place->key, &rest);
    const bool is_cut = !came || put_rest(&rest, most, words, count);
    counts->deferred++;
    counts->missing += !came;
    counts->ends[is_cut ? UNWOUND_TRUNCATED : UNWOUND_COMPLETE]++;
    return PFR_OK;
}

pfr_status chain_make(struct chain_maker *maker, const pfr_event *event, const struct pfr_rec_sample *s,
                      const struct chain_place *place, uint32_t most, uint64_t *words, pfr_u64s *chain,
                      pfr_error *err) {
    uint64_t marker = 0, cookie, user;
    pfr_u64s recorded = s->chain;
    const bool waits = chain_is_deferred(event) && deferred_split(&recorded, &cookie);
    most = bounded(most);
    if (find_calls(event, s, most, &user) && s->branch.entries.count)
        return make_calls(maker, event, s, place, user, words, chain, err);
    PFR_TRY(chain_pass(maker, event, s, place, most, err));
    size_t count = copy_chain(&recorded, most, words, &marker);
    if (waits)
        PFR_TRY(join(maker, place, cookie, most, words, &count, err));
    if (unwinds(event)) {
        words[count] = USER_MARKER;
        PFR_TRY(unwind(maker, event, s, place, most, words, &count, err));
    }
    *chain = (pfr_u64s){.at = (const uint8_t *)words, .count = count};
    return PFR_OK;
}
