/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requirements of the layout engine, each tested with random instances of every layout in four contexts: both byte
 * orders, with bit fields from either end.
 */
#include "same_fields.h"
#include "test.h"
#include "wire/any_layout.h"
#include "wire/layout_check.h"
#include "wire/layout_length.h"
#include "wire/layout_random.h"
#include "wire/layout_write.h"
#include "wire/names.h"

#include <stdlib.h>

enum { INSTANCES = 200, FORMS = 4 };

/* One random instance and its bytes, in a buffer of exactly that size, so that sanitizers detect every read outside. */
struct instance {
    const struct layout *layout;
    struct pfr_context context;
    struct memory memory;
    struct arena arena;
    union any_layout rec;
    uint8_t *bytes;
    uint64_t length;
};

static uint8_t *write_exactly(const struct layout *l, const struct pfr_context *c, const void *rec, uint64_t extent,
                              uint64_t *length) {
    pfr_error err;
    struct writing size = writing_nowhere();
    size.extent = extent;
    ASSERT_OK(layout_write(l, c, rec, &size, &err), err);
    uint8_t *bytes = malloc(size.used ? size.used : 1);
    assert_non_null(bytes);
    struct writing to = writing_into(bytes, size.used);
    to.extent = extent;
    ASSERT_OK(layout_write(l, c, rec, &to, &err), err);
    assert_int_equal(to.used, size.used);
    *length = to.used;
    return bytes;
}

static void make_instance(struct instance *i, unsigned number, uint64_t seed, unsigned form) {
    struct random_numbers random = {number * 1000003u + seed * 8 + form};
    pfr_error err;
    i->layout = layout_at(number);
    i->context = random_context(&random, i->layout, form & 1, form >> 1 & 1);
    memory_init(&i->memory, NULL, UINT64_MAX);
    arena_init(&i->arena, &i->memory);
    ASSERT_OK(layout_random(&random, i->layout, &i->context, &i->arena, &i->rec, &err), err);
    i->bytes = write_exactly(i->layout, &i->context, &i->rec, EXTENT_UNKNOWN, &i->length);
}

static void free_instance(struct instance *i) {
    free(i->bytes);
    arena_free(&i->arena);
}

static void for_every_layout(void (*law)(struct instance *)) {
    struct instance i;
    for (unsigned number = L_NONE + 1; number < LAYOUTS; number++) {
        for (uint64_t seed = 0; seed < SOME_OF(INSTANCES); seed++) {
            make_instance(&i, number, seed, seed % FORMS);
            law(&i);
            free_instance(&i);
        }
    }
}

static void read_whole(const struct instance *i, const uint8_t *bytes, const struct pfr_context *c,
                       union any_layout *rec) {
    struct cursor in = cursor_on(bytes, i->length, 0, c->swap);
    pfr_error err;
    const pfr_status s = layout_read(i->layout, c, &in, rec, &err);
    if (s != PFR_OK)
        fail_msg("%s: %s", i->layout->name, err.text);
}

static void reads_back(struct instance *i) {
    union any_layout rec;
    uint64_t length;
    read_whole(i, i->bytes, &i->context, &rec);
    const char *different = first_difference(i->layout, &i->rec, &rec);
    if (different)
        fail_msg("%s.%s is read back as something else", i->layout->name, different);
    uint8_t *again = write_exactly(i->layout, &i->context, &rec, i->length, &length);
    if (length != i->length || memcmp(again, i->bytes, length) != 0)
        fail_msg("%s: written again it is other bytes", i->layout->name);
    free(again);
}

TEST(random_record_to_bytes_to_record_to_the_same_bytes) {
    for_every_layout(reads_back);
}

static uint8_t *convert(const struct instance *i, const struct pfr_context *from, const uint8_t *bytes,
                        const struct pfr_context *c) {
    pfr_error err;
    uint8_t *converted = malloc(i->length ? i->length : 1);
    assert_non_null(converted);
    struct writing to = writing_into(converted, i->length);
    const pfr_status s = layout_convert(i->layout, from, bytes, i->length, 0, c, &to, &err);
    if (s != PFR_OK)
        fail_msg("%s does not convert: %s", i->layout->name, err.text);
    assert_int_equal(to.used, i->length);
    return converted;
}

