/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_INFO_PARTS_H
#define PFR_VIEW_INFO_PARTS_H
/*
 * The parts of pfr_info_print, one file each:
 *
 *     info_header.c     the header as perf prints it (its features: info_machine.c, info_run.c, info_bpf.c)
 *     info_events.c     events with their attrs
 *     info_build_ids.c  objects with their build ids
 *     info_hits.c       objects that samples hit
 *     info_stats.c      counts as perf prints them
 *     info_overview.c   overview for people
 *     info_json.c       any of these parts as JSON
 *     info_xray.c       overview of an XRay trace, as text and JSON
 *     info_facts.c      the pass over all records, used by the last three
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

/* A build id of an object; objects are in the order of their first occurrence. */
struct object_id {
    uint8_t bytes[20];
    uint8_t length; /* 0: no build-id */
};

struct object_list {
    struct memory *memory;
    struct intern_table names;
    struct object_id *ids; /* by number in `names` */
    size_t room;
};

#endif
