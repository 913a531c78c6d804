/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of functions in which threads wait. Names are those of Linux 3.x to 6.x; '*' matches any
 * characters. Functions that many kinds of waits share (schedule_timeout, wait_for_completion, prepare_to_wait) are not
 * listed, because they do not show the reason.
 */
#include "model/sched/wait_reasons.h"

#include <string.h>

struct named_reason {
    const char *name;
    uint8_t reason;
};

/* --- The kernel. */

static const struct named_reason kernel[] = {
    /* futexes, and the kernel's own locks */
    {"futex_*", WAIT_LOCK},
    {"__futex_*", WAIT_LOCK},
    {"do_futex", WAIT_LOCK},
    {"rt_mutex_*", WAIT_LOCK},
    {"__rt_mutex_*", WAIT_LOCK},
    {"rwsem_down_*", WAIT_LOCK},
    {"__mutex_lock*", WAIT_LOCK},
    {"__ww_mutex_lock*", WAIT_LOCK},
    {"mutex_lock*", WAIT_LOCK},
    {"down_read*", WAIT_LOCK},
    {"down_write*", WAIT_LOCK},
    {"__down*", WAIT_LOCK},
    {"percpu_rwsem_wait", WAIT_LOCK},
    {"percpu_down_write", WAIT_LOCK},
    {"__percpu_down_read", WAIT_LOCK},
    {"do_semtimedop", WAIT_LOCK},
    {"__do_semtimedop", WAIT_LOCK},
    {"posix_lock_inode_wait", WAIT_LOCK},
    {"flock_lock_inode_wait", WAIT_LOCK},
    {"locks_lock_inode_wait", WAIT_LOCK},
    {"do_lock_file_wait", WAIT_LOCK},
    /* pipes, terminals and similar files */
    {"pipe_read", WAIT_PIPE},
    {"pipe_write", WAIT_PIPE},
    {"anon_pipe_read", WAIT_PIPE},
    {"anon_pipe_write", WAIT_PIPE},
    {"fifo_pipe_read", WAIT_PIPE},
    {"fifo_pipe_write", WAIT_PIPE},
    {"pipe_wait*", WAIT_PIPE},
    {"fifo_open", WAIT_PIPE},
    {"wait_for_partner", WAIT_PIPE},
    {"eventfd_read", WAIT_PIPE},
    {"eventfd_write", WAIT_PIPE},
    {"splice_from_pipe*", WAIT_PIPE},
    {"ipipe_prep*", WAIT_PIPE},
    {"opipe_prep*", WAIT_PIPE},
    {"do_mq_*", WAIT_PIPE},
    {"wq_sleep", WAIT_PIPE},
    {"n_tty_read", WAIT_PIPE},
    {"n_tty_write", WAIT_PIPE},
    /* sockets */
    {"unix_stream_*", WAIT_SOCKET},
    {"unix_dgram_*", WAIT_SOCKET},
    {"unix_accept", WAIT_SOCKET},
    {"unix_wait_for_peer", WAIT_SOCKET},
    {"sk_wait_data", WAIT_SOCKET},
    {"sk_stream_wait_*", WAIT_SOCKET},
    {"sock_wait_for_wmem", WAIT_SOCKET},
    {"sock_alloc_send_*", WAIT_SOCKET},
    {"__skb_wait_for_more_packets", WAIT_SOCKET},
    {"wait_for_more_packets", WAIT_SOCKET},
    {"skb_recv_*", WAIT_SOCKET},
    {"__skb_recv_*", WAIT_SOCKET},
    {"inet_csk_accept", WAIT_SOCKET},
    {"inet_csk_wait_for_connect", WAIT_SOCKET},
    {"inet_stream_connect", WAIT_SOCKET},
    {"__inet_stream_connect", WAIT_SOCKET},
    {"inet_wait_for_connect", WAIT_SOCKET},
    {"tcp_recvmsg*", WAIT_SOCKET},
    {"tcp_sendmsg*", WAIT_SOCKET},
    {"tcp_close", WAIT_SOCKET},
    {"udp_recvmsg", WAIT_SOCKET},
    {"udpv6_recvmsg", WAIT_SOCKET},
    {"raw_recvmsg", WAIT_SOCKET},
    {"packet_recvmsg", WAIT_SOCKET},
    {"netlink_recvmsg", WAIT_SOCKET},
    {"vsock_*", WAIT_SOCKET},
    {"sock_recvmsg", WAIT_SOCKET},
    {"sock_sendmsg", WAIT_SOCKET},
    {"sock_read_iter", WAIT_SOCKET},
    {"sock_write_iter", WAIT_SOCKET},
    {"virtio_vsock_*", WAIT_SOCKET},
    /* disks */
    {"io_schedule*", WAIT_DISK},
    {"folio_wait_*", WAIT_DISK},
    {"wait_on_page_*", WAIT_DISK},
    {"__lock_page*", WAIT_DISK},
    {"__folio_lock*", WAIT_DISK},
    {"__wait_on_buffer", WAIT_DISK},
    {"__filemap_fdatawait_range", WAIT_DISK},
    {"filemap_*wait*", WAIT_DISK},
    {"file_write_and_wait_range", WAIT_DISK},
    {"submit_bio_wait", WAIT_DISK},
    {"blkdev_issue_*", WAIT_DISK},
    {"blk_execute_rq", WAIT_DISK},
    {"blk_mq_get_tag", WAIT_DISK},
    {"rq_qos_wait", WAIT_DISK},
    {"wbt_wait", WAIT_DISK},
    {"balance_dirty_pages*", WAIT_DISK},
    {"jbd2_log_wait_commit", WAIT_DISK},
    {"jbd2_complete_transaction", WAIT_DISK},
    {"jbd2_journal_commit_transaction", WAIT_DISK},
    {"wait_transaction_locked", WAIT_DISK},
    {"add_transaction_credits", WAIT_DISK},
    {"ext4_sync_file", WAIT_DISK},
    {"ext4_fc_commit", WAIT_DISK},
    {"xfs_log_force*", WAIT_DISK},
    {"xfs_file_fsync", WAIT_DISK},
    {"xfs_buf_*wait", WAIT_DISK},
    {"xlog_wait*", WAIT_DISK},
    {"btrfs_wait_*", WAIT_DISK},
    {"btrfs_sync_file", WAIT_DISK},
    {"btrfs_sync_log", WAIT_DISK},
    {"f2fs_wait_*", WAIT_DISK},
    {"f2fs_do_sync_file", WAIT_DISK},
    {"vfs_fsync_range", WAIT_DISK},
    {"do_fsync", WAIT_DISK},
    {"sync_inodes_sb", WAIT_DISK},
    {"iomap_dio_*", WAIT_DISK},
    {"__iomap_dio_rw", WAIT_DISK},
    {"dio_await_*", WAIT_DISK},
    {"__blkdev_direct_IO*", WAIT_DISK},
    {"read_events", WAIT_DISK},
    /* sleeping for a time */
    {"hrtimer_nanosleep", WAIT_TIMER},
    {"do_nanosleep", WAIT_TIMER},
    {"common_nsleep*", WAIT_TIMER},
    {"alarm_timer_nsleep", WAIT_TIMER},
    {"timerfd_read*", WAIT_TIMER},
    {"msleep*", WAIT_TIMER},
    {"usleep_range*", WAIT_TIMER},
    /* page faults */
    {"handle_mm_fault", WAIT_FAULT},
    {"__handle_mm_fault", WAIT_FAULT},
    {"do_user_addr_fault", WAIT_FAULT},
    {"do_page_fault", WAIT_FAULT},
    {"__do_page_fault", WAIT_FAULT},
    {"exc_page_fault", WAIT_FAULT},
    {"do_mem_abort", WAIT_FAULT},
    {"do_translation_fault", WAIT_FAULT},
    {"do_swap_page", WAIT_FAULT},
    {"filemap_fault", WAIT_FAULT},
    {"handle_userfault", WAIT_FAULT},
    {"kvm_async_pf_task_wait*", WAIT_FAULT},
    /* children */
    {"do_wait", WAIT_CHILD},
    {"__do_wait", WAIT_CHILD},
    {"kernel_wait4", WAIT_CHILD},
    {"kernel_waitid", WAIT_CHILD},
    {"wait_for_vfork_done", WAIT_CHILD},
    /* signals */
    {"sigsuspend", WAIT_SIGNAL},
    {"do_sigtimedwait", WAIT_SIGNAL},
    {"do_signal_stop", WAIT_SIGNAL},
    {"do_jobctl_trap", WAIT_SIGNAL},
    {"ptrace_stop*", WAIT_SIGNAL},
    {"signalfd_*", WAIT_SIGNAL},
    {"sys_pause", WAIT_SIGNAL},
    {"__x64_sys_pause", WAIT_SIGNAL},
    {"__do_sys_pause", WAIT_SIGNAL},
    {"do_coredump", WAIT_SIGNAL},
    /* several files at once: the first event ends the wait */
    {"do_poll*", WAIT_POLL},
    {"do_sys_poll", WAIT_POLL},
    {"do_select", WAIT_POLL},
    {"core_sys_select", WAIT_POLL},
    {"poll_schedule_timeout*", WAIT_POLL},
    {"ep_poll", WAIT_POLL},
    {"do_epoll_wait", WAIT_POLL},
    {"io_cqring_wait", WAIT_POLL},
    {"__io_cqring_wait*", WAIT_POLL},
};

