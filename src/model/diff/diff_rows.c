/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assigns rows: functions of both sides with the same object and plain name are one row. Addresses without a name are
 * one row per object, because addresses of two builds cannot be compared.
 */
#include "model/diff/diff_rows.h"
#include "model/diff/diff_names.h"

#include <inttypes.h>
#include <stdio.h>

#define KEY_ROOM 65536u /* longer names are cut */

const char *diff_same_name(const pfr_diff *d, const char *name) {
    const char *const *same = d->options.same;
    for (size_t i = 0; same && same[i] && same[i + 1]; i += 2)
        if (strcmp(same[i], name) == 0)
            return same[i + 1];
    return name;
}

static pfr_status put_row(pfr_diff *d, const char *object, const char *symbol, uint32_t *row, pfr_error *err) {
    char key[2 * KEY_ROOM];
    const size_t part = strnlen(object, KEY_ROOM - 1);
    memcpy(key, object, part);
    key[part] = '\0';
    const size_t length = part + 1 + strnlen(symbol, KEY_ROOM - 1);
    memcpy(key + part + 1, symbol, length - part - 1);
    return intern_put(&d->names, key, length, row, err);
}

/* Replaces a name of the base side, if options.same lists it, by the name on the new side. */
static const char *as_new(const pfr_diff *d, bool is_base, const char *name) {
    return is_base ? diff_same_name(d, name) : name;
}

static pfr_status put_symbol(pfr_diff *d, const pfr_model *m, uint32_t id, bool is_base, uint32_t *row,
                             pfr_error *err) {
    char plain[KEY_ROOM];
    const pfr_model_symbol *s = pfr_model_get_symbol(m, id);
    const char *object = as_new(d, is_base, pfr_model_get_object(m, s->object)->name);
    if (d->options.by == PFR_DIFF_BY_OBJECT)
        return put_row(d, object, object, row, err);
    if (s->name)
        diff_plain_name(s->name, plain, sizeof plain);
    return put_row(d, object, s->name ? as_new(d, is_base, plain) : "[unknown]", row, err);
}

static pfr_status put_frame(pfr_diff *d, const pfr_model *m, uint32_t id, bool is_base, uint32_t *row, pfr_error *err) {
    char line[KEY_ROOM];
    const pfr_model_frame *f = pfr_model_get_frame(m, id);
    const char *object = as_new(d, is_base, pfr_model_get_object(m, f->object)->name);
    if (!f->file)
        return put_row(d, object, "[unknown]", row, err);
    if (snprintf(line, sizeof line, "%s:%" PRIu32, f->file, f->line) >= (int)sizeof line)
        line[sizeof line - 2] = '~';
    return put_row(d, object, line, row, err);
}

static pfr_status put_id(pfr_diff *d, const pfr_model *m, uint32_t id, bool is_base, uint32_t *row, pfr_error *err) {
    switch (d->options.by) {
    case PFR_DIFF_BY_LINE:
        return put_frame(d, m, id, is_base, row, err);
    case PFR_DIFF_BY_THREAD:
        return put_row(d, "", as_new(d, is_base, pfr_model_get_comm(m, id)), row, err);
    case PFR_DIFF_BY_EVENT:
        return put_row(d, "", pfr_model_get_event(m, id)->name, row, err);
    default:
        return put_symbol(d, m, id, is_base, row, err);
    }
}

static pfr_table table_of(const pfr_diff *d) {
    static const pfr_table tables[] = {[PFR_DIFF_BY_SYMBOL] = PFR_TABLE_SYMBOL,
                                       [PFR_DIFF_BY_OBJECT] = PFR_TABLE_SYMBOL,
                                       [PFR_DIFF_BY_LINE] = PFR_TABLE_FRAME,
                                       [PFR_DIFF_BY_THREAD] = PFR_TABLE_COMM,
                                       [PFR_DIFF_BY_EVENT] = PFR_TABLE_EVENT};
    return tables[d->options.by];
}

static pfr_status map_series(pfr_diff *d, struct diff_series *s, bool is_base, pfr_error *err) {
    s->nr_ids = pfr_model_count(s->run.model, table_of(d));
    s->row_of = mem_alloc(&d->memory, (size_t)s->nr_ids + 1, sizeof *s->row_of);
    if (!s->row_of)
        return mem_fail(&d->memory, err, "rows");
    PFR_TRY(put_row(d, "[unknown]", "[unknown]", &s->row_of[0], err));
    for (uint32_t id = 1; id <= s->nr_ids; id++)
        PFR_TRY(put_id(d, s->run.model, id, is_base, &s->row_of[id], err));
    return PFR_OK;
}

pfr_status diff_rows_make(pfr_diff *d, pfr_error *err) {
    for (unsigned side = 0; side < 2; side++)
        for (uint32_t i = 0; i < d->sides[side].count; i++)
            PFR_TRY(map_series(d, &d->sides[side].runs[i], side == DIFF_BASE, err));
    d->nr_names = d->names.count;
    d->keys = mem_alloc(&d->memory, d->nr_names, sizeof *d->keys);
    if (!d->keys)
        return mem_fail(&d->memory, err, "rows");
    for (uint32_t row = 0; row < d->nr_names; row++) {
        d->keys[row].object = intern_chars(&d->names, row);
        d->keys[row].symbol = d->keys[row].object + strlen(d->keys[row].object) + 1;
    }
    return PFR_OK;
}
