/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EDIT_QUIPPER_WRITING_H
#define PFR_EDIT_QUIPPER_WRITING_H
/* State while a recording is converted to a PerfDataProto; quipper.h has the overview. */
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
    struct output message, field; /* message: content of the current outermost field; field: its head and content */
    struct output kept;           /* build-ids and names from a stream's records, with their heads */
    uint8_t *compared;            /* room for two records */
    struct quipper_maker maker;
    const struct quipper_row *rows[QUIPPER_TYPES]; /* by record type; NULL: quipper has no such type */

    struct window window; /* records in time order */
    struct runs runs;
    uint64_t types[QUIPPER_TYPES];    /* number of records by type */
    uint64_t lost[QUIPPER_TYPES + 1]; /* records that the text does not completely represent, by type; last: unknown
                                         types */
    struct output lost_features;      /* names of features that text output cannot represent */
    pfr_edit_counts counts;

    struct quipper_joins joins;
    struct quipper_places places;
    uint8_t *marked;       /* room for the addresses of a sample */
    bool has_kernel;       /* the first kernel mapping was seen */
    uint64_t maps, mapped; /* mappings written; samples whose addresses are all mapped */
};

/* quipper_fields.c: writes q->message as a field of the outermost message. */
void quipper_output_field(struct quipper_output *q, uint32_t number);
/* Writes a number as a field of the outermost message. */
void quipper_output_number(struct quipper_output *q, uint32_t number, uint64_t value);
/* Counts and reports something that the output lacks. */
void quipper_output_lost(struct quipper_output *q, const pfr_error *hole);

/* quipper_mapped.c: applies a record to q->places; checks the addresses of a sample there, and may mark them in
 * `body`. */
pfr_status quipper_output_place(struct quipper_output *q, const pfr_record *rec, union any_layout *body,
                                pfr_error *err);

/* quipper_facts.c */
pfr_status quipper_output_front(struct quipper_output *q, pfr_error *err); /* events of the recording */
pfr_status quipper_output_back(struct quipper_output *q, pfr_error *err);  /* counts and features */
/* Keeps a HEADER_BUILD_ID or HEADER_EVENT_TYPE record for quipper_output_back, which writes it as another field. */
pfr_status quipper_output_keep(struct quipper_output *q, const pfr_record *rec, pfr_error *err);

#endif
