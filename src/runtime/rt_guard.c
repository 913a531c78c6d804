/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the program running if its trace cannot be written. A store to a page that the file has lost (it was truncated,
 * or the disk is full) raises SIGBUS. The recorder's handler then maps anonymous memory at that page of the trace and
 * ends recording. Any other SIGBUS goes to the program's own action, as if the recorder had no handler.
 *
 * The program's calls of sigaction, signal, sigprocmask and pthread_sigmask pass through rt_signals.c, because
 *
 *  - the program's action for SIGBUS must not replace the recorder's handler: the program's action is stored here, and
 *    the kernel gets the recorder's handler with the same mask;
 *  - a fault while SIGBUS is blocked kills the program despite the handler. So if the program blocks SIGBUS, that is
 *    only noted. In a thread that inherited such a mask, SIGBUS is unblocked when the thread gets its first buffer. If
 *    a SIGBUS that was sent (not a fault) arrives in a thread where the program wants SIGBUS blocked, the handler
 *    really blocks SIGBUS and sends the signal again.
 *
 * The handler may interrupt itself (SA_NODEFER), because ending the recording also stores to the trace.
 */
#include "runtime/rt_guard.h"
#include "runtime/rt_pool.h"
#include "runtime/rt_start.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define KERNEL_MASK 8u /* bytes of a signal mask */
#define SLOTS 8u       /* stored program actions: the newest is valid; a handler may still be reading an older one */
#define BUS ((uint64_t)1 << (SIGBUS - 1))
#define RESTORER 0x04000000ul
#ifndef SYS_rt_tgsigqueueinfo
#error "rt_tgsigqueueinfo is needed"
#endif

/* The kernel's struct for rt_sigaction. */
struct action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

/* --- The kernel's actions. */

#if defined __x86_64__
/* The function that a handler returns to. Unwinders recognize a signal frame by these bytes. */
__asm__(".text\n.p2align 4\nnop\n.local perfray_rt_return_\n.type perfray_rt_return_, @function\nperfray_rt_return_:\n"
        "mov $15, %rax\nsyscall\n.size perfray_rt_return_, .-perfray_rt_return_\n");
void rt_return(void) __asm__("perfray_rt_return_") __attribute__((visibility("hidden")));
#endif

RT_PLAIN void rt_guard_restorer(unsigned long *flags, void (**restorer)(void)) {
#if defined __x86_64__
    *flags |= RESTORER;
    *restorer = rt_return;
#else
    (void)flags;
    (void)restorer;
#endif
}

RT_PLAIN static long kernel_action(const struct action *new, struct action *old) {
    struct action with = {0};
    if (new) {
        with = *new;
        rt_guard_restorer(&with.flags, &with.restorer);
    }
    return rt_syscall(SYS_rt_sigaction, SIGBUS, (long)(new ? &with : NULL), (long)old, KERNEL_MASK, 0, 0);
}

RT_PLAIN static bool is_handler(const struct action *a) {
    return (void *)a->handler != (void *)SIG_DFL && (void *)a->handler != (void *)SIG_IGN;
}

/* --- The program's action. */

static struct action kept[SLOTS];
static uint32_t newest, made; /* indexes of `kept`; `made` only grows, modulo SLOTS */
static bool installed;
static struct { uint64_t device, inode; } errors; /* identity of the program's standard error when recording began */

static void on_bus(int number, siginfo_t *info, void *context);

RT_PLAIN static struct action program_action(void) {
    return kept[__atomic_load_n(&newest, __ATOMIC_ACQUIRE)];
}

RT_PLAIN static void keep(const struct action *a) {
    const uint32_t slot = __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED) % SLOTS;
    kept[slot] = *a;
    __atomic_store_n(&newest, slot, __ATOMIC_RELEASE);
}

/* Installs the recorder's handler. If the program has a handler, the recorder's handler gets the same mask, SA_ONSTACK
 * and SA_RESTART. */
