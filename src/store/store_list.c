/* SPDX-License-Identifier: Apache-2.0 */
/* Prints uploads and answers of SQL as text, CSV and JSON lines. */
#include "store/store_list.h"

#include "base/text/escape.h"
#include "base/text/json.h"
#include "store/store_where.h"
#include "store/store_where_time.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- A row. */

static void print_cells(const struct store_printer *p, uint32_t columns, const struct store_text *const *values,
                        const char *const *names) {
    struct output *out = &p->out->out;
    for (uint32_t i = 0; i < columns; i++) {
        const struct store_text name = {names[i], strlen(names[i])};
        const struct store_text *const cell = values ? values[i] : &name;
        if (i)
            out_char(out, p->format == PFR_STORE_CSV ? ',' : '\t');
        if (cell && p->format == PFR_STORE_CSV)
            out_csv_field(out, cell->bytes, cell->length);
        else if (cell)
            print_name(p->out, cell->bytes, cell->length);
    }
    out_char(out, '\n');
}

static void print_json(const struct store_printer *p, uint32_t columns, const struct store_text *const *values,
                       const char *const *names) {
    struct json json = json_on(&p->out->out, JSON_LINE);
    if (p->named)
        json_begin_object(&json);
    else
        json_begin_array(&json);
    for (uint32_t i = 0; i < columns; i++) {
        if (p->named)
            json_key(&json, names[i]);
        if (!values)
            json_text(&json, names[i]);
        else if (values[i])
            json_string(&json, values[i]->bytes, values[i]->length);
        else
            json_null(&json);
    }
    if (p->named)
        json_end_object(&json);
    else
        json_end_array(&json);
    json_end_line(&json);
}

void store_print_row(const struct store_printer *p, uint32_t columns, const struct store_text *const *values,
                     const char *const *names) {
    if (p->format != PFR_STORE_JSON)
        print_cells(p, columns, values, names);
    else if (values || !p->named)
        print_json(p, columns, values, names);
}

/* --- Uploads. */

enum upload_cell {
    UPLOAD_ID,
    UPLOAD_KIND,
    UPLOAD_SERVICE,
    UPLOAD_VERSION,
    UPLOAD_HOST,
    UPLOAD_FIRST,
    UPLOAD_LAST,
    UPLOAD_CLOCK,
    UPLOAD_SAMPLES,
    UPLOAD_ROWS,
    UPLOAD_LOST,
    UPLOAD_HOLES,
    UPLOAD_SLOT,
    UPLOAD_PUSHED,
    UPLOAD_CELLS
};

static const char *const headings[UPLOAD_CELLS] = {"upload", "kind",  "service", "version", "host",
                                                   "first",  "last",  "clock",   "samples", "rows",
                                                   "lost",   "holes", "slot_ms", "pushed"};

/* The texts of an upload, and buffers for the texts of its numbers and times. */
struct upload_cells {
    const char *at[UPLOAD_CELLS];
    char times[3][WHERE_TIME_ROOM], numbers[5][24];
};

static void fill_cells(struct upload_cells *c, const struct store_upload *u) {
    const uint64_t counts[] = {u->samples, u->rows, u->lost, u->holes, u->slot / 1000000};
    where_time_write(u->first, c->times[0]);
    where_time_write(u->last, c->times[1]);
    where_time_write(u->pushed, c->times[2]);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        snprintf(c->numbers[i], sizeof c->numbers[i], "%" PRIu64, counts[i]);
    const char *const cells[UPLOAD_CELLS] = {
        [UPLOAD_ID] = u->content,      [UPLOAD_KIND] = u->kind,       [UPLOAD_SERVICE] = u->service,
        [UPLOAD_VERSION] = u->version, [UPLOAD_HOST] = u->host,       [UPLOAD_FIRST] = c->times[0],
        [UPLOAD_LAST] = c->times[1],   [UPLOAD_CLOCK] = u->clock,     [UPLOAD_SAMPLES] = c->numbers[0],
        [UPLOAD_ROWS] = c->numbers[1], [UPLOAD_LOST] = c->numbers[2], [UPLOAD_HOLES] = c->numbers[3],
        [UPLOAD_SLOT] = c->numbers[4], [UPLOAD_PUSHED] = c->times[2],
    };
    memcpy(c->at, cells, sizeof cells);
}

static void print_upload(const struct store_printer *p, const struct store_upload *u) {
    struct upload_cells cells;
    struct store_text texts[UPLOAD_CELLS];
    const struct store_text *at[UPLOAD_CELLS];
    fill_cells(&cells, u);
    for (uint32_t i = 0; i < UPLOAD_CELLS; i++) {
        texts[i] = (struct store_text){cells.at[i], strlen(cells.at[i])};
        at[i] = &texts[i];
    }
    store_print_row(p, UPLOAD_CELLS, at, headings);
}

/* --- Uploads on a terminal. */

#define GAP 2u
#define LABEL_LEAST 8u /* minimum width of a shortened label */

