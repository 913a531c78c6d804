/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Caches the texts of cells. Most texts in a report repeat: there are few programs and objects, and many rows have only
 * one or two samples and so the same percentage. So each column keeps some texts in a direct-mapped table, indexed by a
 * hash of the cell's value; a new text overwrites the old one in its slot.
 */
#include "view/report/print/report_text_cache.h"

#include "base/memory/fail.h"

#include <string.h>

#define KEPT_BITS 8u /* the table of a column has 1 << KEPT_BITS texts */
#define KEPT_MOST ((size_t)1 << KEPT_BITS)
#define TEXT_ROOM 48u

struct kept_text {
    uint64_t said;
    uint32_t event;
    uint8_t length, width;
    bool is_kept;
    char bytes[TEXT_ROOM];
};

/* --- the cell of a column --- */

unsigned report_key_shown(const struct report *r, const struct report_field *f) {
    unsigned k = 0;
    while (k < r->chosen.nr_keys && r->chosen.keys[k] != f)
        k++;
    return k;
}

uint64_t report_cell_of(const struct report *r, const struct report_field *f, const struct row_cells *cells) {
    const unsigned key = report_key_shown(r, f);
    return key < r->chosen.nr_keys ? cells->of[key] : 0;
}

/* --- the text of a cell --- */

pfr_status report_texts_open(struct report_texts *t, const struct report *r, pfr_error *err) {
    *t = (struct report_texts){.r = r, .cell.raw_names = r->cell.raw_names};
    out_open_memory(&t->cell.out, r->memory);
    t->kept = mem_zeroed(r->memory, r->chosen.nr_columns * KEPT_MOST, sizeof *t->kept);
    return t->kept ? PFR_OK : mem_fail(r->memory, err, "report");
}

void report_texts_close(struct report_texts *t) {
    out_close(&t->cell.out, NULL);
    mem_free(t->r->memory, t->kept, t->kept ? t->r->chosen.nr_columns * KEPT_MOST : 0, sizeof *t->kept);
}

/* Makes the text of a cell. In a group of events, a column of weights has one cell for each event. */
static void make_text(const struct report *r, const struct report_field *f, uint64_t id, const struct row *row,
                      pfr_output *cell) {
    out_clear(&cell->out);
    if (f->number)
        f->number(r, row, cell);
    else
        f->print(r, id, row, cell);
}

static void keep(struct kept_text *kept, uint64_t said, uint32_t event, const struct report_text *text) {
    kept->said = said;
    kept->event = event;
    kept->length = (uint8_t)text->length;
    kept->width = (uint8_t)text->width;
    kept->is_kept = true;
    memcpy(kept->bytes, text->bytes, text->length);
}

struct report_text report_text_of(struct report_texts *t, unsigned column, uint64_t id, const struct row *row) {
    const struct report_field *f = t->r->chosen.columns[column];
    const uint64_t level = f->of_level ? (uint64_t)(unsigned char)row->level << 56 : 0;
    const uint64_t said = f->number ? f->rank(t->r, row) : id ^ level;
    struct kept_text *kept = &t->kept[column * KEPT_MOST + (said * 0x9e3779b97f4a7c15u >> (64 - KEPT_BITS))];
    if (kept->is_kept && kept->said == said && kept->event == row->event)
        return (struct report_text){kept->bytes, kept->length, kept->width};
    struct report_text text;
    make_text(t->r, f, id, row, &t->cell);
    text.bytes = out_bytes(&t->cell.out, &text.length);
    text.width = text_width(text.bytes, text.length);
    if (text.length > 0 && text.length <= TEXT_ROOM && !f->of_row)
        keep(kept, said, row->event, &text);
    return text;
}

const char *report_cell_text(struct report *r, const struct report_field *f, const struct row_cells *cells,
                             const struct row *row, size_t *length) {
    make_text(r, f, report_cell_of(r, f, cells), row, &r->cell);
    return out_bytes(&r->cell.out, length);
}
