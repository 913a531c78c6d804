/* SPDX-License-Identifier: Apache-2.0 */
/* recorded_contexts MODE COUNT [WORD] - signal handlers leave the hook that they interrupted, temporarily or for good.
   Each mode prints how many calls of leaf it made. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

#define NOT_TRACED __attribute__((no_instrument_function))
#define CALLED __attribute__((noinline))
#define STACK ((size_t)256 * 1024)
#define SMALL_STACK ((size_t)64 * 1024)
#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1u << 31)
#endif

static volatile unsigned sink;
static long count;
static const char *word;

CALLED unsigned leaf(unsigned x) {
    return x * 3 + sink;
}

NOT_TRACED static void *make_stack(void) {
    void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        exit(92);
    return stack;
}

NOT_TRACED static void set_timer(long microseconds) {
    const struct itimerval every = {{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &every, NULL);
}

NOT_TRACED static void on_alarm(void (*handler)(int), int flags, long microseconds) {
    struct sigaction act;
    memset(&act, 0, sizeof act);
    act.sa_handler = handler;
    act.sa_flags = SA_RESTART | flags;
    sigaction(SIGALRM, &act, NULL);
    set_timer(microseconds);
}

NOT_TRACED static void end_alarm(void) {
    set_timer(0);
    signal(SIGALRM, SIG_IGN);
}

/* --- A scheduler of user-level threads: its timer handler continues in the next of three contexts, the last of which
   belongs to the function that started them. */

static ucontext_t contexts[3];
static volatile int running, is_switching, ended[3];
static volatile long made[3], switches;

NOT_TRACED static void switch_context(int number) {
    const int from = running, to = (from + 1) % 3;
    (void)number;
    if (switches == count ||
        is_switching) /* swapcontext to a new context unblocks the signal before it leaves the current context */
        return;
    is_switching = 1;
    switches++;
    running = to;
    swapcontext(&contexts[from], &contexts[to]);
    is_switching = 0;
}

NOT_TRACED static void context_main(int me) {
    is_switching = 0;
    while (switches < count) {
        sink += leaf((unsigned)me);
        made[me]++;
    }
    ended[me] = 1;
    if (me != 2)
        setcontext(&contexts[2]);
}

NOT_TRACED static void schedule(char *first, char *second, size_t size) {
    for (int i = 0; i < 2; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = i ? second : first;
        contexts[i].uc_stack.ss_size = size;
        makecontext(&contexts[i], (void (*)(void))context_main, 1, i);
    }
    running = 2;
    on_alarm(switch_context, 0, 100);
    context_main(2);
    end_alarm();
    for (int i = 0; i < 2; i++) /* finish their open calls */
        if (!ended[i])
            swapcontext(&contexts[2], &contexts[i]);
    printf("%ld\n", made[0] + made[1] + made[2]);
}

/* As in the example in makecontext(3). */
NOT_TRACED static void schedule_on_locals(void) {
    char first[SMALL_STACK], second[SMALL_STACK];
    schedule(first, second, SMALL_STACK);
}

NOT_TRACED static void *schedule_in_thread(void *unused) {
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
    schedule(make_stack(), make_stack(), STACK);
    return unused;
}

NOT_TRACED static void scheduler(void) {
    pthread_t thread;
    sigset_t alarm;
    if (!strcmp(word, "locals"))
        schedule_on_locals();
    if (!strcmp(word, "mapped"))
        schedule(make_stack(), make_stack(), STACK);
    if (strcmp(word, "thread"))
        return;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, NULL); /* the thread unblocks the signal for itself */
    if (pthread_create(&thread, NULL, schedule_in_thread, NULL) != 0)
        exit(92);
    pthread_join(thread, NULL);
}

/* --- Two threads take turns to run one context: it is interrupted in one thread and continues in the other. Only this
   context has the signal unblocked. */

static volatile int turn;

NOT_TRACED static void hand_over(int number) {
    (void)number;
    if (switches == count || is_switching)
        return;
    switches++;
    swapcontext(&contexts[2], &contexts[turn]);
    is_switching = 0;
}

NOT_TRACED static void moved_main(void) {
    for (is_switching = 0; switches < count; made[2]++)
        sink += leaf(1);
    ended[2] = 1;
    setcontext(&contexts[turn]);
}

