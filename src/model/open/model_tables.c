/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of rows by id, and columns of samples: creation, growth, access and release. */
#include "model/open/model_tables.h"
#include "model/open/calls_rows.h"

#include <stdlib.h>

void model_init(struct pfr_model *m, struct memory *memory) {
    m->memory = memory;
    intern_init(&m->comms, memory);
    intern_init(&m->thread_keys, memory);
    intern_init(&m->texts, memory);
    intern_init(&m->symbol_keys, memory);
    intern_init(&m->frame_keys, memory);
}

/* --- Rows. */

pfr_status rows_grow(struct pfr_model *m, struct id_table *rows, size_t size, const char *table, pfr_error *err) {
    if (rows->count >= UINT32_MAX - 1)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, table, "there are more than 2^32 rows");
    void *grown = mem_grow_zeroed(m->memory, rows->at, (size_t)rows->count + 1, &rows->room, 64, size);
    if (!grown)
        return mem_fail(m->memory, err, table);
    rows->at = grown;
    return PFR_OK;
}

static void rows_free(struct pfr_model *m, struct id_table *rows, size_t size) {
    mem_free(m->memory, rows->at, rows->room, size);
    *rows = (struct id_table){.at = NULL};
}

pfr_status model_text(struct pfr_model *m, const char *text, size_t length, const char **own, pfr_error *err) {
    uint32_t id;
    *own = NULL;
    if (!text)
        return PFR_OK;
    PFR_TRY(intern_put(&m->texts, text, length, &id, err));
    *own = intern_chars(&m->texts, id);
    return PFR_OK;
}

/* --- Columns. Each is named once here. */

struct table_column {
    uint32_t bit;
    size_t at, size;
    pfr_column_type type;
};
#define COLUMN(bit, member, type)                                                                                      \
    { bit, offsetof(struct sample_columns, member), sizeof *((struct sample_columns *)NULL)->member, type }
static const struct table_column all_columns[] = {
    COLUMN(PFR_COLUMN_TIME, time, PFR_U64),     COLUMN(PFR_COLUMN_WEIGHT, weight, PFR_U64),
    COLUMN(PFR_COLUMN_PERIOD, period, PFR_U64), COLUMN(PFR_COLUMN_THREAD, thread, PFR_U32),
    COLUMN(PFR_COLUMN_COMM, comm, PFR_U32),     COLUMN(PFR_COLUMN_CPU, cpu, PFR_U32),
    COLUMN(PFR_COLUMN_EVENT, event, PFR_U32),   COLUMN(PFR_COLUMN_STACK, stack, PFR_U32),
    COLUMN(PFR_COLUMN_MODE, mode, PFR_U8),
};
#define COLUMNS (sizeof all_columns / sizeof *all_columns)

static void *column_get(const struct sample_columns *c, const struct table_column *column) {
    void *at;
    memcpy(&at, (const uint8_t *)c + column->at, sizeof at);
    return at;
}

static void column_put(struct sample_columns *c, const struct table_column *column, void *at) {
    memcpy((uint8_t *)c + column->at, &at, sizeof at);
}

pfr_status columns_grow(struct memory *memory, struct sample_columns *c, size_t more, pfr_error *err) {
    for (size_t i = 0; i < COLUMNS; i++) {
        const struct table_column *column = &all_columns[i];
        if (!(c->kept & column->bit) || c->count + more <= c->rooms[i])
            continue;
        void *grown =
            mem_grow(memory, column_get(c, column), c->count + more - 1, &c->rooms[i], SAMPLE_BATCH, column->size);
        if (!grown)
            return mem_fail(memory, err, "samples");
        column_put(c, column, grown);
    }
    return PFR_OK;
}

