/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of a page that are derived from its samples and calls: see page_stream.h. */
#include "export/page/page_command.h"

#include "base/memory/fail.h"

#include <perfray/spans.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_OF_THREAD 12u /* without its name */

static pfr_status new_numbers(uint32_t **to, size_t count, struct memory *memory, pfr_error *err) {
    *to = mem_zeroed(memory, count + 1, sizeof **to);
    return *to ? PFR_OK : mem_fail(memory, err, "tables");
}

/* --- Threads: those with data and the idle ones of the same processes, in the order of the model. */

static uint32_t process_of(const struct page_data *d, uint32_t id) {
    const pfr_model_thread *thread = id ? pfr_model_get_thread(d->tables.model, id) : NULL;
    return thread ? thread->process : 0;
}

static const char *comm_or_empty(const pfr_model *model, uint32_t comm) {
    const char *name = pfr_model_get_comm(model, comm);
    return name ? name : "";
}

/* The kernel writes tid -1 in samples of an exiting thread. */
static bool has_tid(const struct page_data *d, uint32_t id) {
    return pfr_model_get_thread(d->tables.model, id)->tid != UINT32_MAX;
}

static bool takes_idle(struct page_data *d, uint32_t id, uint64_t *room) {
    const pfr_model_thread *thread = pfr_model_get_thread(d->tables.model, id);
    const uint64_t bytes = BYTES_OF_THREAD + strlen(comm_or_empty(d->tables.model, thread->comm));
    const bool fits = bytes <= *room;
    *room -= fits ? bytes : 0;
    d->idle_left_out += !fits;
    return fits;
}

/* Adds idle threads: a thread without data waited all the time, and the page shows that as well.
   Processes in which no thread has data are left out. */
static pfr_status add_idle(struct page_data *d, uint8_t *used, struct memory *memory, pfr_error *err) {
    const size_t n = pfr_model_count(d->tables.model, PFR_TABLE_PROCESS);
    uint8_t *busy = mem_zeroed(memory, n + 1, 1);
    uint64_t room = d->idle_room;
    if (!busy)
        return mem_fail(memory, err, "processes");
    for (uint32_t id = 1; id <= d->nr_model_threads; id++)
        if (used[id])
            busy[process_of(d, id)] = 1;
    for (uint32_t id = 1; id <= d->nr_model_threads; id++)
        if (!used[id] && process_of(d, id) && busy[process_of(d, id)] && has_tid(d, id))
            used[id] = takes_idle(d, id, &room);
    mem_free(memory, busy, n + 1, 1);
    return PFR_OK;
}

static pfr_status number_threads(struct page_data *d, struct memory *memory, pfr_error *err) {
    const size_t n = d->nr_model_threads;
    uint8_t *used = mem_zeroed(memory, n + 1, 1);
    if (!used)
        return mem_fail(memory, err, "threads");
    for (size_t i = 0; i < d->rows.count; i++)
        used[d->rows.at[i].thread] = 1;
    for (size_t i = 0; i < d->calls.count; i++)
        used[d->calls.at[i].thread] = 1;
    for (size_t i = 0; i < d->intervals.count; i++)
        used[d->intervals.at[i].thread] = 1;
    for (size_t i = 0; i < d->waits.count; i++)
        used[d->waits.at[i].thread] = 1;
    for (size_t i = 0; i < d->waits.count; i++)
        if (d->waits.at[i].waker)
            used[d->waits.at[i].waker] = 1;
    for (size_t i = 0; i < d->marks.count; i++) {
        const struct page_mark *mark = &d->marks.at[i];
        if (mark->thread && page_mark_is_logged(mark)) /* a thread with nothing but losses is not shown */
            used[mark->thread] = 1;
    }
    const pfr_status st = add_idle(d, used, memory, err);
    for (uint32_t id = 0; id <= n && st >= 0; id++)
        if (used[id]) {
            d->number_of[id] = d->nr_threads;
            d->threads[d->nr_threads++] = id;
        }
    mem_free(memory, used, n + 1, 1);
    return st;
}

void page_data_recount(struct page_data *d) {
    for (uint32_t i = 0; i < d->nr_threads; i++)
        d->samples_of[i] = d->calls_of[i] = d->intervals_of[i] = 0;
    for (size_t i = 0; i < d->rows.count; i++)
        d->samples_of[d->number_of[d->rows.at[i].thread]]++;
    for (size_t i = 0; i < d->calls.count; i++)
        d->calls_of[d->number_of[d->calls.at[i].thread]]++;
    for (size_t i = 0; i < d->intervals.count; i++)
        d->intervals_of[d->number_of[d->intervals.at[i].thread]]++;
}

bool page_data_is_of_baseline(const struct page_data *d, uint32_t thread) {
    return d->baseline && thread > d->nr_new_threads;
}

/* The combined model of a comparison has no cgroups, so this reads the models of the two
   recordings. */
static const char *cgroup_of(const struct page_data *d, uint32_t thread) {
    const bool is_old = page_data_is_of_baseline(d, thread);
    const char *path = is_old ? pfr_model_thread_cgroup(d->baseline, thread - d->nr_new_threads)
                              : pfr_model_thread_cgroup(d->described, thread);
    return path ? path : "";
}

static pfr_status name_threads(struct page_data *d, pfr_error *err) {
    const pfr_model *model = d->tables.model;
    for (uint32_t i = 0; i < d->nr_threads; i++) {
        const pfr_model_thread *thread = pfr_model_get_thread(model, d->threads[i]);
        const pfr_model_process *process = thread ? pfr_model_get_process(model, thread->process) : NULL;
        const char *own = thread ? comm_or_empty(model, thread->comm) : "unknown thread";
        const char *of = process ? comm_or_empty(model, process->comm) : "";
        PFR_TRY(page_text(&d->tables, own, &d->text_of_thread[i], err));
        PFR_TRY(page_text(&d->tables, of, &d->text_of_process[i], err));
        const char *cgroup = page_path(&d->tables, cgroup_of(d, d->threads[i]));
        PFR_TRY(page_text(&d->tables, cgroup, &d->text_of_cgroup[i], err));
    }
    return PFR_OK;
}

/* --- Objects. */

static void write_build_id(const pfr_model_object *object, char text[41]) {
    text[0] = 0;
    for (unsigned i = 0; i < object->build_id_size && i < sizeof object->build_id; i++)
        snprintf(text + 2 * (size_t)i, 3, "%02x", object->build_id[i]);
}

static pfr_status name_objects(struct page_data *d, pfr_error *err) {
    for (uint32_t id = 1; id <= d->nr_objects; id++) {
        const pfr_model_object *object = pfr_model_get_object(d->tables.model, id);
        char build[41];
        write_build_id(object, build);
        PFR_TRY(page_text(&d->tables, object->name, &d->text_of_object[id], err));
        const char *path = d->tables.redacts || !object->path ? object->name : object->path;
        PFR_TRY(page_text(&d->tables, path, &d->path_of_object[id], err));
        PFR_TRY(page_text(&d->tables, build, &d->build_of_object[id], err));
    }
    return PFR_OK;
}

/* --- Nodes ranked by how often they occur, so that the frequent ones have small numbers. */

struct often {
    uint32_t times, node;
};

static int oftener_first(const void *a, const void *b) {
    const struct often *x = a, *y = b;
    if (x->times != y->times)
        return x->times > y->times ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

pfr_status page_data_rank(struct page_data *d, struct memory *memory, pfr_error *err) {
    const uint32_t n = d->tables.nr_nodes;
    struct often *order = mem_alloc(memory, n, sizeof *order);
    if (!order)
        return mem_fail(memory, err, "stacks");
    for (uint32_t i = 0; i < n; i++)
        order[i] = (struct often){0, i};
    for (size_t i = 0; i < d->rows.count; i++)
        order[d->rows.at[i].node].times++;
    for (size_t i = 0; i < d->calls.count; i++)
        order[d->calls.at[i].node].times++;
    qsort(order, n, sizeof *order, oftener_first);
    for (uint32_t i = 0; i < n; i++) {
        d->node_of_rank[i] = order[i].node;
        d->rank_of[order[i].node] = i;
    }
    mem_free(memory, order, n, sizeof *order);
    return PFR_OK;
}

/* --- Weights. */

/* Chooses shifts so that no number of a column, and no sum of weights, exceeds what a double of JavaScript holds
   exactly. */
static void choose_shifts(struct page_data *d) {
    unsigned __int128 sum = 0;
    uint64_t longest = 0;
    for (size_t i = 0; i < d->rows.count; i++)
        sum += d->rows.at[i].weight;
    for (size_t i = 0; i < d->calls.count; i++)
        longest |= d->calls.at[i].duration | (d->calls.at[i].start - d->begin);
    for (size_t i = 0; i < d->latencies.count; i++)
        longest |= d->latencies.at[i].calls.sum | page_with_sign(d->latencies.at[i].calls.self);
    for (size_t i = 0; i < d->marks.count; i++)
        longest |= d->marks.at[i].time - d->begin;
    while (sum >> d->weight_shift >> PAGE_NUMBER_BITS)
        d->weight_shift++;
    while (longest >> d->call_shift >> PAGE_NUMBER_BITS)
        d->call_shift++;
}

static pfr_status end_texts(struct page_data *d, struct memory *memory, pfr_error *err) {
    uint64_t end = 0;
    d->text_ends = mem_alloc(memory, d->tables.texts.count, sizeof *d->text_ends);
    if (!d->text_ends)
        return mem_fail(memory, err, "tables");
    d->nr_texts = d->tables.texts.count;
    for (uint32_t i = 0; i < d->nr_texts; i++)
        d->text_ends[i] = end += intern_get(&d->tables.texts, i).length;
    return PFR_OK;
}

static pfr_status allocate(struct page_data *d, struct memory *memory, pfr_error *err) {
    PFR_TRY(new_numbers(&d->threads, d->nr_model_threads, memory, err));
    PFR_TRY(new_numbers(&d->number_of, d->nr_model_threads, memory, err));
    PFR_TRY(new_numbers(&d->samples_of, d->nr_model_threads, memory, err));
    PFR_TRY(new_numbers(&d->calls_of, d->nr_model_threads, memory, err));
    PFR_TRY(new_numbers(&d->intervals_of, d->nr_model_threads, memory, err));
    PFR_TRY(new_numbers(&d->text_of_thread, d->nr_model_threads, memory, err));
    PFR_TRY(new_numbers(&d->text_of_process, d->nr_model_threads, memory, err));
    PFR_TRY(new_numbers(&d->text_of_cgroup, d->nr_model_threads, memory, err));
    d->nr_ranks = d->tables.nr_nodes;
    PFR_TRY(new_numbers(&d->rank_of, d->nr_ranks, memory, err));
    PFR_TRY(new_numbers(&d->node_of_rank, d->nr_ranks, memory, err));
    PFR_TRY(new_numbers(&d->text_of_object, d->nr_objects, memory, err));
    PFR_TRY(new_numbers(&d->path_of_object, d->nr_objects, memory, err));
    return new_numbers(&d->build_of_object, d->nr_objects, memory, err);
}

/* A software event may have modifiers ("cs:u"). */
static bool is_event(const char *name, const char *of) {
    const size_t length = strlen(of);
    return strncmp(name, of, length) == 0 && (name[length] == '\0' || name[length] == ':');
}

static bool is_switch(const char *name) {
    static const char *const names[] = {"context-switches", "cs", "offcpu-time", "sched:sched_switch"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_event(name, names[i]))
            return true;
    return false;
}

static bool is_of_scheduler(const char *name) {
    return strncmp(name, "sched:", strlen("sched:")) == 0;
}

const char *page_data_unit(const pfr_model_event *event) {
    if (event->unit)
        return event->unit;
    return is_switch(event->name) ? "switches" : is_of_scheduler(event->name) ? event->name : NULL;
}

/* If the model has intervals, every tracepoint of the group "sched:" counts as an event of waits;
   otherwise only sched_switch does. */
static bool is_wait_event(const char *name, bool has_intervals) {
    return is_switch(name) || (has_intervals && is_of_scheduler(name));
}

bool page_data_has_only_switches(const struct page_data *d) {
    const bool has_intervals = pfr_model_interval(d->tables.model, 0);
    if (pfr_model_call_count(d->described) || (!has_intervals && !pfr_model_sample_count(d->described)))
        return false;
    for (uint32_t id = 1; id <= pfr_model_count(d->described, PFR_TABLE_EVENT); id++) {
        const pfr_model_event *event = pfr_model_get_event(d->described, id);
        if (event->samples && !is_wait_event(event->name, has_intervals))
            return false;
    }
    return true;
}

pfr_status page_data_finish(struct page_data *d, struct memory *memory, pfr_error *err) {
    d->nr_model_threads = pfr_model_count(d->tables.model, PFR_TABLE_THREAD);
    d->nr_objects = pfr_model_count(d->tables.model, PFR_TABLE_OBJECT);
    PFR_TRY(allocate(d, memory, err));
    PFR_TRY(number_threads(d, memory, err));
    PFR_TRY(name_threads(d, err));
    PFR_TRY(name_objects(d, err));
    PFR_TRY(page_data_rank(d, memory, err));
    choose_shifts(d);
    page_data_recount(d);
    return end_texts(d, memory, err);
}

void page_data_free(struct page_data *d, struct memory *memory) {
    mem_free(memory, d->text_ends, d->nr_texts, sizeof *d->text_ends);
    uint32_t *const of_threads[] = {d->threads,        d->number_of,  d->text_of_thread, d->text_of_process,
                                    d->text_of_cgroup, d->samples_of, d->calls_of,       d->intervals_of};
    for (size_t i = 0; i < sizeof of_threads / sizeof *of_threads; i++)
        mem_free(memory, of_threads[i], (size_t)d->nr_model_threads + 1, sizeof(uint32_t));
    uint32_t *const of_objects[] = {d->text_of_object, d->path_of_object, d->build_of_object};
    for (size_t i = 0; i < sizeof of_objects / sizeof *of_objects; i++)
        mem_free(memory, of_objects[i], (size_t)d->nr_objects + 1, sizeof(uint32_t));
    mem_free(memory, d->rank_of, (size_t)d->nr_ranks + 1, sizeof(uint32_t));
    mem_free(memory, d->node_of_rank, (size_t)d->nr_ranks + 1, sizeof(uint32_t));
    page_command_free(d, memory);
    page_calls_free(&d->calls);
    page_changes_free(&d->changes);
    page_code_free(&d->code);
    page_intervals_free(&d->intervals);
    page_latencies_free(&d->latencies);
    page_marks_free(&d->marks);
    page_rows_free(&d->rows);
    page_waits_free(&d->waits);
    page_tables_free(&d->tables);
}
