/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_FLAME_H
#define PERFRAY_FLAME_H
/*
 * A flame graph: all stacks of a recording in one picture, each function as wide as the samples that were in it or in
 * what it called. It is one SVG file that needs no other: pointed at, a function tells its name, object and share; a
 * click widens it; the search marks names and adds up their share.
 *
 * Consecutive frames without a symbol, of one object, are one box with their count. A thread of a trace has the name of
 * its program, where the trace contains it (perfray trace).
 *
 * Names are text in it and nothing else: they are escaped, and its script, which is always the same, takes no part of
 * the picture for anything but text.
 *
 * Example:
 *
 *     pfr_flame_options options = {.size = sizeof options, .title = "nightly", .path = "nightly.svg"};
 *     pfr_status st = pfr_flame(reader, &options, out, &err);
 */
#include <perfray/out.h>
#include <perfray/reader.h>
#include <perfray/selection.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pfr_flame_options {
    size_t size;             /* sizeof(pfr_flame_options) */
    const pfr_selection *of; /* NULL: everything */
    const char *path;        /* as of pfr_export_options; NULL: to `out` */
    const char *title;       /* NULL: "Flame graph" */
    const char *subject;     /* of whom it is: the name of the recording; NULL: nothing is said */
    uint32_t width;          /* pixels; 0: 1200, and as wide as the window where it is opened in a browser */
    double min_width;        /* pixels; what is narrower is left out, and counted in the picture; 0: 0.3 */
    bool upward;             /* callers below what they call; default: callers on top (an icicle graph) */
} pfr_flame_options;

/* As pfr_export. PFR_ERR_USAGE also for a width below 200 or above 100000. */
pfr_status pfr_flame(pfr_reader *reader, const pfr_flame_options *options, pfr_output *out, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif
