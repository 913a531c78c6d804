/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints events of an XRay trace as text, in the columns of perf script, and as JSON lines:
 *
 *     77/101     [001]          0.001000010: enter        shape::area (7)
 *     77/101     [001]          0.001000090: custom-event 5 bytes "hello"
 *
 * With --ticks, or if the frequency is unknown, times are ticks. Unknown processes, cpus and times are left out.
 */
#include "view/xray/xray_script.h"

#include "base/text/json.h"
#include "base/text/text.h"

#define PIECE 4096u /* bytes of a payload that are read at once */
#define KIND_WIDTH 13u
#define NUMBER_WIDTH 7u
#define TIME_WIDTH 20u /* enough for wall-clock times, with the decimal point */

static const char *const kind_names[TRACE_EVENT_KINDS] = {
    [TRACE_ENTER] = "enter",
    [TRACE_EXIT] = "exit",
    [TRACE_TAIL_EXIT] = "tail-exit",
    [TRACE_ENTER_ARGUMENT] = "enter",
    [TRACE_CUSTOM_EVENT] = "custom-event",
    [TRACE_TYPED_EVENT] = "typed-event",
    [TRACE_ARGUMENT] = "argument",
};

/* The time to print (ns, or ticks if the frequency is unknown), relative to the origin that the clock option selects.
   Threads are merged by time, but if a thread's clock goes back, its event may be earlier than the origin. */
static uint64_t printed_time(struct xray_script *s, uint64_t time, bool *is_before) {
    const pfr_script_clock clock = s->options->clock;
    *is_before = false;
    if (clock == PFR_SCRIPT_AS_RECORDED)
        return time;
    const uint64_t zero = s->has_zero ? s->clock_zero : time;
    if (clock == PFR_SCRIPT_SINCE_PREVIOUS || !s->has_zero)
        s->clock_zero = time;
    s->has_zero = true;
    *is_before = time < zero;
    return *is_before ? zero - time : time - zero;
}

/* --- Text. */

static void text_begin(struct xray_script *s) {
    (void)s;
}

static bool has(const struct xray_script *s, enum xray_field field) {
    return s->fields & field;
}

static void text_who(struct xray_script *s, const struct xray_event *e) {
    const bool both = has(s, TRACE_FIELD_PID) && has(s, TRACE_FIELD_TID);
    if (has(s, TRACE_FIELD_PID) && e->has_pid)
        out_i64_wide(s->out, e->pid, NUMBER_WIDTH);
    else if (has(s, TRACE_FIELD_PID))
        out_pad(s->out, NUMBER_WIDTH);
    if (both)
        out_char(s->out, e->has_pid ? '/' : ' ');
    if (has(s, TRACE_FIELD_TID))
        out_i64_left(s->out, e->tid, NUMBER_WIDTH);
}

static void text_time(struct xray_script *s, uint64_t tsc) {
    char text[TEXT_TIME_SIZE + 1] = "-";
    bool is_before;
    const uint64_t time = printed_time(s, s->in_ticks ? tsc : xray_clock_ns(&s->clock, tsc), &is_before);
    const size_t length = s->in_ticks ? format_u64(text + is_before, time) : format_time(text + is_before, time, 9);
    out_text_wide(s->out, text, length + is_before, TIME_WIDTH);
}

static void text_cpu(struct xray_script *s, const struct xray_event *e) {
    char digits[8];
    const size_t length = e->timed ? format_u64(digits, e->cpu) : 0;
    out_text(s->out, " [");
    out_fill(s->out, e->timed ? '0' : ' ', length < 3 ? 3 - length : 0);
    out_write(s->out, digits, length);
    out_text(s->out, "] ");
}

static void text_when(struct xray_script *s, const struct xray_event *e) {
    if (has(s, TRACE_FIELD_CPU))
        text_cpu(s, e);
    if (has(s, TRACE_FIELD_TIME) && e->timed)
        text_time(s, e->tsc);
    else if (has(s, TRACE_FIELD_TIME))
        out_text_wide(s->out, "?", 1, TIME_WIDTH);
    if (has(s, TRACE_FIELD_TIME))
        out_text(s->out, ": ");
}

/* Arguments are registers, so values above 2^63 are probably negative numbers. */
static void text_arguments(struct xray_script *s, const struct xray_event *e) {
    uint64_t value;
    for (uint32_t i = 0; i < e->count && s->failed >= 0; i++) {
        xray_script_fail(s, xray_order_argument(s->order, e, i, &value, s->err));
        out_text(s->out, i ? ", " : " (");
        out_i64(s->out, (int64_t)value);
    }
    if (e->count)
        out_char(s->out, ')');
}

static void text_object(struct xray_script *s, const struct function_name *name) {
    const char *const path = name->path ? name->path : "[unknown]";
    out_text(s->out, " (");
    print_name(s->to, path, strlen(path));
    out_char(s->out, ')');
}

static void text_call(struct xray_script *s, const struct xray_event *e) {
    const struct function_name *name = xray_script_name(s, e);
    if (!name)
        return;
    if (has(s, TRACE_FIELD_SYM))
        print_name(s->to, name->text, name->length);
    if (has(s, TRACE_FIELD_TRACE))
        text_arguments(s, e);
    if (has(s, TRACE_FIELD_DSO))
        text_object(s, name);
}

/* Returns how many bytes of a piece to print, so that a character that continues in the next piece is not cut. */
static size_t whole_characters(const uint8_t *bytes, size_t length) {
    size_t back = 0;
    while (back < 3 && back < length && (bytes[length - 1 - back] & 0xc0) == 0x80)
        back++;
    return back < length && bytes[length - 1 - back] >= 0xc0 ? length - 1 - back : length;
}

static void text_payload(struct xray_script *s, const struct xray_event *e) {
    uint8_t bytes[PIECE];
    size_t got = 1;
    out_u64(s->out, e->count);
    out_text(s->out, e->count == 1 ? " byte \"" : " bytes \"");
    for (uint32_t from = 0; from < e->count && got > 0 && s->failed >= 0; from += (uint32_t)got) {
        xray_script_fail(s, xray_order_payload(s->order, e, from, bytes, sizeof bytes, &got, s->err));
        if (s->failed >= 0 && got == sizeof bytes)
            got = whole_characters(bytes, got);
        if (s->failed >= 0)
            print_name(s->to, bytes, got);
    }
    out_char(s->out, '"');
}

static void text_content(struct xray_script *s, const struct xray_event *e) {
    if (e->kind == TRACE_ARGUMENT) {
        out_i64(s->out, (int64_t)e->argument);
        return;
    }
    if (e->kind == TRACE_TYPED_EVENT) {
        out_text(s->out, "type ");
        out_u64(s->out, e->type);
        out_text(s->out, ", ");
    }
    text_payload(s, e);
}

static void text_event(struct xray_script *s, const struct xray_event *e) {
    const char *const kind = kind_names[e->kind];
    text_who(s, e);
    text_when(s, e);
    if (has(s, TRACE_FIELD_EVENT)) {
        out_text(s->out, kind);
        out_pad(s->out, KIND_WIDTH - strlen(kind));
    }
    if (xray_is_call(e))
        text_call(s, e);
    else if (has(s, TRACE_FIELD_TRACE))
        text_content(s, e);
    out_char(s->out, '\n');
}

const struct xray_script_form xray_text_form = {.begin = text_begin, .event = text_event, .end = text_begin};

/* --- JSON. */

static void put_u64(struct json *j, const char *key, uint64_t value) {
    json_key(j, key);
    json_u64(j, value);
}

static void put_i64(struct json *j, const char *key, int64_t value) {
    json_key(j, key);
    json_i64(j, value);
}

