/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_WAIT_STACKS_H
#define PFR_MODEL_WAIT_STACKS_H
/*
 * Facts about a stack: the reason of a wait with this stack, the function of the program in it, the kind of lock. Used
 * by everything that shows waits: the intervals of the model, perfray offcpu, pages of perfray view.
 */
#include "model/sched/thread_states.h"
#include "model/sched/wait_reasons.h"

#include <perfray/model.h>

#define WAIT_MACHINE_ROOM 32u
#define WAIT_NOTE_ROOM 400u

struct wait_stack {
    uint32_t program; /* stack of the innermost function of the program; 0: not known */
    uint8_t reason;   /* enum wait_reason according to this stack; see wait_stack_reason */
    uint8_t lock;     /* enum lock_kind */
    uint8_t softirq;  /* bits of enum softirq_function */
    uint8_t polled;   /* for the stack of a waker: reason of a wait in poll, select or epoll that it ended */
    bool done;        /* already computed; for callers that compute facts on first use */
    bool has_kernel;
    bool in_library; /* `program` is in a system library, because the stack has no frame of the program */
};

/* Stack 0 has no facts. */
void wait_stack_learn(const pfr_model *model, uint32_t stack, struct wait_stack *fact);

/* Whether the innermost frame has no name, or is a function with which threads begin or enter the kernel. Such frames
 * are omitted from printed call chains. */
bool wait_stack_is_common(const pfr_model *model, uint32_t stack);

enum wait_reason wait_stack_reason(const struct thread_interval *interval, const struct wait_stack *stack,
                                   const struct wait_stack *waker, const char *machine);
/* The kind of the waker, which also depends on the stack of the waker. */
enum waker_kind wait_stack_waker(const struct thread_interval *interval, const struct wait_stack *waker);

/* Whether call chains were made from recorded copies of stacks. */
bool wait_stacks_are_copies(const pfr_model *model);
/* The sentence of wait_library_note after the percentage. */
#define WAIT_LIBRARY_TEXT                                                                                              \
    "of the blocked time has call chains that end in the C library, without the function that called it: libraries "   \
    "without frame pointers need record --off-cpu --call-graph dwarf"
#define WAIT_LIBRARY_LEAST 20u /* up to 1/20 of the blocked time is a small part */
/* Writes the sentence that tells users why functions are missing: `library` of the `all` ns blocked
   with a stack have stacks that end in the C library. Returns whether to show it: not if `library`
   is a small part of `all`, nor if call chains were made from copies of stacks. */
bool wait_library_note(uint64_t all, uint64_t library, bool are_copies, char text[WAIT_NOTE_ROOM]);

/* Finds the architecture of the recorded machine (uname -m), on which the numbers of system calls
   depend; "": unknown. */
void wait_machine_learn(pfr_reader *reader, char machine[WAIT_MACHINE_ROOM]);

#endif
