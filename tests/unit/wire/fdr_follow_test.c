/* SPDX-License-Identifier: Apache-2.0 */
/* The grammar of flight-recorder buffers, tested with the terms of the format's description. */
#include "test.h"
#include "wire/fdr_follow.h"

#include <stdbool.h>

/* Types of the metadata records; F is a function record. */
enum { N = 0, E = 1, C = 2, W = 3, T = 4, X = 5, A = 6, B = 7, Y = 8, P = 9, F = 16 };

static bool is_good(unsigned version, const unsigned *records, unsigned count) {
    unsigned after = FDR_BEGIN;
    for (unsigned i = 0; i < count; i++) {
        if (!(fdr_may_follow(version, after) >> records[i] & 1))
            return false;
        after = records[i];
    }
    return true;
}

#define GOOD(version, ...)                                                                                             \
    is_good(version, (const unsigned[]){__VA_ARGS__}, sizeof((unsigned[]){__VA_ARGS__}) / sizeof(unsigned))

TEST(buffers_of_every_version_are_good) {
    assert_true(GOOD(1, N, T, C, F, A, F, W, F, X, F, E));
    assert_true(GOOD(1, N, T, F, F, E));
    assert_true(GOOD(2, N, T, C, F, F, X, C, F));
    assert_true(GOOD(3, N, T, P, C, F, X, F));
    assert_true(GOOD(4, N, T, P, C, X, W, F));
    assert_true(GOOD(5, N, T, P, C, F, A, A, Y, X, W, C, C, F));
    assert_true(GOOD(5, N, T, C, F));
}

TEST(misplaced_records_are_invalid) {
    assert_false(GOOD(5, T));
    assert_false(GOOD(5, N, C));
    assert_false(GOOD(5, N, T, F));
    assert_false(GOOD(2, N, T, P));
    assert_false(GOOD(4, N, T, P, C, Y));
    assert_false(GOOD(5, N, T, P, C, A));
    assert_false(GOOD(5, N, T, P, C, F, E));
    assert_false(GOOD(5, N, T, P, C, F, N));
    assert_false(GOOD(5, N, T, P, C, F, X, A));
    assert_false(GOOD(5, N, T, P, C, B));
    assert_false(GOOD(1, N, T, C, E, F));
    assert_false(GOOD(0, N));
    assert_false(GOOD(6, N));
}
