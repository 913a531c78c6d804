/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_REQUEST_H
#define PFR_MODEL_PROFILE_REQUEST_H
/*
 * What a consumer wants of a profile: keys that tell groups apart, and what is counted, as what. Each choice between
 * things that exclude each other is an enumeration; which choices go together, profile_request_check knows.
 *
 *     {.keys = PROFILE_BIT(PROFILE_COMM), .shape = PROFILE_TREE}                            call trees of functions
 *     {.shape = PROFILE_STACKS, .unit = PROFILE_NAMED_LAST, .mangled_names = true}          pprof
 */
#include "model/names/address_names.h"

struct profile;
struct slice;
struct running_threads;

/* What can tell groups apart. Comments say of what kind the values are; NO_TEXT is a text that was not recorded. */
enum profile_key {
    PROFILE_COMM,           /* text */
    PROFILE_PID,            /* number, as recorded in the sample; (uint32_t)-1: not recorded */
    PROFILE_TID,            /* number */
    PROFILE_CPU,            /* number */
    PROFILE_CGROUP,         /* text */
    PROFILE_CGROUP_ID,      /* number */
    PROFILE_TIME,           /* number: the time, rounded down to profile_request.time_quantum */
    PROFILE_PERIOD,         /* number */
    PROFILE_WEIGHT,         /* number: weight, or var1_dw of a weight of three parts */
    PROFILE_INS_LAT,        /* number: var2_w */
    PROFILE_STAGE_CYCLES,   /* number: var3_w */
    PROFILE_TRANSACTION,    /* number */
    PROFILE_DATA_SRC,       /* number: the whole word */
    PROFILE_PHYS_ADDR,      /* number */
    PROFILE_DATA_PAGE_SIZE, /* number */
    PROFILE_CODE_PAGE_SIZE, /* number */
    PROFILE_TRACE,          /* text: the fields of a tracepoint as they are printed */
    PROFILE_ADDR,           /* place: of the data address */
    PROFILE_FROM,           /* place: where a branch came from (with PROFILE_BRANCHES) */
    PROFILE_TO,             /* place: and where it went */
    PROFILE_BRANCH_FLAGS,   /* number: PROFILE_MISPREDICTED and the others below */
    PROFILE_PARALLELISM,    /* number: threads that ran at the sample's time (with .running); 0: not known */
    PROFILE_KEYS
};
#define PROFILE_BIT(key) (1u << (key))

/* The value of PROFILE_BRANCH_FLAGS, the same for every byte order. */
#define PROFILE_MISPREDICTED 1u
#define PROFILE_PREDICTED 2u
#define PROFILE_IN_TX 4u
#define PROFILE_ABORT 8u
#define PROFILE_CYCLES_SHIFT 4u

enum profile_kind { PROFILE_NUMBER, PROFILE_TEXT, PROFILE_PLACE };
enum profile_kind profile_kind_of(enum profile_key key);

/* What a filter sees of a sample, before anything else is done with it. Not recorded: pid, tid and cpu -1, time
 * UINT64_MAX. */
struct profile_sample {
    uint32_t event, pid, tid, cpu;
    uint64_t time;
};

/* A field of tracepoints. */
struct profile_trace_field {
    const char *name;
    int32_t event; /* of this event alone; PFR_NO_EVENT: of all that have it */
    bool plain;    /* by itself, not as the event's text has it */
};

/* Calls of a trace that a chain has where no number is wished for: what is printed of a recursion grows with depth
   times depth. */
#define PROFILE_CALLS_DEEP 256u

#define PROFILE_LIKENESS_MOST 8u

/* One sample that was counted. */
struct profile_row {
    struct record_key key;
    uint64_t time, weight, period; /* UINT64_MAX: no time; the period as recorded */
    uint32_t event, pid, tid, cpu; /* -1: not recorded */
    uint32_t node;                 /* where it weighs; NO_NODE: in [limit] */
    uint8_t mode;
};

/*
 * Receives every sample that is counted, with its node: for consumers that keep samples apart. Runs are parts of the
 * recording; the rows of a run come in file order, from one thread at a time. Where the order of time counts there is
 * one run, in that order. Of samples as PROFILE_TREE.
 */
