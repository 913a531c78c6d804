/* SPDX-License-Identifier: Apache-2.0 */
/* The other printers of samples and calls, with options derived from the last eight bytes: script, export, flame. */
#include "fuzz_drawn.h"
#include "fuzz_print.h"

#define VIEWS 4u

static pfr_status print_script(pfr_reader *reader, const void *options, pfr_output *out, pfr_error *err) {
    return pfr_script_print(reader, options, out, err);
}

static pfr_status print_export(pfr_reader *reader, const void *options, pfr_output *out, pfr_error *err) {
    return pfr_export(reader, options, out, err);
}

static pfr_status print_flame(pfr_reader *reader, const void *options, pfr_output *out, pfr_error *err) {
    return pfr_flame(reader, options, out, err);
}

static void run_script(struct printing *how, struct drawn *d, const uint8_t *bytes, size_t length) {
    const pfr_script_options options = drawn_script(d);
    how->options = &options;
    how->print = print_script;
    fuzz_print(how, bytes, length);
}

static void run_export(struct printing *how, struct drawn *d, const uint8_t *bytes, size_t length) {
    pfr_export_options options = drawn_export(d);
    const pfr_selection of = drawn_selection(d);
    options.of = &of;
    how->options = &options;
    how->print = print_export;
    how->kind = strcmp(options.format, "pprof") == 0 ? TEXT_BINARY : TEXT_PLAIN;
    fuzz_print(how, bytes, length);
}

static void run_flame(struct printing *how, struct drawn *d, const uint8_t *bytes, size_t length) {
    pfr_flame_options options = drawn_flame(d);
    const pfr_selection of = drawn_selection(d);
    options.of = &of;
    how->options = &options;
    how->print = print_flame;
    fuzz_print(how, bytes, length);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    const uint64_t number = fuzz_last_u64(bytes, &length);
    struct drawn drawn = {.number = number / VIEWS};
    struct printing how = {.open = {.size = sizeof how.open, .limits = &fuzz_limits}};
    if (number % VIEWS == 0)
        run_script(&how, &drawn, bytes, length);
    else if (number % VIEWS == 1)
        run_flame(&how, &drawn, bytes, length);
    else
        run_export(&how, &drawn, bytes, length);
    return 0;
}
