/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_ADDRESS_CACHE_H
#define PFR_VIEW_SCRIPT_ADDRESS_CACHE_H
/* Interface of script_address_cache.c; that file describes how it works. */
#include "view/script/script_parts.h"

/* near_find returns the cached text of the address, or NULL. near_keep stores a text for the part of the block that
 * found->first and found->last delimit. */
const uint8_t *near_find(const struct script *s, const struct moment *m, unsigned cpumode, uint64_t address,
                         unsigned form);
void near_keep(struct script *s, const struct moment *m, unsigned cpumode, uint64_t address, unsigned form,
               const struct near_slot *found);

/* Prefetches the entries that near_find will read for this record. */
void near_expect(const struct script *s, const pfr_record *rec);
void near_free(struct frames *frames);

#endif
