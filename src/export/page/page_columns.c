/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of a page: see page_columns.h. */
#include "export/page/page_columns.h"
#include "export/page/page_wait_columns.h"

#include <perfray/spans.h>

/* --- Texts, stored one after the other. */

static uint64_t count_texts(const struct page_data *d) {
    return d->nr_texts;
}
static uint64_t end_of_text(const struct page_data *d, uint64_t i) {
    return d->text_ends[i];
}

/* --- Objects, functions, nodes. */

static uint64_t count_objects(const struct page_data *d) {
    return (uint64_t)d->nr_objects + 1;
}
static uint64_t object_name(const struct page_data *d, uint64_t i) {
    return d->text_of_object[i];
}
static uint64_t object_path(const struct page_data *d, uint64_t i) {
    return d->path_of_object[i];
}
static uint64_t object_build(const struct page_data *d, uint64_t i) {
    return d->build_of_object[i];
}

static uint64_t count_funcs(const struct page_data *d) {
    return d->tables.nr_funcs;
}
static uint64_t func_name(const struct page_data *d, uint64_t i) {
    return d->tables.funcs[i].name;
}
static uint64_t func_object(const struct page_data *d, uint64_t i) {
    return d->tables.funcs[i].object;
}
static uint64_t func_kind(const struct page_data *d, uint64_t i) {
    return d->tables.funcs[i].kind;
}

/* Two columns hold one address, because addresses have up to 64 bits and columns 53. */
static uint64_t func_address_low(const struct page_data *d, uint64_t i) {
    return d->tables.funcs[i].address & UINT32_MAX;
}
static uint64_t func_address_high(const struct page_data *d, uint64_t i) {
    return d->tables.funcs[i].address >> 32;
}
static uint64_t func_file(const struct page_data *d, uint64_t i) {
    return d->tables.funcs[i].file;
}
static uint64_t func_line(const struct page_data *d, uint64_t i) {
    return d->tables.funcs[i].line;
}
static uint64_t object_kind(const struct page_data *d, uint64_t i) {
    return i ? pfr_model_get_object(d->tables.model, (uint32_t)i)->kind : PFR_OBJECT_UNKNOWN;
}

static uint64_t count_nodes(const struct page_data *d) {
    return d->tables.nr_nodes;
}
static uint64_t node_func(const struct page_data *d, uint64_t i) {
    return d->tables.nodes[i].func;
}
static uint64_t node_offset(const struct page_data *d, uint64_t i) {
    return i - d->tables.nodes[i].parent;
}
static uint64_t node_flags(const struct page_data *d, uint64_t i) {
    return d->tables.nodes[i].inlined;
}
static uint64_t node_line(const struct page_data *d, uint64_t i) {
    return d->tables.nodes[i].line;
}
static uint64_t rank_node(const struct page_data *d, uint64_t i) {
    return d->node_of_rank[i];
}

/* --- Threads. */

static uint64_t count_threads(const struct page_data *d) {
    return d->nr_threads;
}
static uint64_t thread_name(const struct page_data *d, uint64_t i) {
    return d->text_of_thread[i];
}
static uint64_t thread_process(const struct page_data *d, uint64_t i) {
    return d->text_of_process[i];
}
static uint64_t thread_cgroup(const struct page_data *d, uint64_t i) {
    return d->text_of_cgroup[i];
}
static uint64_t count_compared_threads(const struct page_data *d) {
    return d->baseline ? d->nr_threads : 0;
}
static uint64_t thread_baseline(const struct page_data *d, uint64_t i) {
    const uint64_t of_either = 2; /* samples without a thread belong to both recordings */
    return d->threads[i] ? page_data_is_of_baseline(d, d->threads[i]) : of_either;
}
/* The column is empty unless some threads belong to the recorded command and others do not. */
static uint64_t count_command_threads(const struct page_data *d) {
    return d->has_command ? d->nr_threads : 0;
}
static uint64_t thread_command(const struct page_data *d, uint64_t i) {
    return d->of_command[d->threads[i]];
}
static uint64_t thread_tid(const struct page_data *d, uint64_t i) {
    const pfr_model_thread *thread = pfr_model_get_thread(d->tables.model, d->threads[i]);
    return thread ? thread->tid : 0;
}
static uint64_t thread_pid(const struct page_data *d, uint64_t i) {
    const pfr_model_thread *thread = pfr_model_get_thread(d->tables.model, d->threads[i]);
    const pfr_model_process *process = thread ? pfr_model_get_process(d->tables.model, thread->process) : NULL;
    return process ? process->pid : 0;
}

