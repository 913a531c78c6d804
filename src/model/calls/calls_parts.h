/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_PARTS_H
#define PFR_MODEL_CALLS_PARTS_H
/*
 * How the calls of a trace are made, one file per step:
 *
 *    calls_index.c        a flight recorder's buffers, by thread and time
 *    calls_paths.c        paths as a tree
 *    calls_pair.c         pairs enters and exits of one thread
 *    calls_fast_path.c    pairs enters and exits of ordinary calls in one fast loop
 *    calls_gather.c       collects finished calls by path
 *    calls_worker.c       reads the buffers of a worker's threads
 *    calls_chunk.c        reads all threads in file order, one chunk of the file per worker
 *    calls_pending.c      events of a chunk that depend on calls open before it, which the chunk cannot know
 *    calls_round_robin.c  workers take the buffers in turns, so that whole paths are known
 *    calls_join.c         converts a chunk's sums by partial paths to sums by whole paths
 *    calls_prefetch.c     one worker pairs, while other threads decode ahead
 *    calls_log.c          basic logs and profile files, whose records are in file order
 *    calls.c              the passes over the trace
 *
 * Buffers are stored as slots of a ring, not in order of time. If all buffers are complete, hopping from one to the
 * next builds the index, and reading then touches every byte only once. If anything is damaged, everything restarts: a
 * pass over every record reports the holes in file order and keeps pieces, each of one buffer and one thread.
 *
 * The functions of each file are declared in the header of the same name; this header has the data that several files
 * share.
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

/* Copies a thread from a table of threads: the bytes in the table are not aligned. */
static inline struct calls_thread calls_thread_at(const struct intern_table *threads, uint32_t number) {
    struct calls_thread thread;
    memcpy(&thread, intern_get(threads, number).bytes, sizeof thread);
    return thread;
}

/* --- calls_index.c */

/* A piece of a buffer that belongs to one thread; usually the whole buffer. */
struct calls_piece {
    struct xray_slice slice;
    uint64_t time; /* time of the buffer: that of its first NewCPUId, or else of its first call */
    uint32_t thread;
    uint32_t place; /* number of pieces before it in the file */
};

struct calls_index {
    struct memory *memory;
    struct intern_table threads; /* struct calls_thread, by number */
    struct calls_piece *pieces;  /* in the end sorted by thread, time and position in the file */
    size_t count, room;
    uint64_t buffers;
    size_t *thread_begins; /* index of the first piece of each thread, and the end */
    uint32_t *by_size;     /* threads, those with most bytes first */
};

/* --- calls_pair.c */

struct open_call {
    uint64_t enter, callees; /* ticks; callees modulo 2^64 */
    uint32_t function, node;
};

#define CALLS_BATCH ((unsigned)SIZE_MOST_calls_batch)
#define CALLS_LOW 16384u       /* functions with smaller ids have an entry in calls_worker_state.of_low */
#define NO_FUNCTION UINT32_MAX /* not a function of a flight recorder */
#define CALLS_NEAR 128u        /* outermost open calls, which is_open() searches; deeper ones are counted by function */

/* Events of a thread that depend on the calls open before its chunk; see calls_pending.c. */
struct calls_pending {
    struct pending_call *at;
    size_t count, room;
    uint32_t base; /* for whole paths: the path that represents the calls open before the chunk */
    bool wanted;   /* the calls open before the chunk are unknown */
    bool too_many; /* too many events, so the result is unknown */
};

/* Open calls of a thread. */
struct thread_calls {
    struct memory *memory;
    struct open_call *open; /* the first entry represents the root: it adds up the outermost calls */
    size_t depth, room;     /* `depth` does not count the first entry, `room` does */
    struct u64_map above;   /* function -> number of its open calls above CALLS_NEAR */
    uint64_t over;          /* enters deeper than CALLS_DEEPEST whose exit has not come yet */
    struct calls_pending pending;
};

/* The first children of a path, adjacent in memory; most paths have no others. Unused entries are 0. */
#define CALL_CHILDREN 4u
struct call_children {
    uint32_t function[CALL_CHILDREN], child[CALL_CHILDREN];
};

/* Cache of recently used children that are not in call_children, by a hash of parent and function. Most enters find
   their path in one probe. */
struct call_edge {
    uint32_t parent, function, child; /* child 0: empty */
};
#define CALL_EDGES_BITS 15u

static inline size_t call_edge_place(uint32_t parent, uint32_t function) {
    return (size_t)(((uint64_t)parent << 32 | function) * 0x9e3779b97f4a7c15u >> (64 - CALL_EDGES_BITS));
}

/* Sum of a path's calls. */
struct path_sum {
    uint64_t self, count;
};
#define PATH_CALLS 256u
struct path_calls {
    uint64_t callees; /* ticks of their callees */
    uint32_t used;
};
struct path_latencies { /* separate, so that the structs above fit into the first-level cache */
    uint32_t at[PATH_CALLS];
};
#define GATHERED_MOST 16384u /* latencies are collected for at most this many paths */

struct calls_gathered {
    enum calls_gather as;
    struct path_sum *sums;    /* by path, for all paths; used for sums */
    struct path_calls *calls; /* by path, for the first GATHERED_MOST paths; used for latencies */
    struct path_latencies *latencies;
    uint32_t *touched; /* paths with collected calls */
    uint32_t room, latencies_room, touched_room, nr_touched;
};

/* The data of a worker. */
struct calls_worker_state {
    struct calls_worker public;
    const struct calls_request *request;
    struct memory memory, paths_memory; /* shares of the reader's memory */
    struct call_paths paths;
    struct calls_totals totals;
    struct calls_gathered gathered;
    struct call batch[CALLS_BATCH];
    size_t batched;
    uint32_t of_low[CALLS_LOW];     /* child of the root, by function; 0: not known yet */
    struct call_children *children; /* by path, for all paths */
    size_t children_room;
    uint32_t bases;    /* number of bases made: see calls_pending.c */
    uint32_t *base_is; /* the first worker's path for each base, once known: see calls_join.c */
    struct call_edge edges[1u << CALL_EDGES_BITS];
};

static inline void calls_note_time(struct calls_totals *totals, uint64_t tsc) {
    totals->first = tsc < totals->first ? tsc : totals->first;
    totals->last = tsc > totals->last ? tsc : totals->last;
}

/* Notes the first and last time. The clock may step back anywhere, so every call is examined. */
static inline void calls_note_times(struct calls_totals *totals, const struct xray_call *calls, size_t count) {
    for (size_t i = 0; i < count; i++)
        calls_note_time(totals, calls[i].tsc);
}

/* --- calls_gather.c */

/* The child if it is in the cache; 0: not in the cache. */
static inline uint32_t call_edge_met(const struct calls_worker_state *l, uint32_t parent, uint32_t function) {
    const struct call_edge *edge = &l->edges[call_edge_place(parent, function)];
    return edge->parent == parent && edge->function == function ? edge->child : 0;
}

/* As call_edge_met, for the first children of a path. Compares all four at once, which avoids unpredictable
   branches. */
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

/* The path of a call; 0 if this path, or the path of its caller, is not in the cache. */
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

/* A thread that runs a worker. */
struct calls_runner {
    struct calls_workers *all;
    struct calls_worker_state worker;
    pfr_reader *reader; /* reads the pieces of this worker */
    struct memory own;
    pthread_t thread;
    bool runs;
    pfr_status status;
    pfr_error err;
};

struct calls_workers {
    const struct calls_request *request;
    pfr_reader *reader;
    struct memory *memory; /* the reader's memory */
    const struct calls_index *index;
    bool clean;                 /* the trace should have no holes: any hole ends reading with PFR_HOLE */
    uint32_t next;              /* next thread of the trace to take, an index in by_size; atomic */
    struct chunks *chunks;      /* used instead of an index */
    struct thread_turns *turns; /* used instead of an index */
    struct calls_runner *at;
    uint32_t count, room;
};

/* Adjacent pieces are read with one request, up to this size. */
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
