/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_ADDRESS_CACHE_H
#define PFR_VIEW_SCRIPT_ADDRESS_CACHE_H
/* Interface of script_address_cache.c; that file describes how it works. */
#include "view/script/script_parts.h"

/* What was kept for the address, or NULL; keeps what was found, where it holds for all around.
 */
const uint8_t *near_find(const struct script *s, const struct moment *m, unsigned cpumode, uint64_t address,
                         unsigned form);
void near_keep(struct script *s, const struct moment *m, unsigned cpumode, uint64_t address, unsigned form,
               const struct near_slot *found);

/* Brings near what near_find will ask for this record. */
void near_expect(const struct script *s, const pfr_record *rec);
void near_free(struct frames *frames);

#endif
