/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_OFFCPU_STACKS_H
#define PFR_VIEW_OFFCPU_STACKS_H
/* Interface of offcpu_stacks.c; that file describes how it works. */
#include "view/offcpu/offcpu_parts.h"

const struct offcpu_stack *offcpu_stack_facts(struct offcpu *o, uint32_t stack);
enum wait_reason offcpu_reason(struct offcpu *o, const struct thread_interval *interval, uint32_t stack,
                               uint32_t waker_stack);

/* Who the waker was when its stack is known, too. */
enum waker_kind offcpu_waker_kind(struct offcpu *o, const struct thread_interval *interval, uint32_t waker_stack);

/* The innermost function of the program in a stack: its symbol; NULL: not known. */
const pfr_model_symbol *offcpu_function(struct offcpu *o, uint32_t stack);

/* A frame that every stack of its kind has: it is left out of chains. */
bool offcpu_is_common(const struct offcpu *o, uint32_t stack);

#endif