pfr_status columns_fit(struct memory *memory, struct sample_columns *c, size_t more, pfr_error *err) {
    for (size_t i = 0; i < COLUMNS; i++) {
        const struct table_column *column = &all_columns[i];
        if (!(c->kept & column->bit) || c->count + more <= c->rooms[i])
            continue;
        void *grown = mem_resize(memory, column_get(c, column), c->rooms[i], c->count + more, column->size);
        if (!grown)
            return mem_fail(memory, err, "samples");
        c->rooms[i] = c->count + more;
        column_put(c, column, grown);
    }
    return PFR_OK;
}

void columns_free(struct memory *memory, struct sample_columns *c) {
    for (size_t i = 0; i < COLUMNS; i++)
        mem_free(memory, column_get(c, &all_columns[i]), c->rooms[i], all_columns[i].size);
    *c = (struct sample_columns){.kept = 0};
}

void columns_set(struct sample_columns *c, size_t at, const struct pfr_sample *row) {
    c->time[at] = row->time;
    c->weight[at] = row->weight;
    c->period[at] = row->period;
    c->thread[at] = row->thread;
    c->comm[at] = row->comm;
    c->cpu[at] = row->cpu;
    c->event[at] = row->event;
    c->stack[at] = row->stack;
    c->mode[at] = row->mode;
}

/* Members of a batch in the order of all_columns. */
static const void *batch_column(const pfr_sample_batch *b, size_t column) {
    const void *const at[COLUMNS] = {b->time, b->weight, b->period, b->thread, b->comm,
                                     b->cpu,  b->event,  b->stack,  b->mode};
    return at[column];
}

void columns_append(struct sample_columns *c, const pfr_sample_batch *b) {
    for (size_t i = 0; i < COLUMNS; i++) {
        const struct table_column *column = &all_columns[i];
        uint8_t *to = column_get(c, column);
        if (c->kept & column->bit)
            memcpy(to + c->count * column->size, batch_column(b, i), b->count * column->size);
    }
    c->count += b->count;
}

void columns_join(struct sample_columns *to, struct sample_columns *from) {
    for (size_t i = 0; i < COLUMNS; i++) {
        if (!(from->kept & all_columns[i].bit))
            continue;
        column_put(to, &all_columns[i], column_get(from, &all_columns[i]));
        to->rooms[i] = from->rooms[i];
        column_put(from, &all_columns[i], NULL);
    }
    to->kept |= from->kept;
}

static void permute(uint8_t *to, const uint8_t *from, const uint32_t *order, size_t count, size_t size) {
    for (size_t i = 0; i < count; i++)
        memcpy(to + i * size, from + order[i] * size, size);
}

pfr_status columns_permute(struct memory *memory, struct sample_columns *c, const uint32_t *from, pfr_error *err) {
    for (size_t i = 0; i < COLUMNS; i++) {
        const struct table_column *column = &all_columns[i];
        if (!column_get(c, column))
            continue;
        uint8_t *to = mem_alloc(memory, c->rooms[i], column->size);
        if (!to)
            return mem_fail(memory, err, "samples");
        permute(to, column_get(c, column), from, c->count, column->size);
        mem_free(memory, column_get(c, column), c->rooms[i], column->size);
        column_put(c, column, to);
    }
    return PFR_OK;
}

bool pfr_model_column(const pfr_model *m, uint32_t bit, pfr_column *to) {
    for (size_t i = 0; i < COLUMNS; i++)
        if (all_columns[i].bit == bit && m->columns.kept & bit) {
            *to = (pfr_column){.at = column_get(&m->columns, &all_columns[i]),
                               .count = m->columns.count,
                               .stride = all_columns[i].size,
                               .type = all_columns[i].type};
            return true;
        }
    *to = (pfr_column){.at = NULL};
    return false;
}

uint64_t pfr_model_sample_count(const pfr_model *m) {
    return m->columns.count;
}