static void converts_there_and_back(struct instance *i) {
    struct pfr_context other = i->context;
    union any_layout rec;
    other.swap = !other.swap;
    other.mirrored = !other.mirrored;
    uint8_t *there = convert(i, &i->context, i->bytes, &other);
    uint8_t *back = convert(i, &other, there, &i->context);
    if (memcmp(back, i->bytes, i->length) != 0)
        fail_msg("%s: there and back is other bytes", i->layout->name);
    read_whole(i, there, &other, &rec);
    const char *different = first_difference(i->layout, &i->rec, &rec);
    if (different)
        fail_msg("%s.%s does not mean the same in the other byte order", i->layout->name, different);
    free(there);
    free(back);
}

TEST(other_byte_order_means_the_same_and_back_gives_the_same_bytes) {
    for_every_layout(converts_there_and_back);
}

/* A truncated record is rejected with an offset inside it, or it has fewer contents, which can be written into no more
   bytes. */
static void try_cut(const struct instance *i, uint64_t length) {
    uint8_t *cut = malloc(length ? length : 1);
    union any_layout rec;
    pfr_error err;
    assert_non_null(cut);
    memcpy(cut, i->bytes, length);
    struct cursor in = cursor_on(cut, length, 1000, i->context.swap);
    const pfr_status s = layout_read(i->layout, &i->context, &in, &rec, &err);
    struct writing size = writing_nowhere();
    size.extent = length;
    if (s < 0 && (s != PFR_ERR_DAMAGE || err.offset > 1000 + length || err.where[0] == '\0'))
        fail_msg("%s of %ju bytes cut to %ju: %s at %ju: %s", i->layout->name, (uintmax_t)i->length, (uintmax_t)length,
                 pfr_status_name(s), (uintmax_t)err.offset, err.text);
    if (s == PFR_OK && (layout_write(i->layout, &i->context, &rec, &size, &err) != PFR_OK || size.used > length))
        fail_msg("%s cut to %ju bytes is read as %ju: %s", i->layout->name, (uintmax_t)length, (uintmax_t)size.used,
                 err.text);
    free(cut);
}

static void survives_cutting(struct instance *i) {
    for (uint64_t length = 0; length < i->length; length += 1 + length / 200)
        try_cut(i, length);
}

TEST(every_truncation_is_refused_or_holds_less) {
    for_every_layout(survives_cutting);
}

static void agrees_with_the_fixed_and_least_size(struct instance *i) {
    const uint64_t fixed = layout_fixed_size(i->layout, &i->context);
    const uint64_t least = layout_least_size(i->layout, &i->context);
    if (fixed && fixed != i->length)
        fail_msg("%s: fixed size %ju, written %ju", i->layout->name, (uintmax_t)fixed, (uintmax_t)i->length);
    if (least > i->length)
        fail_msg("%s: least size %ju, written %ju", i->layout->name, (uintmax_t)least, (uintmax_t)i->length);
}

TEST(least_and_fixed_sizes_hold) {
    for_every_layout(agrees_with_the_fixed_and_least_size);
}

static void capacity_is_kept(struct instance *i) {
    pfr_error err;
    if (i->length == 0)
        return;
    uint8_t *small = malloc(i->length - 1 ? i->length - 1 : 1);
    struct writing to = writing_into(small, i->length - 1);
    ASSERT_STATUS(layout_write(i->layout, &i->context, &i->rec, &to, &err), PFR_ERR_LIMIT, err);
    free(small);
}

TEST(a_buffer_one_byte_too_small_is_refused) {
    for_every_layout(capacity_is_kept);
}

static void capacities_are_kept(struct instance *i) {
    pfr_error err;
    for (uint64_t capacity = 0; capacity < i->length; capacity += 1 + capacity / 16) {
        uint8_t *small = malloc(capacity ? capacity : 1);
        assert_non_null(small);
        struct writing to = writing_into(small, capacity);
        ASSERT_STATUS(layout_write(i->layout, &i->context, &i->rec, &to, &err), PFR_ERR_LIMIT, err);
        assert_true(to.used <= capacity);
        free(small);
    }
}

