/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of sql_tables.h. docs/sql.md describes each column. */
#include "sql/sql_tables.h"
#include "sql/sql_result.h"

#include <perfray/spans.h>
#include <string.h>

static void put_text(sqlite3_context *to, const struct sql_source *source, const char *text) {
    if (text)
        sql_result_text(to, source->sql, text, strlen(text));
}

static void put_time(sqlite3_context *to, uint64_t time) {
    if (time != PFR_NO_TIME)
        sql_result_u64(to, time);
}

static void put_comm(sqlite3_context *to, const struct sql_source *source, uint32_t comm) {
    put_text(to, source, pfr_model_get_comm(source->model, comm));
}

#define COUNT(function, table)                                                                                         \
    static uint64_t function(const struct sql_source *source) {                                                        \
        return pfr_model_count(source->model, table);                                                                  \
    }
COUNT(count_events, PFR_TABLE_EVENT)
COUNT(count_processes, PFR_TABLE_PROCESS)
COUNT(count_threads, PFR_TABLE_THREAD)
COUNT(count_objects, PFR_TABLE_OBJECT)
COUNT(count_symbols, PFR_TABLE_SYMBOL)
COUNT(count_frames, PFR_TABLE_FRAME)
COUNT(count_stacks, PFR_TABLE_STACK)

static uint64_t count_found(const struct sql_source *source) {
    (void)source;
    return UINT64_MAX;
}

static void event_column(const struct sql_source *source, uint64_t row, int column, sqlite3_context *to) {
    const pfr_model_event *e = pfr_model_get_event(source->model, (uint32_t)row);
    if (column == 0)
        sql_result_u64(to, row);
    else if (column == 1 || column == 2)
        put_text(to, source, column == 1 ? e->name : e->unit);
    else if (column == 3 || column == 4)
        sql_result_u64(to, column == 3 ? e->weight : e->samples);
    else if (column == 5 || column == 6)
        put_time(to, column == 5 ? e->first : e->last);
    else
        sqlite3_result_int(to, e->is_traced);
}

static void process_column(const struct sql_source *source, uint64_t row, int column, sqlite3_context *to) {
    const pfr_model_process *p = pfr_model_get_process(source->model, (uint32_t)row);
    if (column == 0)
        sql_result_u64(to, row);
    else if (column == 1)
        sqlite3_result_int64(to, (int32_t)p->pid);
    else if (column == 2)
        sql_result_id(to, p->parent);
    else if (column == 3)
        put_comm(to, source, p->comm);
    else
        put_time(to, column == 4 ? p->start : p->end);
}

static void thread_column(const struct sql_source *source, uint64_t row, int column, sqlite3_context *to) {
    const pfr_model_thread *t = pfr_model_get_thread(source->model, (uint32_t)row);
    if (column == 0)
        sql_result_u64(to, row);
    else if (column == 1)
        sql_result_id(to, t->process);
    else if (column == 2)
        sqlite3_result_int64(to, (int32_t)t->tid);
    else if (column == 3)
        put_comm(to, source, t->comm);
    else
        put_time(to, column == 4 ? t->start : t->end);
}

static void put_build_id(sqlite3_context *to, const pfr_model_object *o) {
    char text[2 * sizeof o->build_id];
    static const char digits[] = "0123456789abcdef";
    for (unsigned i = 0; i < o->build_id_size; i++) {
        text[2 * i] = digits[o->build_id[i] >> 4];
        text[2 * i + 1] = digits[o->build_id[i] & 15];
    }
    if (o->build_id_size)
        sqlite3_result_text(to, text, 2 * o->build_id_size, SQLITE_TRANSIENT);
}

static void object_column(const struct sql_source *source, uint64_t row, int column, sqlite3_context *to) {
    static const char *const kinds[] = {
        [PFR_OBJECT_UNKNOWN] = "unknown", [PFR_OBJECT_FILE] = "file",  [PFR_OBJECT_KERNEL] = "kernel",
        [PFR_OBJECT_MODULE] = "module",   [PFR_OBJECT_VDSO] = "vdso",  [PFR_OBJECT_ANONYMOUS] = "anonymous",
        [PFR_OBJECT_MEMORY] = "memory",   [PFR_OBJECT_BPF] = "bpf",    [PFR_OBJECT_JIT] = "jit",
        [PFR_OBJECT_OTHER] = "other",     [PFR_OBJECT_LIMIT] = "limit"};
    const pfr_model_object *o = pfr_model_get_object(source->model, (uint32_t)row);
    if (column == 0)
        sql_result_u64(to, row);
    else if (column == 1 || column == 4)
        put_text(to, source, column == 1 ? o->path : o->name);
    else if (column == 2)
        put_build_id(to, o);
    else if ((unsigned)o->kind < sizeof kinds / sizeof *kinds)
        sqlite3_result_text(to, kinds[o->kind], -1, SQLITE_STATIC);
}

