/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_SIZES_H
#define PFR_BASE_SIZES_H
/*
 * Sizes of buffers and batches that tests reduce, so that small recordings reach the boundary cases of large ones. They
 * are listed in sizes.def. Each use is a load from a fixed address; only sizes_set looks sizes up by name.
 */
#include <perfray/error.h>
#include <stddef.h>

struct sizes {
#define SIZE(member, name, most, least, purpose) size_t member;
#include "base/memory/sizes.def"
#undef SIZE
};

/* Constants for array sizes. */
enum size_most {
#define SIZE(member, name, most, least, purpose) SIZE_MOST_##member = (most),
#include "base/memory/sizes.def"
#undef SIZE
};

/* Changed only by sizes_set, before anything is opened. */
extern struct sizes sizes;

/* Parses "name=number,name=number"; sizes not named get their default. PFR_ERR_USAGE: nothing is changed, and `err`
   names the wrong item. Not for use while another thread is in the library. */
pfr_status sizes_set(const char *text, pfr_error *err);

/* Sets the sizes from a random number: each keeps its default or gets a value between its minimum and the default,
   smaller values more often. 0: the defaults. `text`, if not NULL, has SIZES_TEXT_ROOM bytes and receives the
   equivalent argument of sizes_set. */
#define SIZES_TEXT_ROOM 1024u
void sizes_draw(unsigned long long number, char *text);

#endif
