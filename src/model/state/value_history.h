/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_VALUE_HISTORY_H
#define PFR_MODEL_VALUE_HISTORY_H
/* History of a number: its value at any key. Changes mostly arrive in key order; late ones are inserted. */
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

/* Allocates from the arena, which must outlive the list. */
pfr_status changes_add(struct changes *list, struct arena *arena, uint32_t value, struct record_key key,
                       pfr_error *err);
/* Number of changes before the key. */
size_t changes_before(const struct changes *list, struct record_key key);
/* The last change before the key; NULL: no change. */
const struct change *changes_last(const struct changes *list, struct record_key key);
/* The value of that change; NO_VALUE: no change. */
uint32_t changes_at(const struct changes *list, struct record_key key);

#endif
