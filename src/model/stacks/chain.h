/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CHAIN_H
#define PFR_MODEL_CHAIN_H
/*
 * The addresses of a call chain, innermost first. Between the addresses are markers, which state where the following
 * addresses are (kernel, user, ...).
 *
 *    struct chain_walk walk = chain_begin(&sample.chain, misc & PFR_CPUMODE_MASK, 127);
 *    while (chain_next(&walk, &address))
 *        use(address, walk.mode);
 *
 * Source: enum perf_callchain_context of linux/perf_event.h.
 */
#include <perfray/views.h>
#include <stdbool.h>
#include <stdint.h>

#define CHAIN_MARKERS ((uint64_t)-4095) /* values from here on are markers */

struct chain_walk {
    pfr_u64s chain;
    uint64_t at;
    uint32_t left;
    unsigned mode; /* PERF_RECORD_MISC_CPUMODE of the address returned by chain_next */
};

/* Returns at most `most` addresses. A chain with an unknown marker has no addresses: see chain.c. */
struct chain_walk chain_begin(const pfr_u64s *chain, unsigned mode, uint32_t most);
bool chain_next(struct chain_walk *walk, uint64_t *address);

/* Whether an entry of a chain is a marker. A marker changes *mode. false: it is an address. */
bool chain_marker(uint64_t entry, unsigned *mode);
/* Whether a marker is known. A chain with an unknown marker has no addresses. */
bool chain_marker_is_known(uint64_t marker);

#endif
