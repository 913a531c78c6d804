/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact sequences of calls, with times and CPUs chosen by the test, and the records that the library reads from them.
 * There is one recording; each test uses a different function, whose id distinguishes its records.
 */
#include "runtime/rt_buffer.h"
#include "runtime/rt_functions.h"
#include "runtime/rt_record.h"
#include "test.h"

#include <perfray/reader.h>
#include <perfray/runtime.h>
#include <perfray/trace.h>

#include <pthread.h>
#include <stdlib.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define SLOT 4096u
#define CALLS_OF_SLOT ((SLOT - RTF_PREAMBLE) / 8)

static _Thread_local uint32_t cpu_now; /* at the same offset from the thread pointer in all threads */
static char xray_path[64], snapshot_path[80];

struct seen {
    uint64_t tsc;
    uint32_t cpu, action;
};

static void remove_files(void) {
    unlink(xray_path);
    unlink(snapshot_path);
}

/* The CPU number of the thread is a variable of the test. */
static void begin(void) {
    char options[160];
    if (!rt.control) {
        snprintf(xray_path, sizeof xray_path, "/tmp/perfray-rt-unit-%d", (int)getpid());
        snprintf(snapshot_path, sizeof snapshot_path, "%s.snapshot", xray_path);
        snprintf(options, sizeof options, "file=%s size=4M buffer=4k keep=first", xray_path);
        assert_int_equal(pfr_rt_start(options), 0);
        atexit(remove_files);
    }
    rt.cpu_at = (const char *)&cpu_now - (const char *)rt_self();
    rt_leave(&rt_here);
    cpu_now = 3;
}

static uint32_t id_of(const void *place) {
    return rt_find((uint64_t)(uintptr_t)place) & RT_ID;
}

/* Reads the calls of the function in file order; damage fails the test. */
static size_t see(uint32_t id, struct seen *to, size_t room) {
    pfr_error err;
    pfr_record rec;
    pfr_status st;
    size_t count = 0;
    unlink(snapshot_path);
    assert_int_equal(pfr_rt_snapshot(snapshot_path), 0);
    pfr_reader *r = pfr_open(snapshot_path, NULL, &err);
    assert_non_null(r);
    while ((st = pfr_next(r, &rec, &err)) != PFR_END) {
        struct pfr_rec_fdr_function call;
        if (st != PFR_OK)
            fail_msg("byte %ju: %s", (uintmax_t)err.offset, err.text);
        if (rec.type != PFR_TRACE_FUNCTION || pfr_decode(&rec, &call, sizeof call, &err) != PFR_OK ||
            call.function != id)
            continue;
        const pfr_trace_point *at = pfr_get_trace_point(r);
        assert_true(count < room);
        to[count++] = (struct seen){at->tsc, (uint32_t)at->cpu, (uint32_t)call.action};
    }
    pfr_close(r);
    return count;
}

static void expect(uint32_t id, const struct seen *expected, size_t count) {
    static struct seen got[CALLS_OF_SLOT * 4];
    assert_int_equal(see(id, got, sizeof got / sizeof *got), count);
    for (size_t i = 0; i < count; i++)
        if (got[i].tsc != expected[i].tsc || got[i].cpu != expected[i].cpu || got[i].action != expected[i].action)
            fail_msg("call %zu: %u at %ju on %u, not %u at %ju on %u", i, got[i].action, (uintmax_t)got[i].tsc,
                     got[i].cpu, expected[i].action, (uintmax_t)expected[i].tsc, expected[i].cpu);
}

static void put(const struct seen *calls, size_t count, uint32_t id) {
    for (size_t i = 0; i < count; i++) {
        cpu_now = calls[i].cpu;
        rt_put_call(&rt_here, id, calls[i].action, calls[i].tsc);
    }
}

