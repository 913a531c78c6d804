/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace file and its mapping; its format is in wire/recorder_file.h.
 *
 * The file is created under a temporary name and gets its real name by link(2) once it is complete, so that processes
 * that start at the same time use one file. rt_slots.c assigns slots. Pages are populated before use
 * (MADV_POPULATE_WRITE). On a full disk, populating fails, whereas a store would raise SIGBUS.
 */
#include "runtime/rt_pool.h"
#include "runtime/rt_guard.h"
#include "runtime/rt_notes.h"
#include "runtime/rt_process.h"
#include "runtime/rt_slots.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define VERSION_USUAL 5u
#define HEADER_TYPE_FDR 1u
#define HEADER_FLAGS 3u /* the CPU flags constant_tsc and nonstop_tsc */
#define AT_FREQUENCY 8u
#define AT_BUFFER_SIZE 16u
#define NS_PER_SECOND 1000000000u
#define SPIN_NS 200000u /* duration of the first measurement of the tick rate */
#define READINGS 8u
#define MEASURE_NS 1000000u /* minimum age of a trace at which the rate is measured over its whole length */
#define PAGE 4096u
#define SLOT_USUAL ((uint64_t)64 << 10)
#define SLOT_LARGE ((uint64_t)256 << 10)
#define SLOTS_MANY 4096u
#define SLOTS_LEAST 4u
#define SLOTS_MOST (UINT32_MAX / 2)
#define SLOT_SIZE_MOST ((uint64_t)1 << 28)
#define EFAULT_RESULT (-14)
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

struct rt_state rt __attribute__((aligned(RT_PAGES)));

/* Prints with a single write, because other processes may print at the same time. A seccomp filter of the program
 * usually allows write. */
RT_RARE void rt_say(const char *what, const char *why) {
    const char *const texts[] = {"perfray-rt: ", what, ": ", why, "\n"};
    char line[3 * RT_PATH];
    size_t used = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const size_t length = rt_length(texts[i]), room = sizeof line - used;
        rt_copy(line + used, texts[i], length < room ? length : room);
        used += length < room ? length : room;
    }
    RT_CALL3(SYS_write, 2, line, used);
}

RT_PLAIN uint64_t rt_clock(void) {
    return rt.is_tsc ? rt_ticks() : rt_now_ns(CLOCK_MONOTONIC);
}

RT_RARE void rt_lose(enum rtf_loss why) {
    if (rt.control)
        __atomic_fetch_add(&rt.control->lost[why], 1, __ATOMIC_RELAXED);
}

/* --- Buffers. */

RT_PLAIN uint8_t *rt_metadata(uint8_t *at, unsigned kind) {
    rt_zero(at, 16);
    at[0] = (uint8_t)(kind << 1 | 1);
    return at + 1;
}

RT_PLAIN static void put_place(uint8_t *buffer, uint32_t tid, uint64_t now_ns) {
    uint8_t *wall = rt_metadata(buffer + 32, 4);
    *(rt_u32 *)rt_metadata(buffer + 16, 0) = tid;
    *(rt_u64 *)wall = now_ns / NS_PER_SECOND;
    *(rt_u32 *)(wall + 8) = (uint32_t)(now_ns % NS_PER_SECOND / 1000);
    *(rt_u32 *)rt_metadata(buffer + 48, 9) = rt.pid;
}

RT_PLAIN void rt_preamble(uint8_t *buffer, uint32_t tid, uint16_t cpu, uint64_t tsc, uint64_t now_ns) {
    put_place(buffer, tid, now_ns);
    uint8_t *at = rt_metadata(buffer + 64, 2);
    at[0] = (uint8_t)cpu;
    at[1] = (uint8_t)(cpu >> 8);
    *(rt_u64 *)(at + 2) = tsc;
    __atomic_thread_fence(__ATOMIC_RELEASE);
    *(rt_u64 *)(buffer + 8) = 0;
    *(volatile rt_u64 *)buffer = 7 << 1 | 1 | (uint64_t)(RTF_PREAMBLE - RTF_EXTENTS) << 8;
}

/* --- The rate of ticks. */

/* Ticks per second, from ticks and ns of the same interval. Both numbers are halved until the product fits in 64 bits.
 */
