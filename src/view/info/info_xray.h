/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_INFO_XRAY_H
#define PFR_VIEW_INFO_XRAY_H
/* Facts about the threads of an XRay trace, collected in one pass: info_facts.c passes each record here. */
#include <perfray/trace.h>
#include "base/tables/hashmap.h"

struct xray_thread {
    int32_t pid, tid;
    bool has_pid;
    uint64_t calls, events, paths; /* numbers of records: function entries and exits; events; call paths of a profile */
    uint64_t buffers, buffer; /* buffers: number of buffers with calls, events or paths of the thread; buffer: the last
                                 of these buffers */
    uint64_t first, last;     /* ticks; first > last: no time is known */
};

struct xray_facts {
    struct memory *memory;
    pfr_reader *reader;
    const pfr_trace_point *at; /* NULL: not an XRay trace */
    struct u64_map by_id;
    struct xray_thread *threads; /* in order of first occurrence */
    size_t nr_threads, room;
    uint64_t last_key;
    struct xray_thread *last_thread;
    uint64_t first, last; /* ticks, over all threads */
};

void xray_facts_init(struct xray_facts *facts, pfr_reader *reader, struct memory *memory);
void xray_facts_free(struct xray_facts *facts);
/* Counts the record. After a function record, also counts the function records that follow it directly; *more is the
 * number of these further records. */
pfr_status xray_facts_count(struct xray_facts *facts, const pfr_record *rec, uint64_t *more, pfr_error *err);

struct info;
struct json;
/* Prints the facts that only XRay traces have; xray_facts_count must have collected them before. */
void overview_trace(const struct info *info);
void json_trace(struct json *json, const struct info *info);

#endif