/* Number of slots from the beginning of the page, plus 1; 0: not known. */
static uint64_t life_time(const struct page_data *d, uint64_t time) {
    const uint64_t until = time < d->end ? time : d->end;
    return time == PFR_NO_TIME ? 0 : (until > d->begin ? until - d->begin : 0) / d->rows.slot + 1;
}
static uint64_t thread_start(const struct page_data *d, uint64_t i) {
    const pfr_model_thread *thread = pfr_model_get_thread(d->tables.model, d->threads[i]);
    return thread ? life_time(d, thread->start) : 0;
}
static uint64_t thread_end(const struct page_data *d, uint64_t i) {
    const pfr_model_thread *thread = pfr_model_get_thread(d->tables.model, d->threads[i]);
    return thread ? life_time(d, thread->end) : 0;
}

static uint64_t thread_samples(const struct page_data *d, uint64_t i) {
    return d->samples_of[i];
}
static uint64_t thread_calls(const struct page_data *d, uint64_t i) {
    return d->calls_of[i];
}

/* --- Samples. */

static uint64_t count_rows(const struct page_data *d) {
    return d->rows.count;
}
static uint64_t count_coarse_rows(const struct page_data *d) {
    return d->rows.is_coarse ? d->rows.count : 0;
}
static uint64_t sample_node(const struct page_data *d, uint64_t i) {
    return d->rank_of[d->rows.at[i].node];
}
static uint64_t sample_event(const struct page_data *d, uint64_t i) {
    return d->rows.at[i].event;
}
static uint64_t sample_weight(const struct page_data *d, uint64_t i) {
    return d->rows.at[i].weight >> d->weight_shift;
}
static uint64_t sample_count(const struct page_data *d, uint64_t i) {
    return d->rows.at[i].count;
}
static uint64_t sample_gap(const struct page_data *d, uint64_t i) {
    const struct page_row *row = &d->rows.at[i];
    return i && row[-1].thread == row->thread ? row->time - row[-1].time : row->time;
}

/* --- Calls. */

static uint64_t count_calls(const struct page_data *d) {
    return d->calls.count;
}
static uint64_t call_node(const struct page_data *d, uint64_t i) {
    return d->rank_of[d->calls.at[i].node];
}
static uint64_t call_depth(const struct page_data *d, uint64_t i) {
    return d->calls.at[i].depth;
}
static uint64_t call_duration(const struct page_data *d, uint64_t i) {
    return d->calls.at[i].duration >> d->call_shift;
}
static uint64_t start_of(const struct page_data *d, const struct page_call *call) {
    return (call->start - d->begin) >> d->call_shift;
}
static uint64_t call_gap(const struct page_data *d, uint64_t i) {
    const struct page_call *call = &d->calls.at[i];
    const uint64_t at = start_of(d, call), before = i && call[-1].thread == call->thread ? start_of(d, call - 1) : 0;
    return at > before ? at - before : 0; /* a clock may go back */
}

/* --- Latencies of functions. One column has all their numbers: first those of one kind for all functions, then those
   of the next kind. */

#define LATENCY_NUMBERS (6u + LATENCY_RANKS)

