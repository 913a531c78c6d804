/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting records are returned unchanged and in time order, however they were added and wherever they came from. */
#include "test.h"

#include "model/timeline/reorder_buffer.h"

#include <stdlib.h>
#include <string.h>

enum { RECORDS = 4000, SIZE_MOST = 96, TIME_AT = 8 };

/* Records of two parts and from a COMPRESSED record, consecutive except for gaps. */
struct drawn {
    pfr_record rec;
    uint64_t time;
    uint8_t bytes[SIZE_MOST];
};

static const struct pfr_context *context_number(unsigned number) {
    static uint8_t places[3]; /* their contents are not used */
    return (const struct pfr_context *)(const void *)&places[number];
}

static uint32_t draw(uint32_t *seed) {
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

static void draw_record(struct drawn *d, uint32_t *seed, uint64_t ends[3]) {
    const unsigned from = draw(seed) % 16 ? 0 : draw(seed) % 3;
    const uint16_t size = (uint16_t)(24 + 8 * (draw(seed) % 4) + (draw(seed) % 32 ? 0 : draw(seed) % 8));
    ends[from] += draw(seed) % 20 ? 0 : 40;
    d->rec = (pfr_record){.offset = from == 2 ? 64 : ends[from],
                          .inner = from == 2 ? ends[from] : 0,
                          .part = from == 1,
                          .type = 9,
                          .misc = (uint16_t)draw(seed),
                          .size = size,
                          .tail = (uint16_t)(draw(seed) % 64 == 0),
                          .inside = from == 2,
                          .event = (int32_t)from,
                          .context = context_number(from)};
    d->time = 1000 + draw(seed) % 500;
    ends[from] += size;
    memcpy(d->bytes, &d->rec.type, 4);
    memcpy(d->bytes + 4, &d->rec.misc, 2);
    memcpy(d->bytes + 6, &size, 2);
    memcpy(d->bytes + TIME_AT, &d->time, 8);
    for (unsigned i = TIME_AT + 8; i < size; i++)
        d->bytes[i] = (uint8_t)draw(seed);
    d->rec.bytes = d->bytes;
}

/* The number of records that follow the first one in the file and may be in the same run. */
static size_t run_length(const struct drawn *d, size_t count) {
    size_t n = 1;
    while (n < count && !d->rec.inside && d[n].rec.event == d->rec.event && d[n].rec.tail == d->rec.tail &&
           d[n].rec.offset == d[n - 1].rec.offset + d[n - 1].rec.size)
        n++;
    return n;
}

static size_t put_run(struct window *w, const struct drawn *d, size_t count, uint64_t most) {
    uint8_t *bytes = malloc(count * SIZE_MOST);
    uint64_t length = 0, used, taken;
    pfr_error err;
    for (size_t i = 1; i < count; i++) {
        memcpy(bytes + length, d[i].bytes, d[i].rec.size);
        length += d[i].rec.size;
    }
    const struct window_run run = {bytes, length, TIME_AT, false};
    ASSERT_OK(window_put_run(w, &d->rec, &run, most, &used, &taken, &err), err);
    free(bytes);
    assert_true(taken == count - 1 || w->bytes > most);
    for (size_t i = 1; i <= taken; i++)
        used -= d[i].rec.size;
    assert_int_equal(used, 0);
    return 1 + taken;
}

static void put_all(struct window *w, const struct drawn *d, size_t count, bool in_runs) {
    pfr_error err;
    for (size_t i = 0; i < count;) {
        ASSERT_OK(window_put(w, &d[i].rec, d[i].time, &err), err);
        const size_t length = in_runs ? run_length(&d[i], count - i) : 1;
        i += length > 1 ? put_run(w, &d[i], length, w->bytes + 300) : 1;
    }
}

static void expect(const struct drawn *d, const pfr_record *rec, uint64_t time) {
    assert_int_equal(time, d->time);
    assert_int_equal(rec->offset, d->rec.offset);
    assert_int_equal(rec->inner, d->rec.inner);
    assert_int_equal(rec->part, d->rec.part);
    assert_int_equal(rec->inside, d->rec.inside);
    assert_int_equal(rec->event, d->rec.event);
    assert_int_equal(rec->tail, d->rec.tail);
    assert_int_equal(rec->misc, d->rec.misc);
    assert_int_equal(rec->size, d->rec.size);
    assert_ptr_equal(rec->context, d->rec.context);
    assert_memory_equal(rec->bytes, d->bytes, d->rec.size);
}

static int by_time(const void *a, const void *b) {
    const struct drawn *x = *(const struct drawn *const *)a, *y = *(const struct drawn *const *)b;
    return x->time != y->time ? (x->time < y->time ? -1 : 1) : x < y ? -1 : x > y;
}

static void try_window(uint32_t seed, bool in_runs) {
    static struct drawn drawn[RECORDS];
    static const struct drawn *order[RECORDS];
    struct memory memory;
    struct window w;
    pfr_record rec;
    pfr_error err;
    uint64_t time, ends[3] = {4096, 512, 0};
    size_t taken = 0;
    memory_init(&memory, NULL, 0);
    window_init(&w, &memory);
    for (size_t i = 0; i < RECORDS; i++) {
        draw_record(&drawn[i], &seed, ends);
        order[i] = &drawn[i];
    }
    qsort(order, RECORDS, sizeof *order, by_time);
    for (size_t i = 0; i < RECORDS; i += RECORDS / 4)
        put_all(&w, drawn + i, RECORDS / 4, in_runs);
    static const uint64_t limits[] = {1100, 1100, 1350, UINT64_MAX};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        ASSERT_OK(window_release(&w, limits[i], &err), err);
        for (; window_take(&w, false, &rec, &time); taken++)
            expect(order[taken], &rec, time);
        assert_true(taken == RECORDS || order[taken]->time > limits[i]);
        assert_int_equal(window_next_type(&w, false), UINT32_MAX);
    }
    assert_int_equal(taken, RECORDS);
    assert_int_equal(w.bytes, 0);
    window_free(&w);
    assert_int_equal(memory.used, 0);
}

TEST(waiting_records_are_returned_unchanged) {
    for (uint32_t seed = 1; seed < 9; seed++)
        for (unsigned in_runs = 0; in_runs < 2; in_runs++)
            try_window(seed, in_runs);
}

/* Many blocks, each taken when it is empty and reused. */
TEST(blocks_are_used_again) {
    static struct drawn d;
    struct memory memory;
    struct window w;
    pfr_record rec;
    pfr_error err;
    uint32_t seed = 5;
    uint64_t time, ends[3] = {0};
    memory_init(&memory, NULL, 0);
    window_init(&w, &memory);
    for (unsigned i = 0; i < 200000; i++) {
        draw_record(&d, &seed, ends);
        d.time = 1 + i;
        memcpy(d.bytes + TIME_AT, &d.time, 8);
        ASSERT_OK(window_put(&w, &d.rec, d.time, &err), err);
        if (i % 1000)
            continue;
        ASSERT_OK(window_release(&w, UINT64_MAX, &err), err);
        unsigned count = 0;
        while (window_take(&w, false, &rec, &time))
            count++;
        assert_int_equal(count, i ? 1000 : 1);
        expect(&d, &rec, time);
    }
    assert_true(w.nr_blocks <= 2);
    window_free(&w);
}
