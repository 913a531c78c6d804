/* SPDX-License-Identifier: Apache-2.0 */
/* Wait reasons from call chains of several kernel versions. Each chain is innermost first, and ends with NULL. */
#include "../test.h"

#include "model/sched/wait_reasons.h"

#define CHAIN(...) ((const char *const[]){__VA_ARGS__, NULL})

static enum wait_reason reason(const char *const *chain) {
    struct wait_evidence evidence = {.first = WAIT_OTHER};
    for (; *chain; chain++)
        wait_evidence_kernel(&evidence, *chain);
    return wait_reason_of(&evidence);
}

TEST(locks) {
    assert_int_equal(reason(CHAIN("__schedule", "schedule", "futex_wait_queue_me", "futex_wait", "do_futex")),
                     WAIT_LOCK);
    assert_int_equal(reason(CHAIN("__schedule", "schedule", "futex_do_wait", "__futex_wait", "futex_wait")), WAIT_LOCK);
    assert_int_equal(reason(CHAIN("schedule", "rwsem_down_read_slowpath", "down_read", "do_user_addr_fault")),
                     WAIT_LOCK);
    assert_int_equal(reason(CHAIN("schedule", "__mutex_lock.constprop.0", "pipe_write", "vfs_write")), WAIT_LOCK);
}

TEST(data) {
    assert_int_equal(reason(CHAIN("__schedule", "schedule", "pipe_wait", "pipe_read", "__vfs_read")), WAIT_PIPE);
    assert_int_equal(reason(CHAIN("__schedule", "schedule", "anon_pipe_read", "vfs_read", "ksys_read")), WAIT_PIPE);
    assert_int_equal(reason(CHAIN("schedule", "eventfd_read", "vfs_read")), WAIT_PIPE);
    assert_int_equal(reason(CHAIN("schedule_timeout", "unix_stream_read_generic", "sock_recvmsg")), WAIT_SOCKET);
    assert_int_equal(reason(CHAIN("schedule_timeout", "inet_csk_accept", "inet_accept")), WAIT_SOCKET);
}

TEST(disks_and_faults) {
    assert_int_equal(reason(CHAIN("schedule", "io_schedule", "folio_wait_bit_common", "folio_wait_writeback")),
                     WAIT_DISK);
    assert_int_equal(reason(CHAIN("schedule", "jbd2_log_wait_commit", "ext4_sync_file", "do_fsync")), WAIT_DISK);
    assert_int_equal(reason(CHAIN("io_schedule", "__lock_page_or_retry", "filemap_fault", "__do_fault",
                                  "handle_mm_fault", "do_page_fault")),
                     WAIT_FAULT);
    assert_int_equal(reason(CHAIN("io_schedule", "folio_wait_bit_common", "handle_mm_fault", "do_mem_abort")),
                     WAIT_FAULT);
}

TEST(others) {
    assert_int_equal(reason(CHAIN("schedule", "do_nanosleep", "hrtimer_nanosleep", "common_nsleep")), WAIT_TIMER);
    assert_int_equal(reason(CHAIN("schedule", "do_wait", "kernel_wait4", "__do_sys_wait4")), WAIT_CHILD);
    assert_int_equal(reason(CHAIN("schedule", "sigsuspend", "__x64_sys_rt_sigsuspend")), WAIT_SIGNAL);
    assert_int_equal(reason(CHAIN("schedule", "worker_thread", "kthread", "ret_from_fork")), WAIT_OTHER);
    assert_int_equal(reason(CHAIN("schedule", "schedule_hrtimeout_range", "ep_poll", "do_epoll_wait")), WAIT_POLL);
    assert_int_equal(wait_reason_of_waker("eventfd_write"), WAIT_PIPE);
    assert_int_equal(wait_reason_of_waker("sock_def_readable"), WAIT_SOCKET);
    assert_int_equal(wait_reason_of_waker("try_to_wake_up"), WAIT_OTHER);
}

TEST(names_must_match_completely) {
    assert_int_equal(reason(CHAIN("pipe_read_something", "my_do_wait")), WAIT_OTHER);
    assert_int_equal(reason(CHAIN("pipe_read.isra.0")), WAIT_PIPE);
    assert_int_equal(reason(CHAIN("")), WAIT_OTHER);
}

TEST(system_calls_by_machine) {
    assert_int_equal(wait_reason_of_syscall("x86_64", 202), WAIT_LOCK);
    assert_int_equal(wait_reason_of_syscall("aarch64", 98), WAIT_LOCK);
    assert_int_equal(wait_reason_of_syscall("x86_64", 0), WAIT_OTHER); /* read: from any file */
    assert_int_equal(wait_reason_of_syscall("vax", 202), WAIT_OTHER);
    assert_int_equal(wait_reason_of_syscall("aarch64", 65535), WAIT_OTHER);
}

TEST(kinds_of_locks) {
    assert_int_equal(lock_kind_of("pthread_mutex_lock@@GLIBC_2.2.5"), LOCK_MUTEX);
    assert_int_equal(lock_kind_of("___pthread_cond_wait"), LOCK_CONDITION);
    assert_int_equal(lock_kind_of("__new_sem_wait_slow64.constprop.0"), LOCK_SEMAPHORE);
    assert_int_equal(lock_kind_of("__GI___lll_lock_wait"), LOCK_MUTEX); /* the name for calls within the library */
    assert_int_equal(lock_kind_of("main"), LOCK_UNKNOWN);
    assert_string_equal(lock_kind_name(LOCK_BARRIER), "barrier");
}
