/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_MODEL_H
#define PERFRAY_MODEL_H
/*
 * The model of a recording: loaded once, never changed, asked by any number of threads.
 *
 * It has tables, whose rows have ids from 1 on; id 0 means unknown or absent in every column:
 *
 *     event     what was counted                     object    a mapped file, the kernel, a module, a JIT dump
 *     process   an address space's owner             symbol    a function, or an address that has no name
 *     thread    one life of a tid in a process       frame     a place in a symbol
 *     comm      a name of threads                    stack     a node of ONE tree: (parent, frame); outermost first
 *
 * and rows in time, which cursors give in batches: samples (samples.h), calls, intervals and marks (spans.h). A sample
 * refers to the stack of its innermost frame. Names, frames and weights are those of pfr_report_print and of
 * pfr_script_print in JSON.
 *
 * Ids depend on the recording and the options only: not on the number of threads, the byte order or the container.
 * Parents of stacks and of calls have smaller ids: a loop over stacks from the last id down adds up totals.
 *
 * Ownership: the model is the caller's until pfr_model_close. Every `const T *` and text that a function returns
 * belongs to the model in its first argument, does not move and lives as long as the model. Texts are the bytes of the
 * recording, NUL-terminated: print them with pfr_escape (out.h).
 * Threads: one thread opens, one closes; between the two any number of threads may call every function that takes a
 * `const pfr_model *`. A cursor or a symbolizer belongs to one thread at a time.
 * An allocator given to pfr_open is then called by all of these threads.
 * Memory: that of the reader it was made from, counted against its limit: it follows the distinct stacks, frames and
 * names, and 4 bytes a sample; `columns` adds to that. What cannot be read again in parts (compressed or damaged
 * recordings, groups of counters, `stitched`) keeps all columns, 45 bytes a sample; calls of a trace take 32 bytes
 * each.
 *
 * Example, how much each function weighs itself:
 *
 *     pfr_model_options options = {.size = sizeof options};
 *     pfr_model *model = pfr_model_open(reader, &options, &err);
 *     uint64_t *self = calloc(pfr_model_count(model, PFR_TABLE_STACK) + 1, sizeof *self);
 *     if (pfr_model_weights(model, 1, self, NULL, &err) == PFR_OK)
 *         for (uint32_t id = 1; id <= pfr_model_count(model, PFR_TABLE_STACK); id++)
 *             if (self[id])
 *                 printf("%8llu %s\n", (unsigned long long)self[id],
 *                        pfr_model_get_symbol(model, pfr_model_get_stack(model, id)->symbol)->name);
 *     pfr_model_close(model);
 */
#include <perfray/reader.h>
#include <perfray/symbol_options.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pfr_model pfr_model;

/* Samples that a model keeps as arrays beside the stack ids: bits of pfr_model_options.columns. Bytes a sample. */
#define PFR_COLUMN_TIME (1u << 0)   /* 8 */
#define PFR_COLUMN_THREAD (1u << 1) /* 4 */
#define PFR_COLUMN_CPU (1u << 2)    /* 4 */
#define PFR_COLUMN_EVENT (1u << 3)  /* 4 */
#define PFR_COLUMN_MODE (1u << 4)   /* 1 */
#define PFR_COLUMN_WEIGHT (1u << 5) /* 8 */
#define PFR_COLUMN_PERIOD (1u << 6) /* 8 */
#define PFR_COLUMN_STACK (1u << 7)  /* 4; kept always */
#define PFR_COLUMN_COMM (1u << 8)   /* 4 */

/* `(pfr_model_options){.size = sizeof(pfr_model_options)}` is the default, and a NULL pointer is the same. */
typedef struct pfr_model_options {
    size_t size;        /* sizeof(pfr_model_options) */
    uint32_t columns;   /* PFR_COLUMN_*, or-ed: samples' columns kept as arrays (pfr_model_column) */
    uint32_t jobs;      /* threads that load; 0: one for each cpu, at most 4, and for each 0.15 s of counting */
    uint32_t max_stack; /* entries of a call chain, from the innermost; 0: 127, of a trace 256; at most 65535 */
    bool functions;     /* a frame is a function, not an address: fewer frames and stacks; no `lines`, no `inlined` */
    bool lines;         /* file and line of each frame, from debugging information */
    bool inlined;       /* functions inlined at an address are frames of their own; implies `lines` */
    bool stitched;      /* LBR stacks are continued by earlier samples' outer part; one thread then */
    const pfr_symbol_options *naming; /* where names come from; its texts must outlive the model; NULL: the defaults */
    /* A trace of the same run, when the reader is a recording (or the reverse): one model has the samples of the one
       and the calls of the other, with one clock. NULL: no other file. It must outlive the model, too. */
    pfr_reader *beside;
    void (*hole)(void *context, const pfr_error *hole); /* called for each unreadable range; may be NULL */
    void (*note)(void *context, const char *sentence);  /* what may be wrong or missing, a sentence; may be NULL */
    void *context;
    bool no_intervals; /* thread states are not needed: pfr_model_interval has none (spans.h) */
} pfr_model_options;

