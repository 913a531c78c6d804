/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The form of a --time is determined by a character in it: `:` means wall clock; `%` means parts of the recording; a
 * letter means a duration with a unit. Without such a character, times are in seconds.
 */
#include "query/ranges.h"

#include "base/memory/fail.h"
#include "base/text/text.h"
#include "wire/feature_bits.h"

#include <ctype.h>
#include <time.h>

#define NS_PER_SECOND 1000000000u
#define WHOLE 1000000u /* parts are counted in millionths of the recording */

struct range_reading {
    struct memory *memory;
    const struct times_known *known;
    struct ranges *list;
};

pfr_status ranges_add(struct memory *memory, struct ranges *list, uint64_t first, uint64_t last, pfr_error *err) {
    if (list->count == list->room) {
        void *more = mem_grow(memory, list->at, list->count, &list->room, 8, sizeof *list->at);
        if (!more)
            return mem_fail(memory, err, "filter");
        list->at = more;
    }
    list->at[list->count++] = (struct value_range){first, last};
    return PFR_OK;
}

static pfr_status refuse_number(const char *option, const char *text, pfr_error *err) {
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "filter",
                    "--%s '%.60s': write numbers and ranges, comma-separated, such as 0,2-5", option, text);
}

/* Reads a list of CPUs, processes or threads, whose numbers have 32 bits. */
pfr_status ranges_read(struct memory *memory, struct ranges *list, const char *option, const char *text,
                       pfr_error *err) {
    uint64_t first, last;
    list->any = !text;
    if (text && !*text)
        return refuse_number(option, text, err);
    for (const char *at = text ? text : ""; *at; at += *at == ',') {
        const size_t length = strcspn(at, ","), dash = strcspn(at, "-,");
        if (!parse_u64_part(at, dash, &first))
            return refuse_number(option, text, err);
        last = first;
        if (dash < length && !parse_u64_part(at + dash + 1, length - dash - 1, &last))
            return refuse_number(option, text, err);
        if (first > last || last > UINT32_MAX)
            return refuse_number(option, text, err);
        PFR_TRY(ranges_add(memory, list, first, last, err));
        at += length;
    }
    return PFR_OK;
}

bool ranges_have(const struct ranges *list, uint64_t value) {
    for (size_t i = 0; i < list->count; i++)
        if (value >= list->at[i].first && value <= list->at[i].last)
            return true;
    return list->any;
}

static void learn_bounds(pfr_reader *reader, struct times_known *known) {
    struct pfr_rec_feature_sample_time whole;
    const pfr_feature *f = pfr_find_feature(reader, BIT_SAMPLE_TIME, NULL);
    if (!f || pfr_decode_feature(reader, f, &whole, sizeof whole, NULL) != PFR_OK || whole.last <= whole.first)
        return;
    known->bounded = true;
    known->first = whole.first;
    known->last = whole.last;
}

/* The wall clock is known if the recording has a pair of times: one of the wall clock, one of the samples' clock. */
static void learn_wall(pfr_reader *reader, struct times_known *known) {
    struct pfr_rec_feature_clock_data clock;
    const pfr_feature *f = pfr_find_feature(reader, BIT_CLOCK_DATA, NULL);
    if (!f || pfr_decode_feature(reader, f, &clock, sizeof clock, NULL) != PFR_OK)
        return;
    known->ahead = clock.wall_clock_ns - clock.clockid_time_ns;
    known->day = clock.wall_clock_ns;
    known->walled = true;
}

void times_learn(pfr_reader *reader, struct times_known *known) {
    learn_bounds(reader, known);
    learn_wall(reader, known);
}

static pfr_status add(const struct range_reading *r, uint64_t first, uint64_t last, pfr_error *err) {
    return ranges_add(r->memory, r->list, first, last, err);
}

static pfr_status refuse(const char *text, pfr_error *err) {
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "filter",
                    "Invalid time string '%.40s': --time takes 12.5,13 (seconds), 10%%-20%%, 10%%/2, 5s-10s or dates",
                    text);
}

/* --- Ends of ranges. The text of an end is part of a longer text, but parsers need it as a string of its own. An empty
   word leaves the value unchanged. */

typedef bool end_parser(const char *text, uint64_t *value);

static bool read_end(const char *at, size_t length, end_parser *parse, uint64_t *value) {
    char text[40];
    while (length > 0 && *at == ' ')
        at++, length--;
    if (length == 0)
        return true;
    if (length >= sizeof text)
        return false;
    memcpy(text, at, length);
    text[length] = '\0';
    return parse(text, value);
}

/* Reads both ends of "A,B", which are separated by the first character that is one of `signs`. B may be less than A. */
static bool read_ends(const char *at, size_t length, const char *signs, end_parser *parse, struct value_range *range) {
    const size_t sign = strcspn(at, signs);
    *range = (struct value_range){0, UINT64_MAX};
    return sign < length && read_end(at, sign, parse, &range->first) &&
           read_end(at + sign + 1, length - sign - 1, parse, &range->last);
}

