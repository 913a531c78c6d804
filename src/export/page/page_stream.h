/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PAGE_STREAM_H
#define PFR_EXPORT_PAGE_STREAM_H
/*
 * The data of a page as one stream of bytes, which web/bytes.js reads: "PFRVIEW1", the length of a directory as u32,
 * the directory (JSON: what is known of the recording, then name, count and width of each column), the columns. A
 * column is stored as byte planes, low bytes first, because gzip then finds what is alike; its width is what its
 * largest number needs, at most 7 bytes: page_data_finish sees to it that no number has more than PAGE_NUMBER_BITS.
 */
#include "export/page/page_calls.h"
#include "export/page/page_changes.h"
#include "export/page/page_code.h"
#include "export/page/page_intervals.h"
#include "export/page/page_rows.h"

#define PAGE_NUMBER_BITS 53u /* a double of JavaScript holds so many exactly */

struct page_data {
    const pfr_model *told;     /* whose facts the page tells: the recording */
    const pfr_model *baseline; /* NULL: nothing is compared */
    uint32_t nr_new_events;    /* events after these are the baseline's */
    struct page_tables tables;
    struct page_rows rows;
    struct page_calls calls;
    struct page_intervals intervals;
    struct page_code code;
    struct page_changes changes;
    uint32_t *threads;   /* page's number -> id of the model: those that have samples or calls */
    uint32_t *number_of; /* id of the model -> page's number */
    uint32_t *rank_of;   /* node -> place among nodes by how often they are sampled or called */
    uint32_t *node_of_rank;
    uint32_t *text_of_thread, *text_of_process; /* by page's number */
    uint32_t *text_of_object, *path_of_object, *build_of_object;
    uint32_t *mark_of;                              /* marks with a time and a thread that the page has */
    uint64_t *text_ends;                            /* by text: where it ends in the bytes of all */
    uint32_t *samples_of, *calls_of, *intervals_of; /* by page's number of a thread: rows */
    uint32_t nr_threads, nr_marks, nr_model_threads, nr_model_marks, nr_objects, nr_texts;
    uint64_t begin, end;   /* ns: the first sample or call, which is time 0 of the page, and the last */
    unsigned weight_shift; /* weights are divided by 2^this */
    unsigned call_shift;   /* times and durations of calls, too */
    const char *version;
    uint32_t nr_ranks;       /* nodes that rank_of and node_of_rank have room for */
    uint64_t least_samples;  /* stacks with fewer are one beside their siblings; 0: all are there */
    uint64_t pruned_samples; /* in such stacks */
    char **losses;           /* sentences, ends with NULL; not owned */
};

/* Numbers threads, ranks nodes, interns the last texts. Errors: MEMORY, LIMIT. */
pfr_status page_data_finish(struct page_data *data, struct memory *memory, pfr_error *err);
void page_data_free(struct page_data *data, struct memory *memory);

/* Makes the tree smaller: stacks with fewer than `least_samples` samples, at first 2, at each call four times as many,
   become one frame "[rare stacks]" of their caller. Errors: MEMORY. */
pfr_status page_data_prune(struct page_data *data, struct memory *memory, pfr_error *err);
/* Ranks nodes again. Errors: MEMORY. */
pfr_status page_data_rank(struct page_data *data, struct memory *memory, pfr_error *err);

/* Counts rows again, after they were coarsened or cut. */
void page_data_recount(struct page_data *data);

/* Writes the stream. Errors: MEMORY, LIMIT; failures of `to` stay with it. */
pfr_status page_stream_write(const struct page_data *data, struct output *to, pfr_error *err);

#endif
