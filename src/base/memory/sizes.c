/* SPDX-License-Identifier: Apache-2.0 */
/* The table of sizes, its text form and random draws: see sizes.h. */
#include "base/memory/sizes.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/memory/fail.h"

struct size_row {
    const char *name;
    size_t offset, most, least;
};

static const struct size_row rows[] = {
#define SIZE(member, name, most, least, purpose) {name, offsetof(struct sizes, member), most, least},
#include "base/memory/sizes.def"
#undef SIZE
};
#define ROWS (sizeof rows / sizeof *rows)

static const struct sizes defaults = {
#define SIZE(member, name, most, least, purpose) .member = (most),
#include "base/memory/sizes.def"
#undef SIZE
};

struct sizes sizes = {
#define SIZE(member, name, most, least, purpose) .member = (most),
#include "base/memory/sizes.def"
#undef SIZE
};

static size_t *member_of(struct sizes *s, const struct size_row *row) {
    return (size_t *)(void *)((char *)s + row->offset);
}

/* Hash tables are indexed with a mask, so their size must be a power of two. */
static size_t power_of_two(size_t value) {
    while (value & (value - 1))
        value &= value - 1;
    return value;
}

static void set_member(struct sizes *s, const struct size_row *row, size_t value) {
    *member_of(s, row) = row->offset == offsetof(struct sizes, table_slots) ? power_of_two(value) : value;
}

static const struct size_row *find_row(const char *name, size_t length) {
    for (size_t i = 0; i < ROWS; i++)
        if (strlen(rows[i].name) == length && memcmp(rows[i].name, name, length) == 0)
            return &rows[i];
    return NULL;
}

static pfr_status report_unknown(const char *name, size_t length, pfr_error *err) {
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "sizes", "unknown size '%.*s'",
                    (int)(length < 40 ? length : 40), name);
}

/* Parses a number of at most 19 digits, which cannot overflow; false: not a number. */
static bool take_number(const char *text, size_t length, uint64_t *value) {
    *value = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *value = *value * 10 + (uint64_t)(text[i] - '0');
    }
    return length > 0 && length < 20;
}

static pfr_status set_one(struct sizes *s, const char *item, size_t length, pfr_error *err) {
    const char *const equals = memchr(item, '=', length);
    const size_t name = equals ? (size_t)(equals - item) : length;
    const struct size_row *const row = find_row(item, name);
    uint64_t value;
    if (!row)
        return report_unknown(item, name, err);
    if (!equals || !take_number(equals + 1, length - name - 1, &value) || value < row->least || value > row->most)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "sizes", "%s takes a number from %zu to %zu", row->name,
                        row->least, row->most);
    set_member(s, row, (size_t)value);
    return PFR_OK;
}

pfr_status sizes_set(const char *text, pfr_error *err) {
    struct sizes made = defaults;
    while (*text) {
        const size_t length = strcspn(text, ",");
        PFR_TRY(set_one(&made, text, length, err));
        text += length;
        text += *text == ',';
    }
    sizes = made;
    return PFR_OK;
}

/* splitmix64 (Steele, Lea, Flood 2014) */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* A quarter of the draws are the minimum. The others are the minimum plus a number of up to 23 bits, of which smaller
   ones are more frequent. */
static size_t draw_one(const struct size_row *row, uint64_t random) {
    uint64_t value = 1 + (random >> 8 & 0xff);
    const unsigned shift = (unsigned)(random & 0xff) % 24;
    value = shift >= 16 ? value << (shift - 8) : value >> (shift < 8 ? 8 - shift : 0);
    value = shift % 4 == 0 ? row->least : row->least + value;
    return value < row->most ? (size_t)value : row->most;
}

void sizes_draw(unsigned long long number, char *text) {
    uint64_t state = number;
    size_t used = 0;
    sizes = defaults;
    if (text)
        *text = '\0';
    for (size_t i = 0; number && i < ROWS; i++) {
        const uint64_t random = next_random(&state);
        if (random >> 62 == 0)
            continue;
        set_member(&sizes, &rows[i], draw_one(&rows[i], random));
        if (text)
            used += (size_t)snprintf(text + used, SIZES_TEXT_ROOM - used, "%s%s=%zu", used ? "," : "", rows[i].name,
                                     *member_of(&sizes, &rows[i]));
    }
}
