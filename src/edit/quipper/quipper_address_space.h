/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EDIT_QUIPPER_ADDRESS_SPACE_H
#define PFR_EDIT_QUIPPER_ADDRESS_SPACE_H
/*
 * Mapped addresses of each process, by quipper's rules, which differ from the kernel's. Records take effect in the
 * order of the output. A new process starts with the mappings of its parent, or of the kernel if the parent is unknown.
 * A new mapping removes every mapping that it touches. If a mapping contains the new one, the two ends of that mapping
 * are kept.
 *
 * The mappings of a process are a list of blocks of sorted ranges. Processes share lists, and lists share blocks, until
 * one of them changes (copy on write).
 */
#include "base/tables/hashmap.h"

#include <perfray/error.h>

#define QUIPPER_KERNEL UINT32_MAX /* pid of the kernel's mappings */

struct place_list;

struct quipper_places {
    struct memory *memory;
    struct u64_map numbers; /* pid to index in `lists` */
    struct place_list **lists;
    size_t count, room;
};

void quipper_places_init(struct quipper_places *p, struct memory *memory);
void quipper_places_free(struct quipper_places *p);
/* Returns the number of a process; a new one shares the mappings of its parent. The only error is lack of memory. */
pfr_status quipper_places_of(struct quipper_places *p, uint32_t pid, uint32_t parent, size_t *number, pfr_error *err);
/* Maps a range. Ignored if len is 0 or the range goes past the end of the address space. */
pfr_status quipper_places_map(struct quipper_places *p, size_t number, uint64_t start, uint64_t len, pfr_error *err);
bool quipper_places_has(const struct quipper_places *p, size_t number, uint64_t address);

#endif
