/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the outermost fields of a PerfDataProto one by one, so that only one is in memory. Text is converted to the
 * bytes of messages, field by field, with the names of the schema; unknown names are skipped. After an error in text,
 * reading continues at the next line that begins with a name.
 */
#include "edit/quipper/quipper.h"

#include <stdlib.h>

#define HEAD_MOST 20u   /* bytes of the head of a field: its number, and a length or a value */
#define WORD_MOST 64u   /* size of the buffer for a name or a number */
#define NESTED_MOST 64u /* nesting of braces in skipped text */

/* --- Detection. */

static bool is_blank(int c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_of_name(int c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || (c >= 'A' && c <= 'Z');
}

/* True if the input begins with the name of an outermost field, followed by `{` or `:`. */
static bool looks_like_text(const uint8_t *bytes, size_t have) {
    size_t at = 0, end;
    while (at < have && (is_blank(bytes[at]) || bytes[at] == '#'))
        for (at++; at < have && bytes[at - 1] == '#' && bytes[at] != '\n';)
            at++;
    for (end = at; end < have && is_of_name(bytes[end]);)
        end++;
    if (!quipper_row_named(M_perf_data, (const char *)bytes + at, end - at))
        return false;
    while (end < have && is_blank(bytes[end]))
        end++;
    return end < have && (bytes[end] == '{' || bytes[end] == ':');
}

static bool is_field_of(unsigned message, const struct proto_field *f, const struct quipper_row **row) {
    *row = quipper_row_of(message, f->number);
    if (!*row)
        return false;
    const bool has_length = quipper_form_of(*row) >= FORM_BYTES;
    return has_length == (f->wire == PROTO_BYTES) || (*row)->kind == Q_NUMBERS;
}

/* Whether the head of a field of this message follows. `length` is the length of the message. */
static bool begins_message(struct cursor *in, unsigned message, uint64_t length) {
    const struct quipper_row *row;
    uint64_t head;
    if (length == 0 || !proto_take_number(in, &head) || head > UINT32_MAX)
        return false;
    const struct proto_field inner = {.number = (uint32_t)(head >> 3), .wire = head & 7};
    return is_field_of(message, &inner, &row);
}

/* Accepts an input that begins with our field for the byte order, or with a message that begins with the head of one of
 * its fields. timestamp_sec may come first, because a recording without events and records begins with it. */
static bool looks_like_fields(const uint8_t *bytes, size_t have) {
    static const char may_be_first[] = "timestamp_sec";
    struct cursor in = cursor_on(bytes, have, 0, false);
    const struct quipper_row *row;
    uint64_t head, value;
    while (proto_take_number(&in, &head) && head <= UINT32_MAX && proto_take_number(&in, &value)) {
        const struct proto_field f = {.number = (uint32_t)(head >> 3), .wire = head & 7};
        if (!is_field_of(M_perf_data, &f, &row))
            return false;
        if (quipper_form_of(row) == FORM_MESSAGE)
            return begins_message(&in, row->message, value);
        if (row != quipper_row_named(M_perf_data, may_be_first, sizeof may_be_first - 1))
            return row->number == QUIPPER_OUR_ORDER;
    }
    return false;
}

bool quipper_looks_like(const uint8_t *bytes, size_t have, bool *is_text) {
    *is_text = looks_like_text(bytes, have);
    return *is_text || looks_like_fields(bytes, have);
}

pfr_status quipper_scan_open(struct quipper_scan *s, struct memory *memory, pfr_error *err) {
    const uint8_t *bytes;
    size_t have;
    for (size_t i = 0; i < QUIPPER_DEPTH; i++)
        out_open_memory(&s->parts[i], memory);
    s->open = true;
    quipper_scan_restart(s);
    PFR_TRY(input_window(s->in, 0, 4096, &bytes, &have, err));
    if (quipper_looks_like(bytes, have, &s->is_text))
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_FORMAT, 0, have, "quipper", "this is not a PerfDataProto");
}

void quipper_scan_restart(struct quipper_scan *s) {
    s->at = 0;
    s->line = 1;
    s->ended = false;
}

void quipper_scan_close(struct quipper_scan *s) {
    for (size_t i = 0; s->open && i < QUIPPER_DEPTH; i++)
        out_close(&s->parts[i], NULL);
    s->open = false;
}

/* --- Bytes. */

static pfr_status broken(struct quipper_scan *s, uint64_t length, const char *what, pfr_error *err) {
    s->ended = true;
    return pfr_fail(err, PFR_HOLE, s->at, length, "quipper", "%s: nothing after it can be read", what);
}

