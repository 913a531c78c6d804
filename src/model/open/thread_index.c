/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the row of the generation to which a tid belongs at a given time. For a tid without
   generations, finds the first row that a sample or a record of the scheduler made for it. */
#include "model/open/thread_index.h"

static struct thread_key key_of_row(const struct pfr_model *m, uint32_t id) {
    struct thread_key key;
    memcpy(&key, intern_get(&m->thread_keys, id - 1).bytes, sizeof key);
    return key;
}

pfr_status thread_index_open(struct thread_index *index, const struct pfr_model *m, pfr_error *err) {
    *index = (struct thread_index){.model = m, .generations = m->profile->state.threads.count};
    u64_map_init(&index->of_tid, m->memory);
    index->of_generation = mem_zeroed(m->memory, index->generations, sizeof *index->of_generation);
    if (!index->of_generation)
        return mem_fail(m->memory, err, "threads");
    for (uint32_t id = m->thread_keys.count; id > 0; id--) {
        const struct thread_key key = key_of_row(m, id);
        if (key.generation != NO_GENERATION)
            index->of_generation[key.generation] = id;
        else
            PFR_TRY(u64_map_put(&index->of_tid, key.tid, id, err));
    }
    return PFR_OK;
}

pfr_status thread_index_add(struct thread_index *index, uint32_t tid, uint32_t id, pfr_error *err) {
    return u64_map_put(&index->of_tid, tid, id, err);
}

void thread_index_close(struct thread_index *index) {
    if (!index->model)
        return;
    mem_free(index->model->memory, index->of_generation, index->generations, sizeof *index->of_generation);
    u64_map_free(&index->of_tid);
    *index = (struct thread_index){.model = NULL};
}

uint32_t thread_index_find(const struct thread_index *index, uint32_t tid, uint64_t time) {
    const struct record_key key = {time, UINT64_MAX, UINT64_MAX};
    struct thread_view view;
    uint64_t id = 0;
    thread_at(&index->model->profile->state.threads, NOBODY, tid, key, &view);
    if (view.generation != NO_GENERATION && view.generation < index->generations)
        return index->of_generation[view.generation];
    u64_map_get(&index->of_tid, tid, &id);
    return (uint32_t)id;
}
