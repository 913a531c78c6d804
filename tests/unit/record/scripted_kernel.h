/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_SCRIPTED_KERNEL_H
#define PFR_TESTS_SCRIPTED_KERNEL_H
/*
 * A simulated kernel: ring buffers and an AUX area in the test's memory, scripted answers to perf_event_open, and a
 * function that is called each time the recorder waits.
 *
 *  begin_script();
 *  script.turn = three_samples;
 *  record(clock_alone);
 *  ... check the file: count_file()
 *  end_script();
 */
#include "record/recorder.h"
#include "test.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <perfray/reader.h>
#include "record/rings/recorder_parts.h"
#include "../base/failing_alloc.h"

#define PAGE 4096u
#define RING ((size_t)64 << 10)
#define FIRST_FD 1000

static struct script {
    int opened, closed, maps, turns;
    int refuse_type; /* opening an event with this attr.type fails with refuse_why; -1: always succeeds */
    int refuse_why;
    bool refuses_kernel; /* EACCES unless exclude_kernel */
    int paranoid;        /* kernel.perf_event_paranoid, for a user without capabilities; -1: everything is allowed */
    bool refuses_lost;   /* EINVAL if read_format has LOST */
    size_t map_limit;    /* larger rings fail with EPERM */
    size_t mapped;       /* size of the last ring buffer */
    struct perf_event_attr last;
    uint8_t *ring;         /* page and data of the last mapping, or a ring that a test has chosen */
    int opens_at_most;     /* EMFILE for more; 0: 64 */
    int cpus[64];          /* CPU of each counter, by descriptor */
    int cpu_off;           /* opening on this CPU gives ENODEV; -1: all are online */
    int waits_for_nothing; /* wait returns 0: timeout */
    void (*turn)(int number);
    uint64_t lost;
    bool overwrites;  /* the last ring is in overwrite mode */
    int maps_refused; /* errno of every mapping; 0: mapping succeeds */
    uint8_t *area;    /* the AUX area */
    size_t area_bytes, area_limit;
    bool area_overwrites;
    int enabled; /* how often a counter was enabled */
} script;

static pfr_recorder *recorder;
static char path[64], said[1024];

static inline bool is_forbidden(const struct perf_event_attr *attr, pid_t pid) {
    const bool of_kernel = !attr->exclude_kernel || attr->sample_type & PERF_SAMPLE_PHYS_ADDR;
    return script.paranoid > 2 || (script.paranoid > 1 && of_kernel) || (script.paranoid > 0 && pid == -1);
}

static inline int script_open(void *context, struct perf_event_attr *attr, pid_t pid, int cpu, int group,
                              unsigned long flags) {
    (void)context, (void)group, (void)flags;
    errno = script.refuse_why;
    if ((int)attr->type == script.refuse_type)
        return -1;
    errno = EACCES;
    if (script.refuses_kernel && !attr->exclude_kernel)
        return -1;
    errno = EACCES;
    if (is_forbidden(attr, pid))
        return -1;
    errno = EINVAL;
    if (script.refuses_lost && attr->read_format & PERF_FORMAT_LOST)
        return -1;
    errno = ENODEV;
    if (cpu >= 0 && cpu == script.cpu_off)
        return -1;
    errno = EMFILE;
    if (script.opened >= (script.opens_at_most ? script.opens_at_most : 64))
        return -1;
    script.cpus[script.opened] = cpu;
    script.last = *attr;
    return FIRST_FD + script.opened++;
}

static inline struct perf_event_mmap_page *page(void) {
    return (struct perf_event_mmap_page *)script.ring;
}

static inline void *script_map_area(size_t length, uint64_t offset, bool overwrites) {
    assert_int_equal(page()->aux_offset, offset);
    assert_int_equal(page()->aux_size, length);
    errno = EPERM;
    if (script.area_limit && length > script.area_limit)
        return MAP_FAILED;
    script.area_bytes = length;
    script.area_overwrites = overwrites;
    script.maps++;
    script.area = aligned_alloc(PAGE, length);
    assert_non_null(script.area);
    memset(script.area, 0xee, length);
    return script.area;
}

static inline void *script_map(void *context, int fd, size_t length, uint64_t offset, bool overwrites) {
    (void)context, (void)fd;
    script.overwrites = overwrites;
    errno = script.maps_refused;
    if (errno)
        return MAP_FAILED;
    if (offset)
        return script_map_area(length, offset, overwrites);
    errno = EPERM;
    if (script.map_limit && length - PAGE > script.map_limit)
        return MAP_FAILED;
    script.mapped = length - PAGE;
    script.maps++;
    script.ring = aligned_alloc(PAGE, length);
    assert_non_null(script.ring);
    memset(script.ring, 0, length);
    return script.ring;
}

static inline void script_unmap(void *context, void *at, size_t length) {
    (void)context, (void)length;
    script.maps--;
    free(at);
}

static inline int script_control(void *context, int fd, unsigned long request, uintptr_t argument) {
    (void)context;
    if (request == PERF_EVENT_IOC_ID) {
        const uint64_t id = (uint64_t)fd * 10;
        memcpy((void *)argument, &id, sizeof id);
    }
    script.enabled += request == PERF_EVENT_IOC_ENABLE;
    return 0;
}

