/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_RECORDER_H
#define PFR_RUNTIME_RT_RECORDER_H
/*
 * The flight recorder: what runs inside somebody else's function calls, perhaps inside their signal handler.
 *
 *     rt_hooks.c      what compilers call: -finstrument-functions
 *     rt_record.h     one call into the thread's buffer, inline
 *     rt_buffer.c     everything that happens once in thousands of calls: a new buffer, another cpu, filters
 *     rt_pool.c       the trace: a file, mapped
 *     rt_slots.c      slots handed out of it
 *     rt_notes.c      what the trace tells beside calls: lists of functions and objects
 *     rt_functions.c  addresses to ids, without locks
 *     rt_objects.c    what of which object an address is; names in it, where functions are chosen by name
 *     rt_symbols.c    names of an object's functions
 *     rt_unmangled.c  those of C++ without their arguments; rt_glob.c: patterns
 *     rt_options.c    PERFRAY_RT, XRAY_OPTIONS, XRAY_FDR_OPTIONS
 *     rt_process.c    what the system says of processes and their limits
 *     rt_counter.c    prctl, seen on its way
 *     rt_guard.c      the program outlives its trace: SIGBUS; rt_signals.c: sigaction and its like, seen on their way
 *     rt_start.c      start and stop, threads, forks; include/perfray/runtime.h
 *     rt_sleds.h      sleds of clang's -fxray-instrument
 *     rt_loads.c      dlopen and dlclose, seen on their way
 *     rt_system.h     the machine: system calls, counters; rt_text.h: bytes and names
 *
 * Nothing on the path of a call allocates, locks, uses stdio or changes errno. The trace is a shared mapping, and the
 * BufferExtents of a buffer counts each record once it is whole: whatever ends the process, what was recorded is in the
 * file. What is not recorded is counted (enum rtf_loss).
 */
#include "runtime/rt_system.h"
#include "wire/recorder_file.h"

#define RT_LINE 64u
#define RT_PATH 1024u
#define RT_PATTERNS 32u

/* --- What a thread has. */

/* In the stack frame of a hook: its own address, intact as long as the frame is live. */
struct rt_mark {
    const volatile struct rt_mark *self;
};

struct rt_thread {
    uint8_t *next;                       /* where the next record goes */
    uint8_t *limit;                      /* before it a call fits; NULL: there is no buffer */
    uint8_t *buffer;                     /* its BufferExtents */
    uint64_t last;                       /* what the next delta counts from */
    const volatile struct rt_mark *busy; /* mark of the hook that owns the buffer; NULL: none */
    uint8_t *floor;                      /* records before it are not taken back */
    uint16_t cpu;
    uint32_t no_cpu;  /* 0: where the kernel tells no cpu */
    bool known;       /* is told when the thread ends */
    bool bus_blocked; /* the program wants SIGBUS blocked here */
    uint32_t slot;    /* number of the slot that the buffer lies in */
    uint32_t wait;    /* calls until a buffer is asked for again */
    uint32_t tid;     /* 0: not asked for */
    uint32_t depth;   /* for the filters: calls open; inside those of --filter, of --notrace */
    uint32_t inside, outside;
} __attribute__((aligned(RT_LINE)));

_Static_assert(sizeof(struct rt_thread) % RT_LINE == 0 && _Alignof(struct rt_thread) == RT_LINE,
               "no line belongs to two threads");
extern __thread struct rt_thread rt_here __attribute__((tls_model("initial-exec")));

/* --- What all threads read. */

/* An id, and in the upper bits what the filters say of the function. */
#define RT_SKIP 0x80000000u     /* not recorded */
#define RT_FOCUS 0x40000000u    /* with what it calls, this alone is recorded */
#define RT_AVOID 0x20000000u    /* nor what it calls */
#define RT_ARGUMENT 0x10000000u /* with its first argument, where the hook has it */
#define RT_ID RTF_IDS_MOST
#define RT_LOST (RT_SKIP | 1u) /* not recorded since there was no room for it: each call is counted */

struct rt_entry {
    uint64_t address; /* 0: free; or RT_GONE, RT_TAKEN */
    uint32_t word;    /* 0: being made */
    uint32_t spare;
};

#define RT_GONE 1u          /* was of an object that was unmapped */
#define RT_TAKEN 2u         /* is being used again */
#define RT_ENTRIES_SHIFT 22 /* 64 MB of addresses, of which pages are there where functions are */
#define RT_ENTRIES (1u << RT_ENTRIES_SHIFT)

enum rt_filter_kind { RT_INCLUDE, RT_EXCLUDE, RT_FOCUS_ON, RT_NOTRACE, RT_WITH_ARGUMENT, RT_FILTER_KINDS };

struct rt_options {
    bool wanted; /* something asks for a recording from the start */
    bool keep_first;
    bool clock;      /* the clock, even where there is a counter of ticks */
    bool size_asked; /* the size was said, and is not the usual one */
    uint64_t size, threshold_ns;
    uint64_t slot_size; /* 0: not said */
    uint32_t depth;
    uint32_t version; /* of the trace: 3 to 5 */
    uint32_t leader;  /* process whose life is the recording's; 0: this one */
    char file[RT_PATH];
    struct rt_patterns {
        const char *at[RT_PATTERNS];
        size_t count;
    } patterns[RT_FILTER_KINDS];
    char words[4096]; /* the patterns' */
    size_t words_used;
};

/* What calls read of it is on pages of its own, which the kernel clears in every child of a fork: also in those of
   which no handler is told (_Fork, clone), and in handlers of others that are called before ours. Nothing is recorded
   there until rt_revive, so that no child writes into its parent's buffers. */
#if defined __x86_64__
#define RT_PAGES 4096u
#else
#define RT_PAGES 65536u
#endif

struct rt_state {
    bool on;    /* calls are recorded */
    bool extra; /* some filter or the clock needs the longer way */
    struct rt_entry *table;
    uint64_t threshold; /* in ticks */
    uint32_t depth;
    bool is_tsc, focused, by_name;
    uint32_t version;
    ptrdiff_t cpu_at; /* from rt_here to the number of the cpu */
    /* rarely used from here on */
    struct rtf_control *control __attribute__((aligned(RT_PAGES)));
    bool wanted;           /* what `on` is, or was before a fork */
    uint8_t kept[RT_LINE]; /* what calls read, as it was before a fork */
    uint8_t *file;         /* the mapping */
    uint64_t file_size;
    uint64_t slot_size, nr_slots, slots_at; /* as in control, which others may overwrite */
    bool keep_last;
    bool is_broken;   /* the file is not what it was: no recording any more */
    uint32_t *owners; /* a word a slot: 0, or the process that writes into it */
    uint32_t pid;
    struct rt_options options;
};
extern struct rt_state rt;
_Static_assert(offsetof(struct rt_state, on) == 0 && offsetof(struct rt_state, extra) == 1, "see rt_is_usual");
_Static_assert(offsetof(struct rt_state, cpu_at) + sizeof(ptrdiff_t) <= RT_LINE, "what calls read is in one line");
_Static_assert(offsetof(struct rt_state, control) % RT_PAGES == 0 && offsetof(struct rt_state, control) >= RT_PAGES,
               "and nobody writes there while calls are recorded");

/* Without rseq always 0. */
RT_PLAIN static inline uint16_t rt_cpu(const struct rt_thread *t) {
    return (uint16_t) * (const volatile uint32_t *)(const volatile void *)((const char *)t + rt.cpu_at);
}

/* --- rt_pool.c */

/* --- rt_slots.c */

/* --- rt_guard.c. The names are for the archive. */

/* --- rt_process.c */

/* --- rt_notes.c */

/* --- rt_functions.c */

RT_PLAIN static inline size_t rt_hash(uint64_t address) {
    return (size_t)((address >> 4) + (address >> 21) * 7919) & (RT_ENTRIES - 1);
}

/* --- rt_objects.c */

/* Of a slot that notes lie in; that stands among the spares; that has no room left, keeping the first. */
#define RT_OWNER_NOTES UINT32_MAX
#define RT_OWNER_SPARE (UINT32_MAX - 1)
#define RT_OWNER_FULL (UINT32_MAX - 2)

/* --- rt_sleds.c */

/* --- rt_buffer.c */

/* A call that is not as most are: a new function or buffer, a handler inside a hook, filters. */
void rt_call_rare(struct rt_thread *t, uint64_t address, unsigned action, uint64_t tsc);

/* --- rt_start.c */

#endif