static void symbol_column(const struct sql_source *source, uint64_t row, int column, sqlite3_context *to) {
    const pfr_model_symbol *s = pfr_model_get_symbol(source->model, (uint32_t)row);
    if (column == 0)
        sql_result_u64(to, row);
    else if (column == 1 || column == 2)
        put_text(to, source, column == 1 || !s->mangled ? s->name : s->mangled);
    else if (column == 3)
        sql_result_id(to, s->object);
    else if (column == 4)
        sql_result_u64(to, s->address);
    else
        sql_result_id(to, s->size);
}

static void frame_column(const struct sql_source *source, uint64_t row, int column, sqlite3_context *to) {
    const pfr_model_frame *f = pfr_model_get_frame(source->model, (uint32_t)row);
    if (column == 0)
        sql_result_u64(to, row);
    else if (column == 1 || column == 2)
        sql_result_id(to, column == 1 ? f->symbol : f->object);
    else if (column == 3)
        sql_result_u64(to, f->address);
    else if (column == 4)
        put_text(to, source, f->file);
    else if (column == 5)
        sql_result_id(to, f->line);
    else
        sqlite3_result_int(to, column == 6 ? f->inlined : f->mode);
}

static pfr_status sum_stacks(struct sql_source *source, pfr_error *err) {
    struct memory *memory = &source->sql->memory;
    const size_t count = pfr_model_count(source->model, PFR_TABLE_STACK) + (size_t)1;
    if (source->self)
        return PFR_OK;
    source->self = mem_zeroed(memory, count, sizeof *source->self);
    source->total = mem_zeroed(memory, count, sizeof *source->total);
    source->nr_sums = count;
    if (!source->self || !source->total)
        return mem_fail(memory, err, "stack");
    if (pfr_model_count(source->model, PFR_TABLE_EVENT) == 0)
        return PFR_OK;
    return pfr_model_weights(source->model, 1, source->self, source->total, err);
}

static void stack_column(const struct sql_source *source, uint64_t row, int column, sqlite3_context *to) {
    const pfr_stack *s = pfr_model_stacks(source->model) + row;
    switch (column) {
    case 0:
        sql_result_u64(to, row);
        break;
    case 1:
        sql_result_id(to, s->parent);
        break;
    case 2:
        sql_result_id(to, s->frame);
        break;
    case 3:
        sql_result_id(to, s->symbol);
        break;
    case 4:
        sqlite3_result_int(to, s->depth);
        break;
    case 5:
        sqlite3_result_int(to, s->is_outer);
        break;
    case 6:
        sql_result_u64(to, source->self[row]);
        break;
    default:
        sql_result_u64(to, source->total[row]);
        break;
    }
}

/* --- Sums by function. */

static pfr_status sum_functions(struct sql_source *source, pfr_error *err) {
    struct memory *memory = &source->sql->memory;
    PFR_TRY(sum_stacks(source, err));
    if (source->functions)
        return PFR_OK;
    const uint32_t stacks = pfr_model_count(source->model, PFR_TABLE_STACK);
    source->nr_functions = pfr_model_count(source->model, PFR_TABLE_SYMBOL) + (size_t)1;
    source->functions = mem_zeroed(memory, source->nr_functions, sizeof *source->functions);
    if (!source->functions)
        return mem_fail(memory, err, "function");
    const pfr_stack *stack = pfr_model_stacks(source->model);
    for (uint32_t i = 1; i <= stacks; i++) {
        struct function_sum *f = &source->functions[stack[i].symbol];
        f->self += source->self[i];
        f->total += stack[i].is_outer ? source->total[i] : 0;
    }
    return PFR_OK;
}

static void function_column(const struct sql_source *source, uint64_t row, int column, sqlite3_context *to) {
    const pfr_model_symbol *s = pfr_model_get_symbol(source->model, (uint32_t)row);
    const pfr_model_object *o = pfr_model_get_object(source->model, s->object);
    if (column == 0)
        sql_result_u64(to, row);
    else if (column == 1 || column == 2)
        put_text(to, source, column == 1 ? s->name : o ? o->path : NULL);
    else
        sql_result_u64(to, column == 3 ? source->functions[row].self : source->functions[row].total);
}

/* --- Intervals, marks, facts. */

static bool interval_exists(const struct sql_source *source, uint64_t row) {
    return pfr_model_interval(source->model, row - 1) != NULL;
}

static bool is_wait(const pfr_interval *i) {
    return i->kind != PFR_INTERVAL_RUNNING && i->kind != PFR_INTERVAL_UNKNOWN;
}

