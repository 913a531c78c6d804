/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EDIT_QUIPPER_WRITING_H
#define PFR_EDIT_QUIPPER_WRITING_H
/* A recording on its way into a PerfDataProto: see quipper.h. */
#include "base/io/whole_file.h"
#include "edit/quipper/quipper.h"
#include "edit/quipper/quipper_merged_maps.h"
#include "edit/quipper/quipper_address_space.h"
#include "model/timeline/sorted_runs.h"

#include <perfray/edit.h>

#define QUIPPER_TYPES 128u

struct quipper_output {
    pfr_reader *reader;
    const pfr_edit_options *options;
    struct memory *memory;
    bool text;
    struct whole_file file;
    struct output out;
    bool named, open;

    struct quipper_parts parts;
    struct output message, field; /* one outermost field in the making: its content, and with its head */
    struct output kept;           /* build-ids and names out of a stream's records, with their heads */
    uint8_t *compared;            /* room for two records */
    struct quipper_maker maker;
    const struct quipper_row *rows[QUIPPER_TYPES]; /* of M_event, by type; NULL: quipper does not have it */

    struct window window; /* in the order of time */
    struct runs runs;
    uint64_t types[QUIPPER_TYPES];    /* records, by type */
    uint64_t lost[QUIPPER_TYPES + 1]; /* that the text does not tell wholly, by type; the last: all others */
    struct output lost_features;      /* their names */
    pfr_edit_counts counts;

    struct quipper_joins joins;
    struct quipper_places places;
    uint8_t *marked;       /* room for the addresses of a sample */
    bool has_kernel;       /* its first mapping came */
    uint64_t maps, mapped; /* mappings told, and samples all of whose addresses are in one */
};

/* quipper_fields.c: what is in q->message becomes a field of the outermost message. */
void quipper_output_field(struct quipper_output *q, uint32_t number);
/* A number there. */
void quipper_output_number(struct quipper_output *q, uint32_t number, uint64_t value);
/* Something that is not in the output: counted, and told. */
void quipper_output_lost(struct quipper_output *q, const pfr_error *hole);

/* quipper_mapped.c: what the record changes in q->places; of a sample, what it asks there. Its addresses may change. */
pfr_status quipper_output_place(struct quipper_output *q, const pfr_record *rec, union any_layout *body,
                                pfr_error *err);

/* quipper_facts.c */
pfr_status quipper_output_front(struct quipper_output *q, pfr_error *err); /* events of the recording */
pfr_status quipper_output_back(struct quipper_output *q, pfr_error *err);  /* counts and features */
/* A HEADER_BUILD_ID or HEADER_EVENT_TYPE record, which other fields tell. */
pfr_status quipper_output_keep(struct quipper_output *q, const pfr_record *rec, pfr_error *err);

#endif
