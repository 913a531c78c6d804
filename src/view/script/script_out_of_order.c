/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles records that arrive out of order, because some were late for their round, or because more records had to wait
 * than fit into memory. Each record still uses the state at its own timestamp. In this case, it is not enough to
 * invalidate the caches of threads and addresses when a record that changes the state arrives, because that record's
 * timestamp may be much earlier than those of the records before it. Instead, the epoch is the number of changes with a
 * smaller key: records with the same number see the same state. This number depends only on the key, so it is the same
 * on every thread.
 *
 * Nearly all recordings are in order; for these, nothing is allocated here.
 */
#include "view/script/script_out_of_order.h"

#include "base/memory/fail.h"

static pfr_status make(struct script *s, struct script_disorder *d, pfr_error *err) {
    d->all = mem_zeroed(s->memory, 2, sizeof *d->all);
    if (!d->all)
        return mem_fail(s->memory, err, "script");
    d->kernel = d->all + 1;
    d->all->memory = d->kernel->memory = s->memory;
    PFR_TRY(timestamp_keys_make(d->all, s->shared->state, s->memory, err));
    return timestamp_keys_make_kernel(d->kernel, s->shared->state, s->memory, err);
}

pfr_status script_disorder_begin(struct script *s, pfr_error *err) {
    struct script_disorder *const d = &s->caches.disorder;
    d->is_on = true;
    d->base = s->caches.epoch + 1;
    d->kernel_base = s->caches.kernel_epoch + 1;
    s->caches.order_epoch++;
    return make(s, d, err);
}

void script_disorder_turn(struct script *s, const struct record_key *key) {
    struct script_disorder *const d = &s->caches.disorder;
    s->caches.epoch = d->base + (uint32_t)timestamp_keys_rank(d->all, key, &d->rank);
    s->caches.kernel_epoch = d->kernel_base + (uint32_t)timestamp_keys_rank(d->kernel, key, &d->kernel_rank);
}

void script_disorder_end(struct script *s) {
    struct script_disorder *const d = &s->caches.disorder;
    if (d->all) {
        timestamp_keys_free(d->all);
        timestamp_keys_free(d->kernel);
        mem_free(s->memory, d->all, 2, sizeof *d->all);
    }
    *d = (struct script_disorder){.is_on = false};
}
