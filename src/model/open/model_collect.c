/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects data of each sample while the profile counts. If the recording can be read again by
 * slices, only the node of each sample is kept; otherwise all columns. Several workers find threads
 * and names in parallel; threads and names get ids in the order of the first samples that have
 * them.
 */
#include "model/open/model_collect.h"
#include "model/open/model_threads.h"
#include "model/open/model_marks.h"
#include "model/open/model_tables.h"
#include "model/open/model_watch.h"

#include "base/tables/radix.h"

#include <stdlib.h>

/* --- Distinct keys, and their first samples. */

static void met_init(struct first_met *met, struct memory *memory) {
    *met = (struct first_met){.first = NULL};
    intern_init(&met->keys, memory);
}

static void met_free(struct first_met *met, struct memory *memory) {
    intern_free(&met->keys);
    mem_free(memory, met->first, met->room, sizeof *met->first);
}

static pfr_status met_put(struct first_met *met, struct memory *memory, const void *key, size_t length, uint64_t at,
                          uint32_t *number, pfr_error *err) {
    void *grown = mem_grow(memory, met->first, met->keys.count, &met->room, 64, sizeof *met->first);
    if (!grown)
        return mem_fail(memory, err, "threads");
    met->first = grown;
    const uint32_t before = met->keys.count;
    PFR_TRY(intern_put(&met->keys, key, length, number, err));
    if (*number == before || at < met->first[*number])
        met->first[*number] = at;
    return PFR_OK;
}

/* --- From the profile. */

static void free_run(struct memory *memory, struct collect_run *run) {
    mem_free(memory, run->nodes, run->room, sizeof *run->nodes);
    mem_free(memory, run->least, run->least_room, sizeof *run->least);
    *run = (struct collect_run){.nodes = NULL};
}

static void free_counted(struct collector *c) {
    struct memory *memory = c->model->memory;
    for (unsigned i = 0; i < c->nr_workers; i++) {
        met_free(&c->workers[i].threads, memory);
        met_free(&c->workers[i].comms, memory);
        mem_free(memory, c->workers[i].spans, c->nr_events, sizeof *c->workers[i].spans);
    }
    for (uint32_t i = 0; i < c->nr_runs; i++)
        free_run(memory, &c->runs[i]);
    mem_free(memory, c->workers, c->allotted, sizeof *c->workers);
    mem_free(memory, c->runs, c->nr_runs, sizeof *c->runs);
    mem_free(memory, c->keys, c->keys_room, sizeof *c->keys);
    mem_free(memory, c->number_of, c->numbers_room, sizeof *c->number_of);
    columns_free(memory, &c->model->columns);
    c->workers = NULL;
    c->runs = NULL;
    c->keys = NULL;
    c->number_of = NULL;
    c->keys_room = c->numbers_room = 0;
    c->watched = c->limited = 0;
    c->nr_workers = c->allotted = c->nr_runs = 0;
}

void collector_free(struct collector *c) {
    const struct sample_columns columns = c->model->columns;
    c->model->columns = (struct sample_columns){.kept = 0}; /* the model keeps its columns */
    free_counted(c);
    c->model->columns = columns;
}

static pfr_status open_worker(struct collector *c, struct collect_worker *w, pfr_error *err) {
    struct memory *memory = c->model->memory;
    met_init(&w->threads, memory);
    met_init(&w->comms, memory);
    c->nr_workers++;
    w->finder.state = &c->model->profile->state;
    w->spans = mem_alloc(memory, c->nr_events, sizeof *w->spans);
    if (!w->spans)
        return mem_fail(memory, err, "events");
    for (uint32_t i = 0; i < c->nr_events; i++)
        w->spans[i] = (struct event_span){.first = PFR_NO_TIME};
    return PFR_OK;
}

static pfr_status keep_slices(struct pfr_model *m, uint32_t count, const struct slice *slices, pfr_error *err) {
    mem_free(m->memory, m->slices.list, m->slices.count, sizeof *m->slices.list);
    m->slices.count = 0;
    m->slices.list = slices ? mem_alloc(m->memory, count, sizeof *m->slices.list) : NULL;
    if (!slices)
        return PFR_OK;
    if (!m->slices.list)
        return mem_fail(m->memory, err, "slices");
    memcpy(m->slices.list, slices, count * sizeof *slices);
    m->slices.count = count;
    return PFR_OK;
}

