/* SPDX-License-Identifier: Apache-2.0 */
/* Copies bytes from a ring buffer. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "record/rings/ring_copy.h"

const uint8_t *ring_data(const struct ring *ring) {
    return (const uint8_t *)ring->page + page_size();
}

void ring_copy(const struct ring *ring, uint64_t from, void *to, size_t length) {
    for (size_t i = 0; i < length; i++)
        ((uint8_t *)to)[i] = ring_data(ring)[(from + i) & (ring->bytes - 1)];
}