RT_PLAIN static long install_for(const struct action *a) {
    struct action ours = {.handler = on_bus, .flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    if (is_handler(a)) {
        ours.flags = SA_SIGINFO | SA_NODEFER | (a->flags & (SA_ONSTACK | SA_RESTART));
        ours.mask = a->mask & ~BUS;
    }
    return kernel_action(&ours, NULL);
}

RT_PLAIN static bool learn_identity(long fd, uint64_t *device, uint64_t *inode) {
    struct stat facts;
    rt_zero(&facts, sizeof facts);
    const bool known = RT_CALL3(SYS_fstat, fd, &facts, 0) == 0;
    *device = known ? facts.st_dev : 0;
    *inode = known ? facts.st_ino : 0;
    return known;
}

RT_PLAIN void rt_guard_install(void) {
    struct action old;
    if (installed || kernel_action(NULL, &old) < 0)
        return;
    learn_identity(2, &errors.device, &errors.inode);
    keep(&old);
    installed = install_for(&old) == 0;
}

/* Checks that descriptor 2 has not become another file of the program meanwhile. */
RT_RARE void rt_say_late(const char *what, const char *why) {
    uint64_t device, inode;
    if (learn_identity(2, &device, &inode) && device == errors.device && inode == errors.inode)
        rt_say(what, why);
}

/* --- Faults in the trace. */

RT_RARE void rt_guard_end(const char *why) {
    if (__atomic_exchange_n(&rt.is_broken, true, __ATOMIC_ACQ_REL))
        return;
    rt_say_late(rt.options.file, why);
    rt_switch(false);
    if (rt.control) {
        rt.control->full = 1;
        rt_lose(RTF_FULL);
    }
}

/* Maps a page of memory at the fault. The store is then repeated and succeeds. */
RT_RARE static bool replace_page(uint64_t at) {
    const uint64_t begin = (uint64_t)(uintptr_t)rt.file;
    uint64_t page = at & ~(uint64_t)(RT_PAGES - 1);
    if (!rt.file || at < begin || at >= begin + rt.file_size)
        return false;
    page = page < begin ? begin : page;
    const long made_at = rt_syscall(SYS_mmap, (long)page, RT_PAGES, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    if (made_at != (long)page)
        return false;
    rt_guard_end("its file was truncated, or its disk is full: the recording ends here");
    return true;
}

/* --- Other signals. */

RT_PLAIN static void block_now(void) {
    const uint64_t bus = BUS;
    rt_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&bus, 0, KERNEL_MASK, 0, 0);
}

RT_PLAIN static void send_again(const siginfo_t *info, bool to_thread) {
    const long pid = RT_CALL3(SYS_getpid, 0, 0, 0);
    if (to_thread)
        rt_syscall(SYS_rt_tgsigqueueinfo, pid, RT_CALL3(SYS_gettid, 0, 0, 0), SIGBUS, (long)info, 0, 0);
    else
        RT_CALL3(SYS_rt_sigqueueinfo, pid, SIGBUS, info);
}

/* Restores the default action, so that the signal kills the program. A fault is raised again when the handler returns;
 * a sent signal is sent again here. */
RT_PLAIN static void die(const siginfo_t *info, bool is_fault) {
    const struct action usual = {0};
    kernel_action(&usual, NULL);
    if (!is_fault)
        send_again(info, true);
}

RT_PLAIN static void call_program(const struct action *a, siginfo_t *info, void *context) {
    const struct action usual = {0};
    if (a->flags & SA_RESETHAND)
        keep(&usual);
    if (!(a->flags & SA_NODEFER))
        block_now();
    a->handler(SIGBUS, info, context);
}

RT_PLAIN static void on_bus(int number, siginfo_t *info, void *context) {
    const bool is_fault = info->si_code > 0 && info->si_code != SI_KERNEL && info->si_code != BUS_MCEERR_AO;
    (void)number;
    if (is_fault && replace_page((uint64_t)(uintptr_t)info->si_addr))
        return;
    const struct action a = program_action();
    if (!is_fault && rt_here.bus_blocked) {
        block_now(); /* here, and in the context that continues */
        *(rt_u64 *)(void *)&((ucontext_t *)context)->uc_sigmask |= BUS;
        send_again(info, false);
    } else if (is_handler(&a)) {
        call_program(&a, info, context);
    } else if (is_fault || (void *)a.handler == (void *)SIG_DFL) {
        die(info, is_fault);
    }
}

/* --- Requests of the program. */

/* A child of vfork shares this memory, but not the signal actions. */
RT_PLAIN static bool is_this_process(void) {
    rt_revive(&rt_here);
    return (uint32_t)RT_CALL3(SYS_getpid, 0, 0, 0) == rt.pid;
}

bool rt_guard_is_on(void) {
    return installed;
}

long rt_guard_action(const struct sigaction *new, struct sigaction *old) {
    const struct action before = program_action();
    struct action wanted = {0};
    long result = 0;
    if (new) {
        wanted.handler = new->sa_sigaction;
        wanted.flags = (unsigned long)(unsigned)new->sa_flags;
        rt_copy(&wanted.mask, &new->sa_mask, sizeof wanted.mask);
        if (is_this_process()) {
            keep(&wanted);
            result = install_for(&wanted);
        } else {
            result = kernel_action(&wanted, NULL);
        }
    }
    if (old && result >= 0) {
        rt_zero(old, sizeof *old);
        old->sa_sigaction = before.handler;
        old->sa_flags = (int)(before.flags & ~RESTORER);
        rt_copy(&old->sa_mask, &before.mask, sizeof before.mask);
    }
    return result;
}

bool *rt_guard_blocked(void) {
    return installed && is_this_process() ? &rt_here.bus_blocked : NULL;
}

/* Called once per thread, because a mask may be inherited. Not called with later buffers, because by then a seccomp
 * filter may forbid these system calls. If the program later blocks SIGBUS with a raw system call, the recorder does
 * not notice. */
RT_PLAIN void rt_guard_thread(struct rt_thread *t) {
    uint64_t mask = 0, pending = 0;
    const uint64_t bus = BUS;
    if (!installed || rt_syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&mask, KERNEL_MASK, 0, 0) < 0 || !(mask & BUS))
        return;
    t->bus_blocked = true;
    if (RT_CALL3(SYS_rt_sigpending, &pending, KERNEL_MASK, 0) == 0 && !(pending & BUS))
        rt_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&bus, 0, KERNEL_MASK, 0, 0);
}
