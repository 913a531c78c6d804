/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of perf diff, from the first recording of each side. Entries are matched by the text of their keys. All
 * unnamed addresses of an object are one entry, named after the lowest of them.
 */
#include "view/diff/diff_perf.h"

#include "base/text/escape.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- Columns. */

struct perf_column {
    const char *title;
    unsigned width;
    enum perf_column_kind kind;
};

static const char *const compute_titles[] = {"Delta Abs", "Delta", "Ratio", "Weighted diff"};
static const unsigned compute_widths[] = {9, 7, 14, 14};
#define FORMULA_WIDTH 70u
#define PERIOD_WIDTH 14u

static unsigned list_columns(const struct perf_table *t, const pfr_diff_print_options *o, struct perf_column *columns) {
    unsigned count = 0;
    columns[count++] = (struct perf_column){"Baseline", 8, PERF_BASELINE};
    if (o->period)
        columns[count++] = (struct perf_column){"Base period", PERIOD_WIDTH, PERF_BASE_PERIOD};
    columns[count++] = (struct perf_column){compute_titles[t->compute], compute_widths[t->compute], PERF_COMPUTED};
    if (o->formula)
        columns[count++] = (struct perf_column){"Formula", FORMULA_WIDTH, PERF_FORMULA};
    if (o->period)
        columns[count++] = (struct perf_column){"Period", PERIOD_WIDTH, PERF_PERIOD};
    return count;
}

/* --- Cells of numbers. */

static double share(uint64_t period, uint64_t total) {
    return total ? 100.0 * (double)period / (double)total : 0;
}

static int put_computed(const struct perf_table *t, const struct perf_entry *e, char *to, size_t room) {
    if (!e->has[1])
        return 0;
    switch (t->compute) {
    case PERF_RATIO:
        return e->has[0] ? snprintf(to, room, "%14.6F", e->computed) : snprintf(to, room, "%14s", "N/A");
    case PERF_WDIFF:
        return e->has[0] ? snprintf(to, room, "%14" PRId64, (int64_t)e->computed) : snprintf(to, room, "%14s", "N/A");
    default:
        return snprintf(to, room, "%+4.2F%%", e->computed);
    }
}

static int put_formula(const struct perf_table *t, const struct perf_entry *e, char *to, size_t room) {
    const uint64_t base = e->period[0], changed = e->period[1];
    if (!e->has[1])
        return 0;
    if (t->compute == PERF_RATIO)
        return snprintf(to, room, "%.0F / %.0F", (double)changed, (double)base);
    if (t->compute == PERF_WDIFF)
        return snprintf(to, room, "(%" PRIu64 " * %" PRId64 ") - (%" PRIu64 " * %" PRId64 ")", changed, t->weights[1],
                        base, t->weights[0]);
    return snprintf(to, room, "(%" PRIu64 " * 100 / %" PRIu64 ") - (%" PRIu64 " * 100 / %" PRIu64 ")", changed,
                    t->total[1], base, t->total[0]);
}

static int put_number(const struct perf_table *t, const struct perf_entry *e, enum perf_column_kind kind, char *to,
                      size_t room) {
    switch (kind) {
    case PERF_BASELINE:
        return e->has[0] ? snprintf(to, room, t->separator ? "%.2f" : "%.2f%%", share(e->period[0], t->total[0])) : 0;
    case PERF_BASE_PERIOD:
        return snprintf(to, room, "%" PRIu64, e->period[0]);
    case PERF_PERIOD:
        return e->has[1] ? snprintf(to, room, "%" PRIu64, e->period[1]) : 0;
    case PERF_COMPUTED:
        return put_computed(t, e, to, room);
    case PERF_FORMULA:
        return put_formula(t, e, to, room);
    }
    return 0;
}

/* Writes a right-aligned cell; if there is a separator, a left-aligned one. */
static void put_cell(const struct perf_table *t, const struct perf_entry *e, const struct perf_column *column,
                     struct output *to) {
    char text[256];
    const int length = put_number(t, e, column->kind, text, sizeof text);
    const char *at = text;
    size_t left = length > 0 ? (size_t)length : 0;
    while (t->separator && left && *at == ' ') {
        at++;
        left--;
    }
    if (!t->separator)
        out_text_wide(to, at, left, column->width);
    else
        out_write(to, at, left);
    if (t->separator && left < column->width)
        out_pad(to, column->width - left);
}

/* --- Cells of keys. */

/* Writes a name, in which the separator is replaced by a dot. */
static void put_name(const struct perf_table *t, const char *name, struct output *to) {
    struct output escaped;
    size_t length;
    if (!t->separator) {
        out_name(to, name);
        return;
    }
    out_open_memory(&escaped, t->memory);
    out_name(&escaped, name);
    const char *at = out_bytes(&escaped, &length);
    for (size_t i = 0; i < length; i++)
        out_char(to, strchr(t->separator, at[i]) ? '.' : at[i]);
    out_close(&escaped, NULL);
}

