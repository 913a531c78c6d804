/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of a trace in time order: nothing is lost or returned twice, whatever the bytes are; each thread keeps
 * its order over buffers in any slots; memory use does not grow with the number of calls.
 */
#include "model/calls/xray_order.h"

#include "../file/xray_files.h"
#include "file/read/recording.h"
#include "model/calls/xray_pieces.h"

#include <fcntl.h>
#include <unistd.h>

/* --- Whatever the bytes are, the events equal the event records that the reader returns. */

struct sums {
    uint64_t events, arguments, places;
};

static uint64_t mix(uint64_t offset, uint64_t tsc, int32_t pid, int32_t tid, unsigned cpu) {
    uint64_t sum = offset * 0x9e3779b97f4a7c15u ^ tsc;
    sum = sum * 0x9e3779b97f4a7c15u ^ (uint32_t)pid;
    sum = sum * 0x9e3779b97f4a7c15u ^ (uint32_t)tid;
    return sum * 0x9e3779b97f4a7c15u ^ cpu;
}

/* The records one after the other, in file order. */
static struct sums sums_of_records(pfr_reader *r) {
    const pfr_trace_point *at = pfr_get_trace_point(r);
    struct sums sums = {0};
    pfr_record rec;
    pfr_status st;
    while ((st = pfr_next(r, &rec, NULL)) >= 0 && st != PFR_END) {
        const unsigned kind = st == PFR_OK ? xray_kind_of(rec.type) : TRACE_EVENT_KINDS;
        if (kind == TRACE_ARGUMENT)
            sums.arguments++;
        else if (kind < TRACE_EVENT_KINDS)
            sums.events++, sums.places += mix(rec.offset, at->tsc, at->pid, at->tid, at->cpu);
    }
    assert_int_equal(st, PFR_END);
    return sums;
}

static struct sums sums_of_events(pfr_reader *r) {
    struct xray_order *o;
    const struct xray_event *e;
    struct memory memory;
    struct sums sums = {0};
    pfr_error err;
    memory_init(&memory, NULL, UINT64_MAX);
    ASSERT_OK(xray_order_open(&o, r, &memory, NULL, &err), err);
    pfr_status st;
    while ((st = xray_order_next(o, &e, &err)) == PFR_OK) {
        uint64_t value;
        if (e->kind == TRACE_ARGUMENT) {
            sums.arguments++;
            continue;
        }
        sums.events++;
        sums.places += mix(e->offset, e->tsc, e->pid, e->tid, e->cpu);
        for (uint32_t i = 0; e->kind <= TRACE_ENTER_ARGUMENT && i < e->count; i++, sums.arguments++)
            ASSERT_OK(xray_order_argument(o, e, i, &value, &err), err);
    }
    assert_int_equal(st, PFR_END);
    xray_order_close(o);
    assert_int_equal(memory.used, 0);
    return sums;
}

static void compare_on(const uint8_t *bytes, size_t length, const char *path, size_t where) {
    pfr_reader *r = pfr_open_bytes(bytes, length, NULL, NULL);
    if (!r)
        return;
    const bool is_log = pfr_get_header(r)->format == PFR_XRAY_FDR || pfr_get_header(r)->format == PFR_XRAY_BASIC;
    const struct sums records = is_log ? sums_of_records(r) : (struct sums){0};
    assert_int_equal(pfr_rewind(r, NULL), PFR_OK);
    const struct sums events = is_log ? sums_of_events(r) : (struct sums){0};
    if (memcmp(&records, &events, sizeof events) != 0)
        fail_msg("%s at %zu: %ju events with %ju arguments, not %ju with %ju, or at other places", path, where,
                 (uintmax_t)events.events, (uintmax_t)events.arguments, (uintmax_t)records.events,
                 (uintmax_t)records.arguments);
    pfr_close(r);
}

static void compare_damaged(const char *path, void *context) {
    static uint8_t bytes[1 << 16];
    static const uint8_t changes[] = {0x01, 0x0e, 0xff};
    FILE *file = fopen(path, "rb");
    (void)context;
    assert_non_null(file);
    const size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t at = 0; at <= length; at += STEP_OF(1u))
        compare_on(bytes, at, path, at);
    for (size_t at = 0; at < length; at += STEP_OF(1u))
        for (size_t i = 0; i < sizeof changes; i++) {
            bytes[at] ^= changes[i];
            compare_on(bytes, length, path, at);
            bytes[at] ^= changes[i];
        }
}

TEST(events_are_those_of_the_records_in_every_prefix_and_with_every_byte_changed) {
    each_trace(compare_damaged, NULL);
}

/* --- Threads over many buffers. */

enum { THREADS = 7, ARGUMENT_EVERY = 5 };

struct made_buffer {
    uint32_t thread, first, count; /* calls are numbered per thread */
    uint64_t tsc;
};

static uint32_t next_random(uint32_t *state) {
    return *state = *state * 1664525u + 1013904223u, *state >> 8;
}

static uint32_t arguments_of(uint32_t number) {
    return number % ARGUMENT_EVERY == 0 ? 1 + number % 3 : 0;
}

