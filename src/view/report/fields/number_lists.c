/* SPDX-License-Identifier: Apache-2.0 */
/* See number_lists.h. */
#include "view/report/fields/number_lists.h"

#include "base/memory/fail.h"

/* Counting sort: counts the numbers of each list, sums the counts up to the index where each list ends, then takes the
   numbers from last to first and stores each one before the current end of its list. */
static void sort(struct number_lists *lists, number_list_of *list_of, const void *context) {
    for (uint32_t i = 0; i < lists->count; i++)
        lists->starts[list_of(context, i)]++;
    for (size_t i = 1; i <= lists->nr_lists; i++)
        lists->starts[i] += lists->starts[i - 1];
    for (uint32_t i = (uint32_t)lists->count; i-- > 0;)
        lists->at[--lists->starts[list_of(context, i)]] = i;
}

pfr_status number_lists_make(struct number_lists *lists, struct memory *memory, uint32_t count, size_t nr_lists,
                             number_list_of *list_of, const void *context, pfr_error *err) {
    *lists = (struct number_lists){.count = count, .nr_lists = nr_lists};
    lists->at = mem_alloc(memory, count, sizeof *lists->at);
    lists->starts = lists->at ? mem_zeroed(memory, nr_lists + 1, sizeof *lists->starts) : NULL;
    if (!lists->starts) {
        number_lists_free(lists, memory);
        return mem_fail(memory, err, "report");
    }
    sort(lists, list_of, context);
    return PFR_OK;
}

void number_lists_free(struct number_lists *lists, struct memory *memory) {
    mem_free(memory, lists->at, lists->count, sizeof *lists->at);
    mem_free(memory, lists->starts, lists->nr_lists + 1, sizeof *lists->starts);
    *lists = (struct number_lists){.at = NULL};
}
