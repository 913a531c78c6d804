/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_H
#define PFR_MODEL_PROFILE_H
/*
 * The sum of a recording: counts by thread and place. A profile is loaded once and never changes; it does not contain
 * samples. For a trace, calls take the role of samples: each counts once, with its self time as weight.
 *
 *    frame    a function of an object, or an address without a name
 *    node     a stack: its parent node, which has a smaller number, and a frame; callers are ancestors of callees
 *    group    values that samples have in common apart from the stack: the event and the requested keys. It is a root:
 *             its node has no parent
 *    weight   self weight of a node: that of the samples taken exactly there, without those of its descendants
 *
 * Consumers request what they need before loading; other distinctions are not kept:
 *
 *    struct profile_request request = {.keys = PROFILE_BIT(PROFILE_COMM), .shape = PROFILE_TREE};
 *    struct profile *p;
 *    profile_load(&p, reader, &request, &err);
 *    for (uint32_t n = 0; n < p->nr_nodes; n++)
 *        ... p->nodes[n], node_weight(&p->self, n) ...
 *    profile_close(p);
 *
 * profile_parts.h describes how it is made.
 */
#include "model/names/function_names.h"
#include "model/profile/result/node_weights.h"
#include "model/profile/result/profile_request.h"
#include "model/stacks/chain_maker.h"

#define NO_FRAME UINT32_MAX
#define NO_NODE UINT32_MAX
#define NO_TEXT UINT32_MAX

/* A frame. With PROFILE_FUNCTIONS `address` is the start of the function; otherwise it is the frame's own address. */
struct profile_frame {
    uint32_t object;  /* in state->objects; NO_OBJECT: [unknown] */
    uint32_t text;    /* the symbol's name, in profile->texts; NO_TEXT: no name */
    uint32_t mangled; /* its mangled name, with .mangled_names; else NO_TEXT */
    uint8_t cpumode;  /* PERF_RECORD_MISC_CPUMODE */
    bool is_inlined;  /* `text` is a function inlined at this place into the function described by the other members */
    uint64_t address; /* in the object's file; for the kernel and anonymous memory the address in the process */
    uint64_t ip;      /* recorded address, the smallest if there are several: shown for an unnamed frame in a chain; 0
                         for a function */
    uint64_t start;   /* start of the symbol, if `address` differs from it; 0: no symbol */
    uint64_t size;    /* size of the symbol; 0: unknown */
};

/* A place in a source file. */
struct profile_line {
    uint32_t file; /* its path in profile->texts; NO_TEXT: unknown */
    uint32_t line; /* 0: unknown */
};

/* Lines of a frame, which is an address if lines are requested. */
struct frame_lines {
    struct profile_line own;      /* line of the frame: with PROFILE_LINES as `sampled`, otherwise as `function` */
    struct profile_line sampled;  /* line of the address itself, whichever function was inlined there */
    struct profile_line function; /* line in the function itself; where functions are inlined, of the outermost call */
    bool has_names;               /* the object has symbols, or its separate debug file has */
};

/* Bit 31 of a node's frame: the frame is the sampled address, which is not part of the chain (exception: see
   PROFILE_UNNAMED_APART). */
#define NODE_APART (1u << 31)

struct profile_node {
    uint32_t parent; /* a smaller number; NO_NODE: this is the root of group `frame` */
    uint32_t frame;  /* may include NODE_APART */
};

static inline uint32_t node_frame(const struct profile_node *node) {
    return node->frame & ~NODE_APART;
}

/* A single stack, with PROFILE_STACKS. */
struct profile_stack {
    union {
        const uint32_t *frames; /* outermost first; the last may have NODE_APART */
        uint64_t first;         /* while counting: index of the first frame in the counter's frames */
    };
    uint32_t count, group;
    uint64_t place; /* place of its first sample: part << 48 | offset */
    struct profile_weight self;
};

/* With PROFILE_SUMS: identifies the sum of the frames of one kind in a group. A stack that contains several such frames
   counts once. */
struct profile_sum_key {
    uint64_t place; /* place of the first sample: part << 48 | offset */
    uint32_t group, kind;
    uint32_t frame; /* frame of that sample; may include NODE_APART */
    uint32_t sum;   /* index in profile->sums; a sum without a key has no weight */
};

/* Weight of a group's samples that were taken in a frame. */
struct profile_self {
    uint32_t sum, frame;
    struct profile_weight self;
};

/* Storage of the frames of stacks. */
struct stack_part {
    struct memory *memory;
    uint32_t *frames;
    size_t room;
};

/* A value that is a place: its frame, and the smallest recorded address of the place. */
struct profile_place {
    uint32_t frame;
    uint64_t address;
};

struct profile_group {
    uint32_t event, root;
    uint64_t value[]; /* values of the requested keys, in order: see profile_value */
};

/* Additional remarks about the weights. */
struct profile_note {
    struct profile_note *next;
    const char *text; /* in the profile's arena */
};

/* The counted quantity, in the words of a report. */
struct profile_measure {
    const char *samples, *weight; /* as headings: "Samples", "Event count (approx.)" */
    const char *counted;          /* "samples" */
    bool is_amount; /* weights are amounts in the unit of the event, and the number of samples is secondary: if only one
                       of the two is shown, it is the weight */
    bool has_comms; /* threads may have names */
};

