/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about a stack: the reason of the wait, the function of the program in it, and the kind of lock that it waits
   for. */
#include "view/offcpu/offcpu_stacks.h"

#include <fnmatch.h>

/* --- Frames. */

struct frame_view {
    const char *name; /* NULL: unnamed */
    const pfr_model_object *object;
    bool kernel, user;
};

static struct frame_view frame_at(const struct offcpu *o, const pfr_stack *stack) {
    const pfr_model_frame *frame = pfr_model_get_frame(o->model, stack->frame);
    const pfr_model_symbol *symbol = pfr_model_get_symbol(o->model, stack->symbol);
    return (struct frame_view){.name = symbol->name,
                               .object = pfr_model_get_object(o->model, frame->object),
                               .kernel = frame->mode == PFR_CPUMODE_KERNEL,
                               .user = frame->mode == PFR_CPUMODE_USER};
}

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* System libraries, through which every program waits. */
static bool is_system_library(const char *name) {
    static const char *const names[] = {"libc.so", "libc-2.",   "libpthread", "ld-linux", "ld-2.",
                                        "librt",   "libstdc++", "libgcc_s",   "ld-musl",  "libc.musl",
                                        "[vdso]",  "libc++",    "libgomp",    "libuv.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (begins(name, names[i]))
            return true;
    return false;
}

/* Functions in which every thread or process begins. */
static bool is_beginning(const char *name) {
    static const char *const names[] = {"start_thread",
                                        "clone",
                                        "clone3",
                                        "__clone3",
                                        "__clone",
                                        "_start",
                                        "__libc_start_main",
                                        "__libc_start_call_main",
                                        "thread_start",
                                        "ret_from_fork",
                                        "ret_from_fork_asm",
                                        "kthread",
                                        "entry_SYSCALL_64_after_hwframe",
                                        "do_syscall_64",
                                        "x64_sys_call"};
    const size_t length = strcspn(name, "@.");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && strncmp(name, names[i], length) == 0)
            return true;
    return false;
}

bool offcpu_is_common(const struct offcpu *o, uint32_t stack) {
    const struct frame_view f = frame_at(o, pfr_model_get_stack(o->model, stack));
    return !f.name || is_beginning(f.name);
}

/* --- Facts. */

struct evidence {
    struct wait_evidence kernel, libc;
    uint32_t program, in_library, entry; /* stacks: of the program, of a library, and of the outermost kernel frame */
};

static void note_kernel(struct offcpu_stack *fact, struct evidence *e, uint32_t id, const struct frame_view *f) {
    fact->has_kernel = true;
    wait_evidence_kernel(&e->kernel, f->name);
    fact->softirq |= (uint8_t)(1u << softirq_function_of(f->name));
    const enum wait_reason polled = wait_reason_of_waker(f->name);
    if (!fact->polled && polled < WAIT_REASONS)
        fact->polled = (uint8_t)polled;
    if (!is_beginning(f->name))
        e->entry = id;
}

static void note_user(struct evidence *e, uint32_t id, const struct frame_view *f) {
    const bool library = is_system_library(f->object->name);
    if (library && !e->program)
        wait_evidence_libc(&e->libc, f->name);
    if (!e->in_library)
        e->in_library = id;
    if (!library && !e->program && !is_beginning(f->name))
        e->program = id;
}

static void note_frame(const struct offcpu *o, struct offcpu_stack *fact, struct evidence *e, uint32_t id) {
    const struct frame_view f = frame_at(o, pfr_model_get_stack(o->model, id));
    if (!f.name)
        return;
    if (f.kernel)
        note_kernel(fact, e, id, &f);
    else if (f.user)
        note_user(e, id, &f);
    if (!fact->lock && (f.kernel || (f.user && !e->program)))
        fact->lock = (uint8_t)lock_kind_of(f.name);
    if (o->options->function && !fact->matches)
        fact->matches = fnmatch(o->options->function, f.name, 0) == 0;
}

/* The wait reason comes from kernel frames if there are any, else from frames of the C library. The program's stack
 * begins at the innermost frame of the program, else at the innermost frame of a library, else at the kernel's entry.
 */
static void settle(struct offcpu_stack *fact, const struct evidence *e) {
    const enum wait_reason kernel = wait_reason_of(&e->kernel), libc = wait_reason_of(&e->libc);
    fact->reason = (uint8_t)(kernel != WAIT_OTHER || fact->has_kernel ? kernel : libc);
    fact->program = e->program ? e->program : e->in_library ? e->in_library : e->entry;
    fact->in_library = !e->program && e->in_library;
    fact->done = true;
}

const struct offcpu_stack *offcpu_stack_facts(struct offcpu *o, uint32_t stack) {
    struct offcpu_stack *fact = &o->stacks[stack];
    struct evidence e = {.program = 0};
    if (fact->done)
        return fact;
    for (uint32_t id = stack; id; id = pfr_model_get_stack(o->model, id)->parent)
        note_frame(o, fact, &e, id);
    settle(fact, &e);
    return fact;
}

const pfr_model_symbol *offcpu_function(struct offcpu *o, uint32_t stack) {
    const uint32_t program = offcpu_stack_facts(o, stack)->program;
    return program ? pfr_model_get_symbol(o->model, pfr_model_get_stack(o->model, program)->symbol) : NULL;
}

/* --- Waits. */

enum wait_reason offcpu_reason(struct offcpu *o, const struct thread_interval *interval, uint32_t stack,
                               uint32_t waker_stack) {
    enum wait_reason reason = (enum wait_reason)offcpu_stack_facts(o, stack)->reason;
    if (reason == WAIT_OTHER && interval->syscall != NO_SYSCALL)
        reason = wait_reason_of_syscall(o->machine, interval->syscall);
    if (reason == WAIT_OTHER && interval->address)
        reason = WAIT_LOCK;
    return reason == WAIT_POLL ? (enum wait_reason)offcpu_stack_facts(o, waker_stack)->polled : reason;
}

/* The kind of the waker. If a thread sends data through the loopback device, the soft interrupt that wakes the reader
   runs on top of the sender's stack, and the sender counts as the waker. */
enum waker_kind offcpu_waker_kind(struct offcpu *o, const struct thread_interval *interval, uint32_t waker_stack) {
    const unsigned s = offcpu_stack_facts(o, waker_stack)->softirq;
    if (interval->waker_kind != WAKER_SOFTIRQ)
        return (enum waker_kind)interval->waker_kind;
    const bool by_thread = (s & 1u << SOFTIRQ_LOOPBACK) && (s & 1u << SOFTIRQ_BY_THREAD) &&
                           !(s & 1u << SOFTIRQ_INTERRUPTS) && interval->waker != 0;
    return by_thread ? WAKER_THREAD : WAKER_INTERRUPT;
}
