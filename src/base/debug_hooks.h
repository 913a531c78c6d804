/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_BASE_DEBUG_HOOKS_H
#define PFR_BASE_DEBUG_HOOKS_H
/*
 * Test hooks: the environment variable PERFRAY_DEBUG holds comma-separated words `key=value`, read once when the
 * library is loaded and constant afterwards. They make tests reach in small files what users reach in large ones; none
 * may change any output.
 *
 *     hash-seed=N    every hash table is seeded with N instead of an address
 *     sizes=tiny     every internal size of sizes.def takes its tiny value
 *     size.NAME=N    the internal size NAME is N; words apply in order
 *
 * A word that is not understood ends the process with a message: a test whose hook has a typing error would test
 * nothing. Programs that run with more privileges than their user (secure_getenv) ignore the variable.
 */
#include <stdint.h>

/* The seed for a hash table: `fallback`, or the N of hash-seed=N. */
uint64_t debug_hash_seed(uint64_t fallback);

#endif