/*
 * Reads the whole recording, more than once; a stream must have been opened with pfr_open_options.spool. The reader and
 * the texts of `options` must outlive the model, and nobody may read records with the reader until pfr_model_close.
 * `hole` and `note` are called before the function returns, `hole` by any of the threads that load.
 *
 * NULL, with *err: USAGE (a stream without spool; options that exclude each other; `beside` is of the same kind, or its
 * clock is another: err->text says which clocks); FORMAT (an XRay profile has sums of calls, and no calls); MEMORY,
 * LIMIT (the tables do not fit into pfr_limits.memory); CHANGED; else as pfr_next. Unreadable ranges are no failure:
 * see the facts "holes", "limited" and the others (pfr_model_fact). Stacks that did not fit are the frame `[limit]`.
 */
pfr_model *pfr_model_open(pfr_reader *reader, const pfr_model_options *options, pfr_error *err);
/* After its cursors and symbolizers. NULL is fine. */
void pfr_model_close(pfr_model *model);

/* --- Tables. */

typedef enum pfr_table {
    PFR_TABLE_EVENT,
    PFR_TABLE_PROCESS,
    PFR_TABLE_THREAD,
    PFR_TABLE_COMM,
    PFR_TABLE_OBJECT,
    PFR_TABLE_SYMBOL,
    PFR_TABLE_FRAME,
    PFR_TABLE_STACK
} pfr_table;

/* Rows of a table: its ids are 1 to this number. */
uint32_t pfr_model_count(const pfr_model *model, pfr_table table);

/* an unknown time */
#define PFR_NO_TIME UINT64_MAX
/* pfr_sample.cpu where it was not recorded */
#define PFR_NO_CPU UINT32_MAX

/* What the weights of a model count. In a recording event id N is pfr_get_event(reader, N - 1); a trace has one. */
typedef struct pfr_model_event {
    const char *name;     /* "cycles:u"; of a trace "calls" */
    const char *unit;     /* of `weight`: "ns" for clocks and the time in calls, or as recorded; NULL: a count */
    uint64_t samples;     /* samples of it; of a trace calls */
    uint64_t weight;      /* the sum of their weights */
    uint64_t first, last; /* times of its first and last sample, ns; PFR_NO_TIME: no sample, or no times */
    bool is_traced;       /* calls, not samples */
} pfr_model_event;

typedef struct pfr_model_process {
    uint32_t pid;
    uint32_t parent;     /* process id; 0: not known */
    uint32_t comm;       /* the last name of its main thread; 0: unnamed */
    uint64_t start, end; /* FORK and EXIT of the main thread, ns; PFR_NO_TIME: not recorded */
} pfr_model_process;

/* One life of a tid, from its FORK to the next. Samples whose pid is not that of the thread's process have a row of
   their own: pid and tid are those of the samples. */
typedef struct pfr_model_thread {
    uint32_t process, tid;
    uint32_t comm;       /* its last name; 0: unnamed. A sample has the name at its time */
    uint64_t start, end; /* ns; PFR_NO_TIME: not recorded */
} pfr_model_thread;

typedef enum pfr_object_kind {
    PFR_OBJECT_UNKNOWN, /* addresses that no map covers; at most one row, "[unknown]" */
    PFR_OBJECT_FILE,
    PFR_OBJECT_KERNEL,
    PFR_OBJECT_MODULE,
    PFR_OBJECT_VDSO,
    PFR_OBJECT_ANONYMOUS, /* code in no file */
    PFR_OBJECT_MEMORY,    /* stack, heap */
    PFR_OBJECT_BPF,       /* code that came while the kernel ran (KSYMBOL) */
    PFR_OBJECT_JIT,       /* code that a compiler wrote to a jitdump */
    PFR_OBJECT_OTHER,
    PFR_OBJECT_LIMIT /* stacks that memory had no room for: "[limit]" */
} pfr_object_kind;

typedef struct pfr_model_object {
    const char *path;
    const char *name; /* as reports call it: the last part of the path, "[kernel.kallsyms]", "[unknown]" */
    uint8_t build_id[20];
    uint8_t build_id_size; /* bytes; 0: not known */
    pfr_object_kind kind;
} pfr_model_object;

typedef struct pfr_model_symbol {
    const char *name;    /* NULL: an address without a name, a row for each address; reports print `address`, exports
                            the object's name in brackets */
    const char *mangled; /* as the object has it, where that is known and differs; NULL: the same, or not known */
    uint32_t object;     /* never 0 */
    uint64_t address;    /* where it begins (or of the address without a name): in the object's file; in the kernel and
                            in anonymous memory that of the process. A function of a trace that no map has: its number */
    uint64_t size;       /* bytes; 0: not known */
} pfr_model_symbol;

