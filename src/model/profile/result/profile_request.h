/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_REQUEST_H
#define PFR_MODEL_PROFILE_REQUEST_H
/*
 * What a consumer requests of a profile: keys of the groups, what is counted, and the form of the result. Exclusive
 * choices are enumerations; profile_request_check knows which choices are compatible.
 *
 *    {.keys = PROFILE_BIT(PROFILE_COMM), .shape = PROFILE_TREE}                            call trees of functions
 *    {.shape = PROFILE_STACKS, .unit = PROFILE_NAMED_LAST, .mangled_names = true}          pprof
 */
#include "model/names/address_names.h"

struct profile;
struct slice;
struct running_threads;

/* Keys of groups. The comments state the kind of values; NO_TEXT represents a text that was not recorded. */
enum profile_key {
    PROFILE_COMM,           /* text */
    PROFILE_PID,            /* number, as recorded in the sample; (uint32_t)-1: not recorded */
    PROFILE_TID,            /* number */
    PROFILE_CPU,            /* number */
    PROFILE_CGROUP,         /* text */
    PROFILE_CGROUP_ID,      /* number */
    PROFILE_TIME,           /* number: the time, rounded down to a multiple of profile_request.time_quantum */
    PROFILE_PERIOD,         /* number */
    PROFILE_WEIGHT,         /* number: weight, or var1_dw of a weight of three parts */
    PROFILE_INS_LAT,        /* number: var2_w */
    PROFILE_STAGE_CYCLES,   /* number: var3_w */
    PROFILE_TRANSACTION,    /* number */
    PROFILE_DATA_SRC,       /* number: the complete word */
    PROFILE_PHYS_ADDR,      /* number */
    PROFILE_DATA_PAGE_SIZE, /* number */
    PROFILE_CODE_PAGE_SIZE, /* number */
    PROFILE_TRACE,          /* text: the fields of a tracepoint as printed */
    PROFILE_ADDR,           /* place: the data address */
    PROFILE_FROM,           /* place: source of a branch (with PROFILE_BRANCHES) */
    PROFILE_TO,             /* place: target of the branch */
    PROFILE_BRANCH_FLAGS,   /* number: PROFILE_MISPREDICTED and the others below */
    PROFILE_PARALLELISM,    /* number: threads that ran at the sample's time (with .running); 0: not known */
    PROFILE_KEYS
};
#define PROFILE_BIT(key) (1u << (key))

/* Values of PROFILE_BRANCH_FLAGS, independent of byte order. */
#define PROFILE_MISPREDICTED 1u
#define PROFILE_PREDICTED 2u
#define PROFILE_IN_TX 4u
#define PROFILE_ABORT 8u
#define PROFILE_CYCLES_SHIFT 4u

enum profile_kind { PROFILE_NUMBER, PROFILE_TEXT, PROFILE_PLACE };
enum profile_kind profile_kind_of(enum profile_key key);

/* A sample as a filter receives it, before any other processing. Values that were not recorded: -1 in pid, tid and cpu,
   UINT64_MAX in time. */
struct profile_sample {
    uint32_t event, pid, tid, cpu;
    uint64_t time;
};

/* A requested field of tracepoints. */
struct profile_tracepoint_field {
    const char *name;
    int32_t event; /* only in this event; PFR_NO_EVENT: in all events that have the field */
    bool plain;    /* the raw value, not the value as formatted in the text of the event */
};

/* Default maximum depth of a trace's chains: the output of a recursion grows with the square of its depth. */
#define PROFILE_CALLS_DEEP 256u

#define PROFILE_LIKENESS_MOST 8u

/* A counted sample and its node. */
struct profile_row {
    struct record_key key;
    uint64_t time, weight, period; /* time UINT64_MAX: not recorded; period as recorded */
    uint32_t event, pid, tid, cpu; /* -1: not recorded */
    uint32_t node;                 /* node in which the sample is counted; NO_NODE: [limit] */
    uint8_t mode;
    const uint8_t *bytes; /* its record, valid during the call */
};

/*
 * Receives every counted sample with its node, for consumers that keep samples. A run is a part of the recording. The
 * rows of a run arrive in file order, from one thread at a time. If samples must be counted in order of time, there is
 * one run, whose rows are in that order. Nodes are those of PROFILE_TREE.
 */
struct profile_each {
    /* Discards everything received so far: runs 0 to `runs` - 1 will come from at most `workers` workers. slices: the
       range of each run; NULL: there is one run, the whole recording, which cannot be read in slices. */
    pfr_status (*begin)(void *context, unsigned workers, uint32_t runs, const struct slice *slices, pfr_error *err);
    pfr_status (*rows)(void *context, unsigned worker, uint32_t run, const struct profile_row *rows, unsigned count,
                       pfr_error *err);
    /* Called after all rows: the samples of node n now belong to node_of[n]. */
    void (*moved)(void *context, const uint32_t *node_of);
    /* NULL, or: there is one run, and all other records and holes (with rec NULL) arrive between its rows, in file
       order. */
    pfr_status (*other)(void *context, const pfr_record *rec, const pfr_error *hole, pfr_error *err);
    void *context;
};

