/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PAGE_WAITS_H
#define PFR_EXPORT_PAGE_WAITS_H
/*
 * The states of the threads of a page over the whole recording, as in perfray offcpu: sums of their intervals by state,
 * reason, function of the program, and waker. Intervals that the timeline omits count as well.
 */
#include "export/page/page_tables.h"

#include <perfray/spans.h>

enum page_state { PAGE_RUNNING, PAGE_RUNNABLE, PAGE_BLOCKED, PAGE_NO_STATE };

struct page_wait {
    uint64_t ns, count;
    uint64_t longest, start;   /* duration and start of the longest interval */
    uint64_t open;             /* part of `ns`: intervals that began before the recording or lasted beyond its end */
    uint64_t stacked, library; /* parts of `ns`: blocked with a call chain, and with one that ends in the C library */
    uint32_t thread, waker;    /* ids in the model; waker 0: not known, or no thread */
    uint32_t func, by;         /* function of the program and of the waker, plus 1; 0: not known */
    uint32_t line;             /* line of the function's source file; 0: not known */
    uint32_t number;           /* as page_interval.wait; see page_waits_row */
    uint32_t nr_threads;       /* of a group: number of its threads */
    uint8_t state, reason;     /* enum page_state, pfr_wait_reason */
    bool in_library;           /* the stack ends in the C library, without the function that called it */
    bool is_condition;         /* a wait for a condition variable, whose reason is PFR_WAIT_LOCK */
};

struct page_waits {
    struct memory *memory;
    struct page_wait *at; /* by thread and time */
    struct page_wait
        *groups; /* blocked time by reason and function, largest first; thread and waker are of the largest part */
    size_t count, room, nr_groups, groups_room;
    uint32_t *of_interval; /* by index of an interval of the model: number of its sum */
    uint32_t *into, *row;  /* by number of a sum: the sum that it was merged with, or itself; index in `at` */
    size_t nr_intervals, nr_numbers;
    uint64_t least;   /* ns: page_waits_cut merged sums below this; 0: it merged none */
    uint64_t merged;  /* number of sums that were merged with others */
    uint64_t blocked; /* ns of waits that began and ended in the recording */
    uint64_t grouped; /* sum of `groups`: ns, or with `has_counts` context switches */
    bool has_counts;  /* `ns` of groups are numbers of context switches */
    bool of_command;  /* `groups` are of threads of the recorded command only */
};

/* Sums the intervals of the model; there are none if the recording does not show when threads ran. `of_command` has a 1
   for each thread of the recorded command, by id of the model; NULL: not known. Errors: MEMORY. page_waits_free must
   always be called afterwards. */
pfr_status page_waits_read(struct page_waits *waits, const struct page_tables *tables, const uint8_t *of_command,
                           struct memory *memory, pfr_error *err);
/* Makes only `groups`, from samples of context switches whose times are not known. There must be no intervals. Errors:
   MEMORY, and errors of reading samples. */
pfr_status page_waits_count(struct page_waits *waits, const struct page_tables *tables, const uint8_t *of_command,
                            pfr_error *err);
void page_waits_free(struct page_waits *waits);

/* Reduces the sums to about half: the smallest ones of a thread with the same state and reason become one, in the
   function `rest`, without a waker. Times by thread, state and reason stay exact. Returns whether there are fewer. */
bool page_waits_cut(struct page_waits *waits, uint32_t rest);

/* The row in `at` of the sum with this number, or of the sum that it was merged with. */
uint32_t page_waits_row(const struct page_waits *waits, uint32_t number);

/* Writes a group as markup: "lock in want_lock (worker 7 and 2 other threads), ended by holder in hold_lock". */
struct output;
void page_wait_write(const struct page_wait *group, const struct page_tables *tables, struct output *to);
/* Blocked time in intervals that began and ended in the recording; the cause or the end of the
   others was not recorded. 0 for other states. */
static inline uint64_t page_wait_closed(const struct page_wait *wait) {
    return wait->state == PAGE_BLOCKED ? wait->ns - wait->open : 0;
}
#endif