static pfr_status next_of_bytes(struct quipper_scan *s, struct proto_field *f, struct cursor *content, pfr_error *err) {
    const uint8_t *bytes;
    size_t have;
    uint64_t head, length = 0;
    PFR_TRY(input_window(s->in, s->at, HEAD_MOST, &bytes, &have, err));
    if (have == 0)
        return PFR_END;
    struct cursor in = cursor_on(bytes, have, s->at, false);
    if (!proto_take_number(&in, &head))
        return broken(s, have, "this is not a field of a protocol buffer", err);
    if ((head & 7) == PROTO_BYTES && !proto_take_number(&in, &length))
        return broken(s, have, "a field is cut", err);
    const uint64_t start = cursor_offset(&in) - s->at;
    if (length > UINT64_MAX - HEAD_MOST - s->at || (input_seekable(s->in) && length > input_size(s->in) - s->at))
        return broken(s, input_size(s->in) - s->at, "a field extends beyond the end", err);
    PFR_TRY(input_window(s->in, s->at, (size_t)(start + length), &bytes, &have, err));
    in = cursor_on(bytes, have, s->at, false);
    if (!proto_take(&in, f))
        return broken(s, have, "this is not a field of a protocol buffer", err);
    *content = f->wire == PROTO_BYTES ? cursor_on(f->bytes, (size_t)f->value, s->at + start, false)
                                      : cursor_on(NULL, 0, s->at, false);
    s->at = cursor_offset(&in);
    return PFR_OK;
}

/* --- Text: characters and words. */

/* The next character, or -1 at the end. An input error counts as the end; the input keeps the error. */
static int peek(struct quipper_scan *s) {
    const uint8_t *bytes;
    size_t have;
    if (input_window(s->in, s->at, 1, &bytes, &have, NULL) < 0 || have == 0)
        return -1;
    return *bytes;
}

static int take(struct quipper_scan *s) {
    const int c = peek(s);
    s->at += c >= 0;
    s->line += c == '\n';
    return c;
}

/* Skips white space and comments. */
static void skip_blanks(struct quipper_scan *s) {
    int c;
    while ((c = peek(s)) == '#' || is_blank(c)) {
        take(s);
        while (c == '#' && peek(s) >= 0 && peek(s) != '\n')
            take(s);
    }
}

static bool take_if(struct quipper_scan *s, int c) {
    skip_blanks(s);
    if (peek(s) != c)
        return false;
    take(s);
    return true;
}

/* Takes a name or a number. Returns false if it is missing or too long. */
static bool take_word(struct quipper_scan *s, char word[WORD_MOST]) {
    size_t n = 0;
    int c;
    skip_blanks(s);
    while (is_of_name(c = peek(s)) || c == '-' || c == '.') {
        if (n + 1 == WORD_MOST)
            return false;
        word[n++] = (char)take(s);
    }
    word[n] = 0;
    return n > 0;
}

static unsigned digit(int c) {
    static const char digits[] = "0123456789abcdef";
    const char *found = c > 0 ? strchr(digits, c | 0x20) : NULL;
    return found ? (unsigned)(found - digits) : 16;
}

/* Takes at most `most` digits. Returns false if there is no digit. */
static bool take_digits(struct quipper_scan *s, unsigned base, unsigned most, int *value) {
    unsigned n = 0;
    for (*value = 0; n < most && peek(s) >= 0 && digit(peek(s)) < base; n++)
        *value = (*value * (int)base + (int)digit(take(s))) & 0xff;
    return n > 0;
}

/* Takes the rest of an escape sequence, after the backslash. */
static bool take_escape(struct quipper_scan *s, int *value) {
    static const char letters[] = "nrtabfv\"'\\?", meant[] = "\n\r\t\a\b\f\v\"'\\?";
    const char *found;
    if (peek(s) >= 0 && digit(peek(s)) < 8)
        return take_digits(s, 8, 3, value);
    const int c = take(s);
    if (c == 'x' || c == 'X')
        return take_digits(s, 16, 2, value);
    found = c > 0 ? strchr(letters, c) : NULL;
    if (found)
        *value = (unsigned char)meant[found - letters];
    return found != NULL;
}

/* Takes quoted strings; adjacent ones are joined. */
static bool take_quoted(struct quipper_scan *s, struct output *to) {
    int quote, c, value;
    bool any = false;
    for (skip_blanks(s); (quote = peek(s)) == '"' || quote == '\''; skip_blanks(s)) {
        take(s);
        while ((c = take(s)) != quote) {
            if (c < 0 || c == '\n' || (c == '\\' && !take_escape(s, &value)))
                return false;
            out_char(to, (char)(c == '\\' ? value : c));
        }
        any = true;
    }
    return any;
}

/* --- Text: values. */

static bool number_of(const char *word, uint64_t *value) {
    char *end;
    if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0) {
        *value = word[0] == 't';
        return true;
    }
    *value = word[0] == '-' ? (uint64_t)strtoll(word, &end, 0) : strtoull(word, &end, 0);
    return end > word && *end == 0;
}

