/* SPDX-License-Identifier: Apache-2.0 */
/* Starts and stops recording; handles ends of threads, and forks. rt_recorder.h has the overview;
 * include/perfray/runtime.h declares the functions for programs. */
#include "runtime/rt_buffer.h"
#include "runtime/rt_functions.h"
#include "runtime/rt_guard.h"
#include "runtime/rt_options.h"
#include "runtime/rt_pool.h"
#include "runtime/rt_start.h"
#include "runtime/rt_record.h"

#include <perfray/runtime.h>
#include "runtime/rt_sleds.h"
#include "wire/recorder_pack.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

#define API __attribute__((visibility("default"), no_instrument_function))
#define COPY_ROOM 16384u
#define NS_PER_SECOND 1000000000u
#define PAGE 4096u
#define EFAULT_RESULT (-14)
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

/* glibc since 2.35: where the kernel stores the CPU number of each thread (its second word). */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));
#define RSEQ_CPU 4

static pthread_key_t thread_end;
static bool is_ready;   /* set once per process */
static bool has_key;    /* the key is made early, because values of the first 32 keys are stored without allocation */
static bool is_cleared; /* the page that hooks read is cleared in children (MADV_WIPEONFORK) */

/* --- Threads and forks. */

/* Called again if destructors that run later make calls and the thread takes another buffer. */
RT_PLAIN static void leave_thread(void *unused) {
    struct rt_thread *t = rt_self();
    (void)unused;
    rt_revive(t);
    t->known = false;
    volatile struct rt_mark mark;
    if (!rt_begin(t, &mark))
        return;
    rt_leave(t);
    rt_end(t);
}

RT_PLAIN static long set_own(long thread, long unused) {
    (void)unused;
    return pthread_setspecific(thread_end, (const void *)thread);
}

void rt_know_thread(struct rt_thread *t) {
    t->known = true;
    rt_apart(set_own, (long)t, 0);
}

/* Detaches a child from the buffer, which belongs to its parent. A hook that was running when a signal handler forked
 * finishes its record in a dummy buffer. */
RT_PLAIN static void begin_child(struct rt_thread *t) {
    static uint8_t nowhere[RTF_PREAMBLE + RT_LINE];
    rt.pid = (uint32_t)RT_CALL3(SYS_getpid, 0, 0, 0);
    if (rt.control && RT_CALL3(SYS_getppid, 0, 0, 0) == 0) /* the first process of a pid namespace */
        __atomic_fetch_or(&rt.control->spaces, RTF_SPACES, __ATOMIC_RELAXED);
    t->limit = NULL;
    t->next = t->floor = t->buffer = nowhere;
    t->tid = 0;
    rt_sleds_forked();
}

/* Copies the members that hooks read, for children in which they are cleared. */
RT_PLAIN static void keep_state(void) {
    rt_copy(rt.kept, &rt, sizeof rt.kept);
    rt.kept[0] = 0; /* member `on` */
}

RT_RARE void rt_revive(struct rt_thread *t) {
    if (!is_cleared || rt.table)
        return;
    begin_child(t);
    rt_copy(&rt, rt.kept, sizeof rt.kept);
    rt.on = rt.wanted;
}

RT_PLAIN static void after_fork(void) {
    if (is_cleared)
        rt_revive(&rt_here);
    else
        begin_child(&rt_here);
}

/* --- Start and stop. */

RT_PLAIN void rt_switch(bool on) {
    __atomic_store_n(&rt.on, on, __ATOMIC_RELEASE);
    __atomic_store_n(&rt.wanted, on, __ATOMIC_RELEASE);
}

/* Thresholds are capped at 10^6 s (11 days), so that the products fit in 64 bits. */
RT_PLAIN static uint64_t ticks_in(uint64_t asked) {
    const uint64_t most = 1000000ull * NS_PER_SECOND, ns = asked < most ? asked : most;
    const uint64_t rate = *(const uint64_t *)(const void *)(rt.file + 8);
    return rate / 1000 * (ns / 1000) / 1000 + rate / 1000 * (ns % 1000) / 1000000;
}

/* Stores the largest threshold of all processes of the trace, plus 1. */
RT_PLAIN static void store_threshold(uint64_t ns) {
    const uint32_t own = ns < UINT32_MAX ? (uint32_t)ns + 1 : UINT32_MAX;
    uint32_t shared = __atomic_load_n(&rt.control->threshold, __ATOMIC_RELAXED);
    while (shared < own && !__atomic_compare_exchange_n(&rt.control->threshold, &shared, own, false, __ATOMIC_RELAXED,
                                                        __ATOMIC_RELAXED)) {
    }
}

/* Stores the smallest depth limit of all processes that have one. */
RT_PLAIN static void store_depth(uint32_t depth) {
    const uint32_t own = depth < UINT32_MAX >> RTF_DEPTH_AT ? depth : UINT32_MAX >> RTF_DEPTH_AT;
    uint32_t shared = __atomic_load_n(&rt.control->spaces, __ATOMIC_RELAXED), new;
    do {
        if (own == 0 || (shared >> RTF_DEPTH_AT && shared >> RTF_DEPTH_AT <= own))
            return;
        new = own << RTF_DEPTH_AT | (shared & ((1u << RTF_DEPTH_AT) - 1));
    } while (
        !__atomic_compare_exchange_n(&rt.control->spaces, &shared, new, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

RT_PLAIN static void learn_filters(void) {
    const struct rt_options *o = &rt.options;
    store_threshold(o->threshold_ns);
    store_depth(o->depth);
    rt.threshold = o->threshold_ns ? ticks_in(o->threshold_ns) : 0;
    rt.depth = o->depth;
    rt.focused = o->patterns[RT_FOCUS_ON].count > 0;
    for (int kind = 0; kind < RT_FILTER_KINDS; kind++)
        rt.by_name = rt.by_name || o->patterns[kind].count > 0;
    rt.extra = !rt.is_tsc || rt.threshold || rt.depth || rt.focused || o->patterns[RT_NOTRACE].count;
}

RT_PLAIN static bool make_table(void) {
    const long at = rt_syscall(SYS_mmap, 0, RT_ENTRIES * sizeof(struct rt_entry), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    rt.table = at < 0 && at > -4096 ? NULL : (struct rt_entry *)at;
    return rt.table != NULL;
}

RT_PLAIN static bool prepare(void) {
    if (is_ready)
        return true;
    if (!has_key || !make_table() || !rt_functions_prepare() || pthread_atfork(NULL, NULL, after_fork) != 0)
        return false;
    rt.cpu_at = &__rseq_size && &__rseq_offset && __rseq_size
                    ? (const char *)__builtin_thread_pointer() + __rseq_offset + RSEQ_CPU - (const char *)rt_self()
                    : (ptrdiff_t)offsetof(struct rt_thread, no_cpu);
    is_cleared = RT_CALL3(SYS_madvise, &rt, RT_PAGES, MADV_WIPEONFORK) == 0;
    keep_state();
    rt_vectors_learn();
    rt_guard_install();
    is_ready = true;
    return true;
}

RT_PLAIN static int start(void) {
    const char *why = prepare() ? NULL : "there is no memory, or no key for thread-specific data";
    if (!why)
        why = rt_pool_open();
    if (why) {
        rt_say(rt.options.file, why);
        return -1;
    }
    learn_filters();
    keep_state();
    rt_switch(true);
    rt_sleds_apply(true);
    return 0;
}

/* Runs before the program's own constructors, which may be traced. */
__attribute__((constructor(101))) RT_PLAIN static void begin(void) {
    char program[RT_PATH];
    rt_zero(program, sizeof program);
    rt.pid = (uint32_t)RT_CALL3(SYS_getpid, 0, 0, 0);
    rt_syscall(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)program, sizeof program - 1, 0, 0);
    char *nothing = NULL;
    /* a set-user-ID program ignores the environment, because its caller must not choose the file that it writes */
    rt_options_read(&rt.options, getauxval(AT_SECURE) ? &nothing : environ, program);
    has_key = pthread_key_create(&thread_end, leave_thread) == 0;
    if (rt.options.wanted)
        start();
}

/* Stores the tick rate of the whole run, and releases the buffer. */
__attribute__((destructor)) RT_PLAIN static void end(void) {
    if (!rt.control)
        return;
    rt_measure_now();
    leave_thread(NULL);
    if (rt.control->leader == rt.pid)
        rt_pool_is_ours(); /* reports an overwritten file; makes no system call, which seccomp might forbid */
}

RT_PLAIN static int start_as(const char *options) {
    const char *wrong = "";
    if (rt.is_broken) {
        rt_say_late(rt.options.file, "is not what it was: there is no recording any more");
        return -1;
    }
    if (rt.control) {
        rt_switch(true);
        rt_sleds_apply(true);
        return 0;
    }
    if (options && !rt_options_parse(&rt.options, options, &wrong)) {
        rt_say("the options of pfr_rt_start are invalid from here on", wrong);
        return -1;
    }
    return start();
}

/* Handles one caller at a time. A lock is acceptable here, because other callers have to wait for the first caller
 * anyway, and hooks never call this function. */
API int pfr_rt_start(const char *options) {
    static bool taken;
    rt_revive(&rt_here);
    while (__atomic_exchange_n(&taken, true, __ATOMIC_ACQUIRE))
        RT_CALL3(SYS_sched_yield, 0, 0, 0);
    const int result = start_as(options);
    __atomic_store_n(&taken, false, __ATOMIC_RELEASE);
    return result;
}

API void pfr_rt_stop(void) {
    rt_revive(&rt_here);
    rt_switch(false);
    rt_sleds_apply(false);
}

API void pfr_rt_flush(void) {
    if (!rt.control)
        return;
    rt_measure_now();
    RT_CALL3(SYS_msync, rt.file, rt.file_size, MS_SYNC);
}

RT_PLAIN bool rt_counter_ends(void) {
    rt_revive(&rt_here);
    const bool was_on = rt.on;
    rt_switch(false);
    return was_on;
}

RT_PLAIN void rt_counter_stays(void) {
    rt_switch(true);
}

API uint64_t pfr_rt_lost(void) {
    uint64_t lost = 0;
    for (int why = 0; rt.control && why < RTF_LOSSES; why++)
        lost += __atomic_load_n(&rt.control->lost[why], __ATOMIC_RELAXED);
    return lost;
}

/* --- Snapshots. */

/* On a full disk even reading a page that was never written raises SIGBUS, so pages are populated first. If that fails,
 * the bytes are read as zeros. */
RT_PLAIN static bool read_mapping(void *fd, uint64_t at, void *to, size_t size) {
    const uint64_t first = at / PAGE * PAGE;
    (void)fd;
    if (RT_CALL3(SYS_madvise, rt.file + first, at + size - first, MADV_POPULATE_READ) == EFAULT_RESULT) {
        rt_zero(to, size);
        return true;
    }
    rt_copy(to, rt.file + at, size);
    return true;
}

RT_PLAIN static bool write_file(void *fd, const void *bytes, size_t size) {
    const char *at = bytes;
    while (size) {
        const long done = RT_CALL3(SYS_write, *(const long *)fd, at, size);
        if (done <= 0 && done != -4) /* EINTR */
            return false;
        at += done > 0 ? done : 0;
        size -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

RT_PLAIN static bool pack_into(long fd) {
    uint8_t room[COPY_ROOM];
    struct rtf_pack pack;
    rt_zero(&pack, sizeof pack);
    pack.read = read_mapping;
    pack.write = write_file;
    pack.context = &fd;
    pack.size = rt.file_size;
    pack.room = room;
    pack.room_size = sizeof room;
    return rtf_pack_run(&pack) == RTF_PACKED;
}

API int pfr_rt_snapshot(const char *path) {
    if (!rt.control)
        return -1;
    rt_measure_now();
    const long fd =
        rt_syscall(SYS_openat, AT_FDCWD, (long)path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600, 0, 0);
    if (fd < 0)
        return -1;
    const bool done = pack_into(fd);
    RT_CALL3(SYS_close, fd, 0, 0);
    if (!done)
        RT_CALL3(SYS_unlinkat, AT_FDCWD, path, 0);
    return done ? 0 : -1;
}

/* --- Events and scopes. */

RT_PLAIN static bool is_on(struct rt_thread *t) {
    if (!rt.on && rt.wanted)
        rt_revive(t);
    return rt.on;
}

RT_PLAIN static void put_event(const void *bytes, uint32_t size, int type) {
    struct rt_thread *t = rt_self();
    volatile struct rt_mark mark;
    if (!is_on(t) || size == 0 || !rt_begin(t, &mark))
        return;
    rt_event(t, bytes, size, type, rt_clock());
    rt_end(t);
}

API void pfr_rt_mark(const char *text) {
    const size_t length = rt_length(text);
    put_event(text, length < UINT32_MAX ? (uint32_t)length : UINT32_MAX, -1);
}

API void pfr_rt_event(const void *bytes, uint32_t size) {
    put_event(bytes, size, -1);
}

API void pfr_rt_typed_event(uint16_t type, const void *bytes, uint32_t size) {
    put_event(bytes, size, type);
}

RT_PLAIN static void put_scope(const struct pfr_rt_place *place, unsigned action) {
    struct rt_thread *t = rt_self();
    volatile struct rt_mark mark;
    if (!is_on(t) || !rt_begin(t, &mark))
        return;
    const uint32_t word = rt_scope_word(place, place->name);
    if (rt.extra)
        rt_call_filtered(t, word, action, rt_clock());
    else if (!(word & RT_SKIP))
        rt_put_call(t, word, action, rt_ticks());
    if (word == RT_LOST)
        rt_lose(RTF_TABLE);
    rt_end(t);
}

API void pfr_rt_enter(const struct pfr_rt_place *place) {
    put_scope(place, RT_ENTER);
}

API void pfr_rt_exit(const struct pfr_rt_place *place) {
    put_scope(place, RT_EXIT);
}