/* Allocated elements of the arrays below, needed to free them. */
struct profile_rooms {
    size_t frames, lines, nodes, stacks, groups, places, sums, sum_keys, selves;
};

/* Samples that are in no node, and other facts that qualify the counts. */
struct profile_facts {
    uint64_t left_out;             /* samples rejected by `keep` */
    uint64_t late;                 /* samples and state records that came after the end of their round */
    uint64_t guests;               /* samples of guests without any information: [unknown] */
    uint64_t undivided;            /* with .by_latency: samples taken at a time when no thread is known to have run */
    uint64_t too_deep;             /* samples of processes with more ancestors than the limit depth */
    struct profile_weight limited; /* counted in the frame [limit] because memory was at its limit */
    uint64_t stitch_begun;         /* number of times that stitching restarted because memory was short */
    bool lossy;                    /* there were holes */
    bool signed_steps;             /* weights may be decreases of a counter, modulo 2^64, and so may their sums */
};

/* The result of PROFILE_SUMS: weights by group and kind of frame. */
struct profile_sums {
    struct profile_weight *list;
    struct profile_sum_key *keys;
    uint32_t *order; /* keys in the order of their first samples; NULL: `keys` is in that order */
    uint32_t count, nr_keys;
};

struct profile {
    pfr_reader *reader;
    struct memory *memory; /* the reader's */
    struct profile_request request;
    struct state state;         /* names of objects, comms */
    char release[RELEASE_ROOM]; /* release of the recorded kernel, used by `names`; known after the first pass */
    struct address_names names;
    struct intern_table texts; /* symbols, comms and all other texts that values represent */

    struct profile_frame *frames;
    struct frame_lines *lines; /* by frame; NULL with PROFILE_NO_LINES */
    struct profile_node *nodes;
    struct node_weights self;      /* self weights of nodes */
    struct profile_weight *totals; /* by event */
    struct chain_counts *unwound;  /* by event: how unwinding of stacks ended */
    struct unwind_limits unwind_limits;
    struct profile_stack *stacks; /* in the order of their first samples; some may have no samples */
    struct stack_part *stack_parts;
    struct profile_sums sums;
    struct profile_self *selves;
    struct profile_group **groups;
    struct profile_place *places; /* the value of a place key is an index in this array */
    uint32_t nr_frames, nr_nodes, nr_stacks, nr_stack_parts, nr_groups, nr_events, nr_places, nr_selves;
    struct profile_rooms rooms;
    struct arena arena; /* memory of groups */
    struct profile_facts facts;
    struct profile_note *notes;
    uint64_t ticks_per_second; /* unit of weights; 0: the unit of the event */
};

/* Converts a weight, or a sum of weights, to the event's unit. */
uint64_t profile_amount(const struct profile *p, uint64_t weight);

/*
 * Maximum bytes for the call trees of one output that has `nodes` call paths: limit trees, plus a share per call path.
 * So the maximum grows with the recorded data, whether they are compressed or not. For a trace, the number of calls is
 * used if it is smaller: with max_stack, each call may have a stack of its own, whose nodes no other stack shares.
 */
uint64_t profile_tree_room(const struct profile *p, uint64_t nodes);

/* The number of events that a recording has in a profile. A trace has one event, the time in its calls. */
uint32_t profile_event_count(const pfr_reader *reader);
const pfr_event *profile_event(const pfr_reader *reader, uint32_t event); /* NULL after the last one */

/* Whether --event NAME means event `number` of `count`: the event has this name, or no event has it and this event is
   the only one with that name plus modifiers, such as "cpu-clock:pppH" for "cpu-clock". names() gives the two names of
   an event. */
struct event_names {
    const char *name, *rebuilt;
};
bool event_is_meant(const char *typed, uint32_t number, uint32_t count,
                    struct event_names (*names)(const void *of, uint32_t number), const void *of);
bool profile_event_is(const pfr_reader *reader, uint32_t event, const char *typed);
const struct profile_measure *profile_measure(const pfr_reader *reader);

/* Reports data that were left out because of limits as holes, although every byte was read. Returns PFR_HOLE if data
   were left out or records were lost. The number of names for which the demangler gave no answer goes to `note` of the
   request. */
pfr_status profile_report_limits(const struct profile *p, void (*on_hole)(void *context, const pfr_error *hole),
                                 void *context);

/*
 * Reads the recording to its end, more than once if it is seekable; a stream must have been opened with spool. *p and
 * its state are available in calls of `each`. < 0: *err, and *p is NULL. Errors as pfr_next; PFR_ERR_USAGE for a
 * stream.
 */
pfr_status profile_load(struct profile **p, pfr_reader *reader, const struct profile_request *request, pfr_error *err);
void profile_close(struct profile *p); /* NULL is allowed */
/* Frees the nodes and their weights, for callers that copied them. All other data remain. */
void profile_drop_nodes(struct profile *p);

/* A part of a PROFILE_TRACE text: 0 the text of the whole event, n the requested field n - 1; false: it has no such
   part. */
bool profile_tracepoint_part(const struct profile *p, uint64_t text, uint32_t part, struct intern_text *of);

/* The value of a requested key. */
uint64_t profile_value(const struct profile *p, const struct profile_group *group, enum profile_key key);

#endif
