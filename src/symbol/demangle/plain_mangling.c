/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demangles this subset of the grammar of mangled names (the Itanium C++ ABI, "External Names"):
 *
 *  name        _Z ([L | St] identifier | operator) [arguments] |
 *              _ZN [rVK] parts [(C1-C3 | D0-D2) [arguments]] E
 *  parts       ([St] identifier | operator | back | short) [arguments],
 *              then any number of (identifier | operator) [arguments]
 *  identifier  decimal length, that many bytes
 *  arguments   I (type | literal | J type... E)... E
 *  type        builtin | (P | R | O | K | V) type | N parts E
 *              | [St] identifier [arguments] | (back | short) [arguments]
 *  literal     L type [n] digits E
 *  back        S_ | S digits_: a reference to an earlier part; parts are
 *              numbered in the order in which they end
 *  short       Sa, Sb, Ss, Si, So, Sd: names of the standard library
 *
 * The parameter types after the name are not parsed, as in libiberty when it does not print them. If versions of
 * libiberty may differ in their result (empty packs, except at the end of a list; references to references), no result
 * is returned. A PLT entry (@plt) gets the name of its function, with the suffix.
 */
#include "symbol/demangle/plain_mangling.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define ANONYMOUS "(anonymous namespace)"
#define GLOBAL_PREFIX "_GLOBAL_"
#define HASH_LENGTH 17u /* length of "h" and 16 digits, which end a legacy Rust name */
#define STUB "@plt"     /* suffix of a function's PLT entry */
#define STUB_LENGTH (sizeof STUB - 1)
#define SEEN_MOST 64u
#define DEPTH_MOST 24u

struct name_piece {
    uint16_t from, length; /* range in `text` */
};

struct plain {
    const char *at, *end; /* rest of the mangled name */
    char *text;
    size_t length;
    const char *last; /* last identifier; NULL: the last part was not an identifier */
    size_t last_length;
    struct name_piece seen[SEEN_MOST]; /* parts that later references may name */
    unsigned nr_seen, depth;
};

/* --- Text. */

static bool put(struct plain *p, const char *bytes, size_t length) {
    if (length > PLAIN_TEXT_MOST - p->length)
        return false;
    memcpy(p->text + p->length, bytes, length);
    p->length += length;
    return true;
}

static bool put_text(struct plain *p, const char *text) {
    return put(p, text, strlen(text));
}

static bool ends_with(const struct plain *p, const char *word) {
    const size_t length = strlen(word);
    return p->length >= length && memcmp(p->text + p->length - length, word, length) == 0;
}

/* Makes the text since `from` a part that later references may name. */
static bool keep(struct plain *p, size_t from) {
    if (p->nr_seen == SEEN_MOST)
        return false;
    p->seen[p->nr_seen++] = (struct name_piece){(uint16_t)from, (uint16_t)(p->length - from)};
    return true;
}

/* --- Words. */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_at(const struct plain *p, char c) {
    return p->at < p->end && *p->at == c;
}

static bool is_at_digit(const struct plain *p) {
    return p->at < p->end && is_digit(*p->at);
}

static bool is_at_lower(const struct plain *p) {
    return p->at < p->end && *p->at >= 'a' && *p->at <= 'z';
}

static bool is_at_any(const struct plain *p, const char *chars) {
    return p->at < p->end && strchr(chars, *p->at);
}

static bool take(struct plain *p, const char *word) {
    const size_t length = strlen(word);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) != 0)
        return false;
    p->at += length;
    return true;
}

/* Whether this is gcc's name of an anonymous namespace. */
static bool is_anonymous(const char *name, size_t length) {
    const size_t prefix = sizeof GLOBAL_PREFIX - 1;
    return length >= prefix + 2 && memcmp(name, GLOBAL_PREFIX, prefix) == 0 && strchr("._$", name[prefix]) &&
           name[prefix + 1] == 'N';
}

