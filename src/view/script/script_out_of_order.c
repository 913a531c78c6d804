/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records that do not come in the order of keys: some were late against their rounds, or more waited than memory holds.
 * Each sees the state of its own key all the same. What is kept of threads and addresses is then not ended by the
 * records that pass (a change may have its key long before the place where its record is met), but by the number of
 * changes that have a smaller key: two records of the same number see the same. It depends on nothing but the key, so
 * that it is the same for every thread that prints.
 *
 * Of recordings in order, nearly all, nothing is made of this.
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
    struct script_disorder *const d = &s->disorder;
    d->is_on = true;
    d->base = s->epoch + 1;
    d->kernel_base = s->kernel_epoch + 1;
    s->order_epoch++;
    return make(s, d, err);
}

void script_disorder_turn(struct script *s, const struct record_key *key) {
    struct script_disorder *const d = &s->disorder;
    s->epoch = d->base + (uint32_t)timestamp_keys_rank(d->all, key, &d->rank);
    s->kernel_epoch = d->kernel_base + (uint32_t)timestamp_keys_rank(d->kernel, key, &d->kernel_rank);
}

void script_disorder_end(struct script *s) {
    struct script_disorder *const d = &s->disorder;
    if (d->all) {
        timestamp_keys_free(d->all);
        timestamp_keys_free(d->kernel);
        mem_free(s->memory, d->all, 2, sizeof *d->all);
    }
    *d = (struct script_disorder){.is_on = false};
}
