/* SPDX-License-Identifier: Apache-2.0 */
/* Shortens template arguments of demangled names; see fold_templates.h. */
#include "symbol/demangle/fold_templates.h"

#include <stdbool.h>
#include <string.h>

#define ABI_TAG "std::__cxx11::"
#define STD_LENGTH 5u /* "std::" */
#define SHORT_LENGTH 3u
#define ELLIPSIS "\xe2\x80\xa6" /* three bytes, like the longest arguments that are kept */

static bool is_identifier(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           (unsigned char)c >= 0x80;
}

/* Length of "operator" and its symbol at `at`, so that its angle brackets are not counted; 0 if there is no
 * operator. */
static size_t operator_length(const char *text, size_t at, size_t length) {
    static const char *const signs[] = {"<<=", ">>=", "<=>", "->*", "<<", ">>", "<=", ">=", "->", "()", "<", ">"};
    const size_t word = sizeof "operator" - 1;
    if (length - at <= word || memcmp(text + at, "operator", word) != 0 || (at && is_identifier(text[at - 1])))
        return 0;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        const size_t size = strlen(signs[i]);
        if (length - at - word >= size && memcmp(text + at + word, signs[i], size) == 0)
            return word + size;
    }
    return 0;
}

/* Returns the end of the arguments that open at `at`, after their '>'; 0 if they have no end. Inside parentheses, '<'
   and '>' may be comparisons. */
static size_t end_of_arguments(const char *text, size_t at, size_t length) {
    size_t open = 0, parentheses = 0;
    while (at < length) {
        const size_t skipped = operator_length(text, at, length);
        const char c = text[at];
        at += skipped ? skipped : 1;
        if (skipped)
            continue;
        parentheses += c == '(';
        parentheses -= c == ')' && parentheses;
        open += c == '<' && !parentheses;
        if (c == '>' && !parentheses && --open == 0)
            return at;
    }
    return 0;
}

/* True for a '<' after a name. False at the beginning of a Rust name, where '<' opens a type. */
static bool opens_arguments(const char *text, size_t at, bool after_operator) {
    const char before = at ? text[at - 1] : '\0';
    return text[at] == '<' && (after_operator || is_identifier(before) || (at > 2 && before == ':'));
}

size_t fold_templates(char *text, size_t length, bool omit) {
    size_t to = 0;
    bool after_operator = false;
    for (size_t at = 0; at < length;) {
        const size_t operator_size = operator_length(text, at, length);
        const size_t blank = after_operator && text[at] == ' ' && at + 1 < length && text[at + 1] == '<';
        const bool opens = opens_arguments(text, at + blank, after_operator);
        const size_t end = opens ? end_of_arguments(text, at + blank, length) : 0;
        size_t take = operator_size ? operator_size : 1;
        if (length - at > sizeof ABI_TAG - 1 && memcmp(text + at, ABI_TAG, sizeof ABI_TAG - 1) == 0) {
            memmove(text + to, text + at, STD_LENGTH);
            to += STD_LENGTH;
            take = sizeof ABI_TAG - 1;
        } else if (end && omit) {
            take = end - at;
        } else if (end && end - at - blank > SHORT_LENGTH + 2) {
            memcpy(text + to, "<" ELLIPSIS ">", SHORT_LENGTH + 2);
            to += SHORT_LENGTH + 2;
            take = end - at;
        } else {
            memmove(text + to, text + at, take);
            to += take;
        }
        after_operator = operator_size > 0;
        at += take;
    }
    return to;
}