static void put_string(struct json *j, const char *key, const char *text, size_t length) {
    json_key(j, key);
    json_string(j, text, length);
}

static void json_begin(struct xray_script *s) {
    struct json j = json_on(s->out, JSON_LINE);
    json_begin_object(&j);
    put_string(&j, "type", "head", 4);
    put_u64(&j, "version", 1);
    put_u64(&j, "frequency", s->clock.frequency);
    json_key(&j, "clock");
    json_text(&j, xray_clock_name(&s->clock));
    json_end_object(&j);
    json_end_line(&j);
}

static void json_call(struct xray_script *s, const struct xray_event *e, struct json *j) {
    const struct function_name *name = xray_script_name(s, e);
    if (has(s, TRACE_FIELD_SYM))
        put_u64(j, "function", e->function);
    if (!name)
        return;
    const char *object = name->path;
    if (name->named && has(s, TRACE_FIELD_SYM))
        put_string(j, "sym", name->text, name->length);
    if (object && has(s, TRACE_FIELD_DSO))
        put_string(j, "dso", object, strlen(object));
}

static void json_arguments(struct xray_script *s, const struct xray_event *e, struct json *j) {
    uint64_t value = 0;
    if (e->count == 0)
        return;
    json_key(j, "arguments");
    json_begin_array(j);
    for (uint32_t i = 0; i < e->count && s->failed >= 0; i++) {
        xray_script_fail(s, xray_order_argument(s->order, e, i, &value, s->err));
        json_u64(j, value);
    }
    json_end_array(j);
}

static void json_payload(struct xray_script *s, const struct xray_event *e) {
    uint8_t bytes[PIECE];
    size_t got = 1;
    out_text(s->out, ",\"data\":\"");
    for (uint32_t from = 0; from < e->count && got > 0 && s->failed >= 0; from += (uint32_t)got) {
        xray_script_fail(s, xray_order_payload(s->order, e, from, bytes, sizeof bytes, &got, s->err));
        if (s->failed >= 0)
            out_hex_bytes(s->out, bytes, got);
    }
    out_char(s->out, '"');
}

static void json_time(const struct xray_script *s, const struct xray_event *e, struct json *j) {
    put_u64(j, "tsc", e->tsc);
    if (!s->in_ticks)
        put_u64(j, "time", xray_clock_ns(&s->clock, e->tsc));
}

static void json_content(struct xray_script *s, const struct xray_event *e, struct json *j) {
    if (xray_is_call(e))
        json_arguments(s, e, j);
    if (e->kind == TRACE_ARGUMENT)
        put_u64(j, "value", e->argument);
    if (e->kind == TRACE_TYPED_EVENT)
        put_u64(j, "event_type", e->type);
    if (e->kind == TRACE_CUSTOM_EVENT || e->kind == TRACE_TYPED_EVENT)
        json_payload(s, e);
}

static void json_event(struct xray_script *s, const struct xray_event *e) {
    struct json j = json_on(s->out, JSON_LINE);
    json_begin_object(&j);
    put_string(&j, "type", kind_names[e->kind], strlen(kind_names[e->kind]));
    if (e->has_pid && has(s, TRACE_FIELD_PID))
        put_i64(&j, "pid", e->pid);
    if (e->has_tid && has(s, TRACE_FIELD_TID))
        put_i64(&j, "tid", e->tid);
    if (e->timed && has(s, TRACE_FIELD_CPU))
        put_u64(&j, "cpu", e->cpu);
    if (e->timed && has(s, TRACE_FIELD_TIME))
        json_time(s, e, &j);
    if (xray_is_call(e))
        json_call(s, e, &j);
    if (has(s, TRACE_FIELD_TRACE))
        json_content(s, e, &j);
    json_end_object(&j);
    json_end_line(&j);
}

const struct xray_script_form xray_json_form = {.begin = json_begin, .event = json_event, .end = text_begin};
