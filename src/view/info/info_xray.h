/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_INFO_XRAY_H
#define PFR_VIEW_INFO_XRAY_H
/* What one walk over the records of a trace tells of its threads: info_facts.c hands each record on. */
#include <perfray/trace.h>
#include "base/tables/hashmap.h"

struct trace_thread {
    int32_t pid, tid;
    bool has_pid;
    uint64_t calls, events, paths; /* records of entering and leaving, of events, of a profile's paths */
    uint64_t buffers, buffer;      /* with any of these; the last of them */
    uint64_t first, last;          /* ticks; first > last: none was said */
};

struct trace_facts {
    struct memory *memory;
    pfr_reader *reader;
    const pfr_trace_point *at; /* NULL: the recording is no trace */
    struct u64_map by_id;
    struct trace_thread *threads; /* in the order in which they come */
    size_t nr_threads, room;
    uint64_t last_key;
    struct trace_thread *last_thread;
    uint64_t first, last; /* of all threads */
};

void trace_facts_init(struct trace_facts *facts, pfr_reader *reader, struct memory *memory);
void trace_facts_free(struct trace_facts *facts);
/* The record, and for a function record those that follow it. *more: how many these were. */
pfr_status trace_facts_count(struct trace_facts *facts, const pfr_record *rec, uint64_t *more, pfr_error *err);

struct info;
struct json;
/* What the overview says of traces alone; the facts are collected. */
void overview_trace(const struct info *info);
void json_trace(struct json *json, const struct info *info);

#endif
