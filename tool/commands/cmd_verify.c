/* SPDX-License-Identifier: Apache-2.0 */
/* perfray verify: all errors in a recording. */
#include <perfray/trace.h>
#include <perfray/verify.h>
#include "command.h"

struct verify_options {
    unsigned format; /* a pfr_verify_format */
    bool notes, rules;
    uint32_t most;
};

static const struct verify_options verify_defaults = {.most = 20};

static const struct opt verify_opts[] = {
    HEADING("Findings and format"),
    {"notes", 0, OPT_FLAG, offsetof(struct verify_options, notes), NULL,
     "report notes too: harmless findings, such as reserved bits"},
    {"most", 0, OPT_NUMBER, offsetof(struct verify_options, most), "COUNT",
     "print at most COUNT findings per rule (default 20; 0 prints all)"},
    {"rules", 0, OPT_FLAG, offsetof(struct verify_options, rules), NULL, "print the rules, without reading a file"},
    {"format", 0, OPT_CHOICE, offsetof(struct verify_options, format), "text|json", "output format (default text)"},
    {0},
};

/* Records that the recorder dropped are not an error of the file; they are always reported, as a note. */
static void report_losses(const struct task *task, pfr_reader *reader) {
    pfr_trace_loss loss;
    for (uint32_t i = 0; pfr_get_trace_loss(reader, i, &loss); i++)
        complain("%s: %s", task->file, loss.sentence);
}

static enum exit_status check(const struct task *task, pfr_reader *reader) {
    const struct verify_options *const options = task->options;
    const pfr_verify_print_options how = {.size = sizeof how,
                                          .format = (pfr_verify_format)options->format,
                                          .notes = options->notes,
                                          .most = options->most};
    pfr_error err = {.offset = PFR_NO_OFFSET};
    if (options->format == PFR_VERIFY_TEXT)
        print_title(task);
    const pfr_status status = pfr_verify_print(reader, &how, task->out, &err);
    if (status < 0 && !pfr_output_failed(task->out))
        return complain_of(task->file, &err, NULL);
    report_losses(task, reader);
    return status == PFR_HOLE ? ENDS_GATE : ENDS_FINE;
}

static enum exit_status verify_run(const struct task *task) {
    const struct verify_options *const options = task->options;
    enum exit_status status = ENDS_FINE;
    if (options->rules) {
        pfr_verify_print_rules((pfr_verify_format)options->format, task->out);
        return status;
    }
    pfr_reader *const reader = open_recording(task, NULL, &status);
    if (reader)
        status = check(task, reader);
    pfr_close(reader);
    return status;
}

extern const struct command cmd_verify;
const struct command cmd_verify = {
    .name = "verify",
    .about = "check a recording and report each error with its offset",
    .arguments = "[FILE...]",
    .examples = "perfray verify perf.data\n"
                "perfray verify perf.data >/dev/null && echo intact\n",
    .opts = verify_opts,
    .size = sizeof(struct verify_options),
    .defaults = &verify_defaults,
    .run = verify_run,
};
