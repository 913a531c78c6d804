/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptor loop and the straight-line readers of samples must always agree on which fields are present. */
#include "same_fields.h"
#include "test.h"
#include "wire/any_layout.h"
#include "wire/fast_sample.h"
#include "wire/layout_random.h"

#include <stdlib.h>

enum { SAMPLES = 1000000, OTHERS = 20000, ROOM = 768 };

/* The straight-line readers as one function type, by layout. */
typedef bool fast_reader(const struct pfr_context *c, struct cursor *in, void *rec);
#define LAYOUT(id, name, doc)                                                                                          \
    static bool read_##name(const struct pfr_context *c, struct cursor *in, void *rec) {                               \
        return fast_##name(c, in, rec);                                                                                \
    }
#define F(...)
#define END
#include "wire/perf_sample.def"
#include "wire/perf_state.def"
#undef LAYOUT
#define LAYOUT(id, name, doc) [L_##name] = read_##name,
static fast_reader *const readers[LAYOUTS] = {
#include "wire/perf_sample.def"
#include "wire/perf_state.def"
};
#undef LAYOUT
#undef F
#undef END

/* Mostly small words, so that counts are mostly plausible. */
static void scatter(struct random_numbers *random, uint8_t *bytes) {
    for (unsigned n = 0; n < 16; n++) {
        const uint64_t v = random_u64(random), small = v >> 8 & 3, at = v % (ROOM / 4);
        const uint32_t word = random_below(random, 8) ? (uint32_t)small : (uint32_t)random_u64(random);
        memcpy(bytes + 4 * at, &word, sizeof word);
    }
}

static bool agree(const struct layout *l, fast_reader *fast, const struct pfr_context *c, const uint8_t *bytes,
                  uint64_t length) {
    union any_layout by_data, by_code;
    struct cursor in_data = cursor_on(bytes, length, 0, c->swap), in_code = in_data;
    const bool read = layout_read(l, c, &in_data, &by_data, NULL) == PFR_OK;
    if (fast(c, &in_code, &by_code) != read)
        fail_msg("%s: the loop %s, the code does not", l->name, read ? "reads it" : "refuses it");
    if (!read)
        return false;
    const char *different = first_difference(l, &by_data, &by_code);
    if (different || in_data.at != in_code.at)
        fail_msg("%s.%s differs, or the place behind it", l->name, different ? different : "");
    return true;
}

static void try_layout(unsigned number, unsigned rounds) {
    struct random_numbers random = {number};
    uint8_t *bytes = calloc(1, ROOM);
    unsigned read = 0;
    assert_non_null(bytes);
    for (unsigned i = 0; i < rounds; i++) {
        const struct pfr_context c = random_context(&random, layout_at(number), i & 1, i >> 1 & 1);
        const uint64_t length = random_below(&random, 4) ? ROOM : random_below(&random, ROOM);
        scatter(&random, bytes);
        read += agree(layout_at(number), readers[number], &c, bytes + ROOM - length, length);
    }
    free(bytes);
    assert_true(read > rounds / 20);
}

TEST(code_and_data_read_a_million_random_samples_alike) {
    try_layout(L_sample, SOME_OF(SAMPLES));
}

TEST(code_and_data_read_parts_of_samples_and_records_of_state_alike) {
    for (unsigned number = L_NONE + 1; number < LAYOUTS; number++)
        if (readers[number] && number != L_sample)
            try_layout(number, OTHERS);
}

/* Samples of one event are read into the same struct: values of one sample do not appear in the next. */
TEST(samples_read_over_each_other_are_read_alike) {
    const struct layout *l = layout_at(L_sample);
    struct random_numbers random = {4711};
    uint8_t *bytes = calloc(1, ROOM);
    unsigned again = 0;
    union any_layout by_data, by_code;
    assert_non_null(bytes);
    for (unsigned i = 0; i < SAMPLES / 10; i++) {
        struct pfr_context c = random_context(&random, l, i & 1, i >> 1 & 1);
        if (i >> 2 & 1)
            c.word[WORD_SAMPLE] &= 0x103ef; /* the fields of most recordings */
        scatter(&random, bytes);
        struct cursor in = cursor_on(bytes, ROOM, 0, c.swap);
        bool fits = fast_sample(&c, &in, &by_code.as_sample);
        for (unsigned n = 0; n < 3 && fits; n++) {
            const uint64_t length = random_below(&random, 4) ? ROOM : random_below(&random, ROOM);
            scatter(&random, bytes);
            struct cursor in_data = cursor_on(bytes, length, 0, c.swap), in_code = in_data;
            fits = fast_sample_again(&c, &in_code, &by_code.as_sample);
            assert_int_equal(fits, layout_read(l, &c, &in_data, &by_data, NULL) == PFR_OK);
            if (!fits)
                break;
            assert_null(first_difference(l, &by_data, &by_code));
            assert_ptr_equal(in_code.at, in_data.at);
            again++;
        }
    }
    free(bytes);
    assert_true(again > SAMPLES / 100);
}
