/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_INFO_PARTS_H
#define PFR_VIEW_INFO_PARTS_H
/*
 * The parts that pfr_info_print is made of. One file per part:
 *
 *     info_header.c     the header as perf prints it (info_machine.c, info_run.c, info_bpf.c: its features)
 *     info_events.c     events with their attrs
 *     info_build_ids.c  objects with their build-ids
 *     info_hits.c       objects that samples hit
 *     info_stats.c      counts as perf prints them
 *     info_overview.c   everything, for people
 *     info_json.c       any of it as JSON
 *     info_xray.c      the overview of a trace, in text and JSON
 *     info_facts.c      the walk over all records that the last three stand on
 */
#include <perfray/info.h>
#include "base/tables/intern.h"
#include "base/text/json.h"
#include "view/info/info_facts.h"
#include "view/info/info_output.h"

struct info {
    pfr_output *to;
    pfr_reader *reader;
    pfr_info_options options;
    struct info_facts facts;
};

/* Objects in the order in which they were first named. */
struct object_id {
    uint8_t bytes[20];
    uint8_t length; /* 0: no build-id */
};

struct object_list {
    struct memory *memory;
    struct intern_table names;
    struct object_id *ids; /* by name */
    size_t room;
};

#endif