static bool take_identifier(struct plain *p) {
    size_t length = 0;
    if (is_at(p, '0'))
        return false;
    while (is_at_digit(p) && length < PLAIN_NAME_MOST)
        length = length * 10 + (size_t)(*p->at++ - '0');
    if (length == 0 || length > (size_t)(p->end - p->at))
        return false;
    p->last = p->at;
    p->last_length = length;
    p->at += length;
    const bool fits = is_anonymous(p->last, length) ? put_text(p, ANONYMOUS) : put(p, p->last, length);
    return fits && !is_at(p, 'B');
}

/* Takes C1 to C3, a constructor, which is named like its class, or D0 to D2, a destructor. */
static bool take_structor(struct plain *p) {
    if (p->end - p->at < 3 || !p->last || is_anonymous(p->last, p->last_length))
        return false;
    const bool makes = p->at[0] == 'C' && p->at[1] >= '1' && p->at[1] <= '3';
    if (!makes && !(p->at[0] == 'D' && p->at[1] >= '0' && p->at[1] <= '2'))
        return false;
    p->at += 2;
    return put_text(p, makes ? "::" : "::~") && put(p, p->last, p->last_length);
}

static bool take_operator(struct plain *p) {
    static const char texts[] =
        "nw new;na new[];dl delete;da delete[];pl+;mi-;ml*;dv/;rm%;an&;or|;eo^;aS=;pL+=;mI-=;mL*=;dV/=;rM%=;aN&=;"
        "oR|=;eO^=;ls<<;rs>>;lS<<=;rS>>=;eq==;ne!=;lt<;gt>;le<=;ge>=;nt!;aa&&;oo||;pp++;mm--;cm,;pm->*;"
        "pt->;cl();ix[];co~;ng-;ad&;de*;";
    for (const char *at = texts; p->end - p->at >= 2 && *at; at = strchr(at, ';') + 1)
        if (memcmp(at, p->at, 2) == 0) {
            p->at += 2;
            p->last = NULL;
            return put_text(p, "operator") && put(p, at + 2, strcspn(at + 2, ";")) && !is_at(p, 'B');
        }
    return false;
}

/* --- Parts that begin with S. */

static const char *short_text(char letter) {
    switch (letter) {
    case 'a':
        return "std::allocator";
    case 'b':
        return "std::basic_string";
    case 's':
        return "std::string";
    case 'i':
        return "std::istream";
    case 'o':
        return "std::ostream";
    case 'd':
        return "std::iostream";
    default:
        return NULL;
    }
}

/* Takes the number of an earlier part, after S. */
static bool take_number(struct plain *p, size_t *number) {
    *number = 0;
    if (take(p, "_"))
        return true;
    for (; p->at < p->end && *number < SEEN_MOST && *p->at != '_'; p->at++) {
        const char c = *p->at;
        if (!is_digit(c) && !(c >= 'A' && c <= 'Z'))
            return false;
        *number = *number * 36 + (size_t)(is_digit(c) ? c - '0' : c - 'A' + 10);
    }
    ++*number;
    return take(p, "_");
}

/* A back reference or a short name. Short names have a longer form before a constructor or tag, which is not
 * supported. */
static bool take_back(struct plain *p) {
    const char *text = p->end - p->at >= 2 ? short_text(p->at[1]) : NULL;
    size_t number;
    p->last = NULL;
    p->at++;
    if (text) {
        p->at++;
        return !is_at_any(p, "BCD") && put_text(p, text);
    }
    if (!take_number(p, &number) || number >= p->nr_seen)
        return false;
    const struct name_piece *seen = &p->seen[number];
    return !is_at(p, 'B') && put(p, p->text + seen->from, seen->length);
}

/* --- Types. */

static bool take_type(struct plain *p);

