/* SPDX-License-Identifier: Apache-2.0 */
/* One line of a report: its rows, its cells, its key. */
#include "view/report/rows/report_line.h"
#include "view/report/rows/report_rows.h"

static const struct row no_row = {.frame = NO_FRAME, .level = '.'};

uint32_t line_first_row(const struct lines *lines, uint32_t line) {
    uint32_t member = 0;
    while (lines->rows[(size_t)line * lines->members + member] == NO_ROW)
        member++;
    return lines->rows[(size_t)line * lines->members + member];
}

void line_fetch(const struct report *r, const struct lines *lines, uint32_t line) {
    const uint32_t row = line_first_row(lines, line);
    __builtin_prefetch(&r->rows.at[row]);
    __builtin_prefetch(intern_get(&r->rows.cells, row).bytes);
}

void line_cells(const struct report *r, const struct lines *lines, uint32_t line, struct row_cells *cells) {
    rows_cells(r, line_first_row(lines, line), cells);
}

const struct row *line_row(const struct report *r, const struct lines *lines, uint32_t line, uint32_t member) {
    const uint32_t row = lines->rows[(size_t)line * lines->members + member];
    return row == NO_ROW ? &no_row : &r->rows.at[row];
}

uint64_t line_cell(const struct report *r, const struct lines *lines, uint32_t line, unsigned key) {
    return row_cell(intern_get(&r->rows.cells, line_first_row(lines, line)).bytes, key);
}

/* A key with thread or process ids identifies threads better than names do, because a thread may have several names. */
unsigned lines_thread_key(const struct report *r) {
    const uint32_t numbers = PROFILE_BIT(PROFILE_PID) | PROFILE_BIT(PROFILE_TID);
    unsigned names = r->chosen.nr_keys;
    for (unsigned k = 0; k < r->chosen.nr_keys; k++) {
        if (r->chosen.keys[k]->keys & numbers)
            return k;
        if (r->chosen.keys[k]->keys & PROFILE_BIT(PROFILE_COMM))
            names = k;
    }
    return names;
}