static void put_buffer(struct builder *b, const struct made_buffer *of) {
    uint64_t size = 64;
    for (uint32_t i = 0; i < of->count; i++)
        size += 8 + 16 * arguments_of(of->first + i);
    put_extents(b, size);
    put_preamble(b, 100 + of->thread, of->tsc);
    for (uint32_t i = 0; i < of->count; i++) {
        put_call(b, 0, of->first + i, i ? 10 : 0);
        for (uint32_t a = 0; a < arguments_of(of->first + i); a++)
            put_metadata(b, 6, (uint64_t)(of->first + i) * 10 + a, 8, 0);
    }
}

/* `per_thread` calls of each thread, in buffers of any size and in any order. */
static void make_trace(struct builder *b, uint32_t per_thread, uint32_t seed) {
    static struct made_buffer buffers[4096];
    size_t count = 0;
    for (uint32_t thread = 0; thread < THREADS; thread++) {
        uint64_t tsc = 1000 + thread * 3;
        for (uint32_t number = 1; number <= per_thread;) {
            const uint32_t left = per_thread + 1 - number, wanted = 1 + next_random(&seed) % 3000;
            struct made_buffer of = {thread, number, wanted < left ? wanted : left, tsc};
            assert_true(count < sizeof buffers / sizeof *buffers);
            buffers[count++] = of;
            number += of.count;
            tsc += of.count * 10;
        }
    }
    for (size_t i = count; i > 1; i--) {
        const size_t other = next_random(&seed) % i;
        const struct made_buffer kept = buffers[i - 1];
        buffers[i - 1] = buffers[other];
        buffers[other] = kept;
    }
    put_xray_header(b, 5, 4096);
    for (size_t i = 0; i < count; i++)
        put_buffer(b, &buffers[i]);
}

static void check_arguments(struct xray_order *o, const struct xray_event *e) {
    uint64_t value;
    pfr_error err;
    assert_int_equal(e->count, arguments_of(e->function));
    for (uint32_t i = 0; i < e->count; i++) {
        ASSERT_OK(xray_order_argument(o, e, i, &value, &err), err);
        assert_int_equal(value, (uint64_t)e->function * 10 + i);
    }
}

/* Reads the whole trace; returns the peak memory use. */
static uint64_t check_order(const struct builder *b, uint32_t per_thread) {
    uint32_t seen[THREADS] = {0};
    uint64_t last = 0;
    struct memory memory;
    struct xray_order *o;
    const struct xray_event *e;
    pfr_error err;
    pfr_reader *r = pfr_open_bytes(b->bytes, b->length, NULL, &err);
    assert_non_null(r);
    memory_init(&memory, NULL, UINT64_MAX);
    ASSERT_OK(xray_order_open(&o, r, &memory, NULL, &err), err);
    assert_int_equal(xray_order_facts(o)->threads, THREADS);
    while (xray_order_next(o, &e, &err) == PFR_OK) {
        assert_true(e->tsc >= last && e->timed && e->has_tid && e->pid == 77);
        last = e->tsc;
        assert_int_equal(e->function, ++seen[e->tid - 100]);
        check_arguments(o, e);
    }
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(seen[i], per_thread);
    assert_int_equal(xray_order_facts(o)->last, last);
    xray_order_close(o);
    pfr_close(r);
    assert_int_equal(memory.used, 0);
    return memory.peak;
}

TEST(threads_are_merged_over_buffers_that_lie_in_any_order) {
    for (uint32_t seed = 1; seed <= 5; seed++) {
        struct builder b = {0};
        make_trace(&b, 3000 + seed, seed);
        check_order(&b, 3000 + seed);
        free(b.bytes);
    }
}

TEST(memory_use_depends_on_buffers_not_calls) {
    struct builder small = {0}, large = {0};
    make_trace(&small, 5000, 1);
    make_trace(&large, 80000, 1);
    const uint64_t less = check_order(&small, 5000), more = check_order(&large, 80000);
    assert_true(large.length > 15 * small.length);
    assert_true(more < less + 4096 * sizeof(struct xray_piece));
    free(small.bytes);
    free(large.bytes);
}

TEST(a_profile_has_no_order) {
    char path[RECORDED_PATH];
    struct xray_order *o;
    struct memory memory;
    memory_init(&memory, NULL, UINT64_MAX);
    pfr_reader *r = pfr_open(recorded_path(path, "../xray/profile.xray"), NULL, NULL);
    assert_non_null(r);
    assert_int_equal(xray_order_open(&o, r, &memory, NULL, NULL), PFR_ERR_FORMAT);
    assert_null(o);
    pfr_close(r);
}

TEST(a_stream_has_none_unless_it_is_kept) {
    for (int spool = 0; spool < 2; spool++) {
        const pfr_open_options how = {.size = sizeof how, .spool = spool};
        struct builder b = {0};
        struct xray_order *o;
        struct memory memory;
        char path[32];
        int ends[2];
        make_trace(&b, 100, 1);
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        assert_int_equal(write(ends[1], b.bytes, b.length), (ssize_t)b.length);
        close(ends[1]);
        snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
        memory_init(&memory, NULL, UINT64_MAX);
        pfr_reader *r = pfr_open(path, &how, NULL);
        assert_non_null(r);
        assert_int_equal(xray_order_open(&o, r, &memory, NULL, NULL), spool ? PFR_OK : PFR_ERR_USAGE);
        xray_order_close(o);
        pfr_close(r);
        close(ends[0]);
        free(b.bytes);
    }
}
