/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_CALLS_H
#define PFR_MODEL_CALLS_H
/*
 * The calls of an XRay trace: enters and exits paired, thread by thread, for all that ask what calls cost.
 *
 *     call         a function was entered and left: its path, the ticks of both, and what of them it spent itself
 *     open call    it was entered and never left (an exception, longjmp, the end of the trace)
 *     lone exit    an exit of a function that is not open; the calls that are open stay so
 *     path         (parent, function), the parent first. Equal ones are one node, in all threads of a lane: memory
 *                  follows the paths that differ, not the calls
 *
 * An exit or tail exit closes the innermost open call of its function; the calls above it become open calls (or end
 * with it, where the wish says `deduce`). The
 * latency of a call is exit - enter, what it called included; below 0 it is 0 and flagged. Its self time is the latency
 * without those of its direct callees; an open call hands what it called down to its caller. Self time may be below 0
 * where clocks stepped back.
 *
 * The calls of a thread, (pid, tid), come in the order of their exits; open calls that were passed over come before the
 * call around them (CALLS_SINGLY, one worker), those that are left at the end of the thread last, the innermost first.
 * Threads are shared out to lanes, each of which has a thread of ours and paths of its own: only the order of threads,
 * and the numbers of nodes, depend on how many lanes there are. Two lanes call the functions of a sink at the same
 * time; one lane calls one after the other.
 *
 *     static pfr_status on_calls(void *context, const struct calls_worker *lane, const struct call *calls, size_t
 * count, pfr_error *err) { struct mine *mine = &((struct mine *)context)->of_worker[lane->number]; for (size_t i = 0; i
 * < count; i++) mine->ticks_of[calls[i].node] += calls[i].latency; return PFR_OK;
 *     }
 *     const struct calls_sink sink = {.begin = on_begin, .calls = on_calls, .end = on_end};
 *     const struct calls_request wish = {.sink = &sink, .context = &all, .hole = tell_hole};
 *     struct calls_totals totals;
 *     pfr_status st = calls_read(reader, &wish, &totals, &err);
 *
 * A profile file holds no calls but sums of them, which come as such: their function, paths and counts are right,
 * single latencies are not known.
 */
#include <perfray/trace.h>

struct memory;

/* --- Paths. */

#define PATH_ROOT 0u  /* nothing is open; its own parent */
#define PATH_LIMIT 1u /* below the root: stands for all paths that memory had no room for. It has no function */

struct call_path {
    uint32_t parent; /* a smaller number */
    uint32_t function;
    uint32_t inner, next; /* the list that finds children: of calls_paths.c alone */
};

struct call_paths {
    struct call_path *at;
    uint32_t count; /* at least 2, the root and the limit; only grows */
    struct memory *memory;
    size_t room, slot_count, used;
    uint32_t *slots;
};

/* For those who want one tree out of several lanes' (calls_read does this for its own). */
pfr_status call_paths_init(struct call_paths *paths, struct memory *memory, pfr_error *err);
void call_paths_free(struct call_paths *paths);
/* The child of a node, made when new. < 0: memory or limit, *child is as it was. The limit has no children. */
pfr_status call_paths_child(struct call_paths *paths, uint32_t parent, uint32_t function, uint32_t *child,
                            pfr_error *err);

/* --- What a sink is given. */

enum call_flags {
    CALL_TAIL = 1,     /* left by a tail exit */
    CALL_BACKWARD = 2, /* exit < enter: the clock stepped back, the latency is 0 */
    CALL_DEDUCED = 4   /* it was never left: ended by the exit of a call around it (calls_request.deduce) */
};

struct call {
    uint64_t exit, latency; /* ticks */
    int64_t self;           /* ticks */
    uint32_t node;          /* its path, whose last function it is; PATH_LIMIT: one that had no room */
    uint32_t flags;
};

/* Calls of one path in sum. One path of a profile file may come in pieces, of which only one has `count` and `latency`;
 * of calls that were summed (calls_request.gather) the latency is not. */
struct call_sum {
    uint64_t count, latency; /* ticks */
    int64_t self;            /* modulo 2^64 */
    uint32_t node;
};

/* Calls of one path that have nothing special: no flag but CALL_TAIL, no latency of 2^32 ticks or more. */
struct call_many {
    const uint32_t *latencies;
    uint32_t count, node;
    uint32_t shortest, longest;
    uint64_t latency; /* of all of them */
    int64_t self;
};

struct calls_thread {
    int32_t pid, tid;      /* 0 where not known */
    bool has_pid, has_tid; /* the pid is recorded from version 3 on */
};

struct calls_worker {
    unsigned number;
    const struct call_paths *paths; /* those of the node numbers this lane gives; valid until `end` has returned */
};

/*
 * Functions may be NULL, except `begin`; one that returns < 0 ends the reading, with *err as it said.
 * `begin` and `end` are called by the thread that called calls_read.
 */
struct calls_sink {
    /* `lanes` is above all lane numbers. Called again where all comes anew, after damage was met: what was given so far
     * does not count. */
    pfr_status (*begin)(void *context, unsigned workers, pfr_error *err);
    /* What follows on this lane is of this thread. In basic logs the same thread may come again; it stays on its lane.
     */
    pfr_status (*thread)(void *context, const struct calls_worker *worker, const struct calls_thread *thread,
                         pfr_error *err);
    pfr_status (*calls)(void *context, const struct calls_worker *worker, const struct call *calls, size_t count,
                        pfr_error *err);
    pfr_status (*sum)(void *context, const struct calls_worker *worker, const struct call_sum *sum, pfr_error *err);
    pfr_status (*many)(void *context, const struct calls_worker *worker, const struct call_many *many, pfr_error *err);
    /* `node` is the path of the open call. */
    pfr_status (*open)(void *context, const struct calls_worker *worker, uint32_t node, uint64_t enter, pfr_error *err);
    /* `node` is the path of what was open then. */
    pfr_status (*lone)(void *context, const struct calls_worker *worker, uint32_t node, uint32_t function,
                       uint64_t exit, pfr_error *err);
    /* The lane has nothing more. Lanes end one after the other, by number. */
    pfr_status (*end)(void *context, const struct calls_worker *worker, pfr_error *err);
};

struct calls_totals {
    uint64_t calls, open, lone;
    uint64_t backward;      /* calls of latency 0 because the clock stepped back */
    uint64_t custom, typed; /* events, which are no calls */
    uint64_t arguments;     /* of calls */
    uint64_t untimed;       /* enters and exits whose buffer says no time before them: theirs counts from 0 */
    uint64_t too_deep;      /* enters above CALLS_DEEPEST: their time is in the self time of the caller */
    uint64_t limited;       /* calls of PATH_LIMIT */
    uint64_t shortest;      /* latency of the shortest call, ticks; UINT64_MAX: there is no call */
    uint64_t first, last;   /* about the first and the last tick of all enters and exits; first > last: there is none */
    uint64_t threads, buffers; /* (pid, tid); buffers of a flight recorder */
    uint64_t frequency;        /* ticks per second; 0: not known, and nothing is more than ticks */
    bool sums;                 /* a profile file */
    bool lossy;                /* holes were met */
};

#define CALLS_DEEPEST (1u << 18) /* calls open at once in a thread */

/* In what form calls may be given that are not asked for one by one; some of them always are. */
enum calls_gather {
    CALLS_SINGLY,  /* in the order of their exits */
    CALLS_SUMMED,  /* added up by path: sink->sum, when the thread ends, or all of them, where they come mixed */
    CALLS_MEASURED /* by path, some at a time: sink->many, before the thread ends */
};

struct calls_request {
    const struct calls_sink *sink;
    enum calls_gather gather;
    unsigned jobs;  /* lanes at most; 0: one for each cpu */
    unsigned reach; /* functions of a path that count, from its end: 1: calls of a function are one path, 2: those of a
                       function from one caller; 0: all of them. Profile files have whole paths */
    bool mixed;     /* calls of several threads may come mixed, which sink->thread does not tell then */
    bool deduce;    /* calls above the one that an exit closes end with it, instead of staying open */
    void (*hole)(void *context, const pfr_error *hole); /* told of each stretch that could not be read, in the order of
                                                           the file; may be NULL */
    void *context;                                      /* of all functions */
};

/*
 * Reads the whole trace, more than once where there are holes; the reader is to be rewound before it is used again.
 * Memory is the reader's: that of one window and the paths for each lane, and a few words for each buffer.
 * PFR_OK, also where there were holes (totals->lossy); PFR_ERR_USAGE: no trace, or a stream without spool; else as
 * pfr_next, or what a sink returned.
 */
pfr_status calls_read(pfr_reader *reader, const struct calls_request *request, struct calls_totals *totals,
                      pfr_error *err);

/* Whole nanoseconds, rounded towards 0; the ticks themselves where the frequency is 0. What is above 2^64 is 2^64 - 1.
 */
uint64_t calls_ns(uint64_t ticks, uint64_t frequency);

/* What a user must know of calls that the recorder took back for being short; false: there are none. */
#define CALLS_SENTENCE_MOST 200u
bool calls_tell_threshold(const pfr_reader *reader, const struct calls_totals *totals, const char *unit,
                          char sentence[CALLS_SENTENCE_MOST]);

#endif
