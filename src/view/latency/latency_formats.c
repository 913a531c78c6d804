/* SPDX-License-Identifier: Apache-2.0 */
/* Prints rows for programs: CSV, whose columns depend only on the options and the unit, and JSON
 * (docs/json/latency.schema.json). */
#include "view/latency/latency_formats.h"
#include "view/latency/latency_histogram.h"
#include "view/latency/latency_notes.h"
#include "view/latency/latency_rows.h"

#include "base/text/escape.h"
#include "base/memory/fail.h"
#include "base/text/json.h"

#include <string.h>

#define NO_FUNCTION "[limit]"

static const char *name_text(const struct latency_row *row, size_t *length) {
    *length = row->name ? row->name->length : strlen(NO_FUNCTION);
    return row->name ? row->name->text : NO_FUNCTION;
}

/* --- CSV. */

static void csv_number(pfr_output *to, bool known, uint64_t number) {
    if (known)
        out_u64(&to->out, number);
    out_char(&to->out, ',');
}

static void csv_signed(pfr_output *to, bool known, int64_t number) {
    if (known)
        out_i64(&to->out, number);
    out_char(&to->out, ',');
}

static void csv_text(pfr_output *to, const char *text, size_t length) {
    out_csv_field(&to->out, text, length);
    out_char(&to->out, ',');
}

static void csv_key(const struct latency *l, const struct latency_row *row, pfr_output *to) {
    if (l->options->by == PFR_LATENCY_BY_CALLER) {
        csv_number(to, row->key.has_caller, row->key.caller);
        csv_text(to, row->caller ? row->caller->text : "", row->caller ? row->caller->length : 0);
    } else if (l->options->by == PFR_LATENCY_BY_THREAD) {
        csv_signed(to, row->key.thread.has_pid, row->key.thread.pid);
        csv_signed(to, row->key.thread.has_tid, row->key.thread.tid);
    }
}

/* Writes path and line as one text. */
static void csv_line(const struct latency_row *row, pfr_output *to) {
    const char *const text = row->name && row->name->line.file ? row->name->line.text : "";
    out_char(&to->out, ',');
    out_csv_field(&to->out, text, strlen(text));
}

static void csv_row(const struct latency *l, const struct latency_row *row, pfr_output *to) {
    size_t length;
    const char *name = name_text(row, &length);
    csv_key(l, row, to);
    csv_number(to, !row->key.is_limit, row->key.function);
    csv_text(to, name, length);
    csv_text(to, row->object ? row->object : "", row->object ? strlen(row->object) : 0);
    csv_number(to, true, row->cost->count);
    csv_number(to, row->timed, latency_shown(l, row->low));
    for (unsigned i = 0; i < LATENCY_RANKS; i++)
        csv_number(to, row->timed, latency_shown(l, row->rank[i]));
    csv_number(to, row->timed, latency_shown(l, row->high));
    csv_number(to, true, calls_sum_ns(row->cost->sum, l->frequency));
    out_i64(&to->out, calls_self_ns(row->cost->self, l->frequency));
    if (l->options->lines)
        csv_line(row, to);
    out_char(&to->out, '\n');
}

static void csv_heading(const struct latency *l, pfr_output *to) {
    static const char *const names[] = {"min", "p50", "p90", "p95", "p99", "p999", "max", "sum", "self"};
    static const char *const keys[] = {[PFR_LATENCY_BY_FUNCTION] = "",
                                       [PFR_LATENCY_BY_CALLER] = "caller_id,caller,",
                                       [PFR_LATENCY_BY_THREAD] = "pid,tid,"};
    out_text(&to->out, keys[l->options->by]);
    out_text(&to->out, "id,function,object,count");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        out_char(&to->out, ',');
        out_text(&to->out, names[i]);
        out_char(&to->out, '_');
        out_text(&to->out, latency_unit(l));
    }
    out_text(&to->out, l->options->lines ? ",srcline\n" : "\n");
}

void latency_write_csv(const struct latency *l, pfr_output *to) {
    csv_heading(l, to);
    for (size_t i = 0; i < l->shown; i++)
        csv_row(l, &l->rows[i], to);
}

/* --- JSON. */

static void number(struct json *j, const char *key, uint64_t value) {
    json_key(j, key);
    json_u64(j, value);
}

static void number_or_null(struct json *j, const char *key, bool known, uint64_t value) {
    json_key(j, key);
    if (known)
        json_u64(j, value);
    else
        json_null(j);
}

static void signed_or_null(struct json *j, const char *key, bool known, int64_t value) {
    json_key(j, key);
    if (known)
        json_i64(j, value);
    else
        json_null(j);
}

