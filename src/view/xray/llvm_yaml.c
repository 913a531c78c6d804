/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quotes scalars of YAML exactly like LLVM (observed with llvm-xray 14 and 19). Control characters, newlines and
 * non-ASCII characters require double quotes; texts that YAML could read as a number, boolean, null or syntax require
 * single quotes.
 *
 * In double quotes, printable characters are unchanged, others are \xNN, \uNNNN or \UNNNNNNNN. The set of printable
 * characters depends on the version of Unicode; only characters that are not printable in any version are escaped: see
 * is_unprinted. Unless raw names are requested, characters that could mislead a reader or control a terminal are
 * escaped as well.
 */
#include "view/xray/llvm_yaml.h"

#include "base/text/escape.h"

#include <string.h>

enum quotes { QUOTES_NONE, QUOTES_SINGLE, QUOTES_DOUBLE };

/* --- Numbers. */

static size_t digits_at(const char *text, size_t length) {
    size_t n = 0;
    while (n < length && text[n] >= '0' && text[n] <= '9')
        n++;
    return n;
}

static bool all_of(const char *text, size_t length, const char *letters) {
    for (size_t i = 0; i < length; i++)
        if (!text[i] || !strchr(letters, text[i]))
            return false;
    return length > 0;
}

static bool is_one_of(const char *text, size_t length, const char *const *words) {
    for (; *words; words++)
        if (strlen(*words) == length && memcmp(*words, text, length) == 0)
            return true;
    return false;
}

static size_t sign_at(const char *text, size_t length) {
    return length > 0 && (text[0] == '-' || text[0] == '+');
}

/* Digits with an optional point and exponent; at least one digit must precede or follow the point. */
static bool is_decimal(const char *text, size_t length) {
    size_t at = digits_at(text, length);
    const bool whole = at > 0;
    if (at < length && text[at] == '.') {
        const size_t part = digits_at(text + at + 1, length - at - 1);
        if (!whole && part == 0)
            return false;
        at += 1 + part;
    } else if (!whole) {
        return false;
    }
    if (at == length)
        return true;
    if (text[at] != 'e' && text[at] != 'E')
        return false;
    at++;
    if (at == length)
        return false;
    at += sign_at(text + at, length - at);
    return at < length && at + digits_at(text + at, length - at) == length;
}

static bool is_number(const char *text, size_t length) {
    static const char *const not_numbers[] = {".nan", ".NaN", ".NAN", NULL};
    static const char *const infinite[] = {".inf", ".Inf", ".INF", NULL};
    const size_t sign = sign_at(text, length);
    if (is_one_of(text, length, not_numbers) || is_one_of(text + sign, length - sign, infinite))
        return true;
    if (length > 2 && text[0] == '0' && text[1] == 'o')
        return all_of(text + 2, length - 2, "01234567");
    if (length > 2 && text[0] == '0' && text[1] == 'x')
        return all_of(text + 2, length - 2, "0123456789abcdefABCDEF");
    return is_decimal(text + sign, length - sign);
}

/* --- Quotes. */

static bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_safe(unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c && strchr("_-^., \t", c) != NULL);
}

static enum quotes quotes_of(const char *text, size_t length) {
    static const char *const words[] = {"null", "Null",  "NULL",  "~",     "true", "True",
                                        "TRUE", "false", "False", "FALSE", NULL};
    if (length == 0)
        return QUOTES_SINGLE;
    enum quotes quotes = QUOTES_NONE;
    if (is_blank(text[0]) || is_blank(text[length - 1]) || is_one_of(text, length, words) || is_number(text, length) ||
        (text[0] && strchr("-?:\\,[]{}#&*!|>'\"%@`", text[0])))
        quotes = QUOTES_SINGLE;
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        if ((c < ' ' && c != '\t') || c >= 0x7f)
            return QUOTES_DOUBLE;
        if (!is_safe(c))
            quotes = QUOTES_SINGLE;
    }
    return quotes;
}

/* --- Escapes. */

/* Control and format characters, private use, and code points that will never be assigned. */
static bool is_unprinted(uint32_t code) {
    static const struct {
        uint32_t first, last;
    } unprinted[] = {
        {0x80, 0x9f},       {0x600, 0x605},     {0x61c, 0x61c},     {0x6dd, 0x6dd},      {0x70f, 0x70f},
        {0x8e2, 0x8e2},     {0x180e, 0x180e},   {0x200b, 0x200f},   {0x2028, 0x202e},    {0x2060, 0x206f},
        {0xe000, 0xf8ff},   {0xfdd0, 0xfdef},   {0xfeff, 0xfeff},   {0xfff0, 0xfffb},    {0xfffe, 0xffff},
        {0x110bd, 0x110bd}, {0x1d173, 0x1d17a}, {0xe0000, 0xe00ff}, {0xf0000, 0x10ffff},
    };
    for (size_t i = 0; i < sizeof unprinted / sizeof *unprinted; i++)
        if (code >= unprinted[i].first && code <= unprinted[i].last)
            return true;
    return (code & 0xfffe) == 0xfffe;
}

static void out_code(struct output *out, uint32_t code) {
    static const char digits[] = "0123456789ABCDEF";
    const unsigned width = code <= 0xff ? 2 : code <= 0xffff ? 4 : 8;
    out_char(out, '\\');
    out_char(out, width == 2 ? 'x' : width == 4 ? 'u' : 'U');
    for (unsigned at = width; at-- > 0;)
        out_char(out, digits[code >> 4 * at & 15]);
}

/* The letter of a one-letter escape; 0 if there is none. */
static char letter_of(uint32_t code) {
    static const struct {
        uint16_t code;
        char letter;
    } letters[] = {{'\\', '\\'}, {'"', '"'},  {0, '0'},    {7, 'a'},      {8, 'b'},
                   {9, 't'},     {10, 'n'},   {11, 'v'},   {12, 'f'},     {13, 'r'},
                   {27, 'e'},    {0x85, 'N'}, {0xa0, '_'}, {0x2028, 'L'}, {0x2029, 'P'}};
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (letters[i].code == code)
            return letters[i].letter;
    return 0;
}

static void out_character(struct output *out, uint32_t code, const uint8_t *bytes, size_t size, bool raw) {
    const char letter = letter_of(code);
    if (letter) {
        out_char(out, '\\');
        out_char(out, letter);
    } else if (code < ' ' || (size > 1 && is_unprinted(code)) || (!raw && is_hostile_character(code))) {
        out_code(out, code);
    } else {
        out_write(out, bytes, size);
    }
}

static bool out_double(struct output *out, const uint8_t *bytes, size_t length, bool raw) {
    bool whole = true;
    out_char(out, '"');
    for (size_t at = 0, size; at < length && whole; at += size) {
        uint32_t code = 0;
        size = utf8_take(bytes + at, length - at, &code);
        whole = size > 0;
        if (whole)
            out_character(out, code, bytes + at, size, raw);
        else
            out_text(out, "\xef\xbf\xbd");
    }
    out_char(out, '"');
    return whole;
}

bool out_llvm_scalar(struct output *out, const void *bytes, size_t length, bool raw) {
    const char *text = bytes;
    const enum quotes quotes = quotes_of(text, length);
    if (quotes == QUOTES_DOUBLE)
        return out_double(out, bytes, length, raw);
    if (quotes == QUOTES_NONE) {
        out_write(out, bytes, length);
        return true;
    }
    out_char(out, '\'');
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\'')
            out_char(out, '\'');
        out_char(out, text[i]);
    }
    out_char(out, '\'');
    return true;
}