TEST(a_buffer_too_small_by_whatever_is_refused) {
    for_every_layout(capacities_are_kept);
}

/* A length rule accepts the length of the record and rejects one byte less. Text may have more padding than the rule
   knows. */
static void rule_of_length_holds(struct instance *i) {
    const struct length_rule rule = layout_length(i->layout, &i->context);
    const bool swap = i->context.swap;
    if (!rule.known) {
        assert_false(length_holds(&rule, i->bytes, i->length, swap));
        return;
    }
    if (!rule.text && !length_holds(&rule, i->bytes, i->length, swap))
        fail_msg("%s of %ju bytes is not as long as its rule says", i->layout->name, (uintmax_t)i->length);
    if (!rule.text && i->length && length_holds(&rule, i->bytes, i->length - 1, swap))
        fail_msg("%s of %ju bytes is as long without its last one", i->layout->name, (uintmax_t)i->length);
    assert_false(rule.fixed && length_holds(&rule, i->bytes, rule.fixed - 1, swap));
}

TEST(rules_of_length_hold) {
    for_every_layout(rule_of_length_holds);
}

static void fails_without_memory(struct instance *i) {
    struct memory memory;
    struct arena arena;
    struct random_numbers random = {i->length};
    union any_layout rec;
    pfr_error err = {0};
    memory_init(&memory, NULL, 1); /* a limit of 1 byte: no block can be allocated */
    arena_init(&arena, &memory);
    const pfr_status s = layout_random(&random, i->layout, &i->context, &arena, &rec, &err);
    if (s != PFR_OK && s != PFR_ERR_MEMORY)
        fail_msg("%s without memory is %s", i->layout->name, pfr_status_name(s));
    assert_true(s == PFR_OK || err.text[0]);
    arena_free(&arena);
}

TEST(random_records_without_memory_are_refused) {
    for_every_layout(fails_without_memory);
}

static void note_defect(void *defect, const struct check_finding *finding) {
    if (finding->severity == CHECK_DEFECT)
        *(const char **)defect = finding->rule;
}

static void has_no_defect(struct instance *i) {
    const char *defect = NULL;
    layout_check(i->layout, &i->context, i->bytes, i->length, 0, note_defect, &defect);
    if (defect)
        fail_msg("%s: a valid record is said to be %s", i->layout->name, defect);
    for (uint64_t length = 0; length < i->length; length += 1 + length / 8) {
        uint8_t *cut = malloc(length ? length : 1);
        assert_non_null(cut);
        memcpy(cut, i->bytes, length);
        layout_check(i->layout, &i->context, cut, length, 0, note_defect, &defect);
        free(cut);
    }
}

TEST(valid_records_have_no_defect_and_cut_ones_are_checked_inside) {
    for_every_layout(has_no_defect);
}

/* Random bytes are rejected or read, and reads stay inside the buffer. */
static void survives_noise(struct instance *i) {
    struct random_numbers random = {i->length + i->layout->id};
    const char *defect = NULL;
    for (unsigned round = 0; round < 4; round++) {
        for (uint64_t n = 0; n < i->length; n++)
            if (random_below(&random, 8) == 0)
                i->bytes[n] = (uint8_t)random_u64(&random);
        layout_check(i->layout, &i->context, i->bytes, i->length, 0, note_defect, &defect);
        try_cut(i, i->length);
    }
}

TEST(noise_is_refused_or_read_inside) {
    for_every_layout(survives_noise);
}

/* The tests with random instances cover a new bit as soon as names.def lists it. */
TEST(random_contexts_have_every_bit_that_has_a_name) {
    struct random_numbers random = {1};
    uint64_t sample = 0, read = 0, branch = 0;
    for (unsigned n = 0; n < INSTANCES; n++) {
        const struct pfr_context c = random_context(&random, layout_at(L_sample), false, false);
        sample |= c.word[WORD_SAMPLE];
        read |= c.word[WORD_READ];
        branch |= c.word[WORD_BRANCH];
    }
    assert_int_equal(sample, names_bits(SHOW_SAMPLE_TYPE));
    assert_int_equal(read, names_bits(SHOW_READ_FORMAT));
    assert_int_equal(branch, names_bits(SHOW_BRANCH_SAMPLE));
}
