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

/* Makes the trace that the options name, or joins it where its leader lives. NULL: done; else why not. */
const char *rt_pool_open(void);
/* Writes BufferExtents to NewCPUId; the buffer has these alone. */
void rt_preamble(uint8_t *buffer, uint32_t tid, uint16_t cpu, uint64_t tsc, uint64_t now_ns);
/* 16 bytes of zeros but for the first, which is of this kind; where the payload begins. */
uint8_t *rt_metadata(uint8_t *at, unsigned kind);
void rt_read_pair(struct rt_pair *pair, unsigned readings);
/* CLOCK_MONOTONIC at a tick not long before the pair. */
uint64_t rt_ns_at(const struct rt_pair *pair, uint64_t tsc);
/* The rate of ticks since the trace was begun. */
void rt_measure(const struct rt_pair *now);
void rt_measure_now(void);
uint64_t rt_clock(void);
void rt_lose(enum rtf_loss why);
void rt_say(const char *what, const char *why);
/* The trace is still the one that was made or joined; false: the recording has ended for that. */
bool rt_pool_is_ours(void);

/* --- rt_slots.c */

uint8_t *rt_slot_at(uint32_t slot);
/* A slot of nothing but zeros, its number in *slot; NULL: there is none, which is counted. Its first *ready bytes may
   be stored to, at least as many as are needed. */
uint8_t *rt_pool_take(uint32_t *slot, uint64_t need, uint64_t *ready);
/* One that a thread left with room in it, or a process that is gone; what is behind the part in use has to be widened.
 */
uint8_t *rt_pool_take_spare(uint32_t *slot, uint64_t *used);
/* Sees to it that bytes of the slot may be stored to from `from` to `end` at least; where that ends, 0: there is no
 * room. */
uint64_t rt_pool_widen(uint32_t slot, uint64_t from, uint64_t end);
void rt_pool_release(uint32_t slot, uint64_t used);
/* Releases what the process owned before it joined the trace. */
void rt_pool_inherit(void);

/* --- rt_guard.c. The names are for the archive. */

struct sigaction;
void rt_guard_install(void);
/* A thread gets a buffer. */
void rt_guard_thread(struct rt_thread *t);
/* Ends the recording for good, in this process; says why. */
void rt_guard_end(const char *why);
/* The same as rt_say where standard error is what it was. */
void rt_say_late(const char *what, const char *why);
bool rt_guard_is_on(void) __asm__("perfray_rt_guard_is_on_") __attribute__((visibility("default")));
/* sigaction of SIGBUS; below 0: -errno. */
long rt_guard_action(const struct sigaction *new, struct sigaction *old) __asm__("perfray_rt_guard_action_")
    __attribute__((visibility("default")));
/* Whether this thread wants SIGBUS blocked; NULL: masks are taken as they are. */
bool *rt_guard_blocked(void) __asm__("perfray_rt_guard_blocked_") __attribute__((visibility("default")));
/* What the kernel wants of an action on some machines. */
void rt_guard_restorer(unsigned long *flags, void (**restorer)(void)) __asm__("perfray_rt_guard_restorer_")
    __attribute__((visibility("default")));

/* --- rt_process.c */

/* When it began, in the kernel's ticks; 0: not known. */
uint64_t rt_process_start(uint32_t pid);
bool rt_process_lives(uint32_t pid);
/* Lives, and is the one that began then. */
bool rt_process_is(uint32_t pid, uint64_t start);
/* Bytes that a file may have; less where the size is the usual one and memory is limited. */
uint64_t rt_process_file_most(bool asked);

/* --- rt_notes.c */

/* 16 bytes in front of an event's own, as the version of the trace wants them; type < 0: a custom event. */
void rt_event_head(uint8_t *at, int type, uint32_t size, uint64_t tsc, uint64_t last, uint16_t cpu);
/* A buffer of `size` bytes that is one custom event, what it tells being there already or coming. */
void rt_note_write(uint8_t *buffer, uint32_t kind, uint32_t first, uint64_t size);
/* Where a list of notes has its entry of this number, from 1; *known: its slots, of which one is made where it is
   missing. NULL: there is no room. */
void *rt_note_entry(uint32_t *known, uint32_t most, uint32_t kind, uint32_t number, size_t size);

/* --- rt_functions.c */

/* The word of a function. */
uint32_t rt_find_slow(uint64_t address);
/* The same of a scope with a name. */
uint32_t rt_scope_word(const void *scope, const char *name);
/* What lay there has no id any more: its object is gone. */
void rt_forget_range(uint64_t start, uint64_t end);
bool rt_functions_prepare(void);

