/* SPDX-License-Identifier: Apache-2.0 */
/* perfray dump: every record with every field. */
#include <perfray/dump.h>
#include "command.h"

struct dump_options {
    unsigned format; /* a pfr_dump_format */
    const char *only, *aux;
    bool hex;
    struct range offset, time;
    struct word_list instr_maps;
};

static const struct opt dump_opts[] = {
    HEADING("Selection"),
    {"only", 0, OPT_STRING, offsetof(struct dump_options, only), "TYPES",
     "only records of these types, names or numbers, comma-separated"},
    {"offset", 0, OPT_RANGE, offsetof(struct dump_options, offset), "A-B",
     "only records that begin at byte A or later, and before byte B"},
    {"time", 0, OPT_TIMES, offsetof(struct dump_options, time), "A-B", "only records between second A and second B"},
    HEADING("Output"),
    {"format", 0, OPT_LINES, offsetof(struct dump_options, format), "text|jsonl|perf",
     "output format: text, JSON lines, or as perf report -D (default text)"},
    {"hex", 'x', OPT_FLAG, offsetof(struct dump_options, hex), NULL, "show the bytes of each field next to it"},
    {"aux", 0, OPT_STRING, offsetof(struct dump_options, aux), "DIR",
     "write AUX data to files in DIR and print a table of the files"},
    {"instr-map", 'm', OPT_WORDS, offsetof(struct dump_options, instr_maps), "FILE",
     "object or map that names the functions of an XRay trace"},
    {0},
};

static void report_note(void *damage, const char *sentence) {
    (void)damage;
    complain_as("perfray dump", "%s", sentence);
}

static enum exit_status finish_dump(const struct task *task, pfr_status status, const pfr_error *err,
                                    const struct damage *damage, pfr_reader *reader) {
    if (status == PFR_ERR_USAGE) {
        complain_as("perfray dump", "%s; see perfray dump -h", err->text);
        return ENDS_USAGE;
    }
    if (status < 0 && !pfr_output_failed(task->out))
        return complain_of(task->file, err, NULL);
    return graver_of(status == PFR_HOLE ? ENDS_PARTIAL : ENDS_FINE, complain_of_reported_damage(task, damage, reader));
}

static enum exit_status print_dump(const struct task *task, pfr_reader *reader) {
    const struct dump_options *const options = task->options;
    struct damage damage = {.file = task->file};
    const pfr_dump_options how = {.size = sizeof how,
                                  .format = (pfr_dump_format)options->format,
                                  .hex = options->hex,
                                  .only = options->only,
                                  .offset_from = options->offset.from,
                                  .offset_to = options->offset.to,
                                  .time_from = options->time.from,
                                  .time_to = options->time.to,
                                  .name = task->file,
                                  .aux_folder = options->aux,
                                  .hole = report_damage,
                                  .hole_context = &damage,
                                  .instr_maps = options->instr_maps.count ? options->instr_maps.at : NULL,
                                  .note = report_note};
    pfr_error err = {.offset = PFR_NO_OFFSET};
    if (options->format == PFR_DUMP_TEXT)
        print_title(task);
    const pfr_status status = pfr_dump(reader, &how, task->out, &err);
    return finish_dump(task, status, &err, &damage, reader);
}

static enum exit_status dump_run(const struct task *task) {
    const struct dump_options *const options = task->options;
    const pfr_open_options how = {
        .size = sizeof how, .keep_aux = options->aux != NULL, .spool = options->time.from || options->time.to};
    enum exit_status status;
    pfr_reader *const reader = open_recording(task, &how, &status);
    if (reader)
        status = print_dump(task, reader);
    pfr_close(reader);
    return status;
}

extern const struct command cmd_dump;
const struct command cmd_dump = {
    .name = "dump",
    .about = "print every record with every field",
    .arguments = "[FILE...]",
    .examples = "perfray dump --only mmap2 perf.data\n"
                "perfray dump --hex --only sample perf.data\n"
                "perfray dump --format=jsonl perf.data >records.jsonl\n",
    .opts = dump_opts,
    .size = sizeof(struct dump_options),
    .run = dump_run,
};