static inline ssize_t script_read(void *context, int fd, void *to, size_t length) {
    const uint64_t words[] = {1, (uint64_t)fd * 10, script.lost}; /* value, id, lost */
    (void)context;
    assert_true(length >= sizeof words);
    memcpy(to, words, sizeof words);
    return sizeof words;
}

static inline void script_close(void *context, int fd) {
    (void)context;
    script.closed += fd >= FIRST_FD;
}

static inline int script_watch(void *context, int watch, int fd) {
    (void)context, (void)fd;
    return watch < 0 ? FIRST_FD - 1 : 0;
}

static inline int script_wait(void *context, int watch, int milliseconds) {
    (void)context, (void)watch, (void)milliseconds;
    if (script.turn)
        script.turn(script.turns);
    if (++script.turns >= 4)
        pfr_recorder_stop(recorder);
    return !script.waits_for_nothing;
}

static struct kernel scripted = {script_open, script_map,   script_unmap,   script_control,
                                 script_read, script_close, script_watch,   script_wait,
                                 NULL,        "/proc",      "/nonexistent", "/nonexistent"};

static inline void begin_script(void) {
    scripted.sys = "/nonexistent";
    script = (struct script){.refuse_type = -1, .cpu_off = -1, .paranoid = -1};
    said[0] = '\0';
    snprintf(path, sizeof path, "/tmp/perfray-recorder-%d.data", (int)getpid());
    unlink(path);
}

static inline void note(void *context, const char *sentence) {
    (void)context;
    strncat(said, sentence, sizeof said - strlen(said) - 2);
    strcat(said, "\n");
}

static inline pfr_recorder_options options_for(const char *const *events) {
    return (pfr_recorder_options){.size = sizeof(pfr_recorder_options),
                                  .events = events,
                                  .self = true,
                                  .cpus = "0",
                                  .output = path,
                                  .ring_bytes = RING,
                                  .note = note,
                                  .build_ids = PFR_BUILD_IDS_NONE};
}

/* --- Records of the kernel. --- */

static inline void into_ring(uint64_t at, const void *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        script.ring[PAGE + ((at + i) & (script.mapped - 1))] = ((const uint8_t *)bytes)[i];
}

/* Adds a record of the given words, which include its sample_id. */
static inline void add_record(uint32_t type, const uint64_t *words, size_t count) {
    const struct perf_event_header header = {.type = type, .size = (uint16_t)(sizeof header + 8 * count)};
    const uint64_t head = page()->data_head;
    assert_true(head + header.size - page()->data_tail <= script.mapped);
    into_ring(head, &header, sizeof header);
    into_ring(head + sizeof header, words, 8 * count);
    __atomic_store_n(&page()->data_head, head + header.size, __ATOMIC_RELEASE);
}

/* IP, TID, TIME, PERIOD, with IDENTIFIER first if there are two events, as in the recorder's own attr. */
static inline void add_sample(uint64_t time) {
    const uint64_t id = (uint64_t)FIRST_FD * 10, task = (uint64_t)77 << 32 | 77;
    const uint64_t whole[] = {id, 0x1000 + time, task, time, 0, 1};
    add_record(9, whole, 6);
}

/* --- Contents of the file. --- */

struct counted {
    uint64_t samples, lost, lost_samples, rounds, holes, last_time;
    bool in_order;
};

static inline struct counted count_file(void) {
    struct counted c = {.in_order = true};
    pfr_error err = {0};
    pfr_record rec;
    pfr_status status;
    pfr_reader *const reader = pfr_open(path, NULL, &err);
    if (!reader)
        fail_msg("%s", err.text);
    while ((status = pfr_next(reader, &rec, &err)) >= 0 && status != PFR_END) {
        struct pfr_rec_sample sample;
        c.holes += status == PFR_HOLE;
        c.lost += status == PFR_OK && rec.type == PFR_RECORD_LOST;
        c.lost_samples += status == PFR_OK && rec.type == PFR_RECORD_LOST_SAMPLES;
        c.rounds += status == PFR_OK && rec.type == PFR_RECORD_FINISHED_ROUND;
        if (status != PFR_OK || rec.type != PFR_RECORD_SAMPLE)
            continue;
        ASSERT_OK(pfr_decode(&rec, &sample, sizeof sample, &err), err);
        c.samples++;
        c.in_order &= sample.time > c.last_time;
        c.last_time = sample.time;
    }
    assert_true(status == PFR_END);
    pfr_close(reader);
    return c;
}

static const char *const clock_alone[] = {"cpu-clock", NULL};

static inline void record(const char *const *events) {
    pfr_error err = {0};
    const pfr_recorder_options options = options_for(events);
    recorder = recorder_open_on(&scripted, &options, &err);
    if (!recorder)
        fail_msg("%s", err.text);
    ASSERT_OK(pfr_recorder_run(recorder, &err), err);
}

static inline void end_script_but_file(void) {
    pfr_recorder_close(recorder);
    recorder = NULL;
    assert_int_equal(script.closed, script.opened);
    assert_int_equal(script.maps, 0);
}

static inline void end_script(void) {
    end_script_but_file();
    unlink(path);
}

#endif
