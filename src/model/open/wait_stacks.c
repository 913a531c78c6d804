/* SPDX-License-Identifier: Apache-2.0 */
/* Derives facts from the stack of a wait, or of its waker: see wait_stacks.h. */
#include "model/open/wait_stacks.h"

#include "file/read/recording.h"
#include "model/open/model_parts.h"
#include "wire/feature_bits.h"

#include <stdio.h>
#include <string.h>

/* --- Frames. */

struct frame_view {
    const char *name; /* NULL: unnamed */
    const pfr_model_object *object;
    bool kernel, user;
};

static struct frame_view frame_at(const pfr_model *model, const pfr_stack *stack) {
    const pfr_model_frame *frame = pfr_model_get_frame(model, stack->frame);
    const pfr_model_symbol *symbol = pfr_model_get_symbol(model, stack->symbol);
    return (struct frame_view){.name = symbol->name,
                               .object = pfr_model_get_object(model, frame->object),
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

/* Functions with which threads begin or enter the kernel. */
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

/* Functions in which every thread leaves its CPU, or wakes another one. A stack that has nothing else tells nothing. */
static bool is_scheduler(const char *name) {
    static const char *const names[] = {"__schedule", "schedule", "preempt_schedule_common", "try_to_wake_up"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* --- Facts. */

struct evidence {
    struct wait_evidence kernel, libc;
    /* Stacks of the innermost program frame, the innermost user frame, and the outermost kernel
       frame; 0: not found. */
    uint32_t program, in_library, entry;
};

static void note_kernel(struct wait_stack *fact, struct evidence *e, uint32_t id, const struct frame_view *f) {
    fact->has_kernel = true;
    wait_evidence_kernel(&e->kernel, f->name);
    fact->softirq |= (uint8_t)(1u << softirq_function_of(f->name));
    const enum wait_reason polled = wait_reason_of_waker(f->name);
    if (!fact->polled && polled < WAIT_REASONS)
        fact->polled = (uint8_t)polled;
    if (!is_beginning(f->name) && !is_scheduler(f->name))
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

static void note_frame(const pfr_model *model, struct wait_stack *fact, struct evidence *e, uint32_t id) {
    const struct frame_view f = frame_at(model, pfr_model_get_stack(model, id));
    if (!f.name)
        return;
    if (f.kernel)
        note_kernel(fact, e, id, &f);
    else if (f.user)
        note_user(e, id, &f);
    if (!fact->lock && (f.kernel || (f.user && !e->program)))
        fact->lock = (uint8_t)lock_kind_of(f.name);
}

/* The wait reason comes from kernel frames if there are any, else from frames of the C library. The
 * program's stack begins at the innermost frame of the program, else at the innermost user frame
 * (of a library), else at the outermost kernel frame that is not a start, entry or scheduler
 * function. */
static void settle(struct wait_stack *fact, const struct evidence *e) {
    const enum wait_reason kernel = wait_reason_of(&e->kernel), libc = wait_reason_of(&e->libc);
    fact->reason = (uint8_t)(kernel != WAIT_OTHER || fact->has_kernel ? kernel : libc);
    fact->program = e->program ? e->program : e->in_library ? e->in_library : e->entry;
    fact->in_library = !e->program && e->in_library;
}

void wait_stack_learn(const pfr_model *model, uint32_t stack, struct wait_stack *fact) {
    struct evidence e = {.program = 0};
    *fact = (struct wait_stack){.done = true};
    for (uint32_t id = stack; id; id = pfr_model_get_stack(model, id)->parent)
        note_frame(model, fact, &e, id);
    if (stack)
        settle(fact, &e);
}

bool wait_stack_is_common(const pfr_model *model, uint32_t stack) {
    const struct frame_view f = frame_at(model, pfr_model_get_stack(model, stack));
    return !f.name || is_beginning(f.name);
}

/* --- Waits. */

enum wait_reason wait_stack_reason(const struct thread_interval *interval, const struct wait_stack *stack,
                                   const struct wait_stack *waker, const char *machine) {
    enum wait_reason reason = (enum wait_reason)stack->reason;
    if (reason == WAIT_OTHER && interval->syscall != NO_SYSCALL)
        reason = wait_reason_of_syscall(machine, interval->syscall);
    if (reason == WAIT_OTHER && interval->address)
        reason = WAIT_LOCK;
    return reason == WAIT_POLL ? (enum wait_reason)waker->polled : reason;
}

/* If a thread sends data through the loopback device, the soft interrupt that wakes the reader runs on top of the
   sender's stack, and the sender counts as the waker. */
enum waker_kind wait_stack_waker(const struct thread_interval *interval, const struct wait_stack *waker) {
    const unsigned s = waker->softirq;
    if (interval->waker_kind != WAKER_SOFTIRQ)
        return (enum waker_kind)interval->waker_kind;
    const bool by_thread = (s & 1u << SOFTIRQ_LOOPBACK) && (s & 1u << SOFTIRQ_BY_THREAD) &&
                           !(s & 1u << SOFTIRQ_INTERRUPTS) && interval->waker != 0;
    return by_thread ? WAKER_THREAD : WAKER_INTERRUPT;
}

bool wait_stacks_are_copies(const pfr_model *model) {
    uint64_t copies = 0;
    for (uint32_t i = 0; model->reader && i < pfr_event_count(model->reader); i++)
        copies |= pfr_get_event(model->reader, i)->attr.sample_type & PFR_SAMPLE_STACK_USER;
    return copies;
}

bool wait_library_note(uint64_t all, uint64_t library, bool are_copies, char text[WAIT_NOTE_ROOM]) {
    snprintf(text, WAIT_NOTE_ROOM, "%.0f%% " WAIT_LIBRARY_TEXT, all ? 100.0 * (double)library / (double)all : 0);
    return !are_copies && library > all / WAIT_LIBRARY_LEAST;
}

void wait_machine_learn(pfr_reader *reader, char machine[WAIT_MACHINE_ROOM]) {
    struct pfr_rec_feature_arch arch;
    const pfr_feature *f = pfr_find_feature(reader, BIT_ARCH, NULL);
    memset(machine, 0, WAIT_MACHINE_ROOM);
    if (!f || pfr_decode_feature(reader, f, &arch, sizeof arch, NULL) != PFR_OK)
        return;
    const size_t length = strnlen((const char *)arch.arch.at, arch.arch.length);
    if (length < WAIT_MACHINE_ROOM)
        memcpy(machine, arch.arch.at, length);
}
