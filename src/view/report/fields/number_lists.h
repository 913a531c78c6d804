/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_NUMBER_LISTS_H
#define PFR_VIEW_NUMBER_LISTS_H
/*
 * Partitions the numbers 0 to count - 1 into lists, in ascending order within each list. A caller that needs one list,
 * for example the rows of one event, then need not scan all numbers.
 *
 *     number_lists_make(&lists, memory, rows, events, event_of, report, &err);
 *     for (size_t i = lists.starts[event]; i < lists.starts[event + 1]; i++)
 *         use(lists.at[i]);
 *     number_lists_free(&lists, memory);
 */
#include "base/memory/memory.h"

struct number_lists {
    uint32_t *at;
    uint32_t *starts; /* nr_lists + 1 entries; NULL before number_lists_make */
    size_t count, nr_lists;
};

/* Returns the list that a number belongs to; the result must be less than nr_lists. */
typedef uint32_t number_list_of(const void *context, uint32_t number);

/* Partitions 0 to count - 1. Fails only if memory runs out; *lists is empty then. */
pfr_status number_lists_make(struct number_lists *lists, struct memory *memory, uint32_t count, size_t nr_lists,
                             number_list_of *list_of, const void *context, pfr_error *err);
void number_lists_free(struct number_lists *lists, struct memory *memory);

#endif
