/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_WIRE_LAYOUT_RANDOM_H
#define PFR_WIRE_LAYOUT_RANDOM_H
/*
 * Random but valid instances of any layout, for tests, fuzzers and examples. The same seed gives the same instance on
 * every machine. Counts are small, masks are sparse or full, presence rules are kept, and members that select a layout
 * mostly select an existing one.
 *
 *    struct random_numbers random = {seed};
 *    struct pfr_context context = random_context(&random, layout, swap, mirrored);
 *    status = layout_random(&random, layout, &context, &arena, &rec, &err);
 */
#include "base/memory/arena.h"
#include "wire/layout.h"

struct random_numbers {
    uint64_t state;
};

uint64_t random_u64(struct random_numbers *random);
/* 0 to below - 1; 0 when below is 0. */
uint64_t random_below(struct random_numbers *random, uint64_t below);

/* A context under which the layout can occur; views of layout_random keep a pointer to the context passed to it. */
struct pfr_context random_context(struct random_numbers *random, const struct layout *l, bool swap, bool mirrored);

/* Fills `rec` (l->size bytes); its views are in the arena. layout_write with an unknown extent writes all of `rec`.
   Errors: MEMORY. */
pfr_status layout_random(struct random_numbers *random, const struct layout *l, const struct pfr_context *c,
                         struct arena *arena, void *rec, pfr_error *err);

#endif
