/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_SIZES_H
#define PFR_BASE_SIZES_H
/*
 * Internal sizes: how much is read at once, how work is split among threads, from where on a large input takes another
 * path than a small one. No output may depend on them. They are listed in sizes.def and set by PERFRAY_DEBUG
 * (debug_hooks.h) so that tests walk every path with files of a few kilobytes.
 *
 *     if (length < sizes()->relay_chunk) ...
 */
#include <stddef.h>
#include <stdint.h>

struct sizes {
#define SIZE(type, name, normal, tiny, least, most, doc) type name;
#include "base/sizes.def"
};

/* Written when the library is loaded, never again. */
extern struct sizes sizes_in_use;

static inline const struct sizes *sizes(void) {
    return &sizes_in_use;
}

#endif
