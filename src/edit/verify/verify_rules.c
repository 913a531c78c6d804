/* SPDX-License-Identifier: Apache-2.0 */
/* The table of rules. Names are stable; new rules may be added anywhere. */
#include "edit/verify/verify_parts.h"

#define RULE(name, severity, stage, which, check, about)                                                               \
    { {name, severity, about}, stage, which, check }

const struct rule verify_rules[] = {
    /* Bytes that the reader cannot use. */
    RULE("header", PFR_ERROR, AT_HOLE, HOLE_HEADER, report_hole, "the header has impossible sizes, offsets or counts"),
    RULE("record-body", PFR_ERROR, AT_HOLE, HOLE_RECORD, report_hole, "a record does not fit the layout of its type"),
    RULE("garbage", PFR_ERROR, AT_HOLE, HOLE_GARBAGE, report_hole, "bytes among the records are not a record"),
    RULE("cut", PFR_ERROR, AT_HOLE, HOLE_CUT, report_hole, "the end is missing"),
    RULE("compressed", PFR_ERROR, AT_HOLE, HOLE_COMPRESSED, report_hole,
         "compressed data cannot be decompressed, or their checksum is wrong"),
    RULE("record-order", PFR_ERROR, AT_HOLE, HOLE_ORDER, report_hole,
         "a trace record is at a place where its type is not allowed"),

    /* Errors inside one layout. */
    RULE("feature-body", PFR_ERROR, AT_CHECK, CHECK_MISFIT, report_check, "a feature does not fit its layout"),
    RULE("text-end", PFR_WARNING, AT_CHECK, CHECK_NUL, report_check,
         "a string fills its field and has no terminating NUL"),
    RULE("bytes-behind", PFR_WARNING, AT_CHECK, CHECK_BEHIND, report_check, "there are bytes after the last field"),
    RULE("zeros-behind", PFR_NOTE, AT_CHECK, CHECK_ZEROS, report_check,
         "there are eight or more zero bytes after the last field"),
    RULE("reserved", PFR_NOTE, AT_CHECK, CHECK_RESERVED, report_check, "reserved bytes or bits are set"),
    RULE("padding", PFR_NOTE, AT_CHECK, CHECK_PADDING, report_check, "padding is not zero"),

    /* Records of perf.data. */
    RULE("record-type", PFR_NOTE, AT_RECORD, ANY_TYPE, record_type_unknown, "a record has an unknown type"),
    RULE("record-misc", PFR_WARNING, AT_RECORD, ANY_TYPE, record_misc,
         "bits 3 to 11 of a kernel record's misc are set"),
    RULE("record-words", PFR_WARNING, AT_RECORD, ANY_TYPE, record_words,
         "a kernel record's size is not a multiple of 8"),
    RULE("record-event", PFR_ERROR, AT_RECORD, PFR_RECORD_SAMPLE, record_of_no_event, "a sample belongs to no event"),
    RULE("record-late", PFR_WARNING, AT_RECORD, ANY_TYPE, record_late,
         "a record is older than an earlier FINISHED_ROUND record allows"),
    RULE("sample-cpu", PFR_WARNING, AT_RECORD, PFR_RECORD_SAMPLE, sample_cpu,
         "a sample's CPU is beyond the number of CPUs"),
    RULE("map-range", PFR_ERROR, AT_RECORD, 1, map_wraps,
         "a mapping (MMAP) extends beyond the end of the address space"),
    RULE("map2-range", PFR_ERROR, AT_RECORD, 10, map2_wraps,
         "a mapping (MMAP2) extends beyond the end of the address space"),
    RULE("map-build-id", PFR_ERROR, AT_RECORD, 10, map2_build_id, "the build-id of a map has more than 20 bytes"),
    RULE("record-build-id", PFR_ERROR, AT_RECORD, 67, build_id_length, "a HEADER_BUILD_ID has more than 20 bytes"),
    RULE("id-index", PFR_WARNING, AT_RECORD, 69, id_index_ids, "ID_INDEX names an id that no event has"),
    RULE("aux-index", PFR_ERROR, AT_RECORD, 71, aux_indexed,
         "an AUXTRACE record is missing in the AUXTRACE index, or differs from it"),

    /* Events. */
    RULE("event-bits", PFR_WARNING, AT_EVENT, ANY_TYPE, event_bits, "an event's sample_type has unknown bits"),
    RULE("event-ids", PFR_ERROR, AT_EVENT, ANY_TYPE, event_ids,
         "two events share an id, or one of several events has no id"),
    RULE("event-mixed", PFR_ERROR, AT_EVENT, ANY_TYPE, events_agree,
         "events differ in the position of ids, or in sample_id_all"),

    /* Features, and their claims about other parts. */
    RULE("feature-outside", PFR_ERROR, AT_FEATURE, ANY_TYPE, feature_outside, "a feature is outside the file"),
    RULE("feature-shares", PFR_WARNING, AT_FEATURE, ANY_TYPE, feature_shares,
         "a feature overlaps another one, or the records"),
    RULE("tracing-data", PFR_ERROR, AT_FEATURE, 1, tracing_blob_reads, "the tracepoint formats cannot be read"),
    RULE("tracing-format", PFR_WARNING, AT_FEATURE, 1, tracing_formats_there, "an event's tracepoint has no format"),
    RULE("build-id", PFR_ERROR, AT_FEATURE, 2, build_id_sizes, "an entry of BUILD_ID has more than 20 bytes"),
    RULE("cpus", PFR_WARNING, AT_FEATURE, 7, cpus_online, "more CPUs are online than exist"),
    RULE("event-desc", PFR_WARNING, AT_FEATURE, 12, event_desc_fits, "EVENT_DESC describes other events"),
    RULE("group-desc", PFR_WARNING, AT_FEATURE, 17, group_desc_fits, "a group has members that are not events"),
    RULE("sample-time", PFR_WARNING, AT_FEATURE, 21, sample_time_span,
         "samples are outside the time span of SAMPLE_TIME"),

    /* The recording as a whole. */
    RULE("unfinished", PFR_ERROR, AT_END, ANY_TYPE, not_finished, "the recorder died before it could finish the file"),
    RULE("event-none", PFR_ERROR, AT_END, ANY_TYPE, no_events, "there are no events"),
    RULE("records-cut", PFR_ERROR, AT_END, ANY_TYPE, records_cut, "the file ends before its records do"),
    RULE("feature-table", PFR_ERROR, AT_END, ANY_TYPE, feature_slots, "the feature table is truncated"),
    RULE("aux-index-lost", PFR_ERROR, AT_END, ANY_TYPE, aux_index_missing,
         "the AUXTRACE index points to something that is not an AUXTRACE record"),
    RULE("compressed-unsaid", PFR_WARNING, AT_END, ANY_TYPE, compressed_unsaid,
         "records are compressed, but the feature COMPRESSED is missing"),

    /* XRay traces. */
    RULE("trace-thread", PFR_WARNING, AT_RECORD, PFR_TRACE_NEW_BUFFER, xray_thread,
         "a buffer's thread id is 0, or negative because gettid(2) was refused"),
    RULE("trace-wall-clock", PFR_WARNING, AT_RECORD, PFR_TRACE_WALL_CLOCK_TIME, xray_wall_clock,
         "a wall clock's microseconds are negative, or a million or more"),
    RULE("trace-function", PFR_WARNING, AT_CALL, CALL_MADE, xray_function_zero,
         "a call's function id is 0 or negative"),
    RULE("trace-custom-event", PFR_WARNING, AT_RECORD, PFR_TRACE_CUSTOM_EVENT, xray_event_empty,
         "a custom event without bytes, which llvm-xray refuses"),
    RULE("trace-typed-event", PFR_WARNING, AT_RECORD, PFR_TRACE_TYPED_EVENT, xray_typed_empty,
         "a typed event without bytes, which llvm-xray refuses"),
    RULE("trace-profile-path", PFR_WARNING, AT_RECORD, PFR_TRACE_PROFILE_PATH, profile_path_empty,
         "a profile has an empty call path"),
    RULE("trace-argument", PFR_WARNING, AT_CALL, CALL_WITHOUT_ARGUMENT, xray_argument_missing,
         "an entry that announces an argument is not followed by one"),
    RULE("trace-extents", PFR_ERROR, AT_BUFFER, 0, xray_extents, "a buffer is shorter than its BufferExtents says"),
    RULE("trace-cpu", PFR_WARNING, AT_BUFFER, 0, xray_no_cpu, "a buffer without NewCPUId, which llvm-xray refuses"),
    RULE("trace-empty", PFR_WARNING, AT_END, ANY_TYPE, xray_no_buffers, "a trace without records"),
    RULE("trace-lost", PFR_NOTE, AT_END, ANY_TYPE, xray_lost,
         "the recorder dropped calls or events, or the trace was full"),
    RULE("trace-frequency", PFR_NOTE, AT_END, ANY_TYPE, xray_frequency, "the clock's frequency is not recorded"),
};

const uint32_t nr_verify_rules = sizeof verify_rules / sizeof *verify_rules;