static void put_key(const struct perf_table *t, const struct perf_entry *e, unsigned k, struct output *to) {
    const uint64_t before = out_written(to);
    if (t->keys[k] == PERF_SYMBOL) {
        out_char(to, '[');
        out_char(to, e->level);
        out_text(to, "] ");
        if (!e->texts[k][0]) {
            out_text(to, "0x");
            out_hex(to, e->address, 16);
        }
    }
    put_name(t, e->texts[k], to);
    const size_t width = (size_t)(out_written(to) - before);
    const bool pads = k + 1 < t->nr_keys || t->keys[k] != PERF_SYMBOL;
    if (pads && width < t->widths[k])
        out_pad(to, t->widths[k] - width);
}

/* --- Lines. */

static const char *const key_titles[] = {"Command", "Shared Object", "Symbol", "    Pid:Command"};

static void put_between(const struct perf_table *t, struct output *to) {
    out_text(to, t->separator ? t->separator : "  ");
}

static void put_titles(const struct perf_table *t, const struct perf_column *columns, unsigned count,
                       struct output *to) {
    out_text(to, "# ");
    for (unsigned i = 0; i < count; i++) {
        out_text_wide(to, columns[i].title, strlen(columns[i].title), columns[i].width);
        put_between(t, to);
    }
    for (unsigned k = 0; k < t->nr_keys; k++) {
        const char *title = key_titles[t->keys[k]];
        out_text(to, title);
        out_pad(to, t->widths[k] - strlen(title));
        if (k + 1 < t->nr_keys)
            put_between(t, to);
    }
    out_char(to, '\n');
}

static void put_dots(const struct perf_table *t, const struct perf_column *columns, unsigned count, struct output *to) {
    out_text(to, "# ");
    for (unsigned i = 0; i < count; i++) {
        out_fill(to, '.', columns[i].width);
        out_text(to, "  ");
    }
    for (unsigned k = 0; k < t->nr_keys; k++) {
        out_fill(to, '.', t->widths[k]);
        out_text(to, k + 1 < t->nr_keys ? "  " : "\n#\n");
    }
}

static void put_entry(const struct perf_table *t, const struct perf_column *columns, unsigned count,
                      const struct perf_entry *e, struct output *to) {
    if (!t->separator)
        out_text(to, "  ");
    for (unsigned i = 0; i < count; i++) {
        put_cell(t, e, &columns[i], to);
        put_between(t, to);
    }
    for (unsigned k = 0; k < t->nr_keys; k++) {
        put_key(t, e, k, to);
        if (k + 1 < t->nr_keys)
            put_between(t, to);
    }
    out_char(to, '\n');
}

static void put_table(const struct perf_table *t, const struct diff_print *print, const char *event) {
    struct perf_column columns[8];
    struct output *to = print->to;
    const unsigned count = list_columns(t, &print->o, columns);
    out_text(to, "# Event '");
    out_name(to, event);
    out_text(to, "'\n#\n");
    put_titles(t, columns, count, to);
    if (!t->separator)
        put_dots(t, columns, count, to);
    for (uint32_t i = 0; i < t->count; i++)
        put_entry(t, columns, count, &t->entries[i], to);
}

static bool is_same_event(const struct diff_series *base, uint32_t id, const struct diff_series *other, uint32_t to) {
    const pfr_event *a = base->run.reader ? pfr_get_event(base->run.reader, id - 1) : NULL;
    const pfr_event *b = other->run.reader ? pfr_get_event(other->run.reader, to - 1) : NULL;
    if (a && b)
        return a->attr.type == b->attr.type && a->attr.config == b->attr.config;
    return strcmp(pfr_model_get_event(base->run.model, id)->name, pfr_model_get_event(other->run.model, to)->name) == 0;
}

/* Finds the new side's event that counts the same; modifiers may differ. 0: there is no such event. */
static uint32_t event_of(const struct diff_print *print, uint32_t id) {
    const struct diff_series *base = &print->d->sides[DIFF_BASE].runs[0], *other = &print->d->sides[DIFF_NEW].runs[0];
    for (uint32_t to = 1; to <= pfr_model_count(other->run.model, PFR_TABLE_EVENT); to++)
        if (is_same_event(base, id, other, to))
            return to;
    return 0;
}

static pfr_status print_event(const struct diff_print *print, uint32_t id, pfr_error *err) {
    const pfr_model *base = print->d->sides[DIFF_BASE].runs[0].run.model;
    const char *name = pfr_model_get_event(base, id)->name;
    const uint32_t events[2] = {id, event_of(print, id)};
    struct perf_table table;
    const pfr_status st = perf_table_make(&table, print, events, err);
    if (st >= 0)
        put_table(&table, print, name);
    perf_table_free(&table);
    return st;
}

/* Prints one table for each event of the base, or only for the chosen event. */
pfr_status diff_print_perf(const struct diff_print *print, pfr_error *err) {
    const struct diff_series *base = &print->d->sides[DIFF_BASE].runs[0];
    if (print->d->options.event)
        return print_event(print, base->event, err);
    for (uint32_t id = 1; id <= pfr_model_count(base->run.model, PFR_TABLE_EVENT); id++) {
        if (id > 1)
            out_char(print->to, '\n');
        PFR_TRY(print_event(print, id, err));
    }
    return PFR_OK;
}
