/* SPDX-License-Identifier: Apache-2.0 */
/* Jumps inside a function, drawn as lines beside its rows; short jumps are next to the code. See annotate_parts.h. */
#include "view/annotate/annotate_arrows.h"

#include <stdlib.h>

static uint32_t row_with(const struct function_rows *rows, uint64_t address) {
    size_t low = 0, high = rows->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (function_row(rows, middle)->address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < rows->count && function_row(rows, low)->address == address ? (uint32_t)low : UINT32_MAX;
}

static uint32_t first_of(const struct arrow *arrow) {
    return arrow->from < arrow->to ? arrow->from : arrow->to;
}

static uint32_t last_of(const struct arrow *arrow) {
    return arrow->from < arrow->to ? arrow->to : arrow->from;
}

static int shorter(const void *left, const void *right) {
    const struct arrow *x = left, *y = right;
    const uint32_t a = last_of(x) - first_of(x), b = last_of(y) - first_of(y);
    return a != b ? (a < b ? -1 : 1) : x->from < y->from ? -1 : x->from > y->from;
}

static pfr_status collect(struct annotate *a, const struct function_rows *rows, struct arrows *arrows, pfr_error *err) {
    for (size_t i = 0; i < rows->count; i++) {
        const struct annotate_row *row = function_row(rows, i);
        const uint32_t to = row->kind == INSN_JUMP && row->target ? row_with(rows, row->target) : UINT32_MAX;
        if (to == UINT32_MAX || to == i)
            continue;
        if (arrows->count == arrows->room) {
            void *more = mem_grow(a->memory, arrows->at, arrows->count, &arrows->room, 64, sizeof *arrows->at);
            if (!more)
                return mem_fail(a->memory, err, "annotate");
            arrows->at = more;
        }
        arrows->at[arrows->count++] = (struct arrow){(uint32_t)i, to, ARROW_LANES};
    }
    return PFR_OK;
}

/* Assigns a lane (a column for vertical lines) to each jump, shortest jumps first. Checking all rows of many long jumps
 * takes quadratic time, so the total number of checked rows is limited; jumps beyond the limit have no arrow. */
static void choose_lanes(struct arrows *arrows) {
    uint64_t steps = 64 * (uint64_t)arrows->rows + 4096;
    for (size_t i = 0; i < arrows->count; i++) {
        struct arrow *arrow = &arrows->at[i];
        const uint32_t first = first_of(arrow), last = last_of(arrow);
        uint8_t taken = 0;
        if (last - first > steps)
            break;
        steps -= last - first;
        for (uint32_t row = first; row <= last; row++)
            taken |= arrows->inside[row];
        for (arrow->lane = 0; arrow->lane < ARROW_LANES && (taken >> arrow->lane & 1u); arrow->lane++) {
        }
        if (arrow->lane == ARROW_LANES)
            continue;
        for (uint32_t row = first; row <= last; row++)
            arrows->inside[row] |= (uint8_t)(1u << arrow->lane);
        arrows->lanes = arrow->lane + 1u > arrows->lanes ? arrow->lane + 1u : arrows->lanes;
    }
}

/* Indexes arrows by the rows where they start and end, so that drawing a row need not check all arrows. */
static pfr_status index_ends(struct annotate *a, struct arrows *arrows, pfr_error *err) {
    arrows->first_end = mem_zeroed(a->memory, arrows->rows + 2, sizeof *arrows->first_end);
    arrows->ends = mem_zeroed(a->memory, 2 * arrows->count + 1, sizeof *arrows->ends);
    if (!arrows->first_end || !arrows->ends)
        return mem_fail(a->memory, err, "annotate");
    uint32_t *const next = arrows->first_end + 1;
    for (size_t i = 0; i < arrows->count; i++) {
        next[arrows->at[i].from + 1]++;
        next[arrows->at[i].to + 1]++;
    }
    for (size_t row = 1; row <= arrows->rows; row++)
        next[row] += next[row - 1];
    for (size_t i = 0; i < arrows->count; i++) {
        arrows->ends[next[arrows->at[i].from]++] = (uint32_t)i;
        arrows->ends[next[arrows->at[i].to]++] = (uint32_t)i;
    }
    return PFR_OK;
}

pfr_status arrows_make(struct annotate *a, const struct function_rows *rows, struct arrows *arrows, pfr_error *err) {
    *arrows = (struct arrows){.rows = rows->count};
    arrows->inside = mem_zeroed(a->memory, rows->count, 1);
    if (!arrows->inside)
        return mem_fail(a->memory, err, "annotate");
    PFR_TRY(collect(a, rows, arrows, err));
    if (arrows->count)
        qsort(arrows->at, arrows->count, sizeof *arrows->at, shorter);
    choose_lanes(arrows);
    return index_ends(a, arrows, err);
}

void arrows_free(struct annotate *a, struct arrows *arrows) {
    mem_free(a->memory, arrows->inside, arrows->rows, 1);
    mem_free(a->memory, arrows->first_end, arrows->first_end ? arrows->rows + 2 : 0, sizeof *arrows->first_end);
    mem_free(a->memory, arrows->ends, arrows->ends ? 2 * arrows->count + 1 : 0, sizeof *arrows->ends);
    mem_free(a->memory, arrows->at, arrows->room, sizeof *arrows->at);
}

/* The ends of arrows at a row, and whether a jump leads to this row. */
struct corner {
    uint8_t top, bottom; /* bit masks of the lanes whose arrows have their upper or lower end here */
    unsigned outermost;  /* the outermost lane of these arrows, plus 1; 0: no arrow ends here */
    bool is_target;
};

static struct corner corner_of(const struct arrows *arrows, size_t index) {
    struct corner c = {0};
    for (uint32_t i = arrows->first_end[index]; i < arrows->first_end[index + 1]; i++) {
        const struct arrow *arrow = &arrows->at[arrows->ends[i]];
        if (arrow->lane == ARROW_LANES)
            continue;
        const uint8_t bit = (uint8_t)(1u << arrow->lane);
        c.top |= first_of(arrow) == index ? bit : 0;
        c.bottom |= last_of(arrow) == index ? bit : 0;
        c.outermost = arrow->lane + 1u > c.outermost ? arrow->lane + 1u : c.outermost;
        c.is_target |= arrow->to == index;
    }
    return c;
}

void arrows_draw(const struct arrows *arrows, size_t index, struct output *out) {
    const struct corner c = corner_of(arrows, index);
    for (unsigned lane = arrows->lanes; lane-- > 0;) {
        const uint8_t bit = (uint8_t)(1u << lane);
        const bool across = lane + 1 < c.outermost;
        out_text(out, (c.top & c.bottom & bit)        ? "├"
                      : (c.top & bit)                 ? "┌"
                      : (c.bottom & bit)              ? "└"
                      : (arrows->inside[index] & bit) ? (across ? "┼" : "│")
                      : across                        ? "─"
                                                      : " ");
        out_text(out, lane < c.outermost && lane > 0 ? "─" : lane < c.outermost ? (c.is_target ? "→" : "─") : " ");
    }
    if (!arrows->lanes)
        out_char(out, ' ');
}

bool arrows_loop(const struct arrows *arrows, size_t index) {
    for (uint32_t i = arrows->first_end[index]; i < arrows->first_end[index + 1]; i++) {
        const struct arrow *arrow = &arrows->at[arrows->ends[i]];
        if (arrow->to == index && arrow->from > index)
            return true;
    }
    return false;
}
