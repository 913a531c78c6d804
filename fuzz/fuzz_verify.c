/* SPDX-License-Identifier: Apache-2.0 */
/* pfr_verify: each finding has a rule of the table and a place; each hole of the reader is among the findings. */
#include "fuzz_print.h"

#include <perfray/verify.h>

struct heard {
    uint64_t count, length;
};

static void hear(void *context, const pfr_finding *f) {
    struct heard *heard = context;
    uint32_t number = 0;
    while (pfr_get_rule(number) && pfr_get_rule(number) != f->rule)
        number++;
    LAW(pfr_get_rule(number), "a finding of no rule");
    LAW(f->text[0], "%s says nothing", f->rule->name);
    LAW(f->offset <= heard->length || f->inside, "%s at %llu of %llu bytes", f->rule->name,
        (unsigned long long)f->offset, (unsigned long long)heard->length);
    heard->count++;
}

static pfr_status print_findings(pfr_reader *reader, const void *options, pfr_output *out, pfr_error *err) {
    return pfr_verify_print(reader, options, out, err);
}

static void listen(const uint8_t *bytes, size_t length) {
    const pfr_open_options open = {.size = sizeof open, .limits = &fuzz_limits};
    struct heard heard = {.length = length};
    const pfr_verify_options how = {.size = sizeof how, .found = hear, .context = &heard};
    pfr_error err;
    pfr_reader *reader = pfr_open_bytes(bytes, length, &open, &err);
    if (!reader)
        return;
    const pfr_status status = pfr_verify(reader, &how, &err);
    LAW(status < 0 || (status == PFR_HOLE) == (heard.count > 0), "status %d with %llu findings", status,
        (unsigned long long)heard.count);
    LAW(status != PFR_OK || pfr_get_quality(reader)->holes == 0, "holes, and nothing found");
    pfr_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    const unsigned form = fuzz_last(bytes, &length);
    const pfr_verify_print_options options = {.size = sizeof options,
                                              .format = form & 1 ? PFR_VERIFY_JSON : PFR_VERIFY_TEXT,
                                              .notes = form >> 1 & 1,
                                              .most = form >> 2 & 7};
    const struct printing how = {.open = {.size = sizeof how.open, .limits = &fuzz_limits},
                                 .kind = form & 1 ? TEXT_JSON : TEXT_PLAIN,
                                 .options = &options,
                                 .print = print_findings};
    listen(bytes, length);
    fuzz_print(&how, bytes, length);
    return 0;
}
