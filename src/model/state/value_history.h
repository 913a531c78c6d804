/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_VALUE_HISTORY_H
#define PFR_MODEL_VALUE_HISTORY_H
/* A number through time: what it was at any key. Changes come in the order of keys mostly; one that is late takes its
 * place. */
#include "base/memory/arena.h"
#include "model/state/record_key.h"

struct change {
    struct record_key key;
    uint32_t value;
};

struct changes {
    struct change *at; /* by key */
    uint32_t count, room;
};

#define NO_VALUE UINT32_MAX

/* The list lives as long as the arena. */
pfr_status changes_add(struct changes *list, struct arena *arena, uint32_t value, struct record_key key,
                       pfr_error *err);
/* How many changes there are before the key. */
size_t changes_before(const struct changes *list, struct record_key key);
/* The last change before the key; NULL: there is none. */
const struct change *changes_last(const struct changes *list, struct record_key key);
/* Its value; NO_VALUE: there is none. */
uint32_t changes_at(const struct changes *list, struct record_key key);

#endif
