/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing and writing numbers, sizes and times. All digits pass through parse_u64_part, which checks the range. */
#include <string.h>
#include "base/text/text.h"

#include <inttypes.h>
#include <stdio.h>

#define NS_PER_SECOND 1000000000ull

size_t format_time(char to[TEXT_TIME_SIZE], uint64_t nanoseconds, unsigned digits) {
    size_t length = format_u64(to, nanoseconds / NS_PER_SECOND);
    if (digits > 9)
        digits = 9;
    if (digits > 0)
        to[length++] = '.';
    uint64_t rest = nanoseconds % NS_PER_SECOND;
    for (uint64_t unit = NS_PER_SECOND / 10; digits > 0; digits--, unit /= 10) {
        to[length++] = (char)('0' + rest / unit);
        rest %= unit;
    }
    to[length] = '\0';
    return length;
}

void out_time(struct output *out, uint64_t nanoseconds, unsigned digits) {
    if (out_room(out, TEXT_TIME_SIZE))
        out->used += format_time(out->buffer + out->used, nanoseconds, digits);
}

bool parse_u64_part(const char *text, size_t length, uint64_t *value) {
    uint64_t sum = 0;
    for (size_t i = 0; i < length; i++) {
        const unsigned digit = (unsigned)(uint8_t)text[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(sum, 10u, &sum) || __builtin_add_overflow(sum, digit, &sum))
            return false;
    }
    if (length > 0)
        *value = sum;
    return length > 0;
}

bool parse_u64(const char *text, uint64_t *value) {
    return parse_u64_part(text, strlen(text), value);
}

bool parse_u64_between(const char *text, uint64_t low, uint64_t high, uint64_t *value) {
    uint64_t number;
    if (!parse_u64(text, &number) || number < low || number > high)
        return false;
    *value = number;
    return true;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool parse_hex_part(const char *text, size_t length, uint64_t *value) {
    if (length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        text += 2;
        length -= 2;
    }
    uint64_t sum = 0;
    for (size_t i = 0; i < length; i++) {
        const int digit = hex_digit(text[i]);
        if (digit < 0 || sum >> 60)
            return false;
        sum = sum << 4 | (uint64_t)digit;
    }
    if (length > 0)
        *value = sum;
    return length > 0;
}

static uint64_t time_unit(const char *name) {
    static const struct {
        const char *name;
        uint64_t nanoseconds;
    } units[] = {
        {"", NS_PER_SECOND},
        {"ns", 1},
        {"us", 1000},
        {"ms", 1000000},
        {"s", NS_PER_SECOND},
        {"m", 60 * NS_PER_SECOND},
        {"h", 3600 * NS_PER_SECOND},
        {"d", 86400 * NS_PER_SECOND},
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(name, units[i].name) == 0)
            return units[i].nanoseconds;
    return 0;
}

/* The fraction 0.`digits` of a unit, in nanoseconds, truncated. At most 9 digits are allowed, so that no product
   overflows for units up to a day. */
static bool parse_fraction(const char *text, size_t digits, uint64_t unit, uint64_t *nanoseconds) {
    uint64_t number, whole = 1;
    if (digits > 9 || !parse_u64_part(text, digits, &number))
        return false;
    for (size_t i = 0; i < digits; i++)
        whole *= 10;
    *nanoseconds = unit / whole * number + unit % whole * number / whole;
    return true;
}

/* Multiplies the number at the start of text by the unit; it has `digits` digits, and `decimals` after the point. */
static bool parse_in_units(const char *text, size_t digits, size_t decimals, uint64_t unit, uint64_t *nanoseconds) {
    uint64_t number, fraction = 0;
    if (unit == 0 || !parse_u64_part(text, digits, &number) || __builtin_mul_overflow(number, unit, &number))
        return false;
    if (text[digits] == '.' && !parse_fraction(text + digits + 1, decimals, unit, &fraction))
        return false;
    return !__builtin_add_overflow(number, fraction, nanoseconds);
}

static bool parse_time(const char *text, bool with_unit, uint64_t *nanoseconds) {
    static const char decimal[] = "0123456789";
    const size_t digits = strspn(text, decimal);
    const bool has_point = text[digits] == '.';
    const size_t decimals = has_point ? strspn(text + digits + 1, decimal) : 0;
    const char *unit = text + digits + has_point + decimals;
    uint64_t value;
    if ((!with_unit && *unit) || !parse_in_units(text, digits, decimals, time_unit(unit), &value))
        return false;
    *nanoseconds = value;
    return true;
}

bool parse_duration(const char *text, uint64_t *nanoseconds) {
    return parse_time(text, true, nanoseconds);
}

bool parse_seconds(const char *text, uint64_t *nanoseconds) {
    return parse_time(text, false, nanoseconds);
}

void format_duration(char to[TEXT_TIME_SIZE], uint64_t ns) {
    static const struct {
        uint64_t size;
        const char *name;
    } units[] = {{1000, "us"}, {1000000, "ms"}, {1000000000, "s"}};
    if (ns < 1000) {
        snprintf(to, TEXT_TIME_SIZE, "%" PRIu64 "ns", ns);
        return;
    }
    for (size_t i = 0;; i++) {
        const uint64_t size = units[i].size;
        const int digits = ns < 10 * size ? 2 : ns < 100 * size ? 1 : 0;
        const uint64_t step = digits == 2 ? size / 100 : digits == 1 ? size / 10 : size;
        const uint64_t rounded = ns / step + (ns % step >= step / 2 && step > 1);
        const uint64_t scale = size / step;
        if (rounded / scale >= 1000 && i < 2)
            continue;
        if (digits)
            snprintf(to, TEXT_TIME_SIZE, "%" PRIu64 ".%0*" PRIu64 "%s", rounded / scale, digits, rounded % scale,
                     units[i].name);
        else
            snprintf(to, TEXT_TIME_SIZE, "%" PRIu64 "%s", rounded, units[i].name);
        return;
    }
}
