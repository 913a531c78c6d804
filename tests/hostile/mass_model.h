/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_MASS_MODEL_H
#define PFR_TESTS_MASS_MODEL_H
/* A printer for mass_printers.c: reads all contents of a model of the recording, and prints a sum. */
#include <perfray/perfray.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the run if ids of a batch exceed their tables, because users of these ids would read outside the tables. */
static inline void check_id(const pfr_model *m, pfr_table table, uint32_t id) {
    if (id > pfr_model_count(m, table))
        abort();
}

static inline pfr_status sum_samples(const pfr_model *m, uint64_t *sum, pfr_error *err) {
    const pfr_samples_options in_order = {.size = sizeof in_order, .in_time_order = true};
    const pfr_sample_batch *b;
    pfr_status st = PFR_OK;
    pfr_samples *cursor = pfr_samples_open(m, &in_order, err);
    if (!cursor)
        return err->status;
    while ((st = pfr_samples_next(cursor, &b, err)) == PFR_OK)
        for (uint32_t i = 0; i < b->count; i++) {
            check_id(m, PFR_TABLE_THREAD, b->thread[i]);
            check_id(m, PFR_TABLE_COMM, b->comm[i]);
            check_id(m, PFR_TABLE_EVENT, b->event[i]);
            check_id(m, PFR_TABLE_STACK, b->stack[i]);
            *sum += b->weight[i] ^ b->time[i] ^ b->stack[i];
        }
    pfr_samples_close(cursor);
    return st;
}

static inline pfr_status sum_calls(const pfr_model *m, uint64_t *sum, pfr_error *err) {
    const pfr_call_batch *b;
    pfr_status st = PFR_OK;
    pfr_calls *cursor = pfr_calls_open(m, NULL, err);
    if (!cursor)
        return err->status;
    while ((st = pfr_calls_next(cursor, &b, err)) == PFR_OK)
        for (uint32_t i = 0; i < b->count; i++) {
            check_id(m, PFR_TABLE_SYMBOL, b->symbol[i]);
            check_id(m, PFR_TABLE_STACK, b->stack[i]);
            if (b->id[i] > pfr_model_call_count(m) || b->parent[i] >= b->id[i])
                abort();
            *sum += b->duration[i] ^ b->start[i];
        }
    pfr_calls_close(cursor);
    return st;
}

static inline void sum_stacks(const pfr_model *m, uint64_t *sum) {
    char text[256];
    for (uint32_t id = 1; id <= pfr_model_count(m, PFR_TABLE_STACK); id++) {
        const pfr_stack *stack = pfr_model_get_stack(m, id);
        if (stack->parent >= id)
            abort();
        check_id(m, PFR_TABLE_FRAME, stack->frame);
        *sum += id % 64 ? stack->depth : pfr_model_stack_text(m, id, NULL, text, sizeof text);
    }
    for (uint64_t i = 0; pfr_model_mark(m, i); i++)
        *sum += pfr_model_mark(m, i)->count;
    for (uint64_t i = 0; pfr_model_interval(m, i); i++)
        *sum += pfr_model_interval(m, i)->duration;
}

static inline pfr_status print_sums(pfr_reader *reader, const pfr_model_options *options, pfr_output *out,
                                    pfr_error *err) {
    char text[80];
    uint64_t sum = 0;
    pfr_model *m = pfr_model_open(reader, options, err);
    pfr_status st = m ? sum_samples(m, &sum, err) : err->status;
    if (st >= 0)
        st = sum_calls(m, &sum, err);
    if (st >= 0)
        sum_stacks(m, &sum);
    snprintf(text, sizeof text, "%" PRIu64 "\n", sum);
    pfr_output_text(out, text);
    pfr_model_close(m);
    return st < 0 ? st : PFR_OK;
}

/* The page of perfray view, and the data of a page that compares the recording with itself. */
static inline pfr_status print_pages(pfr_reader *reader, const pfr_model_options *options, pfr_output *out,
                                     pfr_error *err) {
    pfr_model *m = pfr_model_open(reader, options, err);
    const pfr_view_options page = {.size = sizeof page, .max_size = 1};
    const pfr_view_options pair = {.size = sizeof pair, .data_only = true, .baseline = m};
    pfr_status st = m ? pfr_view_write(m, &page, out, err) : err->status;
    if (st >= 0)
        st = pfr_view_write(m, &pair, out, err);
    pfr_model_close(m);
    return st;
}

#endif
