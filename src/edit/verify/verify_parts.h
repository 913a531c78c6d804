/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EDIT_VERIFY_PARTS_H
#define PFR_EDIT_VERIFY_PARTS_H
/*
 * What pfr_verify is made of:
 *
 *     verify_rules.c     the table of rules
 *     verify.c           one walk over the recording, which hands each thing to the rules of its stage
 *     verify_file.c      rules of the header, events and ids
 *     verify_features.c  rules of features, and of features against events and records
 *     verify_records.c   rules of records of perf.data
 *     verify_traces.c    rules of records of XRay traces
 *
 * A rule looks at what is at hand in struct verify and tells what is wrong. What one layout can tell by itself is
 * layout_check's (src/wire), what bytes cannot be used is the reader's (src/file): both arrive here as findings that
 * a rule gives its name to.
 */
#include "base/tables/hashmap.h"
#include "file/read/recording.h"
#include "file/read/header_walk.h"
#include "file/xray/xray_calls.h"
#include "wire/layout_check.h"

#include <perfray/trace.h>
#include <perfray/verify.h>

/* When a rule is asked. */
enum verify_stage {
    AT_HOLE,    /* bytes that the reader could not use; `which` is a hole_kind */
    AT_CHECK,   /* what layout_check found; `which` is a check_kind */
    AT_RECORD,  /* a record; `which` is its type, or ANY_TYPE: of all of perf.data */
    AT_FEATURE, /* a feature; `which` is its bit, or ANY_TYPE */
    AT_EVENT,   /* an event */
    AT_CALL,    /* a call of a trace; `which` is a call_kind */
    AT_BUFFER,  /* the end of a trace's buffer */
    AT_END,     /* once, when all records were seen */
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
#define RECORDED_ID_MOST 20u /* bytes that records have for a build-id */
extern const struct rule verify_rules[];
extern const uint32_t nr_verify_rules;

/* What is known of the events and records as a whole, for rules at the end. */
struct verify_sums {
    uint64_t first, last;   /* times of samples; first > last: none */
    uint64_t compressed_at; /* of the first COMPRESSED record; UINT64_MAX: none */
};

/* The buffer of a trace at hand. */
struct verify_buffer {
    uint64_t number, offset;
    uint64_t end; /* as its extents say; 0: they do not */
    bool has_cpu, has_records;
    uint64_t waits_from; /* of the call that waits for its argument; UINT64_MAX: none */
};

struct verify {
    pfr_reader *reader;
    const pfr_verify_options *options;
    struct memory *memory;
    const struct rule *by_stage[STAGES][RULES_MOST]; /* each ends with NULL */
    uint64_t found;                                  /* that were told */

    /* what is at hand */
    const pfr_record *rec;
    const pfr_error *hole;
    enum hole_kind kind;
    const struct check_finding *odd;
    const char *odd_of; /* name of the layout or feature that layout_check looks at */
    const pfr_feature *feature;
    const struct trace_call *call;
    const struct event *event;
    uint32_t event_index;

    /* what was seen */
    struct rounds rounds;
    uint32_t rounds_part;
    struct verify_sums sums;
    struct verify_buffer buffer;
    const pfr_trace_point *point; /* NULL: no trace */
    uint64_t *attr_places;        /* of a stream: where each HEADER_ATTR stands */
    size_t nr_attr_places, attr_room;
    struct u64_map index; /* places of AUXTRACE records, by the feature; value: bytes, 0 once the record was seen */
    bool has_index;
    uint32_t cpus; /* available ones, 0: not known */
};

/* Tells a finding about these bytes. */
__attribute__((format(printf, 5, 6))) void verify_tell(struct verify *v, const struct rule *rule, uint64_t offset,
                                                       uint64_t length, const char *format, ...);
/* The same about the record at hand. */
__attribute__((format(printf, 3, 4))) void verify_tell_record(struct verify *v, const struct rule *rule,
                                                              const char *format, ...);
/* Asks all rules of a stage whose `which` is this or ANY_TYPE. */
pfr_status verify_ask(struct verify *v, enum verify_stage stage, uint32_t which, pfr_error *err);
/* The same for rules whose `which` is this alone. */
pfr_status verify_ask_only(struct verify *v, enum verify_stage stage, uint32_t which, pfr_error *err);
/* layout_check on bytes, each finding to the rules of AT_CHECK. */
pfr_status verify_layout(struct verify *v, const struct layout *l, const struct pfr_context *c, pfr_bytes bytes,
                         uint64_t offset, const char *of, pfr_error *err);

/* Where event `index` is said, as far as is known. */
uint64_t verify_event_place(const struct verify *v, uint32_t index, uint64_t *length);

/* verify_features.c: what later rules ask for is read before the records. */
pfr_status verify_learn_features(struct verify *v, pfr_error *err);
pfr_status verify_all_features(struct verify *v, pfr_error *err);

/* Rules. */
rule_check hole_told, check_told;
rule_check not_finished, no_events, records_cut, event_bits, event_ids, events_agree, id_index_ids;
rule_check feature_slots, feature_outside, feature_shares, cpus_online, event_desc_fits, group_desc_fits,
    build_id_sizes, aux_index_missing, tracing_blob_reads, tracing_formats_there, sample_time_span, compressed_unsaid;
rule_check record_of_no_event, record_misc, record_words, record_type_unknown, record_late, sample_cpu, map_wraps,
    map2_wraps, map2_build_id, build_id_length, aux_indexed;
rule_check trace_no_cpu, trace_extents, trace_no_buffers, trace_wall_clock, trace_function_zero, trace_event_empty,
    trace_typed_empty, trace_argument_missing, trace_thread, trace_frequency, trace_lost, profile_path_empty;

/* verify_traces.c: what the record at hand means for those that follow; and calls that follow it at once. */
pfr_status verify_trace_record(struct verify *v, pfr_error *err);
pfr_status verify_trace_end(struct verify *v, pfr_error *err);

#endif
