/* SPDX-License-Identifier: Apache-2.0 */
/* Callchains of samples that were recorded with registers and a stack copy, or with branches, instead of a callchain:
   see model/stacks/chain_maker.h. */
#include "view/script/script_chains.h"

#include "base/memory/fail.h"
#include "file/read/recording.h"

void script_make_chain(struct script *s, const struct moment *m) {
    const struct chain_place place = {.event = (uint32_t)m->rec->event,
                                      .space = m->thread->space,
                                      .tid = m->tid,
                                      .key = m->key,
                                      .swap = s->shared->reader->context.swap};
    if (!s->made) {
        chain_maker_init(&s->maker, &s->shared->names->unwinding, s->memory);
        if (s->shared->options->stitched)
            chain_maker_stitch(&s->maker, s->shared->branch_registers);
        s->made = mem_alloc(s->memory, chain_made_words(s->shared->max_stack, true), sizeof *s->made);
    }
    if (!s->made) {
        script_fail(s, mem_fail(s->memory, s->err, "unwinding"));
        return;
    }
    script_fail(s, chain_make(&s->maker, m->event->event, &s->sample, &place, s->shared->max_stack, s->made,
                              &s->sample.chain, s->err));
}

pfr_status script_add_unwound(struct script *s, const struct script *from, pfr_error *err) {
    if (!from->made)
        return PFR_OK;
    if (s->nr_unwound < s->shared->nr_events) {
        void *more = mem_resize(s->memory, s->unwound, s->nr_unwound, s->shared->nr_events, sizeof *s->unwound);
        if (!more)
            return mem_fail(s->memory, err, "unwinding");
        s->unwound = more;
        memset(s->unwound + s->nr_unwound, 0, (s->shared->nr_events - s->nr_unwound) * sizeof *s->unwound);
        s->nr_unwound = s->shared->nr_events;
    }
    chain_counts_add(s->unwound, s->nr_unwound, &from->maker);
    return PFR_OK;
}

void script_chains_free(struct script *s) {
    if (s->made)
        chain_maker_free(&s->maker);
    mem_free(s->memory, s->made, s->made ? chain_made_words(s->shared->max_stack, true) : 0, sizeof *s->made);
    mem_free(s->memory, s->unwound, s->nr_unwound, sizeof *s->unwound);
    s->made = NULL;
    s->unwound = NULL;
    s->nr_unwound = 0;
}
