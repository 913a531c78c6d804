/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs call that were compiled with -finstrument-functions (gcc, clang): the address of the function on each
 * way in and out, exceptions included. Code Gen Options in gcc's manual.
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
