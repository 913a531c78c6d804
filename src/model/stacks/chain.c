/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses and markers of a call chain: see chain.h. */
#include "model/stacks/chain.h"

#include "base/memory/cursor.h"

#include <perfray/record.h>

static unsigned mode_of_marker(uint64_t marker, unsigned now) {
    static const struct {
        int marker;
        unsigned mode;
    } modes[] = {{-32, PFR_CPUMODE_HYPERVISOR},
                 {-128, PFR_CPUMODE_KERNEL},
                 {-512, PFR_CPUMODE_USER},
                 {-2176, PFR_CPUMODE_GUEST_KERNEL},
                 {-2560, PFR_CPUMODE_GUEST_USER}};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if ((uint64_t)modes[i].marker == marker)
            return modes[i].mode;
    return now;
}

bool chain_marker(uint64_t entry, unsigned *mode) {
    if (entry < CHAIN_MARKERS)
        return false;
    *mode = mode_of_marker(entry, *mode);
    return true;
}

bool chain_marker_is_known(uint64_t entry) {
    static const int known[] = {-32, -128, -512, -640};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if ((uint64_t)known[i] == entry)
            return true;
    return false;
}

/* Whether the chain has an unknown marker. The chains of programs that use the frame pointer register for other data
   contain arbitrary values, including values reserved for markers. perf rejects such a chain as a whole. */
static bool has_unknown_marker(const pfr_u64s *chain, uint32_t most) {
    for (uint64_t i = 0; i < chain->count && most > 0; i++) {
        const uint64_t entry = pfr_u64s_at(chain, i);
        if (entry < CHAIN_MARKERS)
            most--;
        else if (!chain_marker_is_known(entry))
            return true;
    }
    return false;
}

struct chain_walk chain_begin(const pfr_u64s *chain, unsigned mode, uint32_t most) {
    const uint32_t left = has_unknown_marker(chain, most) ? 0 : most;
    return (struct chain_walk){.chain = *chain, .mode = mode, .left = left};
}

bool chain_next(struct chain_walk *walk, uint64_t *address) {
    while (walk->left > 0 && walk->at < walk->chain.count) {
        *address = pfr_u64s_at(&walk->chain, walk->at++);
        if (chain_marker(*address, &walk->mode))
            continue;
        walk->left--;
        return true;
    }
    return false;
}
