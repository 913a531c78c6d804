/* SPDX-License-Identifier: Apache-2.0 */
/* The list of sinks, and the call by name. */
#include "export/sink.h"

#include "base/memory/fail.h"
#include "file/read/recording.h"

const struct sink_type *const sinks[] = {&sink_folded, &sink_pprof, &sink_flame, NULL};

static const struct sink_type *sink_at(size_t number) {
    for (size_t i = 0; sinks[i]; i++)
        if (!sinks[i]->hidden && number-- == 0)
            return sinks[i];
    return NULL;
}

const pfr_export_format *pfr_export_format_at(size_t number) {
    const struct sink_type *sink = sink_at(number);
    return sink ? &sink->format : NULL;
}

static const struct sink_type *find_sink(const char *name) {
    for (size_t i = 0; sinks[i] && name; i++)
        if (!sinks[i]->hidden && strcmp(sinks[i]->format.name, name) == 0)
            return sinks[i];
    return NULL;
}

pfr_status pfr_export(pfr_reader *reader, const pfr_export_options *options, pfr_output *out, pfr_error *err) {
    struct exporting e = {
        .sink = find_sink(options->format), .of = options->of, .options = options, .reader = reader, .to = out};
    if (!e.sink)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "format", "there is no format '%.40s'",
                        options->format ? options->format : "");
    return export_run(&e, options->path, err);
}
