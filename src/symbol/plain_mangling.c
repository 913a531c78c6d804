/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of the grammar of mangled names (the Itanium C++ ABI, "External Names") this is
 *
 *     name        _Z [L | St] identifier | _ZN [rVK] [St] identifier... [C1-C3 | D0-D2] E
 *     identifier  decimal length, that many bytes
 *
 * What follows says which parameters there are, and is not looked at, as libiberty does not where it prints none.
 */
#include "plain_mangling.h"

#include <stdbool.h>
#include <string.h>

#define ANONYMOUS "(anonymous namespace)"
#define GLOBAL_PREFIX "_GLOBAL_"
#define HASH_LENGTH 17u /* "h" and 16 digits end a legacy name of Rust */

struct plain {
    const char *at, *end; /* of the mangled name */
    char *text;
    size_t length;
    const char *last; /* identifier */
    size_t last_length;
};

static void put(struct plain *p, const char *bytes, size_t length) {
    memcpy(p->text + p->length, bytes, length);
    p->length += length;
}

static void put_text(struct plain *p, const char *text) {
    put(p, text, strlen(text));
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool take(struct plain *p, const char *word) {
    const size_t length = strlen(word);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) != 0)
        return false;
    p->at += length;
    return true;
}

/* As gcc calls what is in no namespace that has a name. */
static bool is_anonymous(const char *name, size_t length) {
    const size_t prefix = sizeof GLOBAL_PREFIX - 1;
    return length >= prefix + 2 && memcmp(name, GLOBAL_PREFIX, prefix) == 0 && strchr("._$", name[prefix]) &&
           name[prefix + 1] == 'N';
}

static bool take_identifier(struct plain *p) {
    size_t length = 0;
    if (p->at == p->end || *p->at == '0')
        return false;
    while (p->at < p->end && is_digit(*p->at) && length < PLAIN_NAME_MOST)
        length = length * 10 + (size_t)(*p->at++ - '0');
    if (length == 0 || length > (size_t)(p->end - p->at))
        return false;
    p->last = p->at;
    p->last_length = length;
    p->at += length;
    if (is_anonymous(p->last, length))
        put_text(p, ANONYMOUS);
    else
        put(p, p->last, length);
    return true;
}

/* C1: a constructor, called as its class; D1: a destructor. */
static bool take_structor(struct plain *p) {
    if (p->end - p->at < 3 || p->at[2] != 'E' || is_anonymous(p->last, p->last_length))
        return false;
    const bool makes = p->at[0] == 'C' && p->at[1] >= '1' && p->at[1] <= '3';
    if (!makes && !(p->at[0] == 'D' && p->at[1] >= '0' && p->at[1] <= '2'))
        return false;
    put_text(p, makes ? "::" : "::~");
    put(p, p->last, p->last_length);
    p->at += 2;
    return true;
}

static bool take_nested(struct plain *p) {
    while (p->at < p->end && strchr("rVK", *p->at))
        p->at++;
    if (take(p, "St"))
        put_text(p, "std::");
    if (!take_identifier(p))
        return false;
    while (p->at < p->end && is_digit(*p->at)) {
        put_text(p, "::");
        if (!take_identifier(p))
            return false;
    }
    const bool is_rust = p->last_length == HASH_LENGTH && p->last[0] == 'h';
    return (p->at < p->end && *p->at == 'E') ? !is_rust : take_structor(p);
}

/* Neither a template nor tagged nor numbered. */
static bool take_alone(struct plain *p) {
    if (!take(p, "L") && take(p, "St"))
        put_text(p, "std::");
    return take_identifier(p) && (p->at == p->end || !strchr("IB_", *p->at));
}

size_t plain_demangle(const char *name, char to[PLAIN_TEXT_MOST]) {
    const size_t length = strnlen(name, PLAIN_NAME_MOST + 1);
    struct plain p = {.at = name, .end = name + length, .text = to};
    if (length > PLAIN_NAME_MOST || memchr(name, '@', length) || !take(&p, "_Z"))
        return 0;
    return (take(&p, "N") ? take_nested(&p) : take_alone(&p)) ? p.length : 0;
}
