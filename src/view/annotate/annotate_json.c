/* SPDX-License-Identifier: Apache-2.0 */
/* Prints functions as one JSON document (docs/json/annotate.schema.json): see annotate_parts.h. */
#include "view/annotate/annotate_json.h"

#include "view/annotate/annotate_source.h"

static void put_text(struct json *json, const char *key, const char *text) {
    json_key(json, key);
    if (text)
        json_text(json, text);
    else
        json_null(json);
}

static void put_number(struct json *json, const char *key, uint64_t number) {
    json_key(json, key);
    json_u64(json, number);
}

static void put_share(struct json *json, const char *key, uint64_t weight, uint64_t all) {
    json_key(json, key);
    json_f64(json, all ? 100.0 * (double)weight / (double)all : 0);
}

void annotate_json_begin(struct annotate *a) {
    a->json = json_on(&a->out->out, JSON_PRETTY);
    json_begin_object(&a->json);
    put_number(&a->json, "version", 1);
    json_key(&a->json, "functions");
    json_begin_array(&a->json);
}

void annotate_json_end(struct annotate *a) {
    json_end_array(&a->json);
    json_end_object(&a->json);
    json_end_line(&a->json);
}

static void put_events(struct annotate *a, const struct function_rows *rows) {
    json_key(&a->json, "events");
    json_begin_array(&a->json);
    for (uint32_t i = 0; i < a->nr_events; i++) {
        json_begin_object(&a->json);
        put_text(&a->json, "event", pfr_model_get_event(a->model, a->events[i])->name);
        put_number(&a->json, "samples", rows->totals[i].samples);
        put_number(&a->json, "weight", rows->totals[i].weight);
        json_end_object(&a->json);
    }
    json_end_array(&a->json);
}

/* Writes the counts of a row as arrays in the order of `events`. */
static void put_sums(struct annotate *a, const struct function_rows *rows, const struct annotate_row *row) {
    json_key(&a->json, "samples");
    json_begin_array(&a->json);
    for (uint32_t i = 0; i < a->nr_events; i++)
        json_u64(&a->json, row->sums[i].samples);
    json_end_array(&a->json);
    json_key(&a->json, "weight");
    json_begin_array(&a->json);
    for (uint32_t i = 0; i < a->nr_events; i++)
        json_u64(&a->json, row->sums[i].weight);
    json_end_array(&a->json);
    json_key(&a->json, "percent");
    json_begin_array(&a->json);
    for (uint32_t i = 0; i < a->nr_events; i++)
        json_f64(&a->json,
                 rows->totals[i].weight ? 100.0 * (double)row->sums[i].weight / (double)rows->totals[i].weight : 0);
    json_end_array(&a->json);
}

static void put_row(struct annotate *a, const struct function_rows *rows, const struct annotate_row *row) {
    static const char *const kinds[INSN_KINDS] = {"other", "jump", "call", "return", "bad"};
    struct json *json = &a->json;
    json_begin_object(json);
    json_key(json, "address");
    json_hex(json, row->address);
    put_text(json, "instruction", *row->text ? row->text : NULL);
    put_text(json, "kind", *row->text ? kinds[row->kind] : NULL);
    json_key(json, "target");
    if (row->target)
        json_hex(json, row->target);
    else
        json_null(json);
    put_text(json, "file", row->file);
    put_number(json, "line", row->line);
    json_key(json, "inlined");
    json_bool(json, row->is_inlined);
    put_sums(a, rows, row);
    json_end_object(json);
}

void annotate_json(struct annotate *a, const struct function_rows *rows) {
    struct json *json = &a->json;
    json_begin_object(json);
    put_text(json, "symbol", rows->symbol->name);
    put_text(json, "object", rows->object->path);
    put_events(a, rows);
    json_key(json, "instructions");
    json_begin_array(json);
    for (size_t i = 0; i < rows->count; i++)
        put_row(a, rows, function_row(rows, i));
    json_end_array(json);
    json_end_object(json);
}

void annotate_json_lines(struct annotate *a, const struct line_rows *lines) {
    struct json *json = &a->json;
    json_begin_object(json);
    put_text(json, "symbol", lines->function);
    put_number(json, "self", lines->self);
    put_number(json, "total", lines->total);
    json_key(json, "lines");
    json_begin_array(json);
    for (size_t i = 0; i < lines->count; i++) {
        const struct listed_line *row = &lines->at[i];
        json_begin_object(json);
        put_text(json, "file", row->file);
        put_number(json, "line", row->line);
        put_text(json, "inlined", row->inlined);
        put_number(json, "self", row->self);
        put_share(json, "self_percent", row->self, lines->total);
        put_number(json, "total", row->total);
        put_share(json, "total_percent", row->total, lines->total);
        put_text(json, "source", source_line(a, row->file, row->line));
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
}