static void write_key(const struct latency *l, const struct latency_row *row, struct json *j) {
    size_t length;
    const char *name = name_text(row, &length);
    if (l->options->by == PFR_LATENCY_BY_CALLER) {
        number_or_null(j, "caller_id", row->key.has_caller, row->key.caller);
        json_key(j, "caller");
        if (row->caller)
            json_string(j, row->caller->text, row->caller->length);
        else
            json_null(j);
    } else if (l->options->by == PFR_LATENCY_BY_THREAD) {
        signed_or_null(j, "pid", row->key.thread.has_pid, row->key.thread.pid);
        signed_or_null(j, "tid", row->key.thread.has_tid, row->key.thread.tid);
    }
    number_or_null(j, "id", !row->key.is_limit, row->key.function);
    json_key(j, "function");
    json_string(j, name, length);
    json_key(j, "object");
    if (row->object)
        json_text(j, row->object);
    else
        json_null(j);
}

static void write_line(const struct latency_row *row, struct json *j) {
    const struct function_line *line = row->name && row->name->line.file ? &row->name->line : NULL;
    json_key(j, "file");
    if (line)
        json_text(j, line->file);
    else
        json_null(j);
    number_or_null(j, "line", line != NULL, line ? line->line : 0);
}

static pfr_status write_histogram(const struct latency *l, const struct latency_row *row, struct json *j,
                                  pfr_error *err) {
    struct latency_histogram h;
    PFR_TRY(latency_histogram_make(l, row, &h, err));
    json_key(j, "histogram");
    json_begin_array(j);
    for (unsigned i = 0; i < h.count; i++) {
        json_begin_object(j);
        number(j, "from", h.bins[i].from);
        number(j, "to", h.bins[i].to);
        number(j, "count", h.bins[i].count);
        json_end_object(j);
    }
    json_end_array(j);
    return PFR_OK;
}

static pfr_status write_row(const struct latency *l, const struct latency_row *row, struct json *j, pfr_error *err) {
    json_begin_object(j);
    write_key(l, row, j);
    if (l->options->lines)
        write_line(row, j);
    number(j, "count", row->cost->count);
    number(j, "open", row->cost->open);
    number(j, "lone", row->cost->lone);
    number(j, "backward", row->cost->backward);
    number_or_null(j, "min", row->timed, latency_shown(l, row->low));
    for (unsigned i = 0; i < LATENCY_RANKS; i++)
        number_or_null(j, latency_ranks[i].name, row->timed, latency_shown(l, row->rank[i]));
    number_or_null(j, "max", row->timed, latency_shown(l, row->high));
    number(j, "sum", calls_sum_ns(row->cost->sum, l->frequency));
    json_key(j, "self");
    json_i64(j, calls_self_ns(row->cost->self, l->frequency));
    json_key(j, "exact");
    json_bool(j, row->exact);
    if (l->options->histogram)
        PFR_TRY(write_histogram(l, row, j, err));
    json_end_object(j);
    return PFR_OK;
}

static void write_sketch(struct json *j) {
    json_key(j, "sketch");
    json_begin_object(j);
    json_key(j, "name");
    json_text(j, "log-linear");
    json_key(j, "relative_error");
    json_f64(j, SPREAD_ERROR);
    json_end_object(j);
}

static void write_trace(const struct latency *l, struct json *j) {
    static const char *const by[] = {"function", "caller", "thread"};
    const struct calls_totals *t = &l->costs.totals;
    number(j, "version", 1);
    json_key(j, "trace");
    json_text(j, latency_kind(l));
    number(j, "cycle_frequency", l->reader->header.cycle_frequency);
    json_key(j, "unit");
    json_text(j, latency_unit(l));
    json_key(j, "by");
    json_text(j, by[l->options->by]);
    number(j, "threads", t->threads);
    number(j, "calls", t->calls);
    number(j, "open", t->open);
    number(j, "lone", t->lone);
    number(j, "backward", t->backward);
    number(j, "left_out", l->costs.left_out);
    if (l->sketched)
        write_sketch(j);
}

static void write_notes(const struct latency *l, struct json *j) {
    char text[LATENCY_NOTE_ROOM];
    json_key(j, "notes");
    json_begin_array(j);
    for (unsigned i = 0; latency_note(l, i, text); i++)
        json_text(j, text);
    json_end_array(j);
}

pfr_status latency_write_json(const struct latency *l, pfr_output *to, pfr_error *err) {
    struct json j = json_on(&to->out, JSON_PRETTY);
    json_begin_object(&j);
    write_trace(l, &j);
    write_notes(l, &j);
    json_key(&j, "rows");
    json_begin_array(&j);
    for (size_t i = 0; i < l->shown; i++)
        PFR_TRY(write_row(l, &l->rows[i], &j, err));
    json_end_array(&j);
    json_end_object(&j);
    json_end_line(&j);
    return PFR_OK;
}