static int by_start(const void *a, const void *b) {
    const pfr_interval *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

void model_sort_intervals(struct pfr_model *m) {
    if (m->intervals.count)
        qsort((pfr_interval *)m->intervals.at + 1, m->intervals.count, sizeof(pfr_interval), by_start);
}

/* --- By id. */

uint32_t pfr_model_count(const pfr_model *m, pfr_table table) {
    switch (table) {
    case PFR_TABLE_EVENT:
        return m->events.count;
    case PFR_TABLE_PROCESS:
        return m->processes.count;
    case PFR_TABLE_THREAD:
        return m->threads.count;
    case PFR_TABLE_COMM:
        return m->comms.count;
    case PFR_TABLE_OBJECT:
        return m->objects.count;
    case PFR_TABLE_SYMBOL:
        return m->symbols.count;
    case PFR_TABLE_FRAME:
        return m->frames.count;
    case PFR_TABLE_STACK:
        return m->stacks.count;
    }
    return 0;
}

const pfr_model_event *pfr_model_get_event(const pfr_model *m, uint32_t id) {
    return row_at(&m->events, id, sizeof(pfr_model_event));
}
const pfr_model_process *pfr_model_get_process(const pfr_model *m, uint32_t id) {
    return row_at(&m->processes, id, sizeof(pfr_model_process));
}
const char *pfr_model_thread_cgroup(const pfr_model *m, uint32_t id) {
    const uint32_t path = id < m->nr_cgroups ? m->cgroups[id] : 0;
    return path ? intern_chars(&m->profile->state.names, path - 1) : NULL;
}

const pfr_model_thread *pfr_model_get_thread(const pfr_model *m, uint32_t id) {
    return row_at(&m->threads, id, sizeof(pfr_model_thread));
}
const char *pfr_model_get_comm(const pfr_model *m, uint32_t id) {
    return id && id <= m->comms.count ? intern_chars(&m->comms, id - 1) : NULL;
}
const pfr_model_object *pfr_model_get_object(const pfr_model *m, uint32_t id) {
    return row_at(&m->objects, id, sizeof(pfr_model_object));
}
const pfr_model_symbol *pfr_model_get_symbol(const pfr_model *m, uint32_t id) {
    return row_at(&m->symbols, id, sizeof(pfr_model_symbol));
}
const pfr_model_frame *pfr_model_get_frame(const pfr_model *m, uint32_t id) {
    return row_at(&m->frames, id, sizeof(pfr_model_frame));
}
const pfr_stack *pfr_model_get_stack(const pfr_model *m, uint32_t id) {
    return row_at(&m->stacks, id, sizeof(pfr_stack));
}

/* A model without stacks also has row 0. */
const pfr_stack *pfr_model_stacks(const pfr_model *m) {
    static const pfr_stack nothing;
    return m->stacks.at ? m->stacks.at : &nothing;
}

const pfr_interval *pfr_model_interval(const pfr_model *m, uint64_t index) {
    return index < m->intervals.count ? row_at(&m->intervals, (uint32_t)index + 1, sizeof(pfr_interval)) : NULL;
}
const pfr_mark *pfr_model_mark(const pfr_model *m, uint64_t index) {
    return index < m->marks.count ? row_at(&m->marks, (uint32_t)index + 1, sizeof(pfr_mark)) : NULL;
}

bool pfr_model_ticks(const pfr_model *m) {
    return m->ticks;
}

void model_free_rows(pfr_model *m) {
    rows_free(m, &m->events, sizeof(pfr_model_event));
    rows_free(m, &m->processes, sizeof(pfr_model_process));
    rows_free(m, &m->threads, sizeof(pfr_model_thread));
    rows_free(m, &m->objects, sizeof(pfr_model_object));
    rows_free(m, &m->symbols, sizeof(pfr_model_symbol));
    rows_free(m, &m->frames, sizeof(pfr_model_frame));
    rows_free(m, &m->stacks, sizeof(pfr_stack));
    rows_free(m, &m->intervals, sizeof(pfr_interval));
    rows_free(m, &m->marks, sizeof(pfr_mark));
    rows_free(m, &m->calls, sizeof(pfr_call));
}
