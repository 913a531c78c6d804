/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_NUMBER_LISTS_H
#define PFR_VIEW_NUMBER_LISTS_H
/*
 * Numbers sorted into lists, so that who wants one list does not look at all numbers: rows by event, say. In a list
 * they are in order.
 *
 *     number_lists_make(&lists, memory, rows, events, event_of, report, &err);
 *     for (size_t i = lists.starts[event]; i < lists.starts[event + 1]; i++)
 *         use(lists.at[i]);
 *     number_lists_free(&lists, memory);
 */
#include "base/memory/memory.h"

struct number_lists {
    uint32_t *at;
    uint32_t *starts; /* nr_lists + 1 of them; NULL: not made */
    size_t count, nr_lists;
};

/* The list of a number, below `lists`. */
typedef uint32_t number_list_of(const void *context, uint32_t number);

/* Of 0 to count - 1. Errors: no memory; then *lists is empty. */
pfr_status number_lists_make(struct number_lists *lists, struct memory *memory, uint32_t count, size_t nr_lists,
                             number_list_of *list_of, const void *context, pfr_error *err);
void number_lists_free(struct number_lists *lists, struct memory *memory);

#endif
