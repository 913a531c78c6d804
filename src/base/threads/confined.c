/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that can only compute and reply: see confined.h. */
#include "base/threads/confined.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* --- In both processes. */

bool confined_read(int fd, void *to, size_t length) {
    for (size_t got = 0; got < length;) {
        const ssize_t n = read(fd, (char *)to + got, length - got);
        if (n <= 0 && !(n < 0 && errno == EINTR))
            return false;
        got += n > 0 ? (size_t)n : 0;
    }
    return true;
}

bool confined_write(int fd, const void *from, size_t length) {
    for (size_t put = 0; put < length;) {
        const ssize_t n = send(fd, (const char *)from + put, length - put, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return false;
        put += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* --- In the new process. */

/* Allows only reading, writing and allocating. The filter does not check the architecture: the system call numbers are
   those of this build, and the process can run no other code. Sanitizers need more calls, so sanitized builds run
   without the filter. */
static void forbid_calls(void) {
    static const unsigned allowed[] = {
        __NR_read,   __NR_write,   __NR_recvfrom, __NR_sendto,     __NR_brk,          __NR_mmap,          __NR_munmap,
        __NR_mremap, __NR_madvise, __NR_futex,    __NR_exit_group, __NR_rt_sigreturn, __NR_clock_gettime,
    };
    enum { CALLS = sizeof allowed / sizeof *allowed };
    struct sock_filter rules[CALLS + 3];
    rules[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < CALLS; i++)
        rules[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], (uint8_t)(CALLS - i), 0);
    rules[1 + CALLS] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    rules[2 + CALLS] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {CALLS + 3, rules};
    if (!SANITIZED && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Bytes of address space in use. */
static uint64_t space_used(void) {
    char text[32] = {0};
    const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, text, sizeof text - 1) <= 0)
        text[0] = '0';
    if (fd >= 0)
        close(fd);
    return strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void set_limit(int what, uint64_t most) {
    const struct rlimit limit = {most, most};
    setrlimit((__rlimit_resource_t)what, &limit);
}

static void confine(const struct confined *c) {
    set_limit(RLIMIT_CORE, 0);
    if (!SANITIZED)
        set_limit(RLIMIT_AS, space_used() + c->memory);
    if (c->seconds)
        set_limit(RLIMIT_CPU, c->seconds);
    for (int s = 1; s < 32; s++)
        signal(s, SIG_DFL);
    prctl(PR_SET_DUMPABLE, 0);
}

/* Keeps only the socket, as descriptor 0. Library messages to standard error are lost. Only the asking process has the
   other end of the socket, so this process ends when that one does. */
static void keep_socket(int fd) {
    dup2(fd, 0);
    syscall(__NR_close_range, 1u, ~0u, 0u);
}

/* --- In the asking process. */

bool confined_begin(struct confined *c, void (*work)(void *context), void *context) {
    int fds[2];
    const int type = c->in_packets ? SOCK_SEQPACKET : SOCK_STREAM;
    if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds) != 0)
        return false;
    const pid_t pid = fork();
    if (pid == 0) {
        keep_socket(fds[1]);
        if (c->prepare)
            c->prepare(context);
        confine(c);
        forbid_calls();
        work(context);
        _exit(0);
    }
    close(fds[1]);
    if (pid < 0)
        close(fds[0]);
    c->pid = pid < 0 ? 0 : pid;
    c->fd = pid < 0 ? -1 : fds[0];
    return pid > 0;
}

void confined_end(struct confined *c) {
    if (c->pid == 0)
        return;
    close(c->fd);
    kill(c->pid, SIGKILL);
    while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    c->pid = 0;
    c->fd = -1;
}

uint64_t confined_now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

bool confined_used_ms(const struct confined *c, uint64_t *ms) {
    clockid_t clock;
    struct timespec used;
    if (!c->pid || clock_getcpuclockid(c->pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return false;
    *ms = (uint64_t)used.tv_sec * 1000 + (uint64_t)used.tv_nsec / 1000000;
    return true;
}

bool confined_hear(const struct confined *c, void *to, size_t length, uint64_t until) {
    for (size_t got = 0; got < length;) {
        const uint64_t now = confined_now_ms();
        struct pollfd p = {.fd = c->fd, .events = POLLIN};
        const int ready = now < until ? poll(&p, 1, (int)(until - now)) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return false;
        const ssize_t n = recv(c->fd, (char *)to + got, length - got, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
            return false;
        got += n > 0 ? (size_t)n : 0;
    }
    return true;
}