/* Adds the range that read_ends() found, or refuses it if the second end is before the first. */
static pfr_status add_ends(const struct range_reading *r, const struct value_range *range, const char *at,
                           size_t length, const char *signs, pfr_error *err) {
    const size_t sign = strcspn(at, signs);
    if (range->first <= range->last)
        return add(r, range->first, range->last, err);
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "filter", "Invalid time string '%.*s': %.*s is before %.*s",
                    (int)length, at, (int)(length - sign - 1), at + sign + 1, (int)sign, at);
}

/* --- Seconds */

/* Whether the range begins after the previous one, as perf requires. */
static bool is_behind(const struct ranges *list, const struct value_range *range) {
    return list->count == 0 || list->at[list->count - 1].last < range->first;
}

static pfr_status read_seconds(const struct range_reading *r, const char *text, pfr_error *err) {
    struct value_range range;
    if (read_ends(text, strlen(text), ",-", parse_seconds, &range))
        return add_ends(r, &range, text, strlen(text), ",-", err);
    for (const char *at = text; *at; at += *at == ' ') {
        const size_t length = strcspn(at, " ");
        if (length > 0 && !read_ends(at, length, ",-", parse_seconds, &range))
            return refuse(text, err);
        if (length > 0 && range.first <= range.last && !is_behind(r->list, &range))
            return refuse(text, err);
        if (length > 0)
            PFR_TRY(add_ends(r, &range, at, length, ",-", err));
        at += length;
    }
    return r->list->count ? PFR_OK : refuse(text, err);
}

/* --- Since the first sample */

static pfr_status read_since_start(const struct range_reading *r, const char *text, pfr_error *err) {
    struct value_range range;
    for (const char *at = text; *at; at += *at == ',') {
        const size_t length = strcspn(at, ",");
        if (!read_ends(at, length, "-", parse_duration, &range))
            return refuse(text, err);
        PFR_TRY(add_ends(r, &range, at, length, "-", err));
        at += length;
    }
    return PFR_OK;
}

/* --- Parts */

/* Takes a number with or without a fraction, and the character after it. */
static bool take_percent(const char **at, uint64_t *millionths) {
    const size_t length = strcspn(*at, "%");
    uint64_t nanoseconds = UINT64_MAX;
    if (!(*at)[length] || !read_end(*at, length, parse_seconds, &nanoseconds) || nanoseconds > 100000000000u)
        return false;
    *at += length + 1;
    *millionths = nanoseconds / 100000;
    return true;
}

/* Takes "10%-20%", "10%/2" (the second tenth), or only "10%" (the first tenth). */
static bool take_part(const char **at, bool alone, struct value_range *part) {
    uint64_t number = 1;
    if (!take_percent(at, &part->first))
        return false;
    if (**at == '-') {
        ++*at;
        return take_percent(at, &part->last);
    }
    if (**at == '/') {
        const size_t length = strcspn(++*at, ",");
        if (!parse_u64_part(*at, length, &number) || number == 0)
            return false;
        *at += length;
    } else if (**at || !alone) {
        return false;
    }
    if (__builtin_mul_overflow(part->first, number, &part->last) || part->last > WHOLE)
        return false;
    part->first *= number - 1;
    return true;
}

static uint64_t part_of(const struct times_known *whole, uint64_t millionths) {
    return whole->first + (uint64_t)((double)(whole->last - whole->first) * (double)millionths / (double)WHOLE);
}

static pfr_status read_parts(const struct range_reading *r, const char *text, pfr_error *err) {
    struct value_range part;
    if (!r->known->bounded)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "filter",
                        "--time in percent: no first/last sample time found in perf data; give seconds, or 5s-10s");
    for (const char *at = text; *at; at += *at == ',') {
        if (!take_part(&at, r->list->count == 0, &part) || (*at && *at != ','))
            return refuse(text, err);
        const bool is_empty = part.first > part.last; /* perf also accepts an empty range */
        PFR_TRY(add(r, is_empty ? 1 : part_of(r->known, part.first), is_empty ? 0 : part_of(r->known, part.last), err));
    }
    return PFR_OK;
}

/* --- The wall clock */

static bool take_digits(const char **at, unsigned count, int *value) {
    uint64_t number;
    if (strnlen(*at, count) < count || !parse_u64_part(*at, count, &number))
        return false;
    *at += count;
    *value = (int)number;
    return true;
}

static bool take_sign(const char **at, char sign) {
    *at += **at == sign;
    return (*at)[-1] == sign;
}

