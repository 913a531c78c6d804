/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder on a scripted kernel: one cpu, rings in our own memory, answers as the test wants them. What it writes
 * is read back with the library.
 */
#include "test.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <perfray/reader.h>
#include "record/recorder_parts.h"
#include "../base/failing_alloc.h"

#define PAGE 4096u
#define RING ((size_t)64 << 10)
#define FIRST_FD 1000

static struct script {
    int opened, closed, maps, turns;
    int refuse_type; /* open of this attr.type fails with refuse_why; -1: none */
    int refuse_why;
    bool refuses_kernel; /* EACCES unless exclude_kernel */
    bool refuses_lost;   /* EINVAL while read_format has LOST */
    size_t map_limit;    /* larger rings fail with EPERM */
    size_t mapped;       /* bytes of the last ring */
    struct perf_event_attr last;
    uint8_t *ring; /* page and data */
    void (*turn)(int number);
    uint64_t lost;
    bool hangs_up;
} script;

static pfr_recorder *recorder;
static char path[64], said[1024];

static int script_open(void *context, struct perf_event_attr *attr, pid_t pid, int cpu, int group,
                       unsigned long flags) {
    (void)context, (void)pid, (void)cpu, (void)group, (void)flags;
    errno = script.refuse_why;
    if ((int)attr->type == script.refuse_type)
        return -1;
    errno = EACCES;
    if (script.refuses_kernel && !attr->exclude_kernel)
        return -1;
    errno = EINVAL;
    if (script.refuses_lost && attr->read_format & PERF_FORMAT_LOST)
        return -1;
    script.last = *attr;
    return FIRST_FD + script.opened++;
}

