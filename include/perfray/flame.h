/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_FLAME_H
#define PERFRAY_FLAME_H
/*
 * pfr_flame - draw a flame graph: all stacks of a recording as one SVG image.
 *
 * The width of a function is its share of the samples, including its callees. The file is self-contained. In a browser,
 * pointing at a function shows its name, object and share; a click zooms in; a search highlights matching names and
 * adds up their share.
 *
 * Consecutive frames without symbols in the same object are drawn as one box, which shows their number. Threads of an
 * XRay trace are labelled with the name of their program, if the trace contains it (`perfray trace`).
 *
 * Names from the recording are escaped and are only text in the image: a recording cannot add scripts or markup to it.
 *
 * XRay traces, size limits, memory and threads: as pfr_export() (export.h). Boxes beyond the size limit are left out,
 * and `hole` is called with where == "trees".
 *
 * The recording is read more than once. A stream must be opened with pfr_open_options.spool.
 *
 * Example:
 *
 *     pfr_flame_options options = {.size = sizeof options, .title = "nightly", .path = "nightly.svg"};
 *     pfr_status status = pfr_flame(reader, &options, out, &err);
 */
#include <perfray/out.h>
#include <perfray/reader.h>
#include <perfray/selection.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All pointers must remain valid while pfr_flame() runs. */
typedef struct pfr_flame_options {
    /* sizeof(pfr_flame_options) */
    size_t size;
    /* Samples to draw, and callbacks for holes and notes. NULL: all samples. */
    const pfr_selection *of;
    /* File to write, as pfr_export_options.path. NULL: write to `out`. */
    const char *path;
    /* Title of the image. NULL: "Flame graph". */
    const char *title;
    /* Name of the recording, printed below the title. NULL: not printed. */
    const char *subject;
    /* Width of the image in pixels, 200 to 100000. 0: 1200, and in a browser as wide as its window. */
    uint32_t width;
    /* Boxes narrower than this many pixels are left out; the image says how many. 0: 0.3. */
    double min_width;
    /* Draw callers below their callees. Default: callers at the top (an icicle graph). */
    bool upward;
} pfr_flame_options;

/*
 * pfr_flame - read the recording and write the image.
 *
 * Returns as pfr_export(); also PFR_ERR_USAGE for a width below 200 or above 100000.
 */
pfr_status pfr_flame(pfr_reader *reader, const pfr_flame_options *options, pfr_output *out, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif
