/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_PPROF_H
#define PFR_EXPORT_PPROF_H
/*
 * Writes one message Profile of profile.proto (github.com/google/pprof/proto) as gzip. Samples are written by pprof.c;
 * locations, functions and mappings by pprof_locations.c; facts about the recording by pprof_facts.c. Fields of a
 * message may come in any order, and repeated fields need not be contiguous, so everything is written as soon as it is
 * known. Strings are numbered during this and written last.
 */
#include "base/io/gzip_output.h"
#include "base/text/proto.h"
#include "export/sink.h"

/* Field numbers. */
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
    struct output *out;          /* receives the message */
    struct output part, inner;   /* for nested messages */
    struct intern_table strings; /* string 0 is "" */
    struct intern_table functions;
    struct pprof_function {
        uint32_t text, mangled, mapping, id; /* id 0: no function yet */
    } last;
    uint32_t *value_of, nr_values; /* by event: index of its weight in the values of a sample; 0: no weight */
    uint32_t nr_events, newest_event;
    uint32_t *location_of; /* by label */
    uint32_t nr_labels;
    uint8_t *path, *path_end; /* location ids of the current node, innermost first, up to path_end */
    size_t *path_length;      /* by depth */
    uint32_t levels;
    struct output labels; /* labels of the current group */
    uint32_t event;
    struct output group_labels; /* labels of the groups of profile->stacks, concatenated */
    struct pprof_group {
        size_t begin, end; /* range in group_labels; end 0: not written yet */
    } * groups;            /* by group number */
    struct pprof_location {
        uint8_t bytes[7], length; /* encoded id */
    } * location;                 /* by frame, for profile->stacks */
};

/* Stores the number of a string in *number. The string is escaped; with raw names, it is made valid UTF-8 instead. */
pfr_status pprof_string(struct exporting *e, const void *bytes, size_t length, uint32_t *number, pfr_error *err);

/* Writes mappings, locations and functions for all labels. */
pfr_status pprof_write_places(struct exporting *e, pfr_error *err);

/* Writes value types, time and comments. */
pfr_status pprof_write_facts(struct exporting *e, pfr_error *err);

/* Ranks objects by the properties that distinguish mappings. */
pfr_status pprof_name_objects(struct exporting *e, pfr_error *err);

/* Fills *key with what distinguishes locations of the same name: object and address. */
void pprof_key_frame(const void *exporting, const struct profile_frame *frame, struct label_key *key);

#endif
