/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about the stacks of a table of waits, computed on first use. */
#include "view/offcpu/offcpu_stacks.h"

#include <fnmatch.h>

const struct wait_stack *offcpu_stack_facts(struct offcpu *o, uint32_t stack) {
    struct wait_stack *fact = &o->stacks[stack].facts;
    if (!fact->done)
        wait_stack_learn(o->model, stack, fact);
    return fact;
}

static bool has_match(const struct offcpu *o, uint32_t stack) {
    for (uint32_t id = stack; id; id = pfr_model_get_stack(o->model, id)->parent) {
        const char *name = pfr_model_get_symbol(o->model, pfr_model_get_stack(o->model, id)->symbol)->name;
        if (name && fnmatch(o->options->function, name, 0) == 0)
            return true;
    }
    return false;
}

bool offcpu_stack_matches(struct offcpu *o, uint32_t stack) {
    struct offcpu_stack *at = &o->stacks[stack];
    if (!at->is_searched)
        at->matches = has_match(o, stack);
    at->is_searched = true;
    return at->matches;
}

const pfr_model_symbol *offcpu_function(struct offcpu *o, uint32_t stack) {
    const uint32_t program = offcpu_stack_facts(o, stack)->program;
    return program ? pfr_model_get_symbol(o->model, pfr_model_get_stack(o->model, program)->symbol) : NULL;
}

enum wait_reason offcpu_reason(struct offcpu *o, const struct thread_interval *interval, uint32_t stack,
                               uint32_t waker_stack) {
    return wait_stack_reason(interval, offcpu_stack_facts(o, stack), offcpu_stack_facts(o, waker_stack), o->machine);
}

enum waker_kind offcpu_waker_kind(struct offcpu *o, const struct thread_interval *interval, uint32_t waker_stack) {
    return wait_stack_waker(interval, offcpu_stack_facts(o, waker_stack));
}
