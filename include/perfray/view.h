/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_VIEW_H
#define PERFRAY_VIEW_H
/*
 * A recording as one HTML file that any browser opens without a network: timeline, flame graph, callers and callees,
 * table, latencies, search and selection by time and thread.
 *
 * The file holds the data and the viewer. Its content security policy allows only the viewer's own script and style, by
 * hash, and no connection. Names of the recording are text in it. Sums of weights are exact; where the recording is too
 * large for the file, times are rounded, the shortest calls are left out and rare stacks become one beside their
 * siblings, and the page says so.
 *
 * Threads: as pfr_output, one at a time. Memory comes from the output's allocator: about 32 bytes a sample, at most
 * what max_size makes of them, and 40 bytes a call.
 *
 * Example:
 *
 *     pfr_model_options how = {.size = sizeof how, .functions = true};
 *     pfr_model *model = pfr_model_open(reader, &how, &err);
 *     pfr_view_options options = {.size = sizeof options, .title = "nightly"};
 *     pfr_status st = pfr_view_write(model, &options, out, &err);
 */
#include <perfray/model.h>
#include <perfray/out.h>
#include <perfray/symbol_options.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `(pfr_view_options){.size = sizeof(pfr_view_options)}` is the default, and a NULL pointer is the same. */
typedef struct pfr_view_options {
    size_t size;          /* sizeof(pfr_view_options) */
    const char *path;     /* write this file, whole or not at all, with mode 0600; NULL: to `out` */
    const char *title;    /* NULL: the recorded command line, else `subject` */
    const char *subject;  /* the recording's name; NULL: "perfray view" */
    const char *version;  /* of the program that writes; shown with the keys; NULL: "" */
    uint64_t max_size;    /* bytes of data in the file, at least 1 MiB; 0: 32 MiB */
    bool no_command_line; /* do not use the recorded command line */
    bool redact_paths;    /* objects have their names, not their paths */
    bool data_only;       /* write the data, which a page without data opens, instead of a page */
    /* An older recording to compare `model` with: the page opens with its diff view. Functions are the same if their
       names and those of their objects are, but for suffixes of clones, as in diff.h; changes, 95 % intervals and
       verdicts are those of pfr_diff_open, whose errors are returned too. It must live until pfr_view_write returns.
       NULL: no comparison. */
    const pfr_model *baseline;
    /* Add the instructions of the 200 hottest functions with the samples at each address, as far as they fit into a
       quarter of max_size. The model must have addresses (be opened without `functions`); ignored with `baseline` and
       for traces. Objects are opened, and build-ids checked, as pfr_annotate_print does. */
    bool code;
    /* With `code`: add the source lines of these instructions. Whoever gets the page can read them. */
    bool sources;
    /* With `code`: where objects and debugging information are. NULL: the defaults. */
    const pfr_symbol_options *naming;
    /* With `sources`: as in pfr_annotate_options. */
    bool (*find_source)(void *context, const uint8_t *build_id, size_t build_id_size, const char *path, char *found,
                        size_t room);
    void *source_context;
} pfr_view_options;

/*
 * Writes the page of a model, best one that was opened with `functions`. `model` NULL: a page without data, which opens
 * files written with data_only. An existing page at `path` is replaced; any other file stays as it is. PFR_OK;
 * USAGE: `path` exists and is not such a page; MEMORY, LIMIT; IO, PERMISSION: `path` cannot be written; else as
 * pfr_samples_next and pfr_calls_next. Failures of `out` stay there until pfr_output_close.
 */
pfr_status pfr_view_write(const pfr_model *model, const pfr_view_options *options, pfr_output *out, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif
