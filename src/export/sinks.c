/* SPDX-License-Identifier: Apache-2.0 */
/* The list of sinks, and the call by name. */
#include "export/sink.h"

#include "base/memory/fail.h"
#include "export/rows/packed.h"
#include "export/rows/row_sinks.h"
#include "file/read/recording.h"

const struct sink_type *const sinks[] = {&sink_folded, &sink_pprof, &sink_flame, NULL};

/* Row sinks; they are listed after `sinks`. */
static const struct row_sink *const row_sinks[] = {
    &sink_speedscope, &sink_chrome, &sink_perfetto, &sink_firefox, &sink_otlp,    &sink_ctf, &sink_callgrind,
    &sink_csv,        &sink_jsonl,  &sink_parquet,  &sink_dot,     &sink_mermaid, NULL};

static const struct sink_type *sink_at(size_t *number) {
    for (size_t i = 0; sinks[i]; i++)
        if (!sinks[i]->hidden && (*number)-- == 0)
            return sinks[i];
    return NULL;
}

const pfr_export_format *pfr_export_format_at(size_t number) {
    const struct sink_type *sink = sink_at(&number);
    if (sink)
        return &sink->format;
    return number < sizeof row_sinks / sizeof *row_sinks - 1 ? &row_sinks[number]->format : NULL;
}

static bool has_suffix(const char *path, size_t length, const char *suffix) {
    const size_t least = strlen(suffix);
    return length > least && memcmp(path + length - least, suffix, least) == 0;
}

static bool is_callgrind_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return strncmp(slash ? slash + 1 : path, "callgrind.", strlen("callgrind.")) == 0;
}

const pfr_export_format *pfr_export_format_of(const char *path) {
    const pfr_export_format *format;
    const size_t length = strlen(path), unpacked = unpacked_length(path);
    for (size_t i = 0; (format = pfr_export_format_at(i)); i++)
        if (has_suffix(path, length, format->suffix) || has_suffix(path, unpacked, format->suffix) ||
            (strcmp(format->name, "callgrind") == 0 && is_callgrind_name(path)))
            return format;
    return NULL;
}

static const struct sink_type *find_sink(const char *name) {
    for (size_t i = 0; sinks[i]; i++)
        if (!sinks[i]->hidden && strcmp(sinks[i]->format.name, name) == 0)
            return sinks[i];
    return NULL;
}

static const struct row_sink *find_row_sink(const char *name) {
    for (size_t i = 0; row_sinks[i]; i++)
        if (strcmp(row_sinks[i]->format.name, name) == 0)
            return row_sinks[i];
    return NULL;
}

static pfr_status run_sink(const struct sink_type *sink, pfr_reader *reader, const pfr_export_options *options,
                           pfr_output *out, pfr_error *err) {
    struct exporting e = {.sink = sink, .of = options->of, .options = options, .reader = reader, .to = out};
    if (options->settings && options->settings[0])
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "settings", "%s has no settings, so '%.40s' is unknown",
                        sink->format.name, options->settings[0]);
    return export_run(&e, options->path, err);
}

/* A caller compiled for an earlier version has a struct with fewer members. */
pfr_status pfr_export(pfr_reader *reader, const pfr_export_options *given, pfr_output *out, pfr_error *err) {
    pfr_export_options options = {.size = sizeof options};
    memcpy(&options, given, given->size < sizeof options ? given->size : sizeof options);
    const char *name = options.format ? options.format : "";
    const struct sink_type *sink = find_sink(name);
    const struct row_sink *row_sink = find_row_sink(name);
    if (options.beside && (sink || (row_sink && !row_sink->format.holds_both)))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "beside",
                        "%s can hold samples or calls, not both; choose a format that has holds_both", name);
    if (sink)
        return run_sink(sink, reader, &options, out, err);
    if (row_sink)
        return rows_run(row_sink, reader, &options, NULL, out, err);
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "format", "there is no format '%.40s'", name);
}
