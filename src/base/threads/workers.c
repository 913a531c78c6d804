/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ordered batches: see workers.h. The state is three counts: batches given, begun and retired. A batch's slot is its
 * number modulo the number of slots. One lock guards the counts; a thread takes it twice per batch.
 */
#include "base/threads/workers.h"

#include "base/threads/thread_start.h"

struct worker {
    struct workers *all;
    pthread_t thread;
    unsigned number;
};

struct workers {
    struct memory *memory;
    workers_fn *work;
    void *context;
    pthread_mutex_t lock;
    pthread_cond_t given_more, done_more;
    uint64_t given, begun, retired;
    bool *done; /* indexed by slot */
    size_t slots;
    struct worker *others;
    unsigned nr_others, room;
    bool closes;
};

/* Takes the next batch and works on it. The lock is held at entry and return, and released during the work. */
static void work_on_next(struct workers *w, unsigned worker) {
    const size_t slot = w->begun++ % w->slots;
    pthread_mutex_unlock(&w->lock);
    w->work(w->context, worker, slot);
    pthread_mutex_lock(&w->lock);
    w->done[slot] = true;
    pthread_cond_signal(&w->done_more);
}

static void *run(void *argument) {
    const struct worker *self = argument;
    struct workers *w = self->all;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (w->begun == w->given && !w->closes)
            pthread_cond_wait(&w->given_more, &w->lock);
        if (w->closes)
            break;
        work_on_next(w, self->number);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static void begin_others(struct workers *w) {
    while (w->nr_others < w->room) {
        struct worker *one = &w->others[w->nr_others];
        *one = (struct worker){.all = w, .number = w->nr_others + 1};
        if (!thread_begin(&one->thread, run, one))
            break;
        w->nr_others++;
    }
}

static void free_all(struct workers *w) {
    struct memory *memory = w->memory;
    mem_free(memory, w->done, w->slots, sizeof *w->done);
    mem_free(memory, w->others, w->room, sizeof *w->others);
    mem_free(memory, w, 1, sizeof *w);
}

pfr_status workers_open(struct workers **out, struct memory *memory, unsigned threads, size_t slots, workers_fn *work,
                        void *context, pfr_error *err) {
    struct workers *w = *out = mem_zeroed(memory, 1, sizeof *w);
    if (!w)
        return mem_fail(memory, err, "workers");
    *w = (struct workers){.memory = memory, .work = work, .context = context, .slots = slots, .room = threads - 1};
    w->done = mem_zeroed(memory, slots, sizeof *w->done);
    w->others = w->done ? mem_zeroed(memory, w->room, sizeof *w->others) : NULL;
    if (!w->others) {
        free_all(w);
        *out = NULL;
        return mem_fail(memory, err, "workers");
    }
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->given_more, NULL);
    pthread_cond_init(&w->done_more, NULL);
    begin_others(w);
    return PFR_OK;
}

void workers_close(struct workers *w) {
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->closes = true;
    pthread_cond_broadcast(&w->given_more);
    pthread_mutex_unlock(&w->lock);
    for (unsigned i = 0; i < w->nr_others; i++)
        pthread_join(w->others[i].thread, NULL);
    pthread_cond_destroy(&w->done_more);
    pthread_cond_destroy(&w->given_more);
    pthread_mutex_destroy(&w->lock);
    free_all(w);
}

/* Only the caller changes `given` and `retired`, so it reads them without the lock. */
bool workers_free_slot(const struct workers *w, size_t *slot) {
    *slot = w->given % w->slots;
    return w->given - w->retired < w->slots;
}

void workers_give(struct workers *w) {
    pthread_mutex_lock(&w->lock);
    w->given++;
    pthread_cond_signal(&w->given_more);
    pthread_mutex_unlock(&w->lock);
}

bool workers_oldest(struct workers *w, bool wait, size_t *slot) {
    if (w->retired == w->given)
        return false;
    *slot = w->retired % w->slots;
    pthread_mutex_lock(&w->lock);
    while (wait && !w->done[*slot])
        if (w->begun < w->given)
            work_on_next(w, 0);
        else
            pthread_cond_wait(&w->done_more, &w->lock);
    const bool done = w->done[*slot];
    pthread_mutex_unlock(&w->lock);
    return done;
}

void workers_retire(struct workers *w) {
    pthread_mutex_lock(&w->lock);
    w->done[w->retired++ % w->slots] = false;
    pthread_mutex_unlock(&w->lock);
}