static const char *builtin_text(char letter) {
    static const char *const texts['y' + 1] = {['a'] = "signed char",
                                               ['b'] = "bool",
                                               ['c'] = "char",
                                               ['d'] = "double",
                                               ['e'] = "long double",
                                               ['f'] = "float",
                                               ['h'] = "unsigned char",
                                               ['i'] = "int",
                                               ['j'] = "unsigned int",
                                               ['l'] = "long",
                                               ['m'] = "unsigned long",
                                               ['n'] = "__int128",
                                               ['o'] = "unsigned __int128",
                                               ['s'] = "short",
                                               ['t'] = "unsigned short",
                                               ['v'] = "void",
                                               ['w'] = "wchar_t",
                                               ['x'] = "long long",
                                               ['y'] = "unsigned long long"};
    return (unsigned char)letter <= 'y' ? texts[(unsigned char)letter] : NULL;
}

/* The suffix that follows the digits of a literal; NULL: no suffix, but the type in parentheses before the digits. */
static const char *literal_ending(char letter) {
    switch (letter) {
    case 'i':
        return "";
    case 'j':
        return "u";
    case 'l':
        return "l";
    case 'm':
        return "ul";
    case 'x':
        return "ll";
    case 'y':
        return "ull";
    default:
        return NULL;
    }
}

static bool take_truth(struct plain *p) {
    return take(p, "0E") ? put_text(p, "false") : take(p, "1E") && put_text(p, "true");
}

/* Takes a literal, after L. */
static bool take_literal(struct plain *p) {
    const char *ending = p->at < p->end ? literal_ending(*p->at) : NULL;
    if (take(p, "b"))
        return take_truth(p);
    if (ending)
        p->at++;
    else if (!is_at_any(p, "achstN123456789") || !put_text(p, "(") || !take_type(p) || !put_text(p, ")"))
        return false;
    if (take(p, "n") && !put_text(p, "-"))
        return false;
    const char *digits = p->at;
    while (is_at_digit(p))
        p->at++;
    return p->at > digits && put(p, digits, (size_t)(p->at - digits)) && (!ending || put_text(p, ending)) &&
           take(p, "E");
}

/* Parses up to the E of a list; *any: whether there were arguments. */
static bool take_arguments_in(struct plain *p, bool *any, bool may_pack) {
    while (!take(p, "E")) {
        if (may_pack && take(p, "J")) {
            if (take(p, "EE"))
                return *any && !ends_with(p, ">");
            if (is_at(p, 'E') || !take_arguments_in(p, any, false))
                return false;
            continue;
        }
        if (*any && !put_text(p, ", "))
            return false;
        *any = true;
        if (!(take(p, "L") ? take_literal(p) : take_type(p)))
            return false;
    }
    return true;
}

/* Takes the arguments after I. A constructor that follows has the name of the template. */
static bool take_arguments(struct plain *p) {
    const char *last = p->last;
    const size_t last_length = p->last_length;
    bool any = false;
    p->at++;
    if (p->depth++ == DEPTH_MOST || !put_text(p, ends_with(p, "<") ? " <" : "<") || !take_arguments_in(p, &any, true) ||
        !any)
        return false;
    p->depth--;
    p->last = last;
    p->last_length = last_length;
    return put_text(p, ends_with(p, ">") ? " >" : ">");
}

/* Parses [St] identifier, operator or back reference, and arguments. Later references may name the text before the
 * arguments, unless that text was itself a back reference. */
static bool take_part(struct plain *p, size_t from, bool *is_new) {
    const bool is_std = take(p, "St"), is_back = !is_std && is_at(p, 'S');
    *is_new = !is_back;
    if (is_std && !put_text(p, "std::"))
        return false;
    if (!(is_back ? take_back(p) : is_at_lower(p) ? take_operator(p) : take_identifier(p)))
        return false;
    if (!is_at(p, 'I'))
        return true;
    if (*is_new && !keep(p, from))
        return false;
    *is_new = true;
    return take_arguments(p);
}

/* Parses all parts. Later references may name each part except the last, and except parts that were themselves back
 * references. */