RT_PLAIN static uint64_t rate_of(uint64_t ticks, uint64_t ns) {
    while (ticks >> 33) {
        ticks >>= 1;
        ns >>= 1;
    }
    return ns ? ticks * NS_PER_SECOND / ns : 0;
}

/* Takes the reading with the shortest time between its two counter reads, because interrupts disturbed it least. */
RT_PLAIN void rt_read_pair(struct rt_pair *pair, unsigned readings) {
    uint64_t narrowest = UINT64_MAX;
    pair->ns = pair->ticks = rt_now_ns(CLOCK_MONOTONIC);
    if (!rt.is_tsc)
        return;
    for (unsigned i = 0; i < readings; i++) {
        const uint64_t before = rt_ticks(), ns = rt_now_ns(CLOCK_MONOTONIC), width = rt_ticks() - before;
        if (width < narrowest) {
            narrowest = width;
            *pair = (struct rt_pair){before + width / 2, ns};
        }
    }
}

RT_PLAIN uint64_t rt_ns_at(const struct rt_pair *pair, uint64_t tsc) {
    const uint64_t rate = rt.is_tsc ? *(const uint64_t *)(const void *)(rt.file + AT_FREQUENCY) : NS_PER_SECOND;
    const uint64_t ticks = pair->ticks > tsc ? pair->ticks - tsc : 0;
    return rate && ticks < rate ? pair->ns - ticks * NS_PER_SECOND / rate : pair->ns;
}

RT_PLAIN void rt_measure(const struct rt_pair *now) {
    const struct rtf_control *c = rt.control;
    if (rt.is_tsc && now->ns - c->start_ns >= MEASURE_NS)
        *(volatile uint64_t *)(void *)(rt.file + AT_FREQUENCY) =
            rate_of(now->ticks - c->start_tsc, now->ns - c->start_ns);
}

RT_PLAIN void rt_measure_now(void) {
    struct rt_pair now;
    rt_read_pair(&now, READINGS);
    rt_measure(&now);
}

RT_PLAIN static bool ticks_are_steady(void) {
#if defined __x86_64__
    uint32_t a = 0x80000000u, b, c = 0, d;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    if (a < 0x80000007u)
        return false;
    a = 0x80000007u;
    c = 0;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    return d >> 8 & 1;
#else
    return true;
#endif
}

RT_PLAIN static uint64_t first_rate(const struct rt_pair *start) {
    struct rt_pair now;
    if (!rt.is_tsc)
        return NS_PER_SECOND;
    while (rt_now_ns(CLOCK_MONOTONIC) - start->ns < SPIN_NS)
        ;
    rt_read_pair(&now, READINGS);
    return rate_of(now.ticks - start->ticks, now.ns - start->ns);
}

/* --- The file. */

struct shape {
    uint64_t slot_size, nr_slots, slots_at, size;
};

RT_PLAIN static uint64_t round_up(uint64_t size, uint64_t to) {
    return (size + to - 1) / to * to;
}

/* If the trace has room for many slots, larger slots are used, because each buffer starts with a preamble that holds no
 * calls. */
RT_PLAIN static uint64_t slot_size_of(const struct rt_options *o) {
    uint64_t size = SLOT_USUAL;
    if (o->slot_size)
        return round_up(o->slot_size < PAGE ? PAGE : o->slot_size, PAGE);
    while (o->keep_first && size < SLOT_LARGE && o->size / (2 * size) >= SLOTS_MANY)
        size *= 2;
    return size;
}

RT_PLAIN static struct shape shape_of(const struct rt_options *o) {
    struct shape s = {.slot_size = slot_size_of(o)};
    s.nr_slots = o->size / s.slot_size < SLOTS_LEAST ? SLOTS_LEAST : o->size / s.slot_size;
    if (s.nr_slots > SLOTS_MOST)
        s.nr_slots = SLOTS_MOST;
    s.slots_at = round_up(RTF_CONTROL_AT + sizeof(struct rtf_control) + s.nr_slots * sizeof(uint32_t), PAGE);
    s.size = s.slots_at + s.nr_slots * s.slot_size + RTF_EXTENTS;
    return s;
}

/* Copies values that hooks depend on to private memory, because other processes may write into the file. */
RT_PLAIN static void learn_shape(const struct shape *s, bool keep_last) {
    rt.slot_size = s->slot_size;
    rt.nr_slots = s->nr_slots;
    rt.slots_at = s->slots_at;
    rt.keep_last = keep_last;
}

