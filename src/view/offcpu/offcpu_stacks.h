/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_OFFCPU_STACKS_H
#define PFR_VIEW_OFFCPU_STACKS_H
/* Interface of offcpu_stacks.c; that file describes how it works. */
#include "view/offcpu/offcpu_parts.h"

const struct wait_stack *offcpu_stack_facts(struct offcpu *o, uint32_t stack);
enum wait_reason offcpu_reason(struct offcpu *o, const struct thread_interval *interval, uint32_t stack,
                               uint32_t waker_stack);

/* The kind of the waker, which also depends on the stack of the waker. */
enum waker_kind offcpu_waker_kind(struct offcpu *o, const struct thread_interval *interval, uint32_t waker_stack);

/* The symbol of the program's innermost function in a stack; NULL if unknown. */
const pfr_model_symbol *offcpu_function(struct offcpu *o, uint32_t stack);

/* Whether the stack has a requested function. */
bool offcpu_stack_matches(struct offcpu *o, uint32_t stack);

#endif
