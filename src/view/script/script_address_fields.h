/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_ADDRESS_FIELDS_H
#define PFR_VIEW_SCRIPT_ADDRESS_FIELDS_H
/* Interface of script_address_fields.c; that file describes how it works. */
#include "view/script/script_parts.h"

script_printer print_lone_ip, print_chain, print_addr, print_brstack, print_brstacksym, print_brstackoff;

/* Like script_place (script_frames.h), but also tries the other address space (kernel or user); returns the cpumode of
   the space where it found the address. */
unsigned script_place_anywhere(struct script *s, const struct moment *m, uint64_t address, struct place *place);

#endif
