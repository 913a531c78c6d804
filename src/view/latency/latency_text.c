/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the text table: facts about the trace and notes as `#` lines, numbers aligned right, names last; on request, a
 * histogram below each row.
 */
#include "view/latency/latency_text.h"
#include "view/latency/latency_histogram.h"
#include "view/latency/latency_notes.h"
#include "view/latency/latency_rows.h"

#include "base/memory/fail.h"
#include "base/text/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CELL_ROOM TEXT_TIME_SIZE
#define BAR_WIDTH 40u

static void write_amount(const struct latency *l, char to[CELL_ROOM], uint64_t amount) {
    if (l->frequency)
        format_duration(to, amount);
    else
        snprintf(to, CELL_ROOM, "%" PRIu64, amount);
}

/* --- Columns. */

struct latency_column {
    const char *title;
    void (*write)(const struct latency *l, const struct latency_row *row, unsigned rank, char to[CELL_ROOM]);
    bool (*is_shown)(const struct latency *l); /* NULL: always shown */
    unsigned rank;
};

static void cell_count(const struct latency *l, const struct latency_row *row, unsigned rank, char to[CELL_ROOM]) {
    (void)l, (void)rank;
    snprintf(to, CELL_ROOM, "%" PRIu64, row->cost->count);
}

static void cell_sum(const struct latency *l, const struct latency_row *row, unsigned rank, char to[CELL_ROOM]) {
    (void)rank;
    write_amount(l, to, calls_sum_ns(row->cost->sum, l->frequency));
}

static void cell_self(const struct latency *l, const struct latency_row *row, unsigned rank, char to[CELL_ROOM]) {
    const int64_t self = calls_self_ns(row->cost->self, l->frequency);
    char size[CELL_ROOM];
    (void)rank;
    write_amount(l, size, self < 0 ? (uint64_t)-self : (uint64_t)self);
    snprintf(to, CELL_ROOM, "%s%.*s", self < 0 ? "-" : "", (int)CELL_ROOM - 2, size);
}

static void write_timed(const struct latency *l, const struct latency_row *row, uint64_t ticks, char to[CELL_ROOM]) {
    if (row->timed)
        write_amount(l, to, latency_shown(l, ticks));
    else
        snprintf(to, CELL_ROOM, "-");
}

static void cell_low(const struct latency *l, const struct latency_row *row, unsigned rank, char to[CELL_ROOM]) {
    (void)rank;
    write_timed(l, row, row->low, to);
}

static void cell_high(const struct latency *l, const struct latency_row *row, unsigned rank, char to[CELL_ROOM]) {
    (void)rank;
    write_timed(l, row, row->high, to);
}

static void cell_rank(const struct latency *l, const struct latency_row *row, unsigned rank, char to[CELL_ROOM]) {
    char exact[CELL_ROOM];
    write_timed(l, row, row->rank[rank], exact);
    snprintf(to, CELL_ROOM, "%s%.*s", row->timed && !row->exact ? "~" : "", (int)CELL_ROOM - 2, exact);
}

static void cell_open(const struct latency *l, const struct latency_row *row, unsigned rank, char to[CELL_ROOM]) {
    (void)l, (void)rank;
    snprintf(to, CELL_ROOM, "%" PRIu64, row->cost->open);
}

static void cell_lone(const struct latency *l, const struct latency_row *row, unsigned rank, char to[CELL_ROOM]) {
    (void)l, (void)rank;
    snprintf(to, CELL_ROOM, "%" PRIu64, row->cost->lone);
}

static void cell_thread(const struct latency *l, const struct latency_row *row, unsigned rank, char to[CELL_ROOM]) {
    const struct calls_thread *t = &row->key.thread;
    (void)l, (void)rank;
    if (!t->has_tid)
        snprintf(to, CELL_ROOM, "-");
    else if (t->has_pid)
        snprintf(to, CELL_ROOM, "%" PRIi32 "/%" PRIi32, t->pid, t->tid);
    else
        snprintf(to, CELL_ROOM, "%" PRIi32, t->tid);
}

static bool any_open(const struct latency *l) {
    return l->costs.totals.open > 0;
}

static bool any_lone(const struct latency *l) {
    return l->costs.totals.lone > 0;
}

static bool by_thread(const struct latency *l) {
    return l->options->by == PFR_LATENCY_BY_THREAD;
}

static const struct latency_column columns[] = {
    {"Count", cell_count, NULL, 0},        {"Sum", cell_sum, NULL, 0},
    {"Self", cell_self, NULL, 0},          {"Min", cell_low, NULL, 0},
    {"p50", cell_rank, NULL, 0},           {"p90", cell_rank, NULL, 1},
    {"p95", cell_rank, NULL, 2},           {"p99", cell_rank, NULL, 3},
    {"p99.9", cell_rank, NULL, 4},         {"Max", cell_high, NULL, 0},
    {"Open", cell_open, any_open, 0},      {"Lone", cell_lone, any_lone, 0},
    {"Thread", cell_thread, by_thread, 0},
};

#define COLUMNS (sizeof columns / sizeof *columns)

