/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of running threads: see running_threads.h. */
#include "model/profile/result/running_threads.h"

void running_threads_free(struct running_threads *running) {
    if (!running->memory)
        return;
    mem_free(running->memory, running->begins, running->begins_room, sizeof *running->begins);
    mem_free(running->memory, running->ends, running->ends_room, sizeof *running->ends);
    *running = (struct running_threads){.count = 0};
}

static size_t count_before(const uint64_t *times, size_t count, uint64_t time) {
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (times[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t running_threads_at(const struct running_threads *running, uint64_t time) {
    const size_t begun = count_before(running->begins, running->count, time);
    const size_t ended = count_before(running->ends, running->count, time);
    return begun > ended ? begun - ended : 0;
}
