/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PAGE_MARKS_H
#define PFR_EXPORT_PAGE_MARKS_H
/*
 * Marks of a page in time order: losses of the recording, and events that the traced program logged. If logged events
 * take too much space, only one in N of them is shown.
 */
#include "export/page/page_tables.h"

struct page_mark {
    uint64_t time, count;        /* ns; see pfr_mark */
    uint32_t thread, text, type; /* thread id in the model, 0: not known; id of a text, 0: none */
    uint32_t index;              /* in the model: the order of marks with equal times */
    uint8_t kind;                /* pfr_mark_kind */
};

struct page_marks {
    struct memory *memory;
    struct page_mark *at;
    size_t count, room;
    uint64_t logged, left_out; /* numbers of logged events, and of those not shown */
};

/* Whether the traced program logged the mark; other marks are losses and throttling. */
bool page_mark_is_logged(const struct page_mark *mark);

/* Reads the marks that have a time; logged events take at most `most` bytes. Errors: MEMORY, LIMIT. page_marks_free
   must always be called afterwards. */
pfr_status page_marks_read(struct page_marks *marks, struct page_tables *tables, uint64_t most, struct memory *memory,
                           pfr_error *err);
void page_marks_free(struct page_marks *marks);

/* Extends a range of time to all logged events; an empty range (begin > end) becomes their range. */
void page_marks_extend(const struct page_marks *marks, uint64_t *begin, uint64_t *end);
/* Removes the losses outside the range. */
void page_marks_keep(struct page_marks *marks, uint64_t begin, uint64_t end);

#endif
