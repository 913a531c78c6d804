/* SPDX-License-Identifier: Apache-2.0 */
/* Prints functions as text, in rows like those of `perf annotate --stdio`: see annotate_parts.h. */
#include "view/annotate/annotate_text.h"

#include "base/text/text.h"
#include "view/annotate/annotate_arrows.h"
#include "view/annotate/annotate_source.h"

#include <string.h>

#define RULE 87u    /* dashes below the head, as perf prints them */
#define GAP_MOST 8u /* a gap of up to this many lines without samples is printed in full */

static double share(uint64_t weight, uint64_t all) {
    return all ? 100.0 * (double)weight / (double)all : 0;
}

/* Prints two decimals in eight columns. */
static void put_wide(struct output *out, double value) {
    out_pad(out, value < 9.995 ? 4 : value < 99.995 ? 3 : 2);
    out_f64(out, value, 2);
}

static void put_name(struct annotate *a, const char *text) {
    print_name(a->out, text, strlen(text));
}

static unsigned digits_of(uint32_t number) {
    unsigned digits = 1;
    for (; number > 9; number /= 10)
        digits++;
    return digits;
}

/* Prints a source line. If it is wider than the terminal, it is cut in the middle. */
static void put_source_text(struct annotate *a, const char *line, size_t before) {
    char shown[SOURCE_SHOWN_ROOM];
    const char *text = source_shown(line, shown);
    print_name_within(a->out, text, strlen(text), before);
    out_char(&a->out->out, '\n');
}

static bool is_software_clock(const char *event) {
    return strncmp(event, "cpu-clock", 9) == 0 || strncmp(event, "task-clock", 10) == 0;
}

static void put_rule(struct annotate *a) {
    const unsigned columns = a->out->columns;
    out_char(&a->out->out, '\n');
    out_fill(&a->out->out, '-', columns && columns < RULE ? columns : RULE);
    out_char(&a->out->out, '\n');
}

/* Prints a warning below the head if an event is a software clock; perf prints no such line, so it is left out with
   options->plain. */
static void put_skid(struct annotate *a) {
    bool is_late = false;
    for (uint32_t i = 0; i < a->nr_events; i++)
        is_late |= is_software_clock(pfr_model_get_event(a->model, a->events[i])->name);
    if (is_late && !a->options->plain)
        out_text(&a->out->out, " software clock: the cost may belong to the few preceding instructions\n");
}

static void put_head(struct annotate *a, const struct function_rows *rows) {
    struct output *out = &a->out->out;
    out_text(out, a->options->counts ? " Samples |" : " Percent |");
    out_text(out, "\tSource code & Disassembly of ");
    put_name(a, rows->object->name);
    out_text(out, " for ");
    for (uint32_t i = 0; i < a->nr_events; i++) {
        out_text(out, i ? ", " : "");
        put_name(a, pfr_model_get_event(a->model, a->events[i])->name);
        out_text(out, " (");
        out_u64(out, rows->totals[i].samples);
        out_text(out, i + 1 < a->nr_events ? " samples)" : " samples, percent: local period)");
    }
    put_rule(a);
    put_skid(a);
}

/* Prints blanks instead of the numbers of a row. */
static void put_no_sums(struct annotate *a) {
    out_pad(&a->out->out, 9 * (size_t)a->nr_events);
}

static void put_sums(struct annotate *a, const struct function_rows *rows, const struct annotate_row *row) {
    struct output *out = &a->out->out;
    for (uint32_t i = 0; i < a->nr_events; i++) {
        if (a->options->counts)
            out_u64_wide(out, row->sums[i].samples, 8);
        else
            put_wide(out, share(row->sums[i].weight, rows->totals[i].weight));
        out_char(out, ' ');
    }
}

static void put_source(struct annotate *a, const struct annotate_row *row, const struct annotate_row *before) {
    struct output *out = &a->out->out;
    if (!row->file || (before && before->file && before->line == row->line && strcmp(before->file, row->file) == 0))
        return;
    const char *text = a->options->no_source ? NULL : source_line(a, row->file, row->line);
    if (!text)
        return;
    put_no_sums(a);
    out_text(out, ": ");
    out_u64(out, row->line);
    out_text(out, row->is_inlined ? " ~ " : "   ");
    put_source_text(a, text, 9 * (size_t)a->nr_events + 2 + digits_of(row->line) + 3);
}

