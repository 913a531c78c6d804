/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_ENTRIES_H
#define PFR_MODEL_PROFILE_ENTRIES_H
/* What other files use of profile_entries.c, which says how it works. */
#include "model/profile/count/profile_parts.h"

/* Of a counter whose keys are known. common NULL: a table of its own, in this memory. */
pfr_status counter_entries_begin(struct sample_counter *c, struct entry_table *common, struct memory *memory,
                                 pfr_error *err);

/* Slots, when nobody looks for entries any more; then entries. */
void counter_entries_free_slots(struct entry_table *t);
void counter_entries_free(struct entry_table *t, size_t stride);

/* Around all that looks at entries or at nodes, and makes at most so many nodes and BATCH entries. Only where tables
   and trees are shared it does anything. < 0: not within. */
pfr_status counter_enter(struct sample_counter *c, uint32_t nodes, pfr_error *err);
void counter_leave(struct sample_counter *c, uint32_t nodes);

/* Within: what the slot of this key holds; 0: there is no entry, and *empty, if anybody asks, is where it belongs, if
   no other lane puts something there. */
uint64_t entry_find(const struct sample_counter *c, const uint64_t *key, uint64_t hash, uint64_t **empty);

/* A new one, unless another lane makes it first; *entry is what the slot holds then. */
pfr_status entry_put(struct sample_counter *c, const uint64_t *key, uint64_t hash, const struct entry_count *count,
                     uint64_t *entry, pfr_error *err);
void entry_add(const struct sample_counter *c, struct entry_count *count, uint64_t weight);

/* The entry of this key, NULL: none; and a new one. */
struct entry_count *counter_find(const struct sample_counter *c, const uint64_t *key);
pfr_status counter_put(struct sample_counter *c, const uint64_t *key, const struct entry_count *count, pfr_error *err);

#endif
