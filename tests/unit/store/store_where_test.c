/* SPDX-License-Identifier: Apache-2.0 */
/* The result of an expression for an upload, a range of times or a day agrees with its results for each slot in that
   upload, range or day. */
#include "../test.h"

#include "store/store_where.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 20000, SLOTS_MOST = 40 };

static uint64_t state = UINT64_C(88172645463325252);

static uint64_t draw(uint64_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

/* Full hours around the first days of a year, so that boundaries coincide. */
static uint64_t some_second(void) {
    return 19676 * 86400 + draw(72) * 3600;
}

static void write_test(char *to, size_t room) {
    static const char *const tests[] = {"time < @%" PRIu64, "time <= @%" PRIu64, "time > @%" PRIu64,
                                        "time >= @%" PRIu64};
    if (draw(4) == 0)
        snprintf(to, room, "service=%c", (char)('a' + draw(2)));
    else
        snprintf(to, room, tests[draw(4)], some_second());
}

static void write_expression(char *to, size_t room) {
    char one[40], two[40], three[40];
    write_test(one, sizeof one);
    write_test(two, sizeof two);
    write_test(three, sizeof three);
    switch (draw(4)) {
    case 0:
        snprintf(to, room, "%s", one);
        break;
    case 1:
        snprintf(to, room, "%s and %s", one, two);
        break;
    case 2:
        snprintf(to, room, "not (%s or %s)", one, two);
        break;
    default:
        snprintf(to, room, "%s or not %s and %s", one, two, three);
    }
}

static struct store_upload some_upload(void) {
    struct store_upload u = {.first = some_second() * SECOND_NS, .slot = (1 + draw(8)) * 3600 * SECOND_NS};
    u.last = u.first + (1 + draw(SLOTS_MOST)) * u.slot;
    u.service[0] = (char)('a' + draw(2));
    return u;
}

static bool matches(const struct where *w, const struct store_upload *u, uint64_t time) {
    return where_of_row(w, u, time, "", "");
}

static void check_slots(const struct where *w, const struct store_upload *u, unsigned *parted) {
    const enum where_value value = where_of_upload(w, u);
    const bool is_daily = where_is_daily(w, u);
    uint64_t first, last;
    bool differs = false;
    const char *service = where_service(w);
    where_times(w, &first, &last);
    for (uint64_t t = u->first; t < u->last; t += u->slot) {
        const bool fits = matches(w, u, t), begins_day = t == u->first || t / DAY_NS != (t - u->slot) / DAY_NS;
        assert_true(value == WHERE_DEPENDS || fits == (value == WHERE_YES));
        assert_true(!fits || (t >= first && t <= last));
        assert_true(!fits || !service || strcmp(u->service, service) == 0);
        differs |= !begins_day && fits != matches(w, u, t - u->slot);
    }
    assert_true(!is_daily || !differs);
    *parted += differs;
}

TEST(where_upload_times_and_days_agree_with_every_slot) {
    unsigned parted = 0, daily = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct where w;
        pfr_error err = {.status = PFR_OK};
        char text[200];
        const struct store_upload u = some_upload();
        write_expression(text, sizeof text);
        assert_int_equal(where_parse(&w, text, 0, &err), PFR_OK);
        check_slots(&w, &u, &parted);
        daily += where_is_daily(&w, &u);
    }
    assert_true(parted > ROUNDS / 100 && daily > ROUNDS / 10); /* both results occurred */
}

TEST(where_whole_days_split_no_day) {
    static const char *const whole[] = {"", "time >= @1700006400", "time < @1700006400",
                                        "not time < \"2023-11-15\" and service=a"};
    static const char *const parts[] = {"time > @1700006400", "time <= @1700006400", "time >= @1700010000"};
    const struct store_upload u = {
        .first = 1699999200 * SECOND_NS, .slot = 3600 * SECOND_NS, .last = 1700020800 * SECOND_NS};
    struct where w;
    pfr_error err;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        assert_int_equal(where_parse(&w, whole[i], 0, &err), PFR_OK);
        assert_true(where_is_daily(&w, &u));
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        assert_int_equal(where_parse(&w, parts[i], 0, &err), PFR_OK);
        assert_false(where_is_daily(&w, &u));
    }
}

static const char *service_of(const char *text) {
    static struct where w;
    assert_int_equal(where_parse(&w, text, 0, NULL), PFR_OK);
    return where_service(&w);
}

TEST(where_service_is_known_if_every_match_has_it) {
    assert_string_equal(service_of("service=a"), "a");
    assert_string_equal(service_of("time > @1 and (service=a and host=b)"), "a");
    assert_null(service_of(""));
    assert_null(service_of("service=a or service=b"));
    assert_null(service_of("not service=a"));
    assert_null(service_of("service~a"));
    assert_null(service_of("host=a and (service=a or time > @1)"));
}

TEST(where_errors_name_the_offset) {
    static const struct {
        const char *text;
        uint64_t offset;
    } bad[] = {{"service", 7}, {"service=a b=c", 10}, {"(service=a", 10}, {"time=5", 4}, {"colour=red", 0}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct where w;
        pfr_error err = {.status = PFR_OK};
        assert_int_equal(where_parse(&w, bad[i].text, 0, &err), PFR_ERR_USAGE);
        assert_int_equal(err.offset, bad[i].offset);
    }
}
