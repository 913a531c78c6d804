/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_ADDRESS_TEXT_H
#define PFR_VIEW_SCRIPT_ADDRESS_TEXT_H
/* Interface of script_address_text.c; that file describes how it works. */
#include "view/script/script_parts.h"

/* Returns the names of an address as one struct frame_text (script_frames.h) if one text is valid for a range around
   it; NULL: the address must be looked up individually. */
const uint8_t *script_range_text(struct script *s, const struct moment *m, unsigned cpumode, uint64_t address,
                                 unsigned form);
void ranges_free(struct frames *frames);

#endif
