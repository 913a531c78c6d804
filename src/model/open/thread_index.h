/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_THREAD_INDEX_H
#define PFR_MODEL_THREAD_INDEX_H
/* Rows of threads by tid and time, for records that refer to threads other than their own. */
#include "base/tables/hashmap.h"
#include "model/open/model_parts.h"

struct thread_index {
    const struct pfr_model *model;
    uint32_t *of_generation; /* thread id by generation; 0: no row */
    size_t generations;
    struct u64_map of_tid; /* threads without records of their own: tid -> id */
};

/* Errors: memory, limit. */
pfr_status thread_index_open(struct thread_index *index, const struct pfr_model *model, pfr_error *err);
void thread_index_close(struct thread_index *index);
/* Returns the row of the thread that has this tid at `time`; 0: the model has no row. */
uint32_t thread_index_find(const struct thread_index *index, uint32_t tid, uint64_t time);
/* Adds a row for a tid that has none. */
pfr_status thread_index_add(struct thread_index *index, uint32_t tid, uint32_t id, pfr_error *err);

#endif