static uint64_t count_latencies(const struct page_data *d) {
    return (uint64_t)d->latencies.count * LATENCY_NUMBERS;
}
/* The first number has the function, the side in bit 1, and in bit 0 whether percentiles are exact. */
static uint64_t latency_number(const struct page_data *d, uint64_t i) {
    const struct page_latency *l = &d->latencies.at[i % d->latencies.count];
    const uint64_t kind = i / d->latencies.count;
    const uint64_t ends[] = {l->calls.sum, l->calls.low, l->calls.high};
    if (kind == 0)
        return (uint64_t)l->func << 2 | (uint64_t)l->side << 1 | l->calls.is_exact;
    if (kind <= 2)
        return kind == 1 ? l->calls.count : page_with_sign(l->calls.self / ((int64_t)1 << d->call_shift));
    return (kind < 6 ? ends[kind - 3] : l->calls.rank[kind - 6]) >> d->call_shift;
}

/* --- Marks. Their times have the resolution of calls, because marks are drawn inside calls. */

static uint64_t count_marks(const struct page_data *d) {
    return d->marks.count;
}
/* The number of the thread, from 1; 0: not known. */
static uint64_t mark_thread(const struct page_data *d, uint64_t i) {
    const uint32_t id = d->marks.at[i].thread;
    return d->nr_threads && d->threads[d->number_of[id]] == id ? (uint64_t)d->number_of[id] + 1 : 0;
}
static uint64_t count_compared_marks(const struct page_data *d) {
    return d->baseline ? d->marks.count : 0;
}
static uint64_t mark_baseline(const struct page_data *d, uint64_t i) {
    return d->marks.at[i].index >= d->nr_new_marks;
}
static uint64_t mark_time(const struct page_data *d, uint64_t i) {
    return (d->marks.at[i].time - d->begin) >> d->call_shift;
}
static uint64_t mark_kind(const struct page_data *d, uint64_t i) {
    return d->marks.at[i].kind;
}
static uint64_t mark_count(const struct page_data *d, uint64_t i) {
    const uint64_t most = ((uint64_t)1 << PAGE_NUMBER_BITS) - 1;
    return d->marks.at[i].count < most ? d->marks.at[i].count : most;
}
static uint64_t mark_type(const struct page_data *d, uint64_t i) {
    return d->marks.at[i].type;
}
static uint64_t mark_text(const struct page_data *d, uint64_t i) {
    return d->marks.at[i].text;
}

/* --- Code. */

static uint64_t count_code(const struct page_data *d) {
    return d->code.nr_funcs;
}
static uint64_t code_func(const struct page_data *d, uint64_t i) {
    return d->code.funcs[i].func;
}
static uint64_t code_rows(const struct page_data *d, uint64_t i) {
    return d->code.funcs[i].rows;
}
static uint64_t code_why(const struct page_data *d, uint64_t i) {
    return d->code.funcs[i].why;
}
static uint64_t code_side(const struct page_data *d, uint64_t i) {
    return d->code.funcs[i].side;
}
/* Bits 0 and 1: how the lines were paired; bit 2: equal addresses are the same instruction. */
static uint64_t code_matched(const struct page_data *d, uint64_t i) {
    return d->code.funcs[i].matched | (uint64_t)d->code.funcs[i].same_addresses << 2;
}
static uint64_t count_pairs(const struct page_data *d) {
    return d->code.nr_pairs;
}
static uint64_t pair_func(const struct page_data *d, uint64_t i) {
    return d->code.pairs[i].func;
}
static uint64_t pair_base_file(const struct page_data *d, uint64_t i) {
    return d->code.pairs[i].file[PAGE_BASELINE];
}
static uint64_t pair_base_line(const struct page_data *d, uint64_t i) {
    return d->code.pairs[i].line[PAGE_BASELINE];
}
static uint64_t pair_file(const struct page_data *d, uint64_t i) {
    return d->code.pairs[i].file[PAGE_NEWER];
}
static uint64_t pair_line(const struct page_data *d, uint64_t i) {
    return d->code.pairs[i].line[PAGE_NEWER];
}
static uint64_t count_files(const struct page_data *d) {
    return d->code.nr_files;
}
static uint64_t file_name(const struct page_data *d, uint64_t i) {
    return d->code.files[i];
}
static uint64_t count_insns(const struct page_data *d) {
    return d->code.nr_insns;
}
static uint64_t insn_address_low(const struct page_data *d, uint64_t i) {
    return d->code.insns[i].address & UINT32_MAX;
}
static uint64_t insn_address_high(const struct page_data *d, uint64_t i) {
    return d->code.insns[i].address >> 32;
}
static uint64_t insn_text(const struct page_data *d, uint64_t i) {
    return d->code.insns[i].text;
}
static uint64_t insn_file(const struct page_data *d, uint64_t i) {
    return d->code.insns[i].file;
}
static uint64_t insn_line(const struct page_data *d, uint64_t i) {
    return d->code.insns[i].line;
}
static uint64_t insn_target(const struct page_data *d, uint64_t i) {
    return d->code.insns[i].target;
}
static uint64_t insn_kind(const struct page_data *d, uint64_t i) {
    return (uint64_t)d->code.insns[i].kind << 1 | d->code.insns[i].inlined;
}
static uint64_t count_hits(const struct page_data *d) {
    return d->code.nr_hits;
}
static uint64_t hit_row(const struct page_data *d, uint64_t i) {
    return d->code.hits[i].row;
}
static uint64_t hit_event(const struct page_data *d, uint64_t i) {
    return d->code.hits[i].event;
}
static uint64_t hit_samples(const struct page_data *d, uint64_t i) {
    return d->code.hits[i].samples;
}
static uint64_t hit_weight(const struct page_data *d, uint64_t i) {
    return d->code.hits[i].weight >> d->weight_shift;
}
static uint64_t count_sources(const struct page_data *d) {
    return d->code.nr_sources;
}
static uint64_t source_file(const struct page_data *d, uint64_t i) {
    return d->code.sources[i].file;
}
static uint64_t source_number(const struct page_data *d, uint64_t i) {
    return d->code.sources[i].line;
}
static uint64_t source_text(const struct page_data *d, uint64_t i) {
    return d->code.sources[i].text;
}

/* Bit 0: enum page_side; bit 1: the text is certainly the version of this side's build. */
static uint64_t source_side(const struct page_data *d, uint64_t i) {
    return d->code.sources[i].side | (uint64_t)d->code.sources[i].is_certain << 1;
}

/* --- Changes: two rows each, self and total. */

static uint64_t count_changes(const struct page_data *d) {
    return (uint64_t)d->changes.count * PAGE_CHANGE_PARTS;
}
static const struct page_change_value *change_at(const struct page_data *d, uint64_t i) {
    return &d->changes.at[i / PAGE_CHANGE_PARTS].part[i % PAGE_CHANGE_PARTS];
}
static uint64_t change_event(const struct page_data *d, uint64_t i) {
    return d->changes.at[i / PAGE_CHANGE_PARTS].event;
}
static uint64_t change_func(const struct page_data *d, uint64_t i) {
    return d->changes.at[i / PAGE_CHANGE_PARTS].func;
}
static uint64_t change_delta(const struct page_data *d, uint64_t i) {
    return page_with_sign(change_at(d, i)->delta);
}
static uint64_t change_low(const struct page_data *d, uint64_t i) {
    return page_with_sign(change_at(d, i)->low);
}
static uint64_t change_high(const struct page_data *d, uint64_t i) {
    return page_with_sign(change_at(d, i)->high);
}
static uint64_t change_verdict(const struct page_data *d, uint64_t i) {
    return change_at(d, i)->verdict | (uint64_t)change_at(d, i)->has_interval << 3;
}

