/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_ESCAPE_BYTES_H
#define PFR_BASE_ESCAPE_BYTES_H
/*
 * Names from untrusted files may control a terminal, hide text or break a format. The escaped form of a byte string is
 * text that is safe to show anywhere:
 *
 *    - valid UTF-8 of visible characters and blanks is kept;
 *    - each byte of C0, DEL, C1, bidi and zero-width controls, line and paragraph separators, tags and other
 *      invisible characters, and each byte that is not valid UTF-8, becomes `\xNN` (lower case);
 *    - a backslash is kept, except before `x` and two hexadecimal digits, where it becomes `\x5c`.
 *
 * The form is unambiguous: replacing every `\xNN` by its byte restores the original exactly. JSON and CSV carry this
 * form: decoding the JSON string or the CSV field gives exactly the escaped text.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ESCAPE_UNIT 16 /* maximum bytes of one escaped character */

/* Decodes one character of well-formed UTF-8 (no surrogates, nothing overlong, at most U+10FFFF). Returns its length, 1
   to 4, or 0 if the bytes at `at` are not such a character. `left` is at least 1. */
size_t utf8_take(const uint8_t *at, size_t left, uint32_t *code);

/* Whether a character must be escaped: see above. */
bool is_hostile_character(uint32_t code);

/* Writes the escaped form of the first character (or invalid byte) at `at`; *took is the number of bytes consumed.
   Returns the number of bytes written, at most ESCAPE_UNIT. */
size_t escape_character(const uint8_t *at, size_t left, char to[ESCAPE_UNIT], size_t *took);

/* Writes the escaped form and a NUL into a buffer of `room` bytes (at least 1), cut at a whole character if necessary.
   Returns the length without the NUL. */
size_t escape_into(char *to, size_t room, const void *bytes, size_t length);

/* The number of bytes from `at` on that are printable ASCII and that no output form quotes. */
size_t escape_plain_run(const uint8_t *at, size_t left);

#endif
