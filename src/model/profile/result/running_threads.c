/* SPDX-License-Identifier: Apache-2.0 */
/* See running_threads.h. */
#include "model/profile/result/running_threads.h"

void running_threads_free(struct running_threads *running) {
    if (!running->memory)
        return;
    mem_free(running->memory, running->begins, running->begins_room, sizeof *running->begins);
    mem_free(running->memory, running->ends, running->ends_room, sizeof *running->ends);
    *running = (struct running_threads){.count = 0};
}

/* How many of the times are before `time`, or at it. */
static size_t count_until(const uint64_t *times, size_t count, uint64_t time, bool inclusive) {
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (times[middle] < time || (inclusive && times[middle] == time))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t running_threads_at(const struct running_threads *running, uint64_t time) {
    const size_t begun = count_until(running->begins, running->count, time, false);
    const size_t ended = count_until(running->ends, running->count, time, false);
    return begun > ended ? begun - ended : 0;
}
