/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints records on several threads. The calling thread reads the records, orders them and copies them into batches.
 * Workers print batches into memory with the loop of script.c, and the texts are written in the order of the batches.
 * Each worker has its own struct script, with its own output and caches of thread names and addresses. The shared data
 * (struct script_shared), such as events and state, does not change while workers print. The recording is read twice,
 * so that the state is complete before printing starts; if it cannot be read twice (s->shared->learns), a single thread
 * prints. The names of objects are shared under a lock.
 *
 * Caches are validated by epochs (s->caches.epoch and others), which count the changes that invalidate caches. The
 * calling thread counts the changes for all threads; each batch starts with the epochs at its first record.
 *
 * If lines depend on earlier lines, a single thread is used: see depends_on_order.
 */
#include "view/script/script_jobs.h"
#include "view/script/script_loop.h"
#include "view/script/script_chains.h"
#include "view/script/script_frames.h"
#include "view/script/script_hole.h"
#include "view/script/script_lines.h"
#include "view/script/script_out_of_order.h"
#include "view/script/script_threads.h"

#include "base/memory/fail.h"
#include "base/threads/workers.h"
#include "file/read/recording.h"
#include "wire/feature_bits.h"
#include "base/memory/sizes.h"

#define BATCH_BYTES ((size_t)SIZE_MOST_script_batch) /* bytes of records in a batch; the last record may exceed it */
#define BATCH_RECORDS ((size_t)SIZE_MOST_script_batch_records)
#define BATCHES_EACH 4u      /* per thread */
#define HOLE_TYPE UINT32_MAX /* marks the place of a hole in a batch; `offset` is its index */
#define JOBS_MOST 64u

struct holes {
    pfr_error *at;
    size_t count, room;
};

struct script_batch {
    struct timed_record *some;
    uint8_t *bytes;
    size_t count, used;
    uint32_t epoch, kernel_epoch, order_epoch; /* values at the start of the batch */
    struct record_key newest;
    bool was_late;
    struct holes fill_holes;  /* found while the batch was filled */
    struct holes print_holes; /* found while the batch was printed */
    struct output text;       /* output of the batch */
    pfr_status failed;
    pfr_error why;
};

struct worker_script {
    struct script s;
    pfr_output to;
    pfr_error err;
    struct holes *print_holes;
};

struct jobs {
    struct script *s;
    struct workers *workers;
    struct worker_script *scripts;
    unsigned count, opened;
    struct script_batch *batches;
    size_t nr_batches;
    bool filling;    /* the batch being filled is not empty */
    bool one_thread; /* depends_on_order */
};

/* --- Whether to use several threads. */

static bool event_depends_on_order(const struct script_event *e) {
    return e->reads || e->stitches || (e->fields & FIELD(F_DATA_SRC)) ||
           (e->type == TYPE_TRACE && (e->fields & FIELD(F_TRACE)));
}

/* Whether a line or its output file depends on earlier lines, or whether the state becomes known only while records are
 * read (learns). */
static bool depends_on_order(const struct script *s) {
    bool any = !s->shared->timeline || s->shared->learns || s->shared->options->clock != PFR_SCRIPT_AS_RECORDED ||
               s->shared->options->dump || s->sequence.files || s->shared->state->guests.any ||
               s->shared->filter.samples.waits_for_start || s->sequence.turns.on || s->sequence.turns.off ||
               (pfr_get_header(s->shared->reader)->features[0] >> BIT_STAT & 1);
    for (uint32_t i = 0; i < s->shared->nr_events && !any; i++)
        any = event_depends_on_order(&s->shared->events[i]);
    return any;
}

/* The default is one thread, which needs the least CPU time. */
unsigned script_jobs(const struct script *s) {
    const unsigned asked = s->shared->options->jobs ? s->shared->options->jobs : 1;
    return depends_on_order(s) ? 1 : asked < JOBS_MOST ? asked : JOBS_MOST;
}

/* --- Holes: stored where they occur, reported after the text before them. */

static pfr_status keep_hole(struct holes *list, struct memory *memory, const pfr_error *hole, pfr_error *err) {
    void *more = mem_grow(memory, list->at, list->count, &list->room, 4, sizeof *list->at);
    if (!more)
        return mem_fail(memory, err, "holes");
    list->at = more;
    list->at[list->count++] = *hole;
    return PFR_OK;
}

static void take_hole(void *context, const pfr_error *hole) {
    struct worker_script *w = context;
    script_fail(&w->s, keep_hole(w->print_holes, w->s.memory, hole, &w->err));
}

static void free_holes(struct holes *list, struct memory *memory) {
    mem_free(memory, list->at, list->room, sizeof *list->at);
}

/* --- Printing a batch. */

static void swap_text(struct output *a, struct output *b) {
    const struct output c = *a;
    *a = *b;
    *b = c;
}

/* Processes the records up to each hole, then reports the hole. */
static void take_batch(struct script *s, const struct script_batch *b) {
    size_t from = 0;
    for (size_t i = 0; i < b->count && s->failed >= 0; i++)
        if (b->some[i].rec.type == HOLE_TYPE) {
            script_take_some(s, b->some + from, i - from);
            script_report_hole(s, &b->fill_holes.at[b->some[i].rec.offset]);
            from = i + 1;
        }
    script_take_some(s, b->some + from, b->count - from);
}

static void print_batch(void *context, unsigned worker, size_t slot) {
    struct jobs *jobs = context;
    struct worker_script *w = &jobs->scripts[worker];
    struct script_batch *b = &jobs->batches[slot];
    struct script *s = &w->s;
    s->caches.epoch = b->epoch;
    s->caches.kernel_epoch = b->kernel_epoch;
    s->caches.order_epoch = b->order_epoch;
    s->caches.newest = b->newest;
    s->caches.was_late = b->was_late;
    w->print_holes = &b->print_holes;
    swap_text(&w->to.out, &b->text);
    take_batch(s, b);
    if (w->to.out.status < 0 && s->failed >= 0)
        script_fail(s, out_flush(&w->to.out, &w->err));
    swap_text(&w->to.out, &b->text);
    b->failed = s->failed;
    b->why = w->err;
}

/* --- Scripts of the workers. */

/* Events may have moved or changed; no worker runs while this is called. */
static void renew_events(struct jobs *jobs) {
    for (unsigned i = 0; i < jobs->opened; i++)
        jobs->scripts[i].s.current.sample_of = NULL;
}

/* Members that are not listed start at 0, as in a script that has printed nothing. */
static pfr_status open_script(struct worker_script *w, const struct script *from, pfr_error *err) {
    struct script *s = &w->s;
    w->to.raw_names = from->to->raw_names;
    memory_share(&w->to.memory, from->memory);
    out_open_memory(&w->to.out, from->memory);
    *s = (struct script){.shared = from->shared,
                         .memory = from->memory,
                         .to = &w->to,
                         .out = &w->to.out,
                         .err = &w->err,
                         .hole = take_hole,
                         .context = w,
                         .caches.disorder = from->caches.disorder,
                         .json_text.raw_names = true};
    arena_init(&s->caches.arena, s->memory);
    frames_init(&s->caches.frames, s->memory, from->to->raw_names);
    memory_share(&s->json_text.memory, s->memory);
    out_open_memory(&s->json_text.out, s->memory);
    const pfr_status st = script_threads_make(s, err);
    return st < 0 ? st : script_lines_make(s, err);
}

static void close_script(struct worker_script *w) {
    script_chains_free(&w->s);
    script_lines_free(&w->s);
    script_threads_free(&w->s);
    frames_free(&w->s.caches.frames);
    out_close(&w->s.json_text.out, NULL);
    out_close(&w->to.out, NULL);
    arena_free(&w->s.caches.arena);
}

/* --- Putting it together. */

static void close_jobs(struct jobs *jobs) {
    struct memory *memory = jobs->s->memory;
    workers_close(jobs->workers);
    for (size_t i = 0; i < (jobs->batches ? jobs->nr_batches : 0); i++) {
        struct script_batch *b = &jobs->batches[i];
        mem_free(memory, b->some, BATCH_RECORDS, sizeof *b->some);
        mem_free(memory, b->bytes, BATCH_BYTES + RECORD_MOST, 1);
        free_holes(&b->fill_holes, memory);
        free_holes(&b->print_holes, memory);
        out_close(&b->text, NULL);
    }
    for (unsigned i = 0; i < jobs->opened; i++) {
        jobs->s->guests += jobs->scripts[i].s.guests;
        script_fail(jobs->s, script_add_unwound(jobs->s, &jobs->scripts[i].s, jobs->s->err));
        close_script(&jobs->scripts[i]);
    }
    mem_free(memory, jobs->batches, jobs->nr_batches, sizeof *jobs->batches);
    mem_free(memory, jobs->scripts, jobs->count, sizeof *jobs->scripts);
}

static pfr_status open_batch(struct script_batch *b, struct memory *memory, pfr_error *err) {
    b->some = mem_alloc(memory, BATCH_RECORDS, sizeof *b->some);
    b->bytes = b->some ? mem_alloc(memory, BATCH_BYTES + RECORD_MOST, 1) : NULL;
    return b->bytes ? PFR_OK : mem_fail(memory, err, "batches");
}

static pfr_status open_jobs(struct jobs *jobs, pfr_error *err) {
    struct memory *memory = jobs->s->memory;
    jobs->scripts = mem_zeroed(memory, jobs->count, sizeof *jobs->scripts);
    jobs->batches = jobs->scripts ? mem_zeroed(memory, jobs->nr_batches, sizeof *jobs->batches) : NULL;
    if (!jobs->batches)
        return mem_fail(memory, err, "batches");
    for (size_t i = 0; i < jobs->nr_batches; i++)
        out_open_memory(&jobs->batches[i].text, memory);
    for (size_t i = 0; i < jobs->nr_batches; i++)
        PFR_TRY(open_batch(&jobs->batches[i], memory, err));
    while (jobs->opened < jobs->count)
        PFR_TRY(open_script(&jobs->scripts[jobs->opened++], jobs->s, err));
    return workers_open(&jobs->workers, memory, jobs->count, jobs->nr_batches, print_batch, jobs, err);
}

/* Writes the oldest batch, which is complete. */
static pfr_status write_batch(struct jobs *jobs, size_t slot, pfr_error *err) {
    struct script *s = jobs->s;
    struct script_batch *b = &jobs->batches[slot];
    out_write(s->out, b->text.buffer, b->text.used);
    out_clear(&b->text);
    for (size_t i = 0; i < b->print_holes.count; i++)
        script_report_hole(s, &b->print_holes.at[i]);
    workers_retire(jobs->workers);
    if (b->failed < 0) {
        *err = b->why;
        return b->failed;
    }
    return s->out->status < 0 ? out_flush(s->out, err) : PFR_OK;
}

static pfr_status write_done(struct jobs *jobs, bool wait, pfr_error *err) {
    size_t slot;
    while (workers_oldest(jobs->workers, wait, &slot))
        PFR_TRY(write_batch(jobs, slot, err));
    return PFR_OK;
}

/* The batch being filled; starts one if necessary. */
static pfr_status batch_at_hand(struct jobs *jobs, struct script_batch **at_hand, pfr_error *err) {
    const struct script *s = jobs->s;
    size_t slot, oldest;
    while (!workers_free_slot(jobs->workers, &slot))
        if (workers_oldest(jobs->workers, true, &oldest))
            PFR_TRY(write_batch(jobs, oldest, err));
    struct script_batch *b = *at_hand = &jobs->batches[slot];
    if (jobs->filling)
        return PFR_OK;
    jobs->filling = true;
    b->count = b->used = b->fill_holes.count = b->print_holes.count = 0;
    b->epoch = s->caches.epoch;
    b->kernel_epoch = s->caches.kernel_epoch;
    b->order_epoch = s->caches.order_epoch;
    b->newest = s->caches.newest;
    b->was_late = s->caches.was_late;
    return PFR_OK;
}

static pfr_status give_batch(struct jobs *jobs, pfr_error *err) {
    if (!jobs->filling)
        return PFR_OK;
    jobs->filling = false;
    workers_give(jobs->workers);
    return write_done(jobs, false, err);
}

/* Waits until everything read so far is written. */
static pfr_status drain(struct jobs *jobs, pfr_error *err) {
    PFR_TRY(give_batch(jobs, err));
    return write_done(jobs, true, err);
}

static pfr_status put_record(struct jobs *jobs, const struct timed_record *one, pfr_error *err) {
    struct script_batch *b;
    PFR_TRY(batch_at_hand(jobs, &b, err));
    struct timed_record *to = &b->some[b->count++];
    *to = *one;
    to->rec.bytes = b->bytes + b->used;
    memcpy(b->bytes + b->used, one->rec.bytes, one->rec.size);
    b->used += (one->rec.size + 7u) & ~7u;
    script_pass(jobs->s, &one->rec, &one->key);
    return b->used >= sizes.script_batch || b->count == sizes.script_batch_records ? give_batch(jobs, err) : PFR_OK;
}

static pfr_status put_hole(struct jobs *jobs, const pfr_error *hole, pfr_error *err) {
    struct script_batch *b;
    const pfr_error met = *hole; /* `hole` may be `err`, so copy it */
    PFR_TRY(batch_at_hand(jobs, &b, err));
    b->some[b->count++] = (struct timed_record){.rec = {.type = HOLE_TYPE, .offset = b->fill_holes.count}};
    PFR_TRY(keep_hole(&b->fill_holes, jobs->s->memory, &met, err));
    return b->count == sizes.script_batch_records ? give_batch(jobs, err) : PFR_OK;
}

/* Workers share the table of timestamps; each has its own position in it. */
static pfr_status begin_disorder(struct jobs *jobs, pfr_error *err) {
    PFR_TRY(drain(jobs, err));
    PFR_TRY(script_disorder_begin(jobs->s, err));
    for (unsigned i = 0; i < jobs->opened; i++)
        jobs->scripts[i].s.caches.disorder = jobs->s->caches.disorder;
    return PFR_OK;
}

/* Writes everything before this record, then processes the record on the calling thread. The record may add events that
 * require a single thread for all further records. */
static pfr_status take_individually(struct jobs *jobs, const struct timed_record *one, pfr_error *err) {
    struct script *s = jobs->s;
    PFR_TRY(drain(jobs, err));
    script_take(s, &one->rec, &one->key);
    renew_events(jobs);
    jobs->one_thread = depends_on_order(s);
    return s->failed;
}

/* A record written by the recorder itself may change the events; the next record must see the change. */
static pfr_status put_some(struct jobs *jobs, const struct timed_record *some, size_t count, pfr_error *err) {
    const struct script *s = jobs->s;
    for (size_t i = 0; i < count; i++) {
        const bool own = script_is_own(&some[i].rec);
        if (own && !script_is_of_use(s, some[i].rec.type))
            continue;
        if (own || s->sequence.stale || jobs->one_thread)
            PFR_TRY(take_individually(jobs, &some[i], err));
        else
            PFR_TRY(put_record(jobs, &some[i], err));
    }
    return PFR_OK;
}

static pfr_status take_all(struct jobs *jobs, pfr_error *err) {
    struct timed_record some[64];
    size_t count;
    pfr_status st;
    while ((st = script_next(jobs->s, some, sizeof some / sizeof *some, &count, err)) >= 0 && st != PFR_END) {
        if (st == PFR_HOLE)
            PFR_TRY(put_hole(jobs, err, err));
        if (script_needs_disorder(jobs->s))
            PFR_TRY(begin_disorder(jobs, err));
        PFR_TRY(put_some(jobs, some, count, err));
    }
    pfr_error why = {.status = PFR_OK};
    if (st < 0)
        why = *err;
    PFR_TRY(drain(jobs, err));
    if (st < 0)
        *err = why;
    return st < 0 ? st : PFR_OK;
}

pfr_status script_take_all_by(struct script *s, unsigned count, pfr_error *err) {
    struct jobs jobs = {.s = s, .count = count, .nr_batches = (size_t)count * BATCHES_EACH};
    pfr_status st = open_jobs(&jobs, err);
    if (st >= 0)
        st = take_all(&jobs, err);
    close_jobs(&jobs);
    return st;
}