/* Whether the profile counts samples in order of time. Decides as profile_reads.c does, because the
   profile learns the places of values in samples only when counting begins. */
static bool comes_in_time_order(const struct profile *p) {
    bool any = p->request.stitched;
    for (uint32_t i = 0; i < p->nr_events; i++) {
        struct pick_places places;
        pick_learn(&places, p->reader, i, &p->request);
        any = any || places.reads;
    }
    return any;
}

static pfr_status on_begin(void *context, unsigned workers, uint32_t runs, const struct slice *slices, pfr_error *err) {
    struct collector *c = context;
    struct pfr_model *m = c->model;
    free_counted(c);
    PFR_TRY(keep_slices(m, runs, slices, err));
    c->keeps_columns = !slices && !c->watch;
    c->keeps_keys = c->keeps_columns && comes_in_time_order(m->profile);
    m->columns.kept = c->watch ? PFR_COLUMN_STACK : slices ? 0 : ALL_COLUMNS;
    m->nr_ends = 0;
    PFR_TRY(c->watch ? c->watch->begin(c->watch->context, err) : PFR_OK);
    c->nr_events = m->profile->nr_events;
    c->workers = mem_zeroed(m->memory, workers, sizeof *c->workers);
    c->runs = mem_zeroed(m->memory, runs, sizeof *c->runs);
    if (!c->workers || !c->runs) {
        const pfr_status st = mem_fail(m->memory, err, "samples");
        mem_free(m->memory, c->workers, workers, sizeof *c->workers);
        mem_free(m->memory, c->runs, runs, sizeof *c->runs);
        c->workers = NULL;
        c->runs = NULL;
        return st;
    }
    c->nr_runs = runs;
    c->allotted = workers;
    for (unsigned i = 0; i < workers; i++)
        PFR_TRY(open_worker(c, &c->workers[i], err));
    return PFR_OK;
}

/* Finds the thread and the name of a sample, as numbers in the worker's tables. */
static pfr_status find_thread(struct collector *c, struct collect_worker *w, const struct profile_row *row, uint64_t at,
                              const struct thread_memo **found, pfr_error *err) {
    const struct state *state = w->finder.state;
    const uint64_t moment = moment_of(state, &row->key);
    struct thread_memo *memo;
    struct thread_view view;
    struct thread_key key;
    struct intern_text comm;
    char made[16];
    *found = thread_known(&w->finder, row->pid, row->tid, moment, &memo);
    if (*found)
        return PFR_OK;
    memo->used = false;
    thread_look(state, row, &view, &key, &comm, made);
    PFR_TRY(met_put(&w->threads, c->model->memory, &key, sizeof key, at, &memo->thread, err));
    PFR_TRY(met_put(&w->comms, c->model->memory, comm.bytes, comm.length, at, &memo->comm, err));
    memo->from = moment_of(state, &view.from);
    memo->until = moment_of(state, &view.until);
    memo->pid = row->pid;
    memo->tid = row->tid;
    memo->used = true;
    *found = memo;
    return PFR_OK;
}

static void note_span(struct collect_worker *w, const struct profile_row *row) {
    struct event_span *span = &w->spans[row->event];
    if (row->time == UINT64_MAX)
        return;
    if (span->first == PFR_NO_TIME || row->time < span->first)
        span->first = row->time;
    if (row->time > span->last)
        span->last = row->time;
}

static pfr_status keep_key(struct collector *c, const struct record_key *key, pfr_error *err) {
    const size_t at = c->model->columns.count;
    void *keys = mem_grow(c->model->memory, c->keys, at, &c->keys_room, SAMPLE_BATCH, sizeof *c->keys);
    if (!keys)
        return mem_fail(c->model->memory, err, "samples");
    c->keys = keys;
    c->keys[at] = *key;
    return PFR_OK;
}