/* What is counted. */
enum profile_counted {
    PROFILE_SAMPLES,
    PROFILE_BRANCHES /* each branch in the branch stack of a sample counts once, instead of the sample */
};

/* The structure that carries the weights. */
enum profile_shape {
    PROFILE_ROOTS,  /* groups only; the place of samples does not matter */
    PROFILE_LEAVES, /* sampled frames, as children of their groups */
    PROFILE_TREE,   /* call chains, as a tree of nodes */
    PROFILE_STACKS, /* single call chains, in profile->stacks, without a tree. Samples resolved individually, calls of
                       traces and [limit] are still nodes */
    PROFILE_SUMS    /* weights of classes of similar frames, in profile->sums, without stacks; requires .likeness. The
                       same exceptions as for PROFILE_STACKS */
};

/* The unit that is one frame (struct profile_frame). */
enum profile_unit {
    PROFILE_FUNCTIONS,
    PROFILE_ADDRESSES,       /* offsets in objects */
    PROFILE_ADDRESSES_APART, /* as PROFILE_ADDRESSES, but each address in memory at which an offset is mapped is a
                                separate frame */
    PROFILE_NAMED_LAST /* offsets in objects, named or not; names are looked up when all is counted. `ip` and `cpumode`
                          of a frame are those of any one of its samples */
};

/* Treatment of addresses without a name. */
enum profile_unnamed {
    PROFILE_UNNAMED_EACH,
    PROFILE_UNNAMED_TOGETHER, /* one frame per object; addresses without an object: one per mode */
    PROFILE_UNNAMED_APART     /* a sampled address without a name is NODE_APART although the chain ends with it, if its
                                 offset in the object is not the recorded address */
};

enum profile_line_use {
    PROFILE_NO_LINES,
    PROFILE_LINES,  /* profile->lines */
    PROFILE_INLINED /* as PROFILE_LINES, and inlined functions are child nodes of the function that contains them */
};

struct profile_request {
    uint32_t keys; /* PROFILE_BIT of each key */
    enum profile_counted counted;
    enum profile_shape shape;
    enum profile_unit unit;
    enum profile_unnamed unnamed;
    enum profile_line_use lines;
    bool mangled_names; /* frames also have their mangled names */
    bool stitched; /* call stacks from branch registers are extended with those of earlier samples; uses one thread */
    uint32_t max_stack;    /* maximum chain entries; 0: 127, for a trace PROFILE_CALLS_DEEP */
    bool from_outermost;   /* count max_stack from the outermost entry; default: from the innermost */
    uint64_t time_quantum; /* ns; 0: 1 */
    uint32_t node_cost;    /* bytes that the caller needs per node; as much memory is left free */
    uint32_t frame_cost;   /* bytes that the caller needs per frame; as much memory is left free */
    unsigned jobs;         /* threads; 0: one per CPU, with chains at most 4, and at most one per 0.15 s of expected
                              work */
    struct address_names_options names; /* names.naming also applies to the functions of a trace */
    /* With PROFILE_TRACE. tracepoint_plain: the text has raw fields. The listed fields follow the text. */
    bool tracepoint_plain;
    const struct profile_tracepoint_field *tracepoint_fields;
    uint32_t nr_tracepoint_fields;
    /* false: the sample is left out and counted in profile->facts.left_out. Called by any thread. NULL: keep all. */
    bool (*keep)(void *context, const struct profile_sample *sample);
    /* Writes at most PROFILE_LIKENESS_MOST words and returns their number. Frames with equal words are one class;
       `frame` may include NODE_APART. Called under a lock while frames are made; may read the frame, its object and its
       text. */
    unsigned (*likeness)(void *context, const struct profile *p, uint32_t frame, uint64_t *words);
    void (*hole)(void *context, const pfr_error *hole); /* receives each unreadable range; may be NULL */
    void (*note)(void *context, const char *sentence);  /* receives remarks about possibly wrong names; may be NULL */
    void *context;
    const struct profile_each *each;       /* NULL: single samples are not needed */
    const struct running_threads *running; /* required for PROFILE_PARALLELISM to be known; may be NULL */
    bool by_latency; /* leaves out samples of the idle task; the weights can then be divided by profile_divide */
};

static inline bool request_has_frames(const struct profile_request *r) {
    return r->shape != PROFILE_ROOTS;
}
static inline bool request_has_chains(const struct profile_request *r) {
    return r->shape >= PROFILE_TREE;
}
static inline bool request_has_addresses(const struct profile_request *r) {
    return r->unit != PROFILE_FUNCTIONS;
}

/* Whether the choices of a request are compatible. profile_load calls it first. PFR_ERR_USAGE: *err has the reason. */
pfr_status profile_request_check(const struct profile_request *request, pfr_error *err);

#endif
