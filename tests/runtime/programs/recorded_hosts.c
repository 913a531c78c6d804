/* SPDX-License-Identifier: Apache-2.0 */
/* recorded_hosts MODE COUNT [WORD] - programs that are difficult to record. A comment for each mode gives the number of
   calls of leaf. */
#define _GNU_SOURCE
#include <perfray/runtime.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_TRACED __attribute__((no_instrument_function))
#define CALLED __attribute__((noinline))

static volatile unsigned sink;
static long count;
static const char *word;

CALLED unsigned leaf(unsigned x) {
    return x * 3 + sink;
}

NOT_TRACED static void leaves(long times) {
    for (long i = 0; i < times; i++)
        sink += leaf((unsigned)i);
}

NOT_TRACED static void calls(void) { /* COUNT */
    leaves(count);
}

NOT_TRACED static void snapshot(void) { /* COUNT twice, COUNT in the snapshot */
    leaves(count);
    printf("%d\n", pfr_rt_snapshot(word));
    leaves(count);
}

NOT_TRACED static void children(void) { /* COUNT */
    for (long i = 0; i < count; i++) {
        const pid_t child = !strcmp(word, "clone")   ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)
                            : !strcmp(word, "_Fork") ? _Fork()
                                                     : fork();
        if (child == 0) {
            leaves(1);
            if (strcmp(word, "exit") == 0)
                exit(0);
            if (strcmp(word, "kill") == 0)
                kill(getpid(), SIGKILL);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
}

/* Parent and child write at the same time, into the same buffer if they shared one. COUNT * 12 */
NOT_TRACED static void side_by_side(void) {
    pid_t children[4];
    leaves(1);
    for (int i = 0; i < 4; i++) {
        children[i] = !strcmp(word, "clone")   ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)
                      : !strcmp(word, "_Fork") ? _Fork()
                                               : fork();
        leaves(count);
        if (children[i] == 0)
            _exit(0);
    }
    for (int i = 0; i < 4; i++)
        waitpid(children[i], NULL, 0);
    leaves(count * 4 - 1);
}

static pthread_barrier_t met;

NOT_TRACED static void *crowd_one(void *unused) {
    leaves(1);
    pthread_barrier_wait(&met);
    leaves(1);
    return unused;
}

NOT_TRACED static void crowd(void) { /* COUNT * 2 + 1 */
    pthread_t *threads = malloc((size_t)count * sizeof *threads);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_barrier_init(&met, NULL, (unsigned)count + 1);
    for (long i = 0; i < count; i++)
        if (!threads || pthread_create(&threads[i], &small, crowd_one, NULL) != 0)
            _exit(92);
    pthread_barrier_wait(&met);
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    leaves(1);
    free(threads);
}

NOT_TRACED static void crowds(void) { /* 12 * (COUNT * 2 + 1) */
    for (int i = 0; i < 12; i++)
        crowd();
}

NOT_TRACED static void execs(void) { /* COUNT + 1 */
    char next[32];
    leaves(1);
    snprintf(next, sizeof next, "%ld", count - 1);
    if (count > 0)
        execl(word, word, "execs", next, word, (char *)NULL);
}

NOT_TRACED static void api(void) { /* COUNT */
    leaves(5);
    if (pfr_rt_start(*word ? word : NULL) != 0)
        exit(93);
    leaves(count);
    pfr_rt_stop();
    leaves(7);
}

NOT_TRACED static void *start_one(void *unused) {
    pthread_barrier_wait(&met);
    if (pfr_rt_start(word) != 0)
        exit(93);
    leaves(count);
    return unused;
}

NOT_TRACED static void starts(void) { /* COUNT * 8 */
    pthread_t threads[8];
    pthread_barrier_init(&met, NULL, 8);
    for (int i = 0; i < 8; i++)
        if (pthread_create(&threads[i], NULL, start_one, NULL) != 0)
            _exit(92);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
}

NOT_TRACED static void events(void) { /* COUNT, each with an event of every size up to COUNT */
    static char bytes[65536];
    for (long i = 0; i < count; i++) {
        leaves(1);
        pfr_rt_event(bytes, (uint32_t)i);
        pfr_rt_typed_event(7, bytes, (uint32_t)i);
    }
    pfr_rt_event(bytes, sizeof bytes);
    pfr_rt_mark("end");
    printf("%llu\n", (unsigned long long)pfr_rt_lost());
}

NOT_TRACED static void no_files(void) { /* COUNT */
    for (int fd = 0; fd < 1000; fd++)
        close(fd);
    leaves(count);
}

NOT_TRACED static void elsewhere(void) { /* COUNT: in an empty root, as another user */
    if (chroot(word) != 0 || chdir("/") != 0 || setgid(65534) != 0 || setuid(65534) != 0)
        exit(94);
    leaves(count);
}

NOT_TRACED static void no_counter(void) { /* COUNT, of which at least the first half is recorded */
    leaves(count / 2);
    if (prctl(!strcmp(word, "seccomp") ? PR_SET_SECCOMP : PR_SET_TSC, !strcmp(word, "seccomp") ? 1 : PR_TSC_SIGSEGV) !=
        0)
        exit(95);
    leaves(count - count / 2);
    syscall(SYS_exit, 0);
}