/* Column widths; 0: hidden. */
struct widths {
    size_t of[COLUMNS], names;
};

static size_t widest_cell(const struct latency *l, size_t column) {
    char cell[CELL_ROOM];
    size_t width = strlen(columns[column].title);
    for (size_t i = 0; i < l->shown; i++) {
        columns[column].write(l, &l->rows[i], columns[column].rank, cell);
        width = strlen(cell) > width ? strlen(cell) : width;
    }
    return width;
}

#define NAMES_LEAST 24u /* minimum columns for names */
static const char *const hidden_first[] = {"p95", "p99.9", "p90", "Min"};
#define HIDDEN_MOST (sizeof hidden_first / sizeof *hidden_first)

static size_t width_of_numbers(const struct widths *w) {
    size_t width = 0;
    for (size_t c = 0; c < COLUMNS; c++)
        width += w->of[c] ? w->of[c] + 2 : 0;
    return width + 2;
}

/* Returns how many columns of `hidden_first` do not fit the terminal. */
static size_t measure(const struct latency *l, unsigned terminal, struct widths *w) {
    size_t hidden = 0;
    for (size_t c = 0; c < COLUMNS; c++)
        w->of[c] = !columns[c].is_shown || columns[c].is_shown(l) ? widest_cell(l, c) : 0;
    for (; terminal && width_of_numbers(w) + NAMES_LEAST > terminal && hidden < HIDDEN_MOST; hidden++)
        for (size_t c = 0; c < COLUMNS; c++)
            if (strcmp(columns[c].title, hidden_first[hidden]) == 0)
                w->of[c] = 0;
    const size_t numbers = width_of_numbers(w);
    w->names = !terminal ? 0 : terminal > numbers + NAMES_LEAST ? terminal - numbers : NAMES_LEAST;
    return hidden;
}

/* --- Names. */

static void write_name(pfr_output *to, const struct latency_row *row, const struct function_name *name,
                       const char *none) {
    if (row->key.is_limit)
        out_text(&to->out, "[limit]");
    else if (name)
        print_name(to, name->text, name->length);
    else
        out_text(&to->out, none);
}

static void write_names(const struct latency *l, const struct latency_row *row, pfr_output *to) {
    if (l->options->by == PFR_LATENCY_BY_CALLER && !row->key.is_limit) {
        write_name(to, row, row->caller, "-");
        out_text(&to->out, " > ");
    }
    write_name(to, row, row->name, "");
    if (row->object && l->tells_objects) {
        out_text(&to->out, "  ");
        print_name(to, row->object, strlen(row->object));
    }
}

/* Prints only the base name of the file, as in reports. */
static void write_line(const struct latency_row *row, pfr_output *to) {
    const struct function_line *line = row->name ? &row->name->line : NULL;
    if (!line || !line->file)
        return;
    const char *const slash = strrchr(line->file, '/'), *const name = slash ? slash + 1 : line->file;
    out_text(&to->out, "  ");
    print_name(to, name, strlen(name));
    out_char(&to->out, ':');
    out_u64(&to->out, line->line);
}

/* --- The table. */

static void write_heading(const struct latency *l, const struct widths *w, pfr_output *to) {
    out_char(&to->out, '#');
    for (size_t c = 0; c < COLUMNS; c++)
        if (w->of[c])
            out_text_wide(&to->out, columns[c].title, strlen(columns[c].title), w->of[c] + (c ? 2 : 1));
    out_text(&to->out, l->options->by == PFR_LATENCY_BY_CALLER ? "  Caller > Function\n#" : "  Function\n#");
    for (size_t c = 0; c < COLUMNS; c++)
        if (w->of[c]) {
            out_pad(&to->out, c ? 2 : 1);
            out_fill(&to->out, '.', w->of[c]);
        }
    out_text(&to->out, "  ........\n#\n");
}

/* Formats names and line in `cell`, because they may have to be shortened. */
static void write_last_cell(const struct latency *l, const struct latency_row *row, const struct widths *w,
                            pfr_output *cell, pfr_output *to) {
    size_t length;
    if (!w->names) {
        write_names(l, row, to);
        write_line(row, to);
        return;
    }
    out_clear(&cell->out);
    write_names(l, row, cell);
    write_line(row, cell);
    const char *const bytes = out_bytes(&cell->out, &length);
    if (length)
        out_text_within(&to->out, bytes, length, w->names);
}

static void write_row(const struct latency *l, const struct latency_row *row, const struct widths *w, pfr_output *names,
                      pfr_output *to) {
    char cell[CELL_ROOM];
    for (size_t c = 0; c < COLUMNS; c++) {
        if (!w->of[c])
            continue;
        columns[c].write(l, row, columns[c].rank, cell);
        out_text_wide(&to->out, cell, strlen(cell), w->of[c] + 2);
    }
    out_pad(&to->out, 2);
    write_last_cell(l, row, w, names, to);
    out_char(&to->out, '\n');
}

static void write_hidden(size_t hidden, pfr_output *to) {
    if (hidden == 0)
        return;
    out_text(&to->out, "# columns omitted: ");
    for (size_t i = 0; i < hidden; i++) {
        out_text(&to->out, i ? ", " : "");
        out_text(&to->out, hidden_first[i]);
    }
    out_text(&to->out, "; --format=csv prints all\n");
}

