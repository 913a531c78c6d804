/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Privileges beyond the user's own (from a set-user-ID bit or file capabilities) are used to open counters and rings.
 * Then they are dropped permanently, before a file is written, a control command is executed, or a name that a user may
 * have chosen is read. See credentials(7), capabilities(7). If there are no such privileges, nothing is dropped.
 */
#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "record/privileges.h"

static bool read_capabilities(struct __user_cap_data_struct sets[2]) {
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    return syscall(SYS_capget, &head, sets) == 0;
}

static bool has_capabilities(void) {
    struct __user_cap_data_struct sets[2] = {{0}};
    return read_capabilities(sets) && (sets[0].permitted | sets[1].permitted) != 0;
}

static bool is_raised(void) {
    uid_t real, effective, saved;
    gid_t real_group, effective_group, saved_group;
    if (getresuid(&real, &effective, &saved) != 0 || getresgid(&real_group, &effective_group, &saved_group) != 0)
        return true;
    return real != effective || real != saved || real_group != effective_group || real_group != saved_group ||
           (real != 0 && has_capabilities());
}

static bool drop_capabilities(void) {
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    const struct __user_cap_data_struct none[2] = {{0}};
    return syscall(SYS_capset, &head, none) == 0 && !has_capabilities();
}

/* Sets the group before the user: after the privileged user is given up, setting the group is not permitted. */
bool privileges_drop(void) {
    const uid_t user = getuid();
    const gid_t group = getgid();
    if (!is_raised())
        return true;
    return setresgid(group, group, group) == 0 && setresuid(user, user, user) == 0 &&
           (user == 0 || drop_capabilities()) && !is_raised();
}

bool pfr_drop_privileges(void) {
    return privileges_drop();
}

pfr_status privileges_end(const pfr_recorder *r, pfr_error *err) {
    if (!r->options.drop_privileges)
        return PFR_OK;
    const bool raised = is_raised();
    if (!privileges_drop() || (raised && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0))
        return pfr_fail_errno(err, errno, "give up", "privileges");
    return PFR_OK;
}
