/* SPDX-License-Identifier: Apache-2.0 */
/* Makes sorted lists of the start and end times of all intervals in which threads ran. Unknown states do not count as
   running. */
#include "model/sched/latency_weights.h"

#include "file/read/recording.h"
#include "model/sched/sched_walk.h"

#include <stdlib.h>

static pfr_status put(struct running_threads *all, uint64_t **times, size_t *room, uint64_t time, pfr_error *err) {
    uint64_t *grown = mem_grow(all->memory, *times, all->count, room, 256, sizeof *grown);
    if (!grown)
        return mem_fail(all->memory, err, "thread states");
    grown[all->count] = time;
    *times = grown;
    return PFR_OK;
}

static pfr_status take(void *context, const struct thread_interval *interval, pfr_error *err) {
    struct running_threads *all = context;
    if (interval->state != THREAD_RUNNING)
        return PFR_OK;
    PFR_TRY(put(all, &all->begins, &all->begins_room, interval->start, err));
    PFR_TRY(put(all, &all->ends, &all->ends_room, interval->end, err));
    all->count++;
    return PFR_OK;
}

static void restart(void *context) {
    ((struct running_threads *)context)->count = 0;
}

static int by_time(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Intervals come in the order of their ends, so end times are usually sorted already and do not
   need qsort. Start times need it if threads ran in parallel. */
static void sort(uint64_t *times, size_t count) {
    size_t i = 1;
    while (i < count && times[i - 1] <= times[i])
        i++;
    if (i < count)
        qsort(times, count, sizeof *times, by_time);
}

static uint64_t wall_of(const struct running_threads *all) {
    uint64_t wall = 0, since = 0;
    for (size_t begun = 0, ended = 0; ended < all->count; ended++) {
        for (; begun < all->count && all->begins[begun] <= all->ends[ended]; begun++)
            since = begun == ended ? all->begins[begun] : since;
        wall += begun == ended + 1 ? all->ends[ended] - since : 0;
    }
    return wall;
}

pfr_status running_threads_learn(struct running_threads *running, pfr_reader *reader, pfr_error *err) {
    struct sched_walk walk = {.each = take, .restart = restart, .context = running};
    *running = (struct running_threads){.memory = &reader->memory};
    PFR_TRY(sched_walk(&walk, reader, running->memory, err));
    if (!walk.switches && !walk.records)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "latency",
                        "the recording does not show when threads ran (record --switch-events, --off-cpu, or -e "
                        "sched:sched_switch)");
    sort(running->begins, running->count);
    sort(running->ends, running->count);
    running->wall = wall_of(running);
    return pfr_rewind(reader, err);
}
