/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes tasks of known number.
 *
 *     forks SECONDS COUNT   two workers that each vfork and exec this program as fast as possible, until SECONDS have
 *                           passed or there were COUNT children (0: any number); prints the number of children
 *     leaf                  the program that they execute, which does nothing
 *     threads COUNT         COUNT threads at the same time; after a byte on standard input, each calls getppid(2) once
 *                           and ends
 *     calls COUNT           calls getppid(2) COUNT times
 *     stay                  ignores SIGINT, SIGTERM and SIGHUP until standard input ends
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORKERS 2

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static long forks_of_worker(double seconds, long most) {
    char *const leaf[] = {"many_tasks", "leaf", NULL};
    const double end = now() + seconds;
    long count = 0;
    while ((most == 0 || count < most) && (seconds <= 0 || now() < end)) {
        const pid_t pid = vfork();
        if (pid == 0) {
            execv("/proc/self/exe", leaf);
            _exit(1);
        }
        int status;
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
            return -1;
        count++;
    }
    return count;
}

static int forks(double seconds, long most) {
    long *const counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    long all = 0;
    for (int i = 0; i < WORKERS; i++)
        if (fork() == 0) {
            counts[i] = forks_of_worker(seconds, most / WORKERS);
            _exit(0);
        }
    for (int i = 0; i < WORKERS; i++)
        wait(NULL);
    for (int i = 0; i < WORKERS; i++) {
        if (counts[i] < 0)
            return 1;
        all += counts[i];
    }
    printf("%ld\n", all);
    return 0;
}

static pthread_barrier_t all_there, all_go;

static void *wait_and_call(void *unused) {
    pthread_barrier_wait(&all_there);
    pthread_barrier_wait(&all_go);
    syscall(SYS_getppid);
    return unused;
}

static int threads(unsigned count) {
    pthread_t *const all = calloc(count, sizeof *all);
    pthread_attr_t small;
    char byte;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    pthread_barrier_init(&all_there, NULL, count + 1);
    pthread_barrier_init(&all_go, NULL, count + 1);
    for (unsigned i = 0; i < count; i++)
        if (pthread_create(&all[i], &small, wait_and_call, NULL) != 0)
            return 1;
    pthread_barrier_wait(&all_there);
    puts("there");
    fflush(stdout);
    if (read(STDIN_FILENO, &byte, 1) != 1)
        return 1;
    pthread_barrier_wait(&all_go);
    for (unsigned i = 0; i < count; i++)
        pthread_join(all[i], NULL);
    return 0;
}

static int calls(long count) {
    for (long i = 0; i < count; i++)
        syscall(SYS_getppid);
    return 0;
}

static int stay(void) {
    char byte;
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    puts("there");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        calls(1000);
    return 0;
}

int main(int argc, char **argv) {
    const char *const what = argc > 1 ? argv[1] : "leaf";
    if (strcmp(what, "forks") == 0 && argc == 4)
        return forks(atof(argv[2]), atol(argv[3]));
    if (strcmp(what, "threads") == 0 && argc == 3)
        return threads((unsigned)atoi(argv[2]));
    if (strcmp(what, "calls") == 0 && argc == 3)
        return calls(atol(argv[2]));
    return strcmp(what, "stay") == 0 ? stay() : strcmp(what, "leaf") != 0;
}