static bool take_value(struct quipper_scan *s, const struct quipper_row *row, struct output *to, unsigned depth) {
    char word[WORD_MOST];
    uint64_t value;
    struct output *part = &s->parts[depth];
    if (quipper_form_of(row) == FORM_BYTES) {
        if (!take_quoted(s, part))
            return false;
        proto_message(to, row->number, part);
        return true;
    }
    if (quipper_form_of(row) == FORM_MESSAGE || !take_word(s, word) || !number_of(word, &value))
        return false;
    proto_number(to, row->number, value);
    return true;
}

/* Takes one value, or several in brackets. */
static bool take_values(struct quipper_scan *s, const struct quipper_row *row, struct output *to, unsigned depth) {
    if (!take_if(s, '['))
        return take_value(s, row, to, depth);
    if (take_if(s, ']'))
        return true;
    do
        if (!take_value(s, row, to, depth))
            return false;
    while (take_if(s, ','));
    return take_if(s, ']');
}

/* Skips the value of a field that the schema does not have. */
static bool pass_over(struct quipper_scan *s) {
    char word[WORD_MOST];
    unsigned open = 0;
    do {
        skip_blanks(s);
        const int c = peek(s);
        if (c == '"' || c == '\'') {
            if (!take_quoted(s, &s->parts[QUIPPER_DEPTH - 1]))
                return false;
            out_clear(&s->parts[QUIPPER_DEPTH - 1]);
        } else if (c == '{' || c == '[') {
            if (++open > NESTED_MOST)
                return false;
            take(s);
        } else if (c == '}' || c == ']') {
            if (open == 0)
                return false;
            open--;
            take(s);
        } else if (c == ':' || c == ',' || c == ';') {
            take(s);
        } else if (!take_word(s, word)) {
            return false;
        }
    } while (open > 0);
    return true;
}

/* --- Text: fields. */

/* Takes a field of `message` and appends it to `to`; *row is its row, or NULL. Recursion is limited by
 * QUIPPER_DEPTH. */
static bool take_text_field(struct quipper_scan *s, unsigned message, unsigned depth, struct output *to,
                            const struct quipper_row **row) {
    char name[WORD_MOST];
    if (!take_word(s, name))
        return false;
    *row = quipper_row_named(message, name, strlen(name));
    const bool has_colon = take_if(s, ':');
    if (!*row)
        return pass_over(s);
    if (!take_if(s, '{')) {
        const bool is_there = has_colon && take_values(s, *row, to, depth);
        if (is_there && !take_if(s, ','))
            take_if(s, ';');
        return is_there;
    }
    if (quipper_form_of(*row) != FORM_MESSAGE || depth + 1 >= QUIPPER_DEPTH)
        return false;
    const struct quipper_row *inner;
    while (!take_if(s, '}'))
        if (!take_text_field(s, (*row)->message, depth + 1, &s->parts[depth], &inner))
            return false;
    proto_message(to, (*row)->number, &s->parts[depth]);
    return true;
}

/* Skips to the next line that begins with a lower-case letter. */
static void skip_broken(struct quipper_scan *s) {
    int c, before = 0;
    while ((c = peek(s)) >= 0 && !(before == '\n' && c >= 'a' && c <= 'z'))
        before = take(s);
}

static pfr_status next_of_text(struct quipper_scan *s, struct proto_field *f, struct cursor *content, pfr_error *err) {
    const struct quipper_row *row = NULL;
    struct output *out = &s->parts[0];
    size_t length;
    for (size_t i = 0; i < QUIPPER_DEPTH; i++)
        out_clear(&s->parts[i]);
    skip_blanks(s);
    const uint64_t start = s->at, line = s->line;
    if (peek(s) < 0)
        return PFR_END;
    const bool is_there = take_text_field(s, M_perf_data, 1, out, &row);
    for (size_t i = 0; i < QUIPPER_DEPTH; i++)
        if (s->parts[i].status < 0)
            return mem_fail(out->memory, err, "quipper");
    if (!is_there) {
        skip_broken(s);
        return pfr_fail(err, PFR_HOLE, start, s->at - start, "quipper",
                        "the text from line %llu on is not a protocol buffer", (unsigned long long)line);
    }
    const char *bytes = out_bytes(out, &length);
    struct cursor in = cursor_on(bytes, length, start, false);
    *f = (struct proto_field){0};
    *content = cursor_on(NULL, 0, start, false);
    if (length && proto_take(&in, f) && f->wire == PROTO_BYTES)
        *content = cursor_on(f->bytes, (size_t)f->value, start, false);
    return PFR_OK;
}

pfr_status quipper_scan_next(struct quipper_scan *s, struct proto_field *f, struct cursor *content, pfr_error *err) {
    if (s->ended)
        return PFR_END;
    return s->is_text ? next_of_text(s, f, content, err) : next_of_bytes(s, f, content, err);
}
