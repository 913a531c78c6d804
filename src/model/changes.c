/* SPDX-License-Identifier: Apache-2.0 */
/* A number through time: see changes.h. */
#include "model/changes.h"

#include "base/fail.h"

#include <string.h>

pfr_status changes_add(struct changes *list, struct memory *memory, uint32_t value, struct key key, pfr_error *err) {
    size_t at = list->count;
    if (list->count == list->room) {
        void *more = mem_grow(memory, list->at, list->count, &list->room, 2, sizeof *list->at);
        if (!more)
            return mem_fail(memory, err, "state");
        list->at = more;
    }
    while (at > 0 && key_before(&key, &list->at[at - 1].key))
        at--;
    memmove(list->at + at + 1, list->at + at, (list->count++ - at) * sizeof *list->at);
    list->at[at] = (struct change){key, value};
    return PFR_OK;
}

size_t changes_before(const struct changes *list, struct key key) {
    size_t low = 0, high = list->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (key_before(&list->at[middle].key, &key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t changes_at(const struct changes *list, struct key key) {
    const size_t before = changes_before(list, key);
    return before ? list->at[before - 1].value : NO_VALUE;
}

void changes_free(struct changes *list, struct memory *memory) {
    mem_free(memory, list->at, list->room, sizeof *list->at);
    *list = (struct changes){0};
}
