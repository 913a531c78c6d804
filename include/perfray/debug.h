/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_DEBUG_H
#define PERFRAY_DEBUG_H
/*
 * Hooks for tests of perfray and of programs that embed it. No output may depend on them. They change settings of the
 * whole process: call them before anything else of the library, and not while another thread uses it.
 */
#include <perfray/error.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reduces sizes of internal buffers and batches: "relay-part=4096,slice=1". The names are those of
   src/base/memory/sizes.def; sizes that are not named get their defaults. PFR_ERR_USAGE: no such name, or a number out
   of range; nothing is changed. */
pfr_status pfr_debug_sizes(const char *text, pfr_error *err);

/* Fixes the seed of all hash tables, which is random otherwise. */
void pfr_debug_hash_seed(uint64_t seed);

#ifdef __cplusplus
}
#endif
#endif
