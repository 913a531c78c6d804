/* SPDX-License-Identifier: Apache-2.0 */
/* The command symbols: a profile of addresses with lines, summed by object. See symbols_parts.h. */
#include "view/symbols/symbols_parts.h"
#include "view/symbols/symbols_write.h"

#include "file/read/next.h"

#include <stdlib.h>

#define NODE_COST (uint32_t)sizeof(uint64_t) /* one counter of occurrences per node */

static void report_hole(void *context, const pfr_error *hole) {
    const struct symbols *s = context;
    if (s->options->hole)
        s->options->hole(s->options->context, hole);
}

static void report_note(void *context, const char *sentence) {
    const struct symbols *s = context;
    if (s->options->note)
        s->options->note(s->options->context, sentence);
}

static pfr_status load(struct symbols *s, pfr_error *err) {
    const pfr_symbols_options *o = s->options;
    const struct profile_request request = {.shape = PROFILE_TREE,
                                            .unit = PROFILE_ADDRESSES,
                                            .lines = PROFILE_LINES,
                                            .max_stack = o->max_stack,
                                            .jobs = o->jobs,
                                            .node_cost = NODE_COST,
                                            .names = {.naming = naming_of(o->naming)},
                                            .hole = report_hole,
                                            .note = report_note,
                                            .context = s};
    return profile_load(&s->profile, s->reader, &request, err);
}

/* --- Sums. */

/* Returns the inclusive number of samples of each node. Children follow their parents in the array, so one backward
   pass suffices. */
static uint64_t *count_nodes(struct symbols *s) {
    const struct profile *p = s->profile;
    uint64_t *met = mem_zeroed(s->memory, (size_t)p->nr_nodes + 1, sizeof *met);
    for (uint32_t n = p->nr_nodes; met && n-- > 0;) {
        met[n] += node_weight(&p->self, n)->samples;
        if (p->nodes[n].parent != NO_NODE)
            met[p->nodes[n].parent] += met[n];
    }
    return met;
}

static void add_node(const struct profile *p, uint32_t n, uint64_t met, struct symbols_sums *sums) {
    const uint32_t frame = node_frame(&p->nodes[n]);
    sums->samples += node_weight(&p->self, n)->samples;
    sums->addresses += met;
    sums->named += p->frames[frame].text != NO_TEXT ? met : 0;
    sums->lined += p->lines && p->lines[frame].own.file != NO_TEXT ? met : 0;
}

/* Adds the nodes to the rows, which are indexed by object; the last row has addresses outside any object. */
static void add_nodes(struct symbols *s, const uint64_t *met) {
    const struct profile *p = s->profile;
    for (uint32_t n = 0; n < p->nr_nodes; n++) {
        if (p->nodes[n].parent == NO_NODE)
            continue;
        const uint32_t object = p->frames[node_frame(&p->nodes[n])].object;
        add_node(p, n, met[n], &s->rows[object < s->nr_rows - 1 ? object : s->nr_rows - 1].sums);
        add_node(p, n, met[n], &s->all);
    }
}

static int compare_rows(const void *a, const void *b) {
    const struct symbols_row *x = a, *y = b;
    if (x->sums.addresses != y->sums.addresses)
        return x->sums.addresses > y->sums.addresses ? -1 : 1;
    return (x->object > y->object) - (x->object < y->object);
}

static pfr_status sum(struct symbols *s, pfr_error *err) {
    const size_t count = (size_t)s->profile->state.objects.keys.count + 1;
    s->rows = mem_zeroed(s->memory, count, sizeof *s->rows);
    s->nr_rows = s->rows ? count : 0;
    uint64_t *met = s->rows ? count_nodes(s) : NULL;
    if (!met)
        return mem_fail(s->memory, err, "symbols");
    for (size_t i = 0; i < count; i++)
        s->rows[i].object = i + 1 < count ? (uint32_t)i : NO_OBJECT;
    add_nodes(s, met);
    mem_free(s->memory, met, (size_t)s->profile->nr_nodes + 1, sizeof *met);
    qsort(s->rows, count, sizeof *s->rows, compare_rows);
    return PFR_OK;
}

static pfr_status run(struct symbols *s, pfr_output *out, pfr_error *err) {
    PFR_TRY(load(s, err));
    PFR_TRY(sum(s, err));
    const pfr_status st = profile_report_limits(s->profile, report_hole, s);
    PFR_TRY(s->options->format == PFR_SYMBOLS_JSON ? symbols_write_json(s, out, err) : symbols_write_text(s, out, err));
    return st;
}

pfr_status pfr_symbols_print(pfr_reader *reader, const pfr_symbols_options *options, pfr_output *out, pfr_error *err) {
    if (reader->trace)
        return pfr_fail(err, PFR_ERR_FORMAT, 0, 0, "symbols",
                        "a trace contains functions, not addresses; perfray latency shows them, with names from -m "
                        "FILE if the trace has none");
    if (naming_of(options->naming).no_symbols)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "no_symbols",
                        "symbols cannot be combined with no_symbols, which omits all names");
    struct symbols *s = mem_zeroed(&reader->memory, 1, sizeof *s);
    if (!s)
        return mem_fail(&reader->memory, err, "symbols");
    s->options = options;
    s->reader = reader;
    s->memory = &reader->memory;
    const pfr_status st = run(s, out, err);
    mem_free(s->memory, s->rows, s->nr_rows, sizeof *s->rows);
    profile_close(s->profile);
    mem_free(&reader->memory, s, 1, sizeof *s);
    return st;
}
