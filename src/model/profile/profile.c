/* SPDX-License-Identifier: Apache-2.0 */
/* The passes over the recording: state, then samples. See profile_parts.h. */
#include "model/profile/result/profile_names.h"
#include "file/read/features.h"
#include "file/read/stored.h"
#include "model/profile/profile_lines.h"
#include "model/profile/result/profile_outside.h"
#include "model/profile/count/profile_pick.h"
#include "model/profile/count/profile_whole_stacks.h"
#include "model/names/kernel_file.h"
#include "model/profile/profile_calls.h"
#include "model/profile/count/profile_workers.h"
#include "wire/feature_bits.h"

#include <inttypes.h>

#include "base/memory/capped_sum.h"
#include "base/memory/sizes.h"

/* Whether so much memory will be in use that the demangler should be prepared early. A trace needs little memory,
   whatever its size. */
static bool is_large(const pfr_reader *reader) {
    const uint64_t size = input_size(&reader->parts[0].in);
    return !reader->trace && size >= sizes.large_input && size != INPUT_UNKNOWN_SIZE;
}

static pfr_status begin(struct profile *p, pfr_reader *reader, const struct profile_request *request) {
    *p = (struct profile){.reader = reader, .memory = &reader->memory, .request = *request};
    intern_init(&p->texts, p->memory);
    arena_init(&p->arena, p->memory);
    p->request.names.release = p->release;
    address_names_init(&p->names, &p->state, p->memory, &p->request.names);
    if (!request->names.naming.no_symbols && is_large(reader))
        demangler_prepare();
    return PFR_OK;
}

static void free_nodes(struct profile *p) {
    mem_free(p->memory, p->nodes, p->rooms.nodes, sizeof *p->nodes);
    node_weights_free(&p->self, p->memory);
    p->nodes = NULL;
    p->nr_nodes = 0;
}

/* Frees the nodes. profile_outside_note examines nodes, so it reports now, before profile_report_limits. */
void profile_drop_nodes(struct profile *p) {
    profile_outside_note(p);
    free_nodes(p);
}

void profile_close(struct profile *p) {
    if (!p)
        return;
    struct memory *m = p->memory;
    free_nodes(p);
    mem_free(m, p->frames, p->rooms.frames, sizeof *p->frames);
    mem_free(m, p->lines, p->rooms.lines, sizeof *p->lines);
    mem_free(m, p->stacks, p->rooms.stacks, sizeof *p->stacks);
    stack_parts_free(p->memory, p->stack_parts, p->nr_stack_parts);
    mem_free(m, p->sums.list, p->rooms.sums, sizeof *p->sums.list);
    mem_free(m, p->sums.keys, p->rooms.sum_keys, sizeof *p->sums.keys);
    mem_free(m, p->sums.order, p->sums.order ? p->sums.nr_keys : 0, sizeof *p->sums.order);
    mem_free(m, p->selves, p->rooms.selves, sizeof *p->selves);
    mem_free(m, p->groups, p->rooms.groups, sizeof *p->groups);
    mem_free(m, p->places, p->rooms.places, sizeof *p->places);
    mem_free(m, p->unwound, p->unwound ? (size_t)p->nr_events + 1 : 0, sizeof *p->unwound);
    mem_free(m, p->totals, p->totals ? (size_t)p->nr_events + 1 : 0, sizeof *p->totals);
    intern_free(&p->texts);
    arena_free(&p->arena);
    address_names_free(&p->names);
    state_free(&p->state);
    mem_free(m, p, 1, sizeof *p);
}

/* All events are known after the pass over the state. */
static pfr_status learn_events(struct profile *p, struct pick_places **places, pfr_error *err) {
    p->nr_events = pfr_event_count(p->reader);
    p->totals = mem_zeroed(p->memory, (size_t)p->nr_events + 1, sizeof *p->totals);
    *places = mem_zeroed(p->memory, (size_t)p->nr_events + 1, sizeof **places);
    p->unwound = mem_zeroed(p->memory, (size_t)p->nr_events + 1, sizeof *p->unwound);
    if (!p->totals || !p->unwound || !*places)
        return mem_fail(p->memory, err, "profile");
    for (uint32_t i = 0; i < p->nr_events; i++) {
        pick_learn(&(*places)[i], p->reader, i, &p->request);
        p->facts.signed_steps = p->facts.signed_steps || (*places)[i].reads;
    }
    return PFR_OK;
}

static void take_over(struct profile *p, const struct sample_counter *c) {
    for (uint32_t i = 0; i < p->nr_events; i++) {
        p->totals[i].weight = weights_sum(p, p->totals[i].weight, c->facts.totals[i].weight);
        p->totals[i].samples += c->facts.totals[i].samples;
    }
    chain_counts_add(p->unwound, p->nr_events, &c->chains.maker);
    p->facts.stitch_begun += c->chains.maker.stitcher.begun_anew;
    p->facts.left_out += c->facts.left_out;
    p->facts.guests += c->facts.guests;
    p->facts.too_deep += c->facts.too_deep;
    p->facts.undivided += c->facts.undivided;
    p->facts.lossy = p->facts.lossy || c->facts.lossy;
}

/* Determines the architecture, and thereby which registers were recorded. */
static void learn_arch(struct profile_workers *w, pfr_reader *reader) {
    struct pfr_rec_feature_arch arch;
    const pfr_feature *f = pfr_find_feature(reader, BIT_ARCH, NULL);
    if (!f || pfr_decode_feature(reader, f, &arch, sizeof arch, NULL) != PFR_OK)
        return;
    const size_t length = strnlen(arch.arch.at, arch.arch.length);
    if (length < sizeof w->frames.arch)
        memcpy(w->frames.arch, arch.arch.at, length);
}

static pfr_status count(struct profile *p, struct profile_workers *w, pfr_error *err) {
    struct pick_places *places = NULL;
    pfr_status st = learn_events(p, &places, err);
    learn_arch(w, p->reader);
    if (st >= 0)
        st = workers_count(w, places, err);
    for (uint32_t i = 0; st >= 0 && i < w->count; i++)
        take_over(p, &w->at[i].counter);
    p->unwind_limits = w->frames.unwinding.limits;
    if (st >= 0)
        chain_counts_note(p->unwound, p->nr_events, p->request.note, p->request.context);
    if (st >= 0)
        deferred_note(&p->state.deferred, request_has_chains(&p->request) && !p->request.keep, p->request.note,
                      p->request.context);
    if (st >= 0)
        st = whole_give(&w->at[0].counter.whole, w->count == 1, p, err);
    if (st >= 0)
        st = sums_give(&w->at[0].counter.sums, w->count == 1, p, err);
    if (st >= 0)
        profile_tree_give(w->at[0].counter.tree, p);
    mem_free(p->memory, places, places ? (size_t)p->nr_events + 1 : 0, sizeof *places);
    return st;
}

static pfr_status load(struct profile *p, pfr_error *err) {
    struct profile_workers w;
    workers_init(&w, p);
    struct state_watch watch = workers_watch(&w);
    watch.jit =
        (struct jit_request){.read = !p->request.names.naming.no_symbols, .symfs = p->request.names.naming.symfs};
    pfr_status st = state_build_watched(&p->state, p->reader, p->memory, &watch, err);
    kernel_release_of(p->reader, p->release);
    p->facts.late = p->state.late;
    if (st >= 0)
        jit_note(&p->state.jit, &p->state.objects, p->request.note, p->request.context);
    if (st >= 0)
        st = count(p, &w, err);
    workers_free(&w);
    if (st >= 0 && p->request.unit == PROFILE_NAMED_LAST)
        st = profile_names_find(p, err);
    return st < 0 ? st : features_unread(p->reader, err);
}