TEST(times_and_cpus_are_kept_exactly) {
    static const char place;
    static const struct seen calls[] = {
        {1000, 3, 0},
        {1000, 3, 1},                           /* same time */
        {1000 + (uint64_t)INT32_MAX, 3, 0},     /* the longest delta */
        {1001 + 2 * (uint64_t)INT32_MAX, 3, 1}, /* one more: needs TSCWrap */
        {1001 + 2 * (uint64_t)INT32_MAX, 4, 0}, /* another CPU at the same time */
        {(uint64_t)1 << 60, 5, 1},              /* another CPU much later */
        {((uint64_t)1 << 60) - 5, 5, 0},        /* time goes back */
        {((uint64_t)1 << 60) - 5, UINT16_MAX, 1},
    };
    begin();
    const uint32_t id = id_of(&place);
    put(calls, sizeof calls / sizeof *calls, id);
    expect(id, calls, sizeof calls / sizeof *calls);
}

struct lines {
    uint64_t first, last;
};

static struct lines lines_of(const void *at, size_t size) {
    const uint64_t begin = (uint64_t)(uintptr_t)at;
    return (struct lines){begin / RT_LINE, (begin + size - 1) / RT_LINE};
}

/* The cache lines of the rt_thread and of the current buffer of a recording thread. */
static void *record_one(void *hot) {
    static const char place;
    struct lines *const to = hot;
    rt_put_call(&rt_here, id_of(&place), 0, 1000);
    to[0] = lines_of(&rt_here, sizeof rt_here);
    to[1] = lines_of(rt_here.buffer, (size_t)(rt_here.limit - rt_here.buffer));
    return NULL;
}

TEST(hot_fields_of_two_threads_share_no_line) {
    struct lines hot[4];
    pthread_t other;
    begin();
    record_one(hot);
    assert_int_equal(pthread_create(&other, NULL, record_one, hot + 2), 0);
    pthread_join(other, NULL);
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < i; k++)
            assert_true(hot[i].first > hot[k].last || hot[i].last < hot[k].first);
    /* and data that all threads read is not in the same lines */
    const struct lines all = lines_of(&rt, RT_PAGES);
    for (size_t i = 0; i < 4; i++)
        assert_true(hot[i].first > all.last || hot[i].last < all.first);
}

/* A new CPU or time before the last call that fits into a slot, at each distance from its end. */
TEST(records_fill_slots_to_the_end) {
    static char places[8];
    static struct seen calls[CALLS_OF_SLOT * 2];
    for (size_t back = 0; back < sizeof places; back++) {
        begin();
        const uint32_t id = id_of(&places[back]);
        for (size_t i = 0; i < CALLS_OF_SLOT * 2; i++)
            calls[i] = (struct seen){5000 + 10 * i, i < CALLS_OF_SLOT - back ? 3 : 7, i % 2};
        put(calls, CALLS_OF_SLOT * 2, id);
        expect(id, calls, CALLS_OF_SLOT * 2);
    }
}

