/* SPDX-License-Identifier: Apache-2.0 */
/* JSON output; docs/json/diff.schema.json describes it. */
#include "view/diff/diff_view.h"

#include "base/text/json.h"

static const char *const by_names[] = {"symbol", "object", "line", "thread", "event"};
static const char *const per_names[] = {"total", "run", "second", "sample", "event", "call"};

static void put_value(struct json *json, const char *key, const pfr_diff_value *v) {
    const struct {
        const char *key;
        double value;
    } numbers[] = {{"base", v->base}, {"new", v->changed}, {"delta", v->delta}, {"low", v->low},
                   {"high", v->high}, {"p", v->p},         {"q", v->q}};
    json_key(json, key);
    json_begin_object(json);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        json_key(json, numbers[i].key);
        json_f64(json, numbers[i].value);
    }
    json_key(json, "verdict");
    json_text(json, pfr_diff_verdict_name(v->verdict));
    json_end_object(json);
}

static void put_text(struct json *json, const char *key, const char *text) {
    json_key(json, key);
    json_text(json, text);
}

static void put_number(struct json *json, const char *key, uint64_t value) {
    json_key(json, key);
    json_u64(json, value);
}

static void put_run(struct json *json, const struct diff_series *s) {
    json_begin_object(json);
    put_text(json, "name", s->run.name);
    put_text(json, "event", s->event ? pfr_model_get_event(s->run.model, s->event)->name : "");
    put_number(json, "samples", s->samples);
    json_key(json, "weight");
    json_f64(json, s->weight);
    json_key(json, "seconds");
    json_f64(json, s->begin == PFR_NO_TIME || s->has_slots ? 0 : (double)(s->end - s->begin) * 1e-9);
    put_number(json, "slots", s->slots);
    put_number(json, "block", s->block);
    json_end_object(json);
}

static void put_side(struct json *json, const char *key, const struct diff_side *side) {
    json_key(json, key);
    json_begin_array(json);
    for (uint32_t i = 0; i < side->count; i++)
        put_run(json, &side->runs[i]);
    json_end_array(json);
}

static void put_head(struct json *json, const pfr_diff *d) {
    put_number(json, "version", 1);
    put_text(json, "by", by_names[d->options.by]);
    put_text(json, "per", per_names[d->options.per]);
    put_number(json, "seed", d->options.seed);
    put_number(json, "rounds", d->options.rounds);
    json_key(json, "least_change");
    json_f64(json, d->options.least_change);
    put_side(json, "base", &d->sides[DIFF_BASE]);
    put_side(json, "new", &d->sides[DIFF_NEW]);
    json_key(json, "remarks");
    json_begin_array(json);
    for (size_t i = 0; i < d->nr_remarks; i++)
        json_text(json, d->remarks[i]);
    json_end_array(json);
}

static void put_row(struct json *json, const pfr_diff_row *row) {
    json_begin_object(json);
    put_text(json, "symbol", row->symbol);
    put_text(json, "object", row->object);
    put_number(json, "base_samples", row->base_samples);
    put_number(json, "new_samples", row->new_samples);
    put_value(json, "self", &row->self);
    put_value(json, "total", &row->total);
    if (row->likely) {
        put_text(json, "likely", row->likely);
        put_text(json, "likely_object", row->likely_object);
        put_text(json, "likely_why", row->likely_why);
    }
    json_end_object(json);
}

/* --- Durations of calls. */

static const char *const quantile_keys[] = {"p50", "p90", "p99", "p99.9"};

static void put_calls(struct json *json, const char *key, const pfr_diff_latency *l, unsigned side) {
    json_key(json, key);
    json_begin_object(json);
    put_number(json, "count", l->count[side]);
    put_number(json, "sum", l->sum[side]);
    for (unsigned k = 0; k < PFR_DIFF_QUANTILES && l->count[side]; k++) {
        json_key(json, quantile_keys[k]);
        json_begin_array(json);
        json_u64(json, l->quantile[side][k]);
        json_u64(json, l->low[side][k]);
        if (l->high[side][k] == UINT64_MAX)
            json_null(json);
        else
            json_u64(json, l->high[side][k]);
        json_end_array(json);
    }
    json_key(json, "histogram");
    json_begin_array(json);
    for (unsigned b = 0; b < 64; b++)
        json_u64(json, l->histogram[side][b]);
    json_end_array(json);
    json_end_object(json);
}

static void put_latencies(struct json *json, const pfr_diff *d) {
    json_key(json, "latencies");
    json_begin_array(json);
    for (uint32_t i = 0; i < d->nr_latencies; i++) {
        json_begin_object(json);
        put_text(json, "symbol", d->latencies[i].symbol);
        put_text(json, "object", d->latencies[i].object);
        put_calls(json, "base", &d->latencies[i], 0);
        put_calls(json, "new", &d->latencies[i], 1);
        json_end_object(json);
    }
    json_end_array(json);
}

pfr_status diff_print_json(const struct diff_print *print, pfr_error *err) {
    struct json json = json_on(print->to, JSON_PRETTY);
    (void)err;
    json_begin_object(&json);
    put_head(&json, print->d);
    json_key(&json, "rows");
    json_begin_array(&json);
    for (uint32_t i = 0; i < print->d->nr_rows; i++)
        put_row(&json, &print->d->rows[i]);
    json_end_array(&json);
    if (print->d->nr_latencies)
        put_latencies(&json, print->d);
    json_end_object(&json);
    json_end_line(&json);
    return PFR_OK;
}