RT_PLAIN static const char *map_file(long fd, uint64_t size) {
    const long at = rt_syscall(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (at < 0 && at > -4096)
        return "cannot be mapped";
    rt.file = (uint8_t *)at;
    rt.file_size = size;
    rt.control = (struct rtf_control *)(void *)(rt.file + RTF_CONTROL_AT);
    rt.owners = (uint32_t *)(void *)(rt.control + 1);
    return NULL;
}

RT_PLAIN static void write_control(const struct shape *s) {
    struct rtf_control *c = rt.control;
    const struct rt_options *o = &rt.options;
    struct rt_pair start;
    learn_shape(s, !o->keep_first);
    c->slot_size = s->slot_size;
    c->nr_slots = s->nr_slots;
    c->slots_at = s->slots_at;
    rt_read_pair(&start, READINGS);
    c->start_ns = start.ns;
    c->start_tsc = start.ticks;
    c->leader = o->leader ? o->leader : rt.pid;
    c->leader_start = rt_process_start(c->leader);
    c->keep_last = !o->keep_first;
    c->is_tsc = rt.is_tsc;
    *(uint64_t *)(void *)(rt.file + AT_FREQUENCY) = first_rate(&start);
    *(uint64_t *)(void *)(rt.file + AT_BUFFER_SIZE) = s->slot_size;
    rt_note_write(rt.file + RTF_HEADER, RTF_RUNNING, 0, s->slots_at - RTF_HEADER);
    rt_metadata(rt.file + s->size - RTF_EXTENTS, 7);
    *(uint64_t *)(void *)rt.file = rt.version | HEADER_TYPE_FDR << 16 | (uint64_t)HEADER_FLAGS << 32;
}

/* Halves the size until a file of this size is allowed. Returns false if even the smallest size is not
   allowed. */
RT_PLAIN static bool shape_within(struct shape *s) {
    const uint64_t most = rt_process_file_most(rt.options.size_asked);
    *s = shape_of(&rt.options);
    while (s->size > most && rt.options.size > SLOTS_LEAST * s->slot_size) {
        rt.options.size /= 2;
        *s = shape_of(&rt.options);
    }
    return s->size <= most;
}

/* Populates the first pages and the last one before anything is stored. */
RT_PLAIN static const char *fill_file(long fd) {
    struct shape s;
    if (!shape_within(&s))
        return "the program may not make files of that size (ulimit -f, -v)";
    if (RT_CALL3(SYS_ftruncate, fd, s.size, 0) < 0)
        return "cannot be made as large as requested";
    const char *why = map_file(fd, s.size);
    if (why)
        return why;
    const uint64_t last = (s.size - 1) / PAGE * PAGE;
    if (RT_CALL3(SYS_madvise, rt.file, s.slots_at, MADV_POPULATE_WRITE) == EFAULT_RESULT ||
        RT_CALL3(SYS_madvise, rt.file + last, PAGE, MADV_POPULATE_WRITE) == EFAULT_RESULT)
        return "there is no room on the disk";
    write_control(&s);
    return NULL;
}

RT_PLAIN static void unmap(void) {
    if (rt.file)
        RT_CALL3(SYS_munmap, rt.file, rt.file_size, 0);
    rt.file = NULL;
    rt.control = NULL;
}

RT_PLAIN static bool is_of_living(const struct rtf_control *c) {
    return rt_same(c->note.magic, RTF_MAGIC, RTF_MAGIC_SIZE) && c->note.kind == RTF_RUNNING &&
           (rt_process_is(c->leader, c->leader_start) || ((c->spaces & RTF_SPACES) && c->leader == rt.options.leader));
}

/* Checks the numbers that stores depend on, because anybody may have written the file. */
RT_PLAIN static bool is_sound(const struct rtf_control *c, uint64_t size) {
    return c->slot_size >= PAGE && c->slot_size <= SLOT_SIZE_MOST && c->slot_size % PAGE == 0 && c->nr_slots > 0 &&
           c->nr_slots <= SLOTS_MOST && c->slots_at % PAGE == 0 && c->slots_at <= size &&
           c->slots_at >= RTF_CONTROL_AT + sizeof *c + c->nr_slots * sizeof(uint32_t) &&
           size == c->slots_at + c->nr_slots * c->slot_size + RTF_EXTENTS;
}

/* Returns the size of a regular file that belongs to this user; 0: the file is not of this kind. */
RT_PLAIN static uint64_t size_of_own(long fd) {
    struct stat facts;
    rt_zero(&facts, sizeof facts);
    if (fd < 0 || RT_CALL3(SYS_fstat, fd, &facts, 0) < 0 || !S_ISREG(facts.st_mode) ||
        facts.st_uid != (uint32_t)RT_CALL3(SYS_geteuid, 0, 0, 0))
        return 0;
    return (uint64_t)facts.st_size;
}

/* Joins the trace in an existing file if its leader is alive; otherwise the file is from an earlier recording. */
RT_PLAIN static bool join(const char *path) {
    const long fd = RT_CALL3(SYS_openat, AT_FDCWD, path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    const uint64_t size = size_of_own(fd);
    struct rtf_control seen;
    bool joined = false;
    if (size > RTF_CONTROL_AT + sizeof(struct rtf_control) && !map_file(fd, size)) {
        rt_copy(&seen, rt.control, sizeof seen);
        joined = is_of_living(&seen) && is_sound(&seen, size);
        learn_shape(&(struct shape){seen.slot_size, seen.nr_slots, seen.slots_at, size}, seen.keep_last);
        if (!joined)
            unmap();
    }
    if (fd >= 0)
        RT_CALL3(SYS_close, fd, 0, 0);
    if (!joined)
        return false;
    rt.is_tsc = rt.control->is_tsc;
    rt.version = rt.file[0];
    rt_pool_inherit();
    return !rt.is_broken;
}

RT_PLAIN static void name_for_now(char *to, const char *path) {
    const size_t length = rt_length(path);
    rt_copy(to, path, length);
    to[length] = '.';
    uint32_t pid = rt.pid;
    size_t at = length + 1;
    do
        to[at++] = (char)('0' + pid % 10);
    while (pid /= 10);
    to[at] = 0;
}

RT_PLAIN static const char *make(const char *path) {
    char own_name[RT_PATH + 16];
    name_for_now(own_name, path);
    RT_CALL3(SYS_unlinkat, AT_FDCWD, own_name, 0);
    const long fd = rt_syscall(SYS_openat, AT_FDCWD, (long)own_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                               0600, 0, 0);
    if (fd < 0)
        return "cannot be made";
    const char *why = fill_file(fd);
    RT_CALL3(SYS_close, fd, 0, 0);
    if (!why && rt_syscall(SYS_linkat, AT_FDCWD, (long)own_name, AT_FDCWD, (long)path, 0, 0) < 0)
        why = "cannot be given its name";
    RT_CALL3(SYS_unlinkat, AT_FDCWD, own_name, 0);
    if (why)
        unmap();
    return why;
}

/* True for a device, a folder or a link, which cannot be from an earlier recording. */
RT_PLAIN static bool is_special(const char *path) {
    struct stat facts;
    rt_zero(&facts, sizeof facts);
    return rt_syscall(SYS_newfstatat, AT_FDCWD, (long)path, (long)&facts, AT_SYMLINK_NOFOLLOW, 0, 0) >= 0 &&
           !S_ISREG(facts.st_mode);
}

RT_RARE bool rt_pool_is_ours(void) {
    const struct rtf_control *c = rt.control;
    if (rt_same(c->note.magic, RTF_MAGIC, RTF_MAGIC_SIZE) && c->slot_size == rt.slot_size &&
        c->nr_slots == rt.nr_slots && c->slots_at == rt.slots_at)
        return true;
    rt_guard_end("its file was overwritten: the recording ends here");
    return false;
}

RT_PLAIN static const char *open_as(const char *path) {
    const char *why;
    rt.is_tsc = ticks_are_steady() && !rt.options.clock;
    rt.version = rt.options.version ? rt.options.version : VERSION_USUAL;
    if (join(path))
        return NULL;
    if (is_special(path))
        return "is not a regular file and is not replaced";
    RT_CALL3(SYS_unlinkat, AT_FDCWD, path, 0);
    why = make(path);
    return why && join(path) ? NULL : why; /* another process was first */
}

RT_PLAIN const char *rt_pool_open(void) {
    const char *path = rt.options.file, *why = open_as(path);
    if (!why && rt.is_broken)
        why = "was truncated while it was made";
    return why;
}
