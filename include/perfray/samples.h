/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_SAMPLES_H
#define PERFRAY_SAMPLES_H
/*
 * The samples of a model, in batches of columns.
 *
 * A sample is what a report counts: one SAMPLE record, or of a record that reads a group of counters one for each
 * counter that grew. `id` numbers them from 1 in file order, whatever the filters and the order of the cursor.
 *
 * Example, samples of one thread in the order of time:
 *
 *     pfr_samples_options options = {.size = sizeof options, .in_time_order = true, .thread = 3};
 *     pfr_samples *cursor = pfr_samples_open(model, &options, &err);
 *     const pfr_sample_batch *b;
 *     pfr_status st;
 *     while ((st = pfr_samples_next(cursor, &b, &err)) == PFR_OK)
 *         for (uint32_t i = 0; i < b->count; i++)
 *             use(b->time[i], b->weight[i], b->stack[i]);
 *     pfr_samples_close(cursor);
 */
#include <perfray/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pfr_samples pfr_samples;

typedef struct pfr_samples_options {
    size_t size;          /* sizeof(pfr_samples_options) */
    bool in_time_order;   /* by time, equal times in file order, samples without a time last; false: file order */
    bool records;         /* batches have the raw records */
    uint64_t first, last; /* times from first to last, both included, ns; last 0: no upper bound. Samples without a time
                             are left out as soon as either is given */
    uint32_t thread;      /* samples of this thread only (id); 0: of all */
    uint32_t event;       /* of this event only (id); 0: of all */
    bool by_cpu;          /* of this cpu only: */
    uint32_t cpu;
} pfr_samples_options;

/* One sample as a row: what pfr_build_sample takes. */
typedef struct pfr_sample {
    uint64_t time;   /* ns of the recording's clock; PFR_NO_TIME: not recorded */
    uint64_t weight; /* what it adds to report's column: the period, or what its counter grew by */
    uint64_t period; /* the period as recorded, else the attr's; same as weight except for counter groups */
    uint32_t thread; /* id */
    uint32_t comm;   /* id: the thread's name at that time, ":TID" if unnamed; 0: no thread was recorded */
    uint32_t cpu;    /* PFR_NO_CPU: not recorded */
    uint32_t event;  /* id */
    uint32_t stack;  /* id of its innermost frame; 0: no address was recorded */
    uint8_t mode;    /* PFR_CPUMODE_* */
} pfr_sample;

/* Columns of `count` values each, never NULL but for `record`. They belong to the cursor and live until its next call.
   Members are only ever added at the end. */
typedef struct pfr_sample_batch {
    uint32_t count;       /* at least 1 */
    const uint64_t *id;   /* from 1, in file order */
    const uint64_t *time; /* see pfr_sample */
    const uint64_t *weight, *period;
    const uint32_t *thread, *comm, *cpu, *event, *stack;
    const uint8_t *mode;
    const pfr_record *record; /* with `records`: pfr_decode and pfr_get work on them; else NULL */
} pfr_sample_batch;

/* options NULL: all, in file order. Takes memory of the model's reader. NULL, with *err: USAGE (no such thread or
   event; `records` in time order, or of a model that cannot read its samples again: a built one, or one that keeps all
   columns, see model.h), MEMORY, LIMIT, IO. */
pfr_samples *pfr_samples_open(const pfr_model *model, const pfr_samples_options *options, pfr_error *err);
/* PFR_OK: *batch has at least one sample. PFR_END: no more, *batch is NULL. < 0: the cursor is done: IO, CHANGED (the
   file is not what it was), MEMORY. */
pfr_status pfr_samples_next(pfr_samples *cursor, const pfr_sample_batch **batch, pfr_error *err);
/* Back to the first batch. */
pfr_status pfr_samples_rewind(pfr_samples *cursor, pfr_error *err);
/* NULL is fine. */
void pfr_samples_close(pfr_samples *cursor);

/* Samples of the model, filters not applied. */
uint64_t pfr_model_sample_count(const pfr_model *model);

#ifdef __cplusplus
}
#endif
#endif
