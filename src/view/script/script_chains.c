/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the callchains of samples that were recorded with registers and a stack copy, or with branches, instead of a
 * callchain: see model/stacks/chain_maker.h. */
#include "view/script/script_chains.h"

#include "base/memory/fail.h"
#include "file/read/recording.h"

void script_make_chain(struct script *s, const struct moment *m) {
    const struct chain_place place = {.event = (uint32_t)m->rec->event,
                                      .space = m->thread->space,
                                      .tid = m->tid,
                                      .key = m->key,
                                      .swap = s->shared->reader->context.swap};
    if (!s->current.made) {
        chain_maker_init(&s->current.maker, &s->shared->names->unwinding, s->memory);
        if (s->shared->options->stitched)
            chain_maker_stitch(&s->current.maker, s->shared->branch_registers);
        s->current.made = mem_alloc(s->memory, chain_made_words(s->shared->max_stack, true), sizeof *s->current.made);
    }
    if (!s->current.made) {
        script_fail(s, mem_fail(s->memory, s->err, "unwinding"));
        return;
    }
    script_fail(s, chain_make(&s->current.maker, m->event->event, &s->current.sample, &place, s->shared->max_stack,
                              s->current.made, &s->current.sample.chain, s->err));
}

pfr_status script_add_unwound(struct script *s, const struct script *from, pfr_error *err) {
    if (!from->current.made)
        return PFR_OK;
    if (s->current.nr_unwound < s->shared->nr_events) {
        void *more = mem_resize(s->memory, s->current.unwound, s->current.nr_unwound, s->shared->nr_events,
                                sizeof *s->current.unwound);
        if (!more)
            return mem_fail(s->memory, err, "unwinding");
        s->current.unwound = more;
        memset(s->current.unwound + s->current.nr_unwound, 0,
               (s->shared->nr_events - s->current.nr_unwound) * sizeof *s->current.unwound);
        s->current.nr_unwound = s->shared->nr_events;
    }
    chain_counts_add(s->current.unwound, s->current.nr_unwound, &from->current.maker);
    return PFR_OK;
}

void script_chains_free(struct script *s) {
    if (s->current.made)
        chain_maker_free(&s->current.maker);
    mem_free(s->memory, s->current.made, s->current.made ? chain_made_words(s->shared->max_stack, true) : 0,
             sizeof *s->current.made);
    mem_free(s->memory, s->current.unwound, s->current.nr_unwound, sizeof *s->current.unwound);
    s->current.made = NULL;
    s->current.unwound = NULL;
    s->current.nr_unwound = 0;
}
