/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes one line per row; weights are not rounded:
 *
 *     percent,weight,samples,event,comm,dso,sym
 *     55.1495,166166166,166,"cpu-clock:u","busy","busy","[.] sieve"
 *
 * With --children, the columns percent, weight and samples are inclusive, and the columns self_percent, self_weight and
 * self_samples follow. With --latency these weights are divided by the number of running threads; overhead_percent and
 * overhead_weight follow and, with --children, self_overhead_percent and self_overhead_weight. If -g asks for trees,
 * there is one line per chain: see report_tree_data.c.
 */
#include "view/report/fields/report_common.h"
#include "view/report/rows/report_line.h"
#include "view/report/print/report_csv.h"
#include "view/report/print/report_text_cache.h"
#include "view/report/print/report_tree_data.h"

#include "base/text/escape.h"
#include "base/memory/fail.h"

#include <string.h>

#define PERCENT_DIGITS 4u

/* Whether the column of the event precedes the keys: the user did not choose the event as a key. */
static bool names_event(const struct report *r) {
    for (unsigned k = 0; k < r->chosen.nr_keys; k++)
        if (strcmp(r->chosen.keys[k]->name, "event") == 0)
            return false;
    return true;
}

void report_write_csv_heading(struct report *r, pfr_output *to) {
    out_text(&to->out, "percent,weight,samples");
    out_text(&to->out, r->children ? ",self_percent,self_weight,self_samples" : "");
    out_text(&to->out, r->options->latency ? ",overhead_percent,overhead_weight" : "");
    out_text(&to->out, r->options->latency && r->children ? ",self_overhead_percent,self_overhead_weight" : "");
    out_text(&to->out, names_event(r) ? ",event" : "");
    for (unsigned k = 0; k < r->chosen.nr_keys; k++) {
        out_char(&to->out, ',');
        out_text(&to->out, r->chosen.keys[k]->name);
    }
    out_text(&to->out, r->trees.is_asked ? ",chain_weight,chain_samples,chain" : "");
    out_char(&to->out, '\n');
}

static void write_weight(struct report *r, uint32_t event, struct profile_weight weight, struct output *out) {
    out_f64(out, report_percent(r, event, weight.weight), PERCENT_DIGITS);
    out_char(out, ',');
    out_u64(out, profile_amount(r->profile, weight.weight));
    out_char(out, ',');
    out_u64(out, weight.samples);
}

static void write_overhead(const struct report *r, uint32_t event, uint64_t weight, struct output *out) {
    out_char(out, ',');
    out_f64(out, overhead_percent(r, event, weight), PERCENT_DIGITS);
    out_char(out, ',');
    out_u64(out, profile_amount(r->profile, weight));
}

static void write_weights(struct report *r, uint32_t event, const struct row *row, struct output *out) {
    const struct row_overhead overhead = row_overhead(r, row);
    write_weight(r, event, r->children ? row->total : row->self, out);
    if (r->children) {
        out_char(out, ',');
        write_weight(r, event, row->self, out);
    }
    if (r->options->latency)
        write_overhead(r, event, r->children ? overhead.total : overhead.self, out);
    if (r->options->latency && r->children)
        write_overhead(r, event, overhead.self, out);
}

static void write_row(struct report *r, const struct lines *lines, uint32_t line, struct output *out) {
    const struct row *row = line_row(r, lines, line, 0);
    const char *event = profile_event(r->reader, lines->leader)->name;
    struct row_cells cells;
    line_cells(r, lines, line, &cells);
    write_weights(r, lines->leader, row, out);
    if (names_event(r)) {
        out_char(out, ',');
        out_csv_field(out, event, strlen(event));
    }
    for (unsigned k = 0; k < r->chosen.nr_keys; k++) {
        size_t length;
        const char *text = report_cell_text(r, r->chosen.keys[k], &cells, row, &length);
        out_char(out, ',');
        if (r->chosen.keys[k]->is_number)
            out_write(out, text, length);
        else
            out_csv_field(out, text, length);
    }
}

/* Repeats the line for each chain. */
static pfr_status write_chains(struct report *r, const struct lines *lines, uint32_t line, struct output *out,
                               pfr_error *err) {
    struct output cells;
    size_t length;
    out_open_memory(&cells, r->memory);
    write_row(r, lines, line, &cells);
    const char *bytes = out_bytes(&cells, &length);
    pfr_status st = cells.status < 0 ? mem_fail(r->memory, err, "report") : PFR_OK;
    if (st >= 0)
        st = tree_write_csv(r, lines->rows[(size_t)line * lines->members], bytes, length, out, err);
    out_close(&cells, NULL);
    return st;
}

pfr_status report_write_csv(struct report *r, const struct lines *lines, pfr_output *to, pfr_error *err) {
    for (uint32_t i = 0; i < lines->shown; i++) {
        if (r->trees.is_asked) {
            PFR_TRY(write_chains(r, lines, lines->order[i], &to->out, err));
            continue;
        }
        write_row(r, lines, lines->order[i], &to->out);
        out_char(&to->out, '\n');
    }
    return PFR_OK;
}