static void *script_map(void *context, int fd, size_t length, uint64_t offset) {
    (void)context, (void)fd, (void)offset;
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

static void script_unmap(void *context, void *at, size_t length) {
    (void)context, (void)length;
    script.maps--;
    free(at);
}

static int script_control(void *context, int fd, unsigned long request, uintptr_t argument) {
    (void)context;
    if (request == PERF_EVENT_IOC_ID) {
        const uint64_t id = (uint64_t)fd * 10;
        memcpy((void *)argument, &id, sizeof id);
    }
    return 0;
}

static ssize_t script_read(void *context, int fd, void *to, size_t length) {
    const uint64_t words[] = {1, (uint64_t)fd * 10, script.lost}; /* value, id, lost */
    (void)context;
    assert_true(length >= sizeof words);
    memcpy(to, words, sizeof words);
    return sizeof words;
}

static void script_close(void *context, int fd) {
    (void)context;
    script.closed += fd >= FIRST_FD;
}

static int script_watch(void *context, int watch, int fd) {
    (void)context, (void)fd;
    return watch < 0 ? FIRST_FD - 1 : 0;
}

static int script_wait(void *context, int watch, int milliseconds) {
    (void)context, (void)watch, (void)milliseconds;
    if (script.turn)
        script.turn(script.turns);
    if (++script.turns >= 4)
        pfr_recorder_stop(recorder);
    return 1;
}

static const struct kernel scripted = {script_open, script_map,   script_unmap,   script_control,
                                       script_read, script_close, script_watch,   script_wait,
                                       NULL,        "/proc",      "/nonexistent", "/nonexistent"};

static void begin_script(void) {
    script = (struct script){.refuse_type = -1};
    said[0] = '\0';
    snprintf(path, sizeof path, "/tmp/perfray-recorder-%d.data", (int)getpid());
    unlink(path);
}

static void note(void *context, const char *sentence) {
    (void)context;
    strncat(said, sentence, sizeof said - strlen(said) - 2);
    strcat(said, "\n");
}

static pfr_recorder_options options_for(const char *const *events) {
    return (pfr_recorder_options){.size = sizeof(pfr_recorder_options),
                                  .events = events,
                                  .self = true,
                                  .cpus = "0",
                                  .output = path,
                                  .ring_bytes = RING,
                                  .note = note,
                                  .build_ids = PFR_BUILD_IDS_NONE};
}

/* --- what the kernel writes --- */

static struct perf_event_mmap_page *page(void) {
    return (struct perf_event_mmap_page *)script.ring;
}

static void into_ring(uint64_t at, const void *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        script.ring[PAGE + ((at + i) & (script.mapped - 1))] = ((const uint8_t *)bytes)[i];
}

/* A LOST record of 24 bytes and its sample_id: as many bytes as words says. */
static void add_record(uint32_t type, const uint64_t *words, size_t count) {
    const struct perf_event_header header = {.type = type, .size = (uint16_t)(sizeof header + 8 * count)};
    const uint64_t head = page()->data_head;
    assert_true(head + header.size - page()->data_tail <= script.mapped);
    into_ring(head, &header, sizeof header);
    into_ring(head + sizeof header, words, 8 * count);
    __atomic_store_n(&page()->data_head, head + header.size, __ATOMIC_RELEASE);
}

/* IP, TID, TIME, PERIOD, with IDENTIFIER in front where there are two events: the recorder's own attr tells. */
static void add_sample(uint64_t time) {
    const uint64_t id = (uint64_t)FIRST_FD * 10, task = (uint64_t)77 << 32 | 77;
    const uint64_t whole[] = {id, 0x1000 + time, task, time, 0, 1};
    add_record(9, whole, 6);
}

/* --- what is in the file --- */

struct counted {
    uint64_t samples, lost, lost_samples, rounds, holes, last_time;
    bool in_order;
};

static struct counted count_file(void) {
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
        c.lost += status == PFR_OK && rec.type == 2;
        c.lost_samples += status == PFR_OK && rec.type == 13;
        c.rounds += status == PFR_OK && rec.type == 68;
        if (status != PFR_OK || rec.type != 9)
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

static void record(const char *const *events) {
    pfr_error err = {0};
    const pfr_recorder_options options = options_for(events);
    recorder = recorder_open_on(&scripted, &options, &err);
    if (!recorder)
        fail_msg("%s", err.text);
    ASSERT_OK(pfr_recorder_run(recorder, &err), err);
}

static void end_script(void) {
    pfr_recorder_close(recorder);
    recorder = NULL;
    assert_int_equal(script.closed, script.opened);
    assert_int_equal(script.maps, 0);
    unlink(path);
}

static void forty_kilobytes(int number) {
    for (uint64_t i = 0; i < 700; i++)
        add_sample((uint64_t)number * 1000 + i + 1);
}

TEST(records_that_wrap_are_whole_and_in_order) {
    begin_script();
    script.turn = forty_kilobytes;
    record(clock_alone);
    const struct counted c = count_file();
    assert_int_equal(c.samples, 4 * 700);
    assert_int_equal(c.holes, 0);
    assert_true(c.in_order);
    assert_true(c.rounds >= 4);
    assert_true(page()->data_tail == page()->data_head);
    end_script();
}

static void one_lost(int number) {
    const uint64_t id = (uint64_t)FIRST_FD * 10, task = (uint64_t)77 << 32 | 77;
    const uint64_t words[] = {id, 5, task, (uint64_t)number + 1, 0, id};
    if (number == 0)
        add_record(2, words, 6);
    add_sample((uint64_t)number + 10);
}

TEST(losses_are_kept_and_told) {
    pfr_recorder_result result;
    begin_script();
    script.turn = one_lost;
    script.lost = 7;
    record(clock_alone);
    pfr_recorder_told(recorder, &result);
    const struct counted c = count_file();
    assert_int_equal(c.lost, 1);
    assert_int_equal(c.samples, 4);
    assert_int_equal(c.lost_samples, (uint64_t)script.opened);
    assert_int_equal(result.lost, 7 * (uint64_t)script.opened);
    end_script();
}

TEST(cycles_fall_back_to_the_clock) {
    static const char *const cycles[] = {"cycles", NULL};
    begin_script();
    script.refuse_type = PERF_TYPE_HARDWARE;
    script.refuse_why = ENODEV;
    record(cycles);
    assert_non_null(strstr(said, "cpu-clock instead"));
    assert_string_equal(recorder->events.at[0].name, "cpu-clock");
    end_script();
}

TEST(a_user_who_may_not_sample_the_kernel_samples_himself) {
    begin_script();
    script.refuses_kernel = true;
    record(clock_alone);
    assert_non_null(strstr(said, "perf_event_paranoid"));
    assert_true(script.last.exclude_kernel);
    end_script();
}

TEST(an_older_kernel_counts_no_losses) {
    begin_script();
    script.refuses_lost = true;
    record(clock_alone);
    assert_non_null(strstr(said, "loses"));
    assert_false(script.last.read_format & PERF_FORMAT_LOST);
    end_script();
}

TEST(rings_are_halved_until_they_fit) {
    begin_script();
    script.map_limit = RING / 4;
    record(clock_alone);
    assert_int_equal(script.mapped, RING / 4);
    assert_non_null(strstr(said, "16 KB, not 64"));
    end_script();
}

static void assert_refused(int type, int why, pfr_status status, const char *word) {
    pfr_error err = {0};
    begin_script();
    script.refuse_type = type;
    script.refuse_why = why;
    const pfr_recorder_options options = options_for(clock_alone);
    assert_null(recorder_open_on(&scripted, &options, &err));
    if (err.status != status || !strstr(err.text, word))
        fail_msg("%s: %s", pfr_status_name(err.status), err.text);
    assert_int_equal(script.closed, script.opened);
    assert_int_equal(access(path, F_OK), -1);
}

TEST(what_is_refused_is_told_with_its_cause) {
    assert_refused(PERF_TYPE_SOFTWARE, EMFILE, PFR_ERR_IO, "ulimit -n");
    assert_refused(PERF_TYPE_SOFTWARE, ENODEV, PFR_ERR_USAGE, "no such counter");
    assert_refused(PERF_TYPE_SOFTWARE, ENOSYS, PFR_ERR_USAGE, "perf_event_open");
    assert_refused(PERF_TYPE_SOFTWARE, EACCES, PFR_ERR_PERMISSION, "perf_event_paranoid");
    assert_refused(PERF_TYPE_SOFTWARE, EPERM, PFR_ERR_PERMISSION, "not permitted");
}

/* A ring that is written from its end to its start: the newest record is at data_head, the oldest is half gone. */
static void backward(int number) {
    if (number != 0)
        return;
    uint64_t head = 0;
    for (uint64_t time = 1; time <= 2000; time++) {
        const struct perf_event_header header = {.type = 9, .size = 56};
        const uint64_t words[] = {(uint64_t)FIRST_FD * 10, 0x1000, (uint64_t)77 << 32 | 77, time, 0, 1};
        head -= header.size;
        into_ring(head, &header, sizeof header);
        into_ring(head + sizeof header, words, sizeof words);
    }
    __atomic_store_n(&page()->data_head, head, __ATOMIC_RELEASE);
}

TEST(an_overwritten_ring_keeps_the_newest) {
    pfr_error err = {0};
    begin_script();
    script.turn = backward;
    pfr_recorder_options options = options_for(clock_alone);
    options.overwrite = true;
    recorder = recorder_open_on(&scripted, &options, &err);
    assert_non_null(recorder);
    ASSERT_OK(pfr_recorder_run(recorder, &err), err);
    const struct counted c = count_file();
    assert_int_equal(c.samples, RING / 56);
    assert_int_equal(c.last_time, 2000 - RING / 56 + 1);
    assert_int_equal(c.holes, 0);
    end_script();
}
static void three(int number) {
    for (uint64_t i = 0; i < 3; i++)
        add_sample((uint64_t)number * 10 + i + 1);
}

/* What a run leaves when one allocation of it fails: nothing that is open, mapped or held. */
static void record_with(struct failing_alloc *failing) {
    pfr_error err = {0};
    begin_script();
    script.turn = three;
    pfr_recorder_options options = options_for(clock_alone);
    options.alloc = &failing->alloc;
    options.build_ids = PFR_BUILD_IDS_OF_HITS;
    recorder = recorder_open_on(&scripted, &options, &err);
    const pfr_status status = recorder ? pfr_recorder_run(recorder, &err) : err.status;
    if (failing->has_failed && status != PFR_ERR_MEMORY && status != PFR_OK)
        fail_msg("allocation %ld: %s: %s", failing->fail_at, pfr_status_name(status), err.text);
    if (!failing->has_failed)
        ASSERT_OK(status, err);
    end_script();
}

TEST(every_allocation_may_fail) {
    struct failing_alloc failing;
    long n = 1;
    for (; failing_alloc_begin(&failing, n), record_with(&failing), failing.has_failed; n++)
        assert_int_equal(failing.blocks, 0);
    assert_int_equal(failing.blocks, 0);
    assert_true(n > 20);
}
