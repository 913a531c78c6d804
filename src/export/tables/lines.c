/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CSV (RFC 4180, but lines end in LF as in all output; one header row) and JSON lines. Each line is a sample, or a call
 * of a trace.
 *
 *     ts,tid,comm,cpu,event,weight,function,object      samples, by time; ts in ns
 *     ts,dur,self,tid,function                          calls, thread by thread, by exit
 *
 * Fields that were not recorded are empty, or null in JSON.
 */
#include "base/text/escape.h"
#include "base/text/json.h"
#include "export/rows/row_sinks.h"

static void put_name(struct output *to, struct intern_text name) {
    out_csv_field(to, name.bytes, name.length);
    out_char(to, ',');
}

static void put_number(struct output *to, uint64_t number, bool is_known) {
    if (is_known)
        out_u64(to, number);
    out_char(to, ',');
}

static pfr_status csv_sample(struct rows *r, const pfr_sample *s, pfr_error *err) {
    const uint32_t leaf = rows_leaf(r, s->stack);
    const char *event = rows_event_name(r, s->event);
    (void)err;
    put_number(r->out, s->time, s->time != PFR_NO_TIME);
    put_number(r->out, rows_tid(r, s->thread), s->thread != 0);
    put_name(r->out, rows_comm(r, s->comm));
    put_number(r->out, s->cpu, s->cpu != PFR_NO_CPU);
    put_name(r->out, (struct intern_text){(const uint8_t *)event, (uint32_t)strlen(event)});
    put_number(r->out, s->weight, true);
    put_name(r->out, rows_symbol(r, leaf));
    const struct intern_text object = rows_object_of(r, leaf);
    out_csv_field(r->out, object.bytes, object.length);
    out_text(r->out, "\n");
    return PFR_OK;
}

static pfr_status csv_call(struct rows *r, const pfr_call *call, pfr_error *err) {
    const struct intern_text name = rows_symbol(r, call->symbol);
    (void)err;
    put_number(r->out, call->start, true);
    put_number(r->out, call->duration, true);
    out_i64(r->out, call->self);
    out_char(r->out, ',');
    put_number(r->out, rows_tid(r, call->thread), true);
    out_csv_field(r->out, name.bytes, name.length);
    out_text(r->out, "\n");
    return PFR_OK;
}

static pfr_status write_csv(struct rows *r, pfr_error *err) {
    const struct row_visit visit = {.sample = csv_sample, .call = csv_call, .in_time_order = true};
    out_text(r->out, r->is_traced ? "ts,dur,self,tid,function\n" : "ts,tid,comm,cpu,event,weight,function,object\n");
    return rows_walk(r, &visit, err);
}

/* --- JSON lines. */

static void key_text(struct output *to, const char *key, struct intern_text text) {
    out_text(to, key);
    out_json_string(to, text.bytes, text.length);
}

static void key_number(struct output *to, const char *key, uint64_t number, bool is_known) {
    out_text(to, key);
    if (is_known)
        out_u64(to, number);
    else
        out_text(to, "null");
}

static pfr_status json_sample(struct rows *r, const pfr_sample *s, pfr_error *err) {
    const uint32_t leaf = rows_leaf(r, s->stack);
    const char *event = rows_event_name(r, s->event);
    (void)err;
    key_number(r->out, "{\"ts\":", s->time, s->time != PFR_NO_TIME);
    key_number(r->out, ",\"tid\":", rows_tid(r, s->thread), s->thread != 0);
    key_text(r->out, ",\"comm\":", rows_comm(r, s->comm));
    key_number(r->out, ",\"cpu\":", s->cpu, s->cpu != PFR_NO_CPU);
    key_text(r->out, ",\"event\":", (struct intern_text){(const uint8_t *)event, (uint32_t)strlen(event)});
    key_number(r->out, ",\"weight\":", s->weight, true);
    key_text(r->out, ",\"function\":", rows_symbol(r, leaf));
    key_text(r->out, ",\"object\":", rows_object_of(r, leaf));
    out_text(r->out, "}\n");
    return PFR_OK;
}

static pfr_status json_call(struct rows *r, const pfr_call *call, pfr_error *err) {
    (void)err;
    key_number(r->out, "{\"ts\":", call->start, true);
    key_number(r->out, ",\"dur\":", call->duration, true);
    out_text(r->out, ",\"self\":");
    out_i64(r->out, call->self);
    key_number(r->out, ",\"tid\":", rows_tid(r, call->thread), true);
    key_text(r->out, ",\"function\":", rows_symbol(r, call->symbol));
    out_text(r->out, "}\n");
    return PFR_OK;
}

static pfr_status write_jsonl(struct rows *r, pfr_error *err) {
    const struct row_visit visit = {.sample = json_sample, .call = json_call, .in_time_order = true};
    return rows_walk(r, &visit, err);
}

const struct row_sink sink_csv = {
    .format = {.name = "csv",
               .suffix = ".csv",
               .about = "a line for each sample or call, for spreadsheets and data frames",
               .reader = "DuckDB, pandas, spreadsheets",
               .losses = "callers, lost records"},
    .no_marks = true,
    .state_size = 1,
    .write = write_csv,
};

const struct row_sink sink_jsonl = {
    .format = {.name = "jsonl",
               .suffix = ".jsonl",
               .about = "one JSON object per line for each sample or call",
               .reader = "jq, DuckDB, pandas",
               .losses = "callers, lost records"},
    .no_marks = true,
    .state_size = 1,
    .write = write_jsonl,
};