static pfr_status keep_row(struct collector *c, const struct profile_row *row, const struct thread_memo *who,
                           pfr_error *err) {
    struct sample_columns *columns = &c->model->columns;
    const pfr_sample sample = {.time = row->time,
                               .weight = row->weight,
                               .period = row->period,
                               .thread = who ? who->thread + 1 : 0,
                               .comm = who ? who->comm + 1 : 0,
                               .cpu = row->cpu,
                               .event = row->event + 1,
                               .stack = row->node,
                               .mode = row->mode};
    PFR_TRY(c->keeps_keys ? keep_key(c, &row->key, err) : PFR_OK);
    PFR_TRY(columns_grow(c->model->memory, columns, 1, err));
    columns_set(columns, columns->count++, &sample);
    return PFR_OK;
}

static pfr_status note_least(struct collector *c, struct collect_run *run, uint64_t time, pfr_error *err) {
    const size_t block = run->count / SAMPLE_BATCH;
    const bool is_first = run->count % SAMPLE_BATCH == 0;
    void *grown = mem_grow(c->model->memory, run->least, block, &run->least_room, 64, sizeof *run->least);
    if (!grown)
        return mem_fail(c->model->memory, err, "samples");
    run->least = grown;
    run->least[block] = is_first || time < run->least[block] ? time : run->least[block];
    return PFR_OK;
}

static pfr_status keep_node(struct collector *c, struct collect_run *run, const struct profile_row *row,
                            pfr_error *err) {
    PFR_TRY(note_least(c, run, row->time, err));
    void *grown = mem_grow(c->model->memory, run->nodes, run->count, &run->room, 256, sizeof *run->nodes);
    if (!grown)
        return mem_fail(c->model->memory, err, "samples");
    run->nodes = grown;
    run->nodes[run->count++] = row->node;
    return PFR_OK;
}

/* --- With a watch. */

/* Gives the stack of the node a number. */
static pfr_status add_number(struct collector *c, uint32_t node, uint32_t *number, pfr_error *err) {
    struct pfr_model *m = c->model;
    if (node != NO_NODE && node >= c->numbers_room) {
        void *grown = mem_grow_zeroed(m->memory, c->number_of, node, &c->numbers_room, 256, sizeof *c->number_of);
        if (!grown)
            return mem_fail(m->memory, err, "samples");
        c->number_of = grown;
    }
    PFR_TRY(columns_grow(m->memory, &m->columns, 1, err));
    m->columns.stack[m->columns.count] = node;
    *number = (uint32_t)++m->columns.count;
    *(node == NO_NODE ? &c->limited : &c->number_of[node]) = *number;
    return PFR_OK;
}

static pfr_status watch_row(struct collector *c, const struct profile_row *row, pfr_error *err) {
    uint32_t number = row->node == NO_NODE ? c->limited : row->node < c->numbers_room ? c->number_of[row->node] : 0;
    c->watched++;
    if (!number)
        PFR_TRY(add_number(c, row->node, &number, err));
    return c->watch->sample(c->watch->context, row, number - 1, err);
}

static pfr_status on_other(void *context, const pfr_record *rec, const pfr_error *hole, pfr_error *err) {
    struct collector *c = context;
    if (hole)
        return PFR_OK;
    PFR_TRY(model_note_end(c->model, rec, err));
    return c->watch->other(c->watch->context, rec, err);
}

/* --- Samples. */

static pfr_status on_rows(void *context, unsigned worker, uint32_t run, const struct profile_row *rows, unsigned count,
                          pfr_error *err) {
    struct collector *c = context;
    struct collect_worker *w = &c->workers[worker];
    struct collect_run *of = &c->runs[run];
    for (unsigned i = 0; i < count; i++) {
        const struct profile_row *row = &rows[i];
        const struct thread_memo *who = NULL;
        const size_t number = c->watch ? c->watched : c->keeps_columns ? c->model->columns.count : of->count;
        if (number >= UINT32_MAX - 1)
            return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "samples", "there are more than 2^32 samples");
        if (model_has_thread(c->model, row->event))
            PFR_TRY(find_thread(c, w, row, (uint64_t)run << 32 | number, &who, err));
        note_span(w, row);
        PFR_TRY(c->watch           ? watch_row(c, row, err)
                : c->keeps_columns ? keep_row(c, row, who, err)
                                   : keep_node(c, of, row, err));
    }
    return PFR_OK;
}

static void on_moved(void *context, const uint32_t *node_of) {
    struct collector *c = context;
    uint32_t *stacks = c->model->columns.stack;
    for (size_t i = 0; (c->keeps_columns || c->watch) && i < c->model->columns.count; i++)
        stacks[i] = stacks[i] == NO_NODE ? NO_NODE : node_of[stacks[i]];
    for (uint32_t r = 0; r < c->nr_runs; r++)
        for (size_t i = 0; i < c->runs[r].count; i++)
            if (c->runs[r].nodes[i] != NO_NODE)
                c->runs[r].nodes[i] = node_of[c->runs[r].nodes[i]];
}

void collector_init(struct collector *c, struct pfr_model *m, const struct model_watch *watch) {
    *c = (struct collector){
        .model = m, .watch = watch, .each = {.begin = on_begin, .rows = on_rows, .moved = on_moved, .context = c}};
    c->each.other = watch ? on_other : NULL;
}

/* --- To the model. */

/* Makes slices.least from the earliest times of the blocks of each run. The blocks of a run are not
   aligned with the blocks of all samples: one block of a run may overlap two of these. */
static pfr_status join_least(struct collector *c, pfr_error *err) {
    struct pfr_model *m = c->model;
    m->slices.nr_least = (size_t)(m->slices.first[c->nr_runs] / SAMPLE_BATCH) + 1;
    m->slices.least = mem_alloc(m->memory, m->slices.nr_least, sizeof *m->slices.least);
    if (!m->slices.least)
        return mem_fail(m->memory, err, "samples");
    memset(m->slices.least, 0xff, m->slices.nr_least * sizeof *m->slices.least);
    for (uint32_t i = 0; i < c->nr_runs; i++)
        for (uint64_t from = 0; from < c->runs[i].count; from += SAMPLE_BATCH) {
            const uint64_t left = c->runs[i].count - from, first = m->slices.first[i] + from;
            const uint64_t last = first + (left < SAMPLE_BATCH ? left : SAMPLE_BATCH) - 1;
            const uint64_t time = c->runs[i].least[from / SAMPLE_BATCH];
            for (uint64_t block = first / SAMPLE_BATCH; block <= last / SAMPLE_BATCH; block++)
                m->slices.least[block] = time < m->slices.least[block] ? time : m->slices.least[block];
        }
    for (size_t block = m->slices.nr_least - 1; block-- > 0;)
        m->slices.least[block] =
            m->slices.least[block + 1] < m->slices.least[block] ? m->slices.least[block + 1] : m->slices.least[block];
    return PFR_OK;
}

/* The columns grow run by run, and each run is freed at once, because samples may take most of the
   memory: there may be no room for a second copy of all of them. */
static pfr_status append_run(struct pfr_model *m, struct collect_run *run, pfr_error *err) {
    PFR_TRY(columns_fit(m->memory, &m->columns, run->count ? run->count : 1, err));
    if (run->count)
        memcpy(m->columns.stack + m->columns.count, run->nodes, run->count * sizeof *run->nodes);
    m->columns.count += run->count;
    free_run(m->memory, run);
    return PFR_OK;
}

static pfr_status join_runs(struct collector *c, pfr_error *err) {
    struct pfr_model *m = c->model;
    size_t count = 0;
    m->slices.first = mem_zeroed(m->memory, (size_t)m->slices.count + 1, sizeof *m->slices.first);
    if (!m->slices.first)
        return mem_fail(m->memory, err, "samples");
    for (uint32_t i = 0; i < c->nr_runs; i++) {
        m->slices.first[i] = count;
        count += c->runs[i].count;
    }
    m->slices.first[c->nr_runs] = count;
    if (count > UINT32_MAX - 1)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "samples", "there are more than 2^32 samples");
    PFR_TRY(join_least(c, err));
    m->columns.kept = PFR_COLUMN_STACK;
    PFR_TRY(columns_fit(m->memory, &m->columns, 1, err)); /* also if there are no runs */
    for (uint32_t i = 0; i < c->nr_runs; i++)
        PFR_TRY(append_run(m, &c->runs[i], err));
    return PFR_OK;
}

struct met_key {
    uint64_t first;
    struct intern_text key;
};

