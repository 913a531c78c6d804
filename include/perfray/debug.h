/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_DEBUG_H
#define PERFRAY_DEBUG_H
/*
 * Hooks for the tests of perfray and of programs that embed it. Programs do not need them in production.
 *
 * Both functions change settings of the whole process. Call them before any other function of the library, and never
 * while another thread uses it. They do not apply to handles that are already open.
 *
 * The output of the library must not depend on these settings: tests compare the outputs of runs with different
 * settings. The command reads them from the environment variables PERFRAY_SIZES and PERFRAY_HASH_SEED.
 *
 * Example, a run with small buffers and reproducible hash tables:
 *
 *     if (pfr_debug_sizes("input-chunk=64,slice=1", &err) < 0)
 *         fprintf(stderr, "%s\n", err.text);
 *     pfr_debug_hash_seed(1);
 */
#include <perfray/error.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * pfr_debug_sizes - reduce the sizes of internal buffers, batches and work units, so that tests reach their boundaries
 * with small inputs.
 *
 * `text` is a comma-separated list of NAME=NUMBER. Names, minimums and defaults are listed in
 * src/base/memory/sizes.def; the default is also the maximum. Sizes that are not named get their defaults.
 *
 * Returns PFR_OK, or PFR_ERR_USAGE for an unknown name or a number out of range; nothing is changed then.
 */
pfr_status pfr_debug_sizes(const char *text, pfr_error *err);

/* pfr_debug_hash_seed - set the seed of all hash tables. By default it is random in each process, so that a crafted
   input cannot make them slow. */
void pfr_debug_hash_seed(uint64_t seed);

#ifdef __cplusplus
}
#endif
#endif
