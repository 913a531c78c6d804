/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Round-robin reading: see parallel_reader.h. Chunks are numbered. A thread takes the next number, and has its turn
 * when the shared turn counter reaches this number. If a record lies across two chunks, its first bytes are copied in
 * front of the second chunk; each buffer has room for them.
 */
#include "file/read/parallel_reader.h"

#include "base/threads/spin_wait.h"
#include "base/memory/sizes.h"
#include "base/threads/thread_start.h"

#define HEAD ((size_t)65536) /* room before a chunk for the first bytes of a record, which are always fewer */
#define PAGE ((uint64_t)4096)
#define CHUNKS_LEAST 4u

struct read_turns {
    pfr_reader *reader;
    const struct parallel_reader *parallel_reader;
    uint64_t begin, end; /* range of the file that is read */
    size_t chunk;
    uint64_t next; /* next chunk to take; atomic */
    uint64_t turn; /* chunk being walked; atomic, changed under the lock */
    bool over;     /* there are no more turns; atomic, changed under the lock */
    uint32_t asleep;
    pthread_mutex_t lock;
    pthread_cond_t moved;
    uint8_t carried[HEAD];
    size_t nr_carried;
    pfr_status status;
    pfr_error err;
};

struct runner {
    struct read_turns *all;
    uint8_t *buffer; /* HEAD and a chunk, with room to align them */
    pthread_t thread;
    bool runs;
};

/* --- Waiting for a turn. */

static bool is_settled(const struct read_turns *t, uint64_t number) {
    return __atomic_load_n(&t->over, __ATOMIC_ACQUIRE) || __atomic_load_n(&t->turn, __ATOMIC_ACQUIRE) == number;
}

/* Returns false if there are no more turns. */
static bool wait_for_turn(struct read_turns *t, uint64_t number) {
    for (unsigned i = 0; i < REST_GLANCES && !is_settled(t, number); i++)
        rest();
    if (!is_settled(t, number)) {
        pthread_mutex_lock(&t->lock);
        t->asleep++;
        while (!is_settled(t, number))
            pthread_cond_wait(&t->moved, &t->lock);
        t->asleep--;
        pthread_mutex_unlock(&t->lock);
    }
    return !__atomic_load_n(&t->over, __ATOMIC_ACQUIRE);
}

static void end_turn(struct read_turns *t, uint64_t number, bool over) {
    pthread_mutex_lock(&t->lock);
    __atomic_store_n(&t->over, over, __ATOMIC_RELEASE);
    __atomic_store_n(&t->turn, number + 1, __ATOMIC_RELEASE);
    if (t->asleep)
        pthread_cond_broadcast(&t->moved);
    pthread_mutex_unlock(&t->lock);
}

/* --- One turn. */

/* Whether reading stopped only because the buffer ends here. *bytes are then the first *left bytes of the next record;
 *left may be 0. */
static bool misses_bytes_alone(const pfr_reader *r, const uint8_t **bytes, size_t *left) {
    const struct input *in = &r->parts[r->cursor.part].in;
    const uint64_t skip = r->cursor.at - in->start;
    if (skip > in->length || reader_has_pending(r))
        return false;
    *bytes = in->bytes + skip;
    *left = in->length - (size_t)skip;
    if (*left < RECORD_HEADER)
        return true;
    return load_u16(*bytes + 6, r->context.swap) > *left;
}

/* Walks over the complete records of the chunk and keeps the bytes after them for the next chunk. Returns false if this
   was the last turn. */
static bool take_turn(struct read_turns *t, uint64_t number, uint8_t *bytes, size_t have) {
    pfr_reader *r = t->reader;
    const uint64_t from = t->begin + number * t->chunk;
    const uint8_t *left;
    memcpy(bytes - t->nr_carried, t->carried, t->nr_carried);
    input_show(&r->parts[r->cursor.part].in, bytes - t->nr_carried, from - t->nr_carried, t->nr_carried + have);
    t->status = t->parallel_reader->walk(t->parallel_reader->context, &t->err);
    const bool whole = have == t->chunk && from + have < t->end;
    if (t->status != PFR_END || !whole || !misses_bytes_alone(r, &left, &t->nr_carried))
        return false;
    memcpy(t->carried, left, t->nr_carried);
    return true;
}

