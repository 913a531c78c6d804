/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides the weights of a profile by the number of threads that ran at the time of the samples. This number is a key
 * of the groups, so it is the same for all samples of a node. Only the quotient of the sum is rounded, not that of each
 * sample, so that events whose samples weigh 1 do not vanish. Totals become the sums of the rounded weights.
 */
#include "model/profile/result/profile_divide.h"
#include "base/memory/fail.h"

#include <string.h>

/* The divisor. If no thread is known to have run (0), and for [limit], weights are not divided. */
static uint64_t divisor_of(const struct profile *p, const struct profile_group *group) {
    const uint64_t running = profile_value(p, group, PROFILE_PARALLELISM);
    return running ? running : 1;
}

pfr_status profile_divide(struct profile *p, pfr_error *err) {
    uint32_t *group_of = mem_alloc(p->memory, p->nr_nodes, sizeof *group_of);
    if (!group_of)
        return mem_fail(p->memory, err, "profile");
    memset(p->totals, 0, ((size_t)p->nr_events + 1) * sizeof *p->totals);
    for (uint32_t n = 0; n < p->nr_nodes; n++) {
        const struct profile_node *node = &p->nodes[n];
        group_of[n] = node->parent == NO_NODE ? node->frame : group_of[node->parent];
        if (!node_weight(&p->self, n)->samples)
            continue;
        const struct profile_group *group = p->groups[group_of[n]];
        struct profile_weight *self = node_weights_own(&p->self, n);
        const uint64_t divisor = divisor_of(p, group), rest = self->weight % divisor;
        self->weight = self->weight / divisor + (rest >= divisor - rest && rest);
        weight_add(&p->totals[group->event], self);
    }
    mem_free(p->memory, group_of, p->nr_nodes, sizeof *group_of);
    return PFR_OK;
}
