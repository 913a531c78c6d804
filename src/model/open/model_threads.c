/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads, processes and comms. Threads with samples come first, in the order of their first samples; those that are
 * only in other records follow. A process is a generation of its main thread, or a pid without any record.
 */
#include "model/open/model_threads.h"
#include "model/open/model_tables.h"

#include <stdio.h>

void thread_look(const struct state *state, const struct profile_row *row, struct thread_view *view,
                 struct thread_key *key, struct intern_text *comm, char made[16]) {
    thread_at(&state->threads, row->pid, row->tid, row->key, view);
    *key = (struct thread_key){view->generation, row->pid, row->tid};
    if (view->name != NO_NAME) {
        *comm = intern_get(&state->names, view->name);
        return;
    }
    const int length = row->tid ? snprintf(made, 16, ":%d", (int)row->tid) : snprintf(made, 16, "swapper");
    *comm = (struct intern_text){(const uint8_t *)made, (uint32_t)length};
}

/* --- Threads without samples. */

static const struct generation *generation_of(const struct pfr_model *m, uint32_t number) {
    return number == NO_GENERATION ? NULL : &m->profile->state.threads.at[number];
}

static struct thread_key key_of_thread(const struct pfr_model *m, uint32_t id) {
    struct thread_key key;
    memcpy(&key, intern_get(&m->thread_keys, id - 1).bytes, sizeof key);
    return key;
}

/* Sets thread_of[generation] to the id of its thread, or of the first of several threads. Adds the
   keys of threads without samples. */
static pfr_status list_generations(struct pfr_model *m, uint32_t *thread_of, pfr_error *err) {
    const struct threads *threads = &m->profile->state.threads;
    for (uint32_t id = m->thread_keys.count; id > 0; id--) {
        const struct thread_key key = key_of_thread(m, id);
        if (key.generation != NO_GENERATION)
            thread_of[key.generation] = id;
    }
    for (uint32_t g = 0; g < threads->count; g++) {
        if (thread_of[g])
            continue;
        const struct generation *one = &threads->at[g];
        const struct thread_key key = {g, one->pid == NOBODY ? one->tid : one->pid, one->tid};
        PFR_TRY(intern_put(&m->thread_keys, &key, sizeof key, &thread_of[g], err));
        thread_of[g]++;
    }
    return PFR_OK;
}

/* --- Rows. */

/* The process of a thread: the generation of its main thread at the time when the thread began. */
static struct thread_key process_key(const struct pfr_model *m, const struct thread_key *thread) {
    const struct generation *g = generation_of(m, thread->generation);
    struct thread_view view;
    if (thread->pid == thread->tid || !g)
        return (struct thread_key){thread->pid == thread->tid ? thread->generation : NO_GENERATION, thread->pid,
                                   thread->pid};
    thread_at(&m->profile->state.threads, thread->pid, thread->pid, g->met, &view);
    return (struct thread_key){view.generation, thread->pid, thread->pid};
}

/* The last name of a generation. */
static pfr_status last_comm(struct pfr_model *m, const struct generation *g, uint32_t *comm, pfr_error *err) {
    const uint32_t name = !g ? NO_NAME : g->names.count ? g->names.at[g->names.count - 1].value : g->name;
    *comm = 0;
    if (name == NO_NAME)
        return PFR_OK;
    const struct intern_text text = intern_get(&m->profile->state.names, name);
    PFR_TRY(intern_put(&m->comms, text.bytes, text.length, comm, err));
    ++*comm;
    return PFR_OK;
}

/* Threads that existed before the first record have no start. */
static uint64_t start_of(const struct generation *g) {
    return g && g->begin.time ? g->begin.time : PFR_NO_TIME;
}

static pfr_status put_process(struct pfr_model *m, struct intern_table *keys, const struct thread_key *key,
                              uint32_t *id, pfr_error *err) {
    const struct generation *g = generation_of(m, key->generation);
    uint32_t number;
    PFR_TRY(intern_put(keys, key, sizeof *key, &number, err));
    *id = number + 1;
    if (*id <= m->processes.count)
        return PFR_OK;
    pfr_model_process row = {.pid = key->pid, .start = start_of(g), .end = PFR_NO_TIME};
    PFR_TRY(last_comm(m, g, &row.comm, err));
    return rows_add(m, &m->processes, &row, sizeof row, id, "processes", err);
}

static pfr_status put_thread_row(struct pfr_model *m, const struct thread_key *key, uint32_t process, pfr_error *err) {
    const struct generation *g = generation_of(m, key->generation);
    pfr_model_thread row = {.process = process, .tid = key->tid, .start = start_of(g), .end = PFR_NO_TIME};
    uint32_t id;
    PFR_TRY(last_comm(m, g, &row.comm, err));
    return rows_add(m, &m->threads, &row, sizeof row, &id, "threads", err);
}

static pfr_status put_rows(struct pfr_model *m, struct intern_table *processes, pfr_error *err) {
    for (uint32_t id = 1; id <= m->thread_keys.count; id++) {
        const struct thread_key key = key_of_thread(m, id), of = process_key(m, &key);
        uint32_t process;
        PFR_TRY(put_process(m, processes, &of, &process, err));
        PFR_TRY(put_thread_row(m, &key, process, err));
    }
    return PFR_OK;
}

/* Sets the parents of processes, when all processes have rows. */
static void put_parents(struct pfr_model *m, const struct intern_table *processes, const uint32_t *thread_of) {
    for (uint32_t id = 1; id <= m->processes.count; id++) {
        struct thread_key key;
        memcpy(&key, intern_get(processes, id - 1).bytes, sizeof key);
        const struct generation *g = generation_of(m, key.generation);
        const uint32_t parent = g && g->parent != NO_GENERATION ? thread_of[g->parent] : 0;
        pfr_model_process *row = row_at(&m->processes, id, sizeof *row);
        if (parent && row)
            row->parent = ((const pfr_model_thread *)row_at(&m->threads, parent, sizeof(pfr_model_thread)))->process;
    }
}

pfr_status model_make_threads(struct pfr_model *m, pfr_error *err) {
    const size_t count = m->profile->state.threads.count;
    struct intern_table processes;
    intern_init(&processes, m->memory);
    uint32_t *thread_of = mem_zeroed(m->memory, count, sizeof *thread_of);
    pfr_status st = thread_of ? list_generations(m, thread_of, err) : mem_fail(m->memory, err, "threads");
    if (st >= 0)
        st = put_rows(m, &processes, err);
    if (st >= 0)
        put_parents(m, &processes, thread_of);
    mem_free(m->memory, thread_of, count, sizeof *thread_of);
    intern_free(&processes);
    return st;
}

pfr_status model_add_thread(struct pfr_model *m, uint32_t tid, struct u64_map *process_of, uint32_t *id,
                            pfr_error *err) {
    const struct thread_key key = {NO_GENERATION, tid, tid};
    const pfr_model_process process = {.pid = tid, .start = PFR_NO_TIME, .end = PFR_NO_TIME};
    uint32_t number, of;
    uint64_t known;
    PFR_TRY(intern_put(&m->thread_keys, &key, sizeof key, &number, err));
    *id = number + 1;
    if (*id <= m->threads.count)
        return PFR_OK;
    if (u64_map_get(process_of, tid, &known)) /* the main thread of a process whose other threads have rows */
        return put_thread_row(m, &key, (uint32_t)known, err);
    PFR_TRY(rows_add(m, &m->processes, &process, sizeof process, &of, "processes", err));
    return put_thread_row(m, &key, of, err);
}

/* --- Names at a time. */

uint32_t pfr_model_comm_at(const pfr_model *m, uint32_t thread, uint64_t time) {
    const pfr_model_thread *row = pfr_model_get_thread(m, thread);
    if (!row || !m->profile || m->reader->trace)
        return row ? row->comm : 0;
    const struct thread_key key = key_of_thread(m, thread);
    const struct profile_row at = {
        .key = {time == PFR_NO_TIME ? UINT64_MAX : time, UINT64_MAX, UINT64_MAX}, .pid = key.pid, .tid = key.tid};
    const struct generation *g = generation_of(m, key.generation);
    struct intern_text comm;
    struct thread_view view;
    struct thread_key found;
    char made[16];
    thread_look(&m->profile->state, &at, &view, &found, &comm, made);
    if (found.generation != key.generation || !g)
        return row->comm; /* the tid belongs to another thread at that time */
    const uint32_t number = intern_find(&m->comms, comm.bytes, comm.length);
    return number == INTERN_NONE ? row->comm : number + 1;
}
