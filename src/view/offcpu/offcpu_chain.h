/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_OFFCPU_CHAIN_H
#define PFR_VIEW_OFFCPU_CHAIN_H
/* Call chains in one line, and cells that several tables of offcpu have. */
#include "view/offcpu/offcpu_parts.h"

#define OFFCPU_CHAIN_ROOM 1024u
#define OFFCPU_LINE_ROOM 2048u /* no line of a table is longer */

void offcpu_printf(pfr_output *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "wait_pipe:18 <- reader:22" from `stack` outwards, in at most `width` columns (0: no limit), at most `most` frames;
   "[not recorded]" for stack 0. Escaped unless the output has raw names. Returns the length. */
size_t offcpu_chain(const struct offcpu *o, const pfr_output *out, uint32_t stack, unsigned width, unsigned most,
                    char to[OFFCPU_CHAIN_ROOM]);
/* Columns that are left in the output's width after `used`; 0: no limit. At least 16. */
unsigned offcpu_room(const pfr_output *out, unsigned used);
/* "writer/1372", names as they are shown. */
void offcpu_thread_text(const struct offcpu *o, const pfr_output *out, uint32_t thread, char *to, size_t room);

#endif