/* The total is the largest of all sums: if it fits, no sum overflows. */
static pfr_status weights_fit(const struct profile *p, pfr_error *err) {
    uint64_t all = 0;
    for (uint32_t i = 0; i < p->nr_events; i++)
        all = capped_sum(all, p->totals[i].weight);
    if (all < UINT64_MAX || p->facts.signed_steps)
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "period",
                    "the %s add up to 2^64 or more: there are no shares to report; perfray script shows each of them",
                    p->reader->trace ? "times of all calls" : "periods of all samples");
}

pfr_status profile_load(struct profile **out, pfr_reader *reader, const struct profile_request *request,
                        pfr_error *err) {
    *out = NULL;
    PFR_TRY(profile_request_check(request, err));
    struct profile *p = mem_alloc(&reader->memory, 1, sizeof *p);
    if (!p)
        return mem_fail(&reader->memory, err, "profile");
    *out = p;
    begin(p, reader, request);
    pfr_status st = reader->stored  ? reader->stored->profile(reader->stored, p, err)
                    : reader->trace ? profile_load_calls(p, err)
                                    : load(p, err);
    if (st >= 0)
        st = weights_fit(p, err);
    if (st >= 0)
        st = profile_learn_lines(p, err);
    if (st < 0) {
        profile_close(p);
        *out = NULL;
    }
    return st < 0 ? st : PFR_OK;
}

uint64_t profile_value(const struct profile *p, const struct profile_group *group, enum profile_key key) {
    return group->value[__builtin_popcount(p->request.keys & (PROFILE_BIT(key) - 1))];
}

pfr_status profile_report_limits(const struct profile *p, void (*on_hole)(void *context, const pfr_error *hole),
                                 void *context) {
    const uint64_t limited = p->facts.limited.samples;
    pfr_error why;
    if (p->request.note)
        symbol_texts_note(&p->names.texts, p->request.note, p->request.context);
    profile_outside_note(p);
    kernel_file_note(&p->names, p->request.note, p->request.context);
    if (p->facts.too_deep) {
        pfr_fail(&why, PFR_HOLE, PFR_NO_OFFSET, 0, "depth",
                 "%" PRIu64 " sample%s unknown: processes with more than %" PRIu32 " ancestors (limit depth)",
                 p->facts.too_deep, p->facts.too_deep == 1 ? " is" : "s are", p->reader->limits.depth);
        on_hole(context, &why);
    }
    const bool misses = deferred_met_limit(&p->state.deferred, &why);
    if (misses)
        on_hole(context, &why);
    if (chain_stitch_met_limit(p->facts.stitch_begun, &why))
        on_hole(context, &why);
    const bool ended =
        chain_counts_report_limits(p->unwound, p->unwound ? p->nr_events : 0, &p->unwind_limits, on_hole, context);
    if (name_limits_met_lines(&p->names.limits, &why))
        on_hole(context, &why);
    if (name_limits_met(&p->names.limits, &why))
        on_hole(context, &why);
    if (limited) {
        pfr_fail(&why, PFR_HOLE, PFR_NO_OFFSET, 0, "memory",
                 "%" PRIu64 " %s in [limit]: their stacks did not fit (limit memory)", limited,
                 profile_measure(p->reader)->is_amount ? "calls are"
                 : limited == 1                        ? "sample is"
                                                       : "samples are");
        on_hole(context, &why);
    }
    const bool unnamed = name_limits_any(&p->names.limits);
    return p->facts.lossy || misses || p->facts.stitch_begun || p->facts.too_deep || ended || unnamed || limited
               ? PFR_HOLE
               : PFR_OK;
}

#define TREE_TEXT_EACH 256u /* bytes of call trees per call path of the recording */

uint64_t profile_tree_room(const struct profile *p, uint64_t nodes) {
    const uint64_t limit = p->reader->limits.trees, calls = p->totals[0].samples;
    const uint64_t paths = profile_measure(p->reader)->is_amount && calls < nodes ? calls : nodes;
    const uint64_t share = paths * TREE_TEXT_EACH;
    return limit < UINT64_MAX - share ? limit + share : UINT64_MAX;
}
