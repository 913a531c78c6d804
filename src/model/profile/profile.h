/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_H
#define PFR_MODEL_PROFILE_H
/*
 * What a recording says in sum: who was where, how often. It is loaded once and never changes; samples are not in it.
 * Of a trace, calls are what samples are of other recordings: each counts once, with its self time for a weight.
 *
 *     frame    a function of an object, or an address that has no name
 *     node     a stack: (parent, frame), the parent first; what called stands above what was called
 *     group    what samples have in common beside their stack: the event, and the keys that were wished for. It is a
 *              root: its node has no parent
 *     weight   of a node: of the samples that were taken exactly there, without those below
 *
 * Consumers say what they want before the load, because what nobody asks for is not kept apart:
 *
 *     struct profile_request wish = {.keys = PROFILE_BIT(PROFILE_COMM), .frames = true, .chains = true};
 *     struct profile *p;
 *     profile_load(&p, reader, &wish, &err);
 *     for (uint32_t n = 0; n < p->nr_nodes; n++)
 *         ... p->nodes[n], node_weight(&p->self, n) ...
 *     profile_close(p);
 *
 * How it is made is told in profile.c.
 */
#include "model/names/address_names.h"
#include "model/stacks/chain_maker.h"
#include "model/names/function_names.h"
#include "model/profile/node_weights.h"

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
    PROFILE_FROM,           /* place: where a branch came from (with .branches) */
    PROFILE_TO,             /* place: and where it went */
    PROFILE_BRANCH_FLAGS,   /* number: PROFILE_MISPREDICTED and the others below */
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

#define NO_FRAME UINT32_MAX
#define NO_NODE UINT32_MAX
#define NO_TEXT UINT32_MAX

/* With .addresses every address is a frame of its own; else a function is one, and `address` is where it begins. */
struct profile_frame {
    uint32_t object;  /* in state->objects; NO_OBJECT: [unknown] */
    uint32_t text;    /* the symbol's name, in profile->texts; NO_TEXT: it has none */
    uint32_t mangled; /* the same as the object has it, with .mangled_names; else NO_TEXT */
    uint8_t cpumode;  /* PERF_RECORD_MISC_CPUMODE */
    bool is_inlined;  /* `text` was inlined there into the function that the rest is about */
    uint64_t address; /* in the object's file; in the kernel and in anonymous memory that of the process */
    uint64_t ip;      /* as recorded, the least where there are several: what a frame without a name is called by in a
                         chain; of a function 0 */
    uint64_t start;   /* of the symbol, where `address` is one; 0: it has none */
    uint64_t size;    /* of the symbol; 0: not known */
};

/* A place in a source file. */
struct profile_line {
    uint32_t file; /* its path in profile->texts; NO_TEXT: not known */
    uint32_t line; /* 0: not known */
};

/* Of a frame, which with .lines is an address. */
struct frame_lines {
    struct profile_line own;     /* in the function: with .inlined where the outermost inlined call is */
    struct profile_line sampled; /* of the address itself, whatever function was inlined there */
    bool has_names;              /* its object, or what was taken out of it, was found */
};

/* Bit 31 of a node's frame: the frame is the sampled address, which the chain above it does not hold (but see
   profile_request.unnamed_apart). */
#define NODE_APART (1u << 31)

struct profile_node {
    uint32_t parent; /* a smaller number; NO_NODE: this is the root of group `frame` */
    uint32_t frame;  /* and NODE_APART */
};

static inline uint32_t node_frame(const struct profile_node *node) {
    return node->frame & ~NODE_APART;
}

/* A stack by itself, with .whole_stacks. */
struct profile_stack {
    union {
        const uint32_t *frames; /* outermost first; the last may have NODE_APART */
        uint64_t first;         /* while it is counted: where they begin in the counter's */
    };
    uint32_t count, group;
    uint64_t place; /* of its first sample: part << 48 | offset */
    struct profile_weight self;
};

/* What frames of one kind weigh in a group, with .sums: all stacks that they are in, each once. */
struct profile_sum {
    struct profile_weight total;
    uint32_t mark, self; /* while it is counted: the last stack that it was in; a number in `selves` */
};
struct profile_sum_key {
    uint64_t place; /* of the first sample: part << 48 | offset */
    uint32_t group, kind;
    uint32_t frame; /* of that sample, which may have NODE_APART */
    uint32_t sum;   /* in profile->sums, where nobody is between those that have keys */
};

/* What a group's samples weigh that were taken in a frame. */
struct profile_self {
    uint32_t sum, frame;
    struct profile_weight self;
};

/* Where frames of stacks are. */
struct stack_part {
    struct memory *memory;
    uint32_t *frames;
    size_t room;
};

/* A value that is a place: its frame, and the least address as recorded of those that are there. */
struct profile_place {
    uint32_t frame;
    uint64_t address;
};

struct profile_group {
    uint32_t event, root;
    uint64_t value[]; /* of each key that was wished for, in their order: profile_value */
};

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
struct profile;
struct slice;

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
 * one run, in that order. Needs .chains, without whole_stacks, sums and branches.
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

struct profile_request {
    uint32_t keys;     /* PROFILE_BIT of each */
    bool frames;       /* where the samples were; else the weights are the roots' */
    bool chains;       /* and their call chains; needs .frames */
    bool whole_stacks; /* profile->stacks instead of nodes, for those who need no tree; needs .chains. What can only be
                          found as of its own moment, calls of traces and [limit] are nodes all the same */
    bool sums;      /* profile->sums instead of nodes, for those who need no stacks either, but only what frames weigh
                       that are alike; needs .chains and .likeness. Exceptions as above */
    bool addresses; /* see struct profile_frame, */
    bool addresses_apart;  /* one place of an object is a frame for each address that it had in memory: with .addresses,
                              without .named_last */
    bool mangled_names;    /* and here */
    bool named_last;       /* addresses of one place in an object are one frame, whether it has a name or none, and are
                              named when all is counted; `ip` and `cpumode` are those of any. Needs .addresses, and neither
                              `unnamed_apart` nor places */
    bool lines;            /* profile->lines; needs .addresses */
    bool inlined;          /* inlined functions are nodes below those that they were inlined into; needs .lines */
    bool unnamed_together; /* addresses without a name are one frame for each object, and those of none for each mode;
                              not with `addresses` or `unnamed_apart` */
    bool unnamed_apart;    /* a sampled address without a name is NODE_APART, though the chain ends with it, where its
                              place in the object is not the address as recorded */
    bool branches;         /* each branch of a sample's branch stack is counted, once, instead of the sample */
    bool stitched;         /* stacks of calls out of branch registers go on where samples before had more; one thread */
    uint32_t max_stack;    /* entries of a chain; 0: 127, of a trace PROFILE_CALLS_DEEP */
    bool from_outermost;   /* so many from the outermost on, else from the innermost */
    uint64_t time_quantum; /* ns; 0: 1 */
    uint32_t node_cost;    /* bytes that the caller will need for each node: so much memory is left, */
    uint32_t frame_cost;   /* and for each frame */
    unsigned jobs;         /* threads; 0: one for each cpu, with .chains at most 4, and for each 0.15 s of counting */
    struct address_names_options names;
    /* With PROFILE_TRACE: the text is that of the fields by themselves, and these fields follow it. */
    bool trace_plain;
    const struct profile_trace_field *trace_fields;
    uint32_t nr_trace_fields;
    struct function_names_options functions; /* of a trace */
    /* false: the sample is left out, and counted in profile->left_out. Called by any thread. NULL: all are kept. */
    bool (*keep)(void *context, const struct profile_sample *sample);
    /* Words by which frames are alike, NODE_APART among them: how many, at most PROFILE_LIKENESS_MOST. Asked while
       frames are made, behind a lock: of the frame itself, its object and its text. */
    unsigned (*likeness)(void *context, const struct profile *p, uint32_t frame, uint64_t *words);
    void (*hole)(void *context, const pfr_error *hole); /* told of each stretch that could not be read; may be NULL */
    void (*note)(void *context, const char *sentence);  /* told where names may be wrong; may be NULL */
    void *context;
    const struct profile_each *each; /* NULL: nobody wants samples */
};

/* What else should be known of the weights. */
struct profile_note {
    struct profile_note *next;
    const char *text; /* in the profile's arena */
};

/* What is counted, and how a report calls it. */
struct profile_measure {
    const char *samples, *weight; /* as headings: "Samples", "Event count (approx.)" */
    const char *counted;          /* "samples" */
    bool is_amount;               /* weights say how much it was, and samples only how often: of those who have one
                                     number, weights are it. The event has a unit */
    bool has_comms;               /* threads may have names */
};

struct profile {
    pfr_reader *reader;
    struct memory *memory; /* the reader's */
    struct profile_request request;
    struct state state; /* names of objects, comms */
    struct address_names names;
    struct intern_table texts; /* symbols, comms and all other texts that values stand for */

    struct profile_frame *frames;
    struct frame_lines *lines; /* by frame; NULL without .lines */
    struct profile_node *nodes;
    struct node_weights self;      /* of nodes */
    struct profile_weight *totals; /* by event */
    struct chain_counts *unwound;  /* by event: how stacks ended that were unwound */
    struct unwind_limits unwind_limits;
    struct profile_stack *stacks; /* in the order of their first samples; some may have no samples */
    struct stack_part *stack_parts;
    struct profile_sum *sums;
    struct profile_sum_key *sum_keys;
    uint32_t *sum_order; /* keys by their first samples; NULL: that is how they lie */
    struct profile_self *selves;
    struct profile_group **groups;
    struct profile_place *places; /* what values that are places count in */
    uint32_t nr_frames, nr_nodes, nr_stacks, nr_stack_parts, nr_groups, nr_events, nr_places;
    uint32_t nr_sums, nr_sum_keys, nr_selves;
    size_t frames_room, lines_room, nodes_room, stacks_room, groups_room, places_room;
    size_t sums_room, sum_keys_room, selves_room;
    struct arena arena; /* groups */

    uint64_t left_out;             /* samples that `keep` did not want */
    uint64_t late;                 /* samples and state that came after their round had ended */
    uint64_t guests;               /* samples of guests that nothing says a word of: [unknown] */
    uint64_t too_deep;             /* samples of processes with more ancestors than the limit depth lets be asked */
    struct profile_weight limited; /* what went into the frame [limit] because memory was at its limit */
    uint64_t stitch_begun;         /* how often stitching began anew because memory was short */
    bool lossy;                    /* holes were met */
    struct profile_note *notes;
    uint64_t ticks_per_second; /* what weights are counted in; 0: in what the event says */
};

/* A weight, or a sum of weights, as the event's unit has it. */
uint64_t profile_amount(const struct profile *p, uint64_t weight);

/*
 * Bytes that call trees of `nodes` call paths may take in one output: limit trees, and a share that grows with what was
 * recorded, not with how it is packed. A trace has no more paths to give than calls: where stacks are cut (max_stack),
 * each call may be the innermost of a stack whose nodes are its own.
 */
uint64_t profile_tree_room(const struct profile *p, uint64_t nodes);

/* The events of a recording as a profile knows them: a trace has one, the time in its calls. */
uint32_t profile_event_count(const pfr_reader *reader);
const pfr_event *profile_event(const pfr_reader *reader, uint32_t event); /* NULL past the end */
const struct profile_measure *profile_measure(const pfr_reader *reader);

/* What limits left unknown is a hole, though every byte was read: told. PFR_HOLE: something was, or records were lost.
   Names that got no answer from what demangles are a note of the wish. */
pfr_status profile_tell_limits(const struct profile *p, void (*tell)(void *context, const pfr_error *hole),
                               void *context);

/*
 * Reads the recording to its end, more than once where it is seekable; a stream must have been opened with spool.
 * *p is there while `each` is called, with its state. < 0: *err, and *p is NULL. Errors as pfr_next; PFR_ERR_USAGE for
 * a stream.
 */
pfr_status profile_load(struct profile **p, pfr_reader *reader, const struct profile_request *request, pfr_error *err);
void profile_close(struct profile *p); /* NULL is fine */

/* A part of a text of PROFILE_TRACE: 0 the text of the whole event, n field n - 1 of the wish; false: it has none. */
bool profile_trace_part(const struct profile *p, uint64_t text, uint32_t part, struct intern_text *of);

/* The value of a key that was wished for. */
uint64_t profile_value(const struct profile *p, const struct profile_group *group, enum profile_key key);

#endif