static void put_row(struct annotate *a, const struct function_rows *rows, const struct arrows *arrows, size_t index) {
    struct output *out = &a->out->out;
    const struct annotate_row *row = function_row(rows, index);
    put_sums(a, rows, row);
    out_text(out, ":   ");
    out_hex(out, row->address, 1);
    out_text(out, ":");
    if (!a->options->plain)
        arrows_draw(arrows, index, out);
    else
        out_pad(out, 3);
    out_text(out, row->text);
    if (!a->options->plain && arrows_loop(arrows, index))
        out_text(out, "    # loop");
    out_char(out, '\n');
}

pfr_status annotate_text(struct annotate *a, const struct function_rows *rows, pfr_error *err) {
    struct arrows arrows;
    const pfr_status st = arrows_make(a, rows, &arrows, err);
    if (st == PFR_OK) {
        put_head(a, rows);
        put_no_sums(a);
        out_text(&a->out->out, ": ");
        out_hex(&a->out->out, rows->count ? function_row(rows, 0)->address : 0, 16);
        out_text(&a->out->out, " <");
        put_name(a, annotate_symbol_name(rows->symbol));
        out_text(&a->out->out, ">:\n");
    }
    for (size_t i = 0; i < rows->count && st == PFR_OK; i++) {
        put_source(a, function_row(rows, i), i ? function_row(rows, i - 1) : NULL);
        put_row(a, rows, &arrows, i);
    }
    out_char(&a->out->out, '\n');
    arrows_free(a, &arrows);
    return st;
}

/* --- By line. */

static int compare_files(const char *x, const char *y) {
    return x == y ? 0 : !x || !y ? 1 : strcmp(x, y);
}

static void put_line(struct annotate *a, const struct line_rows *lines, const struct listed_line *row,
                     const char *text) {
    struct output *out = &a->out->out;
    if (row->self)
        put_wide(out, share(row->self, lines->total));
    else
        out_pad(out, 8);
    if (row->total)
        put_wide(out, share(row->total, lines->total));
    else
        out_pad(out, 8);
    if (row->inlined) {
        out_text(out, "         |     > ");
        put_source_text(a, row->inlined, 32);
    } else {
        out_u64_wide(out, row->line, 8);
        out_text(out, " | ");
        put_source_text(a, text ? text : "", 27);
    }
}

/* Prints the source lines between two rows, so that the text is continuous. Prints "..." instead if there are many
   lines or the file was not found. */
static void put_gap(struct annotate *a, const struct line_rows *lines, const struct listed_line *from,
                    const struct listed_line *to) {
    if (compare_files(from->file, to->file) != 0 || to->line <= from->line + 1)
        return;
    if (to->line - from->line > GAP_MOST || !source_count(a, to->file)) {
        out_text(&a->out->out, "                     ... |\n");
        return;
    }
    for (uint32_t line = from->line + 1; line < to->line; line++)
        put_line(a, lines, &(struct listed_line){.file = to->file, .line = line}, source_line(a, to->file, line));
}

static void put_file(struct annotate *a, const char *file) {
    put_name(a, file ? file : "[no line information]");
    out_text(&a->out->out, ":\n");
}

static void put_weight(struct output *out, uint64_t weight, const char *unit) {
    char text[TEXT_TIME_SIZE];
    if (!unit || strcmp(unit, "ns") != 0) {
        out_u64(out, weight);
        return;
    }
    format_duration(text, weight);
    out_text(out, text);
}

static void put_lines_head(struct annotate *a, const struct line_rows *lines) {
    struct output *out = &a->out->out;
    const pfr_model_event *event = a->nr_events ? pfr_model_get_event(a->model, a->events[0]) : NULL;
    put_name(a, lines->function);
    out_text(out, ": self ");
    put_weight(out, lines->self, event ? event->unit : NULL);
    out_text(out, " (");
    out_u64(out, lines->samples);
    out_text(out, lines->samples == 1 ? " sample), total " : " samples), total ");
    put_weight(out, lines->total, event ? event->unit : NULL);
    out_text(out, " of ");
    put_name(a, event ? event->name : "");
    out_text(out, "; 100 % is the total\n   self%  total%    line | source\n");
}

void annotate_text_lines(struct annotate *a, const struct line_rows *lines) {
    struct output *out = &a->out->out;
    put_lines_head(a, lines);
    for (size_t i = 0; i < lines->count; i++) {
        const struct listed_line *row = &lines->at[i], *before = i ? row - 1 : NULL;
        if (!before || compare_files(before->file, row->file) != 0)
            put_file(a, row->file);
        else
            put_gap(a, lines, before, row);
        put_line(a, lines, row, source_line(a, row->file, row->line));
    }
    out_char(out, '\n');
}
