/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_INFO_FACTS_H
#define PFR_VIEW_INFO_FACTS_H
/*
 * What one walk over all records tells: counts by type and by event, and on demand the span of the samples' times.
 * Nothing is decoded for the counts, but samples with counter values: perf counts such a sample once for each member
 * whose value grew since the last one.
 */
#include <perfray/reader.h>
#include "base/tables/hashmap.h"
#include "view/info/info_xray.h"

#define FACT_TYPES 128u /* types below are counted in an array */
#define FACT_OTHERS 64u /* distinct types above that are told apart */

struct event_count {
    uint64_t samples, lost;
    bool reads; /* samples carry counter values */
};

struct type_count {
    uint32_t type;
    uint64_t count;
};

struct info_facts {
    struct memory *memory;
    pfr_reader *reader;
    bool wants_times;
    uint64_t total;
    uint64_t by_type[FACT_TYPES];
    struct type_count others[FACT_OTHERS]; /* in order of their first record */
    uint32_t nr_others;
    uint64_t untold; /* records of further types */
    struct event_count *events;
    size_t events_room;
    struct u64_map last_values;     /* event id -> value of its last read */
    uint64_t first_time, last_time; /* first > last: no sample told a time */
    uint64_t aux_buffers, aux_bytes;
    uint64_t compressed_bytes, inner_bytes;
    struct trace_facts traced;
};

void facts_init(struct info_facts *facts, pfr_reader *reader, struct memory *memory);
void facts_free(struct info_facts *facts);

/* Reads to the end. < 0: reading ended early; the facts hold what was seen. */
pfr_status facts_collect(struct info_facts *facts, pfr_error *err);

/* Types that occurred, ascending: calls `use` for each. */
void facts_each_type(const struct info_facts *facts, void (*use)(void *context, uint32_t type, uint64_t count),
                     void *context);

/* 0, 0 for an event without any. */
struct event_count facts_of_event(const struct info_facts *facts, uint32_t event);

#endif
