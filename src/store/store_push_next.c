/* SPDX-License-Identifier: Apache-2.0 */
/* Sends the rows of a push to the engine, and remembers which dictionary rows were sent. */
#include "store/store_push.h"

pfr_status push_next(struct push *p, enum store_table_number table, pfr_error *err) {
    struct store_columns *c = &p->columns[table];
    if (!store_columns_next(c))
        return PFR_OK;
    PFR_TRY(p->store->engine->insert(p->store->handle, table, store_columns_batch(c), err));
    store_columns_clear(c);
    return PFR_OK;
}

pfr_status push_is_new(struct push *p, uint64_t hash, bool *is_new, pfr_error *err) {
    return u64_map_at(&p->sent, hash, 1, is_new) ? PFR_OK : mem_fail(p->memory, err, "store");
}