NOT_TRACED static void *run_in_turns(void *own) {
    const int me = own != NULL;
    for (;;) {
        while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != me)
            sched_yield();
        if (!ended[2]) {
            is_switching = 1;
            swapcontext(&contexts[me], &contexts[2]);
        }
        __atomic_store_n(&turn, !me, __ATOMIC_RELEASE);
        if (ended[2])
            return NULL;
    }
}

NOT_TRACED static void moved(void) {
    pthread_t thread;
    sigset_t alarm;
    getcontext(&contexts[2]);
    contexts[2].uc_stack.ss_sp = make_stack();
    contexts[2].uc_stack.ss_size = STACK;
    makecontext(&contexts[2], moved_main, 0);
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, NULL);
    on_alarm(hand_over, 0, 100);
    if (pthread_create(&thread, NULL, run_in_turns, &contexts[1]) != 0)
        exit(92);
    run_in_turns(NULL);
    pthread_join(thread, NULL);
    printf("%ld\n", made[2]);
}

/* --- Contexts that are interrupted once and never continued: their stacks are unmapped. */

NOT_TRACED static void give_up(int number) {
    (void)number;
    setcontext(&contexts[0]);
}

NOT_TRACED static void endless(void) {
    for (;; made[0]++)
        sink += leaf(1);
}

NOT_TRACED static void dropped(void) {
    for (volatile long i = 0; i < count; i++) {
        void *const stack = make_stack();
        volatile int is_back = 0;
        getcontext(&contexts[1]);
        contexts[1].uc_stack.ss_sp = stack;
        contexts[1].uc_stack.ss_size = STACK;
        makecontext(&contexts[1], endless, 0);
        getcontext(&contexts[0]);
        if (!is_back) {
            is_back = 1;
            on_alarm(give_up, 0, 150);
            setcontext(&contexts[1]);
        }
        end_alarm();
        munmap(stack, STACK);
        for (int k = 0; k < 100; k++, made[0]++)
            sink += leaf(2);
    }
    printf("%ld\n", made[0]);
}

/* --- Handlers that call traced functions on a stack of their own. */

static volatile long handled;

NOT_TRACED static void call_in_handler(int number) {
    (void)number;
    for (unsigned i = 0; i < 10; i++)
        sink += leaf(i);
    handled++;
}

NOT_TRACED static void handler_stack(void) {
    static char lowest[STACK];
    char local[STACK];
    const stack_t stack = {.ss_sp = strstr(word, "local") ? local : lowest,
                           .ss_size = STACK,
                           .ss_flags = (int)(strstr(word, "disarmed") ? SS_AUTODISARM : 0)};
    const stack_t none = {.ss_flags = SS_DISABLE};
    if (sigaltstack(&stack, NULL) != 0)
        exit(92);
    sink += leaf(1); /* creates the thread's buffer, which on a slow machine takes longer than all the signals */
    made[0]++;
    on_alarm(call_in_handler, SA_ONSTACK, 60);
    for (; handled < count; made[0]++)
        sink += leaf(1);
    end_alarm();
    sigaltstack(&none, NULL);
    printf("%ld\n", made[0] + handled * 10);
}

/* --- Handlers that leave by siglongjmp: from the function that called sigsetjmp, or from deeper calls. */

static sigjmp_buf back;

NOT_TRACED static void jump(int number) {
    (void)number;
    siglongjmp(back, 1);
}

NOT_TRACED CALLED static unsigned call_forever(int depth) {
    volatile char room[200];
    room[depth] = 0;
    if (depth)
        return call_forever(depth - 1) + (unsigned)room[depth];
    for (; !ended[0]; made[0]++)
        sink += leaf(1);
    return 0;
}

NOT_TRACED static void jumps(void) {
    for (volatile long i = 0; i < count; i++) {
        if (sigsetjmp(back, 1) == 0) {
            on_alarm(jump, 0, 150);
            call_forever(strcmp(word, "deep") ? 0 : 50);
        }
        end_alarm();
        for (int k = 0; k < 100; k++, made[0]++)
            sink += leaf(2);
    }
    printf("%ld\n", made[0]);
}

static const struct {
    const char *name;
    void (*run)(void);
} modes[] = {{"scheduler", scheduler},
             {"moved", moved},
             {"dropped", dropped},
             {"handler_stack", handler_stack},
             {"jumps", jumps}};

NOT_TRACED int main(int argc, char **argv) {
    if (argc < 3)
        return 90;
    count = atol(argv[2]);
    word = argc > 3 ? argv[3] : "";
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (!strcmp(argv[1], modes[i].name)) {
            modes[i].run();
            return 0;
        }
    return 91;
}
