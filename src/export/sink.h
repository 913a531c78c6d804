/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_SINK_H
#define PFR_EXPORT_SINK_H
/*
 * A sink is what a format makes of a profile: one row, in a file of its own, listed in sinks.c. The pump (feed_sink.c)
 * loads a profile with what the row wants, merges and orders its stacks by the names that the sink gives, and calls it:
 *
 *     begin     before the first stack
 *     visit     each node of the stacks, outer ones before what is below them, in order
 *     stack     instead of nodes, each stack that the profile tells by itself, in the order of the recording: for
 *               formats where a stack is named by its own. Some are nodes all the same
 *     end       behind the last
 *     clear     always, also after a failure
 *
 * A callback that is left out: not interested.
 */
#include "base/text/public_output.h"
#include "export/stacks/stacks.h"
#include "file/xray/recorder_notes.h"
#include "query/selected_samples.h"

#include <perfray/export.h>

struct exporting;

struct sink_type {
    pfr_export_format format;
    bool hidden;             /* not by pfr_export */
    bool sums_events;        /* one number for each stack */
    bool addresses;          /* a frame for each address; else for each function */
    bool mangled;            /* names as objects have them, too */
    uint32_t keys;           /* samples that differ in these are kept apart (PROFILE_BIT); comm always is one */
    uint32_t keys_of_traces; /* the same, only for traces, whose threads have no names */
    size_t state_size;       /* of what the sink keeps: zero at begin */
    void (*name_group)(const void *exporting, const struct profile_group *group, struct output *to);
    void (*name_frame)(const void *exporting, const struct profile_frame *frame, struct output *to);
    void (*key_frame)(const void *exporting, const struct profile_frame *frame, struct label_key *key); /* or this */
    bool (*folds_run)(const void *exporting, const struct profile_frame *frame); /* as of stack_naming */
    /* the profile is there, and nothing has a name yet */
    pfr_status (*loaded)(struct exporting *e, pfr_error *err);
    pfr_status (*begin)(struct exporting *e, pfr_error *err);
    pfr_status (*visit)(struct exporting *e, uint32_t node, uint32_t depth, pfr_error *err);
    pfr_status (*stack)(struct exporting *e, const struct profile_stack *stack, pfr_error *err);
    pfr_status (*end)(struct exporting *e, pfr_error *err);
    void (*clear)(struct exporting *e);
};

struct exporting {
    const struct sink_type *sink;
    const pfr_selection *of;
    const void *options; /* of the sink's own call */
    pfr_reader *reader;
    struct memory *memory; /* the reader's */
    struct choice choice;
    struct profile *profile;
    struct stacks stacks;
    struct recorder_notes notes; /* of a trace, for sinks that read them in `loaded` */
    struct labels objects;       /* for sinks that name them in `loaded`: objects of the state */
    uint32_t *object_rank;       /* by object: of its label; NULL: nobody asked */
    struct pfr_output *to;
    bool by_weight;                  /* outputs that have one number: the weight, not how many */
    uint64_t room, room_left;        /* bytes that an output may have beyond what grows with what was recorded, and that
                                        it still may (limit trees) */
    uint64_t cut_stacks, cut_frames; /* what was cut or left out for that reason */
    void *state;
};

/*
 * Stacks that share long beginnings take the square of their depth as text. Each may have so many bytes; what longer
 * ones have in excess is taken from the room of all. false: it is used up, from the first stack on that finds it so.
 */
#define STACK_BYTES 4096u
static inline bool stack_fits(struct exporting *e, uint64_t length) {
    const uint64_t excess = length > STACK_BYTES ? length - STACK_BYTES : 0;
    const bool fits = excess <= e->room_left;
    e->room_left = fits ? e->room_left - excess : 0;
    return fits;
}

/* Ends with NULL. */
extern const struct sink_type *const sinks[];
extern const struct sink_type sink_folded, sink_pprof, sink_flame;

/* The whole of it. `path` NULL: to `to`. */
pfr_status export_run(struct exporting *e, const char *path, pfr_error *err);

/* --- frame_names.c: what frames are called. */
enum frame_kind { FRAME_USER, FRAME_KERNEL, FRAME_UNNAMED };
enum frame_kind frame_kind_of(const struct exporting *e, const struct profile_frame *frame);
/* Its symbol, else its object in brackets, else [unknown]; not escaped. */
void write_frame_name(const struct exporting *e, const struct profile_frame *frame, struct output *to);
/* The last part of the object's path; nothing where it has none. */
void write_object_name(const struct exporting *e, uint32_t object, struct output *to);

/* What a sample counts in outputs that have one number. */
static inline uint64_t weight_of(const struct exporting *e, const struct profile_weight *weight) {
    return e->by_weight ? weight->weight : weight->samples;
}

/* Such a number, or a sum of them, as it is written. */
static inline uint64_t amount_of(const struct exporting *e, uint64_t number) {
    return e->by_weight ? profile_amount(e->profile, number) : number;
}

static inline struct intern_text comm_of(const struct exporting *e, const struct profile_group *group) {
    return intern_get(&e->profile->texts, (uint32_t)profile_value(e->profile, group, PROFILE_COMM));
}

#endif
