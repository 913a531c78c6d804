/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_FRAMES_H
#define PFR_VIEW_SCRIPT_FRAMES_H
/* Interface of script_frames.c; that file describes how it works. */
#include "view/script/script_parts.h"

void frames_init(struct frames *frames, struct memory *memory, bool raw_names);
void frames_free(struct frames *frames);

/* Drops all texts, and the slots that refer to them. */
void frames_reset(struct frames *frames);

/* Look up the name, source line and inlined calls of an address; script_kernel_at finds the kernel object for an
   address that no mapping covers. */
void script_name_at(struct script *s, const struct place *place, uint64_t address, struct address_name *name);
void script_line_at(struct script *s, const struct place *place, uint64_t address, struct address_line *line);
void script_calls_at(struct script *s, const struct place *place, uint64_t address, struct address_calls *calls);
uint32_t script_kernel_at(struct script *s, uint64_t address);

/* Returns the names of a place as one struct frame_text in frames.texts; NULL: out of memory, with the error in
   s->failed. */
const uint8_t *script_frame_text(struct script *s, const struct place *place, uint64_t address, unsigned form);

/* Finds the mapping of an address of the moment's thread. */
void script_place(struct script *s, const struct moment *m, unsigned cpumode, uint64_t address, struct place *place);

/* Writes an address of the moment's thread with its names, in the given form; script_write_chain_frame writes it as a
   line of a callchain. */
void script_write_frame(struct script *s, const struct moment *m, unsigned cpumode, uint64_t address, unsigned form);
void script_write_chain_frame(struct script *s, const struct moment *m, unsigned cpumode, uint64_t address,
                              unsigned form);

/* Writes only the names: " name+0x1 (object)", or only one of the two. */
void script_write_names(struct script *s, const struct place *place, uint64_t address, unsigned form, pfr_output *to);
void script_write_symbol(struct script *s, const struct place *place, uint64_t address, bool offset, pfr_output *to);
void script_write_object(struct script *s, uint32_t object, pfr_output *to);
void script_write_object_name(struct script *s, uint32_t object, pfr_output *to); /* without parentheses */

/* Prefetches the slot of an address that may be an entry of this thread's callchain, and returns the address's hash;
   with it, script_expect_text prefetches the text. */
uint64_t script_expect_frame(const struct script *s, const struct moment *m, uint64_t address, unsigned form);
void script_expect_text(const struct script *s, uint64_t hash, unsigned form);

#endif
