/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_QUALITY_H
#define PERFRAY_QUALITY_H
/*
 * The quality line: one line of key=value fields, always all of them, always in this order, values decimal. New fields
 * are only added at the end. `info` prints it, others may put it on stderr; scripts read it.
 *
 * PFR_QUALITY_FIELDS(F) expands F(key, member of pfr_quality, doc) once for each field:
 *
 *     #define F(key, member, doc) printf(" %s=%llu", key, (unsigned long long)quality->member);
 *     PFR_QUALITY_FIELDS(F)
 *     #undef F
 */
#include <perfray/reader.h>

#define PFR_QUALITY_FIELDS(F)                                                                                          \
    F("lost", lost_records, "records that the kernel dropped, as LOST tells")                                          \
    F("lost_samples", lost_samples, "samples that the kernel dropped, as LOST_SAMPLES tells")                          \
    F("lost_samples_bpf", lost_samples_bpf, "samples that a BPF filter dropped")                                       \
    F("throttled", throttled, "times that an event was throttled")                                                     \
    F("unthrottled", unthrottled, "times that it went on")                                                             \
    F("truncated", truncated_bytes, "bytes of the last record, or missing at the end")                                 \
    F("holes", holes, "stretches that could not be used")                                                              \
    F("hole_bytes", hole_bytes, "bytes in them")                                                                       \
    F("unknown", unknown_records, "records of types that no table knows")                                              \
    F("unknown_ids", unknown_ids, "samples that belong to no event")                                                   \
    F("aux_truncated", aux_truncated, "AUX records whose data was cut")                                                \
    F("aux_errors", auxtrace_errors, "stretches of AUX data that its recorder could not decode")                       \
    F("unfinished", not_finalised, "1: the recorder died before it could finish the file")                             \
    F("bad_records", bad_records, "holes that are one record whose body does not hold what its type says")             \
    F("garbage", garbage, "holes between records")                                                                     \
    F("cut", cut, "holes where the end of a file is missing")                                                          \
    F("bad_compressed", bad_compressed, "holes that could not be decompressed")                                        \
    F("bad_header", bad_header, "numbers of the header, or like it, that cannot be right")                             \
    F("bad_order", bad_order, "records of a trace where no writer puts them")                                          \
    F("lost_calls", lost_calls, "enters, exits and events that the recorder of a trace dropped, as it counted them")   \
    F("recorder_full", recorder_full, "1: the room of a trace was used up, and its recorder stopped")

#endif
