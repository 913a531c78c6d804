/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trace events as JSON, read by chrome://tracing, DevTools and the Perfetto UI (docs "Trace Event Format"): calls are
 * complete events (X), samples are events P with stackFrames, marks are instants (i), thread names are metadata (M).
 *
 * Times are microseconds from the first sample or call, with three decimals; a double holds such times exactly for 104
 * days.
 */
#include "base/memory/fail.h"
#include "base/text/escape.h"
#include "export/rows/row_sinks.h"

#define HEADS_MOST ((size_t)1 << 20) /* bytes */

struct chrome {
    bool has_event; /* the next event needs a comma before it */
    struct output heads;
    struct chrome_head { /* the text of an event up to its time, in `heads` */
        uint32_t thread; /* thread of the calls; 0: there is no text yet */
        uint32_t length;
        size_t at;
    } * head; /* by symbol */
    size_t nr_heads;
    bool has_begun;
};

static void begin_event(struct rows *r, const char *text) {
    struct chrome *c = r->state;
    out_text(r->out, c->has_event ? ",\n" : "\n");
    out_text(r->out, text);
    c->has_event = true;
}

static void put_name(struct output *to, struct intern_text name) {
    out_json_string(to, name.bytes, name.length);
}

/* Writes nanoseconds as microseconds. */
static void put_us(struct output *to, uint64_t ns) {
    out_u64(to, ns / 1000);
    if (ns % 1000) {
        char digits[4] = {'.'};
        format_digits(digits + 1, (uint32_t)(ns % 1000), 3);
        out_write(to, digits, sizeof digits);
    }
}

static void put_time(struct rows *r, uint64_t time) {
    put_us(r->out, time == PFR_NO_TIME || time < r->begin ? 0 : time - r->begin);
}

static void put_thread(const struct rows *r, struct output *to, uint32_t thread) {
    out_text(to, ",\"pid\":");
    out_u64(to, rows_pid(r, thread));
    out_text(to, ",\"tid\":");
    out_u64(to, rows_tid(r, thread));
}

/* Makes the text for a call. Calls come thread by thread, so the text of a function is replaced when the function
   occurs in another thread. */
static pfr_status make_head(struct rows *r, const pfr_call *call, pfr_error *err) {
    struct chrome *c = r->state;
    struct output *to = &c->heads;
    struct chrome_head *head = &c->head[call->symbol];
    if (to->used >= HEADS_MOST) { /* drops all texts */
        out_clear(to);
        memset(c->head, 0, c->nr_heads * sizeof *c->head);
    }
    *head = (struct chrome_head){.thread = call->thread, .at = to->used};
    out_text(to, "{\"ph\":\"X\",\"cat\":\"call\",\"name\":");
    put_name(to, rows_symbol(r, call->symbol));
    put_thread(r, to, call->thread);
    out_text(to, ",\"ts\":");
    head->length = (uint32_t)(to->used - head->at);
    return to->status < 0 ? mem_fail(r->memory, err, "export") : PFR_OK;
}

static pfr_status put_call(struct rows *r, const pfr_call *call, pfr_error *err) {
    struct chrome *c = r->state;
    const struct chrome_head *head = &c->head[call->symbol];
    if (!head->thread || head->thread != call->thread)
        PFR_TRY(make_head(r, call, err));
    begin_event(r, "");
    out_write(r->out, c->heads.buffer + head->at, head->length);
    put_time(r, call->start);
    out_text(r->out, ",\"dur\":");
    put_us(r->out, call->duration);
    out_char(r->out, '}');
    return PFR_OK;
}

static pfr_status put_sample(struct rows *r, const pfr_sample *s, pfr_error *err) {
    const char *event = rows_event_name(r, s->event);
    (void)err;
    begin_event(r, "{\"ph\":\"P\",\"cat\":\"sample\",\"name\":");
    out_json_string(r->out, event, strlen(event));
    put_thread(r, r->out, s->thread);
    out_text(r->out, ",\"ts\":");
    put_time(r, s->time);
    if (s->stack) {
        out_text(r->out, ",\"sf\":\"");
        out_u64(r->out, s->stack);
        out_char(r->out, '"');
    }
    out_text(r->out, ",\"args\":{\"weight\":");
    out_u64(r->out, s->weight);
    if (s->cpu != PFR_NO_CPU) {
        out_text(r->out, ",\"cpu\":");
        out_u64(r->out, s->cpu);
    }
    out_text(r->out, "}}");
    return PFR_OK;
}

static void put_logged(struct rows *r, const pfr_mark *mark) {
    if (mark->kind == PFR_MARK_TYPED) {
        out_text(r->out, ",\"type\":");
        out_u64(r->out, mark->type);
    }
    if (mark->text) {
        out_text(r->out, ",\"text\":");
        out_json_string(r->out, mark->text, strlen(mark->text));
    }
}

static pfr_status put_mark(struct rows *r, const pfr_mark *mark, pfr_error *err) {
    (void)err;
    begin_event(r, rows_is_logged(mark) ? "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"event\",\"name\":\""
                                        : "{\"ph\":\"i\",\"s\":\"g\",\"cat\":\"mark\",\"name\":\"");
    out_text(r->out, rows_mark_name(mark));
    out_char(r->out, '"');
    put_thread(r, r->out, mark->thread);
    out_text(r->out, ",\"ts\":");
    put_time(r, mark->time);
    out_text(r->out, ",\"args\":{\"count\":");
    out_u64(r->out, mark->count);
    if (rows_is_logged(mark))
        put_logged(r, mark);
    out_text(r->out, "}}");
    return PFR_OK;
}

static void put_threads(struct rows *r) {
    for (uint32_t id = 1; id <= pfr_model_count(r->model, PFR_TABLE_THREAD); id++) {
        const struct intern_text name = rows_thread_name(r, id);
        if (!name.length)
            continue;
        begin_event(r, "{\"ph\":\"M\",\"name\":\"thread_name\",\"ts\":0");
        put_thread(r, r->out, id);
        out_text(r->out, ",\"args\":{\"name\":");
        put_name(r->out, name);
        out_text(r->out, "}}");
    }
}

/* Writes all stacks, including those of samples that are not selected. */
static void put_frames(struct rows *r) {
    const pfr_stack *stacks = pfr_model_stacks(r->model);
    out_text(r->out, "],\n\"stackFrames\":{");
    for (uint32_t id = 1; r->is_sampled && id <= pfr_model_count(r->model, PFR_TABLE_STACK); id++) {
        out_text(r->out, id > 1 ? ",\n\"" : "\n\"");
        out_u64(r->out, id);
        out_text(r->out, "\":{\"name\":");
        put_name(r->out, rows_symbol(r, stacks[id].symbol));
        out_text(r->out, ",\"category\":");
        put_name(r->out, rows_object_of(r, stacks[id].symbol));
        if (stacks[id].parent) {
            out_text(r->out, ",\"parent\":\"");
            out_u64(r->out, stacks[id].parent);
            out_char(r->out, '"');
        }
        out_char(r->out, '}');
    }
    out_char(r->out, '}');
}

static pfr_status write_chrome(struct rows *r, pfr_error *err) {
    const struct row_visit visit = {.sample = put_sample, .call = put_call, .mark = put_mark, .in_time_order = true};
    struct chrome *c = r->state;
    out_open_memory(&c->heads, r->memory);
    c->has_begun = true;
    c->nr_heads = (size_t)pfr_model_count(r->model, PFR_TABLE_SYMBOL) + 1;
    c->head = mem_zeroed(r->memory, c->nr_heads, sizeof *c->head);
    if (!c->head)
        return mem_fail(r->memory, err, "export");
    out_text(r->out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    PFR_TRY(rows_walk(r, &visit, err));
    put_threads(r);
    put_frames(r);
    out_text(r->out, ",\n\"otherData\":{\"begin_ns\":\"");
    out_u64(r->out, r->begin);
    out_text(r->out, "\",\"clock\":");
    const char *clock = rows_meta(r, "clock");
    out_json_string(r->out, clock, strlen(clock));
    out_text(r->out, "}}\n");
    return PFR_OK;
}

static void clear(struct rows *r) {
    struct chrome *c = r->state;
    if (c->has_begun)
        out_close(&c->heads, NULL);
    mem_free(r->memory, c->head, c->head ? c->nr_heads : 0, sizeof *c->head);
}

const struct row_sink sink_chrome = {
    .format = {.name = "chrome",
               .suffix = ".trace.json",
               .about = "JSON trace events: calls, samples, marks",
               .reader = "Perfetto UI, chrome://tracing, DevTools, speedscope",
               .losses = "objects and addresses of calls; most readers ignore samples",
               .holds_both = true},
    .state_size = sizeof(struct chrome),
    .write = write_chrome,
    .clear = clear,
};
