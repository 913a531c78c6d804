/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that code compiled with -finstrument-functions (gcc, clang) calls with the address of the function, at
 * each entry and exit, including exits by exceptions. See "Code Gen Options" in gcc's manual.
 */
#include "runtime/rt_record.h"

RT_PLAIN __attribute__((visibility("default"))) void __cyg_profile_func_enter(void *function, void *site);
RT_PLAIN __attribute__((visibility("default"))) void __cyg_profile_func_exit(void *function, void *site);

void __cyg_profile_func_enter(void *function, void *site) {
    (void)site;
    rt_call((uint64_t)(uintptr_t)function, RT_ENTER);
}

void __cyg_profile_func_exit(void *function, void *site) {
    (void)site;
    rt_call((uint64_t)(uintptr_t)function, RT_EXIT);
}
