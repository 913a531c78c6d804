/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_MODEL_H
#define PERFRAY_MODEL_H
/*
 * The model of a recording: loaded once, never changed, queried by any number of threads.
 *
 * A model has tables whose rows are numbered by ids from 1; id 0 means unknown or absent in every column:
 *
 *     event     what was counted                     object    a mapped file, the kernel, a module, a JIT dump
 *     process   an address space's owner             symbol    a function, or an address that has no name
 *     thread    one use of a tid in a process        frame     a place in a symbol
 *     comm      a thread name                        stack     a node of ONE tree: (parent, frame); outermost first
 *
 * A model also has rows in time: samples (samples.h) and calls (spans.h), which are read in batches by cursors; and
 * intervals and marks (spans.h). The stack of a sample is the node of its innermost frame. Names, frames and weights
 * are those of pfr_report_print and of pfr_script_print in JSON.
 *
 * Ids depend only on the recording and the options, not on the number of threads, the byte order or the container. The
 * parent of a stack or call has a smaller id, so a loop over stacks from the last id down can add up totals.
 *
 * Ownership: the caller releases the model by pfr_model_close(). Every `const T *` and text that a function returns
 * belongs to the model, does not move and is valid until the model is closed. Texts are NUL-terminated bytes of the
 * recording: print them with pfr_escape() (out.h).
 * Threads: while the model is open, any number of threads may call every function that takes a `const pfr_model *`. All
 * of them call the allocator that was given to pfr_open(). A cursor or a symbolizer belongs to one thread at a time.
 * Memory: allocated from the reader and counted against its limit: the distinct stacks, frames and names, and 4 bytes
 * per sample; `columns` adds to that. Compressed or damaged recordings, groups of counters and `stitched` keep all
 * columns, 45 bytes per sample, because the samples cannot be read again in parts. Calls of a trace take 32 bytes
 * each, up to 1 MB; those of a larger trace are in an unnamed temporary file in TMPDIR or /tmp.
 *
 * Example, the self weight of each stack, with the name of its innermost function:
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

/* Bits of pfr_model_options.columns: columns of samples that the model keeps as arrays. The numbers are bytes per
   sample. */
#define PFR_COLUMN_TIME (1u << 0)   /* 8 */
#define PFR_COLUMN_THREAD (1u << 1) /* 4 */
#define PFR_COLUMN_CPU (1u << 2)    /* 4 */
#define PFR_COLUMN_EVENT (1u << 3)  /* 4 */
#define PFR_COLUMN_MODE (1u << 4)   /* 1 */
#define PFR_COLUMN_WEIGHT (1u << 5) /* 8 */
#define PFR_COLUMN_PERIOD (1u << 6) /* 8 */
#define PFR_COLUMN_STACK (1u << 7)  /* 4; always kept */
#define PFR_COLUMN_COMM (1u << 8)   /* 4 */

/* `(pfr_model_options){.size = sizeof(pfr_model_options)}` is the default, and a NULL pointer is the same. */
typedef struct pfr_model_options {
    size_t size;        /* sizeof(pfr_model_options) */
    uint32_t columns;   /* PFR_COLUMN_* bits: columns of samples to keep as arrays (pfr_model_column) */
    uint32_t jobs;      /* loading threads; 0: one per CPU, at most 4, and at most one per 0.15 s of expected work */
    uint32_t max_stack; /* entries of a call chain to use, from the innermost; 0: 127, for traces 256; at most 65535 */
    bool functions; /* frames are functions, not addresses, so there are fewer frames; excludes `lines`, `inlined` */
    bool lines;     /* file and line of each frame, from debugging information */
    bool inlined;   /* functions inlined at an address are frames of their own; implies `lines` */
    bool stitched;  /* extend LBR stacks by frames of earlier samples; uses one thread */
    const pfr_symbol_options *naming; /* options for finding names; their texts must outlive the model; NULL: the
                                         defaults */
    /* A second file of the same run: a trace if the reader is a recording, or the reverse. The model then has the
       samples of one and the calls of the other, with one clock. It must outlive the model. NULL: no second file. */
    pfr_reader *beside;
    void (*hole)(void *context, const pfr_error *hole); /* called for each unreadable range; may be NULL */
    void (*note)(void *context, const char *sentence);  /* called with a sentence about a possible loss or error */
    void *context;
    bool no_intervals; /* omit thread states: pfr_model_interval() returns none (spans.h) */
    bool no_marks;     /* with no_intervals: omit marks and the ends of threads, which need a pass over the recording */
} pfr_model_options;

/*
 * Reads the whole recording, more than once; a stream must have been opened with pfr_open_options.spool. The reader and
 * the texts of `options` must outlive the model, and records must not be read with the reader until pfr_model_close().
 * `hole` and `note` are called before the function returns. Any of the loading threads may call `hole`.
 *
 * Returns NULL on failure: PFR_ERR_USAGE for a stream without `spool`, options that exclude each other, or a `beside`
 * of the same kind or with another clock (err->text names the clocks); PFR_ERR_FORMAT for an XRay profile, which has
 * sums of calls but no calls; PFR_ERR_MEMORY or PFR_ERR_LIMIT if the tables do not fit into pfr_limits.memory;
 * PFR_ERR_CHANGED; PFR_ERR_IO or PFR_ERR_PERMISSION of the temporary file; otherwise an error of pfr_next(). Unreadable
 * ranges are not a failure: see facts such as "holes" and "limited" (pfr_model_fact). Stacks that did not fit into
 * memory have the frame `[limit]`.
 */
pfr_model *pfr_model_open(pfr_reader *reader, const pfr_model_options *options, pfr_error *err);
/* Close its cursors and symbolizers first. NULL is allowed. */
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

/* Number of rows of a table, whose ids are 1 to this number. */
uint32_t pfr_model_count(const pfr_model *model, pfr_table table);

/* an unknown time */
#define PFR_NO_TIME UINT64_MAX
/* pfr_sample.cpu: the CPU was not recorded */
#define PFR_NO_CPU UINT32_MAX

/* An event: the unit in which weights are counted. In a recording, event id N is pfr_get_event(reader, N - 1); a trace
   has one event. */
typedef struct pfr_model_event {
    const char *name;     /* "cycles:u"; for traces "calls" */
    const char *unit;     /* unit of `weight`: "ns" for clocks and times of calls, or as recorded; NULL: a count */
    uint64_t samples;     /* number of samples; for traces, of calls */
    uint64_t weight;      /* sum of the weights of these samples or calls */
    uint64_t first, last; /* times of the first and last sample, ns; PFR_NO_TIME: no sample, or no times */
    bool is_traced;       /* calls, not samples */
} pfr_model_event;

typedef struct pfr_model_process {
    uint32_t pid;
    uint32_t parent;     /* process id; 0: not known */
    uint32_t comm;       /* the last name of its main thread; 0: unnamed */
    uint64_t start, end; /* FORK and EXIT of the main thread, ns; PFR_NO_TIME: not recorded */
} pfr_model_process;

/* One thread: a tid from its FORK to its next FORK. Samples whose pid is not that of the thread's process get a
   separate row with the pid and tid of the samples. */
typedef struct pfr_model_thread {
    uint32_t process, tid;
    uint32_t comm;       /* its last name; 0: unnamed. pfr_sample.comm is the name at the time of the sample */
    uint64_t start, end; /* ns; PFR_NO_TIME: not recorded */
} pfr_model_thread;

typedef enum pfr_object_kind {
    PFR_OBJECT_UNKNOWN, /* addresses that no map covers; at most one row, "[unknown]" */
    PFR_OBJECT_FILE,
    PFR_OBJECT_KERNEL,
    PFR_OBJECT_MODULE,
    PFR_OBJECT_VDSO,
    PFR_OBJECT_ANONYMOUS, /* code in memory without a file */
    PFR_OBJECT_MEMORY,    /* stack, heap */
    PFR_OBJECT_BPF,       /* code that was added to the running kernel (KSYMBOL) */
    PFR_OBJECT_JIT,       /* code that a compiler wrote to a jitdump */
    PFR_OBJECT_OTHER,
    PFR_OBJECT_LIMIT /* stacks for which there was no memory: "[limit]" */
} pfr_object_kind;

typedef struct pfr_model_object {
    const char *path;
    const char *name; /* as in reports: the last part of the path, "[kernel.kallsyms]", "[unknown]" */
    uint8_t build_id[20];
    uint8_t build_id_size; /* bytes; 0: not known */
    pfr_object_kind kind;
} pfr_model_object;

typedef struct pfr_model_symbol {
    const char *name; /* NULL: an address without a name; each such address has a row. Reports print `address`; exports
                         print the object's name in brackets */
    const char *mangled; /* the name in the symbol table, if it differs; NULL: the same, or not known */
    uint32_t object;     /* never 0 */
    uint64_t address;    /* begin of the symbol, or the unnamed address. It is an address in the object's file; for the
                            kernel and anonymous memory, an address of the process. For a traced function that no
                            instrumentation map contains: the function's number */
    uint64_t size;       /* bytes; 0: not known */
} pfr_model_symbol;

typedef struct pfr_model_frame {
    uint32_t symbol;  /* never 0; for an inlined function, a symbol without address */
    uint32_t object;  /* never 0 */
    uint64_t address; /* in the same space as pfr_model_symbol.address; with `functions`, that of the symbol */
    const char *file; /* source file; NULL: not known */
    uint32_t line;    /* 0: not known */
    uint8_t mode;     /* PFR_CPUMODE_* */
    bool inlined;     /* the symbol is a function that was inlined into the frame of the parent stack */
    /* The place in the function of `symbol`. It differs from file and line with `lines`, if these are in a function
       that was inlined there: it is then the place of the call. */
    const char *function_file; /* NULL: not known */
    uint32_t function_line;    /* 0: not known */
} pfr_model_frame;

/* Size and members of this struct do not change in later versions: see pfr_model_stacks. */
typedef struct pfr_stack {
    uint32_t parent; /* a smaller id; 0: this frame is an outermost one */
    uint32_t frame;
    uint32_t symbol;  /* of the frame */
    uint16_t depth;   /* number of ancestors; 65535: at least that many */
    uint8_t is_outer; /* 1: no ancestor has the same symbol. To sum totals by symbol, add only these stacks, so that
                         recursion counts once */
    uint8_t is_apart; /* 1: the frame is a sampled address that is not part of a call chain: the sample has no chain, or
                         the chain does not begin with this address */
} pfr_stack;

/* Row `id` of a table; NULL for id 0 and for ids above pfr_model_count(). Constant time. */
const pfr_model_event *pfr_model_get_event(const pfr_model *model, uint32_t id);
const pfr_model_process *pfr_model_get_process(const pfr_model *model, uint32_t id);
const pfr_model_thread *pfr_model_get_thread(const pfr_model *model, uint32_t id);
/* The path of the cgroup in which thread `id` was last sampled; NULL: not recorded (record --all-cgroups), or the id of
   the cgroup has no path. */
const char *pfr_model_thread_cgroup(const pfr_model *model, uint32_t id);
const char *pfr_model_get_comm(const pfr_model *model, uint32_t id);
const pfr_model_object *pfr_model_get_object(const pfr_model *model, uint32_t id);
const pfr_model_symbol *pfr_model_get_symbol(const pfr_model *model, uint32_t id);
const pfr_model_frame *pfr_model_get_frame(const pfr_model *model, uint32_t id);
const pfr_stack *pfr_model_get_stack(const pfr_model *model, uint32_t id);
/* The whole table of stacks, indexed by id: [0] is all zero, [pfr_model_count(...)] is the last. For inner loops. */
const pfr_stack *pfr_model_stacks(const pfr_model *model);

/*
 * Writes the text of a stack, as in folded stacks: the names of its frames, innermost last, with `separator` between
 * them (NULL: ";"). A frame without a name is "[OBJECT]". Names are escaped as by pfr_escape(). Stack 0 is "". Writes
 * at most `room` bytes (at least 1) to `to`, always NUL-terminated; if the room does not suffice, the text is cut after
 * a whole frame. Returns the length of the complete text without the NUL.
 */
size_t pfr_model_stack_text(const pfr_model *model, uint32_t stack, const char *separator, char *to, size_t room);

/* Returns the comm id of the name that a thread had at `time` (ns; PFR_NO_TIME: its last name); 0: unnamed. */
uint32_t pfr_model_comm_at(const pfr_model *model, uint32_t thread, uint64_t time);

/*
 * Sums the weights of one event's samples (for traces, the self times of calls) by stack: `self` is the weight of each
 * stack itself, `total` includes its descendants. Both are arrays of the caller with pfr_model_count(model,
 * PFR_TABLE_STACK) + 1 elements; either may be NULL. Reads all samples. Returns PFR_OK; PFR_ERR_USAGE if there is no
 * such event; otherwise an error of pfr_samples_next().
 *
 * Example: the share of each caller in the total of a symbol; [0] is the share of stacks in which it is outermost:
 *
 *     for (uint32_t id = 1; id <= pfr_model_count(model, PFR_TABLE_STACK); id++)
 *         if (stacks[id].symbol == symbol && stacks[id].is_outer)
 *             callers[stacks[stacks[id].parent].symbol] += total[id];
 */
pfr_status pfr_model_weights(const pfr_model *model, uint32_t event, uint64_t *self, uint64_t *total, pfr_error *err);

/*
 * As pfr_model_weights(), by symbol: the arrays have pfr_model_count(model, PFR_TABLE_SYMBOL) + 1 elements, and
 * recursion counts once. Element 0 is the weight of samples without an address. Temporarily takes 16 bytes per stack of
 * the model's memory. Returns as pfr_model_weights(); also PFR_ERR_MEMORY or PFR_ERR_LIMIT.
 */
pfr_status pfr_model_symbol_weights(const pfr_model *model, uint32_t event, uint64_t *self, uint64_t *total,
                                    pfr_error *err);

/* A row of the flat table: the self weight of one function in one command. */
typedef struct pfr_flat_row {
    uint64_t weight, samples;
    uint32_t comm, symbol; /* ids; 0: not recorded */
    uint8_t mode;          /* PFR_CPUMODE_* of the frames */
} pfr_flat_row;

/* Returns false to end the iteration. *row is valid during the call. */
typedef bool pfr_flat_each(void *context, const pfr_flat_row *row);

/*
 * Calls `each` for each row of the flat table of one event, heaviest first. Reads all samples. Returns PFR_OK, also if
 * `each` ended the iteration; PFR_ERR_USAGE if there is no such event, or it counts calls; PFR_ERR_MEMORY or
 * PFR_ERR_LIMIT; otherwise an error of pfr_samples_next().
 */
pfr_status pfr_model_flat(const pfr_model *model, uint32_t event, pfr_flat_each *each, void *context, pfr_error *err);

/* --- Columns as arrays. */

typedef enum pfr_column_type { PFR_U8, PFR_U16, PFR_U32, PFR_U64, PFR_I64 } pfr_column_type;

typedef struct pfr_column {
    const void *at; /* the first value */
    uint64_t count; /* number of values */
    size_t stride;  /* bytes from one value to the next */
    pfr_column_type type;
} pfr_column;

/* Gets the array of one column of samples, in file order. `column` is one PFR_COLUMN_* bit. Returns false if the model
   does not keep this column. */
bool pfr_model_column(const pfr_model *model, uint32_t column, pfr_column *to);

/* --- Quality and other facts. */

typedef struct pfr_fact {
    const char *key;  /* static */
    const char *text; /* the value as text, never NULL */
    uint64_t value;   /* the value as a number; 0 if it is not a number */
} pfr_fact;

/*
 * Fact `index`, from 0, about how complete the model is; NULL after the last one. The facts are the fields of the
 * quality line (quality.h) in their order, then "late" (records that were written after their round), "guests" (samples
 * of guests, which are unknown), "too_deep" (samples that are unknown because of the limit depth), "limited" (samples
 * and calls in [limit]), "unmatched_exits" (traces only), "sampled_states" (1: switches or wake-ups were sampled, so
 * that thread states are partly wrong), "unknown_states" (intervals in which the state of a thread is unknown), "lossy"
 * (1: there were unreadable ranges).
 */
const pfr_fact *pfr_model_fact(const pfr_model *model, uint32_t index);

/* Fact `index`, from 0, about the recording; NULL after the last one. Facts that were not recorded are left out. The
   keys are "format", "container", "byte_order", "clock" ("perf", "monotonic", ...; for traces "monotonic", "tsc",
   "ticks"), "first", "last" (times of samples), "hostname", "osrelease", "version", "arch", "cpudesc", "cmdline". */
const pfr_fact *pfr_model_meta(const pfr_model *model, uint32_t index);

/* Whether times and durations of calls are in ticks, because the trace does not contain the frequency of its clock.
   Otherwise they are in ns. */
bool pfr_model_ticks(const pfr_model *model);

/* --- Building a model row by row, for imports and tests. */

typedef struct pfr_build pfr_build;
struct pfr_sample;
struct pfr_call;
struct pfr_interval;
struct pfr_mark;

/*
 * Add rows, each after the rows that it refers to; then pfr_build_finish() makes the model. Each function returns the
 * id of the row. Equal comms, objects, symbols, frames and stacks become one row; other rows are always new. Texts are
 * copied. The depth, is_outer and symbol of stacks and the sums of events are computed.
 *
 * A function returns 0 if the row refers to an id that does not exist, or if there is no memory. The first failure is
 * sticky: later calls do nothing, and pfr_build_finish() returns the error.
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
uint32_t pfr_build_frame(pfr_build *build, const pfr_model_frame *frame); /* frame->object is ignored;
                                                                             function_file NULL: as file and line */
uint32_t pfr_build_stack(pfr_build *build, uint32_t parent, uint32_t frame);
/* Samples may be added in any order, which becomes their file order. More than 2^32 - 2 samples are a failure. */
uint32_t pfr_build_sample(pfr_build *build, const struct pfr_sample *sample);
uint32_t pfr_build_call(pfr_build *build, const struct pfr_call *call);
uint32_t pfr_build_interval(pfr_build *build, const struct pfr_interval *interval);
uint32_t pfr_build_mark(pfr_build *build, const struct pfr_mark *mark);
/* Makes the model, and frees the builder in every case. Returns NULL on failure: PFR_ERR_USAGE if a row refers to an id
   that does not exist (err->where is the table); PFR_ERR_MEMORY or PFR_ERR_LIMIT. */
pfr_model *pfr_build_finish(pfr_build *build, pfr_error *err);
/* Frees the builder without making a model. NULL is allowed. */
void pfr_build_free(pfr_build *build);

#ifdef __cplusplus
}
#endif
#endif
