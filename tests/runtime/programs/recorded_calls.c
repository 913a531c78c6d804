/* SPDX-License-Identifier: Apache-2.0 */
/* recorded_calls MODE COUNT - a traced program that counts its own calls (recorded_account.h). */
#include "recorded_account.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>

static __thread volatile unsigned sink;
static long count;

CALLED unsigned leaf(unsigned x) {
    HERE(LEAF);
    return x * 3 + sink;
}

CALLED unsigned middle(unsigned x) {
    HERE(MIDDLE);
    return leaf(x) + leaf(x + 1);
}

CALLED void top(void) {
    HERE(TOP);
    for (long i = 0; i < count; i++)
        sink += middle((unsigned)i);
}

CALLED unsigned down(long depth) {
    HERE(DOWN);
    return depth ? down(depth - 1) + 1 : leaf(1);
}

/* Ends with a call, which -O2 turns into a jump (a tail call). */
CALLED unsigned other(unsigned x) {
    HERE(OTHER);
    return leaf(x + 1);
}

static jmp_buf back;

CALLED void jumps(unsigned x) {
    HERE(JUMPS);
    sink += leaf(x);
    if (x % 3 == 0)
        longjmp(back, 1);
}

NOT_TRACED static void many_jumps(void) {
    for (volatile long i = 0; i < count; i++) {
        const int up = current;
        if (setjmp(back) == 0)
            jumps((unsigned)i);
        current = up;
    }
}

CALLED void handler(int number) {
    HERE(HANDLER);
    sink += leaf((unsigned)number);
}

NOT_TRACED static void under_signals(void) {
    struct sigaction act;
    const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    memset(&act, 0, sizeof act);
    act.sa_handler = handler;
    act.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &act, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    top();
    setitimer(ITIMER_REAL, &never, NULL);
}

CALLED void *worker(void *unused) {
    HERE(WORKER);
    top();
    return unused;
}

NOT_TRACED static void in_threads(int at_once, int times) {
    pthread_t threads[64];
    for (int i = 0; i < times; i += at_once) {
        for (int k = 0; k < at_once; k++)
            if (pthread_create(&threads[k], NULL, worker, NULL) != 0)
                _exit(92);
        for (int k = 0; k < at_once; k++)
            pthread_join(threads[k], NULL);
    }
}

NOT_TRACED static void in_children(int children) {
    for (int i = 0; i < children; i++) {
        const pid_t child = fork();
        if (child == 0) {
            top();
            in_threads(2, 2);
            _exit(0);
        }
        top();
        waitpid(child, NULL, 0);
    }
}

/* Shared objects are loaded and unloaded, and get addresses that others had before. */
NOT_TRACED static void with_objects(void) {
    for (int i = 0; i < 6; i++) {
        void *object = dlopen(getenv(i % 2 ? "PLUG_B" : "PLUG_A"), RTLD_NOW);
        void (*plug)(struct account *, long);
        if (!object)
            _exit(93);
        *(void **)(void *)&plug = dlsym(object, i % 2 ? "plug_b" : "plug_a");
        plug(account, count);
        dlclose(object);
    }
}

static ucontext_t home, routines[2];
static int at_work;

CALLED void routine(void) {
    HERE(ROUTINE);
    for (long i = 0; i < count; i++) {
        sink += middle((unsigned)i);
        const int me = at_work;
        at_work = !me;
        swapcontext(&routines[me], &routines[!me]);
    }
}

NOT_TRACED static void in_routines(void) {
    static char stacks[2][65536];
    for (int i = 0; i < 2; i++) {
        getcontext(&routines[i]);
        routines[i].uc_stack.ss_sp = stacks[i];
        routines[i].uc_stack.ss_size = sizeof stacks[i];
        routines[i].uc_link = &home;
        makecontext(&routines[i], routine, 0);
    }
    swapcontext(&home, &routines[0]);
}

NOT_TRACED static void keeps_errno(void) {
    for (long i = 0; i < count; i++) {
        errno = 4711;
        sink += leaf((unsigned)i);
        if (errno != 4711)
            _exit(94);
    }
}

NOT_TRACED int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "calls";
    count = argc > 2 ? strtol(argv[2], NULL, 10) : 1000;
    account_open();
    if (!strcmp(mode, "calls"))
        top();
    else if (!strcmp(mode, "deep"))
        sink += down(count);
    else if (!strcmp(mode, "tail"))
        for (long i = 0; i < count; i++)
            sink += other((unsigned)i);
    else if (!strcmp(mode, "jumps"))
        many_jumps();
    else if (!strcmp(mode, "signals"))
        under_signals();
    else if (!strcmp(mode, "threads"))
        in_threads(4, 8);
    else if (!strcmp(mode, "short_threads"))
        in_threads(8, 200);
    else if (!strcmp(mode, "fork"))
        in_children(3);
    else if (!strcmp(mode, "objects"))
        with_objects();
    else if (!strcmp(mode, "routines"))
        in_routines();
    else if (!strcmp(mode, "errno"))
        keeps_errno();
    else if (!strcmp(mode, "exec")) {
        top();
        execl(argv[0], argv[0], "calls", argv[2], (char *)NULL);
    } else {
        top();
        if (!strcmp(mode, "abort"))
            abort();
        if (!strcmp(mode, "segv"))
            *(volatile int *)8 = 1;
        if (!strcmp(mode, "_exit"))
            _exit(0);
        if (!strcmp(mode, "kill"))
            kill(getpid(), SIGKILL);
        return 95;
    }
    return 0;
}