RT_PLAIN static inline size_t rt_hash(uint64_t address) {
    return (size_t)((address >> 4) + (address >> 21) * 7919) & (RT_ENTRIES - 1);
}

RT_PLAIN static inline uint32_t rt_find(uint64_t address) {
    const struct rt_entry *e = &rt.table[rt_hash(address)];
    if (RT_LIKELY(e->address == address && e->word != 0))
        return e->word;
    return rt_find_slow(address);
}

/* --- rt_objects.c */

/* Of a slot that notes lie in; that stands among the spares; that has no room left, keeping the first. */
#define RT_OWNER_NOTES UINT32_MAX
#define RT_OWNER_SPARE (UINT32_MAX - 1)
#define RT_OWNER_FULL (UINT32_MAX - 2)

/* What a function is to all processes of the trace. */
struct rt_place {
    uint64_t address; /* where it would lie, were its object where the trace says */
    uint32_t object;  /* number in the trace; 0: not known */
    bool is_lost;     /* of more objects than are kept in mind */
};
struct rt_place rt_place_of(uint64_t address);
uint32_t rt_object_scope(const char *name);
/* What the filters say of a function there: flags of its word. */
uint32_t rt_filter_flags(uint64_t address, uint32_t object);
/* Finds what was unmapped. */
void rt_objects_check(void);

/* --- rt_symbols.c */
struct rt_symbols;
/* Never NULL; what cannot be read has none. */
const struct rt_symbols *rt_symbols_open(const char *path);
void rt_symbols_close(const struct rt_symbols *symbols);
/* Of a function that begins there in the object; NULL: it has none. */
const char *rt_symbols_name(const struct rt_symbols *symbols, uint64_t address);

/* --- rt_sleds.c */

/* Sleds are on where calls are recorded, and else off. A look finds what was loaded meanwhile: not from a signal
   handler. */
void rt_sleds_apply(bool with_look);
void rt_sleds_forked(void);
/* Around dlopen and dlclose. The names are for the archive, whose members see each other by them. */
void rt_loaded(void) __asm__("perfray_rt_loaded_") __attribute__((visibility("default")));
void rt_unloading(void) __asm__("perfray_rt_unloading_") __attribute__((visibility("default")));
void rt_unloaded(void) __asm__("perfray_rt_unloaded_") __attribute__((visibility("default")));

/* --- rt_options.c */
void rt_options_read(struct rt_options *o, char *const *environment, const char *program);
/* key=value, blank, ':' or ',' between, and the usual for the rest; false: the word at *wrong is not known. */
bool rt_options_parse(struct rt_options *o, const char *text, const char **wrong);

/* --- rt_buffer.c */

/* Makes room for a record and `more` bytes of payload behind it, and time to count from. false: there is none. */
bool rt_step(struct rt_thread *t, uint64_t tsc, uint64_t more);
/* A call while calls are not recorded, or with filters; or they are recorded, but this is a child that does not know it
   yet. */
void rt_call_unusual(uint64_t address, unsigned action);
/* A call that is not as most are: a new function or buffer, a handler inside a hook, filters. */
void rt_call_rare(struct rt_thread *t, uint64_t address, unsigned action, uint64_t tsc);
/* What of it is left to do where there are filters. */
void rt_call_filtered(struct rt_thread *t, uint32_t word, unsigned action, uint64_t tsc);
/* Whether the frame of `mark` is certainly dead (the hook was left by siglongjmp, or its context dropped), seen from
   the hook of `own`. false: the owner may continue later; the call is counted as lost. */
bool rt_abandoned(const volatile struct rt_mark *mark, const volatile struct rt_mark *own);
/* An enter with its first argument. */
void rt_call_argument(struct rt_thread *t, uint32_t word, uint64_t argument, uint64_t tsc);
void rt_event(struct rt_thread *t, const void *bytes, uint32_t size, int type, uint64_t tsc);
/* Hands the thread's buffer back. */
void rt_leave(struct rt_thread *t);

/* --- rt_start.c */

/* The thread gives its buffer back when it ends. */
void rt_know_thread(struct rt_thread *t);
void rt_switch(bool on);
/* Around what takes the counter away: true: calls were recorded. The names are for the archive. */
bool rt_counter_ends(void) __asm__("perfray_rt_counter_ends_") __attribute__((visibility("default")));
void rt_counter_stays(void) __asm__("perfray_rt_counter_stays_") __attribute__((visibility("default")));
/* The process is a child: it has a number and buffers of its own from now on. */
void rt_revive(struct rt_thread *t);

#endif
