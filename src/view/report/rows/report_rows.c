/* SPDX-License-Identifier: Apache-2.0 */
/* Rows, deduplicated by their cells, and the symbol numbers used in cells. */
#include "view/report/fields/report_common.h"
#include "view/report/rows/report_rows.h"
#include "view/report/fields/report_cells.h"

#include "base/memory/fail.h"
#include "base/tables/hash_seed.h"

/* --- symbols: several frames can belong to one symbol --- */

struct symbol_key {
    uint64_t object, address, inlined;
};

/* As in perf: named symbols are identified by object and start, unnamed ones only by address, inlined functions by
 * object and name. */
static struct symbol_key key_of_symbol(const struct profile *p, uint32_t frame) {
    const struct profile_frame *f = &p->frames[frame & ~NODE_APART];
    if (f->text == NO_TEXT)
        return (struct symbol_key){UINT64_MAX, frame & NODE_APART ? f->address : f->ip, 0};
    if (f->is_inlined)
        return (struct symbol_key){frame_object_name(p, frame), f->text, 1};
    const uint64_t start = request_has_addresses(&p->request) && f->start ? f->start : f->address;
    return (struct symbol_key){frame_object_name(p, frame), start, 0};
}

unsigned frame_symbol_words(const struct profile *p, uint32_t frame, uint64_t *words) {
    const uint32_t form = frame_form(p, frame);
    const struct symbol_key key = key_of_symbol(p, (frame & ~NODE_APART) | form);
    words[0] = key.object;
    words[1] = key.address;
    words[2] = key.inlined | form;
    return 3;
}

/* Each symbol is represented by its first frame. The symbol's number plus 1 is stored in the slot for the hash of its
 * key. */
struct symbol_numbers {
    const struct profile *profile;
    uint32_t *slots;
    size_t mask;
};

static uint32_t first_of_symbol(const struct symbol_numbers *s, uint32_t frame, uint32_t form) {
    const struct symbol_key key = key_of_symbol(s->profile, frame | form);
    uint64_t h = (key.address ^ table_seed(s->mask)) * 0x9e3779b97f4a7c15u;
    h = (h ^ h >> 32 ^ key.object ^ key.inlined << 40) * 0xd6e8feb86659fd93u;
    for (size_t i = (size_t)(h >> 24);; i++) {
        uint32_t *slot = &s->slots[i & s->mask];
        if (!*slot)
            *slot = frame + 1;
        const struct symbol_key first = key_of_symbol(s->profile, (*slot - 1) | form);
        if (first.address == key.address && first.object == key.object && first.inlined == key.inlined)
            return *slot - 1;
    }
}

static pfr_status number_form(struct report *r, uint32_t form, pfr_error *err) {
    const uint32_t nr = r->profile->nr_frames;
    struct symbol_numbers s = {.profile = r->profile, .mask = 63};
    while (s.mask / 4 * 3 < nr)
        s.mask = s.mask * 2 + 1;
    s.slots = mem_zeroed(r->memory, s.mask + 1, sizeof *s.slots);
    if (!s.slots)
        return mem_fail(r->memory, err, "symbols");
    for (uint32_t i = 0; i < nr; i++)
        if (frame_form(r->profile, i | form) == form)
            r->symbol_of[form ? nr + i : i] = first_of_symbol(&s, i, form);
    mem_free(r->memory, s.slots, s.mask + 1, sizeof *s.slots);
    return PFR_OK;
}

pfr_status rows_number_symbols(struct report *r, pfr_error *err) {
    r->symbol_of = mem_alloc(r->memory, r->profile->nr_frames, 2 * sizeof *r->symbol_of);
    if (!r->symbol_of)
        return mem_fail(r->memory, err, "symbols");
    PFR_TRY(number_form(r, 0, err));
    return number_form(r, NODE_APART, err);
}

/* --- rows --- */

static char level_of_frame(const struct report *r, uint32_t frame) {
    const struct profile_frame *f = report_frame(r, frame);
    return f ? level_of(r, f) : '.';
}

static void call_by(struct row *row, uint32_t frame, char level) {
    row->frame = frame;
    row->level = level;
}

/* Updates level and frame for another frame of the row. The result does not depend on the order of frames. */
static void meet_frame(const struct report *r, struct row *row, uint32_t frame) {
    const char level = level_of_frame(r, frame);
    const bool is_tie = level == row->level && r->options->symbol_filter; /* the filter tests row->frame */
    if (level < row->level || (is_tie && collate_symbols(r, frame, row->frame) < 0))
        call_by(row, frame, level);
}

static pfr_status add_row(struct report *r, const struct cell_key *spot, pfr_error *err) {
    struct report_rows *rows = &r->rows;
    const uint32_t row = rows->cells.count - 1;
    if (row >= rows->room) {
        struct row *grown = mem_grow(r->memory, rows->at, row, &rows->room, 256, sizeof *grown);
        if (!grown)
            return mem_fail(r->memory, err, "rows");
        rows->at = grown;
    }
    rows->at[row] = (struct row){.event = spot->group->event};
    call_by(&rows->at[row], spot->frame, level_of_frame(r, spot->frame));
    return PFR_OK;
}

pfr_status rows_find(struct report *r, const struct cell_key *spot, uint32_t *row, pfr_error *err) {
    struct row_cells cells;
    const uint32_t before = r->rows.cells.count;
    cells.event = spot->group->event;
    for (unsigned i = 0; i < r->chosen.nr_keys; i++) {
        r->chosen.asked = r->chosen.keys[i];
        cells.of[i] = r->chosen.keys[i]->identity(r, spot);
    }
    if (r->cell.out.status < 0)
        return mem_fail(r->memory, err, "rows");
    PFR_TRY(intern_put(&r->rows.cells, &cells, (r->chosen.nr_keys + 1) * sizeof(uint64_t), row, err));
    if (*row == before)
        return add_row(r, spot, err);
    meet_frame(r, &r->rows.at[*row], spot->frame);
    return PFR_OK;
}

void rows_cells(const struct report *r, uint32_t row, struct row_cells *cells) {
    memcpy(cells, intern_get(&r->rows.cells, row).bytes, (r->chosen.nr_keys + 1) * sizeof(uint64_t));
}

void rows_free(struct report *r) {
    mem_free(r->memory, r->rows.at, r->rows.room, sizeof *r->rows.at);
    intern_free(&r->rows.cells);
    mem_free(r->memory, r->symbol_of, r->symbol_of ? r->profile->nr_frames : 0, 2 * sizeof *r->symbol_of);
    r->symbol_of = NULL;
}

void row_add_by_mode(const struct report *r, uint32_t frame, uint64_t weight, uint64_t *system, uint64_t *user) {
    const struct profile_frame *f = report_frame(r, frame);
    if (f && f->cpumode == 1)
        *system += weight;
    else if (f && f->cpumode == 2)
        *user += weight;
}