static const struct page_column all[] = {
    {"string.end", count_texts, end_of_text},
    {"object.name", count_objects, object_name},
    {"object.path", count_objects, object_path},
    {"object.build_id", count_objects, object_build},
    {"object.kind", count_objects, object_kind},
    {"func.name", count_funcs, func_name},
    {"func.object", count_funcs, func_object},
    {"func.kind", count_funcs, func_kind},
    {"func.address_low", count_funcs, func_address_low},
    {"func.address_high", count_funcs, func_address_high},
    {"func.file", count_funcs, func_file},
    {"func.line", count_funcs, func_line},
    {"node.func", count_nodes, node_func},
    {"node.offset", count_nodes, node_offset},
    {"node.flags", count_nodes, node_flags},
    {"node.line", count_nodes, node_line},
    {"rank.node", count_nodes, rank_node},
    {"thread.pid", count_threads, thread_pid},
    {"thread.tid", count_threads, thread_tid},
    {"thread.name", count_threads, thread_name},
    {"thread.process", count_threads, thread_process},
    {"thread.cgroup", count_threads, thread_cgroup},
    {"thread.baseline", count_compared_threads, thread_baseline},
    {"thread.command", count_command_threads, thread_command},
    {"thread.start", count_threads, thread_start},
    {"thread.end", count_threads, thread_end},
    {"thread.samples", count_threads, thread_samples},
    {"thread.calls", count_threads, thread_calls},
    {"sample.node", count_rows, sample_node},
    {"sample.event", count_rows, sample_event},
    {"sample.weight", count_rows, sample_weight},
    {"sample.count", count_coarse_rows, sample_count},
    {"sample.gap", count_rows, sample_gap},
    {"call.node", count_calls, call_node},
    {"call.depth", count_calls, call_depth},
    {"call.duration", count_calls, call_duration},
    {"call.gap", count_calls, call_gap},
    {"latency.numbers", count_latencies, latency_number},
    {"mark.thread", count_marks, mark_thread},
    {"mark.baseline", count_compared_marks, mark_baseline},
    {"mark.time", count_marks, mark_time},
    {"mark.kind", count_marks, mark_kind},
    {"mark.count", count_marks, mark_count},
    {"mark.type", count_marks, mark_type},
    {"mark.text", count_marks, mark_text},
    {"code.func", count_code, code_func},
    {"code.rows", count_code, code_rows},
    {"code.why", count_code, code_why},
    {"code.side", count_code, code_side},
    {"code.matched", count_code, code_matched},
    {"pair.func", count_pairs, pair_func},
    {"pair.base_file", count_pairs, pair_base_file},
    {"pair.base_line", count_pairs, pair_base_line},
    {"pair.file", count_pairs, pair_file},
    {"pair.line", count_pairs, pair_line},
    {"file.name", count_files, file_name},
    {"insn.address_low", count_insns, insn_address_low},
    {"insn.address_high", count_insns, insn_address_high},
    {"insn.text", count_insns, insn_text},
    {"insn.file", count_insns, insn_file},
    {"insn.line", count_insns, insn_line},
    {"insn.target", count_insns, insn_target},
    {"insn.kind", count_insns, insn_kind},
    {"hit.row", count_hits, hit_row},
    {"hit.event", count_hits, hit_event},
    {"hit.samples", count_hits, hit_samples},
    {"hit.weight", count_hits, hit_weight},
    {"source.file", count_sources, source_file},
    {"source.line", count_sources, source_number},
    {"source.text", count_sources, source_text},
    {"source.side", count_sources, source_side},
    {"change.event", count_changes, change_event},
    {"change.func", count_changes, change_func},
    {"change.delta", count_changes, change_delta},
    {"change.low", count_changes, change_low},
    {"change.high", count_changes, change_high},
    {"change.verdict", count_changes, change_verdict},
};

#define OWN_COLUMNS (sizeof all / sizeof *all)

size_t page_columns_count(void) {
    return OWN_COLUMNS + PAGE_WAIT_COLUMNS;
}

const struct page_column *page_column_at(size_t i) {
    return i < OWN_COLUMNS ? &all[i] : &page_wait_columns[i - OWN_COLUMNS];
}
