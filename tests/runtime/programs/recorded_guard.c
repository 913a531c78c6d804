/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host whose trace file is damaged while it runs:
 *
 *     recorded_guard COUNT WORD...
 *
 * It calls leaf COUNT times, prints "ready", waits for a line on its input, calls leaf COUNT times again, and ends with
 * status 7. While it waits, the test truncates, deletes or overwrites the trace. Words:
 *
 *     sigaction, signal, sysv   it handles SIGBUS, after the recording began
 *     before                    it handles SIGBUS, and then begins the recording itself (file=trace)
 *     blocked                   every signal is blocked in every thread
 *     masked                    the calls are made in a handler of SIGUSR1 that blocks every signal
 *     inside                    its handler of SIGBUS calls leaf
 *     threads                   8 threads make the calls
 *     fork                      a child and its parent make the calls
 *     own                       checks its own SIGBUS handling at the end: its handler is called once for each of its
 *                               own faults and for each signal sent to it; without a handler each kills a child; and
 *                               sigaction, signal and pthread_sigmask return what the program set
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <perfray/runtime.h>

#define PLAIN __attribute__((no_instrument_function))
#define THREADS 8
#define STATUS 7

typedef void handler(int);
handler *__sysv_signal(int number, handler *function);

__attribute__((noinline)) void leaf(void);
void leaf(void) {
    __asm__ volatile("");
}

static int word_count;
static char **words;
static long count;
static sigjmp_buf back;
static volatile sig_atomic_t seen, last_code;
static char *own_page;

PLAIN static int has(const char *word) {
    for (int i = 0; i < word_count; i++)
        if (strcmp(words[i], word) == 0)
            return 1;
    return 0;
}

PLAIN static void check(int right, const char *what) {
    if (!right) {
        fprintf(stderr, "wrong: %s\n", what);
        exit(1);
    }
}

PLAIN static void on_bus(int number) {
    seen++;
    if (number != SIGBUS)
        _exit(2);
    if (has("inside"))
        leaf();
    siglongjmp(back, 1);
}

PLAIN static void on_bus_info(int number, siginfo_t *info, void *context) {
    last_code = info->si_code;
    if (!context || (info->si_code > 0 && (char *)info->si_addr != own_page))
        _exit(3);
    on_bus(number);
}

PLAIN static void install(void) {
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    action.sa_sigaction = on_bus_info;
    sigfillset(&action.sa_mask);
    if (has("sigaction") || has("before"))
        check(sigaction(SIGBUS, &action, NULL) == 0, "sigaction");
    if (has("signal"))
        check(signal(SIGBUS, on_bus) == SIG_DFL, "signal returns what was before");
    if (has("sysv"))
        check(__sysv_signal(SIGBUS, on_bus) == SIG_DFL, "sysv_signal returns what was before");
}

PLAIN static void calls(void) {
    for (long i = 0; i < count; i++)
        leaf();
}

PLAIN static void on_user(int number) {
    (void)number;
    calls();
}

PLAIN static void part(void) {
    struct sigaction action = {.sa_handler = on_user};
    sigfillset(&action.sa_mask);
    if (!has("masked")) {
        calls();
        return;
    }
    check(sigaction(SIGUSR1, &action, NULL) == 0, "sigaction of SIGUSR1");
    check(sigaction(SIGUSR1, NULL, &action) == 0 && sigismember(&action.sa_mask, SIGBUS) == 1,
          "the mask of a handler is kept");
    raise(SIGUSR1);
}

static pthread_barrier_t begin, middle;

PLAIN static void *thread(void *unused) {
    part();
    pthread_barrier_wait(&begin);
    pthread_barrier_wait(&middle);
    part();
    return unused;
}

PLAIN static void wait_for_damage(void) {
    char line[16];
    puts("ready");
    fflush(stdout);
    check(fgets(line, sizeof line, stdin) != NULL, "a line");
}

