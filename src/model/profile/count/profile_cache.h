/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_CACHE_H
#define PFR_MODEL_PROFILE_CACHE_H
/* Interface of profile_cache.c, which describes how it works. */
#include "model/profile/result/profile_frames.h"

void frame_cache_init(struct frame_cache *c, struct frames_of *frames, struct memory *memory);
void frame_cache_free(struct frame_cache *c);

/* Finds the frame of an address at a timestamp key; key NULL: by the final state. */
pfr_status frame_cache_find(struct frame_cache *c, unsigned mode, uint32_t space, uint64_t address,
                            const struct record_key *key, struct frame_found *found, pfr_error *err);
pfr_status frame_cache_find_in(struct frame_cache *c, uint64_t in, uint64_t address, struct frame_found *found,
                               pfr_error *err);

/* Gets the frame of an address from the cache. False: it is not cached. */
bool frame_cache_knows(const struct frame_cache *c, uint64_t in, uint64_t address, struct frame_found *found);

/* Prefetches the data of the next lookup, so that the lookups of several addresses overlap. */
void frame_cache_expect(const struct frame_cache *c, uint64_t in, uint64_t address, struct place *place);
pfr_status frame_cache_settle(struct frame_cache *c, uint64_t in, uint64_t address, struct place *place,
                              struct frame_found *found, pfr_error *err);

/* Finds the place of an address at any timestamp key. */
void frame_cache_place(const struct frame_cache *c, unsigned mode, uint32_t space, uint64_t address,
                       const struct record_key *key, struct place *place);
pfr_status frame_cache_at(struct frame_cache *c, struct place *place, unsigned mode, uint64_t address,
                          struct frame_found *found, pfr_error *err);

#endif
