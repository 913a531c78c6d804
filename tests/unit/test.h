/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_TEST_H
#define PFR_TESTS_TEST_H
/*
 * A unit test is one function, without registration:
 *
 *     #include "test.h"
 *     #include "base/memory/cursor.h"
 *
 *     TEST(cursor_stops_at_the_end)
 *     {
 *         assert_int_equal(cursor_left(&in), 0);
 *     }
 *
 * TEST puts the function into the linker section pfr_tests. test_main.c reads the section and passes each test to
 * cmocka, so all asserts of cmocka and skip() work. If a test program gets a word as its argument, it runs only the
 * tests whose names contain the word.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <perfray/error.h>

/* The value of `swap` for bytes that a test has in little-endian order. */
#define SWAP_OF_LITTLE (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

/* How many of n repetitions to run: an eighth if the machine is emulated (PERFRAY_SPARSE), at least two. */
#define SOME_OF(n) (!getenv("PERFRAY_SPARSE") ? (n) : (n) < 16 ? 2 : (n) / 8)

/* Returns `few` in a build with sanitizers if PERFRAY_LONG is not set, otherwise `all`. The build without sanitizers
 * tries everything. */
static inline long with_sanitizers_only(long few, long all) {
#ifdef __SANITIZE_ADDRESS__
    return getenv("PERFRAY_LONG") ? all : few;
#else
    (void)few;
    return all;
#endif
}

/* For slow random tests whose rounds differ little. With PERFRAY_LONG, returns n; otherwise half of n, or a quarter
 * with sanitizers, at least two. On an emulated machine: an eighth, at least one. */
static inline long few_of(long n) {
    if (getenv("PERFRAY_SPARSE"))
        return n < 16 ? 1 : n / 8;
    if (getenv("PERFRAY_LONG"))
        return n;
    return with_sanitizers_only(n < 8 ? 2 : n / 4, n < 4 ? n : n / 2);
}
#define FEW_OF(n) few_of((long)(n))

/* The distance between the places at which a test damages or truncates data; seven times as large if the machine is
   emulated. */
#define STEP_OF(n) (getenv("PERFRAY_SPARSE") ? 7 * (n) : (n))

struct test_entry {
    const char *file, *name;
    void (*run)(void);
};

#define TEST(title)                                                                                                    \
    static void title(void);                                                                                           \
    static const struct test_entry entry_of_##title = {__FILE__, #title, title};                                       \
    static const struct test_entry *const listed_##title __attribute__((used, section("pfr_tests"))) =                 \
        &entry_of_##title;                                                                                             \
    static void title(void)

/* The call must return PFR_OK; otherwise the error's offset and text are printed. */
#define ASSERT_OK(call, err)                                                                                           \
    do {                                                                                                               \
        const pfr_status status_ = (call);                                                                             \
        if (status_ != PFR_OK)                                                                                         \
            fail_msg("%s is %s at byte %ju: %s", #call, pfr_status_name(status_), (uintmax_t)(err).offset,             \
                     (err).text);                                                                                      \
    } while (0)

/* The call must return the given status; any other status is printed with the error's offset and text. */
#define ASSERT_STATUS(call, expected, err)                                                                             \
    do {                                                                                                               \
        const pfr_status status_ = (call);                                                                             \
        if (status_ != (expected))                                                                                     \
            fail_msg("%s is %s, not %s, at byte %ju: %s", #call, pfr_status_name(status_), pfr_status_name(expected),  \
                     (uintmax_t)(err).offset, (err).text);                                                             \
    } while (0)

#endif