/* Takes "2026-11-22" and the separator before the time. If the text has no date, changes nothing. */
static bool take_day(const char **at, struct tm *tm) {
    const char *text = *at;
    if (strnlen(text, 5) < 5 || text[4] != '-')
        return true;
    if (!take_digits(at, 4, &tm->tm_year) || !take_sign(at, '-') || !take_digits(at, 2, &tm->tm_mon) ||
        !take_sign(at, '-') || !take_digits(at, 2, &tm->tm_mday) || (**at != 'T' && **at != ' '))
        return false;
    tm->tm_year -= 1900;
    tm->tm_mon--;
    ++*at;
    return tm->tm_mon >= 0 && tm->tm_mon < 12 && tm->tm_mday >= 1 && tm->tm_mday <= 31;
}

/* Takes "09:00", "09:00:01" or "09:00:01.25". */
static bool take_clock(const char **at, struct tm *tm, uint64_t *nanoseconds) {
    tm->tm_sec = 0;
    if (!take_digits(at, 2, &tm->tm_hour) || !take_sign(at, ':') || !take_digits(at, 2, &tm->tm_min))
        return false;
    if (**at == ':' && (++*at, !take_digits(at, 2, &tm->tm_sec)))
        return false;
    if (**at == '.') {
        uint64_t unit = NS_PER_SECOND / 10;
        for (++*at; isdigit((unsigned char)**at) && unit > 0; ++*at, unit /= 10)
            *nanoseconds += unit * (uint64_t)(**at - '0');
    }
    return tm->tm_hour < 24 && tm->tm_min < 60 && tm->tm_sec < 61;
}

/* Takes "", "Z" or "+01:00". *seconds: offset east of Greenwich. false: something else follows. */
static bool take_zone(const char **at, bool *is_local, int *seconds) {
    int hours, minutes;
    const char sign = **at;
    *is_local = sign == '\0';
    if (*is_local)
        return true;
    ++*at;
    if (sign == 'Z')
        return **at == '\0';
    if ((sign != '+' && sign != '-') || !take_digits(at, 2, &hours) || !take_sign(at, ':') ||
        !take_digits(at, 2, &minutes) || **at)
        return false;
    *seconds = (hours * 60 + minutes) * (sign == '-' ? -60 : 60);
    return true;
}

/* Reads a time, in ns since 1970. If it has no date, it is on the day `day`; otherwise the date replaces `day`. */
static bool read_moment(const char *text, struct tm *day, uint64_t *moment) {
    struct tm tm = *day;
    uint64_t nanoseconds = 0;
    bool is_local;
    int east = 0;
    if (!take_day(&text, &tm) || !take_clock(&text, &tm, &nanoseconds) || !take_zone(&text, &is_local, &east))
        return false;
    *day = tm;
    tm.tm_isdst = -1;
    const time_t seconds = is_local ? mktime(&tm) : timegm(&tm) - east;
    if (seconds < 0 || (uint64_t)seconds > UINT64_MAX / NS_PER_SECOND - 1)
        return false;
    *moment = (uint64_t)seconds * NS_PER_SECOND + nanoseconds;
    return true;
}

/* Times before the start of the samples' clock become its start. */
static uint64_t sample_time(const struct times_known *known, uint64_t moment) {
    const int64_t ahead = (int64_t)known->ahead;
    return ahead > 0 && moment < known->ahead ? 0 : moment - known->ahead;
}

static bool take_moment(const struct range_reading *r, const char *at, size_t length, struct tm *day, uint64_t *time) {
    char text[64];
    uint64_t moment;
    while (length > 0 && *at == ' ')
        at++, length--;
    while (length > 0 && at[length - 1] == ' ')
        length--;
    if (length == 0)
        return true;
    if (length >= sizeof text)
        return false;
    memcpy(text, at, length);
    text[length] = '\0';
    if (!read_moment(text, day, &moment))
        return false;
    *time = sample_time(r->known, moment);
    return true;
}

static pfr_status read_wall(const struct range_reading *r, const char *text, pfr_error *err) {
    uint64_t first = 0, last = UINT64_MAX;
    const size_t comma = strcspn(text, ",");
    const time_t now = (time_t)(r->known->day / NS_PER_SECOND);
    struct tm day;
    if (!r->known->walled)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "filter",
                        "--time by the wall clock: missing clock data. Please record with -k/--clockid option");
    if (!text[comma] || !localtime_r(&now, &day) || !take_moment(r, text, comma, &day, &first) ||
        !take_moment(r, text + comma + 1, strlen(text) - comma - 1, &day, &last) || first > last)
        return refuse(text, err);
    return add(r, first, last, err);
}

pfr_status times_read(struct memory *memory, const char *text, const struct times_known *known, struct ranges *list,
                      bool *since_start, pfr_error *err) {
    const struct range_reading r = {memory, known, list};
    *since_start = false;
    if (strchr(text, ':'))
        return read_wall(&r, text, err);
    if (strchr(text, '%'))
        return read_parts(&r, text, err);
    if (strpbrk(text, "smhdnu") == NULL)
        return read_seconds(&r, text, err);
    *since_start = true;
    return read_since_start(&r, text, err);
}
