/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_QUALITY_H
#define PERFRAY_QUALITY_H
/*
 * The quality line: how complete and intact a recording is, as one line of key=value fields.
 *
 *     lost=0 lost_samples=0 lost_samples_bpf=0 throttled=2 unthrottled=2 truncated=0 holes=0 ...
 *
 * `perfray info` prints it, and scripts may parse it. The format is stable: every field is always present, the order
 * never changes, values are decimal (flags are 0 or 1), and new fields are only added at the end.
 *
 * PFR_QUALITY_FIELDS(F) is an X-macro that lists the fields. It expands to F(key, member, doc) for each field: `key` is
 * the name that is printed, `member` is the member of pfr_quality (reader.h), and `doc` is one sentence for people.
 * Integer members are uint64_t and flags are bool, so convert before printing.
 *
 * The counts are complete after pfr_next() returned PFR_END.
 *
 * Example, printing the line:
 *
 *     const pfr_quality *quality = pfr_get_quality(reader);
 *     #define F(key, member, doc) printf(" %s=%llu", key, (unsigned long long)quality->member);
 *     PFR_QUALITY_FIELDS(F)
 *     #undef F
 *
 * Nothing was lost or damaged, as far as the recording shows, if all fields except throttled, unthrottled and unknown
 * are 0. Throttling is no loss by itself: the kernel took fewer samples because an event came too often. Records of
 * unknown types are returned and copied as they are.
 *
 * The other fields, and what to do about them:
 *
 * - lost, lost_samples: the recorder was too slow. Record with larger ring buffers, or sample less often.
 * - unfinished, truncated, cut: the recorder was killed, or the file was cut. pfr_recover() (edit.h) writes a clean
 *   copy.
 * - holes: the callbacks named `hole` in the other headers get each range and its reason. pfr_verify() lists all
 *   damage.
 * - unknown_ids: an event is missing from the header; its samples cannot be decoded.
 * - lost_calls, recorder_full: pfr_get_trace_loss() (trace.h) has the reasons; record with more space or fewer
 *   functions.
 */
#include <perfray/reader.h>

/*
 * The fields in groups: losses that the kernel reports (lost ... unthrottled); damage (truncated ... hole_bytes); data
 * that this library or the recorder could not interpret (unknown ... aux_errors); a recording without a complete header
 * (unfinished); the holes by kind (bad_records ... bad_order, whose sum is holes); losses of perfray's own XRay
 * recorder (lost_calls, recorder_full).
 */
#define PFR_QUALITY_FIELDS(F)                                                                                          \
    F("lost", lost_records, "records that the kernel dropped (LOST records)")                                          \
    F("lost_samples", lost_samples, "samples that the kernel dropped (LOST_SAMPLES records)")                          \
    F("lost_samples_bpf", lost_samples_bpf, "samples that a BPF filter dropped")                                       \
    F("throttled", throttled, "times that an event was throttled")                                                     \
    F("unthrottled", unthrottled, "times that it was resumed")                                                         \
    F("truncated", truncated_bytes, "bytes of a truncated last record, or missing at the end")                         \
    F("holes", holes, "unreadable ranges")                                                                             \
    F("hole_bytes", hole_bytes, "bytes of the unreadable ranges")                                                      \
    F("unknown", unknown_records, "records of unknown types")                                                          \
    F("unknown_ids", unknown_ids, "samples that belong to no event")                                                   \
    F("aux_truncated", aux_truncated, "AUX records whose data was cut")                                                \
    F("aux_errors", auxtrace_errors, "ranges of AUX data that the recorder could not decode")                          \
    F("unfinished", not_finalised, "1: the recorder died before it could finish the file")                             \
    F("bad_records", bad_records, "holes that are one record whose body does not fit its type")                        \
    F("garbage", garbage, "holes between records")                                                                     \
    F("cut", cut, "holes where the end of a file is missing")                                                          \
    F("bad_compressed", bad_compressed, "holes that could not be decompressed")                                        \
    F("bad_header", bad_header, "the header has impossible sizes, offsets or counts")                                  \
    F("bad_order", bad_order, "records of a trace at a place where no writer puts them")                               \
    F("lost_calls", lost_calls, "enters, exits and events that the recorder of a trace dropped and counted")           \
    F("recorder_full", recorder_full, "1: the trace was full, and recording stopped")

#endif
