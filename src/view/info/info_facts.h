/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_INFO_FACTS_H
#define PFR_VIEW_INFO_FACTS_H
/*
 * Facts from one pass over all records: counts by type and by event, and on request the time range of the samples. Only
 * samples with counter values are decoded: perf counts such a sample once per group member whose value changed since
 * the last sample.
 */
#include <perfray/reader.h>
#include "base/tables/hashmap.h"
#include "view/info/info_xray.h"

#define FACT_TYPES 128u /* types below this number are counted in an array */
#define FACT_OTHERS 64u /* maximum number of other types that are counted */

struct event_count {
    uint64_t samples, lost;
    bool reads; /* samples contain counter values */
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
    struct type_count others[FACT_OTHERS]; /* in order of first occurrence */
    uint32_t nr_others;
    uint64_t untold; /* number of records whose types did not fit into `others` */
    struct event_count *events;
    size_t events_room;
    struct u64_map last_values;     /* event id -> last value read */
    uint64_t first_time, last_time; /* times of samples; first > last: no sample has a time */
    uint64_t aux_buffers, aux_bytes;
    uint64_t compressed_bytes, inner_bytes;
    struct xray_facts traced;
};

void facts_init(struct info_facts *facts, pfr_reader *reader, struct memory *memory);
void facts_free(struct info_facts *facts);

/* Reads to the end. A negative status means that reading stopped early; the facts then cover the records before the
 * error. */
pfr_status facts_collect(struct info_facts *facts, pfr_error *err);

/* Calls `use` for each type that occurred, in ascending order. */
void facts_each_type(const struct info_facts *facts, void (*use)(void *context, uint32_t type, uint64_t count),
                     void *context);

/* Returns zeros for an event without samples. */
struct event_count facts_of_event(const struct info_facts *facts, uint32_t event);

#endif
