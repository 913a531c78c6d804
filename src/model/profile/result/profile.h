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
 *     struct profile_request wish = {.keys = PROFILE_BIT(PROFILE_COMM), .shape = PROFILE_TREE};
 *     struct profile *p;
 *     profile_load(&p, reader, &wish, &err);
 *     for (uint32_t n = 0; n < p->nr_nodes; n++)
 *         ... p->nodes[n], node_weight(&p->self, n) ...
 *     profile_close(p);
 *
 * How it is made is told in profile.c.
 */
#include "model/names/function_names.h"
#include "model/profile/result/node_weights.h"
#include "model/profile/result/profile_request.h"
#include "model/stacks/chain_maker.h"

#define NO_FRAME UINT32_MAX
#define NO_NODE UINT32_MAX
#define NO_TEXT UINT32_MAX

/* With PROFILE_FUNCTIONS `address` is where the function begins; else it is the frame's own. */
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

/* Of a frame, which is an address where lines are asked for. */
struct frame_lines {
    struct profile_line own;     /* in the function: with PROFILE_INLINED where the outermost inlined call is */
    struct profile_line sampled; /* of the address itself, whatever function was inlined there */
    bool has_names;              /* its object, or what was taken out of it, was found */
};

/* Bit 31 of a node's frame: the frame is the sampled address, which the chain above it does not hold (but see
   PROFILE_UNNAMED_APART). */
#define NODE_APART (1u << 31)

struct profile_node {
    uint32_t parent; /* a smaller number; NO_NODE: this is the root of group `frame` */
    uint32_t frame;  /* and NODE_APART */
};

static inline uint32_t node_frame(const struct profile_node *node) {
    return node->frame & ~NODE_APART;
}

/* A stack by itself, with PROFILE_STACKS. */
struct profile_stack {
    union {
        const uint32_t *frames; /* outermost first; the last may have NODE_APART */
        uint64_t first;         /* while it is counted: where they begin in the counter's */
    };
    uint32_t count, group;
    uint64_t place; /* of its first sample: part << 48 | offset */
    struct profile_weight self;
};

/* What frames of one kind weigh in a group, with PROFILE_SUMS: all stacks that they are in, each once. */
struct profile_sum_key {
    uint64_t place; /* of the first sample: part << 48 | offset */
    uint32_t group, kind;
    uint32_t frame; /* of that sample, which may have NODE_APART */
    uint32_t sum;   /* in profile->sums, where those without a key weigh nothing */
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

/* Elements that the arrays below were made with, to be freed with. */
struct profile_rooms {
    size_t frames, lines, nodes, stacks, groups, places, sums, sum_keys, selves;
};

struct profile {
    pfr_reader *reader;
    struct memory *memory; /* the reader's */
    struct profile_request request;
    struct state state; /* names of objects, comms */
    struct address_names names;
    struct intern_table texts; /* symbols, comms and all other texts that values stand for */

    struct profile_frame *frames;
    struct frame_lines *lines; /* by frame; NULL with PROFILE_NO_LINES */
    struct profile_node *nodes;
    struct node_weights self;      /* of nodes */
    struct profile_weight *totals; /* by event */
    struct chain_counts *unwound;  /* by event: how stacks ended that were unwound */
    struct unwind_limits unwind_limits;
    struct profile_stack *stacks; /* in the order of their first samples; some may have no samples */
    struct stack_part *stack_parts;
    struct profile_weight *sums;
    struct profile_sum_key *sum_keys;
    uint32_t *sum_order; /* keys by their first samples; NULL: that is how they lie */
    struct profile_self *selves;
    struct profile_group **groups;
    struct profile_place *places; /* what values that are places count in */
    uint32_t nr_frames, nr_nodes, nr_stacks, nr_stack_parts, nr_groups, nr_events, nr_places;
    uint32_t nr_sums, nr_sum_keys, nr_selves;
    struct profile_rooms rooms;
    struct arena arena; /* groups */

    uint64_t left_out;             /* samples that `keep` did not want */
    uint64_t late;                 /* samples and state that came after their round had ended */
    uint64_t guests;               /* samples of guests that nothing says a word of: [unknown] */
    uint64_t undivided;            /* with .by_latency: samples at whose time no thread is known to run */
    uint64_t too_deep;             /* samples of processes with more ancestors than the limit depth lets be asked */
    struct profile_weight limited; /* what went into the frame [limit] because memory was at its limit */
    uint64_t stitch_begun;         /* how often stitching began anew because memory was short */
    bool lossy;                    /* holes were met */
    bool signed_steps;             /* weights may be what a counter went back by, modulo 2^64: sums of them are, too */
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
