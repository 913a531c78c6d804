/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_VALUE_HISTORY_H
#define PFR_MODEL_VALUE_HISTORY_H
/* The values of a number over time, by key. Changes mostly arrive in key order; late changes are inserted. */
#include "base/memory/arena.h"
#include "model/state/record_key.h"

struct change {
    struct record_key key;
    uint32_t value;
};

struct changes {
    struct change *at; /* sorted by key */
    uint32_t count, room;
};

#define NO_VALUE UINT32_MAX

/* Adds a change. Allocates from the arena, which must outlive the list. */
pfr_status changes_add(struct changes *list, struct arena *arena, uint32_t value, struct record_key key,
                       pfr_error *err);
/* Number of changes with a smaller key. */
size_t changes_before(const struct changes *list, struct record_key key);
/* The last change with a smaller key; NULL: there is none. */
const struct change *changes_last(const struct changes *list, struct record_key key);
/* The value of the last change with a smaller key; NO_VALUE: there is none. */
uint32_t changes_at(const struct changes *list, struct record_key key);

#endif
