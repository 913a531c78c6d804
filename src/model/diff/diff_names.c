/* SPDX-License-Identifier: Apache-2.0 */
/* Function names without the parts that differ from build to build. */
#include "model/diff/diff_names.h"

#include <ctype.h>

static bool is_number(const char *at, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (!isdigit((unsigned char)at[i]))
            return false;
    return length > 0;
}

/* Suffixes that gcc and clang give to clones; a number may follow. */
static const char *const clones[] = {"isra", "constprop", "part", "cold", "lto_priv", "localalias", "llvm", "clone"};

static bool is_clone_word(const char *at, size_t length) {
    for (size_t i = 0; i < sizeof clones / sizeof *clones; i++)
        if (strlen(clones[i]) == length && memcmp(clones[i], at, length) == 0)
            return true;
    return false;
}

static size_t last_dot(const char *name, size_t length) {
    while (length > 0 && name[length - 1] != '.')
        length--;
    return length; /* the position after the last dot; 0: there is no dot */
}

/* The length without the last suffix such as ".isra.0" or ".cold"; `length` if there is none. */
static size_t without_clone(const char *name, size_t length) {
    size_t dot = last_dot(name, length), end = length;
    if (dot > 1 && is_number(name + dot, end - dot)) {
        end = dot - 1;
        dot = last_dot(name, end);
    }
    return dot > 1 && is_clone_word(name + dot, end - dot) ? dot - 1 : length;
}

/* As without_clone, for "foo() [clone .isra.0]", as demanglers write clones. */
static size_t without_bracket(const char *name, size_t length) {
    static const char begin[] = " [clone .";
    if (length == 0 || name[length - 1] != ']')
        return length;
    for (size_t at = length - 1; at > 0; at--)
        if (name[at] == ' ' && length - at > sizeof begin && memcmp(name + at, begin, sizeof begin - 1) == 0)
            return at;
    return length;
}

#define RUST_HASH 16u

/* As without_clone, for Rust hashes: "core::fmt::write::h0123456789abcdef". */
static size_t without_hash(const char *name, size_t length) {
    const size_t suffix = RUST_HASH + 3;
    if (length <= suffix || memcmp(name + length - suffix, "::h", 3) != 0)
        return length;
    for (size_t i = length - RUST_HASH; i < length; i++)
        if (!isdigit((unsigned char)name[i]) && (name[i] < 'a' || name[i] > 'f'))
            return length;
    return length - suffix;
}

size_t diff_plain_name(const char *name, char *to, size_t room) {
    size_t length = strlen(name), before;
    do {
        before = length;
        length = without_bracket(name, length);
        length = without_clone(name, length);
        length = without_hash(name, length);
    } while (length != before);
    if (length == 0)
        length = strlen(name);
    const size_t kept = length < room ? length : room - 1;
    memcpy(to, name, kept);
    to[kept] = '\0';
    return kept;
}