/* --- Functions of the C library that wait for only one kind of event. */

static const struct named_reason libc[] = {
    {"pthread_mutex_*lock*", WAIT_LOCK},
    {"___pthread_mutex_lock", WAIT_LOCK},
    {"__pthread_mutex_*lock*", WAIT_LOCK},
    {"pthread_cond_*wait*", WAIT_LOCK},
    {"__pthread_cond_*wait*", WAIT_LOCK},
    {"___pthread_cond_*wait*", WAIT_LOCK},
    {"pthread_rwlock_*lock*", WAIT_LOCK},
    {"__pthread_rwlock_*lock*", WAIT_LOCK},
    {"___pthread_rwlock_*lock*", WAIT_LOCK},
    {"pthread_barrier_wait", WAIT_LOCK},
    {"__pthread_barrier_wait", WAIT_LOCK},
    {"___pthread_barrier_wait", WAIT_LOCK},
    {"pthread_join", WAIT_LOCK},
    {"__pthread_clockjoin_ex", WAIT_LOCK},
    {"sem_wait*", WAIT_LOCK},
    {"sem_timedwait*", WAIT_LOCK},
    {"__new_sem_wait*", WAIT_LOCK},
    {"do_futex_wait*", WAIT_LOCK},
    {"__lll_lock_wait*", WAIT_LOCK},
    {"futex_wait", WAIT_LOCK},
    {"__futex_abstimed_wait*", WAIT_LOCK},
    {"recv", WAIT_SOCKET},
    {"__libc_recv*", WAIT_SOCKET},
    {"recvfrom", WAIT_SOCKET},
    {"recvmsg", WAIT_SOCKET},
    {"accept", WAIT_SOCKET},
    {"accept4", WAIT_SOCKET},
    {"__libc_accept", WAIT_SOCKET},
    {"connect", WAIT_SOCKET},
    {"send", WAIT_SOCKET},
    {"sendto", WAIT_SOCKET},
    {"sendmsg", WAIT_SOCKET},
    {"eventfd_read", WAIT_PIPE},
    {"fsync", WAIT_DISK},
    {"fdatasync", WAIT_DISK},
    {"msync", WAIT_DISK},
    {"syncfs", WAIT_DISK},
    {"clock_nanosleep*", WAIT_TIMER},
    {"__clock_nanosleep*", WAIT_TIMER},
    {"nanosleep", WAIT_TIMER},
    {"__nanosleep*", WAIT_TIMER},
    {"usleep", WAIT_TIMER},
    {"sleep", WAIT_TIMER},
    {"wait", WAIT_CHILD},
    {"__wait", WAIT_CHILD},
    {"wait4", WAIT_CHILD},
    {"__wait4", WAIT_CHILD},
    {"waitpid", WAIT_CHILD},
    {"waitid", WAIT_CHILD},
    {"__waitid", WAIT_CHILD},
    {"pause", WAIT_SIGNAL},
    {"sigsuspend", WAIT_SIGNAL},
    {"sigwait*", WAIT_SIGNAL},
    {"sigtimedwait", WAIT_SIGNAL},
    {"__sigtimedwait", WAIT_SIGNAL},
};

/* --- Wakers of threads that poll. */

static const struct named_reason wakers[] = {
    {"pipe_write", WAIT_PIPE},
    {"anon_pipe_write", WAIT_PIPE},
    {"fifo_pipe_write", WAIT_PIPE},
    {"pipe_read", WAIT_PIPE},
    {"anon_pipe_read", WAIT_PIPE},
    {"pipe_release", WAIT_PIPE},
    {"eventfd_write", WAIT_PIPE},
    {"eventfd_signal*", WAIT_PIPE},
    {"eventfd_read", WAIT_PIPE},
    {"sock_def_readable", WAIT_SOCKET},
    {"sock_def_write_space*", WAIT_SOCKET},
    {"unix_stream_sendmsg", WAIT_SOCKET},
    {"unix_dgram_sendmsg", WAIT_SOCKET},
    {"unix_write_space", WAIT_SOCKET},
    {"tcp_*", WAIT_SOCKET},
    {"sk_stream_write_space", WAIT_SOCKET},
    {"sock_def_wakeup", WAIT_SOCKET},
    {"unix_release_sock", WAIT_SOCKET},
    {"timerfd_*", WAIT_TIMER},
    {"hrtimer_wakeup", WAIT_TIMER},
    {"process_timeout", WAIT_TIMER},
    {"signal_wake_up*", WAIT_SIGNAL},
    {"complete_signal", WAIT_SIGNAL},
};

