/* SPDX-License-Identifier: Apache-2.0 */
/* Traverses a profile for any sink: see sink.h. */
#include "export/sink.h"

#include "base/memory/fail.h"
#include "export/rows/packed.h"
#include "file/xray/recorder_losses.h"
#include "file/read/recording.h"

#include <inttypes.h>
#include <stdio.h>

/* Maximum bytes per node in stacks.c: 12 in the arrays by node, 20 in the work arrays, which hold a level at a time. */
#define NODE_COST 32u
#define RUN_COST 16u   /* additional bytes per node if runs are folded and totals are computed */
#define FRAME_COST 96u /* approximate bytes for the labels of a frame */

static void report_hole(void *context, const pfr_error *hole) {
    const struct exporting *e = context;
    if (e->of->hole)
        e->of->hole(e->of->context, hole);
}

static void report_note(void *context, const char *sentence) {
    const struct exporting *e = context;
    e->of->note(e->of->context, sentence);
}

static bool keep(void *context, const struct profile_sample *sample) {
    return choice_wants(&((const struct exporting *)context)->choice, sample);
}

static bool wants_group(const void *exporting, const struct profile_group *group) {
    const struct exporting *e = exporting;
    const struct intern_text comm = comm_of(e, group);
    return sample_filter_wants_comm(&e->choice.filter, (const char *)comm.bytes, comm.length);
}

static uint32_t keys_of(const struct exporting *e) {
    const bool is_trace = !profile_measure(e->reader)->has_comms;
    return e->sink->keys | PROFILE_BIT(PROFILE_COMM) | (is_trace ? e->sink->keys_of_traces : 0);
}

static pfr_status load(struct exporting *e, pfr_error *err) {
    const struct profile_request request = {.keys = keys_of(e),
                                            .shape = e->sink->stack ? PROFILE_STACKS : PROFILE_TREE,
                                            .unit = e->sink->addresses ? PROFILE_NAMED_LAST : PROFILE_FUNCTIONS,
                                            .unnamed =
                                                e->sink->addresses ? PROFILE_UNNAMED_EACH : PROFILE_UNNAMED_TOGETHER,
                                            .mangled_names = e->sink->mangled,
                                            .max_stack = e->of->max_stack,
                                            .stitched = e->of->stitched,
                                            .jobs = e->of->jobs ? e->of->jobs : 1,
                                            .node_cost = NODE_COST + (e->sink->folds_run ? RUN_COST : 0),
                                            .frame_cost = FRAME_COST,
                                            .names = {.naming = naming_of(e->of->naming)},
                                            .note = e->of->note ? report_note : NULL,
                                            .keep = choice_is_everything(&e->choice) ? NULL : keep,
                                            .hole = report_hole,
                                            .context = e};
    const struct stack_naming naming = {wants_group, e->sink->name_group, e->sink->name_frame,
                                        e,           e->sink->key_frame,  e->sink->folds_run};
    PFR_TRY(profile_load(&e->profile, e->reader, &request, err));
    if (e->sink->loaded)
        PFR_TRY(e->sink->loaded(e, err));
    return stacks_build(&e->stacks, e->profile, &naming, err);
}

/* --- Notes for the user. */

static uint32_t count_events(const struct exporting *e) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < e->profile->nr_events; i++)
        count += e->profile->totals[i].samples > 0;
    return count;
}

static pfr_status check_events(const struct exporting *e, pfr_error *err) {
    char text[120];
    const uint32_t count = e->sink->sums_events ? count_events(e) : 0;
    if (count < 2)
        return PFR_OK;
    if (e->by_weight)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "event",
                        "periods of %" PRIu32 " different events cannot be added; select one with --event", count);
    snprintf(text, sizeof text, "samples of %" PRIu32 " events are counted together; --event selects one", count);
    if (e->of->note)
        e->of->note(e->of->context, text);
    return PFR_OK;
}

/* --- Passing the stacks to the sink. */

static pfr_status visit(void *context, uint32_t node, uint32_t depth, pfr_error *err) {
    struct exporting *e = context;
    return e->sink->visit(e, node, depth, err);
}

static pfr_status visit_whole(struct exporting *e, pfr_error *err) {
    const struct profile *p = e->profile;
    for (uint32_t i = 0; i < p->nr_stacks; i++)
        if (stacks_wants(&e->stacks, &p->stacks[i]))
            PFR_TRY(e->sink->stack(e, &p->stacks[i], err));
    return PFR_OK;
}

static pfr_status feed(struct exporting *e, pfr_error *err) {
    e->state = mem_zeroed(e->memory, 1, e->sink->state_size);
    if (!e->state)
        return mem_fail(e->memory, err, "export");
    pfr_status st = e->sink->begin ? e->sink->begin(e, err) : PFR_OK;
    if (st >= 0 && e->sink->visit)
        st = stacks_walk(&e->stacks, visit, e, err);
    if (st >= 0 && e->sink->stack)
        st = visit_whole(e, err);
    if (st >= 0 && e->sink->end)
        st = e->sink->end(e, err);
    if (e->sink->clear)
        e->sink->clear(e);
    mem_free(e->memory, e->state, 1, e->sink->state_size);
    return st;
}

