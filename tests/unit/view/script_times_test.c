/* SPDX-License-Identifier: Apache-2.0 */
/* Every form of --time: the resulting ranges, and rejected forms with the reason. */
#include "query/ranges.h"
#include "../test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define S ((uint64_t)1000000000)
#define END UINT64_MAX

/* Samples from second 100 to 200; the clock started on 2026-11-22 at 09:00. */
#define BEGIN_OF_CLOCK ((uint64_t)1795338000)
static const struct times_known known = {.bounded = true,
                                         .first = 100 * S,
                                         .last = 200 * S,
                                         .walled = true,
                                         .ahead = BEGIN_OF_CLOCK * S,
                                         .day = BEGIN_OF_CLOCK * S};
static const struct times_known nothing_known;

/* "100-200 300-" in ns; a leading "@": since the start */
static void say_ranges(const struct ranges *list, bool since_start, char *to, size_t room) {
    size_t length = (size_t)snprintf(to, room, "%s", since_start ? "@" : "");
    for (size_t i = 0; i < list->count; i++) {
        const struct value_range *r = &list->at[i];
        length += (size_t)snprintf(to + length, room - length, "%s%llu-", i ? " " : "", (unsigned long long)r->first);
        if (r->last != END)
            length += (size_t)snprintf(to + length, room - length, "%llu", (unsigned long long)r->last);
    }
}

static pfr_status read_text(const char *text, const struct times_known *what, char *to, size_t room, pfr_error *err) {
    struct memory memory;
    struct ranges list = {0};
    bool since_start;
    memory_init(&memory, NULL, 0);
    const pfr_status status = times_read(&memory, text, what, &list, &since_start, err);
    say_ranges(&list, since_start, to, room);
    mem_free(&memory, list.at, list.room, sizeof *list.at);
    return status;
}

static void expect(const char *text, const char *wanted) {
    char got[400];
    pfr_error err = {0};
    if (read_text(text, &known, got, sizeof got, &err) != PFR_OK)
        fail_msg("'%s': %s", text, err.text);
    assert_string_equal(got, wanted);
}

static void expect_refused(const char *text, const struct times_known *what, const char *why) {
    char got[400];
    pfr_error err = {0};
    if (read_text(text, what, got, sizeof got, &err) != PFR_ERR_USAGE)
        fail_msg("'%s' became %s", text, got);
    if (!strstr(err.text, why))
        fail_msg("'%s': \"%s\" does not say \"%s\"", text, err.text, why);
}

TEST(seconds) {
    expect("12.5,13", "12500000000-13000000000");
    expect("12.5-13", "12500000000-13000000000");
    expect("12.5,", "12500000000-");
    expect(",13", "0-13000000000");
    expect(",", "0-");
    expect("12.5, 13", "12500000000-13000000000");
    expect("1,2 3,4", "1000000000-2000000000 3000000000-4000000000");
    expect(",2  3,", "0-2000000000 3000000000-");
    expect_refused("1,2 1.5,3", &known, "Invalid time string");
    expect_refused("1,2 2,3", &known, "Invalid time string");
    expect_refused("3,4 1,2", &known, "Invalid time string");
    expect_refused("1, 3,4", &known, "Invalid time string");
}

TEST(parts) {
    expect("10%-20%", "110000000000-120000000000");
    expect("10%/2", "110000000000-120000000000");
    expect("10%", "100000000000-110000000000");
    expect("0%-50%,60%-70%", "100000000000-150000000000 160000000000-170000000000");
    expect("12.5%-50%", "112500000000-150000000000");
    expect("100%/1", "100000000000-200000000000");
    expect("50%/2,", "150000000000-200000000000");
    expect("20%-10%", "1-0");
}

TEST(since_the_start) {
    expect("5s-10s", "@5000000000-10000000000");
    expect("300ms-", "@300000000-");
    expect("-1m", "@0-60000000000");
    expect("5-10s", "@5000000000-10000000000");
    expect("1us-2us,1h-2h", "@1000-2000 3600000000000-7200000000000");
}

TEST(the_wall_clock) {
    setenv("TZ", "UTC", 1);
    tzset();
    expect("2026-11-22 09:00:01,2026-11-22 09:00:05", "1000000000-5000000000");
    expect("2026-11-22T09:00:01,09:00:05", "1000000000-5000000000");
    expect("09:01,", "60000000000-");
    expect(",09:00:00.25", "0-250000000");
    expect("10:00:02+01:00,08:30:03.5-00:30", "2000000000-3500000000");
    expect("2026-11-23 00:00, 00:01", "54000000000000-54060000000000");
    expect("2025-01-01 00:00,09:00", "0-0");
    setenv("TZ", "XYZ-2", 1); /* two hours east */
    tzset();
    expect("11:00:01,09:00:05Z", "1000000000-5000000000");
    unsetenv("TZ");
    tzset();
}

TEST(invalid_times) {
    static const char *const wrong[] = {"",
                                        "12",
                                        "abc",
                                        "1,2,3",
                                        "2,1",
                                        "1,2 3",
                                        "1,x",
                                        "10%,20%",
                                        "10%/11",
                                        "10%/0",
                                        "%",
                                        "5%-",
                                        "-10%",
                                        "10%-101%",
                                        "10%/2 20%/3",
                                        "5s",
                                        "5s-4s",
                                        "5s-x",
                                        "09:00",
                                        "25:00,",
                                        "2026-13-01 00:00,",
                                        "2026-11-22,",
                                        "09:00x,",
                                        "9:00,",
                                        "09:61,",
                                        "10:00,09:30",
                                        "2026-11-22 09:00+1,",
                                        "1.1234567891,"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        expect_refused(wrong[i], &known, "Invalid time string");
    expect_refused("10%/2", &nothing_known, "no first/last sample time");
    expect_refused("09:00,", &nothing_known, "missing clock data");
}