/* --- Names. */

/* A '*' matches any characters. */
static bool matches(const char *pattern, const char *name, size_t length) {
    for (; *pattern && *pattern != '*'; pattern++, name++, length--)
        if (length == 0 || *pattern != *name)
            return false;
    if (*pattern == '\0')
        return length == 0;
    if (pattern[1] == '\0')
        return true;
    for (size_t i = 0; i <= length; i++)
        if (matches(pattern + 1, name + i, length - i))
            return true;
    return false;
}

/* Length of a name without suffixes of compilers and versions: ".isra.0", ".constprop.0", "@@GLIBC_2.34". */
static size_t plain_length(const char *name) {
    return strcspn(name, ".@");
}

/* Some functions of glibc also have a name for calls within the library, which symbol tables may have instead. */
static const char *without_prefix(const char *name) {
    static const char inside[] = "__GI_";
    return strncmp(name, inside, sizeof inside - 1) == 0 ? name + sizeof inside - 1 : name;
}

static enum wait_reason look_up(const struct named_reason *table, size_t count, const char *whole_name) {
    const char *const name = without_prefix(whole_name);
    const size_t length = plain_length(name);
    for (size_t i = 0; i < count; i++)
        if (matches(table[i].name, name, length))
            return (enum wait_reason)table[i].reason;
    return WAIT_OTHER;
}

#define LOOK_UP(table, name) look_up(table, sizeof(table) / sizeof *(table), name)

/* --- Evidence. */

static void note(struct wait_evidence *evidence, enum wait_reason reason) {
    if (reason == WAIT_OTHER)
        return;
    evidence->faults |= reason == WAIT_FAULT;
    if (evidence->first == WAIT_OTHER)
        evidence->first = reason;
}

void wait_evidence_kernel(struct wait_evidence *evidence, const char *name) {
    note(evidence, LOOK_UP(kernel, name));
}

void wait_evidence_libc(struct wait_evidence *evidence, const char *name) {
    note(evidence, LOOK_UP(libc, name));
}

/* Reading a page from a disk counts as a page fault, if a page fault caused it. */
enum wait_reason wait_reason_of(const struct wait_evidence *evidence) {
    return evidence->first == WAIT_DISK && evidence->faults ? WAIT_FAULT : evidence->first;
}

enum wait_reason wait_reason_of_waker(const char *name) {
    return LOOK_UP(wakers, name);
}

const char *wait_reason_name(enum wait_reason reason) {
    static const char *const names[] = {[WAIT_OTHER] = "other",   [WAIT_LOCK] = "lock",   [WAIT_PIPE] = "pipe",
                                        [WAIT_SOCKET] = "socket", [WAIT_DISK] = "disk",   [WAIT_TIMER] = "timer",
                                        [WAIT_FAULT] = "fault",   [WAIT_CHILD] = "child", [WAIT_SIGNAL] = "signal"};
    return reason < WAIT_REASONS ? names[reason] : names[WAIT_OTHER];
}

/* --- System calls. */

struct numbered_reason {
    uint16_t x86_64, generic; /* generic: arm64, riscv, loongarch; ABSENT: no such call */
    uint8_t reason;
};

#define ABSENT UINT16_MAX

/* System calls that wait for only one kind of event; read(2) may wait for any. Numbers: asm/unistd_64.h,
   asm-generic/unistd.h. */
