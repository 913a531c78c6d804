/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PAGE_STREAM_H
#define PFR_EXPORT_PAGE_STREAM_H
/*
 * The data of a page as one stream of bytes, which web/bytes.js reads: "PFRVIEW1", the length of a directory as u32,
 * the directory (JSON: facts about the recording, then name, count and width of each column), the columns. A column is
 * stored as byte planes, low bytes first, because this lets gzip find repetitions. The width of a column is the number
 * of bytes of its largest number, at most 7: page_data_finish limits numbers to PAGE_NUMBER_BITS.
 */
#include "export/page/page_calls.h"
#include "export/page/page_changes.h"
#include "export/page/page_code.h"
#include "export/page/page_intervals.h"
#include "export/page/page_latencies.h"
#include "export/page/page_marks.h"
#include "export/page/page_rows.h"
#include "export/page/page_waits.h"

#define PAGE_NUMBER_BITS 53u /* bits of the integers that a double of JavaScript holds exactly */

struct page_data {
    const pfr_model *described; /* the recording whose facts the page shows */
    const pfr_model *baseline;  /* NULL: no comparison */
    struct page_sides sides;    /* with `baseline`: the recordings that are compared */
    uint32_t nr_new_events;     /* events after these are the baseline's */
    uint32_t nr_new_threads;    /* threads of the model after these are the baseline's */
    uint64_t nr_new_marks;      /* marks of the model after these are the baseline's */
    struct page_pair pair;      /* with `baseline`: both models in one */
    struct page_tables tables;
    struct page_rows rows;
    struct page_calls calls;
    struct page_latencies latencies;
    struct page_intervals intervals;
    struct page_waits waits;
    struct page_marks marks;
    struct page_code code;
    struct page_changes changes;
    uint8_t *of_command; /* by id of the model: 1 for threads of the recorded command and its descendants */
    bool has_command;    /* there are such threads, and others */
    uint64_t *own_self;  /* by function: weight of event 1 in threads of the command; NULL without `has_command` */
    uint64_t own_total;  /* weight of event 1 in these threads; 0: none */
    uint32_t *threads;   /* page's number -> id of the model; threads with data, idle threads of their processes */
    uint32_t *number_of; /* id of the model -> page's number */
    uint32_t *rank_of;   /* node -> its rank by how often it was sampled or called */
    uint32_t *node_of_rank;
    uint32_t *text_of_thread, *text_of_process, *text_of_cgroup; /* by page's number */
    uint32_t *text_of_object, *path_of_object, *build_of_object;
    uint64_t *text_ends;                            /* by text: where it ends in the concatenation of all texts */
    uint32_t *samples_of, *calls_of, *intervals_of; /* by page's number of a thread: number of the thread's rows */
    uint32_t idle_left_out;                         /* number of idle threads that the page had no room for */
    uint64_t idle_room;                             /* bytes that idle threads may take */
    uint32_t nr_threads, nr_model_threads, nr_objects, nr_texts;
    /* ns: `begin`, time 0 of the page, is the start of its first sample, call, interval or logged
       event; `end` is the end of the last. */
    uint64_t begin, end;
    uint64_t interval_slot; /* ns; times of intervals are multiples of it */
    unsigned weight_shift;  /* weights are divided by 2^this */
    unsigned call_shift;    /* times of calls and marks, durations of calls are divided by 2^this */
    bool only_switches;     /* all samples are of context switches: page_data_has_only_switches */
    const char *version;
    uint32_t nr_ranks;        /* nodes that rank_of and node_of_rank have room for */
    uint64_t least_samples;   /* stacks with fewer samples are merged with rare siblings; 0: all stacks are kept */
    uint64_t pruned_samples;  /* samples in merged stacks */
    uint64_t exceeded;        /* maximum size in bytes, if the data exceeds it; 0: the data fits */
    const char *const *notes; /* sentences of the caller, or NULL; shown with the losses */
    void (*note)(void *context, const char *sentence); /* as in pfr_view_options; may be NULL */
    void *note_context;
    char **losses; /* sentences, with NULL at the end; page_data_free does not free them */
};

/* Numbers threads, ranks nodes, interns the remaining texts. Errors: MEMORY, LIMIT. */
pfr_status page_data_finish(struct page_data *data, struct memory *memory, pfr_error *err);
void page_data_free(struct page_data *data, struct memory *memory);

/* Reduces the tree: stacks with fewer than `least_samples` samples become one frame "[rare stacks]" of their caller.
   `least_samples` is 2 in the first call, and four times as large in each later one. Errors: MEMORY. */
pfr_status page_data_prune(struct page_data *data, struct memory *memory, pfr_error *err);
/* Ranks nodes again. Errors: MEMORY. */
pfr_status page_data_rank(struct page_data *data, struct memory *memory, pfr_error *err);

/* Whether there are no calls, and all samples are of context switches. The functions of such
   samples are of no interest, because they are all in the scheduler. */
bool page_data_has_only_switches(const struct page_data *data);

/* The unit of the event's weights; NULL: none but "samples" is known. Context switches are "switches", and other events
   of the scheduler are counted by their name. */
const char *page_data_unit(const pfr_model_event *event);

/* Whether a thread of the model is the baseline's. */
bool page_data_is_of_baseline(const struct page_data *data, uint32_t thread);

/* A signed number n in a column: 2n, or -2n - 1 if it is negative. */
static inline uint64_t page_with_sign(int64_t n) {
    return n < 0 ? (uint64_t)-n * 2 - 1 : (uint64_t)n * 2;
}

/* Counts rows again; call it after rows were coarsened or cut. */
void page_data_recount(struct page_data *data);

/* Writes the stream. Errors: MEMORY, LIMIT; errors of the output are kept in `to`. */
pfr_status page_stream_write(const struct page_data *data, struct output *to, pfr_error *err);

#endif
