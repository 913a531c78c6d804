/* SPDX-License-Identifier: Apache-2.0 */
/* The key of a record in the order of the state. */
#include "model/state/state_queue.h"

struct record_key state_key(const struct state *s, const pfr_record *rec, uint64_t time) {
    return key_of(rec, s->timed ? time : 0);
}
