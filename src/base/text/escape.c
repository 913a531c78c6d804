/* SPDX-License-Identifier: Apache-2.0 */
/* Writes names in their escaped form. For JSON and CSV, escape_bytes.h gives the form a character at a time, and this
   file adds the quoting. */
#include "base/text/escape.h"

#include <string.h>

/* Writes the escaped form of one character, and inserts `with` before each character that occurs in `marked`. */
static void write_unit(struct output *out, const char *unit, size_t size, const char *marked, char with) {
    for (size_t i = 0; i < size; i++) {
        if (strchr(marked, unit[i]))
            out_char(out, with);
        out_char(out, unit[i]);
    }
}

static void write_escaped(struct output *out, const void *bytes, size_t length, const char *marked, char with) {
    const uint8_t *at = bytes;
    size_t i = 0;
    while (i < length) {
        const size_t run = escape_plain_run(at + i, length - i);
        if (run)
            out_write(out, at + i, run);
        i += run;
        if (i == length)
            return;
        char unit[ESCAPE_UNIT];
        size_t took;
        const size_t size = escape_character(at + i, length - i, unit, &took);
        write_unit(out, unit, size, marked, with);
        i += took;
    }
}

void out_escaped(struct output *out, const void *bytes, size_t length) {
    write_escaped(out, bytes, length, "", 0);
}

void out_json_string(struct output *out, const void *bytes, size_t length) {
    out_char(out, '"');
    write_escaped(out, bytes, length, "\"\\", '\\');
    out_char(out, '"');
}

/* = + - @ and their full-width forms begin a formula. */
static bool begins_formula(const uint8_t *at, size_t length) {
    uint32_t code = 0;
    if (length == 0 || utf8_take(at, length, &code) == 0)
        return false;
    return code == '=' || code == '+' || code == '-' || code == '@' || code == 0xff1d || code == 0xff0b ||
           code == 0xff0d || code == 0xff20;
}

void out_csv_field(struct output *out, const void *bytes, size_t length) {
    out_char(out, '"');
    if (begins_formula(bytes, length))
        out_char(out, '\'');
    write_escaped(out, bytes, length, "\"", '"');
    out_char(out, '"');
}

void out_csv_escaped(struct output *out, const char *text, size_t length) {
    out_char(out, '"');
    if (begins_formula((const uint8_t *)text, length))
        out_char(out, '\'');
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"')
            out_char(out, '"');
        out_char(out, text[i]);
    }
    out_char(out, '"');
}

void out_markup(struct output *out, const void *bytes, size_t length) {
    static const char *const entities[128] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};
    const uint8_t *at = bytes;
    char unit[ESCAPE_UNIT];
    for (size_t i = 0, took; i < length; i += took) {
        const size_t made = escape_character(at + i, length - i, unit, &took);
        const char *entity = made == 1 && (unsigned char)unit[0] < 128 ? entities[(unsigned char)unit[0]] : NULL;
        uint32_t code = 0;
        if (entity)
            out_text(out, entity);
        else if (made == 3 && utf8_take((const uint8_t *)unit, 3, &code) && code >= 0xfffe)
            out_text(out, "\xef\xbf\xbd"); /* XML does not allow U+FFFE and U+FFFF */
        else
            out_write(out, unit, made);
    }
}
