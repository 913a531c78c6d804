/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_WAITS_H
#define PFR_MODEL_PROFILE_WAITS_H
/* Interface of profile_waits.c, which describes how it works. */
#include "model/profile/count/profile_parts.h"
#include "model/profile/result/running_threads.h"
#include "model/profile/result/sample_waits.h"

/* Sets a weight that is not recorded in the sample. false: the sample does not count. */
bool weigh_otherwise(struct sample_counter *c, struct picked *s);
static inline bool weigh(struct sample_counter *c, struct picked *s) {
    return (!c->profile->reader->waits && !c->profile->request.by_latency) || weigh_otherwise(c, s);
}

/* Iterates over waits without a sample, thread by thread. */
struct unsampled_waits {
    struct sample_counter *counter;
    uint8_t *met; /* by generation: 1 if it has states */
    size_t life, generation;
};

pfr_status unsampled_begin(struct unsampled_waits *all, struct sample_counter *c, pfr_error *err);
/* false: there are no more waits. */
bool unsampled_next(struct unsampled_waits *all, struct picked *s);
void unsampled_end(struct unsampled_waits *all);

#endif
