/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records that arrive out of order: some were late for their round, or more had to wait than fit into memory. Each
 * still uses the state at its own timestamp. The caches of threads and addresses cannot be invalidated by the records
 * as they pass then, because a change may have a timestamp long before its position. Instead, the epoch is the number
 * of changes with a smaller key: records with the same number see the same state. It depends only on the key, so it is
 * the same on every thread.
 *
 * Nothing of this is allocated for recordings in order, which are nearly all.
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
