/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_CACHE_H
#define PFR_MODEL_PROFILE_CACHE_H
/* Interface of profile_cache.c, which describes how it works. */
#include "model/profile/result/profile_frames.h"

void frame_cache_init(struct frame_cache *c, struct frames_of *frames, struct memory *memory);
void frame_cache_free(struct frame_cache *c);

/* The frame at one moment; key NULL: as the state at the end has it. */
pfr_status frame_cache_find(struct frame_cache *c, unsigned mode, uint32_t space, uint64_t address,
                            const struct record_key *key, struct frame_found *found, pfr_error *err);
pfr_status frame_cache_find_in(struct frame_cache *c, uint64_t in, uint64_t address, struct frame_found *found,
                               pfr_error *err);

/* False: it is not known. */
bool frame_cache_knows(const struct frame_cache *c, uint64_t in, uint64_t address, struct frame_found *found);

/* The same in two steps, for several addresses at a time: what the second will look at is fetched meanwhile. */
void frame_cache_expect(const struct frame_cache *c, uint64_t in, uint64_t address, struct place *place);
pfr_status frame_cache_settle(struct frame_cache *c, uint64_t in, uint64_t address, struct place *place,
                              struct frame_found *found, pfr_error *err);

/* And of any moment. */
void frame_cache_place(const struct frame_cache *c, unsigned mode, uint32_t space, uint64_t address,
                       const struct record_key *key, struct place *place);
pfr_status frame_cache_at(struct frame_cache *c, struct place *place, unsigned mode, uint64_t address,
                          struct frame_found *found, pfr_error *err);

#endif
