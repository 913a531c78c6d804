/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See tracepoint_grammar.h. A print format is C, or nearly (Documentation/trace/events.rst of the kernel):
 *
 *     print     := string+ ( ',' ternary )*
 *     ternary   := binary [ '?' ternary ':' ternary ]
 *     binary    := unary ( operator unary )*
 *     unary     := ( '-' | '!' | '~' | cast )* primary
 *     cast      := '(' word+ '*'* ')'
 *     primary   := number | string | REC->field [ '[' number ']' ] | '(' ternary ')' | call | WORD
 *     call      := __get_str(field) | __print_flags(ternary, string, list) | ...
 *
 * The text is read in one pass, top down. No tree is built.
 */
#include "model/tracepoint/tracepoint_grammar.h"

#include <string.h>

struct grammar_reading {
    const char *at, *end;
    const struct event_format *format;
    unsigned depth, operators, columns, signs;
    bool printed;           /* the value read last is, or may be, the text of a __print_ function */
    bool plain;             /* the current value is in a list: only numbers and words are allowed */
    bool indexed, combined; /* the argument contains REC->field[n]; it contains an operator, perhaps in a list */
};

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void skip_blanks(struct grammar_reading *r) {
    while (r->at < r->end && is_blank(*r->at))
        r->at++;
}

static char next_char(struct grammar_reading *r) {
    skip_blanks(r);
    return r->at < r->end ? *r->at : '\0';
}

static bool take(struct grammar_reading *r, const char *token) {
    const size_t length = strlen(token);
    skip_blanks(r);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, token, length) != 0)
        return false;
    r->at += length;
    return true;
}

struct grammar_word {
    const char *at;
    size_t length;
};

static bool take_word(struct grammar_reading *r, struct grammar_word *word) {
    skip_blanks(r);
    const char *start = r->at;
    if (start == r->end || !is_letter(*start))
        return false;
    while (r->at < r->end && (is_letter(*r->at) || is_digit(*r->at)))
        r->at++;
    *word = (struct grammar_word){start, (size_t)(r->at - start)};
    return true;
}

static bool is(const struct grammar_word *word, const char *text) {
    return word->length == strlen(text) && memcmp(word->at, text, word->length) == 0;
}

/* Decimal or hexadecimal, with suffixes U and L. A number of more than 32 bits counts as UINT32_MAX. */
static bool take_number(struct grammar_reading *r, uint32_t *value) {
    skip_blanks(r);
    uint64_t sum = 0;
    const char *start = r->at;
    const bool hex = r->end - start > 2 && start[0] == '0' && (start[1] == 'x' || start[1] == 'X');
    r->at += hex ? 2 : 0;
    for (; r->at < r->end; r->at++) {
        const char c = *r->at, lower = (char)(c | 0x20);
        if (!is_digit(c) && !(hex && lower >= 'a' && lower <= 'f'))
            break;
        sum = sum * (hex ? 16 : 10) + (uint64_t)(is_digit(c) ? c - '0' : lower - 'a' + 10);
        sum = sum > UINT32_MAX ? UINT32_MAX : sum;
    }
    if (r->at == start + (hex ? 2 : 0))
        return false;
    while (r->at < r->end && ((*r->at | 0x20) == 'u' || (*r->at | 0x20) == 'l'))
        r->at++;
    *value = (uint32_t)sum;
    return r->at == r->end || !(is_letter(*r->at) || is_digit(*r->at) || *r->at == '.');
}

/* A string. Accepts only escapes after which the library finds the end of the string: not "\\\\". Strings of some
   kernels contain newlines. */
static bool take_string(struct grammar_reading *r, struct grammar_word *text) {
    if (!take(r, "\""))
        return false;
    text->at = r->at;
    for (; r->at < r->end && *r->at != '"'; r->at++) {
        if (*r->at == '\\') {
            r->at++;
            if (r->at == r->end || !strchr("\"nt", *r->at) || !*r->at)
                return false;
        } else if ((uint8_t)*r->at < ' ' && *r->at != '\n') {
            return false;
        }
    }
    text->length = (size_t)(r->at - text->at);
    return take(r, "\"");
}

static const struct format_field *take_field(struct grammar_reading *r) {
    struct grammar_word word;
    if (!take_word(r, &word))
        return NULL;
    for (size_t i = 0; i < r->format->field_count; i++)
        if (is(&word, r->format->fields[i].name))
            return &r->format->fields[i];
    return NULL;
}

/* --- expressions --- */

static bool ternary(struct grammar_reading *r);

static bool count_operator(struct grammar_reading *r) {
    r->combined = true;
    return ++r->operators <= TRACE_OPERATORS_MOST;
}

/* Takes "(field)", the name of a dynamic array. */
static bool dynamic_argument(struct grammar_reading *r, bool relative) {
    const struct format_field *f = take(r, "(") ? take_field(r) : NULL;
    return f && (relative ? f->rel_loc : f->data_loc) && take(r, ")");
}

/* A call with a dynamic array. Excludes __get_rel_dynamic_array_len: libtraceevent 1.7 follows a null pointer there. */
static bool dynamic_call(struct grammar_reading *r, const struct grammar_word *name) {
    static const char *const here[] = {"__get_str", "__get_bitmask", "__get_cpumask", "__get_dynamic_array_len"};
    static const char *const relative[] = {"__get_rel_str", "__get_rel_bitmask", "__get_rel_cpumask"};
    for (size_t i = 0; i < sizeof here / sizeof *here; i++)
        if (is(name, here[i]))
            return dynamic_argument(r, false);
    for (size_t i = 0; i < sizeof relative / sizeof *relative; i++)
        if (is(name, relative[i]))
            return dynamic_argument(r, true);
    return false;
}

/* Takes a string that may consist of several pieces. */
static bool take_strings(struct grammar_reading *r) {
    struct grammar_word text;
    do {
        if (!take_string(r, &text))
            return false;
    } while (next_char(r) == '"');
    return true;
}

/* Takes a null pointer, which may be the text of the last entry of a list. */
static bool take_no_string(struct grammar_reading *r) {
    return take(r, "(") && take(r, "(") && take(r, "void") && take(r, "*") && take(r, ")") && take(r, "0") &&
           take(r, ")");
}

static bool plain_value(struct grammar_reading *r) {
    r->plain = true;
    const bool fine = ternary(r);
    r->plain = false;
    return fine;
}

/* Takes { value, "text" }, ... up to the parenthesis. Values are expressions of numbers. */
static bool list(struct grammar_reading *r) {
    const unsigned before = r->operators;
    do {
        r->operators = 0;
        if (!take(r, "{") || !plain_value(r) || !take(r, ","))
            return false;
        if (!(next_char(r) == '(' ? take_no_string(r) : take_strings(r)) || !take(r, "}"))
            return false;
    } while (take(r, ","));
    r->operators = before;
    return take(r, ")");
}

/* Takes (field, number of bytes): the field is REC->field of at least that size, or a whole dynamic array. */
static bool hex_call(struct grammar_reading *r) {
    uint32_t count;
    if (!take(r, "("))
        return false;
    if (take(r, "REC->")) {
        const struct format_field *f = take_field(r);
        return f && take(r, ",") && take_number(r, &count) && count <= f->size && take(r, ")");
    }
    struct grammar_word name;
    const char *const kinds[] = {"__get_dynamic_array", "__get_dynamic_array_len"};
    return take_word(r, &name) && is(&name, kinds[0]) && dynamic_argument(r, false) && take(r, ",") &&
           take_word(r, &name) && is(&name, kinds[1]) && dynamic_argument(r, false) && take(r, ")");
}

static bool value_and(struct grammar_reading *r, bool delimited) {
    struct grammar_word delimiter;
    if (!take(r, "(") || !ternary(r) || r->printed || !take(r, ","))
        return false;
    return !delimited || (take_string(r, &delimiter) && take(r, ","));
}

/* Takes a call of a __print_ function. The library leaks memory if its text is used as a number. */
static bool print_call(struct grammar_reading *r, const struct grammar_word *name, bool *fine) {
    const bool flags = is(name, "__print_flags"), hex = is(name, "__print_hex") || is(name, "__print_hex_str");
    if (!flags && !hex && !is(name, "__print_symbolic"))
        return false;
    *fine = hex ? hex_call(r) : value_and(r, flags) && list(r);
    r->printed = true;
    return true;
}

static bool call(struct grammar_reading *r, const struct grammar_word *name) {
    bool fine;
    return print_call(r, name, &fine) ? fine : dynamic_call(r, name);
}

/* Takes the rest of a field access, after "REC->". */
static bool field_access(struct grammar_reading *r) {
    const struct format_field *f = take_field(r);
    uint32_t index;
    if (!f)
        return false;
    if (!take(r, "["))
        return true;
    r->indexed = true;
    return f->is_array && !f->data_loc && !f->rel_loc && take_number(r, &index) && index < f->elements && take(r, "]");
}

static bool primary(struct grammar_reading *r) {
    struct grammar_word word;
    uint32_t number;
    const char c = next_char(r);
    r->printed = false;
    if (c == '"')
        return !r->plain && take_string(r, &word);
    if (is_digit(c))
        return take_number(r, &number);
    if (c == '(')
        return take(r, "(") && ternary(r) && take(r, ")");
    if (take(r, "REC->"))
        return !r->plain && field_access(r);
    if (!take_word(r, &word) || is(&word, "REC") || is(&word, "sizeof"))
        return false;
    return next_char(r) != '(' || (!r->plain && call(r, &word));
}

/* Takes a cast: "(unsigned long)" and "(void *)", but not "(REC->x)", a call, or "(x)" followed by an operator. */
static bool cast(struct grammar_reading *r) {
    const char *start = r->at;
    struct grammar_word word;
    unsigned words = 0, stars = 0;
    if (take(r, "(")) {
        while (take_word(r, &word) && !is(&word, "REC"))
            words++;
        while (take(r, "*"))
            stars++;
        if (words > 0 && take(r, ")")) {
            const char c = next_char(r);
            if (c == '(' || c == '"' || c == '-' || is_digit(c) || is_letter(c))
                return true;
        }
    }
    r->at = start;
    return false;
}

static bool sign(struct grammar_reading *r) {
    const bool found = take(r, "-") || take(r, "!") || take(r, "~");
    r->signs += found;
    return found;
}

static bool unary(struct grammar_reading *r) {
    bool any = false;
    for (; cast(r) || sign(r); any = true)
        if (!count_operator(r))
            return false;
    return primary(r) && !(any && r->printed);
}

/* Takes a divisor. The library divides by any result, so only numbers other than 0 are accepted. The number must not be
   followed by anything that the library could attach to it. */
static bool divisor(struct grammar_reading *r) {
    uint32_t number;
    if (!take_number(r, &number) || number == 0)
        return false;
    const char c = next_char(r);
    return c == ')' || c == ',' || c == '\0' || c == ':' || c == '?';
}

static bool operator_of(struct grammar_reading *r) {
    static const char *const operators[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
                                            "<",  ">",  "+",  "-",  "*",  "&",  "|",  "^"};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (take(r, operators[i]))
            return true;
    return false;
}

static bool binary(struct grammar_reading *r) {
    if (!unary(r))
        return false;
    for (;;) {
        const bool printed = r->printed;
        if (take(r, "/") || take(r, "%")) {
            if (!divisor(r))
                return false;
        } else if (!operator_of(r)) {
            return true;
        } else if (!unary(r)) {
            return false;
        }
        if (printed || r->printed || !count_operator(r))
            return false;
    }
}

/* Takes a ternary expression. Excludes a condition with a sign, which the library applies to the whole expression. */
static bool ternary_inside(struct grammar_reading *r) {
    const unsigned signs = r->signs;
    if (!binary(r))
        return false;
    if (!take(r, "?"))
        return true;
    const bool signed_condition = r->signs != signs;
    if (r->printed || !count_operator(r) || !ternary(r))
        return false;
    const bool printed = r->printed;
    const bool fine = take(r, ":") && ternary(r);
    r->printed |= printed;
    return fine && !(r->printed && signed_condition);
}

