/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of printed text, written without the library's own character tables: UTF-8 by RFC 3629, JSON by RFC 8259. */
#include "fuzz_print.h"

#define JSON_NESTING 100u

/* Length of the character that begins here, its number in *code; 0 if it is invalid. */
static size_t take_character(const uint8_t *at, size_t left, uint32_t *code) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t length = *at < 0x80 ? 1 : *at >> 5 == 6 ? 2 : *at >> 4 == 14 ? 3 : *at >> 3 == 30 ? 4 : 0;
    if (length == 0 || length > left)
        return 0;
    *code = length == 1 ? *at : *at & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (at[i] >> 6 != 2)
            return 0;
        *code = *code << 6 | (at[i] & 0x3fu);
    }
    return *code < least[length] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000) ? 0 : length;
}

/* C0, DEL, C1, zero-width and bidi controls, line separators. */
static bool is_control(uint32_t code) {
    static const uint32_t ranges[][2] = {{0, 8},           {0xb, 0x1f},      {0x7f, 0x9f},    {0x200b, 0x200f},
                                         {0x2028, 0x202e}, {0x2060, 0x2069}, {0xfeff, 0xfeff}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code >= ranges[i][0] && code <= ranges[i][1])
            return true;
    return false;
}

size_t shown_length(const char *text, size_t length) {
    size_t at = 0;
    uint32_t code = 0;
    while (at < length) {
        const size_t took = take_character((const uint8_t *)text + at, length - at, &code);
        if (took == 0 || is_control(code))
            break;
        at += took;
    }
    return at;
}

struct json_text {
    const char *at, *end;
};

static bool take_value(struct json_text *in, unsigned depth);

static void skip_blanks(struct json_text *in) {
    while (in->at < in->end && strchr(" \t\n\r", *in->at) && *in->at)
        in->at++;
}

static bool take_sign(struct json_text *in, char sign) {
    skip_blanks(in);
    if (in->at == in->end || *in->at != sign)
        return false;
    in->at++;
    return true;
}

static bool take_word(struct json_text *in, const char *word) {
    const size_t length = strlen(word);
    if ((size_t)(in->end - in->at) < length || memcmp(in->at, word, length) != 0)
        return false;
    in->at += length;
    return true;
}

static bool is_digit(const struct json_text *in) {
    return in->at < in->end && *in->at >= '0' && *in->at <= '9';
}

static bool take_digits(struct json_text *in) {
    const char *start = in->at;
    while (is_digit(in))
        in->at++;
    return in->at > start;
}

static bool take_number(struct json_text *in) {
    take_word(in, "-");
    if (!take_word(in, "0") && !take_digits(in))
        return false;
    if (take_word(in, ".") && !take_digits(in))
        return false;
    if (!take_word(in, "e") && !take_word(in, "E"))
        return true;
    if (!take_word(in, "+"))
        take_word(in, "-");
    return take_digits(in);
}

static bool take_escape(struct json_text *in) {
    if (in->at == in->end)
        return false;
    if (*in->at != 'u')
        return strchr("\"\\/bfnrt", *in->at++) != NULL;
    in->at++;
    for (int i = 0; i < 4; i++, in->at++)
        if (in->at == in->end || !*in->at || !strchr("0123456789abcdefABCDEF", *in->at))
            return false;
    return true;
}

static bool take_string(struct json_text *in) {
    if (!take_sign(in, '"'))
        return false;
    while (in->at < in->end && *in->at != '"') {
        const char c = *in->at++;
        if ((unsigned char)c < 0x20 || (c == '\\' && !take_escape(in)))
            return false;
    }
    return take_word(in, "\"");
}

static bool take_member(struct json_text *in, unsigned depth) {
    return take_string(in) && take_sign(in, ':') && take_value(in, depth);
}

static bool take_list(struct json_text *in, char close, unsigned depth,
                      bool (*take)(struct json_text *in, unsigned depth)) {
    if (take_sign(in, close))
        return true;
    do
        if (!take(in, depth))
            return false;
    while (take_sign(in, ','));
    return take_sign(in, close);
}

static bool take_value(struct json_text *in, unsigned depth) {
    skip_blanks(in);
    if (in->at == in->end || depth == 0)
        return false;
    if (*in->at == '"')
        return take_string(in);
    if (take_word(in, "{"))
        return take_list(in, '}', depth - 1, take_member);
    if (take_word(in, "["))
        return take_list(in, ']', depth - 1, take_value);
    return take_word(in, "true") || take_word(in, "false") || take_word(in, "null") || take_number(in);
}

bool is_json(const char *text, size_t length) {
    struct json_text in = {text, text + length};
    if (!take_value(&in, JSON_NESTING))
        return false;
    skip_blanks(&in);
    return in.at == in.end;
}