static const struct numbered_reason calls[] = {
    {202, 98, WAIT_LOCK},    {454, 454, WAIT_LOCK},   {455, 455, WAIT_LOCK},     {65, 193, WAIT_LOCK},
    {220, 192, WAIT_LOCK},   {73, 32, WAIT_LOCK},     {43, 202, WAIT_SOCKET},    {288, 242, WAIT_SOCKET},
    {42, 203, WAIT_SOCKET},  {44, 206, WAIT_SOCKET},  {45, 207, WAIT_SOCKET},    {46, 211, WAIT_SOCKET},
    {47, 212, WAIT_SOCKET},  {299, 243, WAIT_SOCKET}, {307, 269, WAIT_SOCKET},   {74, 82, WAIT_DISK},
    {75, 83, WAIT_DISK},     {26, 227, WAIT_DISK},    {162, 81, WAIT_DISK},      {306, 267, WAIT_DISK},
    {277, 84, WAIT_DISK},    {208, 4, WAIT_DISK},     {35, 101, WAIT_TIMER},     {230, 115, WAIT_TIMER},
    {61, 260, WAIT_CHILD},   {247, 95, WAIT_CHILD},   {34, ABSENT, WAIT_SIGNAL}, {128, 137, WAIT_SIGNAL},
    {130, 133, WAIT_SIGNAL}, {7, ABSENT, WAIT_POLL},  {23, ABSENT, WAIT_POLL},   {232, ABSENT, WAIT_POLL},
    {281, 22, WAIT_POLL},    {270, 72, WAIT_POLL},    {271, 73, WAIT_POLL},      {441, 441, WAIT_POLL},
};

enum wait_reason wait_reason_of_syscall(const char *machine, uint64_t number) {
    const bool x86_64 = strcmp(machine, "x86_64") == 0, generic = strcmp(machine, "aarch64") == 0 ||
                                                                  strncmp(machine, "riscv64", 7) == 0 ||
                                                                  strncmp(machine, "loongarch", 9) == 0;
    for (size_t i = 0; (x86_64 || generic) && i < sizeof calls / sizeof *calls; i++)
        if ((x86_64 ? calls[i].x86_64 : calls[i].generic) == number && number != ABSENT)
            return (enum wait_reason)calls[i].reason;
    return WAIT_OTHER;
}

/* --- Locks of the C library. */

enum lock_kind lock_kind_of(const char *name) {
    static const struct named_reason kinds[] = {
        {"*pthread_mutex_*lock*", LOCK_MUTEX},
        {"__lll_lock_wait*", LOCK_MUTEX},
        {"lll_mutex_lock*", LOCK_MUTEX},
        {"*pthread_cond_*wait*", LOCK_CONDITION},
        {"*pthread_cond_signal*", LOCK_CONDITION},
        {"*pthread_cond_broadcast*", LOCK_CONDITION},
        {"*pthread_rwlock_*lock*", LOCK_RWLOCK},
        {"*pthread_barrier_wait*", LOCK_BARRIER},
        {"*sem_*wait*", LOCK_SEMAPHORE},
        {"do_futex_wait*", LOCK_SEMAPHORE},
        {"*pthread_*join*", LOCK_JOIN},
        {"*pthread_once*", LOCK_ONCE},
        {"rwsem_down_*", LOCK_KERNEL},
        {"__mutex_lock*", LOCK_KERNEL},
        {"mutex_lock*", LOCK_KERNEL},
        {"down_*", LOCK_KERNEL},
        {"__down*", LOCK_KERNEL},
        {"percpu_*", LOCK_KERNEL},
    };
    return (enum lock_kind)LOOK_UP(kinds, name);
}

const char *lock_kind_name(enum lock_kind kind) {
    static const char *const names[] = {
        [LOCK_UNKNOWN] = "lock",        [LOCK_MUTEX] = "mutex",         [LOCK_RWLOCK] = "rwlock",
        [LOCK_CONDITION] = "condition", [LOCK_SEMAPHORE] = "semaphore", [LOCK_BARRIER] = "barrier",
        [LOCK_JOIN] = "join",           [LOCK_ONCE] = "once",           [LOCK_KERNEL] = "kernel lock"};
    return kind < LOCK_KINDS ? names[kind] : names[0];
}

/* --- Soft interrupts. */

enum softirq_function softirq_function_of(const char *name) {
    static const struct named_reason functions[] = {
        {"process_backlog", SOFTIRQ_LOOPBACK},
        {"__local_bh_enable_ip", SOFTIRQ_BY_THREAD},
        {"do_softirq", SOFTIRQ_BY_THREAD},
        {"irq_exit*", SOFTIRQ_INTERRUPTS},
        {"__irq_exit*", SOFTIRQ_INTERRUPTS},
        {"run_ksoftirqd", SOFTIRQ_INTERRUPTS},
        {"asm_common_interrupt", SOFTIRQ_INTERRUPTS},
        {"el1_irq*", SOFTIRQ_INTERRUPTS},
    };
    return (enum softirq_function)LOOK_UP(functions, name);
}
