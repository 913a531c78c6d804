/* SPDX-License-Identifier: Apache-2.0 */
/* perfray info: the contents of a recording. */
#include <perfray/info.h>
#include "command.h"

struct info_options {
    unsigned format; /* a pfr_info_format */
    bool events, build_ids, stats;
};

static const struct opt info_opts[] = {
    HEADING("Parts and format"),
    {"events", 0, OPT_FLAG, offsetof(struct info_options, events), NULL, "show only the events, as perf evlist -v"},
    {"build-ids", 0, OPT_FLAG, offsetof(struct info_options, build_ids), NULL,
     "show only objects and their build-ids, as perf buildid-list"},
    {"stats", 0, OPT_FLAG, offsetof(struct info_options, stats), NULL,
     "show only counts of records and samples, as perf report --stats"},
    {"format", 0, OPT_CHOICE, offsetof(struct info_options, format), "text|perf|json",
     "output format: text, as perf prints it, or JSON (default text)"},
    {0},
};

static pfr_info_part wanted_part(const struct info_options *options) {
    if (options->events)
        return PFR_INFO_EVENTS;
    if (options->build_ids)
        return PFR_INFO_BUILD_IDS;
    return options->stats ? PFR_INFO_STATS : PFR_INFO_OVERVIEW;
}

static enum exit_status print_info(const struct task *task, pfr_reader *reader) {
    const struct info_options *const options = task->options;
    const pfr_info_options how = {.size = sizeof how,
                                  .part = wanted_part(options),
                                  .format = (pfr_info_format)options->format,
                                  .captured = capture_time(task->file)};
    pfr_error err = {.offset = PFR_NO_OFFSET};
    if (options->format == PFR_INFO_TEXT)
        print_title(task);
    const pfr_status status = pfr_info_print(reader, &how, task->out, &err);
    if (status < 0 && !pfr_output_failed(task->out))
        return complain_of(task->file, &err, NULL);
    return complain_of_damage(task, reader);
}

static enum exit_status info_run(const struct task *task) {
    const struct info_options *const options = task->options;
    enum exit_status status;
    if (options->events + options->build_ids + options->stats > 1) {
        complain_as("perfray info", "only one of --events, --build-ids and --stats; see perfray info -h");
        return ENDS_USAGE;
    }
    pfr_reader *const reader = open_recording(task, NULL, &status);
    if (reader)
        status = print_info(task, reader);
    pfr_close(reader);
    return status;
}

extern const struct command cmd_info;
const struct command cmd_info = {
    .name = "info",
    .about = "show header, features, events, counts and quality of a recording",
    .arguments = "[FILE...]",
    .examples = "perfray info perf.data\n"
                "perfray info --stats perf.data         # counts of records by type\n"
                "perfray info --events perf.data\n",
    .opts = info_opts,
    .size = sizeof(struct info_options),
    .prints_at_end = true,
    .run = info_run,
};
