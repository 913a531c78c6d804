/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_RECORDER_H
#define PFR_RUNTIME_RT_RECORDER_H
/*
 * The flight recorder, which runs inside other programs' function calls and possibly inside their signal handlers.
 *
 *  rt_hooks.c      functions that compilers call for -finstrument-functions
 *  rt_record.h     one call into the thread's buffer, inline
 *  rt_buffer.c     the rare cases: a new buffer, another CPU, filters
 *  rt_pool.c       the trace: a mapped file
 *  rt_slots.c      slots of the trace and their owners
 *  rt_notes.c      lists in the trace: functions and objects
 *  rt_functions.c  addresses to ids, without locks
 *  rt_objects.c    the object of an address; names, if functions are selected by name
 *  rt_symbols.c    names of an object's functions
 *  rt_unmangled.c  C++ names without their arguments; rt_glob.c: patterns
 *  rt_options.c    PERFRAY_RT, XRAY_OPTIONS, XRAY_FDR_OPTIONS
 *  rt_process.c    processes and limits
 *  rt_counter.c    wrapper of prctl
 *  rt_guard.c      SIGBUS on stores to the trace; rt_signals.c: wrappers of sigaction and the like
 *  rt_start.c      start and stop, threads, forks; include/perfray/runtime.h
 *  rt_sleds.h      sleds of clang's -fxray-instrument
 *  rt_loads.c      wrappers of dlopen and dlclose
 *  rt_system.h     system calls and counters; rt_text.h: bytes and names
 *
 * Recording a call does not allocate, lock, use stdio or change errno. The trace is a shared mapping, and the
 * BufferExtents of a buffer includes each record as soon as it is complete, so recorded calls are in the file no matter
 * how the process ends. Calls that are not recorded are counted (enum rtf_loss).
 */
#include "runtime/rt_system.h"
#include "wire/recorder_file.h"

#define RT_LINE 64u
#define RT_PATH 1024u
#define RT_PATTERNS 32u

/* --- State of a thread. */

/* Part of a hook's stack frame. It contains its own address, which is intact as long as the frame is live. */
struct rt_mark {
    const volatile struct rt_mark *self;
};

struct rt_thread {
    uint8_t *next;                       /* address of the next record */
    uint8_t *limit;                      /* a call fits below this address; NULL: no buffer */
    uint8_t *buffer;                     /* kind byte of its BufferExtents */
    uint64_t last;                       /* tick from which the next delta counts */
    const volatile struct rt_mark *busy; /* mark of the hook that owns the buffer; NULL: it is free */
    uint8_t *floor;                      /* records below this address are not removed again */
    uint16_t cpu;
    uint32_t no_cpu;  /* 0; read as the CPU if the kernel does not provide it */
    bool known;       /* leave_thread will be called when the thread ends */
    bool bus_blocked; /* the program wants SIGBUS blocked in this thread */
    uint32_t slot;    /* number of the slot that contains the buffer */
    uint32_t wait;    /* number of calls until the thread requests a buffer again */
    uint32_t tid;     /* 0: not known yet */
    uint32_t depth;   /* for filters: number of open calls, and of those inside --filter and --notrace functions */
    uint32_t inside, outside;
} __attribute__((aligned(RT_LINE)));

_Static_assert(sizeof(struct rt_thread) % RT_LINE == 0 && _Alignof(struct rt_thread) == RT_LINE,
               "no line belongs to two threads");
extern __thread struct rt_thread rt_here __attribute__((tls_model("initial-exec")));

/* --- State of the process. */

/* A word: the id of a function, and in the upper bits its filter flags. */
#define RT_SKIP 0x80000000u     /* not recorded */
#define RT_FOCUS 0x40000000u    /* selected by --filter: only the function and its callees are recorded */
#define RT_AVOID 0x20000000u    /* selected by --notrace: neither the function nor its callees are recorded */
#define RT_ARGUMENT 0x10000000u /* recorded with its first argument, if the hook has it */
#define RT_ID RTF_IDS_MOST
#define RT_LOST (RT_SKIP | 1u) /* not recorded for lack of room: each call is counted as lost */

struct rt_entry {
    uint64_t address; /* address of the function; 0: the entry is free; or RT_GONE, RT_TAKEN */
    uint32_t word;    /* 0: not set yet */
    uint32_t spare;
};

#define RT_GONE 1u          /* the entry belonged to an unloaded object */
#define RT_TAKEN 2u         /* the entry is being reused */
#define RT_ENTRIES_SHIFT 22 /* 64 MB of address space; only pages with functions use memory */
#define RT_ENTRIES (1u << RT_ENTRIES_SHIFT)

enum rt_filter_kind { RT_INCLUDE, RT_EXCLUDE, RT_FOCUS_ON, RT_NOTRACE, RT_WITH_ARGUMENT, RT_FILTER_KINDS };

struct rt_options {
    bool wanted; /* recording is requested from the start */
    bool keep_first;
    bool clock;      /* use CLOCK_MONOTONIC even if there is a tick counter */
    bool size_asked; /* the size was given explicitly */
    uint64_t size, threshold_ns;
    uint64_t slot_size; /* 0: default */
    uint32_t depth;
    uint32_t version; /* version of the trace format, 3 to 5; 0: default */
    uint32_t leader;  /* recording lasts as long as this process lives; 0: the own process */
    char file[RT_PATH];
    struct rt_patterns {
        const char *at[RT_PATTERNS];
        size_t count;
    } patterns[RT_FILTER_KINDS];
    char words[4096]; /* storage of the patterns */
    size_t words_used;
};

/* The members that hooks read are on separate pages, which the kernel clears in every forked child (MADV_WIPEONFORK),
 * even if atfork handlers are not called (_Fork, clone), or if atfork handlers of other libraries run first. A child
 * records nothing until rt_revive, so it never writes into its parent's buffers. */
#if defined __x86_64__
#define RT_PAGES 4096u
#else
#define RT_PAGES 65536u
#endif

struct rt_state {
    bool on;    /* calls are recorded */
    bool extra; /* a filter or the clock needs the slower path */
    struct rt_entry *table;
    uint64_t threshold; /* ticks; shorter calls are removed; 0: no threshold */
    uint32_t depth;
    bool is_tsc, focused, by_name;
    uint32_t version;
    ptrdiff_t cpu_at; /* offset from rt_here to the CPU number */
    /* rarely used from here on */
    struct rtf_control *control __attribute__((aligned(RT_PAGES)));
    bool wanted;           /* value of `on`; not cleared by a fork */
    uint8_t kept[RT_LINE]; /* copy of the members that hooks read, for children */
    uint8_t *file;         /* address of the mapping */
    uint64_t file_size;
    uint64_t slot_size, nr_slots,
        slots_at; /* as in control; kept here because other processes may overwrite the file */
    bool keep_last;
    bool is_broken;   /* the file was truncated or overwritten: recording cannot start again */
    uint32_t *owners; /* one word per slot: 0, the process that writes into it, or RT_OWNER_* */
    uint32_t pid;
    struct rt_options options;
};
extern struct rt_state rt;
_Static_assert(offsetof(struct rt_state, on) == 0 && offsetof(struct rt_state, extra) == 1, "see rt_is_usual");
_Static_assert(offsetof(struct rt_state, cpu_at) + sizeof(ptrdiff_t) <= RT_LINE, "what calls read is in one line");
_Static_assert(offsetof(struct rt_state, control) % RT_PAGES == 0 && offsetof(struct rt_state, control) >= RT_PAGES,
               "and nobody writes there while calls are recorded");

/* The CPU on which the thread runs; always 0 without rseq. */
RT_PLAIN static inline uint16_t rt_cpu(const struct rt_thread *t) {
    return (uint16_t) * (const volatile uint32_t *)(const volatile void *)((const char *)t + rt.cpu_at);
}

/* --- rt_pool.c */

/* --- rt_slots.c */

/* --- rt_guard.c. Names in assembler are for the static archive. */

/* --- rt_process.c */

/* --- rt_notes.c */

/* --- rt_functions.c */

RT_PLAIN static inline size_t rt_hash(uint64_t address) {
    return (size_t)((address >> 4) + (address >> 21) * 7919) & (RT_ENTRIES - 1);
}

/* --- rt_objects.c */

/* Owners of special slots: slots that hold notes; slots in the list of spares; and, if the first calls are kept, slots
 * without room. */
#define RT_OWNER_NOTES UINT32_MAX
#define RT_OWNER_SPARE (UINT32_MAX - 1)
#define RT_OWNER_FULL (UINT32_MAX - 2)

/* --- rt_sleds.c */

/* --- rt_buffer.c */

/* Records a call in all cases except the common one: a new function or buffer, a handler inside a hook, filters. */
void rt_call_rare(struct rt_thread *t, uint64_t address, unsigned action, uint64_t tsc);

/* --- rt_start.c */

#endif
