/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_VIEW_H
#define PERFRAY_VIEW_H
/*
 * Writes a recording as one HTML file that any browser opens without a network. The page has a timeline, flame graph,
 * callers and callees, table, latencies, search, and selection by time and thread.
 *
 * The file holds the data and the viewer. Its content security policy allows only the viewer's own script and style, by
 * hash, and no connection. Names from the recording are only text in the page. If the recording is too large for the
 * file, times are rounded, the shortest calls and idle threads are left out, rare sibling stacks are merged into one
 * stack, and small waits of a thread into one wait; the page says so. Sums of weights and of waits are always exact.
 *
 * Threads: an output may be used by one thread at a time. Memory is taken from the output's allocator: about 32 bytes
 * per sample, at most about 9 times max_size, and 40 bytes per call.
 *
 * Example:
 *
 *     pfr_model_options how = {.size = sizeof how, .functions = true};
 *     pfr_model *model = pfr_model_open(reader, &how, &err);
 *     pfr_view_options options = {.size = sizeof options, .title = "nightly"};
 *     pfr_status st = pfr_view_write(model, &options, out, &err);
 */
#include <perfray/diff.h>
#include <perfray/model.h>
#include <perfray/out.h>
#include <perfray/symbol_options.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `(pfr_view_options){.size = sizeof(pfr_view_options)}` is the default, and a NULL pointer is the same. */
typedef struct pfr_view_options {
    size_t size;          /* sizeof(pfr_view_options) */
    const char *path;     /* file to write, complete or not at all, with mode 0600; NULL: write to `out` */
    const char *title;    /* NULL: the recorded command line, else `subject` */
    const char *subject;  /* name of the recording; NULL: "perfray view" */
    const char *version;  /* version of the writing program, shown in the list of keys; NULL: "" */
    uint64_t max_size;    /* bytes of data in the file, at least 1 MiB; 0: 32 MiB */
    bool no_command_line; /* do not use the recorded command line */
    bool redact_paths;    /* write names of objects instead of their paths */
    bool data_only;       /* write only the data, for a page without data */
    /* An older recording to compare `model` with: the page opens with its diff view. Functions are matched by name and
       object name, ignoring suffixes of clones, as in diff.h. Changes, 95 % intervals and verdicts are those of
       pfr_diff_open(), whose errors are returned as well. The baseline must remain valid until pfr_view_write()
       returns. NULL: no comparison. */
    const pfr_model *baseline;
    /* Add the instructions of the 200 hottest functions with the samples at each address, as far as they fit into a
       quarter of max_size. The model must have addresses (be opened without `functions`). Ignored for traces and stored
       recordings. With `baseline`, which must have addresses too, the code of both sides is added, and the source lines
       of each function are paired as pfr_annotate_print does with `base`. Objects are opened, and build-ids checked, as
       pfr_annotate_print does. */
    bool code;
    /* With `code`: add the source lines of these instructions. Whoever gets the page can read them. */
    bool sources;
    /* With `code`: options for finding objects and debugging information. NULL: the defaults. */
    const pfr_symbol_options *naming;
    /* With `sources`: as in pfr_annotate_options. */
    bool (*find_source)(void *context, const uint8_t *build_id, size_t build_id_size, const char *path, char *found,
                        size_t room);
    void *source_context;
    /* With `baseline`: the recordings that `baseline` and `model` combine, such as the uploads of a store. Changes,
       intervals and verdicts are then those of pfr_diff_open() for these recordings. 0 and NULL: each side is one
       recording. */
    const pfr_diff_run *base_runs, *new_runs;
    uint32_t base_count, new_count;
    /* Sentences that the page shows beside the losses, such as those of pfr_model_options.note; NULL at the end. The
       page shows at most 200 sentences, these and its own together. With redact_paths, absolute paths in the sentences
       lose their directories. NULL: none. */
    const char *const *notes;
    /* Called with a sentence if the data is larger than max_size, because what cannot be left out does not fit. The
       page says it as well. NULL: not called. */
    void (*note)(void *context, const char *sentence);
    void *note_context;
} pfr_view_options;

/*
 * Writes the page of a model, which should be opened with `functions`. `model` NULL: a page without data, which can
 * open files written with data_only. An existing page at `path` is replaced; any other existing file is left unchanged.
 * Returns PFR_OK; PFR_ERR_USAGE if `path` exists and is not such a page; PFR_ERR_IO or PFR_ERR_PERMISSION if `path`
 * cannot be written; PFR_ERR_MEMORY or PFR_ERR_LIMIT; otherwise an error of pfr_samples_next() or pfr_calls_next().
 * Errors of `out` are returned by pfr_output_close().
 */
pfr_status pfr_view_write(const pfr_model *model, const pfr_view_options *options, pfr_output *out, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif
