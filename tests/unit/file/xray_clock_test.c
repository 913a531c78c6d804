/* SPDX-License-Identifier: Apache-2.0 */
/* Times of a trace: of several clock pairs the one with the smallest offset is used, whichever comes first. */
#include "file/xray/xray_clock.h"

#include "xray_files.h"

TEST(the_least_offset_of_all_pairs_counts) {
    struct xray_clock clock = {.frequency = 2000000000, .first = UINT64_MAX};
    assert_int_equal(xray_clock_ns(&clock, 3001), 1500);
    xray_clock_add(&clock, 2000, 5000 + 400000); /* read after its buffer was created */
    assert_int_equal(clock.offset, 404000);
    xray_clock_add(&clock, 4000, 6000);
    xray_clock_add(&clock, 6000, 7900);
    assert_int_equal(clock.offset, 4000);
    assert_int_equal(clock.latest, 404000);
    assert_int_equal(clock.first, 2000);
    assert_int_equal(xray_clock_ns(&clock, 4000), 6000);
    assert_int_equal(xray_clock_ns(&clock, 0), 4000);
}

TEST(times_end_at_zero_and_at_the_largest_number) {
    struct xray_clock clock = {.frequency = 1000000000};
    xray_clock_add(&clock, 1000000, 400); /* the counter started before the machine's clock */
    assert_int_equal(clock.offset, -999600);
    assert_int_equal(xray_clock_ns(&clock, 999601), 1);
    assert_int_equal(xray_clock_ns(&clock, 999600), 0);
    assert_int_equal(xray_clock_ns(&clock, 5), 0);
    xray_clock_add(&clock, UINT64_MAX, 1); /* more ticks than any machine has counted */
    assert_int_equal(clock.offset, -999600);
    clock.offset = 10;
    assert_int_equal(xray_clock_ns(&clock, UINT64_MAX - 5), UINT64_MAX);
    clock.frequency = 0;
    assert_int_equal(xray_clock_ns(&clock, 7), 7);
}
