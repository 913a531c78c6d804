/* SPDX-License-Identifier: Apache-2.0 */
/* pfr_info_print: every part in every format. */
#include "fuzz_print.h"

#include <perfray/info.h>

#define PARTS 4u
#define FORMATS 3u

static pfr_status print_info(pfr_reader *reader, const void *options, pfr_output *out, pfr_error *err) {
    return pfr_info_print(reader, options, out, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    const unsigned form = fuzz_last(bytes, &length);
    const pfr_info_options options = {.size = sizeof options,
                                      .part = (pfr_info_part)(form % PARTS),
                                      .format = (pfr_info_format)(form / PARTS % FORMATS),
                                      .captured = 1700000000};
    const struct printing how = {.open = {.size = sizeof how.open, .limits = &fuzz_limits},
                                 .kind = options.format == PFR_INFO_JSON ? TEXT_JSON : TEXT_PLAIN,
                                 .options = &options,
                                 .print = print_info};
    fuzz_print(&how, bytes, length);
    return 0;
}
