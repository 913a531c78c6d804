/* SPDX-License-Identifier: Apache-2.0 */
/* The history of a number: see value_history.h. */
#include "model/state/value_history.h"

#include "base/memory/fail.h"

#include <string.h>

#define FIRST_ROOM 1u /* most values change only once */

/* Doubles the room. The old list stays in the arena: all old lists together are no larger than the new one. */
static bool grow(struct changes *list, struct arena *arena) {
    const uint32_t room = list->room ? 2 * list->room : FIRST_ROOM;
    struct change *more = room > list->room ? arena_take(arena, room * sizeof *more, _Alignof(struct change)) : NULL;
    if (!more)
        return false;
    if (list->count)
        memcpy(more, list->at, list->count * sizeof *more);
    list->at = more;
    list->room = room;
    return true;
}

pfr_status changes_add(struct changes *list, struct arena *arena, uint32_t value, struct record_key key,
                       pfr_error *err) {
    size_t at = list->count;
    if (list->count == list->room && !grow(list, arena))
        return mem_fail(arena->memory, err, "state");
    while (at > 0 && key_before(&key, &list->at[at - 1].key))
        at--;
    memmove(list->at + at + 1, list->at + at, (list->count++ - at) * sizeof *list->at);
    list->at[at] = (struct change){key, value};
    return PFR_OK;
}

size_t changes_before(const struct changes *list, struct record_key key) {
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

const struct change *changes_last(const struct changes *list, struct record_key key) {
    const size_t before = changes_before(list, key);
    return before ? &list->at[before - 1] : NULL;
}

uint32_t changes_at(const struct changes *list, struct record_key key) {
    const struct change *last = changes_last(list, key);
    return last ? last->value : NO_VALUE;
}
