/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_SCHED_EVENT_H
#define PFR_MODEL_SCHED_EVENT_H
/*
 * Scheduler events of a recording, whatever records they come from: tracepoints of the scheduler, SWITCH records,
 * samples of context-switches, FORK and EXIT, losses, entries into system calls.
 */
#include "base/memory/cursor.h"
#include "base/memory/memory.h"
#include "base/tables/hashmap.h"

#include <perfray/reader.h>
#include <perfray/record_structs.h>

enum sched_kind {
    SCHED_SWITCH,  /* sched_switch: `tid` leaves `cpu`, `other` takes it */
    SCHED_WAKING,  /* sched_waking or sched_wakeup: `tid` makes `other` runnable */
    SCHED_NEW,     /* sched_wakeup_new: `tid` makes the new thread `other` runnable */
    SCHED_IN,      /* SWITCH: `tid` takes a cpu */
    SCHED_OUT,     /* SWITCH: `tid` leaves its cpu */
    SCHED_STACK,   /* a sample of context-switches: its stack is where `tid` leaves its CPU next */
    SCHED_AWAY,    /* sched_switch without raw bytes: `tid` leaves its cpu, for an unknown reason */
    SCHED_SEEN,    /* in recordings with SCHED_AWAY: any other sample of `tid`, which shows that it runs */
    SCHED_FORK,    /* `other` begins */
    SCHED_EXIT,    /* `tid` ends */
    SCHED_ENTER,   /* `tid` enters system call `value` */
    SCHED_ADDRESS, /* `tid` enters futex(2) with the address `value` */
    SCHED_LEAVE,   /* `tid` returns from the system call */
    SCHED_LOST,    /* records of `cpu` were lost before this time */
    SCHED_KINDS
};

/* common_flags of a tracepoint: the context in which it was hit (enum trace_flag_type of the kernel). */
#define SCHED_IN_HARDIRQ (1u << 3)
#define SCHED_IN_SOFTIRQ (1u << 4)
#define SCHED_IN_NMI (1u << 6)
#define SCHED_INTERRUPT (SCHED_IN_HARDIRQ | SCHED_IN_SOFTIRQ | SCHED_IN_NMI)

/* The state in which a thread left its CPU. */
enum sched_left { SCHED_LEFT_BLOCKED, SCHED_LEFT_RUNNABLE, SCHED_LEFT_DEAD };

/* Whether events of this kind are read from raw bytes. */
static inline bool sched_has_raw(enum sched_kind kind) {
    return kind != SCHED_STACK && kind != SCHED_AWAY && kind != SCHED_SEEN;
}

#define SCHED_NO_CPU UINT32_MAX
#define SCHED_NOBODY UINT32_MAX /* the tid was not recorded */

struct sched_event {
    uint64_t time;
    uint64_t value;      /* ENTER: system call number; ADDRESS: futex address; others: cgroup id of `own`, or 0 */
    uint32_t sample;     /* number of its sample in the model, from 1; 0: no sample, or it has no number */
    uint32_t tid, other; /* see the kinds */
    uint32_t cpu;        /* SCHED_NO_CPU: not recorded */
    uint32_t own;        /* tid in the sample itself: in a pid namespace it differs from that in the raw bytes */
    uint8_t kind, flags; /* flags: common_flags */
    uint8_t left;        /* for SCHED_SWITCH and SCHED_OUT: enum sched_left */
};

/* --- sched_sources.c: the meaning of records. */

/* Place of an integer in the raw bytes of a tracepoint; size 0: absent. */
struct raw_place {
    uint32_t offset, size;
};

/* Offsets in a sample's record of the values that events are made of; 0: not recorded, or not at a fixed offset. */
struct sched_places {
    uint32_t time, tid, cpu;
    uint32_t raw;   /* its size, which the bytes follow */
    uint32_t chain; /* its length; the raw bytes follow the chain */
    bool fixed;     /* all samples of the event have these offsets, and no other value is needed */
};

/* Meaning of the samples of an event. */
struct sched_source {
    enum sched_kind kind; /* SCHED_KINDS: not a scheduler event */
    struct raw_place tid, other, state, value;
    uint64_t raw_least; /* length that raw bytes need at least */
    bool cgroup;        /* samples have the id of their thread's cgroup */
    bool has_cpu;
    struct sched_places places;
};

struct sched_sources {
    struct memory *memory;
    struct sched_source *of; /* by event */
    uint32_t count;
    uint64_t asleep, dead; /* masks of prev_state: bits of a thread that sleeps, and of one that has ended */
    bool raw_swap;         /* raw bytes are not in this machine's byte order */
    bool switches, wakings, stacks, syscalls, futexes; /* tracepoints and samples that the recording has */
    bool cgroups;                                      /* some scheduler events have cgroup ids */
    bool away;                                         /* switches without raw bytes: the next sample ends a wait */
    bool records;                                      /* events that request SWITCH records */
    bool sampled;          /* switches or wake-ups have a frequency, or a period above 1: some are not recorded */
    bool namespaced;       /* raw bytes have other tids than samples (namespace) */
    struct u64_map inner;  /* tid in raw bytes -> tid in samples */
    struct u64_map inside; /* tids that occur in samples */
};

/* Finds the scheduler events of a recording. Rewinds a stream, which must have been spooled.
   Errors: memory, limit, those of pfr_next. */
pfr_status sched_sources_learn(struct sched_sources *s, pfr_reader *reader, struct memory *memory, pfr_error *err);
void sched_sources_free(struct sched_sources *s);

/* Whether the recording shows when threads ran. */
bool sched_sources_any(const struct sched_sources *s);

/* --- sched_namespace.c: recordings made inside a pid namespace. */

void sched_namespace_begin(struct sched_sources *s);
void sched_namespace_end(struct sched_sources *s);
/* Whether the tid of a tracepoint sample differs from common_pid in its raw bytes, and both are those of a thread. */
bool sched_namespace_differs(const struct sched_sources *s, const struct pfr_rec_sample *sample);
#define SCHED_COMMON_PID_AT 4u /* offset in the raw bytes of every tracepoint */
static inline bool sched_namespace_shows(const struct sched_sources *s, const struct pfr_rec_sample *sample) {
    const pfr_bytes raw = sample->raw.data;
    return raw.length >= SCHED_COMMON_PID_AT + 4 &&
           load_u32(raw.at + SCHED_COMMON_PID_AT, s->raw_swap) != sample->tid && sched_namespace_differs(s, sample);
}
/* Notes the two tids of a sample's thread. For each tid only the first pair is kept. False: no memory. */
bool sched_namespace_learn(struct sched_sources *s, const struct pfr_rec_sample *sample);
/* Converts a tid in raw bytes to the tid of the same thread in samples. A thread outside of the namespace keeps its
   tid; if that is also a tid inside, 2^31 is added. */
uint32_t sched_namespace_tid(const struct sched_sources *s, uint32_t number);
/* The tid of the sample's own thread. Samples have 0 for threads outside of the namespace. */
uint32_t sched_namespace_own(const struct sched_sources *s, const struct pfr_rec_sample *sample);

/* The raw bytes of a whole sample, whose event has places.raw or places.chain. */
static inline pfr_bytes sched_raw_at(const struct sched_places *p, const uint8_t *sample, bool swap) {
    const uint8_t *at = p->raw ? sample + p->raw : sample + p->chain + 8 + 8 * load_u64(sample + p->chain, swap);
    return (pfr_bytes){.at = at + 4, .length = load_u32(at, swap)};
}

/* Converts a decoded sample of an event, by number, to a scheduler event; false: it is not one. */
bool sched_of_sample(const struct sched_sources *s, uint32_t number, const struct pfr_rec_sample *sample,
                     struct sched_event *event);
/* As sched_of_sample, for a record that is not a sample. */
bool sched_of_record(const struct sched_sources *s, const pfr_reader *reader, const pfr_record *rec,
                     struct sched_event *event);

#endif