static void *run(void *context) {
    const struct runner *me = context;
    struct read_turns *t = me->all;
    const struct input *in = &t->reader->parts[t->reader->cursor.part].in;
    for (;;) {
        const uint64_t number = __atomic_fetch_add(&t->next, 1, __ATOMIC_RELAXED);
        const uint64_t from = t->begin + number * t->chunk;
        if (from >= t->end || __atomic_load_n(&t->over, __ATOMIC_ACQUIRE))
            return NULL;
        const uint64_t room = t->end - from;
        uint8_t *to = me->buffer + HEAD + input_lead(me->buffer + HEAD, from);
        const size_t have = input_copy(in, from, to, room < t->chunk ? (size_t)room : t->chunk);
        if (!wait_for_turn(t, number))
            return NULL;
        end_turn(t, number, !take_turn(t, number, to, have));
    }
}

/* --- All turns. */

/* If fewer threads can be started, those that run do all the work. */
static void run_all(struct runner *runners, uint32_t count) {
    for (uint32_t i = 1; i < count; i++)
        runners[i].runs = thread_begin(&runners[i].thread, run, &runners[i]);
    run(&runners[0]);
    for (uint32_t i = 1; i < count; i++)
        if (runners[i].runs)
            pthread_join(runners[i].thread, NULL);
}

/* Leaves the reader with an empty buffer of its own again. */
static pfr_status finish(struct read_turns *t, pfr_error *err) {
    pfr_reader *r = t->reader;
    input_forget(&r->parts[r->cursor.part].in, r->cursor.at);
    if (t->status < 0 && err)
        *err = t->err;
    return t->status < 0 ? t->status : PFR_OK;
}

static pfr_status take_turns(struct read_turns *t, struct runner *runners, uint32_t count, pfr_error *err) {
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->moved, NULL);
    run_all(runners, count);
    pthread_cond_destroy(&t->moved);
    pthread_mutex_destroy(&t->lock);
    return finish(t, err);
}

static uint64_t end_of_bytes(const pfr_reader *r) {
    const struct part *p = &r->parts[r->cursor.part];
    return p->end < input_size(&p->in) ? p->end : input_size(&p->in);
}

static bool may_run(const pfr_reader *r, size_t chunk) {
    if (r->trace || r->whole || r->limits.records != UINT64_MAX || reader_has_pending(r))
        return false;
    const uint64_t end = end_of_bytes(r);
    return input_may_copy(&r->parts[r->cursor.part].in) && r->cursor.at < end &&
           end - r->cursor.at >= CHUNKS_LEAST * chunk;
}

static size_t buffer_size(const struct read_turns *t) {
    return HEAD + t->chunk + INPUT_ALIKE;
}

/* Returns the number of buffers allocated. They are allocated from a share of the memory limit, so that a failure is
   not recorded in the reader. */
static uint32_t take_buffers(struct memory *memory, struct read_turns *t, struct runner *runners, uint32_t wanted) {
    uint32_t count = 0;
    for (; count < wanted; count++) {
        runners[count] = (struct runner){.all = t, .buffer = mem_alloc(memory, buffer_size(t), 1)};
        if (!runners[count].buffer)
            break;
    }
    return count;
}

pfr_status parallel_reader_run(pfr_reader *r, const struct parallel_reader *parallel_reader, pfr_error *err) {
    struct memory memory;
    struct runner runners[PARALLEL_READER_THREADS];
    const size_t chunk = parallel_reader->chunk ? parallel_reader->chunk : sizes.parallel_reader_part;
    const uint32_t wanted =
        parallel_reader->threads < PARALLEL_READER_THREADS ? parallel_reader->threads : PARALLEL_READER_THREADS;
    pfr_status st = PFR_OK;
    if (wanted < 2 || !may_run(r, chunk))
        return PFR_OK;
    memory_share(&memory, &r->memory);
    struct read_turns *t = mem_zeroed(&memory, 1, sizeof *t);
    if (!t)
        return PFR_OK;
    t->reader = r, t->parallel_reader = parallel_reader, t->chunk = chunk;
    t->begin = r->cursor.at & ~(PAGE - 1), t->end = end_of_bytes(r);
    const uint32_t count = take_buffers(&memory, t, runners, wanted);
    if (count > 1)
        st = take_turns(t, runners, count, err);
    for (uint32_t i = 0; i < count; i++)
        mem_free(&memory, runners[i].buffer, buffer_size(t), 1);
    mem_free(&memory, t, 1, sizeof *t);
    return st;
}
