/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the names of C++ functions for patterns: space::type::function, without arguments of functions and templates
 * (Itanium C++ ABI, 5.1). Names that need more than a simple parser (operators, lambdas, functions inside functions,
 * names that refer back to parts of themselves) match only in their mangled form. Rust's older mangling has the same
 * form. Of Rust's newer mangling (RFC 2603), only names that are a simple path are supported.
 */
#include "runtime/rt_text.h"

#define IDENTIFIER_MOST 1024u /* no further digits are read when a length has reached this */
#define RUST_HASH 17u         /* length of the last part of Rust's older names: h and 16 digits */

struct unmangled_name {
    const char *at; /* rest of the mangled name */
    char *to;
    size_t used, room;
    const char *last; /* last identifier, for constructors */
    size_t last_length;
};

RT_PLAIN static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

RT_PLAIN static bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}

RT_PLAIN static bool put(struct unmangled_name *n, const char *text, size_t length) {
    const size_t colons = n->used ? 2 : 0;
    if (colons + length >= n->room - n->used)
        return false;
    rt_copy(n->to + n->used, "::", colons);
    rt_copy(n->to + n->used + colons, text, length);
    n->used += colons + length;
    n->to[n->used] = 0;
    return true;
}

/* Takes <length><identifier>; NULL: not found. */
RT_PLAIN static const char *identifier(const char **at, size_t *length) {
    *length = 0;
    while (is_digit(**at) && *length < IDENTIFIER_MOST)
        *length = *length * 10 + (size_t)(*(*at)++ - '0');
    const char *text = *at;
    for (size_t i = 0; i < *length; i++)
        if (!*(*at)++)
            return NULL;
    return *length ? text : NULL;
}

RT_PLAIN static bool put_identifier(struct unmangled_name *n) {
    size_t length;
    const char *text = identifier(&n->at, &length);
    if (!text)
        return false;
    if (length == RUST_HASH && text[0] == 'h' && *n->at == 'E' && n->used)
        return true;
    n->last = text;
    n->last_length = length;
    return put(n, text, length);
}

/* Skips everything up to and including the next `c`. */
RT_PLAIN static bool pass(struct unmangled_name *n, char c) {
    while (*n->at && *n->at != c)
        n->at++;
    return *n->at && *n->at++ == c;
}

RT_PLAIN static bool is_one_of(char c, const char *list) {
    while (*list && *list != c)
        list++;
    return *list != 0;
}

/* Skips one element of template arguments; *depth counts elements that must be ended by an E. */
RT_PLAIN static bool pass_piece(struct unmangled_name *n, unsigned *depth) {
    const char c = *n->at, next = c ? n->at[1] : 0;
    size_t length;
    if (is_digit(c))
        return identifier(&n->at, &length) != NULL;
    if (c == 'L')
        return is_lower(next) && pass(n, 'E');
    if (c == 'A' || c == 'T' || (c == 'S' && !is_lower(next)))
        return pass(n, '_');
    if (c == 'Z' || c == 0)
        return false;
    const bool is_pair = c == 'S' || c == 'D';
    *depth += is_one_of(c, "INXJF") || (c == 'D' && (next == 't' || next == 'T'));
    *depth -= c == 'E';
    n->at += is_pair && next ? 2 : 1;
    return true;
}

RT_PLAIN static bool pass_arguments(struct unmangled_name *n) {
    unsigned depth = 0;
    do
        if (!pass_piece(n, &depth))
            return false;
    while (depth);
    return true;
}

/* Adds the name of a constructor, which is that of its type, or of a destructor, which begins with a ~. */
RT_PLAIN static bool put_structor(struct unmangled_name *n) {
    char text[128] = "~";
    const bool is_end = *n->at == 'D';
    if (!n->last || n->last_length > sizeof text - 1 || !is_digit(n->at[1]))
        return false;
    rt_copy(text + 1, n->last, n->last_length);
    n->at += 2;
    return put(n, text + !is_end, n->last_length + is_end);
}

RT_PLAIN static bool put_part(struct unmangled_name *n) {
    const char c = *n->at;
    size_t length;
    if (is_digit(c))
        return put_identifier(n);
    if (c == 'S' && n->at[1] == 't')
        return n->at += 2, put(n, "std", 3);
    if (c == 'I')
        return pass_arguments(n);
    if (c == 'C' || c == 'D')
        return put_structor(n);
    n->at++;
    return c == 'L' || (c == 'B' && identifier(&n->at, &length)); /* L: internal linkage; B: an ABI tag */
}

/* Adds a part, which may be preceded by a disambiguator, s..._. */
RT_PLAIN static bool put_rust_part(struct unmangled_name *n) {
    if (*n->at == 's' && !pass(n, '_'))
        return false;
    return is_digit(*n->at) && put_identifier(n);
}

/* Adds a path. C begins the crate; each further part puts N and a letter before the C: _RNvNtCsabc_3app4work4tick. */
RT_PLAIN static bool put_rust_path(struct unmangled_name *n) {
    unsigned parts = 1;
    n->at += *n->at == 'I';
    for (; *n->at == 'N' && n->at[1]; n->at += 2)
        parts++;
    if (*n->at++ != 'C')
        return false;
    while (parts--)
        if (!put_rust_part(n))
            return false;
    return true;
}

RT_RARE bool rt_unmangle(const char *mangled, char *to, size_t room) {
    struct unmangled_name n = {.at = mangled + 2, .to = to, .room = room};
    if (mangled[0] == '_' && mangled[1] == 'R')
        return put_rust_path(&n);
    if (mangled[0] != '_' || mangled[1] != 'Z')
        return false;
    if (*n.at != 'N') {
        n.at += *n.at == 'L';
        return (*n.at != 'S' || put_part(&n)) && put_identifier(&n);
    }
    do
        n.at++;
    while (is_one_of(*n.at, "rVKRO"));
    while (*n.at && *n.at != 'E')
        if (!put_part(&n))
            return false;
    return *n.at == 'E' && n.used > 0;
}