struct profile_each {
    /* What came before does not count: runs 0 to `runs` - 1 will come from at most so many workers. slices: where each
       run is; NULL: the one run is the whole recording, which readers of slices cannot read. */
    pfr_status (*begin)(void *context, unsigned workers, uint32_t runs, const struct slice *slices, pfr_error *err);
    pfr_status (*rows)(void *context, unsigned worker, uint32_t run, const struct profile_row *rows, unsigned count,
                       pfr_error *err);
    /* After all rows: samples of node n weigh in node_of[n] now. */
    void (*moved)(void *context, const uint32_t *node_of);
    void *context;
};

/* What is counted. */
enum profile_counted {
    PROFILE_SAMPLES,
    PROFILE_BRANCHES /* each branch of a sample's branch stack, once, instead of the sample */
};

/* What has weights. */
enum profile_shape {
    PROFILE_ROOTS,  /* groups: where samples were does not matter */
    PROFILE_LEAVES, /* the frames that were sampled, below their groups */
    PROFILE_TREE,   /* call chains, as a tree of nodes */
    PROFILE_STACKS, /* call chains one by one, profile->stacks, for those who need no tree. What can only be found as of
                       its own moment, calls of traces and [limit] are nodes all the same */
    PROFILE_SUMS    /* what frames weigh that are alike, profile->sums, for those who need no stacks either; needs
                       .likeness. Exceptions as above */
};

/* What is one frame (struct profile_frame). */
enum profile_unit {
    PROFILE_FUNCTIONS,
    PROFILE_ADDRESSES,       /* places in objects */
    PROFILE_ADDRESSES_APART, /* one place in an object is a frame for each address that it had in memory */
    PROFILE_NAMED_LAST /* places in objects, whether they have a name or none, which are named when all is counted;
                          `ip` and `cpumode` are those of any */
};

/* What becomes of addresses without a name. */
enum profile_unnamed {
    PROFILE_UNNAMED_EACH,
    PROFILE_UNNAMED_TOGETHER, /* they are one frame for each object, and those of none for each mode */
    PROFILE_UNNAMED_APART     /* a sampled one is NODE_APART, though the chain ends with it, where its place in the
                                 object is not the address as recorded */
};

enum profile_line_use {
    PROFILE_NO_LINES,
    PROFILE_LINES,  /* profile->lines */
    PROFILE_INLINED /* the same, and inlined functions are nodes below those that they were inlined into */
};

struct profile_request {
    uint32_t keys; /* PROFILE_BIT of each */
    enum profile_counted counted;
    enum profile_shape shape;
    enum profile_unit unit;
    enum profile_unnamed unnamed;
    enum profile_line_use lines;
    bool mangled_names;    /* frames have their names as the objects have them, too */
    bool stitched;         /* stacks of calls out of branch registers go on where samples before had more; one thread */
    uint32_t max_stack;    /* entries of a chain; 0: 127, of a trace PROFILE_CALLS_DEEP */
    bool from_outermost;   /* so many from the outermost on, else from the innermost */
    uint64_t time_quantum; /* ns; 0: 1 */
    uint32_t node_cost;    /* bytes that the caller will need for each node: so much memory is left, */
    uint32_t frame_cost;   /* and for each frame */
    unsigned jobs;         /* threads; 0: one for each cpu, with .chains at most 4, and for each 0.15 s of counting */
    struct address_names_options names; /* its naming is also that of a trace's functions */
    /* With PROFILE_TRACE: the text is that of the fields by themselves, and these fields follow it. */
    bool trace_plain;
    const struct profile_trace_field *trace_fields;
    uint32_t nr_trace_fields;
    /* false: the sample is left out, and counted in profile->left_out. Called by any thread. NULL: all are kept. */
    bool (*keep)(void *context, const struct profile_sample *sample);
    /* Words by which frames are alike, NODE_APART among them: how many, at most PROFILE_LIKENESS_MOST. Asked while
       frames are made, behind a lock: of the frame itself, its object and its text. */
    unsigned (*likeness)(void *context, const struct profile *p, uint32_t frame, uint64_t *words);
    void (*hole)(void *context, const pfr_error *hole); /* told of each stretch that could not be read; may be NULL */
    void (*note)(void *context, const char *sentence);  /* told where names may be wrong; may be NULL */
    void *context;
    const struct profile_each *each;       /* NULL: nobody wants samples */
    const struct running_threads *running; /* for PROFILE_PARALLELISM and .by_latency; may be NULL */
    bool by_latency;                       /* a sample weighs its period divided by the threads that ran at its time */
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

/* Whether the parts of a request go together: profile_load asks first. PFR_ERR_USAGE, with the reason. */
pfr_status profile_request_check(const struct profile_request *request, pfr_error *err);

#endif
