/* SPDX-License-Identifier: Apache-2.0 */
/* `storm COUNT`: starts short-lived processes, some of which fork again and some of which exec another program. `storm
   COUNT reuse`: starts processes and threads in turn with the same few tids, by writing /proc/sys/kernel/ns_last_pid;
   it must run in its own pid namespace. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned long counter;

static void work(unsigned long rounds) {
    for (unsigned long i = 0; i < rounds; i++)
        counter += i;
}

static void *thread_work(void *name) {
    prctl(PR_SET_NAME, name);
    work(1500000);
    return NULL;
}

static void child(char **words, int number) {
    char name[16];
    if (number % 3 == 0) {
        execl(words[0], words[0], "one", (char *)NULL);
        _exit(9);
    }
    snprintf(name, sizeof name, "short %d", number);
    if (number % 3 == 1)
        prctl(PR_SET_NAME, name);
    work(800000);
    if (number % 5 == 0 && fork() == 0)
        work(800000);
    _exit(0);
}

static int set_next_pid(int next) {
    int file = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);
    if (file < 0)
        return -1;
    int length = dprintf(file, "%d", next - 1);
    close(file);
    return length > 0 ? 0 : -1;
}

int main(int count, char **words) {
    if (count > 1 && strcmp(words[1], "one") == 0) {
        work(800000);
        return 0;
    }
    int rounds = count > 1 ? atoi(words[1]) : 100, reuse = count > 2;
    for (int number = 0; number < rounds; number++) {
        if (reuse && set_next_pid(300 + number % 4) < 0)
            return 77;
        if (reuse && number % 2) {
            pthread_t thread;
            char name[16];
            snprintf(name, sizeof name, "thread %d", number);
            if (!pthread_create(&thread, NULL, thread_work, name))
                pthread_join(thread, NULL);
            continue;
        }
        pid_t made = fork();
        if (made == 0)
            child(words, number);
        if (reuse || number % 4 == 3)
            while (waitpid(-1, NULL, 0) > 0)
                continue;
    }
    while (waitpid(-1, NULL, 0) > 0)
        continue;
    return 0;
}
