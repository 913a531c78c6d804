/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the options, determines what the profile must contain, and runs the steps of the report: see report_parts.h. */

#include "view/report/fields/report_cache_lines.h"
#include "view/report/report_call_graph_option.h"
#include "view/report/rows/report_call_trees.h"
#include "view/report/rows/report_hierarchy.h"
#include "view/report/print/report_empty.h"
#include "view/report/fields/report_fields.h"
#include "view/report/fields/report_filter.h"
#include "view/report/fields/report_switch.h"
#include "view/report/fields/report_maps.h"
#include "view/report/rows/report_path_segments.h"
#include "view/report/rows/report_rows.h"
#include "view/report/rows/report_sums.h"
#include "view/report/rows/report_overheads.h"
#include "view/report/rows/report_traversal.h"
#include "view/report/print/report_tree.h"
#include "view/report/rows/report_tree_roots.h"
#include "view/report/print/report_write.h"
#include "file/read/features.h"
#include "model/sched/latency_weights.h"
#include "model/sched/wait_event.h"
#include "view/report/fields/report_groups.h"
#include "view/stat/report_stat.h"
#include "wire/feature_bits.h"

#include <inttypes.h>
#include <stdio.h>

#define BRANCH_CALL_STACK (1u << 11)
#define LEAST_SHARE 0.5
#define TIME_QUANTUM 100000000u
/* Approximate bytes per node, if each node is a path segment of its own: the segment, its mark in a tree, copies by
   call_trees_make, and a row for some nodes or for most. path_segments_make frees its temporary data before trees are
   made; those data are as large as trees without marks, so they are not added. */
#define SEGMENT_COST 44u
#define MARK_COST 8u
#define COPY_COST 20u
#define PARENT_COST 96u
#define SHARED_ROW_COST 16u
#define FEW_ROWS_COST 8u
#define ROW_COST 160u
#define OVERHEAD_COST 36u
#define FRAME_COST 256u

/* --- contents of the recording --- */

/* The events of a stream are known when its first sample arrives. */
static pfr_status learn_events(struct report *r, pfr_error *err) {
    pfr_error own, *e = err ? err : &own;
    pfr_record rec;
    pfr_status st = PFR_OK;
    if (profile_event_count(r->reader))
        return PFR_OK;
    while ((st = pfr_next(r->reader, &rec, e)) >= 0 && st != PFR_END)
        if (st == PFR_OK && rec.type == PFR_RECORD_SAMPLE)
            break;
    return st < 0 ? st : pfr_rewind(r->reader, err);
}

static bool any_event_has(const struct report *r, uint64_t sample_type) {
    for (uint32_t i = 0; i < profile_event_count(r->reader); i++)
        if (report_wants_event(r, i) && profile_event(r->reader, i)->attr.sample_type & sample_type)
            return true;
    return false;
}

static bool are_tracepoints(const struct report *r) {
    const uint32_t count = profile_event_count(r->reader);
    for (uint32_t i = 0; i < count; i++)
        if (report_wants_event(r, i) && profile_event(r->reader, i)->attr.type != PFR_ATTR_TYPE_TRACEPOINT)
            return false;
    return count > 0 && !r->reader->waits;
}

/* Branch stacks recorded as call chains (LBR) do not count as branches. */
static bool any_branches(const struct report *r) {
    for (uint32_t i = 0; i < profile_event_count(r->reader); i++) {
        const struct pfr_rec_attr *attr = &profile_event(r->reader, i)->attr;
        if (report_wants_event(r, i) && attr->sample_type & PFR_SAMPLE_BRANCH_STACK &&
            !(attr->branch_sample_type & BRANCH_CALL_STACK))
            return true;
    }
    return false;
}

static pfr_status has_branches(struct report *r, bool *has, pfr_error *err) {
    const pfr_feature *f;
    if (pfr_get_header(r->reader)->container == PFR_PIPE) {
        *has = any_branches(r);
        return PFR_OK;
    }
    PFR_TRY(report_feature(r, BIT_BRANCH_STACK, &f, err));
    *has = f && any_event_has(r, PFR_SAMPLE_BRANCH_STACK);
    return PFR_OK;
}

/* --- options --- */

/* Whether --tree applies: it draws the whole call tree as text. */
static bool draws_bars(const pfr_report_options *o) {
    return o->bars && o->format <= PFR_REPORT_PERF;
}

static pfr_status choose_mode(struct report *r, pfr_error *err) {
    const pfr_report_options *o = r->options;
    bool branches = o->branches == PFR_REPORT_YES;
    if (draws_bars(o) && (branches || o->memory_mode))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "mode",
                        "the call tree shows samples; it cannot be combined with branches or memory accesses");
    if (o->branches == PFR_REPORT_AUTO && !o->memory_mode && !draws_bars(o))
        PFR_TRY(has_branches(r, &branches, err));
    if (branches && o->memory_mode)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "mode",
                        "branches and memory accesses exclude each other in one report");
    if (branches && !any_event_has(r, PFR_SAMPLE_BRANCH_STACK))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "mode", "no branch stacks were recorded (record -b)");
    if (o->memory_mode && !any_event_has(r, PFR_SAMPLE_DATA_SRC))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "mode", "no memory accesses were recorded (record -d)");
    r->mode = branches ? REPORT_BRANCHES : o->memory_mode ? REPORT_MEMORY : REPORT_SAMPLES;
    r->tracepoints = r->mode == REPORT_SAMPLES && are_tracepoints(r);
    return PFR_OK;
}

static bool for_programs(const pfr_report_options *o) {
    return o->format == PFR_REPORT_CSV || o->format == PFR_REPORT_JSON;
}

/* CSV and JSON have the same columns for every recording, so the default does not depend on callchains. */
static bool wants_children(const pfr_report_options *o) {
    return o->children == PFR_REPORT_AUTO ? !for_programs(o) : o->children == PFR_REPORT_YES;
}

static void note_no_trees(const struct report *r, bool asked) {
    if (asked && r->options->note && !any_event_has(r, PFR_SAMPLE_CALLCHAIN))
        r->options->note(r->options->context, "no call chains were recorded (record -g): there are no call trees");
}

/* As in perf, --percent-limit also applies to branches of trees, and a hierarchy has no inclusive weights. */
static pfr_status choose_chains(struct report *r, pfr_error *err) {
    const pfr_report_options *o = r->options;
    r->chain = (struct chain_how){.mode = CHAIN_GRAPH, .least = o->percent_limit > 0 ? o->percent_limit : LEAST_SHARE};
    if (o->call_graph)
        PFR_TRY(report_chain_read(o->call_graph, &r->chain, err));
    const enum chain_mode asked = r->chain.mode;
    r->trees.is_asked = for_programs(o) && (o->inverted || (o->call_graph && r->chain.mode != CHAIN_NONE));
    r->has_chains = any_event_has(r, PFR_SAMPLE_CALLCHAIN) && r->mode != REPORT_BRANCHES;
    const bool inclusive = r->has_chains && r->mode == REPORT_SAMPLES && wants_children(o);
    r->children = inclusive && !o->hierarchy;
    const bool draws = draws_bars(o);
    r->children = r->children || draws;
    if (draws)
        r->chain =
            (struct chain_how){.mode = CHAIN_GRAPH, .least = r->chain.least, .caller = true, .caller_said = true};
    else if (!r->has_chains || (for_programs(o) && !r->trees.is_asked))
        r->chain.mode = CHAIN_NONE;
    r->trees.of_rows = r->chain.mode != CHAIN_NONE && r->has_chains && !draws;
    note_no_trees(r, o->inverted || (o->call_graph && asked != CHAIN_NONE));
    if (o->inverted)
        r->chain.caller = r->chain.caller_said = true;
    if (!r->chain.caller_said)
        r->chain.caller = r->mode == REPORT_MEMORY ? o->children != PFR_REPORT_NO : inclusive || r->children;
    return PFR_OK;
}

#define DEFAULT_PARENT "^sys_|^do_page_fault"

static pfr_status choose_parent(struct report *r, pfr_error *err) {
    const char *const pattern = r->options->parent ? r->options->parent : DEFAULT_PARENT;
    if (regcomp(&r->filters.parents.pattern, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "parent", "not a regular expression: %.60s", pattern);
    r->filters.parents.made = true;
    r->filters.parents.only = r->options->only_parent;
    return PFR_OK;
}

static pfr_status choose_ignored(struct report *r, pfr_error *err) {
    const char *const pattern = r->options->ignore_callees;
    if (!pattern)
        return PFR_OK;
    if (!r->has_chains)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "ignore_callees",
                        "--ignore-callees needs call chains (record -g) and cannot be combined with branches");
    if (regcomp(&r->filters.ignored.pattern, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "ignore_callees", "not a regular expression: %.60s",
                        pattern);
    r->filters.ignored.made = true;
    return PFR_OK;
}

/* Without callchains no sample has a parent, and -x would hide every row. */
static pfr_status check_parent(const struct report *r, pfr_error *err) {
    unsigned needs;
    report_keys_needed(r, &needs);
    if (any_event_has(r, PFR_SAMPLE_CALLCHAIN) || !(needs & NEEDS_PARENT || r->filters.parents.only))
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "parent",
                    "no call chains were recorded (record -g), so there are no parents");
}

static pfr_status check_separator(const char *separator, pfr_error *err) {
    if (separator && (!*separator || *separator == '.'))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "separator", "--field-separator %s",
                        *separator ? "must not begin with '.', which replaces it in names" : "must not be empty");
    return PFR_OK;
}

static pfr_status choose(struct report *r, pfr_error *err) {
    PFR_TRY(check_separator(r->options->separator, err));
    PFR_TRY(learn_events(r, err));
    PFR_TRY(wait_event_begin(r->reader, r->options->event, r->options->note, r->options->context, err));
    PFR_TRY(filter_check_event(r, err));
    PFR_TRY(filter_choose(r, err));
    PFR_TRY(choose_mode(r, err));
    PFR_TRY(choose_chains(r, err));
    PFR_TRY(choose_parent(r, err));
    PFR_TRY(choose_ignored(r, err));
    PFR_TRY(report_fields_read(r, err));
    PFR_TRY(hierarchy_check(r, err));
    return check_parent(r, err);
}

/* --- the profile --- */

static void report_hole(void *context, const pfr_error *hole) {
    const struct report *r = context;
    if (r->options->hole)
        r->options->hole(r->options->context, hole);
}

static void report_note(void *context, const char *sentence) {
    const struct report *r = context;
    r->options->note(r->options->context, sentence);
}

static bool keep_sample(void *context, const struct profile_sample *sample) {
    const struct report *r = context;
    const struct sample_facts facts = sample_facts_of(sample);
    return report_wants_event(r, sample->event) && sample_filter_passes(&r->filters.kept, &facts) &&
           switch_is_on(r, sample->time);
}

static uint32_t cost_of_node(const struct report *r, bool chains) {
    return SEGMENT_COST + (chains ? (r->children ? SHARED_ROW_COST : FEW_ROWS_COST) : ROW_COST) +
           (r->trees.of_rows && r->chain.caller ? MARK_COST : 0) + (r->options->latency ? OVERHEAD_COST : 0) +
           (r->filters.has_rows || r->mode == REPORT_MEMORY ? COPY_COST : 0) +
           (r->filters.parents.wanted || r->filters.ignored.made ? PARENT_COST : 0);
}

static enum profile_unit unit_of(const struct report *r, unsigned needs, enum profile_line_use lines) {
    if (needs & NEEDS_APART)
        return PROFILE_ADDRESSES_APART;
    return needs & NEEDS_ADDRESSES || (r->chain.mode != CHAIN_NONE && r->chain.by_address) || lines == PROFILE_INLINED
               ? PROFILE_ADDRESSES
               : PROFILE_FUNCTIONS;
}

/* If only rows are printed, with inclusive weights, the profile only needs sums, not call trees. */
static enum profile_shape shape_of(const struct report *r, bool chains, bool frames, enum profile_line_use lines) {
    if (r->mode == REPORT_BRANCHES)
        return PROFILE_ROOTS;
    if (!chains)
        return frames ? PROFILE_LEAVES : PROFILE_ROOTS;
    const bool sums = r->children && r->chain.mode == CHAIN_NONE && r->mode == REPORT_SAMPLES &&
                      !r->filters.parents.wanted && !r->filters.ignored.made && !r->filters.has_rows &&
                      lines == PROFILE_NO_LINES && !r->options->latency && sums_can_be(r);
    return sums ? PROFILE_SUMS : PROFILE_TREE;
}

static struct profile_request request_of(struct report *r) {
    const pfr_report_options *o = r->options;
    unsigned needs;
    bool filter_needs_frames;
    struct profile_request request = {
        .keys = report_keys_needed(r, &needs), .max_stack = o->max_stack, .jobs = o->jobs};
    request.keys |= filter_keys_needed(r, &filter_needs_frames);
    r->filters.parents.wanted = (needs & NEEDS_PARENT || r->filters.parents.only) && r->has_chains;
    request.from_outermost = r->chain.caller;
    request.stitched = o->stitched;
    if (r->mode == REPORT_BRANCHES)
        request.counted = PROFILE_BRANCHES;
    if (r->mode == REPORT_MEMORY)
        request.keys |= PROFILE_BIT(PROFILE_WEIGHT);
    if (r->mode == REPORT_BRANCHES && needs & NEEDS_FRAMES)
        request.keys |= PROFILE_BIT(PROFILE_TO);
    const bool chains =
        r->children || r->chain.mode != CHAIN_NONE || r->filters.parents.wanted || r->filters.ignored.made;
    request.lines = o->inlined && chains ? PROFILE_INLINED : needs & NEEDS_LINES ? PROFILE_LINES : PROFILE_NO_LINES;
    request.unit = unit_of(r, needs, request.lines);
    request.shape = shape_of(r, chains, needs & NEEDS_FRAMES || filter_needs_frames, request.lines);
    request.likeness = request.shape == PROFILE_SUMS ? sums_likeness : NULL;
    request.unnamed = r->children ? PROFILE_UNNAMED_APART : PROFILE_UNNAMED_EACH;
    request.tracepoint_plain = o->raw_trace;
    request.tracepoint_fields = r->tracepoint.request;
    request.nr_tracepoint_fields = r->tracepoint.count;
    request.node_cost = cost_of_node(r, chains && request.shape != PROFILE_SUMS);
    request.frame_cost = FRAME_COST;
    request.time_quantum = o->time_quantum ? o->time_quantum : TIME_QUANTUM;
    request.names = (struct address_names_options){.naming = naming_of(o->naming)};
    request.hole = report_hole;
    request.note = o->note ? report_note : NULL;
    request.keep = sample_filter_has_numbers(&r->filters.kept) || !r->filters.switched.any || r->options->event
                       ? keep_sample
                       : NULL;
    request.running = r->running.memory ? &r->running : NULL;
    request.by_latency = o->latency;
    request.keys |= o->latency ? PROFILE_BIT(PROFILE_PARALLELISM) : 0;
    request.context = r;
    return request;
}

/* Determines how many threads ran at the time of each sample. */
static pfr_status learn_running(struct report *r, pfr_error *err) {
    unsigned needs;
    const bool is_key = report_keys_needed(r, &needs) & PROFILE_BIT(PROFILE_PARALLELISM);
    if (!r->options->latency && !is_key)
        return PFR_OK;
    if (r->mode != REPORT_SAMPLES || r->reader->waits || r->reader->trace || r->reader->stored)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "latency",
                        "--latency and the key parallelism need samples of a recording; branches, memory accesses, "
                        "waits, traces and stores do not have them");
    return running_threads_learn(&r->running, r->reader, err);
}

static void note_undivided(const struct report *r) {
    char text[160];
    if (!r->profile->facts.undivided || !r->options->note)
        return;
    snprintf(text, sizeof text,
             "%" PRIu64
             " sample%s taken when no thread is known to run: period not divided by the number of running threads",
             r->profile->facts.undivided, r->profile->facts.undivided == 1 ? " was" : "s were");
    r->options->note(r->options->context, text);
}

static pfr_status load(struct report *r, pfr_error *err) {
    unsigned needs;
    PFR_TRY(filter_choose_samples(r, err));
    PFR_TRY(learn_running(r, err));
    const struct profile_request request = request_of(r);
    PFR_TRY(profile_load(&r->profile, r->reader, &request, err));
    r->limited = profile_report_limits(r->profile, report_hole, r) != PFR_OK;
    note_undivided(r);
    PFR_TRY(report_learn_sockets(r, err));
    report_keys_needed(r, &needs);
    if (needs & NEEDS_MAPS)
        PFR_TRY(report_learn_maps(r, err));
    const size_t events = (size_t)r->profile->nr_events + 1;
    r->events.sums.totals = mem_alloc(r->memory, events, sizeof *r->events.sums.totals);
    r->events.sums.all = mem_alloc(r->memory, events, sizeof *r->events.sums.all);
    r->events.sums.before = mem_alloc(r->memory, events, sizeof *r->events.sums.before);
    if (!r->events.sums.totals || !r->events.sums.all || !r->events.sums.before)
        return mem_fail(r->memory, err, "report");
    memcpy(r->events.sums.totals, r->profile->totals, events * sizeof *r->events.sums.totals);
    memcpy(r->events.sums.all, r->profile->totals, events * sizeof *r->events.sums.all);
    return PFR_OK;
}

