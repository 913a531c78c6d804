/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_ADDRESS_TEXT_H
#define PFR_VIEW_SCRIPT_ADDRESS_TEXT_H
/* Interface of script_address_text.c; that file describes how it works. */
#include "view/script/script_parts.h"

/* The names of an address as one struct frame_text (script_frames.h), where one text holds for all around it; NULL: it
   has to be looked up by itself. */
const uint8_t *script_range_text(struct script *s, const struct moment *m, unsigned cpumode, uint64_t address,
                                 unsigned form);
void ranges_free(struct frames *frames);

#endif
