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

void object_list_init(struct object_list *list, struct memory *memory);
void object_list_free(struct object_list *list);

/* A name met again keeps its place and takes the new id. */
pfr_status object_list_add(struct object_list *list, const pfr_text *name, const uint8_t *id, size_t length,
                           pfr_error *err);

/* What a record says about the id of an object, if it does. */
pfr_status object_list_note(struct object_list *list, const pfr_record *rec, pfr_error *err);

/* Objects that samples hit; reads the recording twice (info_hits.c). */
pfr_status object_list_hits(struct object_list *list, pfr_reader *reader, pfr_error *err);

/* The objects of feature BUILD_ID; without it those that samples hit. */
pfr_status object_list_fill(struct object_list *list, pfr_reader *reader, pfr_error *err);

/* Each reads what it needs of the reader and prints. */
pfr_status info_header(struct info *info, pfr_error *err);
pfr_status info_events(struct info *info, pfr_error *err);
pfr_status info_build_ids(struct info *info, pfr_error *err);
pfr_status info_stats(struct info *info, pfr_error *err);
pfr_status info_overview(struct info *info, pfr_error *err);
pfr_status info_json(struct info *info, pfr_error *err);

/* What the overview says of traces alone; the facts are collected. */
void overview_trace(const struct info *info);
void json_trace(struct json *json, const struct info *info);

/* To the end of the recording, for what streams tell on the way. */
pfr_status read_to_end(pfr_reader *reader, pfr_error *err);

#endif
