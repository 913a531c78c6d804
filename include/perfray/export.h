/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_EXPORT_H
#define PERFRAY_EXPORT_H
/*
 * pfr_export - write the stacks of a recording in the format of another tool.
 *
 *     folded   One line per distinct stack, "comm;outermost;...;innermost COUNT", as flame graph tools read it. A
 *              function without a symbol is written as its object, "[libc.so.6]". A ";" in a name becomes ":".
 *     pprof    The message Profile of pprof's profile.proto, compressed by gzip. Each address is a location with its
 *              object and build-id. Samples have the labels pid, tid, cpu and comm, and one value for the number of
 *              samples and one per event.
 *
 * XRay traces: calls are exported, and the weight of a call is its self time (report.h). Formats with one number per
 * stack write this weight, or the number of calls if selection.by_count is set.
 *
 * Size: a stack whose line has at most 4096 bytes is always written completely. pfr_limits.trees bounds the total size
 * of the parts of longer lines beyond 4096 bytes. When this limit is reached, a longer stack is cut and ends with a
 * frame [limit], which has the samples and weight of the stack. `hole` is then called with where == "trees", and the
 * result is PFR_HOLE.
 *
 * The recording is read more than once. A stream must be opened with pfr_open_options.spool.
 *
 * Memory: everything is allocated from the reader's memory limit and released before the function returns.
 *
 * Threads: uses options->of->jobs threads. The output is the same for every number. The reader must not be used by
 * others meanwhile.
 *
 * Example:
 *
 *     pfr_export_options options = {.size = sizeof options, .format = "pprof", .path = "profile.pb.gz"};
 *     pfr_status status = pfr_export(reader, &options, out, &err);
 */
#include <perfray/out.h>
#include <perfray/reader.h>
#include <perfray/selection.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All pointers must remain valid while pfr_export() runs. */
typedef struct pfr_export_options {
    /* sizeof(pfr_export_options) */
    size_t size;
    /* The `name` of a format of pfr_export_format_at(). Required. */
    const char *format;
    /* Samples to export, and callbacks for holes and notes. NULL: all samples. */
    const pfr_selection *of;
    /*
     * File to write, with mode 0600. A regular file of this name is replaced only after the new one is complete; a
     * symbolic link is refused. A character device is written to directly. NULL: write to `out`. The file is compressed
     * if its name ends in ".gz" or ".zst", unless the format itself is compressed.
     */
    const char *path;
    /* folded: append "_[k]" to functions of the kernel, as flame graph tools expect for colouring. */
    bool mark_kernel;
    /* Options of the format, "NAME" or "NAME=VALUE"; the list ends with NULL. The manual lists them. NULL: none. */
    const char *const *settings;
    /*
     * A second file of the same run: an XRay trace if the reader reads a perf.data recording, or the reverse. The
     * output then has both samples and calls. The format must have holds_both, and both files must use CLOCK_MONOTONIC.
     * NULL: no second file.
     */
    pfr_reader *beside;
} pfr_export_options;

/* A supported format. All strings are static. */
typedef struct pfr_export_format {
    /* Name, for example "pprof"; usual end of file names, for example ".pb.gz"; description in one line. */
    const char *name, *suffix, *about;
    /* The output is binary: do not print it on a terminal. */
    bool binary;
    /* pfr_export_options.path is required and is a folder, made if it does not exist. */
    bool folder;
    /* Programs that read the format; important facts of a recording that the format cannot hold, or "". */
    const char *reader, *losses;
    /* One output can have both the samples of a recording and the calls of a trace; see pfr_export_options.beside. */
    bool holds_both;
} pfr_export_format;

/* pfr_export_format_at - the supported formats, for `number` from 0; NULL after the last one. */
const pfr_export_format *pfr_export_format_at(size_t number);

/*
 * pfr_export_format_of - the format whose suffix is at the end of a file name, not counting ".gz" or ".zst". NULL: no
 * format matches.
 *
 * "out.trace.json.gz" has the format chrome. A name that begins with "callgrind." has the format callgrind.
 */
const pfr_export_format *pfr_export_format_of(const char *path);

/*
 * pfr_export - read the recording and write it in the format of options->format.
 *
 * Names from the recording are escaped (pfr_escape in out.h), unless pfr_output_raw_names() was called on `out`; such a
 * call also applies to the file options->path. Equal recordings give equal bytes.
 *
 * A format with one number per stack writes the sum of the samples of all events, and this is reported to `note`.
 * Periods of different events cannot be added: PFR_ERR_USAGE if by_period is set and several events have samples.
 *
 * Returns PFR_OK, or:
 * - PFR_HOLE if the output is complete except for unreadable ranges or limits, each passed to `hole`
 * - PFR_ERR_USAGE for an unknown format or event, an invalid condition, a path that is neither a regular file nor a
 *   character device, instrumentation maps for perf.data, a stream without `spool`; or with `beside`, a format without
 *   holds_both, two recordings, two traces, or different clocks
 * - PFR_ERR_IO or PFR_ERR_PERMISSION if options->path cannot be written; an existing file of that name is unchanged
 *   then
 * - otherwise an error of pfr_next()
 */
pfr_status pfr_export(pfr_reader *reader, const pfr_export_options *options, pfr_output *out, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif
