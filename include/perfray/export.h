/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_EXPORT_H
#define PERFRAY_EXPORT_H
/*
 * A recording in the format of another tool.
 *
 *     folded   one line for each stack, `comm;outer;inner COUNT`, for flame graph tools. Functions without a name are
 *              called by their object, `[libc.so.6]`; `;` in names becomes `:`
 *     pprof    gzip of one message of profile.proto: each address is a location, with its object and build-id; labels
 *              pid, tid, cpu and comm; a value for the number of samples and one for each event
 *
 * Of a trace calls are counted, and each weighs the time that it took itself: see report.h. Outputs with one number for
 * a stack have that, unless selection.by_count is set.
 *
 * A stack of up to 4096 bytes is written whole. What longer ones have in excess is bounded (pfr_limits.trees); beyond
 * that a stack ends with a frame `[limit]`, which has its samples and weight, `hole` is told how many ("trees"), and
 * the status is PFR_HOLE.
 *
 * The recording is read more than once; a stream must have been opened with pfr_open_options.spool.
 *
 * Example:
 *
 *     pfr_export_options options = {.size = sizeof options, .format = "pprof", .path = "profile.pb.gz"};
 *     pfr_status st = pfr_export(reader, &options, out, &err);
 */
#include <perfray/out.h>
#include <perfray/reader.h>
#include <perfray/selection.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pfr_export_options {
    size_t size;             /* sizeof(pfr_export_options) */
    const char *format;      /* a name that pfr_export_format_at gives */
    const pfr_selection *of; /* NULL: everything */
    /* Written to this file, which is there whole or not at all, with mode 0600; what has the name is replaced if it is
       a regular file, and written into if it is a character device. NULL: to `out`. */
    const char *path;
    bool mark_kernel; /* folded: `_[k]` behind functions of the kernel */
} pfr_export_options;

typedef struct pfr_export_format {
    const char *name, *suffix, *about; /* "pprof", ".pb.gz", one line; static */
    bool binary;                       /* nothing for a terminal */
} pfr_export_format;

/* The formats that there are, by number from 0 on; NULL past the end. */
const pfr_export_format *pfr_export_format_at(size_t number);

/*
 * Reads the recording and writes. What is counted is held in the reader's memory, counts against its limit, and is
 * given back before the call returns. Names are escaped as pfr_output says, where `out` is not for raw ones. Equal
 * recordings give equal bytes, whatever the number of threads.
 *
 * A format that has one number for a stack takes the samples of all events together, and says so by `note`; their
 * periods are not added up: PFR_ERR_USAGE where by_period is set and several events have samples.
 *
 * PFR_OK; PFR_HOLE: written, but parts of the input could not be used; PFR_ERR_USAGE: an unknown format or event, a
 * filter that makes no sense, a path that is neither regular file nor character device, or a stream without spool;
 * PFR_ERR_IO: nothing is left of a file that could not be written; else as pfr_next.
 */
pfr_status pfr_export(pfr_reader *reader, const pfr_export_options *options, pfr_output *out, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif
