/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_ENTRIES_H
#define PFR_MODEL_PROFILE_ENTRIES_H
/* Table of entries, found by hash: private to a worker, or shared by all. */
#include "model/profile/count/profile_parts.h"

/* Call it when the counter's keys are known. common NULL: a private table, in this memory. */
pfr_status counter_entries_begin(struct sample_counter *c, struct entry_table *common, struct memory *memory,
                                 pfr_error *err);

/* The slots can be freed when entries are no longer looked up, the entries later. */
void counter_entries_free_slots(struct entry_table *t);
void counter_entries_free(struct entry_table *t, size_t stride);

/* Enclose all code that reads entries or nodes, or adds at most `nodes` nodes and BATCH entries, in counter_enter and
   counter_leave. They only have an effect if tables and trees are shared. < 0: not entered. */
pfr_status counter_enter(struct sample_counter *c, uint32_t nodes, pfr_error *err);
void counter_leave(struct sample_counter *c, uint32_t nodes);

/* Requires counter_enter. The slot value of this key; 0: no entry, and *empty, unless NULL, is the slot to use, unless
   another worker fills it first. */
uint64_t entry_find(const struct sample_counter *c, const uint64_t *key, uint64_t hash, uint64_t **empty);

/* Adds an entry, unless another worker adds it first; *entry is the slot value then. */
pfr_status entry_put(struct sample_counter *c, const uint64_t *key, uint64_t hash, const struct entry_count *count,
                     uint64_t *entry, pfr_error *err);
void entry_add(const struct sample_counter *c, struct entry_count *count, uint64_t weight);

/* The entry of this key, NULL: none. counter_put adds one. */
struct entry_count *counter_find(const struct sample_counter *c, const uint64_t *key);
pfr_status counter_put(struct sample_counter *c, const uint64_t *key, const struct entry_count *count, pfr_error *err);

#endif
