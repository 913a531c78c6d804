/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of layouts: see layout_columns.h. */
#include "sql/layout_columns.h"

#include <stdio.h>

#define NAME_MOST 128u

static bool is_column(const struct field *f) {
    return f->show != SHOW_IMPLIED && !(f->show == SHOW_NONE && field_is_word(f));
}

static unsigned width_of_field(const struct field *f);

static unsigned width_of_layout(unsigned layout) {
    unsigned width = 0;
    for (const struct field *f = layout_at(layout)->fields(); f->name; f++)
        width += width_of_field(f);
    return width;
}

static unsigned width_of_field(const struct field *f) {
    if (!is_column(f))
        return 0;
    return f->kind == K_SUB ? width_of_layout(f->of) : 1;
}

static const char *type_of(const struct field *f) {
    switch ((enum field_kind)f->kind) {
    case K_RAW:
    case K_BYTES:
    case K_REST:
    case K_PAD:
        return f->show == SHOW_TEXT ? "TEXT" : "BLOB";
    case K_TEXT:
    case K_STR32:
    case K_A64:
    case K_ARRAY:
    case K_WHILE:
    case K_CHOICE:
        return "TEXT";
    default:
        return f->show == SHOW_DOUBLE ? "REAL" : "INTEGER";
    }
}

/* Names the columns of a layout, beginning with *at; false: out of memory. */
static bool name_columns(unsigned layout, const char *prefix, struct arena *arena, struct layout_column **at) {
    char name[NAME_MOST];
    for (const struct field *f = layout_at(layout)->fields(); f->name; f++) {
        if (!is_column(f))
            continue;
        const int length = snprintf(name, sizeof name, "%s%s", prefix, f->name);
        if (f->kind == K_SUB) {
            snprintf(name + length, sizeof name - (size_t)length, "_");
            if (!name_columns(f->of, name, arena, at))
                return false;
            continue;
        }
        const char *kept = arena_text(arena, name, (size_t)length);
        if (!kept)
            return false;
        *(*at)++ = (struct layout_column){kept, type_of(f), f->show == SHOW_NONE};
    }
    return true;
}

static bool is_record(unsigned layout) {
    const unsigned table = layout_at(layout)->id >> 24;
    return table == TABLE_PERF_RECORD || table == TABLE_TRACE_RECORD || layout == L_sample_id;
}

static pfr_status name_layout(struct layout_columns *to, unsigned layout, struct arena *arena, pfr_error *err) {
    to->count[layout] = (uint16_t)width_of_layout(layout);
    if (!is_record(layout))
        return PFR_OK;
    struct layout_column *at = arena_zeroed(arena, to->count[layout] + 1u, sizeof *at);
    to->columns[layout] = at;
    return at && name_columns(layout, "", arena, &at) ? PFR_OK : mem_fail(arena->memory, err, "columns");
}

static void number_keys(struct layout_columns *to, unsigned layout, unsigned *key) {
    unsigned start = 0;
    for (const struct field *f = layout_at(layout)->fields(); f->name; f++, ++*key) {
        to->start[*key] = (uint16_t)start;
        to->expanded[*key] = f->kind == K_SUB;
        start += width_of_field(f);
    }
}

pfr_status layout_columns_make(struct layout_columns *to, struct arena *arena, pfr_error *err) {
    unsigned key = 0;
    *to = (struct layout_columns){0};
    for (unsigned n = L_NONE + 1; n < LAYOUTS; n++)
        for (const struct field *f = layout_at(n)->fields(); f->name; f++)
            to->nr_keys++;
    to->start = arena_zeroed(arena, to->nr_keys, sizeof *to->start);
    to->expanded = arena_zeroed(arena, to->nr_keys, sizeof *to->expanded);
    if (!to->start || !to->expanded)
        return mem_fail(arena->memory, err, "columns");
    for (unsigned n = L_NONE + 1; n < LAYOUTS; n++) {
        number_keys(to, n, &key);
        PFR_TRY(name_layout(to, n, arena, err));
    }
    return PFR_OK;
}
