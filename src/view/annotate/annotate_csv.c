/* SPDX-License-Identifier: Apache-2.0 */
/* Prints rows as CSV: see annotate_parts.h. */
#include "view/annotate/annotate_csv.h"

#include "base/text/escape.h"
#include "view/annotate/annotate_source.h"

/* Whether rows need the columns symbol and event, because there are several functions or events. */
static bool has_names(const struct annotate *a) {
    return a->printed > 1 || (a->nr_events > 1 && !a->options->by_line);
}

void annotate_csv_head(struct annotate *a) {
    out_text(&a->out->out, a->options->by_line ? "symbol," : has_names(a) ? "symbol,event," : "");
    out_text(&a->out->out, a->options->by_line ? "file,line,inlined,self_percent,self,total_percent,total,source\n"
                                               : "address,percent,samples,weight,file,line,instruction\n");
}

static void put_row(struct annotate *a, const struct function_rows *rows, const struct annotate_row *row,
                    uint32_t event) {
    struct output *out = &a->out->out;
    const char *name = annotate_symbol_name(rows->symbol);
    const char *event_name = pfr_model_get_event(a->model, a->events[event])->name;
    const uint64_t all = rows->totals[event].weight;
    if (has_names(a)) {
        out_csv_field(out, name, strlen(name));
        out_char(out, ',');
        out_csv_field(out, event_name, strlen(event_name));
        out_char(out, ',');
    }
    out_hex(out, row->address, 1);
    out_char(out, ',');
    out_f64(out, all ? 100.0 * (double)row->sums[event].weight / (double)all : 0, 4);
    out_char(out, ',');
    out_u64(out, row->sums[event].samples);
    out_char(out, ',');
    out_u64(out, row->sums[event].weight);
    out_char(out, ',');
    if (row->file)
        out_csv_field(out, row->file, strlen(row->file));
    out_char(out, ',');
    if (row->line)
        out_u64(out, row->line);
    out_char(out, ',');
    out_csv_field(out, row->text, strlen(row->text));
    out_char(out, '\n');
}

void annotate_csv(struct annotate *a, const struct function_rows *rows) {
    for (uint32_t event = 0; event < a->nr_events; event++)
        for (size_t i = 0; i < rows->count; i++)
            put_row(a, rows, function_row(rows, i), event);
}

static void put_text(struct output *out, const char *text) {
    if (text)
        out_csv_field(out, text, strlen(text));
    out_char(out, ',');
}

static void put_share(struct output *out, uint64_t weight, uint64_t all) {
    out_f64(out, all ? 100.0 * (double)weight / (double)all : 0, 4);
    out_char(out, ',');
    out_u64(out, weight);
    out_char(out, ',');
}

void annotate_csv_lines(struct annotate *a, const struct line_rows *lines) {
    struct output *out = &a->out->out;
    for (size_t i = 0; i < lines->count; i++) {
        const struct listed_line *row = &lines->at[i];
        const char *text = source_line(a, row->file, row->line);
        put_text(out, lines->function);
        put_text(out, row->file);
        out_u64(out, row->line);
        out_char(out, ',');
        put_text(out, row->inlined);
        put_share(out, row->self, lines->total);
        put_share(out, row->total, lines->total);
        if (text)
            out_csv_field(out, text, strlen(text));
        out_char(out, '\n');
    }
}
