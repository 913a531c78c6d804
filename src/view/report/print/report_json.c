/* SPDX-License-Identifier: Apache-2.0 */
/* Prints JSON; docs/json/report.schema.json describes the document. */
#include "view/report/fields/report_common.h"
#include "view/report/rows/report_line.h"
#include "view/report/print/report_json.h"
#include "view/report/print/report_text_cache.h"
#include "view/report/print/report_tree_data.h"

#include "base/memory/fail.h"

#include <string.h>

static void write_weight(const struct report *r, uint32_t event, struct profile_weight weight, struct json *j) {
    json_key(j, "percent");
    json_f64(j, report_percent(r, event, weight.weight));
    json_key(j, "weight");
    json_u64(j, profile_amount(r->profile, weight.weight));
    json_key(j, "samples");
    json_u64(j, weight.samples);
}

static void write_overhead(const struct report *r, uint32_t event, uint64_t weight, struct json *j) {
    if (!r->options->latency)
        return;
    json_key(j, "overhead");
    json_begin_object(j);
    json_key(j, "percent");
    json_f64(j, overhead_percent(r, event, weight));
    json_key(j, "weight");
    json_u64(j, profile_amount(r->profile, weight));
    json_end_object(j);
}

static void write_weights(const struct report *r, uint32_t event, const struct row *row, struct json *j) {
    const struct row_overhead overhead = row_overhead(r, row);
    write_weight(r, event, r->children ? row->total : row->self, j);
    write_overhead(r, event, r->children ? overhead.total : overhead.self, j);
    if (!r->children)
        return;
    json_key(j, "self");
    json_begin_object(j);
    write_weight(r, event, row->self, j);
    write_overhead(r, event, overhead.self, j);
    json_end_object(j);
}

static pfr_status write_row(struct report *r, const struct lines *lines, uint32_t line, struct json *j,
                            pfr_error *err) {
    const struct row *row = line_row(r, lines, line, 0);
    struct row_cells cells;
    line_cells(r, lines, line, &cells);
    json_begin_object(j);
    write_weights(r, lines->leader, row, j);
    for (unsigned k = 0; k < r->chosen.nr_keys; k++) {
        size_t length;
        const char *text = report_cell_text(r, r->chosen.keys[k], &cells, row, &length);
        json_key(j, r->chosen.keys[k]->name);
        if (r->chosen.keys[k]->is_number)
            json_made(j, text, length);
        else
            json_string(j, text, length);
    }
    PFR_TRY(tree_write_json(r, lines->rows[(size_t)line * lines->members], j, err));
    json_end_object(j);
    return PFR_OK;
}

pfr_status report_write_json(struct report *r, const struct lines *lines, struct json *j, pfr_error *err) {
    json_begin_object(j);
    json_key(j, "name");
    json_text(j, profile_event(r->reader, lines->leader)->name);
    if (r->measure->is_amount) {
        json_key(j, "unit");
        json_text(j, profile_event(r->reader, lines->leader)->unit);
    }
    json_key(j, "samples");
    json_u64(j, r->events.sums.totals[lines->leader].samples);
    json_key(j, "weight");
    json_u64(j, profile_amount(r->profile, r->events.sums.totals[lines->leader].weight));
    if (r->options->latency) {
        json_key(j, "overhead_weight");
        json_u64(j, profile_amount(r->profile, overhead_total(r, lines->leader)));
    }
    json_key(j, "rows");
    json_begin_array(j);
    for (uint32_t i = 0; i < lines->shown; i++)
        PFR_TRY(write_row(r, lines, lines->order[i], j, err));
    json_end_array(j);
    json_end_object(j);
    return PFR_OK;
}