typedef struct pfr_model_frame {
    uint32_t symbol;  /* never 0; of an inlined function a symbol without address */
    uint32_t object;  /* never 0 */
    uint64_t address; /* the place, as pfr_model_symbol.address counts; with `functions` the symbol's */
    const char *file; /* source file; NULL: not known */
    uint32_t line;    /* 0: not known */
    uint8_t mode;     /* PFR_CPUMODE_* */
    bool inlined;     /* the symbol was inlined at this place; the frame it was inlined into is the parent's */
} pfr_model_frame;

/* Size and members of this struct do not change in later versions: see pfr_model_stacks. */
typedef struct pfr_stack {
    uint32_t parent; /* a smaller id; 0: this is an outermost frame */
    uint32_t frame;
    uint32_t symbol;  /* of the frame */
    uint16_t depth;   /* frames above it; 65535: so many or more */
    uint8_t is_outer; /* 1: no frame above it has the same symbol: sums of totals by symbol take these only, so that
                         recursion counts once */
    uint8_t is_apart; /* 1: the sampled address, which the recorded call chain does not end with (or: no chain) */
} pfr_stack;

/* Row `id`; NULL for 0 and past the end. Constant time. */
const pfr_model_event *pfr_model_get_event(const pfr_model *model, uint32_t id);
const pfr_model_process *pfr_model_get_process(const pfr_model *model, uint32_t id);
const pfr_model_thread *pfr_model_get_thread(const pfr_model *model, uint32_t id);
const char *pfr_model_get_comm(const pfr_model *model, uint32_t id);
const pfr_model_object *pfr_model_get_object(const pfr_model *model, uint32_t id);
const pfr_model_symbol *pfr_model_get_symbol(const pfr_model *model, uint32_t id);
const pfr_model_frame *pfr_model_get_frame(const pfr_model *model, uint32_t id);
const pfr_stack *pfr_model_get_stack(const pfr_model *model, uint32_t id);
/* The whole table, to be indexed by id: [0] is all zero, [pfr_model_count(...)] the last. For inner loops. */
const pfr_stack *pfr_model_stacks(const pfr_model *model);

/*
 * The text of a stack, innermost last, as `folded` has it: names, "[OBJECT]" for frames without one, `separator`
 * between (NULL: ";"). Into `to` of `room` bytes (at least 1) with NUL; cut at a whole frame if it must. Returns the
 * length that the whole text has, without NUL. Names are escaped as pfr_escape does. Stack 0: "".
 */
size_t pfr_model_stack_text(const pfr_model *model, uint32_t stack, const char *separator, char *to, size_t room);

/* The name of a thread at a time (ns; PFR_NO_TIME: the last): a comm id, 0: unnamed. */
uint32_t pfr_model_comm_at(const pfr_model *model, uint32_t thread, uint64_t time);

/*
 * Sums over the samples of one event (a trace: over calls, weight is self time): what each stack weighs itself, and
 * with all below it. Arrays of pfr_model_count(model, PFR_TABLE_STACK) + 1 that the caller owns; either may be NULL.
 * Reads all samples. PFR_OK; USAGE: no such event; else as pfr_samples_next.
 *
 * Example, what each caller of a symbol contributes to its total; [0]: it is outermost:
 *
 *     for (uint32_t id = 1; id <= pfr_model_count(model, PFR_TABLE_STACK); id++)
 *         if (stacks[id].symbol == symbol && stacks[id].is_outer)
 *             callers[stacks[stacks[id].parent].symbol] += total[id];
 */
pfr_status pfr_model_weights(const pfr_model *model, uint32_t event, uint64_t *self, uint64_t *total, pfr_error *err);

/*
 * The same by symbol, in arrays of pfr_model_count(model, PFR_TABLE_SYMBOL) + 1; recursion counts once. [0] is what has
 * no address. Takes 16 bytes a stack of the model's memory meanwhile. Returns as pfr_model_weights; also MEMORY, LIMIT.
 */
pfr_status pfr_model_symbol_weights(const pfr_model *model, uint32_t event, uint64_t *self, uint64_t *total,
                                    pfr_error *err);

/* What one function weighs itself in one command: a row of the flat table. */
typedef struct pfr_flat_row {
    uint64_t weight, samples;
    uint32_t comm, symbol; /* ids; 0: not recorded */
    uint8_t mode;          /* PFR_CPUMODE_* of the frames */
} pfr_flat_row;

/* false: no more rows are wanted. *row lives during the call. */
typedef bool pfr_flat_each(void *context, const pfr_flat_row *row);

/*
 * The flat table of one event: calls `each` for each row, heaviest first. Reads all samples. PFR_OK, also when `each`
 * ended it; USAGE: no such event, or one of calls; else as pfr_samples_next, MEMORY, LIMIT.
 */
pfr_status pfr_model_flat(const pfr_model *model, uint32_t event, pfr_flat_each *each, void *context, pfr_error *err);

/* --- Columns as arrays. */

typedef enum pfr_column_type { PFR_U8, PFR_U16, PFR_U32, PFR_U64, PFR_I64 } pfr_column_type;

typedef struct pfr_column {
    const void *at; /* of the first value */
    uint64_t count; /* values */
    size_t stride;  /* bytes from one value to the next */
    pfr_column_type type;
} pfr_column;

/* The array of one column of samples, in file order: `column` is one PFR_COLUMN_* bit. false: it is not kept. */
bool pfr_model_column(const pfr_model *model, uint32_t column, pfr_column *to);

/* --- Quality and other facts. */

typedef struct pfr_fact {
    const char *key;  /* static */
    const char *text; /* the value as text, never NULL */
    uint64_t value;   /* the number; 0 where the value is no number */
} pfr_fact;

/*
 * Fact `index` from 0; NULL past the end. How much of the recording the model has: the fields of the quality line
 * (quality.h) in their order, then "late" (records after their round), "guests" (samples of guests: unknown),
 * "too_deep" (samples unknown by the limit depth), "limited" (samples and calls in [limit]), "unmatched_exits" (of a
 * trace), "lossy" (1: there were unreadable ranges).
 */
const pfr_fact *pfr_model_fact(const pfr_model *model, uint32_t index);

/* The same for what the recording says about itself, as far as it does: "format", "container", "byte_order", "clock"
   ("perf", "monotonic", ..., of a trace "monotonic", "tsc", "ticks"), "first", "last" (times of samples), "hostname",
   "osrelease", "version", "arch", "cpudesc", "cmdline". */
const pfr_fact *pfr_model_meta(const pfr_model *model, uint32_t index);

/* true: times and durations of calls are ticks, because the trace does not say its clock's frequency; else ns. */
bool pfr_model_ticks(const pfr_model *model);

/* --- A model of anything: imports, tests. */

typedef struct pfr_build pfr_build;
struct pfr_sample;
struct pfr_call;
struct pfr_interval;
struct pfr_mark;

/*
 * Rows are put, parents before what refers to them, then pfr_build_finish makes the model. Each put returns the id of
 * the row; equal comms, objects, symbols, frames and stacks are one row, other rows are always new. Texts are copied.
 * 0: the row refers to an id that does not exist, or memory ran out; the first failure sticks, later puts do nothing,
 * and pfr_build_finish tells it. depth, is_outer, symbol of stacks and sums of events are computed.
 *
 *     pfr_build *b = pfr_model_build(NULL, NULL, &err);
 *     uint32_t thread = pfr_build_thread(b, &(pfr_model_thread){.process = pfr_build_process(b, &process), .tid = 7});
 *     ...
 *     pfr_model *model = pfr_build_finish(b, &err);
 */
pfr_build *pfr_model_build(const pfr_alloc *alloc, const pfr_limits *limits, pfr_error *err);
uint32_t pfr_build_event(pfr_build *build, const pfr_model_event *event);
uint32_t pfr_build_process(pfr_build *build, const pfr_model_process *process);
uint32_t pfr_build_thread(pfr_build *build, const pfr_model_thread *thread);
uint32_t pfr_build_comm(pfr_build *build, const char *name);
uint32_t pfr_build_object(pfr_build *build, const pfr_model_object *object);
uint32_t pfr_build_symbol(pfr_build *build, const pfr_model_symbol *symbol);
uint32_t pfr_build_frame(pfr_build *build, const pfr_model_frame *frame); /* its object is the symbol's */
uint32_t pfr_build_stack(pfr_build *build, uint32_t parent, uint32_t frame);
/* Samples in any order: file order is that of the puts. Ids above 2^32 - 2 are a failure. */
uint32_t pfr_build_sample(pfr_build *build, const struct pfr_sample *sample);
uint32_t pfr_build_call(pfr_build *build, const struct pfr_call *call);
uint32_t pfr_build_interval(pfr_build *build, const struct pfr_interval *interval);
uint32_t pfr_build_mark(pfr_build *build, const struct pfr_mark *mark);
/* Frees the builder in every case. NULL, with *err: USAGE (a row that refers to nothing: error.where is the table),
   MEMORY, LIMIT. */
pfr_model *pfr_build_finish(pfr_build *build, pfr_error *err);
/* Without making a model. NULL is fine. */
void pfr_build_free(pfr_build *build);

#ifdef __cplusplus
}
#endif
#endif
