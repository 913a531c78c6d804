/* SPDX-License-Identifier: Apache-2.0 */
/* Counts samples and weights of each innermost frame, by event: see annotate_parts.h. Sums are by frame, because frames
   are fewer than stacks. */
#include "view/annotate/annotate_counts.h"

#include "base/memory/capped_sum.h"
#include "model/open/model_facts.h"

#include <stdio.h>
#include <string.h>

/* Tells the user that sums by line are of the first event only. */
static void note_first_event(const struct annotate *a) {
    char text[200];
    if (!a->options->by_line || a->nr_events < 2 || !a->options->note)
        return;
    snprintf(text, sizeof text, "lines are counted for event '%.60s' only, of %u events; choose another with -e",
             pfr_model_get_event(a->model, a->events[0])->name, a->nr_events);
    a->options->note(a->options->context, text);
}

static pfr_status fail_without_event(const struct annotate *a, const char *wanted, pfr_error *err) {
    const char *first = NULL;
    uint32_t others = 0;
    for (uint32_t id = 1; id <= pfr_model_count(a->model, PFR_TABLE_EVENT); id++) {
        const pfr_model_event *event = pfr_model_get_event(a->model, id);
        if (event->samples && !first)
            first = event->name;
        else if (event->samples)
            others++;
    }
    if (!first)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "event", "no samples of an event '%s'", wanted);
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "event",
                    others ? "no samples of an event '%s'; there are samples of '%s' and %u others"
                           : "event '%s' has no samples; the recording has only '%s'",
                    wanted, first, others);
}

static pfr_status choose_events(struct annotate *a, pfr_error *err) {
    const char *wanted = a->options->event;
    for (uint32_t id = 1; id <= pfr_model_count(a->model, PFR_TABLE_EVENT) && a->nr_events < EVENTS_MOST; id++) {
        const pfr_model_event *event = pfr_model_get_event(a->model, id);
        if (event->samples && (!wanted || model_event_is(a->model, id, wanted)))
            a->events[a->nr_events++] = id;
    }
    if (a->nr_events == EVENTS_MOST && a->options->note)
        a->options->note(a->options->context, "at most 64 events are shown; choose others with -e");
    if (wanted && !a->nr_events)
        return fail_without_event(a, wanted, err);
    note_first_event(a);
    return PFR_OK;
}

/* column[id] is the column of an event; nr_events: the event is not shown. */
static void map_events(const struct annotate *a, uint32_t *column, uint32_t count) {
    for (uint32_t id = 0; id <= count; id++)
        column[id] = a->nr_events;
    for (uint32_t i = 0; i < a->nr_events; i++)
        column[a->events[i]] = i;
}

static bool is_selected(const struct annotate *a, const pfr_sample_batch *b, uint32_t i) {
    const pfr_model_thread *thread = pfr_model_get_thread(a->model, b->thread[i]);
    const pfr_model_process *process = thread ? pfr_model_get_process(a->model, thread->process) : NULL;
    const char *comm = pfr_model_get_comm(a->model, b->comm[i]);
    const struct sample_facts facts = {.time = b->time[i],
                                       .cpu = b->cpu[i],
                                       .pid = process ? process->pid : 0,
                                       .tid = thread ? thread->tid : 0,
                                       .known = (b->time[i] != PFR_NO_TIME ? SAMPLE_TIME : 0u) |
                                                (b->cpu[i] != PFR_NO_CPU ? SAMPLE_CPU : 0u) |
                                                (process ? SAMPLE_PID : 0u) | (thread ? SAMPLE_TID : 0u)};
    return sample_filter_passes(&a->filter, &facts) &&
           sample_filter_wants_comm(&a->filter, comm, comm ? strlen(comm) : 0);
}

static void add_sample(struct annotate_sum *sum, uint64_t weight) {
    sum->samples++;
    sum->weight = capped_sum(sum->weight, weight);
}

static void count_batch(struct annotate *a, const pfr_sample_batch *b, const uint32_t *column) {
    const pfr_stack *stacks = pfr_model_stacks(a->model);
    const bool filters = sample_filter_has_numbers(&a->filter) || sample_filter_has_names(&a->filter);
    for (uint32_t i = 0; i < b->count; i++) {
        const uint32_t event = column[b->event[i]];
        if (event == a->nr_events || !b->stack[i] || (filters && !is_selected(a, b, i)))
            continue;
        struct annotate_sum *sum = &a->sums[(size_t)stacks[b->stack[i]].frame * a->nr_events + event];
        add_sample(sum, b->weight[i]);
        if (a->line_sums && event == 0)
            add_sample(&a->line_sums[b->stack[i]], b->weight[i]);
    }
}

static pfr_status read_filter(struct annotate *a, pfr_error *err) {
    const pfr_annotate_options *o = a->options;
    const struct sample_lists lists = {.cpus = o->cpus, .pids = o->pids, .tids = o->tids, .comms = o->comms};
    PFR_TRY(samples_check_cpus(a->reader, o->cpus, err));
    PFR_TRY(sample_filter_read(&a->filter, a->memory, &lists, err));
    return sample_filter_read_time_of(&a->filter, o->time, a->reader, err);
}

static pfr_status count_all(struct annotate *a, const uint32_t *column, pfr_error *err) {
    const pfr_sample_batch *batch;
    pfr_status st;
    pfr_samples *cursor = pfr_samples_open(a->model, NULL, err);
    if (!cursor)
        return err->status;
    while ((st = pfr_samples_next(cursor, &batch, err)) == PFR_OK)
        count_batch(a, batch, column);
    pfr_samples_close(cursor);
    return st < 0 ? st : PFR_OK;
}

pfr_status annotate_count(struct annotate *a, pfr_error *err) {
    PFR_TRY(read_filter(a, err));
    PFR_TRY(choose_events(a, err));
    const uint32_t events = pfr_model_count(a->model, PFR_TABLE_EVENT);
    a->nr_sums = ((size_t)pfr_model_count(a->model, PFR_TABLE_FRAME) + 1) * (a->nr_events ? a->nr_events : 1);
    a->sums = mem_zeroed(a->memory, a->nr_sums, sizeof *a->sums);
    if (a->options->by_line)
        a->line_sums =
            mem_zeroed(a->memory, (size_t)pfr_model_count(a->model, PFR_TABLE_STACK) + 1, sizeof *a->line_sums);
    uint32_t *column = mem_alloc(a->memory, (size_t)events + 1, sizeof *column);
    if (!a->sums || !column || (a->options->by_line && !a->line_sums)) {
        mem_free(a->memory, column, (size_t)events + 1, sizeof *column);
        return mem_fail(a->memory, err, "annotate");
    }
    map_events(a, column, events);
    const pfr_status st = count_all(a, column, err);
    mem_free(a->memory, column, (size_t)events + 1, sizeof *column);
    return st;
}