/* Numbers of the intervals in which a thread did not run. */
static pfr_status find_waits(struct sql_source *source, pfr_error *err) {
    struct memory *memory = &source->sql->memory;
    if (source->waits)
        return PFR_OK;
    size_t count = 0;
    const pfr_interval *i;
    for (uint64_t n = 0; (i = pfr_model_interval(source->model, n)) != NULL; n++)
        count += is_wait(i);
    source->waits = mem_alloc(memory, count + 1, sizeof *source->waits);
    if (!source->waits)
        return mem_fail(memory, err, "wait");
    source->nr_waits = count;
    count = 0;
    for (uint64_t n = 0; (i = pfr_model_interval(source->model, n)) != NULL; n++)
        if (is_wait(i))
            source->waits[count++] = (uint32_t)n;
    return PFR_OK;
}

static uint64_t count_waits(const struct sql_source *source) {
    return source->nr_waits;
}

static bool mark_exists(const struct sql_source *source, uint64_t row) {
    return pfr_model_mark(source->model, row - 1) != NULL;
}

static bool fact_exists(const struct sql_source *source, uint64_t row) {
    return row <= UINT32_MAX && pfr_model_fact(source->model, (uint32_t)row - 1) != NULL;
}

static bool meta_exists(const struct sql_source *source, uint64_t row) {
    return row <= UINT32_MAX && pfr_model_meta(source->model, (uint32_t)row - 1) != NULL;
}

static void interval_column(const struct sql_source *source, uint64_t row, int column, sqlite3_context *to) {
    static const char *const kinds[] = {[PFR_INTERVAL_WAITING] = "blocked",
                                        [PFR_INTERVAL_PREEMPTED] = "preempted",
                                        [PFR_INTERVAL_WOKEN] = "woken",
                                        [PFR_INTERVAL_RUNNING] = "running",
                                        [PFR_INTERVAL_UNKNOWN] = "unknown"};
    const pfr_interval *i = pfr_model_interval(source->model, row - 1);
    if (column == 0)
        sql_result_u64(to, row);
    else if (column == 1 || column == 7)
        sql_result_id(to, column == 1 ? i->thread : i->stack);
    else if (column == 2 || column == 3)
        sql_result_u64(to, column == 2 ? i->start : i->duration);
    else if (column == 4)
        sqlite3_result_text(to, (unsigned)i->kind <= PFR_INTERVAL_UNKNOWN ? kinds[i->kind] : "unknown", -1,
                            SQLITE_STATIC);
    else if (column == 5 && i->kind == PFR_INTERVAL_WAITING && i->reason)
        sqlite3_result_text(to, pfr_wait_reason_name(i->reason), -1, SQLITE_STATIC);
    else if (column == 6 && i->cpu != PFR_NO_CPU)
        sql_result_u64(to, i->cpu);
    else if (column == 8 || column == 9)
        sql_result_id(to, column == 8 ? i->waker : i->waker_stack);
    else if (column == 10)
        sqlite3_result_int(to, i->open_start + 2 * i->open_end);
}

static void wait_column(const struct sql_source *source, uint64_t row, int column, sqlite3_context *to) {
    const pfr_interval *i = pfr_model_interval(source->model, source->waits[row - 1]);
    if (column == 0)
        sql_result_u64(to, row);
    else if (column == 1 || column == 5)
        sql_result_id(to, column == 1 ? i->thread : i->stack);
    else if (column == 2 || column == 3)
        sql_result_u64(to, column == 2 ? i->start : i->duration);
    else if (column == 4)
        sqlite3_result_int(to, i->kind != PFR_INTERVAL_WAITING);
    else if (i->cpu != PFR_NO_CPU)
        sql_result_u64(to, i->cpu);
}

static const char *mark_word(pfr_mark_kind kind) {
    switch (kind) { /* no default: the compiler reports a missing kind */
    case PFR_MARK_LOST:
        return "lost";
    case PFR_MARK_LOST_SAMPLES:
        return "lost_samples";
    case PFR_MARK_THROTTLE:
        return "throttle";
    case PFR_MARK_UNTHROTTLE:
        return "unthrottle";
    case PFR_MARK_HOLE:
        return "hole";
    case PFR_MARK_OTHER:
        return "other";
    case PFR_MARK_CUSTOM:
        return "custom";
    case PFR_MARK_TYPED:
        return "typed";
    }
    return "other"; /* the caller of pfr_build_mark chose another number */
}