static pfr_status write_rows(const struct latency *l, const struct widths *w, pfr_output *to, pfr_error *err) {
    pfr_output names = {.raw_names = to->raw_names};
    out_open_memory(&names.out, l->memory);
    for (size_t i = 0; i < l->shown; i++)
        write_row(l, &l->rows[i], w, &names, to);
    const pfr_status st = names.out.status < 0 ? mem_fail(l->memory, err, "latency") : PFR_OK;
    out_close(&names.out, NULL);
    return st;
}

/* --- Notes above the table. */

static void write_number(pfr_output *to, uint64_t number, const char *one, const char *more) {
    out_u64(&to->out, number);
    out_text(&to->out, number == 1 ? one : more);
}

static void write_threads(pfr_output *to, uint64_t threads) {
    out_text(&to->out, " in ");
    write_number(to, threads, " thread", " threads");
}

static void write_version(const pfr_header *header, pfr_output *to) {
    out_text(&to->out, ", version ");
    out_text(&to->out, header->format == PFR_XRAY_PROFILE ? "0x" : "");
    if (header->format == PFR_XRAY_PROFILE)
        out_hex(&to->out, header->version, 1);
    else
        out_u64(&to->out, header->version);
}

static void write_totals(const struct latency *l, pfr_output *to) {
    const pfr_header *header = &l->reader->header;
    const struct calls_totals *t = &l->costs.totals;
    char span[CELL_ROOM];
    out_text(&to->out, "# ");
    out_text(&to->out, latency_kind(l));
    if (!l->reader->stored)
        write_version(header, to);
    if (header->cycle_frequency) {
        out_text(&to->out, ", ");
        write_number(to, header->cycle_frequency, " tick a second", " ticks a second");
    }
    out_text(&to->out, "\n# ");
    write_number(to, t->calls, " call", " calls");
    if (!l->reader->stored)
        write_threads(to, t->threads);
    if (t->first <= t->last) {
        write_amount(l, span, latency_shown(l, t->last - t->first));
        out_text(&to->out, ", ");
        out_text(&to->out, span);
        out_text(&to->out, l->frequency ? " from first to last" : " ticks from first to last");
    }
    out_char(&to->out, '\n');
}

static void write_notes(const struct latency *l, pfr_output *to) {
    char text[LATENCY_NOTE_ROOM];
    for (unsigned i = 0; latency_note(l, i, text); i++) {
        out_text(&to->out, "# ");
        out_text(&to->out, text);
        out_char(&to->out, '\n');
    }
}

/* --- Histograms. */

static void write_bin(const struct latency *l, const struct latency_histogram *h, const struct latency_bin *bin,
                      uint64_t total, pfr_output *to) {
    char from[CELL_ROOM], until[CELL_ROOM];
    const size_t bar = (size_t)(((unsigned __int128)bin->count * BAR_WIDTH + h->most - 1) / h->most);
    write_amount(l, from, bin->from);
    write_amount(l, until, bin->to);
    const size_t width = l->frequency ? 9 : 20;
    out_text_wide(&to->out, from, strlen(from), width);
    out_text(&to->out, " -");
    out_text_wide(&to->out, until, strlen(until), width);
    out_u64_wide(&to->out, bin->count, 12);
    char share[CELL_ROOM];
    snprintf(share, sizeof share, "%.2f%%", 100.0 * (double)bin->count / (double)total);
    out_text_wide(&to->out, share, strlen(share), 9);
    out_text(&to->out, bar ? "  " : "");
    out_fill(&to->out, '#', bar);
    out_char(&to->out, '\n');
}

static pfr_status write_histogram(const struct latency *l, const struct latency_row *row, pfr_output *to,
                                  pfr_error *err) {
    struct latency_histogram h;
    char thread[CELL_ROOM];
    if (!row->timed)
        return PFR_OK;
    PFR_TRY(latency_histogram_make(l, row, &h, err));
    out_text(&to->out, "\n# ");
    if (by_thread(l)) {
        cell_thread(l, row, 0, thread);
        out_text(&to->out, thread);
        out_char(&to->out, ' ');
    }
    write_names(l, row, to);
    out_text(&to->out, ": ");
    write_number(to, row->cost->count, " call\n", " calls\n");
    for (unsigned i = 0; i < h.count; i++)
        write_bin(l, &h, &h.bins[i], row->cost->count, to);
    return PFR_OK;
}

pfr_status latency_write_text(const struct latency *l, pfr_output *to, pfr_error *err) {
    struct widths w;
    const size_t hidden = measure(l, to->columns, &w);
    write_totals(l, to);
    write_notes(l, to);
    write_hidden(hidden, to);
    out_text(&to->out, "#\n");
    write_heading(l, &w, to);
    PFR_TRY(write_rows(l, &w, to, err));
    for (size_t i = 0; i < l->shown && l->options->histogram; i++)
        PFR_TRY(write_histogram(l, &l->rows[i], to, err));
    return PFR_OK;
}