/* Columns that are left out first if the terminal is narrow. */
static const enum upload_cell hidden_first[] = {UPLOAD_SLOT, UPLOAD_CLOCK,  UPLOAD_HOLES, UPLOAD_LOST,   UPLOAD_ROWS,
                                                UPLOAD_LAST, UPLOAD_PUSHED, UPLOAD_KIND,  UPLOAD_SAMPLES};
#define HIDDEN_MOST (sizeof hidden_first / sizeof *hidden_first)

struct upload_widths {
    size_t of[UPLOAD_CELLS]; /* width of each column; 0: the column is left out */
    size_t hidden;           /* columns of hidden_first that are left out */
};

static size_t width_of(const struct upload_widths *w) {
    size_t width = 0;
    for (unsigned i = 0; i < UPLOAD_CELLS; i++)
        width += w->of[i] ? w->of[i] + (width ? GAP : 0) : 0;
    return width;
}

static void shorten_labels(struct upload_widths *w, size_t columns) {
    static const enum upload_cell labels[] = {UPLOAD_SERVICE, UPLOAD_VERSION, UPLOAD_HOST};
    for (size_t width = width_of(w); width > columns; width--) {
        enum upload_cell widest = labels[0];
        for (size_t i = 1; i < sizeof labels / sizeof *labels; i++)
            widest = w->of[labels[i]] > w->of[widest] ? labels[i] : widest;
        if (w->of[widest] <= LABEL_LEAST)
            return;
        w->of[widest]--;
    }
}

/* Hides columns until the labels have at least their minimum width. */
static void fit(struct upload_widths *w, size_t columns) {
    for (;;) {
        struct upload_widths shortened = *w;
        shorten_labels(&shortened, columns);
        if (width_of(&shortened) <= columns || w->hidden == HIDDEN_MOST) {
            *w = shortened;
            return;
        }
        w->of[hidden_first[w->hidden++]] = 0;
    }
}

static void measure(struct upload_widths *w, const char *const *texts) {
    for (unsigned i = 0; i < UPLOAD_CELLS; i++) {
        const size_t width = text_width(texts[i], strlen(texts[i]));
        w->of[i] = width > w->of[i] ? width : w->of[i];
    }
}

static void print_aligned(pfr_output *to, const struct upload_widths *w, const char *const *texts) {
    size_t pad = 0;
    for (unsigned i = 0; i < UPLOAD_CELLS; i++) {
        const size_t width = text_width(texts[i], strlen(texts[i])), room = w->of[i];
        if (!room)
            continue;
        out_pad(&to->out, pad);
        print_name_in(to, texts[i], strlen(texts[i]), room);
        pad = GAP + (room > width ? room - width : 0);
    }
    out_char(&to->out, '\n');
}

static void print_table(pfr_output *out, const struct where *where, const struct store_uploads *all) {
    struct upload_widths widths = {.hidden = 0};
    struct upload_cells cells;
    measure(&widths, headings);
    for (size_t i = 0; i < all->count; i++)
        if (where_of_upload(where, &all->at[i]) != WHERE_NO) {
            fill_cells(&cells, &all->at[i]);
            measure(&widths, cells.at);
        }
    fit(&widths, out->columns);
    print_aligned(out, &widths, headings);
    for (size_t i = 0; i < all->count; i++)
        if (where_of_upload(where, &all->at[i]) != WHERE_NO) {
            fill_cells(&cells, &all->at[i]);
            print_aligned(out, &widths, cells.at);
        }
    for (size_t i = 0; i < widths.hidden; i++) {
        out_text(&out->out, i ? ", " : "# omitted: ");
        out_text(&out->out, headings[hidden_first[i]]);
    }
    out_text(&out->out, widths.hidden ? "\n# --format=csv prints all\n" : "");
}

/* --- All uploads. */

static void print_lines(const struct store_printer *p, const struct where *where, const struct store_uploads *all) {
    store_print_row(p, UPLOAD_CELLS, NULL, headings);
    for (size_t i = 0; i < all->count; i++)
        if (where_of_upload(where, &all->at[i]) != WHERE_NO)
            print_upload(p, &all->at[i]);
}

pfr_status pfr_store_list(pfr_store *store, const char *where, pfr_store_format format, pfr_output *out,
                          pfr_error *err) {
    const struct store_printer p = {out, format, true};
    struct store_uploads all = {.count = 0};
    struct where w;
    PFR_TRY(where_parse(&w, where, store_now(store), err));
    const pfr_status st = store_uploads_load(store, &store->memory, &w, &all, err);
    if (st >= 0 && format == PFR_STORE_TEXT && out->columns)
        print_table(out, &w, &all);
    else if (st >= 0)
        print_lines(&p, &w, &all);
    store_uploads_free(&all);
    return st;
}

/* --- SQL. */

static pfr_status take_row(void *context, uint32_t columns, const struct store_text *const *values,
                           const char *const *names, pfr_error *err) {
    (void)err;
    store_print_row(context, columns, values, names);
    return PFR_OK;
}

pfr_status pfr_store_sql(pfr_store *store, const char *query, pfr_store_format format, pfr_output *out,
                         pfr_error *err) {
    struct store_printer p = {out, format, false};
    return store->engine->sql(store->handle, query, take_row, &p, err);
}
