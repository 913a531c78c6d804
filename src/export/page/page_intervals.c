/* SPDX-License-Identifier: Apache-2.0 */
/* Intervals of a page: see page_intervals.h. */
#include "export/page/page_intervals.h"

#include "base/memory/fail.h"

#include <perfray/spans.h>
#include <stdlib.h>

void page_intervals_free(struct page_intervals *intervals) {
    mem_free(intervals->memory, intervals->at, intervals->room, sizeof *intervals->at);
}

static size_t count_shorter(const struct page_intervals *intervals, uint64_t duration) {
    size_t count = 0;
    for (size_t i = 0; i < intervals->count; i++)
        count += intervals->at[i].duration < duration;
    return count;
}

void page_intervals_cut(struct page_intervals *intervals, size_t most) {
    size_t kept = 0;
    if (intervals->count <= most)
        return;
    uint64_t shortest = intervals->shortest ? intervals->shortest : 1;
    while (shortest < UINT64_MAX / 2 && intervals->count - count_shorter(intervals, shortest) > most)
        shortest *= 2;
    for (size_t i = 0; i < intervals->count; i++)
        if (intervals->at[i].duration >= shortest)
            intervals->at[kept++] = intervals->at[i];
    intervals->shortest = shortest;
    intervals->left_out += intervals->count - kept;
    intervals->count = kept;
}

static int by_thread_and_start(const void *a, const void *b) {
    const struct page_interval *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

pfr_status page_intervals_read(struct page_intervals *intervals, const struct page_tables *t,
                               const struct page_waits *waits, size_t most, struct memory *memory, pfr_error *err) {
    const pfr_interval *interval;
    *intervals = (struct page_intervals){.memory = memory};
    for (uint64_t i = 0; (interval = pfr_model_interval(t->model, i)); i++) {
        void *grown = mem_grow(memory, intervals->at, intervals->count, &intervals->room, 1024, sizeof *intervals->at);
        if (!grown)
            return mem_fail(memory, err, "intervals");
        intervals->at = grown;
        intervals->at[intervals->count++] = (struct page_interval){.start = interval->start,
                                                                   .duration = interval->duration,
                                                                   .thread = interval->thread,
                                                                   .wait = waits->of_interval[i],
                                                                   .open = interval->open_start || interval->open_end,
                                                                   .kind = (uint8_t)interval->kind};
    }
    page_intervals_cut(intervals, most);
    if (intervals->count)
        qsort(intervals->at, intervals->count, sizeof *intervals->at, by_thread_and_start);
    return PFR_OK;
}