TEST(short_calls_are_taken_back) {
    static const char place;
    static const struct seen left[] = {{100, 3, 0}, {160, 3, 0}, {261, 3, 1}, {400, 3, 1}};
    begin();
    const uint32_t word = id_of(&place);
    rt.threshold = 100;
    static const struct {
        unsigned action;
        uint64_t tsc;
    } calls[] = {{0, 100}, {0, 110}, {1, 120}, {0, 130}, {0, 140}, {1, 150}, {1, 155}, {0, 160}, {1, 261}, {1, 400}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        rt_call_filtered(&rt_here, word, calls[i].action, calls[i].tsc);
    rt.threshold = 0;
    expect(word, left, sizeof left / sizeof *left);
}

TEST(depth_and_patterns_choose) {
    static const char outer, inner;
    static const struct seen one[] = {{10, 3, 0}, {90, 3, 1}}, inside[] = {{30, 3, 0}, {40, 3, 1}};
    begin();
    const uint32_t a = id_of(&outer), b = id_of(&inner);
    rt.depth = 1;
    rt_call_filtered(&rt_here, a, RT_ENTER, 10);
    rt_call_filtered(&rt_here, b, RT_ENTER, 20);
    rt_call_filtered(&rt_here, b, RT_EXIT, 80);
    rt_call_filtered(&rt_here, a, RT_EXIT, 90);
    rt.depth = 0;
    expect(a, one, 2);
    rt.focused = true; /* only the inner function, without the calls to avoid */
    rt_call_filtered(&rt_here, a, RT_ENTER, 110);
    rt_call_filtered(&rt_here, b | RT_FOCUS, RT_ENTER, 30);
    rt_call_filtered(&rt_here, b | RT_FOCUS, RT_EXIT, 40);
    rt_call_filtered(&rt_here, a, RT_EXIT, 190);
    rt.focused = false;
    rt_call_filtered(&rt_here, a | RT_AVOID, RT_ENTER, 200);
    rt_call_filtered(&rt_here, b, RT_ENTER, 210);
    rt_call_filtered(&rt_here, b, RT_EXIT, 220);
    rt_call_filtered(&rt_here, a | RT_AVOID, RT_EXIT, 230);
    assert_int_equal(rt_here.depth + rt_here.inside + rt_here.outside, 0);
    expect(b, inside, 2);
}

TEST(a_hook_inside_a_hook_is_counted) {
    begin();
    const uint64_t before = pfr_rt_lost();
    volatile struct rt_mark mark;
    assert_true(rt_begin(&rt_here, &mark));
    rt_call_rare(&rt_here, (uint64_t)(uintptr_t)&before, RT_ENTER, 5);
    rt_end(&rt_here);
    assert_int_equal(pfr_rt_lost(), before + 1);
}

static bool is_abandoned(volatile struct rt_mark *mark, const volatile struct rt_mark *own) {
    const uint64_t before = pfr_rt_lost();
    const bool result = rt_abandoned(mark, own);
    assert_int_equal(pfr_rt_lost(), before + !result); /* a call that is not recorded is counted */
    return result;
}

TEST(a_hook_whose_frame_is_gone_is_abandoned) {
    begin();
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *const room = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(room != MAP_FAILED);
    volatile struct rt_mark own, *const mark = (struct rt_mark *)(void *)(room + 1024);
    mark->self = mark;
    assert_false(is_abandoned(mark, &own)); /* different stack: its context may continue */
    assert_false(is_abandoned(mark, (struct rt_mark *)(void *)room));
    assert_false(is_abandoned(mark, (struct rt_mark *)(void *)(room + 1024 + 512)));
    assert_true(
        is_abandoned(mark, (struct rt_mark *)(void *)(room + 1024 + 504))); /* the stack directly below is free */
    assert_true(is_abandoned(mark, mark));
    mark->self = NULL; /* overwritten */
    assert_true(is_abandoned(mark, &own));
    munmap(room, page);
    assert_true(is_abandoned(mark, &own));
}

static void *place_of_thread(void *unused) {
    (void)unused;
    return &rt_here;
}

/* Data that a thread writes at every call, and data that all threads read, are in different cache lines. */
TEST(threads_share_no_line) {
    struct rt_thread *threads[3] = {&rt_here};
    for (int i = 1; i < 3; i++) {
        pthread_t thread;
        void *result;
        assert_int_equal(pthread_create(&thread, NULL, place_of_thread, NULL), 0);
        assert_int_equal(pthread_join(thread, &result), 0);
        threads[i] = result;
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal((uintptr_t)threads[i] % RT_LINE, 0);
    assert_int_equal(sizeof(struct rt_thread) % RT_LINE, 0);
    assert_int_equal((uintptr_t)&rt % RT_PAGES, 0);
    assert_true(offsetof(struct rt_state, control) >= RT_PAGES);
    begin();
    assert_int_equal(rt.control->slots_at % RT_LINE + rt.control->slot_size % RT_LINE, 0);
}
