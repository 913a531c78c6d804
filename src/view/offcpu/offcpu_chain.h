/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_OFFCPU_CHAIN_H
#define PFR_VIEW_OFFCPU_CHAIN_H
/* Callchains in one line, and cells that several tables of offcpu share. */
#include "view/offcpu/offcpu_parts.h"

#define OFFCPU_CHAIN_ROOM 1024u
#define OFFCPU_FRAMES_MOST 12u /* maximum number of frames in a line */
#define OFFCPU_LINE_ROOM 2048u /* maximum length of a table line */

void offcpu_printf(pfr_output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes "wait_pipe:18 <- reader:22" from `stack` outwards, with at most `width` columns (0: no limit) and at most
   `most` frames; "[not recorded]" for stack 0. Names are escaped unless the output has raw names. Returns the length of
   the text. */
size_t offcpu_chain(const struct offcpu *o, const pfr_output *out, uint32_t stack, unsigned width, unsigned most,
                    char to[OFFCPU_CHAIN_ROOM]);
/* The innermost frame of the program in a stack; 0: unknown. Of the stacks whose lines are the same, whatever the
   addresses in these lines, that of the first one asked for. */
uint32_t offcpu_program(struct offcpu *o, uint32_t stack);
/* Number of columns of the output's width that remain after the first `used`, at least 16; 0: the width has no limit.
 */
unsigned offcpu_room(const pfr_output *out, unsigned used);
/* Writes "writer/1372", with names as they are printed. */
void offcpu_thread_text(const struct offcpu *o, const pfr_output *out, uint32_t thread, char *to, size_t room);

#endif
