/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_EVENT_H
#define PFR_RECORD_EVENT_H
/*
 * Events as they are typed, and what they say about a perf_event_attr:
 *
 *     cpu-clock                 hardware, software and cache events by name (event_table.c)
 *     r1a8                      what the processor's manual calls by number
 *     mem:0x404020/8:rw         a breakpoint: length, accesses r, w, x
 *     sched:sched_switch        tracepoints, probes among them; * and ? mean any
 *     msr/tsc/, cpu/event=0x3c,period=1000/     events and formats of a PMU in sysfs (event_pmu.c)
 *     {a,b}:S                   a group, whose leader samples and reads all
 *     a:u                       modifiers: u k h I G H p P S D e W (and b, which has no meaning here)
 *
 * Terms between slashes that every event takes: period, freq, name, time, call-graph, stack-size, max-stack, inherit,
 * no-inherit, overwrite, no-overwrite, branch_type, aux-output, aux-sample-size, config, config1, config2.
 *
 *     event_list_init(&list, &memory);
 *     status = event_list_parse(&list, "cpu-clock,{a,b}:S", &kernel, &err);
 *     event_list_free(&list);
 */
#include "base/memory/arena.h"
#include "base/memory/fail.h"
#include "record/event/kernel.h"

struct aux_kind;
enum chain_mode { CHAIN_UNSAID, CHAIN_NONE, CHAIN_FP, CHAIN_DWARF, CHAIN_LBR };

struct typed_event {
    const char *name;            /* as typed, modifiers with it */
    struct perf_event_attr attr; /* type, config, breakpoint, exclusions: what the text says */
    const char *system, *point;  /* of a tracepoint; NULL */
    const char *filter;          /* NULL */
    const char *cgroup;          /* NULL */
    uint32_t leader;             /* index of the first of its group; its own where it is alone */
    uint32_t members;            /* of a leader: events of the group with it */
    const struct aux_kind *aux;  /* it writes into an AUX area; NULL: it does not */
    bool reads_group;            /* :S */
    bool most_precise;           /* :P */
    bool weak;                   /* :W: apart where the group cannot be together */
    bool fixed;                  /* has a period of its own, unless one is asked for (tracepoints, breakpoints: 1) */
    bool own_period;             /* term period */
    bool own_frequency;          /* term freq */
    bool falls_back;             /* cycles: where there is no such counter, the clock of the cpu */
    bool without_name;           /* nobody typed it */
    bool named;                  /* by a term */
    bool stands_in;              /* for another, which is not there */
    uint8_t inherit;             /* 0: as all; 1: yes; 2: no */
    uint8_t time;                /* the same */
    uint8_t overwrite;           /* the same */
    uint32_t aux_sample;         /* term aux-sample-size; 0: as all */
    const char *branches;        /* term branch_type; NULL: as all */
    enum chain_mode chain;
    uint32_t stack_size, max_stack; /* 0: as all */
};

struct event_list {
    struct arena arena;
    struct typed_event *at; /* in the memory's count */
    size_t count, room;
};

/* Names of a table, and what they stand for. */
struct event_name {
    const char *name, *alias; /* alias: NULL */
    uint32_t type;
    uint64_t config;
};
extern const struct event_name event_names[]; /* ends with a row without name */
/* The event of a cache, "L1-dcache-load-misses"; false: no such. */
bool cache_event(const char *text, size_t length, uint64_t *config);
/* Its name in parts: "L1-dcache", "load-misses"; NULL: the machine-independent table has none. */
const char *cache_name(unsigned number);
const char *cache_what(unsigned number);

/* The name of an event that nobody typed, with the modifiers that its attr says. */
size_t event_name_of(const struct perf_event_attr *attr, const char *plain, char *to, size_t room);

void event_list_init(struct event_list *list, struct memory *memory);
void event_list_free(struct event_list *list);

/* Adds what one -e names. PFR_ERR_USAGE: *err says what, and at which character; PFR_ERR_PERMISSION: of a tracepoint
   whose folder is closed. */
pfr_status event_list_parse(struct event_list *list, const char *text, const struct kernel *kernel, pfr_error *err);

/* One more event, zero but for its name; NULL: memory, see mem_fail. */
struct typed_event *event_list_add(struct event_list *list, const char *name, size_t length);

/* Where the parser is, for those that read parts. */
struct event_text {
    const char *start, *at;
    const struct kernel *kernel;
    struct event_list *list;
    pfr_error *err;
};
/* PFR_ERR_USAGE with the place of `at` and what is wrong there. */
pfr_status event_wrong(struct event_text *text, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The terms between slashes; *at stands behind the first slash, and then behind the last. pmu NULL: those that all take
   alone. */
pfr_status event_terms(struct event_text *text, const char *pmu, struct typed_event *event);
/* The type of a PMU, -1: there is none of this name. */
int64_t pmu_type(const struct kernel *kernel, const char *name);
/* Terms that stand in front of those that are typed, as a text between slashes. */
pfr_status event_default_terms(struct event_text *text, const char *pmu, const char *terms, struct typed_event *event);

/* Counters with an AUX area; aux_kinds.c. */
#define AUX_WORDS 24
struct perf_event_mmap_page;
/* Facts of a recording that AUXTRACE_INFO says. */
struct aux_facts {
    const struct perf_event_mmap_page *page; /* of the first ring */
    const struct kernel *kernel;
    bool by_cpu, per_thread;
};
struct aux_kind {
    const char *pmu;
    bool numbered;                                                     /* the name goes on with a number */
    uint32_t type;                                                     /* of AUXTRACE_INFO */
    void (*terms)(const struct kernel *kernel, char *to, size_t room); /* where none are typed; NULL: none */
    size_t (*tell)(const struct aux_facts *f, uint64_t *words);        /* of AUXTRACE_INFO, after the PMU's type */
};
/* NULL: it has none, or none that is understood. */
const struct aux_kind *aux_kind_of(const char *pmu);

/* system:name, where either may be a glob: one event for each. */
pfr_status event_tracepoints(struct event_text *text, const char *system, const char *point, const char *at);

#endif