static pfr_status feed_file(struct exporting *e, const char *path, pfr_error *err) {
    struct pfr_output own = {.raw_names = e->to->raw_names};
    struct packed_file file;
    PFR_TRY(packed_open(&file, path, !e->sink->format.binary, e->memory, err));
    own.out = *file.out; /* the sink writes to a pfr_output, which holds the output until packed_close */
    e->to = &own;
    const pfr_status st = feed(e, err);
    *file.out = own.out;
    const pfr_status closed = packed_close(&file, st >= 0, st < 0 ? NULL : err);
    return st < 0 ? st : closed;
}

static pfr_status check_maps(const struct exporting *e, pfr_error *err) {
    if (!naming_of(e->of->naming).instr_maps || profile_measure(e->reader)->is_amount)
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "instr-map",
                    "instrumentation maps apply only to XRay traces; this is perf.data");
}

/* --- Limits. */

/* If the sink has a `stack` callback, the limit does not grow with the number of nodes: whether a stack is passed as a
   node or as a whole stack must not affect the output. */
static void give_room(struct exporting *e) {
    e->room = e->room_left = profile_tree_room(e->profile, e->sink->stack ? 0 : e->stacks.count);
}

static pfr_status report_cut(struct exporting *e) {
    pfr_error why;
    if (e->cut_stacks)
        pfr_fail(&why, PFR_HOLE, PFR_NO_OFFSET, 0, "trees",
                 "%" PRIu64 " stack%s cut at [limit]: the parts beyond %u bytes per stack exceed %" PRIu64
                 " bytes in total (limit trees)",
                 e->cut_stacks, e->cut_stacks == 1 ? " is" : "s are", STACK_BYTES, e->room);
    else if (e->cut_frames)
        pfr_fail(&why, PFR_HOLE, PFR_NO_OFFSET, 0, "trees",
                 "%" PRIu64 " frame%s left out: all frames together exceed %" PRIu64 " bytes (limit trees)",
                 e->cut_frames, e->cut_frames == 1 ? " is" : "s are", e->room);
    else
        return PFR_OK;
    report_hole(e, &why);
    return PFR_HOLE;
}

static void report_empty(const struct exporting *e) {
    char text[80];
    const bool filters = e->of->event || e->of->cpus || e->of->pids || e->of->tids || e->of->comms || e->of->time;
    if (e->stacks.count || e->stacks.depth || !e->of->note)
        return;
    snprintf(text, sizeof text, filters ? "no %s match the filters" : "the recording has no %s",
             profile_measure(e->reader)->counted);
    e->of->note(e->of->context, text);
}

static pfr_status run(struct exporting *e, const char *path, pfr_error *err) {
    PFR_TRY(check_maps(e, err));
    if (path)
        PFR_TRY(whole_file_may_go_to(path, err));
    PFR_TRY(choice_read(&e->choice, e->of, e->reader, e->memory, err));
    e->by_weight |= e->reader->waits && !e->of->by_count;
    PFR_TRY(load(e, err));
    PFR_TRY(samples_check_cpus(e->reader, e->of->cpus, err)); /* the events of a stream are known only now */
    PFR_TRY(choice_check(&e->choice, err));
    PFR_TRY(check_events(e, err));
    recorder_losses_note(e->reader, e->of->note, e->of->context);
    profile_drop_nodes(e->profile);
    give_room(e);
    PFR_TRY(path ? feed_file(e, path, err) : feed(e, err));
    report_empty(e);
    const pfr_status cut = report_cut(e), limited = profile_report_limits(e->profile, report_hole, e);
    return cut == PFR_OK ? limited : cut;
}

pfr_status export_run(struct exporting *e, const char *path, pfr_error *err) {
    static const pfr_selection everything = {.size = sizeof everything};
    e->memory = &e->reader->memory;
    e->of = e->of ? e->of : &everything;
    e->by_weight = e->of->by_period || (profile_measure(e->reader)->is_amount && !e->of->by_count);
    labels_init(&e->objects, e->memory);
    labels_init(&e->stacks.groups, e->memory);
    e->stacks.memory = e->memory;
    labels_init(&e->stacks.frames, e->memory);
    const pfr_status st = run(e, path, err);
    stacks_free(&e->stacks);
    recorder_notes_free(&e->notes, e->memory);
    labels_free(&e->objects);
    mem_free(e->memory, e->object_rank, e->object_rank ? e->profile->state.objects.keys.count : 0,
             sizeof *e->object_rank);
    profile_close(e->profile);
    choice_free(&e->choice);
    return st;
}
