/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pfr_report_print in every form and by several keys. Objects are looked for below a folder that is not there: which
 * files this machine has must not decide what a run does.
 */
#include "fuzz_print.h"

#include <perfray/report.h>

#define FORMATS 4u
#define NOWHERE "/nonexistent"

static const char *const sorts[] = {NULL, "comm", "dso,sym", "pid,tid", "sym,comm,dso,pid,tid"};
#define SORTS (sizeof sorts / sizeof *sorts)

static pfr_status print_report(pfr_reader *reader, const void *options, pfr_output *out, pfr_error *err) {
    return pfr_report_print(reader, options, out, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    const unsigned form = fuzz_last(bytes, &length);
    const pfr_report_options options = {.size = sizeof options,
                                        .format = (pfr_report_format)(form % FORMATS),
                                        .sort = sorts[form / FORMATS % SORTS],
                                        .symfs = NOWHERE,
                                        .kallsyms = NOWHERE,
                                        .no_symbols = form & 0x80,
                                        .percent_limit = form & 0x40 ? 5 : 0};
    const struct printing how = {.open = {.size = sizeof how.open, .limits = &fuzz_limits},
                                 .kind = options.format == PFR_REPORT_JSON ? TEXT_JSON : TEXT_PLAIN,
                                 .options = &options,
                                 .print = print_report};
    fuzz_print(&how, bytes, length);
    return 0;
}
