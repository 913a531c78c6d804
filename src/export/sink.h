/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_SINK_H
#define PFR_EXPORT_SINK_H
/*
 * A sink writes a profile in one format; it is one struct in a file of its own, listed in sinks.c. feed_sink.c loads a
 * profile with the data that the sink requires, merges and sorts its stacks by the names that the sink gives, and
 * calls:
 *
 *     begin     before the first stack
 *     visit     for each node of the stacks, in order, callers before their callees
 *     stack     for each stack in profile->stacks, in recorded order. A sink that has this callback gets whole stacks,
 *               not merged into a tree; stacks that the profile nevertheless has as nodes (such as calls of traces) are
 *               passed to visit
 *     end       after the last stack
 *     clear     always, also after an error
 *
 * A NULL callback is skipped.
 */
#include "base/text/public_output.h"
#include "export/stacks/stacks.h"
#include "file/xray/recorder_notes.h"
#include "query/selected_samples.h"

#include <perfray/export.h>

struct exporting;

struct sink_type {
    pfr_export_format format;
    bool hidden;             /* not available in pfr_export */
    bool sums_events;        /* the format has a single number per stack */
    bool addresses;          /* true: frames are addresses; false: frames are functions */
    bool mangled;            /* the sink also needs mangled names */
    uint32_t keys;           /* keys (PROFILE_BITs) by which samples are separated; comm is always one of them */
    uint32_t keys_of_traces; /* additional keys for XRay traces, whose threads have no names */
    size_t state_size;       /* size of the sink's state, zeroed before begin */
    void (*name_group)(const void *exporting, const struct profile_group *group, struct output *to);
    void (*name_frame)(const void *exporting, const struct profile_frame *frame, struct output *to);
    void (*key_frame)(const void *exporting, const struct profile_frame *frame,
                      struct label_key *key);                                    /* alternative to name_frame */
    bool (*folds_run)(const void *exporting, const struct profile_frame *frame); /* as in stack_naming */
    /* called when the profile is loaded, before anything is named */
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
    const void *options; /* options of the sink's own public function */
    pfr_reader *reader;
    struct memory *memory; /* belongs to the reader */
    struct choice choice;
    struct profile *profile;
    struct stacks stacks;
    struct recorder_notes notes; /* notes of an XRay trace, for sinks that read them in `loaded` */
    struct labels objects;       /* object names, for sinks that make them in `loaded` */
    uint32_t *object_rank;       /* by object: rank of its label; NULL if not needed */
    struct pfr_output *to;
    bool by_weight; /* formats with one number use the weight instead of the number of samples */
    /* Budget in bytes, total and remaining: the limit named `trees`, usually plus a share per node (profile_tree_room).
       It is spent on the parts of stacks beyond STACK_BYTES or, in a flame graph, on all frames. */
    uint64_t room, room_left;
    uint64_t cut_stacks, cut_frames; /* stacks and frames that were cut or omitted because of this limit */
    void *state;
};

/*
 * Written as text, stacks with long common prefixes take space proportional to the square of their depth. Each stack
 * may have STACK_BYTES; the excess of longer stacks is taken from a common budget. Returns false if the rest of the
 * budget is smaller than the excess; the budget is then used up, and only stacks of at most STACK_BYTES fit.
 */
#define STACK_BYTES 4096u
static inline bool stack_fits(struct exporting *e, uint64_t length) {
    const uint64_t excess = length > STACK_BYTES ? length - STACK_BYTES : 0;
    const bool fits = excess <= e->room_left;
    e->room_left = fits ? e->room_left - excess : 0;
    return fits;
}

/* NULL-terminated. */
extern const struct sink_type *const sinks[];
extern const struct sink_type sink_folded, sink_pprof, sink_flame;

/* Runs the export. `path` NULL: write to `to`. */
pfr_status export_run(struct exporting *e, const char *path, pfr_error *err);

/* --- frame_names.c: names of frames. */
enum frame_kind { FRAME_USER, FRAME_KERNEL, FRAME_UNNAMED };
enum frame_kind frame_kind_of(const struct exporting *e, const struct profile_frame *frame);
/* Writes the symbol, or the object in brackets, or [unknown]; not escaped. */
void write_frame_name(const struct exporting *e, const struct profile_frame *frame, struct output *to);
/* Writes the base name of the object's path, or for anonymous memory a name such as "[JIT] tid 42"; writes nothing for
   NO_OBJECT. */
void write_object_name(const struct exporting *e, uint32_t object, struct output *to);

/* The number of a node in a format with one number per stack: its weight, or its number of samples (by_weight). */
static inline uint64_t weight_of(const struct exporting *e, const struct profile_weight *weight) {
    return e->by_weight ? weight->weight : weight->samples;
}

/* Converts a result of weight_of, or a sum of such results, to the output's unit. */
static inline uint64_t amount_of(const struct exporting *e, uint64_t number) {
    return e->by_weight ? profile_amount(e->profile, number) : number;
}

static inline struct intern_text comm_of(const struct exporting *e, const struct profile_group *group) {
    return intern_get(&e->profile->texts, (uint32_t)profile_value(e->profile, group, PROFILE_COMM));
}

#endif
