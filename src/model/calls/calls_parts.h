/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_PARTS_H
#define PFR_MODEL_CALLS_PARTS_H
/*
 * How calls are made of a trace, one file for each step:
 *
 *     calls_index.c   a flight recorder's buffers, by thread and in the order of time
 *     calls_paths.c   paths as a tree
 *     calls_pair.c    enters and exits of one thread to calls
 *     calls_fast_path.c   the same in one loop, as long as nothing but plain calls come
 *     calls_gather.c  finished calls by path
 *     calls_worker.c    the buffers of a lane's threads to enters and exits
 *     calls_chunk.c the same for all threads as they lie in the file, a stretch of it for each lane
 *     calls_pending.c what a stretch cannot know of the calls that were open before it
 *     calls_round_robin.c   the same by lanes that take the buffers in turns, so that whole paths are known
 *     calls_join.c    what a stretch has summed by paths that begin in the midst, by whole paths
 *     calls_prefetch.c   the same for one lane, while others decode what comes next
 *     calls_log.c     basic logs and profile files, whose records come as they lie in the file
 *     calls.c         the passes over the trace
 *
 * Buffers lie in the file as slots of a ring, not in the order of time. Where all of them are whole, hopping from one
 * to the next finds them, and who reads them later sees every byte once. Where anything is wrong, all of it begins
 * anew: a walk over every record tells the holes in the order of the file and keeps pieces, each of one buffer and one
 * thread.
 *
 * The functions of each file are declared in the header of its name; what several share is here.
 */
#include "model/calls/calls.h"

#include "base/memory/fail.h"
#include "base/tables/intern.h"
#include "base/memory/sizes.h"
#include "file/read/recording.h"
#include "file/read/slice.h"
#include "file/xray/xray_calls.h"
#include "file/xray/xray_slice.h"

#include <pthread.h>
#include <string.h>

/* A thread of a table of them, where bytes have no alignment. */
static inline struct calls_thread calls_thread_at(const struct intern_table *threads, uint32_t number) {
    struct calls_thread thread;
    memcpy(&thread, intern_get(threads, number).bytes, sizeof thread);
    return thread;
}

/* --- calls_index.c */

/* A piece of a buffer that is of one thread, mostly the whole buffer. */
struct calls_piece {
    struct trace_slice slice;
    uint64_t time; /* of the buffer: its first NewCPUId, else its first call */
    uint32_t thread;
    uint32_t place; /* how many lie before it in the file */
};

struct calls_index {
    struct memory *memory;
    struct intern_table threads; /* struct calls_thread, by number */
    struct calls_piece *pieces;  /* in the end by thread, time, place */
    size_t count, room;
    uint64_t buffers;
    size_t *thread_begins; /* by thread, and one more */
    uint32_t *by_size;     /* threads, those first that have most to read */
};

/* --- calls_pair.c */

struct open_call {
    uint64_t enter, callees; /* ticks; callees modulo 2^64 */
    uint32_t function, node;
};

#define CALLS_BATCH ((unsigned)SIZE_MOST_calls_batch)
#define CALLS_LOW 16384u       /* functions below it have a place by number */
#define NO_FUNCTION UINT32_MAX /* none of a flight recorder */
#define CALLS_NEAR 128u        /* open calls that a lone exit is looked for among; above them, there are counts */

/* What a thread did that only who knows what was open before can tell; see calls_pending.c. */
struct calls_pending {
    struct pending_call *at;
    size_t count, room;
    uint32_t base; /* where paths are whole: the path that stands for what was open before */
    bool wanted;   /* what was open before is not known */
    bool too_many; /* and so nothing is known */
};

/* What is open in a thread. */
struct thread_calls {
    struct memory *memory;
    struct open_call *open; /* the first one stands for the root, and gathers what is at the top */
    size_t depth, room;     /* without and with the first one */
    struct u64_map above;   /* function -> how many of it are open above CALLS_NEAR */
    uint64_t over;          /* enters above CALLS_DEEPEST that were not left */
    struct calls_pending pending;
};

/* The first children of a path, side by side: most paths have no more. Those that are not there have the number 0. */
#define CALL_CHILDREN 4u
struct call_children {
    uint32_t function[CALL_CHILDREN], child[CALL_CHILDREN];
};

/* Others that were met lately, by a hash of both: most enters find theirs there with one look. */
struct call_edge {
    uint32_t parent, function, child; /* child 0: empty */
};
#define CALL_EDGES_BITS 15u

static inline size_t call_edge_place(uint32_t parent, uint32_t function) {
    return (size_t)(((uint64_t)parent << 32 | function) * 0x9e3779b97f4a7c15u >> (64 - CALL_EDGES_BITS));
}

/* What is gathered of a path. */
struct path_sum {
    uint64_t self, count;
};
#define PATH_CALLS 256u
struct path_calls {
    uint64_t callees; /* ticks of what they called */
    uint32_t used;
};
struct path_latencies { /* apart: all of the above fit into the nearest cache */
    uint32_t at[PATH_CALLS];
};
#define GATHERED_MOST 16384u /* paths whose calls are gathered to be measured */

struct calls_gathered {
    enum calls_gather as;
    struct path_sum *sums;    /* by path, all that there are, or */
    struct path_calls *calls; /* by path, the first ones */
    struct path_latencies *latencies;
    uint32_t *touched; /* paths of which there is something */
    uint32_t room, latencies_room, touched_room, nr_touched;
};

/* A lane: what its thread of ours needs. */
struct calls_worker_state {
    struct calls_worker public;
    const struct calls_request *request;
    struct memory memory, paths_memory; /* shares */
    struct call_paths paths;
    struct calls_totals totals;
    struct calls_gathered gathered;
    struct call batch[CALLS_BATCH];
    size_t batched;
    uint32_t of_low[CALLS_LOW];     /* child of the root, by function; 0: not yet */
    struct call_children *children; /* by path, all that there are */
    size_t children_room;
    uint32_t bases;    /* that were made: see calls_pending.c */
    uint32_t *base_is; /* the first lane's path that each of them stands for, once it is known: see calls_join.c */
    struct call_edge edges[1u << CALL_EDGES_BITS];
};

static inline void calls_note_time(struct calls_totals *totals, uint64_t tsc) {
    totals->first = tsc < totals->first ? tsc : totals->first;
    totals->last = tsc > totals->last ? tsc : totals->last;
}

/* Each of them: the clock may step back anywhere, so the first and the last are not enough. */
static inline void calls_note_times(struct calls_totals *totals, const struct trace_call *calls, size_t count) {
    for (size_t i = 0; i < count; i++)
        calls_note_time(totals, calls[i].tsc);
}

/* --- calls_gather.c */

/* 0: it was not met lately. */
static inline uint32_t call_edge_met(const struct calls_worker_state *l, uint32_t parent, uint32_t function) {
    const struct call_edge *edge = &l->edges[call_edge_place(parent, function)];
    return edge->parent == parent && edge->function == function ? edge->child : 0;
}

/* The same, all four children at once, since no one knows which of them it is. */
static inline uint32_t call_child_met(const struct calls_worker_state *l, uint32_t parent, uint32_t function) {
    typedef uint32_t four __attribute__((vector_size(16)));
    const struct call_children *of = &l->children[parent];
    four functions, children;
    uint64_t half[2];
    memcpy(&functions, of->function, sizeof functions);
    memcpy(&children, of->child, sizeof children);
    children &= (four)(functions == function);
    memcpy(half, &children, sizeof half);
    const uint64_t both = half[0] | half[1];
    const uint32_t child = (uint32_t)(both | both >> 32);
    return child ? child : call_edge_met(l, parent, function);
}

static inline uint32_t call_met_at_root(const struct calls_worker_state *l, uint32_t function) {
    return function < CALLS_LOW ? l->of_low[function] : call_edge_met(l, PATH_ROOT, function);
}

/* The path of a call, 0 where it or that of its caller was not met lately. */
static inline uint32_t call_path_met(const struct calls_worker_state *l, const struct open_call *caller, bool is_root,
                                     uint32_t function, unsigned reach) {
    if (reach == 0)
        return call_child_met(l, caller->node, function);
    if (reach == 1 || is_root)
        return call_met_at_root(l, function);
    const uint32_t parent = call_met_at_root(l, caller->function);
    return parent ? call_child_met(l, parent, function) : 0;
}

/* --- calls_worker.c */

/* A thread of ours that has a lane. */
struct calls_runner {
    struct calls_workers *all;
    struct calls_worker_state worker;
    pfr_reader *reader; /* of pieces */
    struct memory own;
    pthread_t thread;
    bool runs;
    pfr_status status;
    pfr_error err;
};

struct calls_workers {
    const struct calls_request *request;
    pfr_reader *reader;
    struct memory *memory; /* the reader's */
    const struct calls_index *index;
    bool clean;                 /* a hole ends it: PFR_HOLE */
    uint32_t next;              /* thread that nobody took, in by_size; atomic */
    struct chunks *chunks;      /* or these instead of an index */
    struct thread_turns *turns; /* or these */
    struct calls_runner *at;
    uint32_t count, room;
};

/* What lies so is read at once, up to so much. */
#define CALLS_AHEAD_MOST ((uint64_t)sizes.input_chunk)
static inline bool calls_lie_close(uint64_t until, uint64_t next) {
    return next >= until && next - until <= 2 * TRACE_FIRST_BUFFER;
}

static inline void calls_count_event(struct calls_totals *totals, const pfr_record *rec) {
    totals->custom += rec->type == PFR_TRACE_CUSTOM_EVENT;
    totals->typed += rec->type == PFR_TRACE_TYPED_EVENT;
    totals->arguments += rec->type == PFR_TRACE_CALL_ARGUMENT;
}

#endif