static void mark_column(const struct sql_source *source, uint64_t row, int column, sqlite3_context *to) {
    const pfr_mark *m = pfr_model_mark(source->model, row - 1);
    if (column == 0)
        sql_result_u64(to, row);
    else if (column == 1)
        put_time(to, m->time);
    else if (column == 2)
        sqlite3_result_text(to, mark_word(m->kind), -1, SQLITE_STATIC);
    else if (column == 3)
        sql_result_u64(to, m->count);
    else if (column == 4 && m->cpu != PFR_NO_CPU)
        sql_result_u64(to, m->cpu);
    else if (column == 5 || column == 6)
        sql_result_id(to, column == 5 ? m->thread : m->event);
    else if (column == 7 && m->offset != PFR_NO_OFFSET)
        sql_result_u64(to, m->offset);
    else if (column == 8)
        put_text(to, source, m->text);
    else if (column == 9 && m->kind == PFR_MARK_TYPED)
        sql_result_u64(to, m->type);
}

static void put_fact(const struct sql_source *source, const pfr_fact *fact, int column, sqlite3_context *to) {
    char number[24];
    sqlite3_snprintf(sizeof number, number, "%llu", (unsigned long long)fact->value);
    if (column == 0)
        put_text(to, source, fact->key);
    else if (strcmp(fact->text, number) == 0)
        sql_result_u64(to, fact->value);
    else
        put_text(to, source, fact->text);
}

static void quality_column(const struct sql_source *source, uint64_t row, int column, sqlite3_context *to) {
    put_fact(source, pfr_model_fact(source->model, (uint32_t)row - 1), column, to);
}

static void meta_column(const struct sql_source *source, uint64_t row, int column, sqlite3_context *to) {
    put_fact(source, pfr_model_meta(source->model, (uint32_t)row - 1), column, to);
}

#define TABLE(columns) "CREATE TABLE x(" columns ")"
const struct model_table model_tables[] = {
    {"event",
     TABLE("id INTEGER, name TEXT, unit TEXT, counted INTEGER, samples INTEGER, first INTEGER, last INTEGER, "
           "traced INTEGER"),
     true, false, NULL, count_events, event_column, NULL},
    {"process", TABLE("id INTEGER, pid INTEGER, parent_id INTEGER, comm TEXT, start INTEGER, \"end\" INTEGER"), true,
     false, NULL, count_processes, process_column, NULL},
    {"thread", TABLE("id INTEGER, process_id INTEGER, tid INTEGER, comm TEXT, start INTEGER, \"end\" INTEGER"), true,
     false, NULL, count_threads, thread_column, NULL},
    {"object", TABLE("id INTEGER, path TEXT, build_id TEXT, kind TEXT, name TEXT"), true, false, NULL, count_objects,
     object_column, NULL},
    {"symbol", TABLE("id INTEGER, name TEXT, mangled TEXT, object_id INTEGER, address INTEGER, size INTEGER"), true,
     false, NULL, count_symbols, symbol_column, NULL},
    {"frame",
     TABLE("id INTEGER, symbol_id INTEGER, object_id INTEGER, \"offset\" INTEGER, file TEXT, line INTEGER, "
           "inlined INTEGER, mode INTEGER"),
     true, false, NULL, count_frames, frame_column, NULL},
    {"stack",
     TABLE("id INTEGER, parent_id INTEGER, frame_id INTEGER, symbol_id INTEGER, depth INTEGER, is_outer INTEGER, "
           "self INTEGER, total INTEGER"),
     true, true, sum_stacks, count_stacks, stack_column, NULL},
    {"function", TABLE("symbol_id INTEGER, name TEXT, object TEXT, self INTEGER, total INTEGER"), true, false,
     sum_functions, count_symbols, function_column, NULL},
    {"wait",
     TABLE("id INTEGER, thread_id INTEGER, ts INTEGER, dur INTEGER, preempted INTEGER, stack_id INTEGER, cpu INTEGER"),
     true, false, find_waits, count_waits, wait_column, NULL},
    {"interval",
     TABLE("id INTEGER, thread_id INTEGER, ts INTEGER, dur INTEGER, state TEXT, reason TEXT, cpu INTEGER, "
           "stack_id INTEGER, waker_id INTEGER, waker_stack_id INTEGER, open INTEGER"),
     true, false, NULL, count_found, interval_column, interval_exists},
    {"mark",
     TABLE("id INTEGER, ts INTEGER, kind TEXT, count INTEGER, cpu INTEGER, thread_id INTEGER, event_id INTEGER, "
           "\"offset\" INTEGER, text TEXT, type INTEGER"),
     true, false, NULL, count_found, mark_column, mark_exists},
    {"quality", TABLE("key TEXT, value INTEGER"), false, false, NULL, count_found, quality_column, fact_exists},
    {"meta", TABLE("key TEXT, value"), false, false, NULL, count_found, meta_column, meta_exists},
};
const unsigned nr_model_tables = sizeof model_tables / sizeof *model_tables;
