/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.c - runs a command with its output thrown away and prints what it cost on one line:
 * user microseconds, system microseconds, peak resident bytes, exit status.
 *
 * A program of its own, because a child counts the memory of its parent as its peak until it has replaced itself:
 * from a script of 10 MB no command would look smaller than that.
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
