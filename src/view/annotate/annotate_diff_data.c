/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the compared lines as CSV and JSON (docs/json/annotate.schema.json): see annotate_diff.h. */
#include "view/annotate/annotate_diff.h"

#include "base/text/escape.h"

#include <string.h>

/* --- CSV. */

void diff_csv_head(struct annotate *a) {
    out_text(&a->out->out, "symbol,base_file,file,base_line,line,inlined,matched,base_self_percent,self_percent,"
                           "delta_percent,base_samples,samples,base_self,self,base_total,total,source\n");
}

static void put_field(struct output *out, const char *text) {
    if (text)
        out_csv_field(out, text, strlen(text));
    out_char(out, ',');
}

static void put_count(struct output *out, uint64_t count) {
    out_u64(out, count);
    out_char(out, ',');
}

static void put_csv_sums(const struct line_diff *diff, const struct diff_line *line, struct output *out) {
    double shares[IN_BOTH];
    for (unsigned side = 0; side < IN_BOTH; side++) {
        shares[side] = diff_share(line->self[side].weight, diff->all[side]);
        out_f64(out, shares[side], 4);
        out_char(out, ',');
    }
    out_f64(out, shares[IN_NEW] - shares[IN_BASE], 4);
    out_char(out, ',');
    for (unsigned side = 0; side < IN_BOTH; side++)
        put_count(out, line->self[side].samples);
    for (unsigned side = 0; side < IN_BOTH; side++)
        put_count(out, line->self[side].weight);
    for (unsigned side = 0; side < IN_BOTH; side++)
        put_count(out, line->total[side]);
}

void diff_csv(struct line_diff *diff) {
    struct output *out = &diff->sides[IN_NEW]->out->out;
    for (size_t i = 0; i < diff->count; i++) {
        const struct diff_line *line = &diff->at[i];
        const char *text = diff_line_source(diff, line);
        put_field(out, diff->function);
        put_field(out, line->file[IN_BASE]);
        put_field(out, line->file[IN_NEW]);
        put_count(out, line->line[IN_BASE]);
        put_count(out, line->line[IN_NEW]);
        put_field(out, line->inlined);
        put_field(out, line_matched_names[line->matched]);
        put_csv_sums(diff, line, out);
        if (text)
            out_csv_field(out, text, strlen(text));
        out_char(out, '\n');
    }
}

/* --- JSON. */

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

static void put_side(const struct line_diff *diff, struct json *json, const struct diff_line *line, unsigned side) {
    json_key(json, side == IN_BASE ? "base" : "new");
    json_begin_object(json);
    put_text(json, "file", line->file[side]);
    put_number(json, "line", line->line[side]);
    put_number(json, "samples", line->self[side].samples);
    put_number(json, "self", line->self[side].weight);
    json_key(json, "self_percent");
    json_f64(json, diff_share(line->self[side].weight, diff->all[side]));
    put_number(json, "total", line->total[side]);
    json_end_object(json);
}

static void put_line(struct line_diff *diff, struct json *json, const struct diff_line *line) {
    json_begin_object(json);
    put_text(json, "inlined", line->inlined);
    put_text(json, "matched", line_matched_names[line->matched]);
    for (unsigned side = 0; side < IN_BOTH; side++)
        put_side(diff, json, line, side);
    json_key(json, "delta_percent");
    json_f64(json, diff_share(line->self[IN_NEW].weight, diff->all[IN_NEW]) -
                       diff_share(line->self[IN_BASE].weight, diff->all[IN_BASE]));
    put_text(json, "source", diff_line_source(diff, line));
    json_end_object(json);
}

void diff_json(struct line_diff *diff) {
    const struct annotate *a = diff->sides[IN_NEW];
    struct json *json = &diff->sides[IN_NEW]->json;
    json_begin_object(json);
    put_text(json, "symbol", diff->function);
    put_text(json, "event", a->nr_events ? pfr_model_get_event(a->model, a->events[0])->name : NULL);
    for (unsigned side = 0; side < IN_BOTH; side++) {
        json_key(json, side == IN_BASE ? "base" : "new");
        json_begin_object(json);
        put_number(json, "samples", diff->self[side].samples);
        put_number(json, "self", diff->self[side].weight);
        put_number(json, "all", diff->all[side]);
        json_end_object(json);
    }
    json_key(json, "changes");
    json_begin_array(json);
    for (size_t i = 0; i < diff->count; i++)
        put_line(diff, json, &diff->at[i]);
    json_end_array(json);
    json_end_object(json);
}
