/* SPDX-License-Identifier: Apache-2.0 */
/* Rows by their cells, and the numbers of symbols that cells hold. */
#include "view/report_cells.h"

#include "base/fail.h"

#include <string.h>

/* --- symbols: what perf takes for one, though it is in several frames --- */

struct symbol_key {
    uint64_t object, address, inlined;
};

/* Named ones by object and beginning, others by address alone; what was inlined by its name, wherever that was. */
static struct symbol_key key_of_symbol(const struct report *r, uint32_t frame) {
    const struct profile_frame *f = report_frame(r, frame);
    if (f->text == NO_TEXT)
        return (struct symbol_key){UINT64_MAX, frame & NODE_APART ? f->address : f->ip, 0};
    if (f->is_inlined)
        return (struct symbol_key){object_name_of(r, frame), f->text, 1};
    const uint64_t start = r->profile->wish.addresses && f->start ? f->start : f->address;
    return (struct symbol_key){object_name_of(r, frame), start, 0};
}

/* The first frame of each symbol stands for it. `numbers` are frames by number of their key. */
static pfr_status number_form(struct report *r, struct intern_table *keys, uint32_t *firsts, uint32_t form,
                              pfr_error *err) {
    const uint32_t nr = r->profile->nr_frames;
    for (uint32_t i = 0; i < nr; i++) {
        const uint32_t before = keys->count;
        const struct symbol_key key = key_of_symbol(r, i | form);
        uint32_t number;
        PFR_TRY(intern_put(keys, &key, sizeof key, &number, err));
        if (number == before)
            firsts[number] = i;
        r->symbol_of[form ? nr + i : i] = firsts[number];
    }
    return PFR_OK;
}

pfr_status rows_number_symbols(struct report *r, pfr_error *err) {
    const size_t nr = r->profile->nr_frames;
    pfr_status st = PFR_OK;
    r->symbol_of = mem_alloc(r->memory, nr, 2 * sizeof *r->symbol_of);
    uint32_t *firsts = mem_alloc(r->memory, nr, sizeof *firsts);
    if (!r->symbol_of || !firsts)
        st = mem_fail(r->memory, err, "symbols");
    for (uint32_t form = 0; form < 2 && st >= 0; form++) {
        struct intern_table keys;
        intern_init(&keys, r->memory);
        st = number_form(r, &keys, firsts, form ? NODE_APART : 0, err);
        intern_free(&keys);
    }
    mem_free(r->memory, firsts, nr, sizeof *firsts);
    return st;
}

uint64_t symbol_number(struct report *r, uint32_t frame) {
    const struct profile_frame *f = report_frame(r, frame);
    const uint32_t number = frame & ~NODE_APART;
    if (!f)
        return NO_FRAME;
    const uint32_t form = f->text == NO_TEXT && f->address != f->ip ? frame & NODE_APART : 0;
    return r->symbol_of[form ? r->profile->nr_frames + number : number] | form;
}

/* --- rows --- */

static pfr_status add_row(struct report *r, const struct spot *spot, pfr_error *err) {
    struct rows *rows = &r->rows;
    const uint32_t row = rows->cells.count - 1;
    const struct profile_frame *f = report_frame(r, spot->frame);
    if (row >= rows->room) {
        struct row *grown = mem_grow(r->memory, rows->at, row, &rows->room, 256, sizeof *grown);
        if (!grown)
            return mem_fail(r->memory, err, "rows");
        rows->at = grown;
    }
    rows->at[row] = (struct row){.event = spot->group->event, .frame = spot->frame, .level = f ? level_of(r, f) : '.'};
    return PFR_OK;
}

pfr_status rows_find(struct report *r, const struct spot *spot, uint32_t *row, pfr_error *err) {
    struct row_cells cells;
    const uint32_t before = r->rows.cells.count;
    cells.event = spot->group->event;
    for (unsigned i = 0; i < r->nr_keys; i++) {
        r->asked = r->keys[i];
        cells.of[i] = r->keys[i]->identity(r, spot);
    }
    if (r->cell.out.status < 0)
        return mem_fail(r->memory, err, "rows");
    PFR_TRY(intern_put(&r->rows.cells, &cells, (r->nr_keys + 1) * sizeof(uint64_t), row, err));
    return *row == before ? add_row(r, spot, err) : PFR_OK;
}

void rows_cells(const struct report *r, uint32_t row, struct row_cells *cells) {
    memcpy(cells, intern_get(&r->rows.cells, row).bytes, (r->nr_keys + 1) * sizeof(uint64_t));
}

void rows_free(struct report *r) {
    mem_free(r->memory, r->rows.at, r->rows.room, sizeof *r->rows.at);
    intern_free(&r->rows.cells);
    mem_free(r->memory, r->symbol_of, r->symbol_of ? r->profile->nr_frames : 0, 2 * sizeof *r->symbol_of);
    r->symbol_of = NULL;
}
