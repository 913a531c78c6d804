/* SPDX-License-Identifier: Apache-2.0 */
/* Marks of a page: see page_marks.h. */
#include "export/page/page_marks.h"

#include "base/memory/fail.h"
#include "export/rows/rows.h"

#include <perfray/spans.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_OF_MARK 12u /* without its text */

void page_marks_free(struct page_marks *marks) {
    mem_free(marks->memory, marks->at, marks->room, sizeof *marks->at);
}

bool page_mark_is_logged(const struct page_mark *mark) {
    return rows_kind_is_logged((pfr_mark_kind)mark->kind);
}

static bool is_logged_at_a_time(const pfr_mark *mark) {
    return rows_is_logged(mark) && mark->time != PFR_NO_TIME;
}

/* Returns N: one in N logged events is shown. */
static uint64_t step_of(const pfr_model *model, uint64_t most) {
    const pfr_mark *mark;
    uint64_t bytes = 0;
    for (uint64_t i = 0; (mark = pfr_model_mark(model, i)); i++)
        if (is_logged_at_a_time(mark))
            bytes += BYTES_OF_MARK + (mark->text ? strlen(mark->text) : 0);
    return bytes > most ? bytes / (most ? most : 1) + 1 : 1;
}

static pfr_status put(struct page_marks *marks, struct page_tables *t, const pfr_mark *mark, uint64_t index,
                      pfr_error *err) {
    void *grown = mem_grow(marks->memory, marks->at, marks->count, &marks->room, 64, sizeof *marks->at);
    uint32_t text = 0;
    if (!grown)
        return mem_fail(marks->memory, err, "marks");
    marks->at = grown;
    if (mark->text)
        PFR_TRY(page_text(t, mark->text, &text, err));
    marks->at[marks->count++] = (struct page_mark){.time = mark->time,
                                                   .count = mark->count,
                                                   .thread = mark->thread,
                                                   .text = text,
                                                   .type = mark->type,
                                                   .index = (uint32_t)index,
                                                   .kind = (uint8_t)mark->kind};
    return PFR_OK;
}

static int by_time(const void *a, const void *b) {
    const struct page_mark *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

pfr_status page_marks_read(struct page_marks *marks, struct page_tables *t, uint64_t most, struct memory *memory,
                           pfr_error *err) {
    const uint64_t step = step_of(t->model, most);
    const pfr_mark *mark;
    *marks = (struct page_marks){.memory = memory};
    for (uint64_t i = 0; (mark = pfr_model_mark(t->model, i)); i++) {
        if (mark->time == PFR_NO_TIME)
            continue;
        const bool is_left_out = rows_is_logged(mark) && marks->logged++ % step != 0;
        marks->left_out += is_left_out;
        if (!is_left_out)
            PFR_TRY(put(marks, t, mark, i, err));
    }
    if (marks->count)
        qsort(marks->at, marks->count, sizeof *marks->at, by_time);
    return PFR_OK;
}

void page_marks_extend(const struct page_marks *marks, uint64_t *begin, uint64_t *end) {
    for (size_t i = 0; i < marks->count; i++) {
        const struct page_mark *mark = &marks->at[i];
        if (!page_mark_is_logged(mark))
            continue;
        *begin = mark->time < *begin ? mark->time : *begin;
        *end = mark->time > *end ? mark->time : *end;
    }
}

void page_marks_keep(struct page_marks *marks, uint64_t begin, uint64_t end) {
    size_t kept = 0;
    for (size_t i = 0; i < marks->count; i++) {
        const struct page_mark *mark = &marks->at[i];
        if (page_mark_is_logged(mark) || (mark->time >= begin && mark->time <= end))
            marks->at[kept++] = *mark;
    }
    marks->count = kept;
}
