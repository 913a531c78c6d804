/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_INFO_OUTPUT_H
#define PFR_VIEW_INFO_OUTPUT_H
/*
 * Words, numbers and names for the printers of `info`. printf formats are used only for texts of the program and for
 * integers. Text from a file is printed by say_view or say_name, which escape it unless raw names are wanted.
 */
#include <inttypes.h>
#include <perfray/reader.h>
#include "base/text/public_output.h"

/* Like printf, for at most 511 characters. Do not use it for text from files, which must be escaped, or for floating
   point, which depends on the locale. */
void say(pfr_output *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

void say_view(pfr_output *to, const pfr_text *text);
void say_name(pfr_output *to, const char *name);

/* Prints the text left-aligned in at least `width` columns. */
void say_view_left(pfr_output *to, const pfr_text *text, size_t width);
void say_view_right(pfr_output *to, const pfr_text *text, size_t width);
void say_f64(pfr_output *to, double value, unsigned digits, size_t width);

/* Prints the set bits below `count` as "0-23,32". */
void say_bit_ranges(pfr_output *to, const pfr_u64s *words, uint64_t count);

/* Prints a size like perf ("24G"), rounded down, in the largest unit up to G that fits into the size at least twice. */
void say_bytes_unit(pfr_output *to, uint64_t bytes);

/* Returns the name of a record type as printed by perf; if no table has the type, writes "TYPE<n>" to `room` and
 * returns it. */
#define TYPE_NAME_ROOM 20
const char *record_type_name(uint32_t type, char room[TYPE_NAME_ROOM]);

#endif
