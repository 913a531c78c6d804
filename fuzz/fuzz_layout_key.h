/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_FUZZ_LAYOUT_KEY_H
#define PERFRAY_FUZZ_LAYOUT_KEY_H
/*
 * Selects a layout by two bytes of an input. The two bytes are a checksum of the layout's name instead of its number,
 * so that stored inputs select the same layout when other layouts are added or removed.
 */
#include "fuzz.h"

static inline uint16_t key_of_layout(const struct layout *l) {
    const uint64_t sum = fuzz_mix(0xcbf29ce484222325u, l->name, strlen(l->name));
    return (uint16_t)(sum >> 32);
}

/* Returns the layout with this key, else the layout with the next lower key. */
static inline const struct layout *layout_of_key(uint16_t key) {
    const struct layout *best = layout_at(L_NONE + 1);
    for (unsigned i = L_NONE + 1; i < LAYOUTS; i++)
        if ((uint16_t)(key - key_of_layout(layout_at(i))) < (uint16_t)(key - key_of_layout(best)))
            best = layout_at(i);
    return best;
}

#endif
