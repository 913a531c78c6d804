/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wrapper of prctl. Once the time stamp counter is disabled (PR_SET_TSC, or seccomp's strict mode), a hook would
 * raise SIGSEGV, so recording ends before the system call. In the static archive this is a separate member.
 */
#include "runtime/rt_start.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

RT_PLAIN __attribute__((visibility("default"))) int prctl(int option, ...) {
    unsigned long word[4];
    va_list arguments;
    va_start(arguments, option);
    for (int i = 0; i < 4; i++)
        word[i] = va_arg(arguments, unsigned long);
    va_end(arguments);
    const bool ends = (option == PR_SET_TSC && word[0] == PR_TSC_SIGSEGV) ||
                      (option == PR_SET_SECCOMP && word[0] == SECCOMP_MODE_STRICT);
    const bool was_on = ends && rt_counter_ends();
    const long result = rt_syscall(SYS_prctl, option, (long)word[0], (long)word[1], (long)word[2], (long)word[3], 0);
    if (result >= 0)
        return (int)result;
    if (was_on)
        rt_counter_stays();
    errno = (int)-result;
    return -1;
}
