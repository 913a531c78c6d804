/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about processes and limits: whether a process is alive, and how large a file may be. */
#include "runtime/rt_process.h"

#include <fcntl.h>
#include <sys/resource.h>

#define STAT_START 22 /* field of /proc/PID/stat */
#define ESRCH_RESULT (-3)
#define OF_ADDRESS_SPACE 8u /* a trace of default size uses at most 1/8 of the program's address space limit */

RT_PLAIN static size_t put_number(char *to, uint32_t number) {
    char digits[12];
    size_t n = 0, used = 0;
    do
        digits[n++] = (char)('0' + number % 10);
    while (number /= 10);
    while (n)
        to[used++] = digits[--n];
    to[used] = 0;
    return used;
}

RT_PLAIN static long read_stat(uint32_t pid, char *text, size_t room) {
    char path[32] = "/proc/";
    rt_copy(path + 6 + put_number(path + 6, pid), "/stat", 6);
    const long fd = RT_CALL3(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    const long size = RT_CALL3(SYS_read, fd, text, room);
    RT_CALL3(SYS_close, fd, 0, 0);
    return size;
}

RT_RARE uint64_t rt_process_start(uint32_t pid) {
    char text[1024];
    const long size = read_stat(pid, text, sizeof text);
    long i = size - 1, fields = 2;
    while (i > 0 && text[i] != ')') /* the name before it may contain any character */
        i--;
    for (; i < size && fields < STAT_START; i++)
        fields += text[i] == ' ';
    uint64_t start = 0;
    for (; i > 0 && i < size && text[i] >= '0' && text[i] <= '9'; i++)
        start = start * 10 + (uint64_t)(text[i] - '0');
    return start;
}

RT_RARE bool rt_process_lives(uint32_t pid) {
    return RT_CALL3(SYS_kill, pid, 0, 0) != ESRCH_RESULT;
}

/* Compares start times. If /proc is missing or hides other users' processes, only checks that a process has this id. */
RT_RARE bool rt_process_is(uint32_t pid, uint64_t start) {
    const uint64_t now = rt_process_start(pid);
    return now && start ? now == start : rt_process_lives(pid);
}

RT_PLAIN static uint64_t limit_of(unsigned resource) {
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    if (rt_syscall(SYS_prlimit64, 0, resource, 0, (long)&limit, 0, 0) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return limit.rlim_cur;
}

/* Beyond RLIMIT_FSIZE the kernel kills the program with a signal. RLIMIT_AS limits the memory that the program itself
   can allocate. */
RT_RARE uint64_t rt_process_file_most(bool asked) {
    const uint64_t file = limit_of(RLIMIT_FSIZE), space = limit_of(RLIMIT_AS);
    const uint64_t part = space == UINT64_MAX || asked ? UINT64_MAX : space / OF_ADDRESS_SPACE;
    return file < part ? file : part;
}
