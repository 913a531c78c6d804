/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_ENTRIES_H
#define PFR_MODEL_PROFILE_ENTRIES_H
/* Table of entries, found by hash: private to a worker, or shared by all. */
#include "model/profile/count/profile_parts.h"

/* Initialises the counter's table; call it when the counter's keys are known. common NULL: a private table, in
   `memory`. */
pfr_status counter_entries_begin(struct sample_counter *c, struct entry_table *common, struct memory *memory,
                                 pfr_error *err);

/* counter_entries_free_slots frees the slots, which are needed only for lookups. counter_entries_free frees the
   entries. */
void counter_entries_free_slots(struct entry_table *t);
void counter_entries_free(struct entry_table *t, size_t stride);

/* Enclose all code that reads entries or nodes, or adds at most `nodes` nodes and BATCH entries, in counter_enter and
   counter_leave. The two calls only have an effect if tables and trees are shared. < 0: not entered. */
pfr_status counter_enter(struct sample_counter *c, uint32_t nodes, pfr_error *err);
void counter_leave(struct sample_counter *c, uint32_t nodes);

/* Returns the slot value of this key. Call it between counter_enter and counter_leave. 0: the key has no entry; the
   slot for a new entry is then in *empty, unless `empty` is NULL, and stays usable until another worker fills it. */
uint64_t entry_find(const struct sample_counter *c, const uint64_t *key, uint64_t hash, uint64_t **empty);

/* Adds an entry, unless another worker adds an equal entry first. *entry is the slot value of the entry that was
   added. */
pfr_status entry_put(struct sample_counter *c, const uint64_t *key, uint64_t hash, const struct entry_count *count,
                     uint64_t *entry, pfr_error *err);
void entry_add(const struct sample_counter *c, struct entry_count *count, uint64_t weight);

/* counter_find returns the entry of this key, or NULL if there is none. counter_put adds an entry. */
struct entry_count *counter_find(const struct sample_counter *c, const uint64_t *key);
pfr_status counter_put(struct sample_counter *c, const uint64_t *key, const struct entry_count *count, pfr_error *err);

#endif
