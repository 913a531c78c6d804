/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_trace OUT MEGABYTES [THREADS [irregular]]: makes a flight-recorder trace, version 5, little-endian, of nested
 * calls in several threads, for bench/run_traces.sh.
 *
 * Each thread runs a program of 400 functions: a function calls up to three others in a fixed order, and each of these
 * calls is left out one time in eight, like a branch. So there are some thousands of different paths, as in real
 * programs. With `irregular`, the next record is chosen at random instead. No real program does that; it makes branch
 * prediction in readers fail. Times between records are mostly short and sometimes long. The random numbers come from a
 * generator in this file, so equal arguments make equal bytes.
 *
 * llvm-xray reads all of the trace, which is not certain for other traces, because the seconds and the microseconds of
 * wall clocks both increase, and every thread begins at the same tick (errata E5 and E6 of its readers).
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_SIZE 16384u
#define FUNCTIONS 400u
#define DEEPEST 12u
#define CALLEES 3u
#define ROOTS 16u
#define THREADS_MOST 64u
#define FREQUENCY 2600000000u
#define FIRST_TICK 1000000000u

enum { ENTER, EXIT };
enum { NEW_BUFFER, CPU_ID = 2, WALL_CLOCK = 4, EXTENTS = 7, PID = 9 };

struct frame {
    uint32_t function, next; /* the next of its callees */
};

struct thread {
    uint64_t tsc;
    struct frame stack[DEEPEST];
    unsigned depth;
    uint64_t records;
};

struct buffer {
    uint8_t bytes[BUFFER_SIZE];
    size_t used;
};

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void put(struct buffer *b, uint64_t value, size_t size) {
    for (size_t i = 0; i < size; i++)
        b->bytes[b->used++] = (uint8_t)(value >> 8 * i);
}

/* Writes a metadata record: a first member of `size` bytes, then a member of the remaining bytes. */
static void put_metadata(struct buffer *b, unsigned kind, uint64_t first, size_t size, uint64_t rest) {
    const size_t end = b->used + 16;
    put(b, kind << 1 | 1, 1);
    put(b, first, size);
    put(b, rest, size < 8 ? 8 : 15 - size);
    while (b->used < end)
        b->bytes[b->used++] = 0;
}

static void put_function(struct buffer *b, struct thread *t, unsigned action, uint32_t function, uint32_t delta) {
    t->tsc += delta;
    put(b, (uint64_t)function << 4 | action << 1, 4);
    put(b, delta, 4);
}

/* Ticks until the next record: usually some tens, sometimes many more. */
static uint32_t next_delta(uint64_t r) {
    const uint32_t base = 30 + (uint32_t)(r & 63);
    const unsigned tail = (unsigned)(r >> 6 & 0xff);
    if (tail == 0)
        return base + (uint32_t)(r >> 16 & 0xfffff);
    return tail < 16 ? base + (uint32_t)(r >> 16 & 0xfff) : base;
}

static uint32_t callee_of(uint32_t function, uint32_t which) {
    return (function * 31 + which % CALLEES * 97) % FUNCTIONS + 1;
}

/* Whether the function (which has 0 to 3 callees) makes another call now: skips callees from `next` on that are left
   out this time. */
static int calls_on(struct frame *f, uint64_t r) {
    const uint32_t callees = (f->function * 2654435761u >> 20) % (CALLEES + 1);
    while (f->next < callees && (r & 7) == 0) {
        f->next++;
        r >>= 3;
    }
    return f->next < callees;
}

static int is_irregular;

static int enters(struct thread *t, uint64_t r) {
    if (t->depth == 0 || t->depth == DEEPEST)
        return t->depth == 0;
    return is_irregular ? (r & 0xff) < 126 : calls_on(&t->stack[t->depth - 1], r);
}

static void step(struct buffer *b, struct thread *t) {
    const uint64_t r = next_random();
    const uint32_t delta = t->records++ ? next_delta(r >> 24) : 0;
    struct frame *caller = t->depth ? &t->stack[t->depth - 1] : NULL;
    if (!enters(t, r)) {
        put_function(b, t, EXIT, t->stack[--t->depth].function, delta);
        return;
    }
    const uint32_t which = !caller || is_irregular ? (uint32_t)(r >> 8) & 0xffff : caller->next++;
    const uint32_t function = caller ? callee_of(caller->function, which) : which % ROOTS + 1;
    t->stack[t->depth++] = (struct frame){function, 0};
    put_function(b, t, ENTER, function, delta);
}

static void fill(struct buffer *b, struct thread *t, unsigned number, uint32_t clock) {
    b->used = 0;
    put_metadata(b, EXTENTS, BUFFER_SIZE - 16, 8, 0);
    put_metadata(b, NEW_BUFFER, 1000 + number, 4, 0);
    put_metadata(b, WALL_CLOCK, clock, 8, clock);
    put_metadata(b, PID, 1000, 4, 0);
    put_metadata(b, CPU_ID, number & 0xff, 2, t->tsc);
    while (b->used + 8 <= BUFFER_SIZE)
        step(b, t);
}

static void put_header(FILE *out) {
    struct buffer b = {.used = 0};
    put(&b, 5, 2);
    put(&b, 1, 2);
    put(&b, 3, 4);
    put(&b, FREQUENCY, 8);
    put(&b, BUFFER_SIZE, 8);
    put(&b, 0, 8);
    fwrite(b.bytes, 1, b.used, out);
}

int main(int argc, char **argv) {
    static struct thread threads[THREADS_MOST];
    static struct buffer b;
    const uint64_t megabytes = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    const unsigned count = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 4;
    is_irregular = argc > 4 && strcmp(argv[4], "irregular") == 0;
    FILE *out = argc > 2 ? fopen(argv[1], "wb") : NULL;
    if (!out || megabytes == 0 || count == 0 || count > THREADS_MOST) {
        fprintf(stderr, "usage: make_trace OUT MEGABYTES [THREADS, at most %u [irregular]]\n", THREADS_MOST);
        return 2;
    }
    for (unsigned i = 0; i < count; i++)
        threads[i].tsc = FIRST_TICK;
    put_header(out);
    for (uint32_t i = 0; i < (megabytes << 20) / BUFFER_SIZE; i++) {
        fill(&b, &threads[i % count], i % count, 1 + i);
        fwrite(b.bytes, 1, b.used, out);
    }
    return fclose(out) == 0 ? 0 : 5;
}
