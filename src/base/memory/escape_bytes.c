/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The escaped form, one character at a time. Runs of plain ASCII are found 8 bytes at a time and copied at once; only
 * other characters are decoded.
 */
#include "base/memory/escape_bytes.h"

#include <string.h>

/* The length of a well-formed sequence, from its first byte; 0: no sequence begins with this byte. (Unicode 15, table
   3-7) */
static size_t sequence_length(uint8_t first) {
    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first <= 0xdf)
        return 2;
    if (first >= 0xe0 && first <= 0xef)
        return 3;
    return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

static bool is_scalar(uint32_t code, size_t length) {
    if (length == 3)
        return code >= 0x800 && (code < 0xd800 || code > 0xdfff);
    return length < 4 || (code >= 0x10000 && code <= 0x10ffff);
}

size_t utf8_take(const uint8_t *at, size_t left, uint32_t *code) {
    static const uint8_t first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    const size_t length = sequence_length(at[0]);
    if (length == 0 || length > left)
        return 0;
    uint32_t value = at[0] & first_bits[length];
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (at[i] & 0x3fu);
    }
    if (!is_scalar(value, length))
        return 0;
    *code = value;
    return length;
}

bool is_hostile_character(uint32_t code) {
    static const struct {
        uint32_t first, last;
    } hostile[] = {
        {0x0000, 0x001f},   /* C0 */
        {0x007f, 0x009f},   /* DEL, C1 */
        {0x00ad, 0x00ad},   /* soft hyphen */
        {0x034f, 0x034f},   /* combining grapheme joiner */
        {0x061c, 0x061c},   /* Arabic letter mark */
        {0x115f, 0x1160},   /* Hangul fillers */
        {0x17b4, 0x17b5},   /* Khmer vowels without a form */
        {0x180b, 0x180f},   /* Mongolian separators */
        {0x200b, 0x200f},   /* zero width; left-to-right and right-to-left marks */
        {0x2028, 0x202e},   /* line and paragraph separators; embeddings and overrides */
        {0x2060, 0x206f},   /* word joiner, invisible operators, isolates, deprecated formats */
        {0x3164, 0x3164},   /* Hangul filler */
        {0xfeff, 0xfeff},   /* byte order mark */
        {0xffa0, 0xffa0},   /* half-width Hangul filler */
        {0xfff9, 0xfffb},   /* interlinear annotation */
        {0x1d173, 0x1d17a}, /* musical formats */
        {0xe0000, 0xe0fff}, /* tags, variation selectors of plane 14 */
    };
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile && code >= hostile[i].first; i++)
        if (code <= hostile[i].last)
            return true;
    return false;
}

static bool is_hex_digit(uint8_t c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool looks_escaped(const uint8_t *at, size_t left) {
    return left >= 4 && at[0] == '\\' && at[1] == 'x' && is_hex_digit(at[2]) && is_hex_digit(at[3]);
}

static size_t escape_bytes(const uint8_t *at, size_t count, char *to) {
    for (size_t i = 0; i < count; i++, to += 4) {
        to[0] = '\\';
        to[1] = 'x';
        to[2] = "0123456789abcdef"[at[i] >> 4];
        to[3] = "0123456789abcdef"[at[i] & 15];
    }
    return count * 4;
}

size_t escape_character(const uint8_t *at, size_t left, char to[ESCAPE_UNIT], size_t *took) {
    uint32_t code = 0;
    const size_t length = utf8_take(at, left, &code);
    *took = length ? length : 1;
    if (length == 0 || is_hostile_character(code) || looks_escaped(at, left))
        return escape_bytes(at, *took, to);
    memcpy(to, at, length);
    return length;
}

/* Whether a byte is printable ASCII that no output form quotes; such bytes are copied in runs. */
static bool is_plain(uint8_t c) {
    return c >= 0x20 && c < 0x7f && c != '\\' && c != '"';
}

/* is_plain for 8 bytes at once. In `outside` and `signs`, the high bit of a byte is set if the byte is below 0x20,
   above 0x7e, or a quoted character. */
static bool are_plain(const uint8_t *at) {
    const uint64_t ones = 0x0101010101010101u;
    uint64_t w;
    memcpy(&w, at, sizeof w);
    const uint64_t outside = w | (w + ones) | (w - ones * 0x20);
    const uint64_t signs = ((w ^ ones * '"') - ones) | ((w ^ ones * '\\') - ones);
    return ((outside | signs) & ones * 0x80) == 0;
}

size_t escape_plain_run(const uint8_t *at, size_t left) {
    size_t n = 0;
    while (left - n >= 8 && are_plain(at + n))
        n += 8;
    while (n < left && is_plain(at[n]))
        n++;
    return n;
}

size_t escape_into(char *to, size_t room, const void *bytes, size_t length) {
    const uint8_t *at = bytes;
    size_t used = 0, took;
    for (size_t i = 0; i < length; i += took) {
        char unit[ESCAPE_UNIT];
        const size_t plain = escape_plain_run(at + i, length - i);
        took = plain < room - 1 - used ? plain : room - 1 - used;
        memcpy(to + used, at + i, took);
        used += took;
        if (took > 0)
            continue;
        const size_t size = escape_character(at + i, length - i, unit, &took);
        if (used + size >= room)
            break;
        memcpy(to + used, unit, size);
        used += size;
    }
    to[used] = '\0';
    return used;
}
