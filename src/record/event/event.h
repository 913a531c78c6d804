/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RECORD_EVENT_H
#define PFR_RECORD_EVENT_H
/*
 * Parses event names as the user types them, into perf_event_attr:
 *
 *  cpu-clock                              hardware, software and cache events by name (event_table.c)
 *  r1a8                                   a raw event, by the number in the processor's manual
 *  mem:0x404020/8:rw                      a breakpoint: length, accesses r, w, x
 *  sched:sched_switch/period=1/           tracepoints, including probes; globs with * and ?
 *  msr/tsc/, cpu/event=0x3c,period=1000/  events and formats of a PMU in sysfs (event_pmu.c)
 *  {a,b}:S                                a group, whose leader samples and reads all members
 *  a:u                                    modifiers: u k h I G H p P S D e W (and b, which is ignored)
 *
 * Terms between slashes that every event accepts: period, freq, name, time, call-graph, stack-size, max-stack, inherit,
 * no-inherit, overwrite, no-overwrite, branch_type, aux-output, aux-sample-size, config, config1, config2.
 *
 *  event_list_init(&list, &memory);
 *  status = event_list_parse(&list, "cpu-clock,{a,b}:S", &kernel, &err);
 *  event_list_free(&list);
 */
#include "base/memory/arena.h"
#include "base/memory/fail.h"
#include "record/event/kernel.h"

struct aux_kind;
enum chain_mode { CHAIN_UNSAID, CHAIN_NONE, CHAIN_FP, CHAIN_DWARF, CHAIN_LBR };

struct typed_event {
    const char *name;            /* as typed, with modifiers */
    struct perf_event_attr attr; /* type, config, breakpoint and exclusions, as the text specifies */
    const char *system, *point;  /* of a tracepoint, otherwise NULL */
    const char *filter;          /* may be NULL */
    const char *cgroup;          /* may be NULL */
    uint32_t leader;             /* index of the group's leader, or the event's own */
    uint32_t members;            /* of a leader: number of events in the group, counting the leader */
    const struct aux_kind *aux;  /* the AUX area that the event writes, or NULL */
    bool reads_group;            /* :S */
    bool most_precise;           /* :P */
    bool weak;                   /* :W: split the group if it cannot be scheduled together */
    bool fixed;                  /* has a default period (tracepoints, breakpoints: 1), which options replace */
    bool own_period;             /* the period is set by the term period */
    bool own_frequency;          /* the frequency is set by the term freq */
    bool falls_back;             /* if cycles is not available, cpu-clock is used */
    bool without_name;           /* the default event, not typed by the user */
    bool named;                  /* the name is set by the term `name` */
    bool stands_in;              /* is used in place of an event that is not available */
    uint8_t inherit;             /* 0: the options decide; 1: yes; 2: no */
    uint8_t time;                /* as `inherit` */
    uint8_t overwrite;           /* as `inherit` */
    uint32_t aux_sample;         /* term aux-sample-size; 0: the options decide */
    const char *branches;        /* term branch_type; NULL: the options decide */
    enum chain_mode chain;
    uint32_t stack_size, max_stack; /* 0: the options decide */
};

struct event_list {
    struct arena arena;
    struct typed_event *at; /* allocated from list->arena.memory */
    size_t count, room;
};

/* A table of event names. */
struct event_name {
    const char *name, *alias; /* alias may be NULL */
    uint32_t type;
    uint64_t config;
};
extern const struct event_name event_names[]; /* ends with a row without a name */
/* Parses a cache event such as "L1-dcache-load-misses"; false if there is no such event. */
bool cache_event(const char *text, size_t length, uint64_t *config);
/* The parts of the names of cache events, by number from 0: cache_name ("L1-dcache") and cache_what ("load-misses").
 * After the last part, NULL. */
const char *cache_name(unsigned number);
const char *cache_what(unsigned number);

/* Writes the name that perf gives to an event whose name was not typed: `plain` with modifiers from the attr. Returns
 * the length of the name. */
size_t event_name_of(const struct perf_event_attr *attr, const char *plain, char *to, size_t room);

void event_list_init(struct event_list *list, struct memory *memory);
void event_list_free(struct event_list *list);

/* Adds the events of one -e option. PFR_ERR_USAGE: *err has the reason and the position in the text.
 * PFR_ERR_PERMISSION: the folder of a tracepoint is not accessible. */
pfr_status event_list_parse(struct event_list *list, const char *text, const struct kernel *kernel, pfr_error *err);

/* Adds an event that is zero except for its name; NULL: out of memory, see mem_fail. */
struct typed_event *event_list_add(struct event_list *list, const char *name, size_t length);

/* State of the parser, for the functions that parse parts of the text. */
struct event_text {
    const char *start, *at;
    const struct kernel *kernel;
    struct event_list *list;
    pfr_error *err;
};
/* Fails with PFR_ERR_USAGE, the position of `at`, and a message. */
pfr_status event_wrong(struct event_text *text, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Parses the terms between slashes. *at is after the first slash, and is moved to after the last slash. pmu NULL:
 * accepts only the terms that every event accepts. */
pfr_status event_terms(struct event_text *text, const char *pmu, struct typed_event *event);
/* Returns the type of a PMU; -1: there is no PMU of this name. */
int64_t pmu_type(const struct kernel *kernel, const char *name);
/* Applies the default terms of a PMU. Call it before the typed terms are applied. */
pfr_status event_default_terms(struct event_text *text, const char *pmu, const char *terms, struct typed_event *event);

/* PMUs with an AUX area; aux_kinds.c. */
#define AUX_WORDS 24
struct perf_event_mmap_page;
/* Facts about the recording from which AUXTRACE_INFO is made. */
struct aux_facts {
    const struct perf_event_mmap_page *page; /* of the first ring */
    const struct kernel *kernel;
    bool by_cpu, per_thread;
};
struct aux_kind {
    const char *pmu;
    bool numbered;                                                     /* the PMU's name ends with a number */
    uint32_t type;                                                     /* type in AUXTRACE_INFO */
    void (*terms)(const struct kernel *kernel, char *to, size_t room); /* default terms; may be NULL */
    size_t (*put_info)(const struct aux_facts *f, uint64_t *words);    /* words of AUXTRACE_INFO after the PMU's type */
};
/* Returns NULL if the PMU has no AUX area, or an unsupported one. */
const struct aux_kind *aux_kind_of(const char *pmu);

/* Adds one event for each tracepoint that matches system:name; both may be globs. */
pfr_status event_tracepoints(struct event_text *text, const char *system, const char *point, const char *at);

#endif
