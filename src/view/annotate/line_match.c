/* SPDX-License-Identifier: Apache-2.0 */
/* Matching the lines of two texts: see line_match.h. */
#include "view/annotate/line_match.h"

#include <string.h>

#define LEVELS_MOST 32u /* maximum nesting of gaps: each level takes time proportional to the text */

struct match_side {
    uint32_t *ids;   /* by line: equal texts have equal ids; 0: an empty line */
    uint32_t *times; /* by id: number of unpaired lines with this id in the current range */
    uint32_t *last;  /* by id: the last unpaired line with this id */
    uint32_t *other; /* by line: number of the paired line of the other side, plus 1; 0: not paired */
    size_t count;
};

struct matching {
    struct memory *memory;
    struct match_side base, changed;
    uint32_t nr_ids;
    uint32_t *best, *before, *anchors; /* used by find_run. best: by length of a run, its last line; before: by line of
                                          base, the line before it in its run; anchors: the lines of the longest run */
};

/* A range of unpaired lines of both sides; the ends are not included. */
struct gap {
    size_t base, base_end, changed, changed_end;
};

static void pair(struct matching *m, size_t base, size_t changed) {
    m->base.other[base] = (uint32_t)changed + 1;
    m->changed.other[changed] = (uint32_t)base + 1;
}

static bool is_equal(const struct matching *m, size_t base, size_t changed) {
    return m->base.ids[base] == m->changed.ids[changed];
}

static void pair_ends(struct matching *m, struct gap *g) {
    for (; g->base < g->base_end && g->changed < g->changed_end && is_equal(m, g->base, g->changed);
         g->base++, g->changed++)
        pair(m, g->base, g->changed);
    for (; g->base < g->base_end && g->changed < g->changed_end && is_equal(m, g->base_end - 1, g->changed_end - 1);
         g->base_end--, g->changed_end--)
        pair(m, g->base_end - 1, g->changed_end - 1);
}

/* Counts the lines of a range that are not paired yet. */
static void count_lines(struct match_side *side, size_t from, size_t end) {
    for (size_t i = from; i < end; i++)
        side->times[side->ids[i]] = 0;
    for (size_t i = from; i < end; i++) {
        side->times[side->ids[i]] += side->other[i] == 0;
        side->last[side->ids[i]] = side->other[i] == 0 ? (uint32_t)i : side->last[side->ids[i]];
    }
}

/* Returns the line of the changed range that has the same text as this line of base, if the text occurs exactly once in
   each of the two ranges; else the number of lines of the changed text. */
static size_t anchor_of(const struct matching *m, const struct gap *g, size_t line) {
    const uint32_t id = m->base.ids[line], at = m->changed.last[id];
    const bool is_once = id && m->base.other[line] == 0 && m->base.times[id] == 1 && at >= g->changed &&
                         at < g->changed_end && m->changed.ids[at] == id && m->changed.times[id] == 1 &&
                         m->changed.other[at] == 0;
    return is_once ? at : m->changed.count;
}

/* Finds the longest run of anchors that are in the same order on both sides: anchors[0 .. *count - 1] are lines of
   base. */
static void find_run(struct matching *m, const struct gap *g, size_t *count) {
    size_t length = 0;
    for (size_t line = g->base; line < g->base_end; line++) {
        const size_t at = anchor_of(m, g, line);
        size_t low = 0, high = length;
        if (at == m->changed.count)
            continue;
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (m->changed.last[m->base.ids[m->best[middle]]] < at)
                low = middle + 1;
            else
                high = middle;
        }
        m->before[line] = low ? m->best[low - 1] : UINT32_MAX;
        m->best[low] = (uint32_t)line;
        length = low == length ? length + 1 : length;
    }
    *count = length;
    for (uint32_t line = length ? m->best[length - 1] : UINT32_MAX; length; line = m->before[line])
        m->anchors[--length] = line;
}

/* All levels share `anchors`: the anchors of a gap are paired first, and its inner gaps are then determined from the
   pairs. */
static void match_gap(struct matching *m, struct gap g, unsigned level) {
    size_t count;
    pair_ends(m, &g);
    if (g.base == g.base_end || g.changed == g.changed_end || level == LEVELS_MOST)
        return;
    count_lines(&m->base, g.base, g.base_end);
    count_lines(&m->changed, g.changed, g.changed_end);
    find_run(m, &g, &count);
    for (size_t i = 0; i < count; i++)
        pair(m, m->anchors[i], m->changed.last[m->base.ids[m->anchors[i]]]);
    if (!count)
        return;
    size_t base = g.base, changed = g.changed;
    for (size_t line = g.base; line <= g.base_end; line++) {
        if (line < g.base_end && !m->base.other[line])
            continue;
        const size_t at = line < g.base_end ? m->base.other[line] - 1 : g.changed_end;
        match_gap(m, (struct gap){base, line, changed, at}, level + 1);
        base = line + 1;
        changed = at + 1;
    }
}

/* --- Lines that moved. */