static int by_first(const void *a, const void *b) {
    const struct met_key *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Merges the keys of all workers, in the order of their first samples. */
static pfr_status settle_met(struct collector *c, size_t which, struct intern_table *to, pfr_error *err) {
    struct memory *memory = c->model->memory;
    size_t count = 0, at = 0;
    for (unsigned i = 0; i < c->nr_workers; i++)
        count += ((struct first_met *)(void *)((uint8_t *)&c->workers[i] + which))->keys.count;
    struct met_key *all = mem_alloc(memory, count, sizeof *all);
    if (!all)
        return mem_fail(memory, err, "threads");
    for (unsigned i = 0; i < c->nr_workers; i++) {
        const struct first_met *met = (struct first_met *)(void *)((uint8_t *)&c->workers[i] + which);
        for (uint32_t k = 0; k < met->keys.count; k++)
            all[at++] = (struct met_key){met->first[k], intern_get(&met->keys, k)};
    }
    qsort(all, count, sizeof *all, by_first);
    pfr_status st = PFR_OK;
    uint32_t number;
    for (size_t i = 0; st >= 0 && i < count; i++)
        st = intern_put(to, all[i].key.bytes, all[i].key.length, &number, err);
    mem_free(memory, all, count, sizeof *all);
    return st;
}

/* Converts numbers of the only worker to ids, in the order of samples. */
static pfr_status renumber(struct pfr_model *m, uint32_t *column, const struct intern_table *from,
                           struct intern_table *to, pfr_error *err) {
    uint32_t *id_of = mem_zeroed(m->memory, (size_t)from->count + 1, sizeof *id_of);
    pfr_status st = id_of ? PFR_OK : mem_fail(m->memory, err, "threads");
    for (size_t i = 0; st >= 0 && i < m->columns.count; i++) {
        const uint32_t local = column[i];
        if (local && !id_of[local]) {
            const struct intern_text key = intern_get(from, local - 1);
            st = intern_put(to, key.bytes, key.length, &id_of[local], err);
            id_of[local]++;
        }
        column[i] = local ? id_of[local] : 0;
    }
    mem_free(m->memory, id_of, (size_t)from->count + 1, sizeof *id_of);
    return st;
}

/* Sorts rows that came in order of time into file order. Samples of one record keep their order. */
static pfr_status sort_rows(struct collector *c, pfr_error *err) {
    struct pfr_model *m = c->model;
    const size_t count = m->columns.count;
    struct radix_item *items = mem_alloc(m->memory, count, 2 * sizeof *items);
    uint32_t *order = mem_alloc(m->memory, count, sizeof *order);
    pfr_status st = items && order ? PFR_OK : mem_fail(m->memory, err, "samples");
    if (st >= 0) {
        for (size_t i = 0; i < count; i++)
            items[i] = (struct radix_item){c->keys[i].inner, (uint32_t)i};
        struct radix_item *at = radix_sort(items, items + count, count);
        for (size_t i = 0; i < count; i++)
            at[i].key = c->keys[at[i].value].offset;
        at = radix_sort(at, at == items ? items + count : items, count);
        for (size_t i = 0; i < count; i++)
            order[i] = at[i].value;
        st = columns_permute(m->memory, &m->columns, order, err);
    }
    mem_free(m->memory, items, count, 2 * sizeof *items);
    mem_free(m->memory, order, count, sizeof *order);
    return st;
}

static pfr_status settle_columns(struct collector *c, pfr_error *err) {
    struct pfr_model *m = c->model;
    if (c->keeps_keys)
        PFR_TRY(sort_rows(c, err));
    PFR_TRY(columns_grow(m->memory, &m->columns, m->columns.count ? 0 : 1, err));
    PFR_TRY(renumber(m, m->columns.thread, &c->workers[0].threads.keys, &m->thread_keys, err));
    return renumber(m, m->columns.comm, &c->workers[0].comms.keys, &m->comms, err);
}

pfr_status collector_settle(struct collector *c, pfr_error *err) {
    struct pfr_model *m = c->model;
    if (c->keeps_columns)
        return settle_columns(c, err);
    PFR_TRY(c->watch ? columns_grow(m->memory, &m->columns, m->columns.count ? 0 : 1, err) : join_runs(c, err));
    PFR_TRY(settle_met(c, offsetof(struct collect_worker, threads), &m->thread_keys, err));
    return settle_met(c, offsetof(struct collect_worker, comms), &m->comms, err);
}
