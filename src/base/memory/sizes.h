/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_SIZES_H
#define PFR_BASE_SIZES_H
/*
 * Sizes of buffers and batches that tests may reduce, so that small recordings meet the borders of large ones. They are
 * listed in sizes.def. Each use is a load from a fixed address; nothing is looked up by name after sizes_set.
 */
#include <perfray/error.h>
#include <stddef.h>

struct sizes {
#define SIZE(member, name, most, least, purpose) size_t member;
#include "base/memory/sizes.def"
#undef SIZE
};

/* Constants for arrays. */
enum size_most {
#define SIZE(member, name, most, least, purpose) SIZE_MOST_##member = (most),
#include "base/memory/sizes.def"
#undef SIZE
};

/* Changes only in sizes_set, before anything is opened. */
extern struct sizes sizes;

/* "name=number,name=number"; what is not named gets its default. PFR_ERR_USAGE: nothing is changed, and `err` names the
   item that is wrong. Not for use while another thread is in the library. */
pfr_status sizes_set(const char *text, pfr_error *err);

/* Draws the sizes from a number: each keeps its default or gets one between its minimum and the default, smaller ones
   more often. 0: the defaults. `text` of SIZES_TEXT_ROOM bytes gets what sizes_set takes for the same; NULL: not
   wanted. */
#define SIZES_TEXT_ROOM 1024u
void sizes_draw(unsigned long long number, char *text);

#endif