PLAIN static void in_threads(void) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&begin, NULL, THREADS + 1);
    pthread_barrier_init(&middle, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        check(pthread_create(&threads[i], NULL, thread, NULL) == 0, "a thread");
    pthread_barrier_wait(&begin);
    wait_for_damage();
    pthread_barrier_wait(&middle);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

PLAIN static void in_child(void) {
    int go[2], ready[2], status = 0;
    char byte = 0;
    check(pipe(go) == 0 && pipe(ready) == 0, "pipes");
    const pid_t child = fork();
    part();
    if (child == 0) {
        close(go[1]);
        check(write(ready[1], &byte, 1) == 1 && read(go[0], &byte, 1) == 1, "the parent");
        part();
        exit(STATUS);
    }
    check(read(ready[0], &byte, 1) == 1, "the child");
    wait_for_damage();
    check(write(go[1], &byte, 1) == 1, "the child is there");
    part();
    check(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == STATUS,
          "the child goes on to its end");
}

/* --- The program's own SIGBUS handling. */

PLAIN static void fault(void) {
    FILE *file = tmpfile();
    check(file && ftruncate(fileno(file), 4096) == 0, "a file");
    own_page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    check(own_page != MAP_FAILED && ftruncate(fileno(file), 0) == 0, "a mapping");
    fclose(file);
    *(volatile char *)own_page = 1;
}

PLAIN static void send(void) {
    kill(getpid(), SIGBUS);
}

PLAIN static void again(void (*how)(void), int handled) {
    const int before = seen;
    if (sigsetjmp(back, 1) == 0)
        how();
    check(seen == before + handled,
          how == fault ? "its handler is called for its own fault" : "its handler is called for a signal");
}

PLAIN static void in_a_child(void (*how)(void), int expected, const char *what) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        how();
        _exit(0);
    }
    check(waitpid(child, &status, 0) == child && (WIFSIGNALED(status) ? WTERMSIG(status) : 0) == expected, what);
}

PLAIN static void check_mask(void) {
    sigset_t bus, old;
    sigemptyset(&bus);
    sigaddset(&bus, SIGBUS);
    check(pthread_sigmask(SIG_BLOCK, &bus, NULL) == 0 && pthread_sigmask(SIG_BLOCK, NULL, &old) == 0 &&
              sigismember(&old, SIGBUS) == 1,
          "SIGBUS is blocked");
    signal(SIGBUS, SIG_DFL);
    in_a_child(send, 0, "a blocked signal kills nobody");
    in_a_child(fault, SIGBUS, "a fault kills although it is blocked");
    const struct timespec long_enough = {20, 0};
    kill(getpid(), SIGBUS);
    check(sigtimedwait(&bus, NULL, &long_enough) == SIGBUS, "a blocked signal can be waited for");
    check(sigprocmask(SIG_UNBLOCK, &bus, &old) == 0 && sigismember(&old, SIGBUS) == 1, "what was blocked");
    check(sigprocmask(SIG_SETMASK, NULL, &old) == 0 && sigismember(&old, SIGBUS) == 0,
          "SIGBUS is not blocked any more");
    check(sigprocmask(77, &bus, NULL) == -1 && errno == EINVAL && pthread_sigmask(77, &bus, NULL) == EINVAL,
          "what is no way to block");
}

/* Called through function pointers, so that the compiler does not know that these functions do not return. */
PLAIN static void check_own(void) {
    struct sigaction old;
    install();
    if (has("sigaction") || has("before")) {
        check(sigaction(SIGBUS, NULL, &old) == 0 && old.sa_sigaction == on_bus_info && old.sa_flags & SA_SIGINFO &&
                  sigismember(&old.sa_mask, SIGTERM) == 1 && sigismember(&old.sa_mask, SIGBUS) == 1,
              "sigaction returns what the program set");
        again(fault, 1);
        check(last_code > 0, "the code of a fault");
        again(send, 1);
        check(last_code == SI_USER, "the code of a signal");
        again(fault, 1);
    } else {
        again(fault, 1);
        if (has("sysv")) /* only once */
            check(signal(SIGBUS, SIG_DFL) == SIG_DFL, "a handler for once is gone");
        else
            check(signal(SIGBUS, SIG_DFL) == on_bus, "signal returns the handler");
    }
    signal(SIGBUS, SIG_DFL);
    in_a_child(fault, SIGBUS, "without a handler a fault kills");
    in_a_child(send, SIGBUS, "without a handler a signal kills");
    signal(SIGBUS, SIG_IGN);
    in_a_child(fault, SIGBUS, "a fault kills although it is ignored");
    again(send, 0);
    check_mask();
    check(signal(0, SIG_DFL) == SIG_ERR && sigaction(SIGKILL, &(struct sigaction){.sa_handler = SIG_IGN}, NULL) == -1 &&
              errno == EINVAL,
          "what cannot be handled");
}

int main(int argc, char **argv) {
    count = atol(argv[1]);
    words = argv + 2;
    word_count = argc - 2;
    install();
    if (has("before"))
        check(pfr_rt_start(getenv("GUARD_RT")) == 0, "the recording begins");
    if (has("blocked")) {
        sigset_t all;
        sigfillset(&all);
        check(pthread_sigmask(SIG_BLOCK, &all, NULL) == 0, "all are blocked");
    }
    if (has("threads"))
        in_threads();
    else if (has("fork"))
        in_child();
    else {
        part();
        wait_for_damage();
        part();
    }
    if (has("own")) {
        signal(SIGBUS, SIG_DFL);
        check_own();
    }
    return STATUS;
}