static bool ternary(struct grammar_reading *r) {
    if (r->depth == TRACE_DEPTH_MOST)
        return false;
    r->depth++;
    const bool fine = ternary_inside(r);
    r->depth--;
    return fine;
}

/* --- the format string --- */

static bool take_width(struct grammar_reading *r) {
    uint32_t width = 0;
    while (r->at < r->end && is_digit(*r->at) && width <= TRACE_COLUMNS_MOST)
        width = width * 10 + (uint32_t)(*r->at++ - '0');
    r->columns += width;
    return r->columns <= TRACE_COLUMNS_MOST;
}

static bool is_one_of(const struct grammar_reading *r, const char *characters) {
    return r->at < r->end && *r->at && strchr(characters, *r->at);
}

/* Takes a length modifier: h, hh, l, ll, z, L. */
static bool take_size(struct grammar_reading *r) {
    const char *start = r->at;
    if (!is_one_of(r, "hlzL"))
        return false;
    r->at++;
    if (is_one_of(r, "hl") && *r->at == *start)
        r->at++;
    return true;
}

/* Takes a directive, after '%'. *arguments: number of arguments that it takes. Only those variants of %p are accepted
   that print the name of an address. */
static bool directive(struct grammar_reading *r, unsigned *arguments) {
    if (is_one_of(r, "%")) {
        r->at++;
        return true;
    }
    while (is_one_of(r, "-+ #0"))
        r->at++;
    if (!take_width(r))
        return false;
    if (is_one_of(r, ".")) {
        r->at++;
        if (!take_width(r))
            return false;
    }
    const bool sized = take_size(r);
    if (!is_one_of(r, sized ? "diuxXo" : "diuxXocsp"))
        return false;
    const bool pointer = *r->at++ == 'p';
    ++*arguments;
    if (pointer && is_one_of(r, "sSfFx"))
        r->at++;
    return !pointer || r->at == r->end || !(is_letter(*r->at) || is_digit(*r->at));
}

/* Whether a number has a width or precision "*": libtraceevent 1.7 prints arbitrary memory for "%*d" and "%.*d".
   Strings are handled correctly. */
static bool has_starred_number(const char *print) {
    for (const char *at = print; (at = strchr(at, '*')); at++) {
        const char *before = at;
        while (before > print && strchr("-+ #0123456789.*", before[-1]))
            before--;
        const char *kind = at + 1 + strspn(at + 1, "0123456789.*hlzL");
        if (before > print && before[-1] == '%' && *kind && strchr("diuxXoc", *kind))
            return true;
    }
    return false;
}

static bool directives(const struct grammar_word *text, unsigned *arguments) {
    struct grammar_reading r = {.at = text->at, .end = text->at + text->length};
    while (r.at < r.end)
        if (*r.at++ == '%' && !directive(&r, arguments))
            return false;
    return true;
}

static bool is_understood(const struct event_format *format) {
    struct grammar_reading r = {
        .at = format->print_fmt, .end = format->print_fmt + strlen(format->print_fmt), .format = format};
    struct grammar_word text;
    unsigned wanted = 0, given = 0, strings = 0;
    while (next_char(&r) == '"') {
        if (!take_string(&r, &text) || !directives(&text, &wanted))
            return false;
        strings++;
    }
    while (strings && given < TRACE_ARGUMENTS_MOST && take(&r, ",")) {
        r.operators = 0;
        r.indexed = r.combined = false;
        if (!ternary(&r) || (r.indexed && r.combined)) /* the library follows null pointers after "a ? b : c[0]" */
            return false;
        given++;
    }
    skip_blanks(&r);
    return strings && r.at == r.end && wanted == given;
}

enum tracepoint_verdict tracepoint_print_judge(const struct event_format *format) {
    if (strlen(format->print_fmt) > TRACE_PRINT_MOST || has_starred_number(format->print_fmt))
        return TRACE_FIELDS;
    return is_understood(format) ? TRACE_DIRECT : TRACE_APART;
}
