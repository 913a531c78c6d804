/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of two versions of a text: matched lines are equal and form pairs, and lines that an edit kept are found. */
#include "test.h"
#include "view/annotate/line_match.h"

#include <stdio.h>
#include <string.h>

#define LINES 400u
#define LENGTH 12u

static void match(struct line_match *m, struct memory *memory, const char *const *base, size_t nr_base,
                  const char *const *changed, size_t nr_changed) {
    pfr_error err;
    memory_init(memory, NULL, 0);
    assert_int_equal(line_match_make(m, base, nr_base, changed, nr_changed, memory, &err), PFR_OK);
}

static void end(struct line_match *m, const struct memory *memory) {
    line_match_free(m);
    assert_int_equal(memory->used, 0);
}

TEST(line_match_follows_lines_that_moved) {
    static const char *const base[] = {"int f()", "{", "  return 1;", "}", "", "int g()", "{", "  return 2;", "}"};
    static const char *const changed[] = {"int g()", "{", "    return 2;", "}",           "",
                                          "int f()", "{", "  int x;",      "  return 1;", "}"};
    static const uint32_t wanted[] = {6, 0, 9, 0, 0, 1, 0, 3, 0};
    struct line_match m;
    struct memory memory;
    match(&m, &memory, base, 9, changed, 10);
    for (unsigned i = 0; i < 9; i++)
        if (wanted[i])
            assert_int_equal(m.changed_of[i], wanted[i]);
    assert_int_equal(m.base_of[7], 0);
    end(&m, &memory);
}

TEST(line_match_of_nothing) {
    static const char *const one[] = {"x"};
    struct line_match m;
    struct memory memory;
    match(&m, &memory, NULL, 0, one, 1);
    assert_int_equal(m.base_of[0], 0);
    end(&m, &memory);
    match(&m, &memory, NULL, 0, NULL, 0);
    end(&m, &memory);
}

/* Some lines have one of a few texts and occur often; lines with a number occur once. */
static void draw_line(char *to) {
    const int which = rand() % 4;
    snprintf(to, LENGTH, which == 0 ? "}" : which == 1 ? "" : "line %d", rand() % 1000);
}

/* Inserts and removes a few runs of lines. `origin`: the number of the line in the base version; LINES: a new line. */
static size_t edit(char base[LINES][LENGTH], char changed[2 * LINES][LENGTH], unsigned *origin) {
    size_t count = 0;
    for (unsigned i = 0; i < LINES; i++) {
        if (rand() % 20 == 0)
            for (int more = rand() % 5; more > 0; more--) {
                draw_line(changed[count]);
                origin[count++] = LINES;
            }
        if (rand() % 20 == 0)
            continue;
        memcpy(changed[count], base[i], LENGTH);
        origin[count++] = i;
    }
    return count;
}

static void check_pairs(const struct line_match *m, const char *const *base, const char *const *changed) {
    for (size_t i = 0; i < m->nr_base; i++)
        if (m->changed_of[i]) {
            assert_int_equal(m->base_of[m->changed_of[i] - 1], i + 1);
            assert_string_equal(base[i], changed[m->changed_of[i] - 1]);
        }
}

TEST(line_match_finds_lines_that_edits_kept) {
    static char base[LINES][LENGTH], changed[2 * LINES][LENGTH];
    const char *base_lines[LINES], *changed_lines[2 * LINES];
    unsigned origin[2 * LINES];
    srand(1);
    for (unsigned round = 0; round < 50; round++) {
        struct line_match m;
        struct memory memory;
        unsigned kept = 0, found = 0;
        for (unsigned i = 0; i < LINES; i++)
            draw_line(base[i]), base_lines[i] = base[i];
        const size_t count = edit(base, changed, origin);
        for (size_t i = 0; i < count; i++)
            changed_lines[i] = changed[i];
        match(&m, &memory, base_lines, LINES, changed_lines, count);
        check_pairs(&m, base_lines, changed_lines);
        for (size_t i = 0; i < count; i++)
            if (origin[i] < LINES && base[origin[i]][0] == 'l') {
                kept++;
                found += m.base_of[i] == origin[i] + 1;
            }
        assert_true(found * 100 >= kept * 97);
        end(&m, &memory);
    }
}

TEST(line_match_within_memory) {
    static const char *const lines[] = {"a", "b", "c"};
    for (uint64_t limit = 1; limit < 4096; limit += 97) {
        struct line_match m;
        struct memory memory;
        pfr_error err;
        memory_init(&memory, NULL, limit);
        const pfr_status st = line_match_make(&m, lines, 3, lines, 3, &memory, &err);
        assert_true(st == PFR_OK || st == PFR_ERR_LIMIT);
        end(&m, &memory);
    }
}
