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

#define CELLS 14u

static const char *const headings[CELLS] = {"upload", "kind",    "service", "version", "host",  "first",   "last",
                                            "clock",  "samples", "rows",    "lost",    "holes", "slot_ms", "pushed"};

static void print_upload(const struct store_printer *p, const struct store_upload *u) {
    char first[WHERE_TIME_ROOM], last[WHERE_TIME_ROOM], pushed[WHERE_TIME_ROOM], numbers[5][24];
    const uint64_t counts[] = {u->samples, u->rows, u->lost, u->holes, u->slot / 1000000};
    where_time_write(u->first, first);
    where_time_write(u->last, last);
    where_time_write(u->pushed, pushed);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        snprintf(numbers[i], sizeof numbers[i], "%" PRIu64, counts[i]);
    const char *const cells[CELLS] = {u->content, u->kind,    u->service, u->version, u->host,    first,      last,
                                      u->clock,   numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], pushed};
    struct store_text texts[CELLS];
    const struct store_text *at[CELLS];
    for (uint32_t i = 0; i < CELLS; i++) {
        texts[i] = (struct store_text){cells[i], strlen(cells[i])};
        at[i] = &texts[i];
    }
    store_print_row(p, CELLS, at, headings);
}

pfr_status pfr_store_list(pfr_store *store, const char *where, pfr_store_format format, pfr_output *out,
                          pfr_error *err) {
    const struct store_printer p = {out, format, true};
    struct store_uploads all = {.count = 0};
    struct where w;
    PFR_TRY(where_parse(&w, where, store_now(store), err));
    const pfr_status st = store_uploads_load(store, &store->memory, &all, err);
    if (st >= 0)
        store_print_row(&p, CELLS, NULL, headings);
    for (size_t i = 0; st >= 0 && i < all.count; i++)
        if (where_of_upload(&w, &all.at[i]) != WHERE_NO)
            print_upload(&p, &all.at[i]);
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
