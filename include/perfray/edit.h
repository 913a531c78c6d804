/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_EDIT_H
#define PERFRAY_EDIT_H
/*
 * A recording into another one: all of it in another form (pfr_convert), or all of it that is intact (pfr_recover).
 *
 * What is written is a file that is there whole or not at all (writer.h), never out of order against its own
 * FINISHED_ROUND records: where the input's are not kept, none are written, and perf sorts by itself.
 *
 * A trace of XRay becomes one in another version or byte order: what happened, when, in which thread and on which cpu
 * is kept, and the buffers; deltas, wraps and extents are made anew, so that a buffer that was cut is whole again. What
 * a version has no words for is lost, and told: typed events before version 5, events in basic logs, the process before
 * version 3. A buffer in which nothing has a time is left out, as its readers refuse it.
 *
 * Example:
 *
 *     pfr_edit_options how = {.size = sizeof how, .path = "big-endian.data", .order = PFR_ORDER_BIG};
 *     pfr_status st = pfr_convert(reader, &how, &counts, &err);
 */
#include <perfray/reader.h>
#include <perfray/writer.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pfr_edit_compression {
    PFR_EDIT_AS_IT_IS, /* COMPRESSED records are taken over; made anew, as frames, where that cannot be */
    PFR_EDIT_PLAIN,
    PFR_EDIT_COMPRESS /* PFR_ZSTD_FRAMES */
} pfr_edit_compression;

/* The form of a trace. */
typedef enum pfr_edit_trace {
    PFR_EDIT_TRACE_SAME, /* a basic log becomes one of version 3 */
    PFR_EDIT_TRACE_FDR_1,
    PFR_EDIT_TRACE_FDR_2,
    PFR_EDIT_TRACE_FDR_3,
    PFR_EDIT_TRACE_FDR_4,
    PFR_EDIT_TRACE_FDR_5,
    PFR_EDIT_TRACE_BASIC /* version 3 */
} pfr_edit_trace;

/* A recording becomes a PerfDataProto, the protocol buffer of quipper (google/perf_data_converter). */
typedef enum pfr_edit_quipper {
    PFR_EDIT_NO_QUIPPER,
    PFR_EDIT_QUIPPER,     /* all of the recording: what its messages cannot say, too, in fields its readers pass over */
    PFR_EDIT_QUIPPER_TEXT /* protobuf's text, of what quipper's messages say alone; what is missing is told */
} pfr_edit_quipper;

typedef struct pfr_edit_options {
    size_t size;      /* sizeof(pfr_edit_options) */
    const char *path; /* "-": standard output, a stream */
    bool to_form;     /* into the container below; else into what the input is */
    pfr_container container;
    pfr_order order; /* PFR_ORDER_HOST: as it is */
    pfr_edit_compression compression;
    int level;          /* of zstd; 0: 1 */
    uint32_t attr_size; /* 0: as they are */
    /* What of the input could not be taken over, each place once; may be NULL. */
    void (*hole)(void *context, const pfr_error *hole);
    void *context;            /* of hole */
    pfr_edit_trace trace;     /* of a trace, for which container, compression and attr_size must be left as they are */
    pfr_edit_quipper quipper; /* by pfr_convert alone, for which all of the above but path and hole is not used */
    bool file_order;          /* of its records; else that of time, as quipper's */
    bool quipper_marks; /* addresses of samples that are in no mapping get bit 63, as from older versions of quipper */
    /* Fields of quipper's that are left out, with commas between: by name, or as `field.name` those of the message that
       is in a field; NULL: none. What they say is among what the messages do not. */
    const char *quipper_without;
} pfr_edit_options;

typedef struct pfr_edit_counts {
    uint64_t records, samples; /* written, COMPRESSED ones not counted */
    uint64_t lost;             /* stretches and records that could not be taken over */
    uint64_t lost_bytes;
} pfr_edit_counts;

/*
 * Reads the recording from its start and writes it. PFR_OK; PFR_HOLE: written, but parts of the input could not be
 * taken over; PFR_ERR_USAGE: a profile of XRay, a stream that was not kept (pfr_open_options.spool), an attr size below
 * what tells how samples are read, a path that cannot be written; PFR_ERR_IO: nothing is left under the name; else as
 * pfr_next. `counts` may be NULL. AUX data of streams are taken over where the reader keeps them (keep_aux).
 */
pfr_status pfr_convert(pfr_reader *reader, const pfr_edit_options *options, pfr_edit_counts *counts, pfr_error *err);

/*
 * The same, and what is missing is made anew where records or other features tell it: names and ids of events, the span
 * of the samples, the flag of branch stacks, the index of AUX data, formats of tracepoints (with nothing but their
 * numbers). Samples of no event are left out, and features that do not hold what they say. Compressed records become
 * independent frames.
 */
pfr_status pfr_recover(pfr_reader *reader, const pfr_edit_options *options, pfr_edit_counts *counts, pfr_error *err);

/* Whether a regular file begins as a PerfDataProto does, in bytes or in text, compressed or not. */
bool pfr_is_quipper(const char *path);

/*
 * As pfr_open, but a PerfDataProto, too, from whatever pfr_open reads: as the recording that it tells, made in a
 * temporary file without a name. `hole` (may be NULL) is told what of it could not be used, with its place in the
 * PerfDataProto.
 */
pfr_reader *pfr_open_any(const char *path, const pfr_open_options *options,
                         void (*hole)(void *context, const pfr_error *hole), void *context, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif
