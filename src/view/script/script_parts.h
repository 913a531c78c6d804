/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_PARTS_H
#define PFR_VIEW_SCRIPT_PARTS_H
/*
 * What the files of the script share. The functions of each are declared in the header of its name, those of script.c
 * in script_loop.h.
 *
 *     script.c         the public call: every record of the timeline to the function of its type
 *     script_jobs.c    the same records by several threads
 *     script_fields.c  the table of fields: names, what they need, who prints them; -F
 *     script_filter.c  which samples are printed
 *     ranges.c   stretches of time as people write them
 *     script_events.c  which fields each event prints, as a list of functions made once; script_event_names.c: its name
 *     script_sample.c  the printers of fields that stand in the sample itself
 *     script_address_fields.c  those that need to know what is mapped where: ip, chains, addr, branches
 *     script_chains.c  chains made of what was recorded apart from them
 *     script_frames.c  the text of an address, kept as long as nothing is mapped anew
 *     script_address_text.c  texts that hold for all addresses around
 *     script_address_cache.c    which of those texts a place in an address space had last
 *     script_out_of_order.c what is kept, where records do not come in the order of time
 *     script_threads.c names of threads and their address spaces, kept likewise
 *     script_files.c   a file for each event
 *     script_lines.c   lines of other records: one table of functions by type
 *     script_dump.c    records as they stand in the recording
 *     script_json.c    samples and records as JSON lines
 *     script_reads.c   samples that stand for one sample of each counter they read
 *     script_stat.c    the counts of `perf stat record`
 *
 * Printers write to s->out and do not fail; what goes wrong sticks in s->failed, which the loop looks at.
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

/* In the order in which they are printed. */
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

/* Kinds of events that -F tells apart. */
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

/* Bits of attr.sample_type by their number. */
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

/* What -F says for one kind of event. */
struct script_choice {
    uint64_t fields;
    uint64_t asked; /* by name: it is an error when they were not recorded */
    bool set;       /* by the user */
};

/* How one event is printed. */
struct script_event {
    const pfr_event *event;
    uint64_t fields;
    uint64_t sample_type;
    enum script_type type;
    bool chains;            /* ip means the call chain */
    bool makes_chains;      /* of more than what was recorded as such, */
    bool stitches;          /* and of what the samples before had */
    bool addr_is_place;     /* addr may have a name */
    uint8_t name_form;      /* NAME_*, for addresses, */
    uint8_t chain_form;     /* and for those of chains */
    uint8_t who_form;       /* WHO_*, which thread it was */
    bool reads;             /* script_has_reads */
    uint32_t ip_at, tid_at; /* in its samples; 0: one of them is not there */
    const char *label;      /* its name and ": " */
    uint32_t label_length, name_length;
    script_printer *begin[SCRIPT_FIELDS + 1], *rest[SCRIPT_FIELDS + 1]; /* end with NULL */
};

struct script_labels {
    uint32_t *of_length; /* how many events have names of so many bytes */
    size_t room;
    size_t width; /* of the longest */
    size_t seen;  /* of reader->renamed */
};

enum { WHO_COMM = 1, WHO_PID = 2, WHO_TID = 4, WHO_UNPADDED = 8 };
enum { NAME_SYM = 1, NAME_OFFSET = 2, NAME_DSO = 4, NAME_LINE = 8, NAME_INLINED = 16, NAME_FORMS = 32 };

#define WHO_MOST 48u
struct script_thread {
    uint32_t tid, pid, epoch; /* epoch 0: empty */
    uint32_t space, comm_length;
    const char *comm;
    char made[16];                /* ":TID" */
    char who[WHO_MOST];           /* as lines begin with it */
    uint8_t who_form, who_length; /* form 0: not yet made */
};

/* The text of an address, behind it: its bytes, which may be anywhere. Equal texts of one object are one. */
struct frame_text {
    uint32_t length, object;
};

/* script_address_cache.c: what was found for 256 bytes of an address space, or for a part of them. */
#define NEAR_BLOCK 256u
struct near_slot {
    uint64_t block;
    const uint8_t *text;
    uint32_t space, epoch; /* epoch 0: empty */
    uint8_t first, last;   /* bytes of the block that it holds for */
    bool lasting;          /* until records come out of order, whatever is mapped */
};
struct near_table {
    struct near_slot *slots; /* NULL, or 1 << bits of them */
    unsigned bits;
    uint32_t pushed_out; /* since it grew */
};

struct script_frame_slot;
struct frame_table {
    struct script_frame_slot *slots;
    size_t slot_count, used;
};

/* script_address_text.c: texts that hold for all addresses around. */
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

/* What a line is about. */
struct moment {
    const pfr_record *rec;
    const struct pfr_rec_sample *sample; /* NULL: another record */
    const struct script_event *event;
    struct script_thread *thread;
    struct record_key key;
    uint32_t pid, tid, cpu;
    uint64_t time, period;
    struct guest guest;
    uint16_t misc; /* as recorded; rec->misc of a guest's sample says where its addresses are */
};

struct script_filter {
    struct sample_filter samples;
    struct ranges addresses; /* those among the symbols */
    bool any;                /* everything is wanted */
};

/* How the clock of the samples stands to the wall's. */
struct script_wall {
    uint64_t ahead;  /* ns since 1970 less ns of the samples */
    uint64_t moment; /* when the recorder looked at both, ns since 1970 */
    bool known;
};

/* The last second of the wall's clock that was written out. */
struct script_day {
    int64_t second;
    char text[32];
    size_t length; /* 0: none yet */
};

/* Events between which samples are printed; NULL: none was named. */
struct script_turns {
    const struct script_event *on, *off;
    bool is_on;   /* by an event */
    bool is_over; /* turned off, and nothing turns it on */
};

/* The last second of the samples' clock that was written out, with the point behind it. */
struct script_second {
    uint64_t from; /* in ns */
    char text[24];
    size_t length; /* 0: none yet */
};

/* The names of addresses, which are worked out by one at a time. */
struct script_names {
    struct unwind_objects unwinding; /* has a lock of its own */
    struct address_names all;
    struct memory memory;
    pthread_mutex_t lock;
};

/* script_out_of_order.c: records that do not come in the order of keys, of a recording whose state is known. */
struct script_disorder {
    bool is_on;
    struct timestamp_keys *all, *kernel; /* that all workers share */
    struct timestamp_rank rank, kernel_rank;
    uint32_t base, kernel_base; /* epochs before it was on */
};

/* What all threads that print share. Only the caller's changes it, by way of script.own, while no other prints. */
struct script_shared {
    const pfr_script_options *options;
    pfr_symbol_options naming;
    pfr_reader *reader;
    struct timeline *timeline; /* NULL: records come as they stand in the file */
    struct state as_recorded;  /* and this is the state then */
    struct state *state;
    bool learns; /* the state is learnt from the records that are given; one thread prints then */
    struct script_choice choices[SCRIPT_TYPES];
    struct script_event *events;
    uint32_t nr_events;
    size_t events_room;
    unsigned seen;   /* kinds of events, a bit each */
    bool has_chains; /* an event has */
    struct script_labels labels;
    struct script_names *names; /* has a lock */
    struct script_filter filter;
    struct script_wall wall;
    char arch[32], release[65]; /* of features ARCH and OSRELEASE; "": not told */
    uint32_t max_stack;
    uint32_t branch_registers; /* of the recorded cpu; 0: not known */
    bool raw_names;            /* names of threads are kept as they are */
};

/* Of each thread that prints. */
struct script {
    const struct script_shared *shared;
    struct script_shared *own; /* the same; NULL: not the caller's thread */
    struct memory *memory;     /* the reader's */
    pfr_output *to;
    struct output *out;
    pfr_status failed;
    pfr_error *err;
    void (*hole)(void *context, const pfr_error *hole);
    void *context;
    bool lossy;
    uint64_t guests; /* samples of guests, which are left out */

    /* what is kept, and until when it holds */
    uint32_t epoch, kernel_epoch;    /* of what is kept of threads and addresses, of kernel addresses */
    uint32_t order_epoch;            /* of what is kept for all records that come in order */
    struct script_disorder disorder; /* of records that do not */
    bool was_late;                   /* the last record was older than the newest before it */
    struct record_key newest;        /* of the records so far */
    struct frames frames;
    struct script_thread *threads; /* SCRIPT_THREADS of them */
    struct u64_map comms;          /* name in state->names -> its shown text */
    struct arena arena;            /* labels, shown names */
    struct script_second second;
    struct script_day day;

    /* the record at hand */
    struct pfr_rec_sample sample;
    const struct pfr_context *sample_of; /* see decode_sample */
    bool unnamed;                        /* it is a guest's: addresses have no names */
    struct chain_maker maker;
    uint64_t *made;               /* its chain; NULL: none was made yet */
    struct chain_counts *unwound; /* by event */
    uint32_t nr_unwound;
    struct dump *lines;   /* for perf's lines of other records */
    pfr_output json_text; /* in memory, names as they are: what becomes a string */

    /* of what depends on the lines before (depends_on_order), which only the caller's thread prints */
    struct script_file *files; /* one for each event, where they are wanted */
    uint32_t nr_files;
    size_t nr_files_room;
    struct u64_map counts;    /* id of a counter -> what it read before */
    struct script_stat *stat; /* of recordings of `perf stat record` */
    size_t source_width;      /* the longest data_src so far */
    struct trace_text *trace;
    bool no_trace; /* there is none */
    bool stale;    /* events were added since the list of events was made */
    struct script_turns turns;
    uint64_t clock_zero; /* what printed times count from; 0: not yet known */
};

static inline struct frame_text frame_text_at(const uint8_t *text) {
    struct frame_text head;
    memcpy(&head, text, sizeof head);
    return head;
}

/* Addresses of programs are in their threads' spaces, others in one for each cpumode. */
static inline uint32_t script_space(const struct moment *m, unsigned cpumode) {
    return cpumode == SCRIPT_USER ? m->thread->space : UINT32_MAX - 1 - cpumode;
}

/* Which of the two ends what is kept of an address. */
static inline uint32_t script_epoch(const struct script *s, unsigned cpumode) {
    return cpumode == SCRIPT_KERNEL ? s->kernel_epoch : s->epoch;
}

/* script_files.c: makes the files that are missing; turns the output to an event's file and back; ends all of them,
 * where it is wanted as whole ones with a line on s->out each. */
struct script_file;

static inline uint32_t script_chain_most(const struct script *s, const struct moment *m) {
    return m->event->makes_chains ? UINT32_MAX : s->shared->max_stack;
}

static inline bool script_is_json(const struct script *s) {
    return s->shared->options->format == PFR_SCRIPT_JSON;
}

/* What is done with one record of a type. */
typedef void script_taker(struct script *s, const pfr_record *rec, const struct record_key *key);

/* Records that the recorder wrote for itself, from type 64 on. */
static inline bool script_is_own(const pfr_record *rec) {
    return rec->type >= 64;
}

/* script_out_of_order.c: whether records will come out of order, which is known before the first of them does; makes
 * what epochs are told from then; the epochs of a key. */
static inline bool script_needs_disorder(const struct script *s) {
    return !s->disorder.is_on && !s->shared->learns && s->shared->timeline &&
           !timeline_keeps_order(s->shared->timeline);
}

static inline void script_fail(struct script *s, pfr_status status) {
    if (s->failed >= 0 && status < 0)
        s->failed = status;
}

#endif
