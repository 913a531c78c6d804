/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_EDIT_H
#define PERFRAY_EDIT_H
/*
 * Make a new recording from an existing one: the same content in another form (pfr_convert), or everything that is
 * intact (pfr_recover).
 *
 * perf.data: container, byte order, compression and attr size can be changed. XRay traces: version and byte order can
 * be changed, and flight recorder traces and basic logs can be converted into each other. PerfDataProto, the protocol
 * buffer of quipper (google/perf_data_converter), can be written and read.
 *
 * The output is written as described in writer.h: a file is complete or does not exist. FINISHED_ROUND records promise
 * an order of the other records, so they are written only if the records are in this order; perf can sort without them.
 *
 * XRay: events, times, threads, CPUs and buffers are kept. Time deltas, TSC wraps and buffer sizes are computed anew,
 * so a truncated buffer becomes valid again. Facts that a version cannot express are lost, and reported: typed events
 * before version 5, events in basic logs, process ids before version 3. A buffer without any time is omitted, because
 * readers reject it.
 *
 * The recording is read from its start, and possibly several times. A stream must be opened with
 * pfr_open_options.spool, and with keep_aux if it contains AUX data.
 *
 * Memory: everything is allocated from the reader's memory limit and released before the functions return.
 *
 * Threads: the functions use the calling thread, and the reader must not be used by others meanwhile.
 *
 * Example, converting to big-endian:
 *
 *     pfr_edit_counts counts;
 *     pfr_edit_options how = {.size = sizeof how, .path = "big-endian.data", .order = PFR_ORDER_BIG};
 *     pfr_status status = pfr_convert(reader, &how, &counts, &err);
 */
#include <perfray/reader.h>
#include <perfray/writer.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Compression of the output. */
typedef enum pfr_edit_compression {
    /* Copy COMPRESSED records. Where they cannot be copied, compress their content anew, as PFR_ZSTD_FRAMES. */
    PFR_EDIT_AS_IT_IS,
    /* No compression. */
    PFR_EDIT_PLAIN,
    /* PFR_ZSTD_FRAMES (writer.h). */
    PFR_EDIT_COMPRESS
} pfr_edit_compression;

/* Format and version of an XRay trace. */
typedef enum pfr_edit_trace {
    /* As the input; basic logs become version 3. */
    PFR_EDIT_TRACE_SAME,
    /* Flight recorder traces of these versions. */
    PFR_EDIT_TRACE_FDR_1,
    PFR_EDIT_TRACE_FDR_2,
    PFR_EDIT_TRACE_FDR_3,
    PFR_EDIT_TRACE_FDR_4,
    PFR_EDIT_TRACE_FDR_5,
    /* Basic log, version 3. */
    PFR_EDIT_TRACE_BASIC
} pfr_edit_trace;

/* Output as PerfDataProto. */
typedef enum pfr_edit_quipper {
    /* No: write a recording. */
    PFR_EDIT_NO_QUIPPER,
    /* Binary, and lossless: facts that quipper's messages cannot express are stored in additional fields, which
       quipper's readers skip. */
    PFR_EDIT_QUIPPER,
    /* protobuf's text format, with only quipper's messages; each loss is passed to `hole`. */
    PFR_EDIT_QUIPPER_TEXT
} pfr_edit_quipper;

/* Options of pfr_convert() and pfr_recover(). All pointers must remain valid while they run. */
typedef struct pfr_edit_options {
    /* sizeof(pfr_edit_options) */
    size_t size;
    /* File to write. "-" is standard output, a stream. Required. */
    const char *path;
    /* Write the container that the member `container` names. Default: the container of the input. */
    bool to_form;
    pfr_container container;
    /* Byte order. PFR_ORDER_HOST: the byte order of the input. */
    pfr_order order;
    pfr_edit_compression compression;
    /* zstd level. 0: 1. */
    int level;
    /* Bytes of every attr. 0: as the input. A size that omits fields which decide how samples are decoded is
       PFR_ERR_USAGE. A size of 128 or less is meant for perf up to 6.2: FINISHED_INIT records are then omitted, because
       perf before 6.0 stops at them. */
    uint32_t attr_size;
    /* Called once for each part of the input that could not be copied. May be NULL. */
    void (*hole)(void *context, const pfr_error *hole);
    /* First argument of `hole`. */
    void *context;
    /* Output format of an XRay trace. For XRay traces, container, compression and attr_size must have their
       defaults. */
    pfr_edit_trace trace;
    /* pfr_convert() only: write a PerfDataProto. Then only `path` and `hole` of the members above are used. */
    pfr_edit_quipper quipper;
    /* PerfDataProto: keep the records in file order. Default: timestamp order, as quipper writes them. */
    bool file_order;
    /* PerfDataProto: set bit 63 of sample addresses outside of all mappings, as older versions of quipper did. */
    bool quipper_marks;
    /* PerfDataProto: fields to omit, comma-separated, by name, or as "field.name" within the message of a field. With
       PFR_EDIT_QUIPPER their facts are kept in the additional fields. NULL: omit nothing. */
    const char *quipper_without;
} pfr_edit_options;

/* Filled by pfr_convert() and pfr_recover(). */
typedef struct pfr_edit_counts {
    /* Number of records written, not counting COMPRESSED records; number of samples among these records. */
    uint64_t records, samples;
    /* Number of ranges and records that could not be copied; number of their bytes. */
    uint64_t lost;
    uint64_t lost_bytes;
} pfr_edit_counts;

/*
 * pfr_convert - read the recording from its start and write it in the form that `options` describes. `counts` may be
 * NULL.
 *
 * Returns PFR_OK, or:
 * - PFR_HOLE if the output is complete except for parts of the input that could not be copied, each passed to `hole`
 * - PFR_ERR_USAGE for an XRay profile, a stream without `spool`, an attr_size that is too small, an option that does
 *   not apply to this kind of recording, or a path that cannot be replaced (writer.h)
 * - PFR_ERR_IO or PFR_ERR_PERMISSION if writing failed; there is then no new file at `path`
 * - otherwise an error of pfr_next()
 */
pfr_status pfr_convert(pfr_reader *reader, const pfr_edit_options *options, pfr_edit_counts *counts, pfr_error *err);

/*
 * pfr_recover - as pfr_convert(), and repair a damaged or truncated recording.
 *
 * Missing facts are restored where records or other features contain them: names and ids of events, the time span of
 * the samples, the flag of branch stacks, the index of AUX data, formats of tracepoints (their ids only). Samples that
 * belong to no event, and damaged features, are omitted. COMPRESSED records become independent zstd frames.
 */
pfr_status pfr_recover(pfr_reader *reader, const pfr_edit_options *options, pfr_edit_counts *counts, pfr_error *err);

/* pfr_is_quipper - whether a regular file begins like a PerfDataProto, in binary or text, compressed or not. Returns
   false also if the file cannot be read. */
bool pfr_is_quipper(const char *path);

/*
 * pfr_open_any - as pfr_open() (reader.h), and also open a PerfDataProto, in binary or text, compressed or not.
 *
 * A PerfDataProto is converted to a perf.data recording in an unnamed temporary file, which is then read. `hole` is
 * called for each of its parts that could not be used, with the offset in the PerfDataProto; `hole` may be NULL.
 * `context` is the first argument of `hole`.
 */
pfr_reader *pfr_open_any(const char *path, const pfr_open_options *options,
                         void (*hole)(void *context, const pfr_error *hole), void *context, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif
