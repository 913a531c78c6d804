/* SPDX-License-Identifier: Apache-2.0 */
/* Prints waits for programs: CSV, whose columns are always the same, and JSON (docs/json/offcpu.schema.json). */
#include "view/offcpu/offcpu_formats.h"
#include "view/offcpu/offcpu_stacks.h"
#include "view/offcpu/offcpu_rows.h"

#include "base/memory/fail.h"
#include "base/text/escape.h"
#include "base/text/json.h"
#include "view/offcpu/offcpu_notes.h"

#include <stdlib.h>

/* --- Rows: sums with the same printed values. */

struct row_key {
    uint32_t order, state, reason, waker; /* order: position of the thread; waker: index of a thread + 1 */
    uint32_t function, waker_function;    /* ids of symbols; 0: unknown */
};

struct offcpu_row {
    struct row_key key;
    struct offcpu_sum sum;
};

struct rows_of {
    struct offcpu *o;
    struct intern_table keys;
    struct offcpu_row *rows;
    size_t count, room;
    uint32_t *place; /* by thread: its position in the output + 1 */
};

static uint32_t symbol_id(struct offcpu *o, uint32_t stack) {
    const uint32_t program = offcpu_stack_facts(o, stack)->program;
    return program ? pfr_model_get_stack(o->model, program)->symbol : 0;
}

static struct row_key key_of_sum(struct rows_of *r, const struct offcpu_key *key) {
    struct row_key row = {.order = r->place[key->thread] - 1, .state = key->state};
    if (key->state == OFFCPU_BLOCKED || key->state == OFFCPU_RUNNABLE)
        row.function = symbol_id(r->o, key->stack);
    if (key->state != OFFCPU_BLOCKED)
        return row;
    row.reason = key->reason;
    row.waker = key->waker + 1; /* so NO_THREAD becomes 0 */
    row.waker_function = row.waker ? symbol_id(r->o, key->waker_stack) : 0;
    return row;
}

static pfr_status add(struct rows_of *r, const struct offcpu_key *of, const struct offcpu_sum *sum, pfr_error *err) {
    const struct row_key key = key_of_sum(r, of);
    uint32_t number;
    PFR_TRY(intern_put(&r->keys, &key, sizeof key, &number, err));
    if (number == r->count) {
        void *grown = mem_grow(r->o->memory, r->rows, r->count, &r->room, 256, sizeof *r->rows);
        if (!grown)
            return mem_fail(r->o->memory, err, "rows");
        r->rows = grown;
        r->rows[r->count++] = (struct offcpu_row){.key = key};
    }
    struct offcpu_sum *to = &r->rows[number].sum;
    to->ns += sum->ns;
    to->count += sum->count;
    to->max = sum->max > to->max ? sum->max : to->max;
    return PFR_OK;
}

static int by_key(const void *a, const void *b) {
    const struct offcpu_row *x = a, *y = b;
    const uint64_t keys[][2] = {{x->key.order, y->key.order},
                                {x->key.state, y->key.state},
                                {y->sum.ns, x->sum.ns},
                                {x->key.reason, y->key.reason},
                                {x->key.function, y->key.function},
                                {x->key.waker, y->key.waker},
                                {x->key.waker_function, y->key.waker_function}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] > keys[i][1] ? 1 : -1;
    return 0;
}

static pfr_status rows_make(struct rows_of *r, struct offcpu *o, pfr_error *err) {
    *r = (struct rows_of){.o = o};
    intern_init(&r->keys, o->memory);
    r->place = mem_zeroed(o->memory, o->nr_threads, sizeof *r->place);
    if (!r->place)
        return mem_fail(o->memory, err, "rows");
    for (uint32_t i = 0; i < o->shown; i++)
        r->place[o->thread_order[i]] = i + 1;
    for (uint32_t i = 0; i < o->sums.count; i++) {
        const struct offcpu_key key = o->sums.rows[i].key;
        if (r->place[key.thread])
            PFR_TRY(add(r, &key, &o->sums.rows[i].sum, err));
    }
    if (r->count)
        qsort(r->rows, r->count, sizeof *r->rows, by_key);
    return PFR_OK;
}

static void rows_drop(struct rows_of *r) {
    intern_free(&r->keys);
    mem_free(r->o->memory, r->rows, r->room, sizeof *r->rows);
    mem_free(r->o->memory, r->place, r->o->nr_threads, sizeof *r->place);
}

/* --- CSV. */

static void csv_text(pfr_output *to, const char *text) {
    out_csv_field(&to->out, text ? text : "", text ? strlen(text) : 0);
    out_char(&to->out, ',');
}

static void csv_plain(pfr_output *to, const char *text) {
    out_text(&to->out, text);
    out_char(&to->out, ',');
}

static void csv_number(pfr_output *to, uint64_t number) {
    out_u64(&to->out, number);
    out_char(&to->out, ',');
}

static const char *name_of(const struct offcpu *o, uint32_t symbol) {
    return symbol ? pfr_model_get_symbol(o->model, symbol)->name : NULL;
}

static void csv_who(const struct offcpu_thread *t, pfr_output *to) {
    csv_text(to, t->comm);
    csv_number(to, t->pid);
    csv_number(to, t->tid);
}

static void csv_row(const struct offcpu *o, const struct offcpu_row *row, pfr_output *to) {
    const struct offcpu_thread *t = &o->threads[o->thread_order[row->key.order]];
    const struct offcpu_thread *waker = row->key.waker ? &o->threads[row->key.waker - 1] : NULL;
    const char *by = name_of(o, row->key.waker_function);
    if (t->cgroup)
        out_text(&to->out, ",,,");
    else
        csv_who(t, to);
    csv_plain(to, offcpu_state_name((enum offcpu_state)row->key.state));
    csv_plain(to, row->key.state == OFFCPU_BLOCKED ? wait_reason_name((enum wait_reason)row->key.reason) : "");
    csv_number(to, row->sum.ns);
    csv_number(to, row->sum.count);
    csv_number(to, row->sum.max);
    csv_text(to, name_of(o, row->key.function));
    csv_text(to, waker ? waker->comm : NULL);
    if (waker)
        out_u64(&to->out, waker->tid);
    out_char(&to->out, ',');
    out_csv_field(&to->out, by ? by : "", by ? strlen(by) : 0);
    if (t->cgroup) {
        out_char(&to->out, ',');
        out_csv_field(&to->out, t->cgroup, strlen(t->cgroup));
    }
    out_char(&to->out, '\n');
}

pfr_status offcpu_write_csv(struct offcpu *o, pfr_output *to, pfr_error *err) {
    struct rows_of rows;
    const pfr_status st = rows_make(&rows, o, err);
    if (st >= 0) {
        out_text(&to->out, "comm,pid,tid,state,reason,ns,count,max_ns,function,waker_comm,waker_tid,waker_function");
        out_text(&to->out, o->options->by == PFR_OFFCPU_BY_CGROUP ? ",cgroup\n" : "\n");
    }
    for (size_t i = 0; st >= 0 && i < rows.count; i++)
        csv_row(o, &rows.rows[i], to);
    rows_drop(&rows);
    return st;
}

/* --- JSON. */

static void number(struct json *j, const char *key, uint64_t value) {
    json_key(j, key);
    json_u64(j, value);
}

static void text_or_null(struct json *j, const char *key, const char *text) {
    json_key(j, key);
    if (text)
        json_text(j, text);
    else
        json_null(j);
}

static void write_frames(const struct offcpu *o, const char *key, uint32_t stack, struct json *j) {
    json_key(j, key);
    json_begin_array(j);
    for (uint32_t id = stack; id; id = pfr_model_get_stack(o->model, id)->parent) {
        const pfr_stack *s = pfr_model_get_stack(o->model, id);
        const pfr_model_frame *f = pfr_model_get_frame(o->model, s->frame);
        json_begin_object(j);
        text_or_null(j, "function", name_of(o, s->symbol));
        text_or_null(j, "object", pfr_model_get_object(o->model, f->object)->name);
        if (f->file) {
            text_or_null(j, "file", f->file);
            number(j, "line", f->line);
        }
        json_end_object(j);
    }
    json_end_array(j);
}

static void write_waker(struct offcpu *o, const struct offcpu_key *key, struct json *j) {
    const pfr_model_symbol *function = offcpu_function(o, key->waker_stack);
    json_key(j, "waker");
    if (key->waker == NO_THREAD) {
        json_null(j);
        return;
    }
    const struct offcpu_thread *t = &o->threads[key->waker];
    json_begin_object(j);
    text_or_null(j, "comm", t->comm);
    number(j, "pid", t->pid);
    number(j, "tid", t->tid);
    text_or_null(j, "function", function ? function->name : NULL);
    write_frames(o, "stack", key->waker_stack, j);
    json_end_object(j);
}

static void write_wait(struct offcpu *o, uint32_t place, struct json *j) {
    const struct offcpu_key key = o->sums.rows[place].key;
    const pfr_model_symbol *function = offcpu_function(o, key.stack);
    json_begin_object(j);
    json_key(j, "state");
    json_text(j, offcpu_state_name((enum offcpu_state)key.state));
    text_or_null(j, "reason", key.state == OFFCPU_BLOCKED ? wait_reason_name((enum wait_reason)key.reason) : NULL);
    number(j, "ns", o->sums.rows[place].sum.ns);
    number(j, "count", o->sums.rows[place].sum.count);
    number(j, "max_ns", o->sums.rows[place].sum.max);
    text_or_null(j, "function", function ? function->name : NULL);
    write_frames(o, "stack", key.stack, j);
    if (key.state == OFFCPU_BLOCKED)
        write_waker(o, &key, j);
    json_end_object(j);
}

static void write_states(const struct offcpu_thread *t, struct json *j) {
    number(j, "wall_ns", offcpu_wall(t));
    for (unsigned s = 0; s < OFFCPU_STATES; s++) {
        json_key(j, (const char *[]){"running_ns", "runnable_ns", "blocked_ns", "unknown_ns"}[s]);
        json_u64(j, t->state[s]);
    }
    number(j, "preempted_ns", t->preempted);
    json_key(j, "blocked_by_ns");
    json_begin_object(j);
    for (unsigned r = 0; r < WAIT_REASONS; r++)
        if (t->blocked[r])
            number(j, wait_reason_name((enum wait_reason)r), t->blocked[r]);
    json_end_object(j);
}

static void write_identity(const struct offcpu_thread *t, struct json *j) {
    if (t->cgroup) {
        text_or_null(j, "cgroup", *t->cgroup ? t->cgroup : NULL);
        number(j, "threads", t->members);
        return;
    }
    text_or_null(j, "comm", t->comm);
    number(j, "pid", t->pid);
    number(j, "tid", t->tid);
}

static void write_thread(struct offcpu *o, uint32_t thread, const uint32_t *order, const uint32_t *first,
                         struct json *j) {
    const struct offcpu_thread *t = &o->threads[thread];
    json_begin_object(j);
    write_identity(t, j);
    write_states(t, j);
    json_key(j, "waits");
    json_begin_array(j);
    for (uint32_t i = first[thread]; i < first[thread + 1]; i++)
        write_wait(o, order[i], j);
    json_end_array(j);
    json_end_object(j);
}

static void write_facts(const struct offcpu *o, struct json *j) {
    const struct sched_counts *c = &o->walk.counts;
    char text[OFFCPU_NOTE_ROOM];
    number(j, "version", 1);
    number(j, "begin_ns", o->walk.begin);
    number(j, "end_ns", o->walk.end);
    number(j, "switches", c->switches);
    number(j, "wakings", c->wakings);
    number(j, "losses", c->losses);
    number(j, "contradictions", c->contradictions);
    number(j, "unknown_intervals", c->unknown);
    json_key(j, "notes");
    json_begin_array(j);
    for (unsigned i = 0; offcpu_note(o, i, text); i++)
        json_text(j, text);
    json_end_array(j);
}

pfr_status offcpu_write_json(struct offcpu *o, pfr_output *to, pfr_error *err) {
    uint32_t *order = NULL, *first = NULL;
    struct json j = json_on(&to->out, JSON_PRETTY);
    const pfr_status st = offcpu_waits_by_thread(o, &order, &first, err);
    if (st >= 0) {
        json_begin_object(&j);
        write_facts(o, &j);
        json_key(&j, "threads");
        json_begin_array(&j);
        for (size_t i = 0; i < o->shown; i++)
            write_thread(o, o->thread_order[i], order, first, &j);
        json_end_array(&j);
        json_end_object(&j);
        json_end_line(&j);
    }
    offcpu_waits_drop(o, order, first);
    return st;
}
