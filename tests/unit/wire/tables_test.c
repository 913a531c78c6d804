/* SPDX-License-Identifier: Apache-2.0 */
/* Requirements of the tables themselves, independent of the bytes that they describe. */
#include "test.h"
#include "wire/layout.h"
#include "wire/names.h"

#include <perfray/record_structs.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TEST(ids_are_unique_within_a_table) {
    for (unsigned a = L_NONE + 1; a < LAYOUTS; a++)
        for (unsigned b = a + 1; b < LAYOUTS; b++)
            if (layout_at(a)->id == layout_at(b)->id && layout_at(a)->id >> 24 != TABLE_PART)
                fail_msg("%s and %s have one id", layout_at(a)->name, layout_at(b)->name);
}

TEST(layouts_and_fields_have_names_of_their_own) {
    for (unsigned a = L_NONE + 1; a < LAYOUTS; a++) {
        assert_int_equal(layout_named(layout_at(a)->name), a);
        for (const struct field *f = layout_at(a)->fields(); f->name; f++)
            if (field_named(layout_at(a), f->name) != f)
                fail_msg("%s has two fields %s", layout_at(a)->name, f->name);
    }
}

TEST(every_layout_and_field_says_what_it_is) {
    for (unsigned a = L_NONE + 1; a < LAYOUTS; a++) {
        assert_true(layout_at(a)->doc[0] != '\0');
        for (const struct field *f = layout_at(a)->fields(); f->name; f++)
            assert_true(f->doc[0] != '\0');
    }
}

/* The bit fields that follow a word, as a mask; -1 if two of them overlap. */
static uint64_t bits_behind(const struct layout *l, const struct field *word) {
    uint64_t all = 0;
    for (const struct field *f = word + 1; f->name && f->kind == K_BITS; f++) {
        const uint64_t bits = bits_into(0, 64, f->extra, false, UINT64_MAX);
        if (all & bits)
            fail_msg("%s.%s overlaps another", l->name, f->name);
        all |= bits;
    }
    return all;
}

TEST(bits_name_every_bit_of_their_word_once) {
    for (unsigned a = L_NONE + 1; a < LAYOUTS; a++)
        for (const struct field *f = layout_at(a)->fields(); f->name; f++)
            if (field_is_word(f))
                assert_int_equal(bits_behind(layout_at(a), f), UINT64_MAX >> (64 - 8 * field_width(f)));
}

static bool is_number(const struct field *f) {
    return f->kind == K_U8 || f->kind == K_U16 || f->kind == K_U32 || f->kind == K_U64;
}

/* A member to which another field refers by offset must be an integer, and must be read before that field. */
static void check_earlier(const struct layout *l, const struct field *user, uint64_t at) {
    for (const struct field *f = l->fields(); f < user; f++)
        if (f->at == at && is_number(f))
            return;
    fail_msg("%s.%s depends on a member that no number before it is", l->name, user->name);
}

TEST(counts_choices_and_comparisons_look_at_earlier_numbers) {
    for (unsigned a = L_NONE + 1; a < LAYOUTS; a++) {
        const struct layout *l = layout_at(a);
        for (const struct field *f = l->fields(); f->name; f++) {
            const bool counted = f->kind == K_BYTES || f->kind == K_A64 || f->kind == K_ARRAY || f->kind == K_CHOICE;
            if (counted && !(f->extra & COUNT_FROM_WORD))
                check_earlier(l, f, f->extra & ~COUNT_IN_BITS);
            if (f->when.test == TEST_AT_LEAST || f->when.test == TEST_BELOW)
                check_earlier(l, f, f->when.clear);
        }
    }
}

TEST(only_the_first_field_is_at_offset_zero) {
    for (unsigned a = L_NONE + 1; a < LAYOUTS; a++) {
        const struct field *first = layout_at(a)->fields();
        if (!first->name)
            continue;
        assert_int_equal(first->at, 0);
        for (const struct field *f = first + 1; f->name; f++)
            assert_true(f->at > 0);
    }
}

static void check_names(const struct name_set *set) {
    for (const struct name *a = set->names; a->text; a++) {
        for (const struct name *b = a + 1; b->text; b++)
            if (a->value == b->value || strcmp(a->text, b->text) == 0)
                fail_msg("%s: %s and %s are not two", set->name, a->text, b->text);
        if (set->mode == NAMES_FLAGS && a->value > 63)
            fail_msg("%s: bit %u", set->name, a->value);
    }
}

TEST(values_and_texts_of_each_set_of_names_are_unique) {
    for (unsigned show = SHOW_SETS; show < SHOW_KINDS; show++)
        check_names(name_set_of(show));
}

static void check_cover(enum layout_table table, unsigned show) {
    for (unsigned a = L_NONE + 1; a < LAYOUTS; a++)
        if (layout_at(a)->id >> 24 == table && !name_of(show, LAYOUT_VALUE(layout_at(a)->id)))
            fail_msg("%s has no name in names.def", layout_at(a)->name);
    for (const struct name *n = name_set_of(show)->names; n->text; n++)
        if (!layout_find(table, n->value))
            fail_msg("%s has a name but no layout", n->text);
}

TEST(records_and_features_have_both_a_layout_and_a_name) {
    check_cover(TABLE_PERF_RECORD, SHOW_RECORD);
    check_cover(TABLE_PERF_FEATURE, SHOW_FEATURE);
    check_cover(TABLE_TRACE_RECORD, SHOW_TRACE_RECORD);
}

/* The complete list of layouts that are handwritten, because no table can express them. */
TEST(at_most_five_layouts_are_written_by_hand_and_their_files_are_there) {
    static const char *const files[] = {
#define HAND_WRITTEN(name, file, why) file,
#include "wire/hand_written.def"
    };
    const size_t count = sizeof files / sizeof files[0];
    char path[1024];
    assert_true(count <= 5);
    if (!getenv("FIXTURES"))
        skip();
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%.600s/../../%s", getenv("FIXTURES"), files[i]);
        if (access(path, R_OK) != 0)
            fail_msg("%s is not there", files[i]);
    }
}

TEST(lookups_of_unknown_entries_return_nothing) {
    uint64_t value = 7;
    const struct layout *comm = layout_at(L_comm);
    const struct field *text = field_named(comm, "comm");
    struct pfr_rec_comm rec = {.pid = 1};
    assert_null(layout_at(L_NONE));
    assert_null(layout_at(LAYOUTS));
    assert_int_equal(layout_find(TABLE_PERF_RECORD, 0xffffffu), L_NONE);
    assert_int_equal(layout_find(TABLE_PERF_RECORD, 0xfffffeu), L_NONE);
    assert_int_equal(layout_named("nothing"), L_NONE);
    assert_null(field_named(comm, "nothing"));
    field_set_integer(text, &rec, 5); /* not a number: nothing is set, and 0 is read */
    assert_int_equal(field_integer(text, &rec), 0);
    assert_null(rec.comm.at);
    assert_null(name_set_of(SHOW_DEC));
    assert_null(name_set_of(SHOW_KINDS));
    assert_null(name_of(SHOW_DEC, 1));
    assert_null(name_of(SHOW_FEATURE, 9999));
    assert_false(name_value(SHOW_DEC, "HOSTNAME", 8, &value));
    assert_false(name_value(SHOW_FEATURE, "HOSTNAMES", 9, &value));
    assert_false(name_value(SHOW_FEATURE, "hostnamx", 8, &value));
    assert_int_equal(value, 7);
    assert_true(name_value(SHOW_FEATURE, "hostname", 8, &value));
    assert_int_equal(value, 3);
}
