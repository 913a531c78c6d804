/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PPROF_H
#define PFR_EXPORT_PPROF_H
/*
 * One message Profile of profile.proto (github.com/google/pprof/proto), as gzip, in three files: pprof.c writes
 * samples, pprof_locations.c locations, functions and mappings, pprof_facts.c what holds for the whole recording.
 * Repeated fields of a message may stand in any order and apart, so all is written as it comes, the texts last; strings
 * are numbers meanwhile.
 */
#include "base/io/gzip_output.h"
#include "base/text/proto.h"
#include "export/sink.h"

/* Numbers of the fields. */
enum { PPROF_SAMPLE_TYPE = 1, PPROF_SAMPLE, PPROF_MAPPING, PPROF_LOCATION, PPROF_FUNCTION, PPROF_STRING };
enum { PPROF_TIME_NANOS = 9, PPROF_DURATION_NANOS, PPROF_PERIOD_TYPE, PPROF_PERIOD, PPROF_COMMENT };
enum { PPROF_DEFAULT_SAMPLE_TYPE = 14 };
enum { VALUE_TYPE = 1, VALUE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STR, LABEL_NUM };
enum { MAPPING_ID = 1, MAPPING_START, MAPPING_LIMIT, MAPPING_OFFSET, MAPPING_FILENAME, MAPPING_BUILD_ID };
enum { MAPPING_HAS_FUNCTIONS = 7 };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1 };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME };

struct pprof {
    struct gzip_output gzip;
    bool open;
    struct output *out;          /* of the message */
    struct output part, inner;   /* of messages inside it */
    struct intern_table strings; /* number 0: "" */
    struct intern_table functions;
    struct pprof_function {
        uint32_t text, mangled, mapping, id; /* id 0: there is none yet */
    } last;
    uint32_t *value_of, nr_values; /* by event: which value of a sample is its weight; 0: none */
    uint32_t nr_events, newest_event;
    uint32_t *location_of; /* by label */
    uint32_t nr_labels;
    uint8_t *path, *path_end; /* locations of the node at hand, innermost first; they end at path_end */
    size_t *path_length;      /* by depth */
    uint32_t levels;
    struct output labels; /* of the group at hand */
    uint32_t event;
    struct output group_labels; /* of groups of whole stacks, one after the other */
    struct pprof_group {
        size_t begin, end; /* in group_labels; end 0: not made yet */
    } * groups;            /* by number */
    struct pprof_location {
        uint8_t bytes[7], length; /* its number as it is written */
    } * location;                 /* by frame of whole stacks */
};

/* The number of a string, escaped, or mended where names are to stay as they are. */
pfr_status pprof_string(struct exporting *e, const void *bytes, size_t length, uint32_t *number, pfr_error *err);

/* Mappings, locations and functions of all labels. */
pfr_status pprof_write_places(struct exporting *e, pfr_error *err);

/* Types of values, the moment, comments. */
pfr_status pprof_write_facts(struct exporting *e, pfr_error *err);

/* Ranks objects by what makes them one mapping. */
pfr_status pprof_name_objects(struct exporting *e, pfr_error *err);

/* What makes two frames one location, beside their names. */
void pprof_key_frame(const void *exporting, const struct profile_frame *frame, struct label_key *key);

#endif
