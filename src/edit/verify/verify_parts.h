/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EDIT_VERIFY_PARTS_H
#define PFR_EDIT_VERIFY_PARTS_H
/*
 * The parts of pfr_verify:
 *
 *    verify_rules.c     the table of rules
 *    verify.c           goes through the recording and passes each item to the rules of its stage
 *    verify_file.c      rules for the header, events and ids
 *    verify_features.c  rules for features, and whether they agree with events and records
 *    verify_records.c   rules for records of perf.data
 *    verify_traces.c    rules for records of XRay traces
 *
 * A rule examines the current item in struct verify and reports errors. layout_check (src/wire) finds errors inside one
 * layout, and the reader (src/file) finds unusable bytes; both are reported under the name of a rule.
 */
#include "base/tables/hashmap.h"
#include "file/read/recording.h"
#include "file/read/header_walk.h"
#include "file/xray/xray_calls.h"
#include "wire/layout_check.h"

#include <perfray/trace.h>
#include <perfray/verify.h>

/* When a rule is called. */
enum verify_stage {
    AT_HOLE,    /* unusable bytes; `which` is a hole_kind */
    AT_CHECK,   /* a finding of layout_check; `which` is a check_kind */
    AT_RECORD,  /* a record; `which` is its type, or ANY_TYPE: every record of perf.data */
    AT_FEATURE, /* a feature; `which` is its bit, or ANY_TYPE */
    AT_EVENT,   /* an event */
    AT_CALL,    /* a call of an XRay trace; `which` is a call_kind */
    AT_BUFFER,  /* the end of an XRay buffer */
    AT_END,     /* once, after all records */
    STAGES
};

#define ANY_TYPE UINT32_MAX

enum hole_kind { HOLE_HEADER, HOLE_RECORD, HOLE_GARBAGE, HOLE_CUT, HOLE_COMPRESSED, HOLE_ORDER };

enum call_kind { CALL_MADE, CALL_WITHOUT_ARGUMENT };

enum check_kind { CHECK_MISFIT, CHECK_NUL, CHECK_BEHIND, CHECK_ZEROS, CHECK_RESERVED, CHECK_PADDING };

struct verify;
struct rule;
typedef pfr_status rule_check(struct verify *v, const struct rule *rule, pfr_error *err);

struct rule {
    pfr_rule public;
    enum verify_stage stage;
    uint32_t which;
    rule_check *check;
};

#define RULES_MOST 96u
#define RECORDED_ID_MOST 20u /* the longest build-id that records hold */
extern const struct rule verify_rules[];
extern const uint32_t nr_verify_rules;

/* Facts about all events and records, for the rules at the end. */
struct verify_sums {
    uint64_t first, last;   /* times of samples; first > last: no samples */
    uint64_t compressed_at; /* offset of the first COMPRESSED record; UINT64_MAX: no such record */
};

/* The current buffer of an XRay trace. */
struct verify_buffer {
    uint64_t number, offset;
    uint64_t end; /* end of the buffer according to its extents; 0: unknown */
    bool has_cpu, has_records;
    uint64_t waits_from; /* offset of the enter record whose argument must follow; UINT64_MAX: none is expected */
};

struct verify {
    pfr_reader *reader;
    const pfr_verify_options *options;
    struct memory *memory;
    const struct rule *by_stage[STAGES][RULES_MOST]; /* each list ends with NULL */
    uint64_t found;                                  /* findings reported */

    /* the current items */
    const pfr_record *rec;
    const pfr_error *hole;
    enum hole_kind kind;
    const struct check_finding *odd;
    const char *odd_of; /* name of the layout or feature under layout_check */
    const pfr_feature *feature;
    const struct xray_call *call;
    const struct event *event;
    uint32_t event_index;

    /* facts collected so far */
    struct rounds rounds;
    uint32_t rounds_part;
    struct verify_sums sums;
    struct verify_buffer buffer;
    const pfr_trace_point *point; /* NULL: not an XRay trace */
    uint64_t *attr_places;        /* of a stream: offset of each HEADER_ATTR */
    size_t nr_attr_places, attr_room;
    struct u64_map index; /* offsets of AUXTRACE records according to the feature, with their sizes; the size is set to
                             0 when the record was read */
    bool has_index;
    uint32_t cpus; /* number of CPUs available; 0: unknown */
};

/* Reports a finding about these bytes. */
__attribute__((format(printf, 5, 6))) void verify_report(struct verify *v, const struct rule *rule, uint64_t offset,
                                                         uint64_t length, const char *format, ...);
/* Reports a finding about the current record. */
__attribute__((format(printf, 3, 4))) void verify_report_record(struct verify *v, const struct rule *rule,
                                                                const char *format, ...);
/* Calls the stage's rules whose `which` equals the argument or is ANY_TYPE. */
pfr_status verify_ask(struct verify *v, enum verify_stage stage, uint32_t which, pfr_error *err);
/* Calls only the stage's rules whose `which` equals the argument. */
pfr_status verify_ask_only(struct verify *v, enum verify_stage stage, uint32_t which, pfr_error *err);
/* Runs layout_check on the bytes and passes each finding to the rules of AT_CHECK. */
pfr_status verify_layout(struct verify *v, const struct layout *l, const struct pfr_context *c, pfr_bytes bytes,
                         uint64_t offset, const char *of, pfr_error *err);

/* Returns the offset of the attr of event `index` and sets *length to its length. In a stream, returns the size of the
 * file header if the record of the attr is not known. */
uint64_t verify_event_place(const struct verify *v, uint32_t index, uint64_t *length);

/* verify_features.c: reads, before the records, the features that later rules need. */
pfr_status verify_learn_features(struct verify *v, pfr_error *err);
pfr_status verify_all_features(struct verify *v, pfr_error *err);

/* Rules. */
rule_check report_hole, report_check;
rule_check not_finished, no_events, records_cut, event_bits, event_ids, events_agree, id_index_ids;
rule_check feature_slots, feature_outside, feature_shares, cpus_online, event_desc_fits, group_desc_fits,
    build_id_sizes, aux_index_missing, tracing_blob_reads, tracing_formats_there, sample_time_span, compressed_unsaid;
rule_check record_of_no_event, record_misc, record_words, record_type_unknown, record_late, sample_cpu, map_wraps,
    map2_wraps, map2_build_id, build_id_length, aux_indexed;
rule_check xray_no_cpu, xray_extents, xray_no_buffers, xray_wall_clock, xray_function_zero, xray_event_empty,
    xray_typed_empty, xray_argument_missing, xray_thread, xray_frequency, xray_lost, profile_path_empty;

/* verify_traces.c: checks the current record and the calls that follow it, and notes facts that later rules need. */
pfr_status verify_trace_record(struct verify *v, pfr_error *err);
pfr_status verify_trace_end(struct verify *v, pfr_error *err);

#endif
