/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks in a library that do nothing, for the cost of -finstrument-functions itself (run_runtime.sh). */
void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

void __cyg_profile_func_enter(void *function, void *site) {
    (void)function;
    (void)site;
}

void __cyg_profile_func_exit(void *function, void *site) {
    (void)function;
    (void)site;
}
