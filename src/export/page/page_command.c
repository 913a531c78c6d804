/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of the recorded command and its descendants, which a page of the whole machine shows first. */
#include "export/page/page_command.h"

#include "base/memory/fail.h"
#include "model/open/model_command.h"

static size_t count_threads(const struct page_data *d) {
    return pfr_model_count(d->tables.model, PFR_TABLE_THREAD);
}

/* Sets d->of_command for the threads of one recording; `before` other threads precede them in the
   model of the page. Returns how many threads of the recording do not belong to the command. */
static uint32_t mark_threads(struct page_data *d, const pfr_model *side, uint32_t before, const uint8_t *processes) {
    uint32_t others = 0;
    for (uint32_t id = 1; id <= pfr_model_count(side, PFR_TABLE_THREAD) && before + id <= count_threads(d); id++) {
        const pfr_model_thread *thread = pfr_model_get_thread(side, id);
        const bool is_commands = processes && processes[thread->process];
        d->of_command[before + id] = is_commands;
        others += !is_commands && thread->tid != UINT32_MAX; /* samples of an exiting thread have tid -1 */
    }
    return others;
}

static pfr_status mark_side(struct page_data *d, const pfr_model *side, uint32_t before, uint32_t *others,
                            struct memory *memory, pfr_error *err) {
    uint8_t *processes;
    PFR_TRY(model_command_marks(side, memory, &processes, err));
    *others += mark_threads(d, side, before, processes);
    d->has_command |= processes != NULL;
    model_command_free(side, memory, processes);
    return PFR_OK;
}

pfr_status page_command_mark(struct page_data *d, struct memory *memory, pfr_error *err) {
    uint32_t others = 0;
    d->of_command = mem_zeroed(memory, count_threads(d) + 1, 1);
    if (!d->of_command)
        return mem_fail(memory, err, "threads");
    PFR_TRY(mark_side(d, d->described, 0, &others, memory, err));
    if (d->baseline)
        PFR_TRY(mark_side(d, d->baseline, d->nr_new_threads, &others, memory, err));
    d->has_command &= others > 0;
    return PFR_OK;
}

pfr_status page_command_weigh(struct page_data *d, struct memory *memory, pfr_error *err) {
    if (!d->has_command)
        return PFR_OK;
    d->own_self = mem_zeroed(memory, d->tables.nr_funcs, sizeof *d->own_self);
    if (!d->own_self)
        return mem_fail(memory, err, "functions");
    for (size_t i = 0; i < d->rows.count; i++) {
        const struct page_row *row = &d->rows.at[i];
        if (row->event || !row->node || !d->of_command[row->thread])
            continue;
        d->own_self[d->tables.nodes[row->node].func] += row->weight;
        d->own_total += row->weight;
    }
    return PFR_OK;
}

void page_command_free(struct page_data *d, struct memory *memory) {
    mem_free(memory, d->own_self, d->own_self ? d->tables.nr_funcs : 0, sizeof *d->own_self);
    mem_free(memory, d->of_command, d->of_command ? count_threads(d) + 1 : 0, 1);
}
