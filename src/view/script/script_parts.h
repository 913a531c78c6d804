/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_PARTS_H
#define PFR_VIEW_SCRIPT_PARTS_H
/*
 * Shared by the files of the script. The functions of each file are declared in the header of the same name; the
 * functions of script.c are in script_loop.h.
 *
 *     script.c                 the public function: passes each record of the timeline to the function for its type
 *     script_jobs.c            the same on several threads
 *     script_fields.c          table of fields (names, requirements, printers); -F
 *     script_filter.c          selects samples
 *     ranges.c                 parses ranges of time
 *     script_events.c          the fields of each event, as a list of functions; script_event_names.c: the event's name
 *     script_sample.c          printers of fields stored in the sample itself
 *     script_address_fields.c  printers of fields that depend on mappings: ip, chains, addr, branches
 *     script_chains.c          callchains made from stack copies and branch stacks
 *     script_frames.c          cache of the names of addresses, valid until mappings change
 *     script_address_text.c    cache of names by blocks of addresses
 *     script_address_cache.c   cache of these names by place in an address space
 *     script_out_of_order.c    validity of caches if records are not in order of time
 *     script_threads.c         cache of thread names and their address spaces
 *     script_files.c           one output file per event
 *     script_lines.c           lines of records other than samples: one table of functions by type
 *     script_dump.c            records as recorded
 *     script_json.c            samples and records as JSON lines
 *     script_reads.c           samples that represent one sample of each counter in their READ
 *     script_stat.c            counts of `perf stat record`
 *
 * Printers write to s->out and do not return errors. They store errors in s->failed, which the loop checks.
 */
#include "base/memory/arena.h"
#include "base/text/public_output.h"
#include "model/names/address_lines.h"
#include "model/stacks/chain_maker.h"
#include "model/state/timestamp_keys.h"
#include "model/timeline/timeline.h"
#include "model/tracepoint/tracepoint_text.h"
#include "query/sample_filter.h"
#include "wire/feature_bits.h"

#include <perfray/script.h>

#include <pthread.h>

/* In the order of printing. */
enum script_field {
    F_MACHINE_PID,
    F_VCPU,
    F_COMM,
    F_PID,
    F_TID,
    F_CPU,
    F_MISC,
    F_TOD,
    F_TIME,
    F_PERIOD,
    F_EVENT,
    F_FLAGS,
    F_TRACE,
    F_ADDR,
    F_DATA_SRC,
    F_WEIGHT,
    F_INS_LAT,
    F_RETIRE_LAT,
    F_IP,
    F_SYM,
    F_SYMOFF,
    F_DSO,
    F_SRCLINE,
    F_IREGS,
    F_UREGS,
    F_BRSTACK,
    F_BRSTACKSYM,
    F_BRSTACKOFF,
    F_BPF_OUTPUT,
    F_PHYS_ADDR,
    F_DATA_PAGE_SIZE,
    F_CODE_PAGE_SIZE,
    F_CGROUP,
    F_UNSEEN,
    SCRIPT_FIELDS
};
#define FIELD(field) (1ull << (field))

/* Kinds of events that -F distinguishes. */
enum script_type {
    TYPE_HW,
    TYPE_SW,
    TYPE_TRACE,
    TYPE_CACHE,
    TYPE_RAW,
    TYPE_BREAK,
    TYPE_SYNTH,
    TYPE_OTHER,
    SCRIPT_TYPES
};

/* Bit numbers of attr.sample_type. */
enum sample_bit {
    S_IP,
    S_TID,
    S_TIME,
    S_ADDR,
    S_READ,
    S_CHAIN,
    S_ID,
    S_CPU,
    S_PERIOD,
    S_STREAM,
    S_RAW,
    S_BRANCH,
    S_REGS_USER,
    S_STACK,
    S_WEIGHT,
    S_DATA_SRC,
    S_IDENTIFIER,
    S_TRANSACTION,
    S_REGS_INTR,
    S_PHYS_ADDR,
    S_AUX,
    S_CGROUP,
    S_DATA_PAGE,
    S_CODE_PAGE,
    S_WEIGHT_STRUCT
};
#define SAMPLE_HAS(type, bit) ((type) >> (bit)&1)

#define SCRIPT_KERNEL 1u /* cpumode */
#define SCRIPT_USER 2u

struct script;
struct moment;
typedef void script_printer(struct script *s, const struct moment *m);

/* The fields chosen with -F for one kind of event. */
struct script_choice {
    uint64_t fields;
    uint64_t asked; /* fields named by the user; it is an error if they were not recorded */
    bool set;       /* chosen by the user, not the default */
};

/* How to print one event. */
struct script_event {
    const pfr_event *event;
    uint64_t fields;
    uint64_t sample_type;
    enum script_type type;
    bool chains;            /* `ip` prints the callchain */
    bool makes_chains;      /* makes callchains from stack copies or branch stacks */
    bool stitches;          /* extends callchains with frames of earlier samples (LBR) */
    bool addr_is_place;     /* addr is a memory address that may have a symbol */
    uint8_t name_form;      /* NAME_*, for single addresses */
    uint8_t chain_form;     /* NAME_*, for callchains */
    uint8_t who_form;       /* WHO_*: parts of the thread's identity to print */
    bool reads;             /* see script_has_reads */
    uint32_t ip_at, tid_at; /* offsets in its samples; 0: not present */
    const char *label;      /* name followed by ": " */
    uint32_t label_length, name_length;
    script_printer *begin[SCRIPT_FIELDS + 1], *rest[SCRIPT_FIELDS + 1]; /* NULL-terminated */
};

struct script_labels {
    uint32_t *of_length; /* number of events by length of name */
    size_t room;
    size_t width; /* length of the longest name */
    size_t seen;  /* last seen value of reader->renamed */
};

enum { WHO_COMM = 1, WHO_PID = 2, WHO_TID = 4, WHO_UNPADDED = 8 };
enum { NAME_SYM = 1, NAME_OFFSET = 2, NAME_DSO = 4, NAME_LINE = 8, NAME_INLINED = 16, NAME_FORMS = 32 };

#define WHO_MOST 48u
struct script_thread {
    uint32_t tid, pid, epoch; /* epoch 0: empty */
    uint32_t space, comm_length;
    const char *comm;
    char made[16];                /* ":TID", for threads without a name */
    char who[WHO_MOST];           /* start of a line, formatted */
    uint8_t who_form, who_length; /* who_form 0: not formatted yet */
};

/* Header of the cached text of an address; `length` bytes of text follow it. It is not aligned: read it with
   frame_text_at. Equal texts of one object are stored once. */
struct frame_text {
    uint32_t length, object;
};

/* script_address_cache.c: the text found for a block of 256 bytes of an address space, or for a part of the block. */
#define NEAR_BLOCK 256u
struct near_slot {
    uint64_t block;
    const uint8_t *text;
    uint32_t space, epoch; /* epoch 0: empty */
    uint8_t first, last;   /* range of bytes in the block for which the text is valid */
    bool lasting;          /* remains valid if mappings change, until records are out of order */
};
struct near_table {
    struct near_slot *slots; /* NULL, or 1 << bits entries */
    unsigned bits;
    uint32_t pushed_out; /* entries overwritten since the table grew */
};

struct script_frame_slot;
struct frame_table {
    struct script_frame_slot *slots;
    size_t slot_count, used;
    uint64_t seed;
};

/* script_address_text.c: texts by blocks of addresses. */
struct range_slot;
struct range_table {
    struct range_slot *slots;
    size_t slot_count, used;
};

struct frames {
    struct memory *memory;
    struct range_table ranges[NAME_FORMS];
    struct near_table near[NAME_FORMS];
    struct intern_table texts; /* each a struct frame_text and its bytes */
    pfr_output scratch;
    struct frame_table tables[NAME_FORMS];
};

/* The record or sample that a line describes. */
struct moment {
    const pfr_record *rec;
    const struct pfr_rec_sample *sample; /* NULL for other records */
    const struct script_event *event;
    struct script_thread *thread;
    struct record_key key;
    uint32_t pid, tid, cpu;
    uint64_t time, period;
    struct guest guest;
    uint16_t misc; /* as recorded; for a sample of a guest, rec->misc is changed to the mode of its addresses */
};

struct script_filter {
    struct sample_filter samples;
    struct ranges addresses; /* addresses given with --symbols */
    bool any;                /* no filter */
};

/* Conversion from the samples' clock to wall-clock time. */
struct script_wall {
    uint64_t ahead;  /* ns to add to a sample's time to get ns since 1970 */
    uint64_t moment; /* time at which the recorder read both clocks, ns since 1970 */
    bool known;
};

/* The last formatted second of wall-clock time. */
struct script_day {
    int64_t second;
    char text[32];
    size_t length; /* 0: none yet */
};

/* --switch-on and --switch-off; NULL if not given. */
struct script_turns {
    const struct script_event *on, *off;
    bool is_on;   /* switched on by an event */
    bool is_over; /* switched off, and there is no event to switch on */
};

/* The last formatted second of the samples' clock, followed by the decimal point. */
struct script_second {
    uint64_t from; /* in ns */
    char text[24];
    size_t length; /* 0: none yet */
};

/* The symbol lookup, used by one thread at a time. */
struct script_names {
    struct unwind_objects unwinding; /* has its own lock */
    struct address_names all;
    struct memory memory;
    pthread_mutex_t lock;
};

/* script_out_of_order.c: used if records arrive out of order, and the whole state is known before the first record. */
struct script_disorder {
    bool is_on;
    struct timestamp_keys *all, *kernel; /* shared by all workers */
    struct timestamp_rank rank, kernel_rank;
    uint32_t base, kernel_base; /* epochs before the disorder began */
};

/* Shared by all printing threads. Only the calling thread changes it, through script.own, while no worker prints. */
struct script_shared {
    const pfr_script_options *options;
    pfr_symbol_options naming;
    pfr_reader *reader;
    struct timeline *timeline; /* NULL: records are in file order */
    struct state as_recorded;  /* the state used if the timeline is NULL */
    struct state *state;
    bool learns; /* the state is learnt from the records as they come; then a single thread prints */
    struct script_choice choices[SCRIPT_TYPES];
    struct script_event *events;
    uint32_t nr_events;
    size_t events_room;
    unsigned seen;   /* kinds of events seen, one bit each */
    bool has_chains; /* an event has callchains */
    struct script_labels labels;
    struct script_names *names; /* has a lock */
    struct script_filter filter;
    struct script_wall wall;
    char arch[32], release[RELEASE_ROOM]; /* from the features ARCH and OSRELEASE; "" if not recorded */
    uint32_t max_stack;
    uint32_t branch_registers; /* LBR entries of the recorded CPU; 0: unknown */
    bool raw_names;            /* do not escape thread names */
};

/* Caches of one thread, and how long they are valid. */
struct script_caches {
    uint32_t epoch, kernel_epoch;    /* of caches of threads and addresses; of kernel addresses */
    uint32_t order_epoch;            /* of caches that are valid as long as records arrive in order */
    struct script_disorder disorder; /* for records out of order */
    bool was_late;                   /* the last record was older than an earlier record */
    struct record_key newest;        /* largest key so far */
    struct frames frames;
    struct script_thread *threads; /* SCRIPT_THREADS entries */
    struct u64_map comms;          /* name in state->names -> escaped text */
    struct arena arena;            /* labels, escaped names */
    struct script_second second;
    struct script_day day;
};

/* The record that is being printed. */
struct script_record {
    struct pfr_rec_sample sample;
    const struct pfr_context *sample_of; /* see decode_sample */
    bool unnamed;                        /* the record belongs to a guest: addresses have no names */
    struct chain_maker maker;
    uint64_t *made;               /* its callchain; NULL until it is made */
    struct chain_counts *unwound; /* by event */
    uint32_t nr_unwound;
};

/* For lines that depend on earlier lines (depends_on_order); used only on the calling thread. */
struct script_sequence {
    struct script_file *files; /* one per event; NULL without --per-event-dump */
    uint32_t nr_files;
    size_t nr_files_room;
    struct u64_map counts;    /* id of a counter -> its last value */
    struct script_stat *stat; /* for recordings of `perf stat record` */
    size_t source_width;      /* length of the longest data_src so far */
    struct tracepoint_text *trace;
    bool no_trace; /* tracepoint formats are not available */
    bool stale;    /* events were added after the list of events was made */
    struct script_turns turns;
    uint64_t clock_zero; /* origin of printed times; 0: not known yet */
};

/* State of one printing thread. */
struct script {
    const struct script_shared *shared;
    struct script_shared *own; /* calling thread: `shared`, to change it; workers: NULL */
    struct memory *memory;     /* belongs to the reader */
    pfr_output *to;
    struct output *out;
    pfr_status failed;
    pfr_error *err;
    void (*hole)(void *context, const pfr_error *hole);
    void *context;
    bool lossy;
    uint64_t guests; /* samples of guests, not printed */
    struct script_caches caches;
    struct script_record current;
    struct script_sequence sequence;
    struct dump *lines;   /* prints records other than samples as perf does */
    pfr_output json_text; /* buffer for strings, unescaped */
};

static inline struct frame_text frame_text_at(const uint8_t *text) {
    struct frame_text head;
    memcpy(&head, text, sizeof head);
    return head;
}

/* User addresses belong to the thread's space, others to one space per cpumode. */
static inline uint32_t script_space(const struct moment *m, unsigned cpumode) {
    return cpumode == SCRIPT_USER ? m->thread->space : UINT32_MAX - 1 - cpumode;
}

/* The epoch that invalidates cached addresses of this mode. */
static inline uint32_t script_epoch(const struct script *s, unsigned cpumode) {
    return cpumode == SCRIPT_KERNEL ? s->caches.kernel_epoch : s->caches.epoch;
}

/* script_files.c: the output file of one event. */
struct script_file;

static inline uint32_t script_chain_most(const struct script *s, const struct moment *m) {
    return m->event->makes_chains ? UINT32_MAX : s->shared->max_stack;
}

static inline bool script_is_json(const struct script *s) {
    return s->shared->options->format == PFR_SCRIPT_JSON;
}

/* Processes one record of a type. */
typedef void script_taker(struct script *s, const pfr_record *rec, const struct record_key *key);

/* Records written by the recorder itself rather than the kernel: types from 64 on. */
static inline bool script_is_own(const pfr_record *rec) {
    return rec->type >= 64;
}

/* Whether records will arrive out of order (script_out_of_order.c); this is known before the first record. */
static inline bool script_needs_disorder(const struct script *s) {
    return !s->caches.disorder.is_on && !s->shared->learns && s->shared->timeline &&
           !timeline_keeps_order(s->shared->timeline);
}

static inline void script_fail(struct script *s, pfr_status status) {
    if (s->failed >= 0 && status < 0)
        s->failed = status;
}

#endif
