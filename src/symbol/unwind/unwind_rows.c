/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries are sorted by start and run in that order, so rows are produced sorted. If entries overlap, the later one
 * takes precedence, as in a binary search over the entries.
 */
#include "symbol/unwind/unwind_rows.h"

#include "symbol/table/symbol_table.h"

#include <stdlib.h>

#define RUN_RATIO 32u /* maximum instruction bytes that are run per byte of the section */
#define RUN_FREE 4096u

struct row_span {
    uint64_t from, end, at; /* at: offset of the entry in the section */
};

struct spans {
    struct row_span *at;
    size_t count, room;
};

struct maker {
    struct unwind_rows *rows;
    struct unwind_plans *plans;
    uint64_t end; /* end of the current entry, or start of the next entry if that is earlier */
};

void unwind_plans_init(struct unwind_plans *plans, struct memory *memory) {
    *plans = (struct unwind_plans){.memory = memory};
    intern_init(&plans->made, memory);
    intern_init(&plans->expressions, memory);
    arena_init(&plans->arena, memory);
}

void unwind_plans_free(struct unwind_plans *plans) {
    mem_free(plans->memory, plans->at, plans->at ? plans->sealed : 0, sizeof *plans->at);
    intern_free(&plans->made);
    intern_free(&plans->expressions);
    arena_free(&plans->arena);
}

enum symbol_result unwind_plans_seal(struct unwind_plans *plans) {
    plans->sealed = plans->made.count;
    plans->at = mem_zeroed(plans->memory, plans->sealed, sizeof *plans->at);
    if (!plans->at)
        return table_memory_result(plans->memory);
    for (uint32_t i = 0; i < plans->sealed; i++) {
        const struct intern_text text = intern_get(&plans->made, i);
        plans->at[i] = arena_copy(&plans->arena, text.bytes, text.length, sizeof(uint64_t));
        if (!plans->at[i])
            return table_memory_result(plans->memory);
    }
    intern_free(&plans->made);
    return SYMBOL_FOUND;
}

void unwind_rows_free(struct unwind_rows *rows, struct memory *memory) {
    mem_free(memory, rows->from, rows->from_room, sizeof *rows->from);
    mem_free(memory, rows->plan, rows->plan_room, sizeof *rows->plan);
    *rows = (struct unwind_rows){0};
}

enum symbol_result unwind_rows_trim(struct unwind_rows *rows, struct memory *memory) {
    void *from = mem_trim(memory, rows->from, rows->count, &rows->from_room, sizeof *rows->from);
    rows->from = from ? from : rows->from;
    void *plan = mem_trim(memory, rows->plan, rows->count, &rows->plan_room, sizeof *rows->plan);
    rows->plan = plan ? plan : rows->plan;
    return rows->count && (!from || !plan) ? table_memory_result(memory) : SYMBOL_FOUND;
}

/* --- Rows. */

static bool make_room(struct unwind_rows *rows, struct memory *memory) {
    if (rows->count == rows->from_room) {
        void *more = mem_grow(memory, rows->from, rows->count, &rows->from_room, 256, sizeof *rows->from);
        if (!more)
            return false;
        rows->from = more;
    }
    if (rows->count == rows->plan_room) {
        void *more = mem_grow(memory, rows->plan, rows->count, &rows->plan_room, 256, sizeof *rows->plan);
        if (!more)
            return false;
        rows->plan = more;
    }
    return true;
}

static enum symbol_result add_row(struct maker *m, uint64_t from, uint32_t plan) {
    struct unwind_rows *rows = m->rows;
    if (rows->count && rows->from[rows->count - 1] == from)
        rows->count--; /* the previous row covers no addresses */
    if (rows->count ? rows->plan[rows->count - 1] == plan : plan == UNWIND_NO_PLAN)
        return SYMBOL_FOUND;
    if (!make_room(rows, m->plans->memory))
        return table_memory_result(m->plans->memory);
    rows->from[rows->count] = from;
    rows->plan[rows->count++] = plan;
    return SYMBOL_FOUND;
}

static enum symbol_result put(struct maker *m, struct intern_table *table, const void *bytes, size_t length,
                              uint32_t *number) {
    return intern_put(table, bytes, length, number, NULL) < 0 ? table_memory_result(m->plans->memory) : SYMBOL_FOUND;
}

static enum symbol_result take_row(void *context, uint64_t from, const struct frame_rules *rules,
                                   const struct frame_common *common) {
    struct maker *m = context;
    struct unwind_plan plan;
    uint32_t number;
    if (from >= m->end)
        return SYMBOL_FOUND;
    if (!rules || rules->cfa.how == UNWIND_SAME || common->return_register >= UNWIND_REGISTERS)
        return add_row(m, from, UNWIND_NO_PLAN);
    plan = (struct unwind_plan){.cfa = rules->cfa,
                                .return_register = (uint8_t)common->return_register,
                                .is_signal = common->is_signal,
                                .is_signed = rules->is_signed};
    for (unsigned i = 0; i < UNWIND_REGISTERS; i++)
        if (rules->registers[i].how != UNWIND_SAME)
            plan.rules[plan.count++] = rules->registers[i];
    const size_t length = offsetof(struct unwind_plan, rules) + plan.count * sizeof *plan.rules;
    const enum symbol_result result = put(m, &m->plans->made, &plan, length, &number);
    return result == SYMBOL_FOUND ? add_row(m, from, number) : result;
}

static enum symbol_result take_expression(void *context, const uint8_t *bytes, size_t length, uint32_t *number) {
    struct maker *m = context;
    return put(m, &m->plans->expressions, bytes, length, number);
}

/* --- Entries. */

static int by_start(const void *a, const void *b) {
    const struct row_span *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static enum symbol_result find_spans(struct spans *spans, const struct frame_section *section, struct memory *memory) {
    struct frame_walk walk = frame_walk_begin(section);
    struct frame_entry entry;
    while (frame_walk_next(&walk, &entry)) {
        if (spans->count == spans->room) {
            void *more = mem_grow(memory, spans->at, spans->count, &spans->room, 256, sizeof *spans->at);
            if (!more)
                return table_memory_result(memory);
            spans->at = more;
        }
        spans->at[spans->count++] = (struct row_span){entry.from, entry.end, entry.at};
    }
    if (spans->count)
        qsort(spans->at, spans->count, sizeof *spans->at, by_start);
    return SYMBOL_FOUND;
}

static enum symbol_result run_all(struct maker *m, struct frame_run *run, const struct spans *spans) {
    struct frame_walk walk = frame_walk_begin(run->section);
    struct frame_entry entry;
    enum symbol_result result = SYMBOL_FOUND;
    for (size_t i = 0; result == SYMBOL_FOUND && i < spans->count; i++) {
        const struct row_span *span = &spans->at[i];
        const uint64_t next = i + 1 < spans->count ? spans->at[i + 1].from : UINT64_MAX;
        m->end = span->end < next ? span->end : next;
        if (!frame_walk_at(&walk, span->at, &entry) || m->end <= span->from)
            continue;
        result = frame_program_run(run, &entry);
        if (result == SYMBOL_FOUND)
            result = add_row(m, m->end, UNWIND_NO_PLAN);
    }
    return result;
}

enum symbol_result unwind_rows_make(struct unwind_rows *rows, struct unwind_plans *plans,
                                    const struct frame_section *section, const struct unwind_machine *machine) {
    struct spans spans = {0};
    struct maker maker = {.rows = rows, .plans = plans};
    struct frame_run *run = mem_zeroed(plans->memory, 1, sizeof *run); /* too large for the stack */
    enum symbol_result result = run ? find_spans(&spans, section, plans->memory) : table_memory_result(plans->memory);
    if (result == SYMBOL_FOUND) {
        *run = (struct frame_run){.machine = machine,
                                  .section = section,
                                  .context = &maker,
                                  .row = take_row,
                                  .expression = take_expression,
                                  .left = (uint64_t)RUN_RATIO * section->bytes.size + RUN_FREE};
        result = run_all(&maker, run, &spans);
    }
    mem_free(plans->memory, spans.at, spans.room, sizeof *spans.at);
    mem_free(plans->memory, run, 1, sizeof *run);
    return result;
}

uint32_t unwind_rows_find(const struct unwind_rows *rows, uint64_t address) {
    size_t from = 0, count = rows->count; /* the last row at or below the address has an index below from + count */
    while (count > 0) {
        const size_t half = count / 2;
        const bool below = rows->from[from + half] <= address;
        from = below ? from + half + 1 : from;
        count = below ? count - half - 1 : half;
    }
    return from ? rows->plan[from - 1] : UNWIND_NO_PLAN;
}
