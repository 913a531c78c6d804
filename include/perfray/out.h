/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_OUT_H
#define PERFRAY_OUT_H
/*
 * Where printed things go: a buffered file descriptor. The first failure sticks and is told by pfr_output_close, so a
 * printer need not check each write.
 */
#include <perfray/alloc.h>
#include <perfray/error.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pfr_output pfr_output;

/* The descriptor stays open after pfr_output_close unless `owned`; an owned one is closed on failure too. NULL: out of
   memory. */
pfr_output *pfr_output_open(int fd, bool owned, pfr_error *err);
/* The same with the caller's allocator (NULL: malloc). What pfr_info_print and pfr_dump need for their work is taken
   from it as well, beside what they take from the reader's. */
pfr_output *pfr_output_open_alloc(int fd, bool owned, const pfr_alloc *alloc, pfr_error *err);
/* Whether names from files are printed as they are, control characters and all; false at the start. */
void pfr_output_raw_names(pfr_output *out, bool raw);
/* Width of a terminal in columns: tables are made to fit, names that are too long are cut in their middle. 0, the
   default: tables are as wide as their texts. */
void pfr_output_columns(pfr_output *out, unsigned columns);
/* How names are printed otherwise: control characters, what is not UTF-8, signs that turn or hide text, each byte as
   \xNN. Into `to` of `room` bytes (at least 1) with NUL behind it, cut at a whole character if it must; returns the
   length without the NUL. */
size_t pfr_escape(char *to, size_t room, const void *bytes, size_t length);
/* NUL-terminated text, as it is. */
void pfr_output_text(pfr_output *out, const char *text);
/* Whether a write has failed: time to stop. */
bool pfr_output_failed(const pfr_output *out);
pfr_status pfr_output_flush(pfr_output *out, pfr_error *err);
/* Flushes and frees; returns the first failure. NULL is fine. */
pfr_status pfr_output_close(pfr_output *out, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif
