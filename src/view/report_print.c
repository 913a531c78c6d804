/* SPDX-License-Identifier: Apache-2.0 */
/* Rows to text, perf's table, CSV or JSON. */
#include "view/report_parts.h"

#include "base/escape.h"
#include "base/json.h"
#include "base/public_output.h"

#include <stdio.h>
#include <string.h>

#define OVERHEAD_WIDTH 8

struct printing {
    struct report *r;
    pfr_output *to;
    struct output *out;
    uint32_t event, begin, end; /* rows of one event in r->order */
};

static struct row row_at(const struct printing *p, uint32_t place) {
    struct row row;
    memcpy(&row, intern_get(&p->r->rows.keys, p->r->order[place]).bytes, sizeof row);
    return row;
}

static struct intern_text cell(const struct printing *p, const struct row *row, unsigned column) {
    return intern_get(&p->r->state.names, row->text[p->r->sort[column]]);
}

static double percent(const struct printing *p, uint32_t place) {
    const uint64_t total = p->r->totals[p->event].weight;
    return total ? 100.0 * (double)p->r->rows.counts[p->r->order[place]].weight / (double)total : 0;
}

static bool is_shown(const struct printing *p, uint32_t place) {
    return percent(p, place) >= p->r->options->percent_limit;
}

/* Characters that a name takes when printed: escapes make it longer, UTF-8 shorter. */
static size_t printed_width(const struct printing *p, struct intern_text text) {
    char unit[ESCAPE_UNIT];
    size_t width = 0;
    for (size_t at = 0; at < text.length;) {
        size_t took;
        const size_t made = escape_character(text.bytes + at, text.length - at, unit, &took);
        width += p->to->raw_names ? took : made == took ? 1 : made;
        at += took;
    }
    return width;
}

static size_t column_width(const struct printing *p, unsigned column) {
    size_t width = strlen(report_columns[p->r->sort[column]].heading);
    for (uint32_t i = p->begin; i < p->end; i++) {
        const struct row row = row_at(p, i);
        const size_t own = printed_width(p, cell(p, &row, column));
        width = own > width ? own : width;
    }
    return width;
}

static void write_scaled(struct output *out, uint64_t n) {
    static const char units[] = " KMGTPE";
    unsigned unit = 0;
    while (n >= 1000 && unit < 4) { /* perf rounds to the nearest thousand at each step it prints */
        if (n < 10000 && unit == 0)
            break;
        n = (n + 500) / 1000;
        unit++;
    }
    out_u64(out, n);
    if (unit)
        out_char(out, units[unit]);
}

static void write_totals(const struct printing *p) {
    const pfr_event *event = pfr_get_event(p->r->reader, p->event);
    out_text(p->out, "# Samples: ");
    write_scaled(p->out, p->r->totals[p->event].samples);
    out_text(p->out, "  of event '");
    print_name(p->to, event->name, strlen(event->name));
    out_text(p->out, "'\n# Event count (approx.): ");
    out_u64(p->out, p->r->totals[p->event].weight);
    out_text(p->out, "\n#\n");
}

static void write_heading(const struct printing *p, const size_t *widths) {
    out_text(p->out, "# Overhead");
    for (unsigned c = 0; c < p->r->nr_sort; c++) {
        const char *heading = report_columns[p->r->sort[c]].heading;
        out_text(p->out, "  ");
        out_text(p->out, heading);
        out_pad(p->out, widths[c] - strlen(heading));
    }
    out_text(p->out, "\n# ");
    out_fill(p->out, '.', OVERHEAD_WIDTH);
    for (unsigned c = 0; c < p->r->nr_sort; c++) {
        out_text(p->out, "  ");
        out_fill(p->out, '.', widths[c]);
    }
    out_text(p->out, "\n#\n");
}

static void write_row(const struct printing *p, uint32_t place, const size_t *widths, bool fill_last) {
    const struct row row = row_at(p, place);
    char number[32];
    snprintf(number, sizeof number, "%9.2f%%", percent(p, place));
    out_text(p->out, number);
    for (unsigned c = 0; c < p->r->nr_sort; c++) {
        const struct intern_text text = cell(p, &row, c);
        out_text(p->out, "  ");
        print_name(p->to, text.bytes, text.length);
        if (fill_last || c + 1 < p->r->nr_sort)
            out_pad(p->out, widths[c] - printed_width(p, text));
    }
    out_char(p->out, '\n');
}

static void write_table(const struct printing *p, bool as_perf) {
    size_t widths[REPORT_KEYS];
    for (unsigned c = 0; c < p->r->nr_sort; c++)
        widths[c] = column_width(p, c);
    write_totals(p);
    write_heading(p, widths);
    for (uint32_t i = p->begin; i < p->end; i++)
        if (is_shown(p, i))
            write_row(p, i, widths, as_perf);
    if (as_perf)
        out_char(p->out, '\n');
    out_char(p->out, '\n');
}

static void write_csv_heading(const struct report *r, struct output *out) {
    out_text(out, "event,percent,weight,samples");
    for (unsigned c = 0; c < r->nr_sort; c++) {
        out_char(out, ',');
        out_text(out, report_columns[r->sort[c]].name);
    }
    out_char(out, '\n');
}

static void write_csv_row(const struct printing *p, uint32_t place) {
    const struct row row = row_at(p, place);
    const struct count *count = &p->r->rows.counts[p->r->order[place]];
    const char *event = pfr_get_event(p->r->reader, p->event)->name;
    out_csv_field(p->out, event, strlen(event));
    out_char(p->out, ',');
    out_f64(p->out, percent(p, place), 4);
    out_char(p->out, ',');
    out_u64(p->out, count->weight);
    out_char(p->out, ',');
    out_u64(p->out, count->samples);
    for (unsigned c = 0; c < p->r->nr_sort; c++) {
        const struct intern_text text = cell(p, &row, c);
        out_char(p->out, ',');
        out_csv_field(p->out, text.bytes, text.length);
    }
    out_char(p->out, '\n');
}

static void write_json_row(const struct printing *p, struct json *j, uint32_t place) {
    const struct row row = row_at(p, place);
    const struct count *count = &p->r->rows.counts[p->r->order[place]];
    json_begin_object(j);
    json_key(j, "percent");
    json_f64(j, percent(p, place));
    json_key(j, "weight");
    json_u64(j, count->weight);
    json_key(j, "samples");
    json_u64(j, count->samples);
    for (unsigned c = 0; c < p->r->nr_sort; c++) {
        const struct intern_text text = cell(p, &row, c);
        json_key(j, report_columns[p->r->sort[c]].name);
        json_string(j, text.bytes, text.length);
    }
    json_end_object(j);
}

static void write_json_event(const struct printing *p, struct json *j) {
    json_begin_object(j);
    json_key(j, "name");
    json_text(j, pfr_get_event(p->r->reader, p->event)->name);
    json_key(j, "samples");
    json_u64(j, p->r->totals[p->event].samples);
    json_key(j, "weight");
    json_u64(j, p->r->totals[p->event].weight);
    json_key(j, "rows");
    json_begin_array(j);
    for (uint32_t i = p->begin; i < p->end; i++)
        if (is_shown(p, i))
            write_json_row(p, j, i);
    json_end_array(j);
    json_end_object(j);
}

static void write_event(const struct printing *p, struct json *j) {
    const pfr_report_format format = p->r->options->format;
    if (format == PFR_REPORT_JSON)
        write_json_event(p, j);
    else if (format == PFR_REPORT_CSV)
        for (uint32_t i = p->begin; i < p->end; i++)
            is_shown(p, i) ? write_csv_row(p, i) : (void)0;
    else
        write_table(p, format == PFR_REPORT_PERF);
}

static void write_head(struct report *r, struct output *out, struct json *j) {
    const pfr_quality *q = pfr_get_quality(r->reader);
    if (r->options->format == PFR_REPORT_JSON) {
        json_begin_object(j);
        json_key(j, "version");
        json_u64(j, 1);
        json_key(j, "events");
        json_begin_array(j);
    } else if (r->options->format == PFR_REPORT_CSV) {
        write_csv_heading(r, out);
    } else {
        if (r->options->format == PFR_REPORT_PERF)
            out_text(out, "# To display the perf.data header info, please use --header/--header-only options.\n#\n#\n");
        out_text(out, "# Total Lost Samples: ");
        out_u64(out, q->lost_samples);
        out_text(out, "\n#\n");
    }
}

void report_write(struct report *r, pfr_output *to) {
    struct printing p = {.r = r, .to = to, .out = &to->out};
    struct json j = json_on(&to->out, JSON_PRETTY);
    write_head(r, p.out, &j);
    const uint32_t rows = r->rows.keys.count;
    while (p.end < rows) {
        p.begin = p.end;
        p.event = row_at(&p, p.begin).event;
        while (p.end < rows && row_at(&p, p.end).event == p.event)
            p.end++;
        write_event(&p, &j);
    }
    if (r->options->format == PFR_REPORT_JSON) {
        json_end_array(&j);
        json_end_object(&j);
        json_end_line(&j);
    }
}
