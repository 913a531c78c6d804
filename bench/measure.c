/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.c - runs a command, discards its output, and prints its costs on one line: user microseconds, system
 * microseconds, peak resident bytes, exit status.
 *
 * This is a separate program because the peak of a child includes the memory of its parent until exec: started by a
 * script of 10 MB, every command would have a peak of at least 10 MB.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void become(char **command) {
    int null = open("/dev/null", O_RDWR);

    for (int fd = 0; fd <= 2; fd++)
        dup2(null, fd);
    execvp(command[0], command);
    _exit(127);
}

static long long microseconds(struct timeval time) {
    return time.tv_sec * 1000000LL + time.tv_usec;
}

int main(int argc, char **argv) {
    struct rusage usage;
    int status;
    pid_t child;

    if (argc < 2)
        return 2;
    child = fork();
    if (!child)
        become(argv + 1);
    if (child < 0 || wait4(child, &status, 0, &usage) < 0)
        return 1;
    printf("%lld %lld %ld %d\n", microseconds(usage.ru_utime), microseconds(usage.ru_stime), usage.ru_maxrss * 1024,
           WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return 0;
}