static bool take_parts(struct plain *p) {
    const size_t from = p->length;
    bool is_new;
    if (!take_part(p, from, &is_new))
        return false;
    while (is_at_digit(p) || is_at_lower(p)) {
        if (!is_new && (ends_with(p, " const") || ends_with(p, " volatile")))
            return false; /* no part can follow a const or volatile type */
        if ((is_new && !keep(p, from)) || !put_text(p, "::") || !take_part(p, from, &is_new))
            return false;
    }
    return is_new;
}

static bool take_named(struct plain *p) {
    const size_t from = p->length;
    bool is_new = true;
    if (take(p, "N") ? !(take_parts(p) && take(p, "E")) : !take_part(p, from, &is_new))
        return false;
    return !is_new || keep(p, from);
}

/* Refuses const of a const type, and const or reference of a reference. */
static bool take_changed(struct plain *p, char change) {
    const size_t from = p->length;
    const char *text = change == 'P'   ? "*"
                       : change == 'R' ? "&"
                       : change == 'O' ? "&&"
                       : change == 'K' ? " const"
                                       : NULL;
    p->at++;
    if (!text)
        text = " volatile";
    if (*text == ' ' && is_at_any(p, "rVK"))
        return false;
    if (!take_type(p) || ends_with(p, "&") || (*text == ' ' && (ends_with(p, " const") || ends_with(p, " volatile"))))
        return false;
    return put_text(p, text) && keep(p, from);
}

static bool take_type_here(struct plain *p) {
    const char *builtin = p->at < p->end ? builtin_text(*p->at) : NULL;
    if (builtin) {
        p->at++;
        return put_text(p, builtin);
    }
    if (is_at_any(p, "PROKV"))
        return take_changed(p, *p->at);
    return is_at_any(p, "NS123456789") && take_named(p);
}

static bool take_type(struct plain *p) {
    if (p->depth++ == DEPTH_MOST)
        return false;
    const bool good = take_type_here(p);
    p->depth--;
    return good;
}

/* --- Names. */

/* Later references may name constructor templates, both before and after their arguments. */
static bool take_structor_part(struct plain *p) {
    if (!keep(p, 0) || !take_structor(p))
        return false;
    return !is_at(p, 'I') || (keep(p, 0) && take_arguments(p));
}

static bool take_nested(struct plain *p) {
    while (is_at_any(p, "rVK"))
        p->at++;
    if (!take_parts(p))
        return false;
    const bool is_rust = p->last && p->last_length == HASH_LENGTH && p->last[0] == 'h';
    return is_at(p, 'E') ? !is_rust : take_structor_part(p) && is_at(p, 'E');
}

/* Takes a name without a namespace, tag or number. */
static bool take_individually(struct plain *p) {
    const bool is_std = p->end - p->at >= 2 && memcmp(p->at, "St", 2) == 0;
    bool is_new;
    if (take(p, "L") ? !is_at_digit(p) : !is_std && !is_at_digit(p) && !is_at_lower(p))
        return false;
    return take_part(p, 0, &is_new) && !is_at(p, '_');
}

static bool take_name(struct plain *p) {
    return take(p, "_Z") && (take(p, "N") ? take_nested(p) : take_individually(p));
}

size_t plain_demangle(const char *name, char to[PLAIN_TEXT_MOST]) {
    const size_t length = strnlen(name, PLAIN_NAME_MOST + 1);
    struct plain p;
    p.at = name;
    p.end = name + length;
    p.text = to;
    p.length = p.last_length = 0;
    p.last = NULL;
    p.nr_seen = p.depth = 0;
    const bool is_stub = length > STUB_LENGTH && memcmp(p.end - STUB_LENGTH, STUB, STUB_LENGTH) == 0;
    if (is_stub)
        p.end -= STUB_LENGTH;
    if (length > PLAIN_NAME_MOST || memchr(name, '@', (size_t)(p.end - name)) || !take_name(&p))
        return 0;
    return !is_stub || put_text(&p, STUB) ? p.length : 0;
}