NOT_TRACED static void no_memory(void) { /* COUNT */
    struct rlimit none = {0, 0};
    leaves(1);
    setrlimit(RLIMIT_AS, &none);
    setrlimit(RLIMIT_FSIZE, &none);
    setrlimit(RLIMIT_NOFILE, &none);
    leaves(count - 1);
}

NOT_TRACED static void loads(void) { /* COUNT, in plugs */
    for (long i = 0; i < count; i++) {
        void *object = dlopen(i % 2 ? getenv("PLUG_B") : getenv("PLUG_A"), RTLD_NOW);
        void (*plug)(void *, long);
        static uint64_t edges[16][16];
        if (!object)
            exit(96);
        *(void **)(void *)&plug = dlsym(object, i % 2 ? "plug_b" : "plug_a");
        plug(edges, 0);
        dlclose(object);
    }
}

static long forks_left;

NOT_TRACED static void fork_in_handler(int number) {
    (void)number;
    if (forks_left-- > 0 && fork() == 0) {
        leaves(1000);
        _exit(0);
    }
}

NOT_TRACED static void handler_forks(void) { /* no number: the checks are of what was recorded */
    const struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
    struct sigaction act;
    memset(&act, 0, sizeof act);
    act.sa_handler = fork_in_handler;
    act.sa_flags = SA_RESTART;
    forks_left = count;
    sigaction(SIGALRM, &act, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    while (forks_left > 0)
        leaves(100);
    setitimer(ITIMER_REAL, &never, NULL);
    for (int status = 0; wait(&status) > 0;)
        if (status != 0)
            exit(97);
}

/* Only makes calls between the two calls of watch_help, in the first buffers of new threads and in all later ones. */
void watch_help(int on) __attribute__((weak));
unsigned long help_seen(void) __attribute__((weak));

CALLED unsigned deeper(unsigned x) {
    return leaf(x) + 1;
}

NOT_TRACED static void *watched_one(void *unused) {
    pthread_barrier_wait(&met);
    leaves(count);
    sink += deeper(1); /* a function that was not called before */
    pthread_barrier_wait(&met);
    pthread_barrier_wait(&met); /* the end of a thread is not watched */
    return unused;
}

NOT_TRACED static void watched(void) { /* COUNT * 2 + 2 */
    pthread_t threads[2];
    pthread_barrier_init(&met, NULL, 3);
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, watched_one, NULL) != 0)
            _exit(92);
    watch_help(1);
    pthread_barrier_wait(&met);
    pthread_barrier_wait(&met);
    watch_help(0);
    pthread_barrier_wait(&met);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%lu\n", help_seen());
}

/* From here on the kernel kills the process at any other system call. A ring buffer that was filled before needs no
 * system call; a new one only reads the clock and touches its pages. */
NOT_TRACED static void sealed(void) { /* COUNT */
    static const int allowed[] = {SYS_madvise, SYS_exit_group, SYS_write};
    struct sock_filter code[8] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    const struct sock_fprog filter = {6, code};
    const int first = !strcmp(word, "last"); /* no madvise */
    for (int i = 0; i < 3; i++)
        code[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i < first ? 1 : i],
                                                   (unsigned char)(3 - i), 0);
    code[4] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    code[5] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    leaves(first ? count / 2 : 1);
    const int ends = !strcmp(word, "exit"); /* bypasses the wrapper of prctl, too */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        exit(98);
    if (ends ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter)
             : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        exit(98);
    leaves(first ? count - count / 2 : count - 1);
    if (ends)
        exit(7);
    _exit(0);
}

/* Four threads in which the system call that returns the thread id fails. COUNT * 4 */
NOT_TRACED static void *nameless_one(void *unused) {
    pthread_barrier_wait(&met);
    leaves(count);
    return unused;
}

NOT_TRACED static void nameless(void) {
    struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_gettid, 0, 1),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog filter = {4, code};
    pthread_t threads[4];
    pthread_barrier_init(&met, NULL, 4);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        exit(98);
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, nameless_one, NULL) != 0)
            exit(92);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static const struct {
    const char *name;
    void (*run)(void);
} modes[] = {
    {"calls", calls},           {"snapshot", snapshot},   {"children", children}, {"side_by_side", side_by_side},
    {"crowd", crowd},           {"crowds", crowds},       {"execs", execs},       {"api", api},
    {"starts", starts},         {"events", events},       {"no_files", no_files}, {"elsewhere", elsewhere},
    {"no_counter", no_counter}, {"no_memory", no_memory}, {"loads", loads},       {"handler_forks", handler_forks},
    {"watched", watched},       {"sealed", sealed},       {"nameless", nameless}};

NOT_TRACED int main(int argc, char **argv) {
    if (argc < 4)
        return 90;
    count = strtol(argv[2], NULL, 10);
    word = argv[3];
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (!strcmp(argv[1], modes[i].name)) {
            modes[i].run();
            return 0;
        }
    return 91;
}