static void report_cut_trees(struct report *r) {
    pfr_error why;
    if (!r->trees.budget.cut)
        return;
    pfr_fail(&why, PFR_HOLE, PFR_NO_OFFSET, 0, "trees",
             "%" PRIu64 " call tree%s cut at [limit]: all trees together exceed %" PRIu64
             " bytes of text (limit trees)",
             r->trees.budget.cut, r->trees.budget.cut == 1 ? " is" : "s are", r->trees.budget.text);
    report_hole(r, &why);
}

static pfr_status run(struct report *r, pfr_output *out, pfr_error *err) {
    PFR_TRY(choose(r, err));
    PFR_TRY(load(r, err));
    PFR_TRY(rows_number_symbols(r, err));
    PFR_TRY(overheads_learn(r, err));
    PFR_TRY(call_trees_make(r, err));
    PFR_TRY(walk_make(r, err));
    filter_totals(r);
    if (r->trees.of_rows)
        PFR_TRY(walk_list_members(r, err));
    PFR_TRY(features_unread(r->reader, err));
    r->trees.budget.text = r->trees.budget.left = profile_tree_room(r->profile, r->profile->nr_nodes);
    PFR_TRY(report_write(r, out, err));
    report_note_empty(r);
    report_note_unnamed(r);
    report_cut_trees(r);
    return r->limited || r->trees.budget.cut || name_limits_any(&r->profile->names.limits) ? PFR_HOLE : PFR_OK;
}

static void close_report(struct report *r) {
    tree_free(r, &r->trees.whole);
    walk_free(r);
    path_segments_free(r);
    call_trees_free(r);
    number_lists_free(&r->events.rows, r->memory);
    number_lists_free(&r->events.roots, r->memory);
    rows_free(r);
    overheads_free(r);
    cache_lines_free(r);
    report_free_maps(r);
    report_free_groups(r);
    const size_t events = r->profile ? (size_t)r->profile->nr_events + 1 : 0;
    mem_free(r->memory, r->events.sums.totals, r->events.sums.totals ? events : 0, sizeof *r->events.sums.totals);
    mem_free(r->memory, r->events.sums.all, r->events.sums.all ? events : 0, sizeof *r->events.sums.all);
    mem_free(r->memory, r->events.sums.before, r->events.sums.before ? events : 0, sizeof *r->events.sums.before);
    filter_free(r);
    out_close(&r->cell.out, NULL);
    if (r->filters.parents.made)
        regfree(&r->filters.parents.pattern);
    if (r->filters.ignored.made)
        regfree(&r->filters.ignored.pattern);
    profile_close(r->profile);
    wait_event_end(r->reader);
    running_threads_free(&r->running);
}

/* Refuses options that have no effect on this kind of recording. */
static pfr_status check_maps(const pfr_reader *reader, const pfr_report_options *options, pfr_error *err) {
    if (!naming_of(options->naming).instr_maps || profile_measure(reader)->is_amount)
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "instr-map",
                    "instrumentation maps apply only to XRay traces; this is perf.data");
}

pfr_status pfr_report_print(pfr_reader *reader, const pfr_report_options *options, pfr_output *out, pfr_error *err) {
    PFR_TRY(check_maps(reader, options, err));
    if (report_is_stat(reader) && options->format <= PFR_REPORT_PERF)
        return report_stat_print(reader, out, err);
    struct report *r = mem_zeroed(&reader->memory, 1, sizeof *r);
    if (!r)
        return mem_fail(&reader->memory, err, "report");
    r->options = options;
    r->reader = reader;
    r->measure = profile_measure(reader);
    r->memory = &reader->memory;
    intern_init(&r->rows.cells, r->memory);
    intern_init(&r->cache_lines.keys, r->memory);
    intern_init(&r->mapped.names, r->memory);
    out_open_memory(&r->cell.out, r->memory);
    /* CSV and JSON escape their fields themselves */
    r->cell.raw_names = out->raw_names || options->format == PFR_REPORT_CSV || options->format == PFR_REPORT_JSON;
    const pfr_status st = run(r, out, err);
    close_report(r);
    mem_free(&reader->memory, r, 1, sizeof *r);
    return st;
}
