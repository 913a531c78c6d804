/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_SAMPLES_H
#define PERFRAY_SAMPLES_H
/*
 * The samples of a model, in batches of columns.
 *
 * A sample is the unit that reports count. A SAMPLE record is one sample, except that a record with the values of a
 * counter group is one sample for each counter that grew. Sample ids count from 1 in file order, whatever the filters
 * and the order of the cursor.
 *
 * Example, samples of one thread in timestamp order:
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
    bool in_time_order;   /* order by time, then in file order; samples without a time are last. false: file order */
    bool records;         /* return the raw records as well */
    uint64_t first, last; /* only samples with a time in this range, both ends included, ns; last 0: no upper bound. If
                             either is not 0, samples without a time are left out */
    uint32_t thread;      /* only samples of this thread (id); 0: of all */
    uint32_t event;       /* only samples of this event (id); 0: of all */
    bool by_cpu;          /* only samples on `cpu` */
    uint32_t cpu;
} pfr_samples_options;

/* One sample as a row, for pfr_build_sample(). */
typedef struct pfr_sample {
    uint64_t time;   /* ns of the recording's clock; PFR_NO_TIME: not recorded */
    uint64_t weight; /* its weight in reports: the period, or the increase of its counter in a counter group */
    uint64_t period; /* the recorded period, or else that of the attr; equal to weight except in counter groups */
    uint32_t thread; /* id */
    uint32_t comm;   /* id of the thread's name at that time, ":TID" if unnamed; 0: no thread was recorded */
    uint32_t cpu;    /* PFR_NO_CPU: not recorded */
    uint32_t event;  /* id */
    uint32_t stack;  /* id of the stack that ends with the innermost frame; 0: no address was recorded */
    uint8_t mode;    /* PFR_CPUMODE_* */
} pfr_sample;

/* Columns of `count` values each. Only `record` may be NULL. The columns belong to the cursor and are valid until the
   next call on it. Members are only added at the end. */
typedef struct pfr_sample_batch {
    uint32_t count;       /* at least 1 */
    const uint64_t *id;   /* from 1, in file order */
    const uint64_t *time; /* see pfr_sample */
    const uint64_t *weight, *period;
    const uint32_t *thread, *comm, *cpu, *event, *stack;
    const uint8_t *mode;
    const pfr_record *record; /* with `records`: for pfr_decode() and pfr_get(); else NULL */
} pfr_sample_batch;

/* Opens a cursor. `options` NULL: all samples, in file order. Memory is taken from the model's reader. Returns NULL on
   failure: PFR_ERR_USAGE if there is no such thread or event, or for `records` in time order or of a model that cannot
   read its samples again (a built one, or one that keeps all columns, see model.h); PFR_ERR_MEMORY, PFR_ERR_LIMIT or
   PFR_ERR_IO. */
pfr_samples *pfr_samples_open(const pfr_model *model, const pfr_samples_options *options, pfr_error *err);
/* Returns PFR_OK: *batch has at least one sample; PFR_END: there are no more samples, and *batch is NULL. On failure
   the cursor cannot continue: PFR_ERR_IO, PFR_ERR_CHANGED if the file was changed since it was loaded,
   PFR_ERR_MEMORY. */
pfr_status pfr_samples_next(pfr_samples *cursor, const pfr_sample_batch **batch, pfr_error *err);
/* Goes back to the first batch. */
pfr_status pfr_samples_rewind(pfr_samples *cursor, pfr_error *err);
/* Closes the cursor. NULL is allowed. */
void pfr_samples_close(pfr_samples *cursor);

/* Number of samples in the model, without any filter. */
uint64_t pfr_model_sample_count(const pfr_model *model);

#ifdef __cplusplus
}
#endif
#endif
