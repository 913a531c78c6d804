/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_H
#define PFR_MODEL_CALLS_H
/*
 * The calls of an XRay trace: pairs the enters and exits of each thread, for all consumers of call costs.
 *
 *    call             a function was entered and left: its path, the ticks of enter and exit, and its self time
 *    open call        entered, without an exit (an exception, longjmp, the end of the trace)
 *    unmatched exit   an exit of a function that is not open; the open calls stay open
 *    path             a function and the path of its caller (its parent, which has a smaller number). Equal paths are
 *                     one node in all threads of a worker, so memory grows with the number of different paths, not of
 *                     calls
 *
 * An exit or tail exit closes the innermost open call of its function; the calls inside that one become open calls (or
 * end with it, if the request has `deduce`). The latency of a call is exit - enter, including callees; if negative it
 * is 0 and flagged. The self time of a call is its latency minus the latencies of its direct callees. The direct
 * callees of an open call count as direct callees of its caller. Self time may be negative if clocks stepped back.
 *
 * The calls of a thread, (pid, tid), arrive in the order of their exits. With CALLS_SINGLY and one worker, open calls
 * inside a call arrive before that call. Calls still open at the end of the thread arrive last, the innermost first.
 * Threads are distributed to workers. Each worker runs in a thread of its own and has its own paths, so only the order
 * of threads and the numbers of nodes depend on the number of workers. Several workers call the functions of a sink
 * concurrently; a single worker calls them in sequence.
 *
 *    static pfr_status on_calls(void *context, const struct calls_worker *worker, const struct call *calls,
 *                               size_t count, pfr_error *err) {
 *        struct mine *mine = &((struct mine *)context)->of_worker[worker->number];
 *        for (size_t i = 0; i < count; i++)
 *            mine->ticks_of[calls[i].node] += calls[i].latency;
 *        return PFR_OK;
 *    }
 *    const struct calls_sink sink = {.begin = on_begin, .calls = on_calls, .end = on_end};
 *    const struct calls_request request = {.sink = &sink, .context = &all, .hole = on_hole};
 *    struct calls_totals totals;
 *    pfr_status st = calls_read(reader, &request, &totals, &err);
 *
 * A profile file contains sums of calls instead of calls. They are delivered as sums: functions, paths and counts are
 * known, the latencies of single calls are not.
 */
#include <perfray/trace.h>

struct memory;

/* --- Paths. */

#define PATH_ROOT 0u  /* no call is open; its own parent */
#define PATH_LIMIT 1u /* child of the root, without a function: represents all paths for which there was no memory */

struct call_path {
    uint32_t parent; /* a smaller number */
    uint32_t function;
    uint32_t inner, next; /* links of the list of children; used only in calls_paths.c */
};

struct call_paths {
    struct call_path *at;
    uint32_t count; /* at least 2, the root and the limit; only grows */
    struct memory *memory;
    size_t room, slot_count, used;
    uint32_t *slots;
};

/* Initialises a tree, for consumers that merge the trees of several workers into one. calls_read initialises the
   workers' own trees. */
pfr_status call_paths_init(struct call_paths *paths, struct memory *memory, pfr_error *err);
void call_paths_free(struct call_paths *paths);
/* Sets *child to the child of a node for this function; a new child is added. < 0: memory or limit, *child is
   unchanged. The limit node has no children. */
pfr_status call_paths_child(struct call_paths *paths, uint32_t parent, uint32_t function, uint32_t *child,
                            pfr_error *err);

/* --- Arguments of a sink's functions. */

enum call_flags {
    CALL_TAIL = 1,     /* left by a tail exit */
    CALL_BACKWARD = 2, /* exit < enter: the clock stepped back, latency is 0 */
    CALL_DEDUCED = 4   /* without an exit: ended by the exit of an enclosing call (calls_request.deduce) */
};

struct call {
    uint64_t exit, latency; /* ticks */
    int64_t self;           /* ticks */
    uint32_t node;          /* its path, which ends with its function; PATH_LIMIT: no memory for the path */
    uint32_t flags;
};

/* Sum of the calls of one path. The sum of a path in a profile file may arrive in several parts, of which only one has
   `count` and `latency`. If the sums are made from single calls (CALLS_SUMMED), `latency` is not set. */
struct call_sum {
    uint64_t count, latency; /* ticks */
    int64_t self;            /* modulo 2^64 */
    uint32_t node;
};

/* Ordinary calls of one path: no flag but CALL_TAIL, and latencies below 2^32 ticks. */
struct call_many {
    const uint32_t *latencies;
    uint32_t count, node;
    uint32_t shortest, longest;
    uint64_t latency; /* sum of `latencies` */
    int64_t self;
};

struct calls_thread {
    int32_t pid, tid;      /* 0 if unknown */
    bool has_pid, has_tid; /* recordings have the pid from FDR version 3 on */
};

struct calls_worker {
    unsigned number;
    const struct call_paths *paths; /* paths of this worker's node numbers; valid until `end` has returned */
};

/* Functions may be NULL, except `begin`. If one returns < 0, calls_read ends and returns its status and *err. `begin`
   and `end` are called by the thread that called calls_read. */
struct calls_sink {
    /* `workers` is greater than all worker numbers. Called again if reading restarts because of damage: discard
       everything received so far. */
    pfr_status (*begin)(void *context, unsigned workers, pfr_error *err);
    /* All that this worker delivers from now on belongs to this thread. In basic logs a thread may recur, always in the
       same worker. */
    pfr_status (*thread)(void *context, const struct calls_worker *worker, const struct calls_thread *thread,
                         pfr_error *err);
    pfr_status (*calls)(void *context, const struct calls_worker *worker, const struct call *calls, size_t count,
                        pfr_error *err);
    pfr_status (*sum)(void *context, const struct calls_worker *worker, const struct call_sum *sum, pfr_error *err);
    pfr_status (*many)(void *context, const struct calls_worker *worker, const struct call_many *many, pfr_error *err);
    /* `node` is the path of the open call. */
    pfr_status (*open)(void *context, const struct calls_worker *worker, uint32_t node, uint64_t enter, pfr_error *err);
    /* `node` is the path of the innermost call that was open at the exit. */
    pfr_status (*lone)(void *context, const struct calls_worker *worker, uint32_t node, uint32_t function,
                       uint64_t exit, pfr_error *err);
    /* The worker is finished. Workers end one after the other, by number. */
    pfr_status (*end)(void *context, const struct calls_worker *worker, pfr_error *err);
};

struct calls_totals {
    uint64_t calls, open, lone;
    uint64_t backward;         /* calls of latency 0 because the clock stepped back */
    uint64_t custom, typed;    /* number of custom and typed events, which are not calls */
    uint64_t arguments;        /* number of recorded arguments of calls */
    uint64_t untimed;          /* enters and exits before the first time in their buffer: their ticks count from 0 */
    uint64_t too_deep;         /* enters deeper than CALLS_DEEPEST: their time counts as self time of the caller */
    uint64_t limited;          /* calls of PATH_LIMIT */
    uint64_t shortest;         /* latency of the shortest call, ticks; UINT64_MAX: no calls */
    uint64_t first, last;      /* approximate first and last tick of all enters and exits; first > last: no calls */
    uint64_t threads, buffers; /* number of different (pid, tid); number of buffers of a flight recorder */
    uint64_t frequency;        /* ticks per second; 0: unknown, so results are only in ticks */
    bool sums;                 /* the trace is a profile file, which has only sums */
    bool lossy;                /* there were holes */
};

#define CALLS_DEEPEST (1u << 18) /* calls open at once in a thread */

/* Form in which calls are delivered. Not all calls can be summed: some are delivered singly in every form. */
enum calls_gather {
    CALLS_SINGLY,  /* in the order of their exits */
    CALLS_SUMMED,  /* summed by path: sink->sum at the end of the thread, or at the very end if threads are mixed */
    CALLS_MEASURED /* by path, in groups: sink->many, before the thread ends */
};

struct calls_request {
    const struct calls_sink *sink;
    enum calls_gather gather;
    unsigned jobs;  /* maximum number of workers; 0: one per cpu */
    unsigned reach; /* number of innermost functions that distinguish paths. 1: all calls of a function are one path; 2:
                       all calls of a function from one caller; 0: the whole path. Ignored for profile files, which have
                       whole paths */
    bool mixed;     /* calls of several threads may be mixed; sink->thread is then not called between them */
    bool deduce;    /* open calls inside a call that ends are ended by the same exit, instead of staying open */
    void (*hole)(void *context, const pfr_error *hole); /* receives each unreadable range, in file order; may be NULL */
    void *context;                                      /* passed to all functions */
};

/*
 * Reads the whole trace, more than once if there are holes; rewind the reader before using it again. Allocates from the
 * reader's memory: a read buffer and the paths of each worker, and a few words per buffer of the trace. PFR_OK, also
 * with holes (totals->lossy); PFR_ERR_USAGE: not a trace, or a stream without spool; else as pfr_next, or the status of
 * a sink.
 */
pfr_status calls_read(pfr_reader *reader, const struct calls_request *request, struct calls_totals *totals,
                      pfr_error *err);

/* Whole nanoseconds, rounded towards 0, at most 2^64 - 1; the ticks themselves if the frequency is 0. */
uint64_t calls_ns(uint64_t ticks, uint64_t frequency);
/* The same for sums of latencies and of self times. */
uint64_t calls_sum_ns(unsigned __int128 ticks, uint64_t frequency);
int64_t calls_self_ns(__int128 ticks, uint64_t frequency);

/* Makes a sentence about calls that the recorder discarded as too short. Returns false if no sentence applies. */
#define CALLS_SENTENCE_MOST 200u
bool calls_describe_threshold(const pfr_reader *reader, const struct calls_totals *totals, const char *unit,
                              char sentence[CALLS_SENTENCE_MOST]);

#endif
