/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_TEXT_H
#define PFR_BASE_TEXT_H
/*
 * Parsing and formatting numbers and times, independent of the locale. Every parser takes the whole NUL-terminated text
 * or nothing. It returns false, with *value unchanged, if the text is empty, not a number, has trailing characters, or
 * is out of range.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/io/output.h"

#define TEXT_TIME_SIZE 32 /* room for any time with its NUL */

/* Nanoseconds as seconds with `digits` (0 to 9) decimals, truncated as perf does: 1370894613999 with 6 is
   "1370.894613". Returns the length; NUL-terminated. */
size_t format_time(char to[TEXT_TIME_SIZE], uint64_t nanoseconds, unsigned digits);
void out_time(struct output *out, uint64_t nanoseconds, unsigned digits);

/* Three digits and a unit: "984ns", "1.23us", "12.3ms", "45100s". */
void format_duration(char to[TEXT_TIME_SIZE], uint64_t nanoseconds);

/* Parses a number of decimal digits only. */
bool parse_u64(const char *text, uint64_t *value);

/* As parse_u64, for part of a longer text: all `length` characters must be digits. */
bool parse_u64_part(const char *text, size_t length, uint64_t *value);

/* Parses a hexadecimal number of up to 64 bits, with or without the prefix: "0x1f", "1F". */
bool parse_hex_part(const char *text, size_t length, uint64_t *value);

/* As parse_u64, with a range check. */
bool parse_u64_between(const char *text, uint64_t low, uint64_t high, uint64_t *value);

/* A duration in nanoseconds: a decimal number, fraction allowed, with ns, us, ms, s, m, h or d (default s). */
bool parse_duration(const char *text, uint64_t *nanoseconds);

/* A point in time as perf's --time takes it: "seconds.fraction" in nanoseconds, up to 9 decimals. */
bool parse_seconds(const char *text, uint64_t *nanoseconds);

#endif
