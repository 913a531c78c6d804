/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pfr_report_print with options derived from the last eight bytes: any two sort keys in any format, with any form of
 * call trees.
 */
#include "fuzz_drawn.h"
#include "fuzz_print.h"

static pfr_status print_report(pfr_reader *reader, const void *options, pfr_output *out, pfr_error *err) {
    return pfr_report_print(reader, options, out, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct drawn drawn = {.number = fuzz_last_u64(bytes, &length)};
    const pfr_report_options options = drawn_report(&drawn);
    const struct printing how = {.open = {.size = sizeof how.open, .limits = &fuzz_limits},
                                 .kind = options.format == PFR_REPORT_JSON ? TEXT_JSON : TEXT_PLAIN,
                                 .options = &options,
                                 .print = print_report};
    fuzz_print(&how, bytes, length);
    return 0;
}
