/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EDIT_QUIPPER_ADDRESS_SPACE_H
#define PFR_EDIT_QUIPPER_ADDRESS_SPACE_H
/*
 * Which addresses of which process are mapped, by quipper's account of it, which is its own: records count in the order
 * in which they are told, a process has what its parent had when it is first seen (without one, what the kernel has),
 * and a mapping takes the place of every other that it meets, whole, but for one that it lies in.
 *
 * A process's mappings are a list of blocks of ranges in order; processes share lists, and lists blocks, until one of
 * them changes.
 */
#include "base/tables/hashmap.h"

#include <perfray/error.h>

#define QUIPPER_KERNEL UINT32_MAX /* its pid */

struct place_list;

struct quipper_places {
    struct memory *memory;
    struct u64_map numbers; /* by pid */
    struct place_list **lists;
    size_t count, room;
};

void quipper_places_init(struct quipper_places *p, struct memory *memory);
void quipper_places_free(struct quipper_places *p);
/* The number of the process, made from its parent's when it is new. Errors: memory. */
pfr_status quipper_places_of(struct quipper_places *p, uint32_t pid, uint32_t parent, size_t *number, pfr_error *err);
/* len 0, or more than there are addresses: nothing is mapped. */
pfr_status quipper_places_map(struct quipper_places *p, size_t number, uint64_t start, uint64_t len, pfr_error *err);
bool quipper_places_has(const struct quipper_places *p, size_t number, uint64_t address);

#endif