static void pair_neighbours(struct matching *m, size_t base, size_t changed) {
    for (size_t i = base + 1, j = changed + 1;
         i < m->base.count && j < m->changed.count && is_equal(m, i, j) && !m->base.other[i] && !m->changed.other[j];
         i++, j++)
        pair(m, i, j);
    for (size_t i = base, j = changed;
         i > 0 && j > 0 && is_equal(m, i - 1, j - 1) && !m->base.other[i - 1] && !m->changed.other[j - 1]; i--, j--)
        pair(m, i - 1, j - 1);
}

static void match_moved(struct matching *m) {
    const struct gap all = {0, m->base.count, 0, m->changed.count};
    count_lines(&m->base, 0, m->base.count);
    count_lines(&m->changed, 0, m->changed.count);
    for (size_t line = 0; line < m->base.count; line++) {
        const size_t at = anchor_of(m, &all, line);
        if (at < m->changed.count) {
            pair(m, line, at);
            pair_neighbours(m, line, at);
        }
    }
}

/* --- Texts to numbers. */

static pfr_status number_lines(struct intern_table *texts, const char *const *lines, struct match_side *side,
                               pfr_error *err) {
    for (size_t i = 0; i < side->count; i++) {
        const char *text = lines[i] + strspn(lines[i], " \t\r\f");
        size_t length = strlen(text);
        while (length && strchr(" \t\r\f", text[length - 1]))
            length--;
        PFR_TRY(intern_put(texts, text, length, &side->ids[i], err));
    }
    return PFR_OK;
}

static pfr_status number_all(struct matching *m, const char *const *base, const char *const *changed, pfr_error *err) {
    struct intern_table texts;
    uint32_t empty;
    intern_init(&texts, m->memory);
    pfr_status st = intern_put(&texts, "", 0, &empty, err);
    if (st == PFR_OK)
        st = number_lines(&texts, base, &m->base, err);
    if (st == PFR_OK)
        st = number_lines(&texts, changed, &m->changed, err);
    m->nr_ids = texts.count;
    intern_free(&texts);
    return st;
}

static uint32_t *numbers(struct memory *memory, size_t count) {
    return mem_zeroed(memory, count + 1, sizeof(uint32_t));
}

static void free_numbers(struct memory *memory, uint32_t *at, size_t count) {
    mem_free(memory, at, at ? count + 1 : 0, sizeof *at);
}

static pfr_status match_numbers(struct matching *m, pfr_error *err) {
    struct match_side *const sides[] = {&m->base, &m->changed};
    m->best = numbers(m->memory, m->base.count);
    m->before = numbers(m->memory, m->base.count);
    m->anchors = numbers(m->memory, m->base.count);
    for (unsigned i = 0; i < 2; i++) {
        sides[i]->times = numbers(m->memory, m->nr_ids);
        sides[i]->last = numbers(m->memory, m->nr_ids);
    }
    if (!m->best || !m->before || !m->anchors || !m->base.times || !m->base.last || !m->changed.times ||
        !m->changed.last)
        return mem_fail(m->memory, err, "annotate");
    match_gap(m, (struct gap){0, m->base.count, 0, m->changed.count}, 0);
    match_moved(m);
    return PFR_OK;
}

static void free_numbers_of(struct matching *m) {
    struct match_side *const sides[] = {&m->base, &m->changed};
    for (unsigned i = 0; i < 2; i++) {
        free_numbers(m->memory, sides[i]->times, m->nr_ids);
        free_numbers(m->memory, sides[i]->last, m->nr_ids);
        free_numbers(m->memory, sides[i]->ids, sides[i]->count);
    }
    free_numbers(m->memory, m->best, m->base.count);
    free_numbers(m->memory, m->before, m->base.count);
    free_numbers(m->memory, m->anchors, m->base.count);
}

static void find_places(struct line_match *match) {
    for (size_t i = 0; i < match->nr_base; i++)
        match->place_of[i] = match->changed_of[i] || !i ? match->changed_of[i] : match->place_of[i - 1];
}

pfr_status line_match_make(struct line_match *match, const char *const *base, size_t nr_base,
                           const char *const *changed, size_t nr_changed, struct memory *memory, pfr_error *err) {
    *match = (struct line_match){.memory = memory, .nr_base = nr_base, .nr_changed = nr_changed};
    match->changed_of = numbers(memory, nr_base);
    match->base_of = numbers(memory, nr_changed);
    match->place_of = numbers(memory, nr_base);
    struct matching m = {.memory = memory,
                         .base = {.ids = numbers(memory, nr_base), .other = match->changed_of, .count = nr_base},
                         .changed = {.ids = numbers(memory, nr_changed), .other = match->base_of, .count = nr_changed}};
    const bool has_room = match->changed_of && match->base_of && match->place_of && m.base.ids && m.changed.ids;
    pfr_status st = has_room ? number_all(&m, base, changed, err) : mem_fail(memory, err, "annotate");
    if (st == PFR_OK)
        st = match_numbers(&m, err);
    if (st == PFR_OK)
        find_places(match);
    free_numbers_of(&m);
    return st;
}

void line_match_free(struct line_match *match) {
    free_numbers(match->memory, match->changed_of, match->nr_base);
    free_numbers(match->memory, match->base_of, match->nr_changed);
    free_numbers(match->memory, match->place_of, match->nr_base);
}
