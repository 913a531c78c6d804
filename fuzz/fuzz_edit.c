/* SPDX-License-Identifier: Apache-2.0 */
/* Runs pfr_convert and pfr_recover to the form selected by the last byte; fuzz_made.c has the laws. */
#include "base/memory/sizes.h"
#include "fuzz_made.h"

#include <perfray/trace.h>

static pfr_reader *open_input(const uint8_t *bytes, size_t length) {
    const pfr_open_options open = {.size = sizeof open, .limits = &fuzz_limits, .keep_aux = true};
    pfr_error err;
    return pfr_open_bytes(bytes, length, &open, &err);
}

/* Forms of traces, and forms of recordings. */
static pfr_edit_options options_of(const pfr_reader *reader, unsigned form) {
    static const pfr_container containers[] = {PFR_FILE, PFR_PIPE, PFR_DIRECTORY};
    pfr_edit_options how = {.size = sizeof how, .order = form >> 1 & 1 ? PFR_ORDER_BIG : PFR_ORDER_HOST};
    if (pfr_get_trace_point(reader)) {
        how.trace = (pfr_edit_trace)(form / 4 % 7);
        return how;
    }
    how.to_form = form / 4 % 4 < 3;
    how.container = how.to_form ? containers[form / 4 % 4] : PFR_FILE;
    how.compression = (pfr_edit_compression)(form / 16 % 3);
    how.attr_size = form / 48 % 5 == 4 ? 136 : 0;
    if (form / 48 % 5 == 3 && !(form & 1))
        how.quipper = form >> 1 & 1 ? PFR_EDIT_QUIPPER_TEXT : PFR_EDIT_QUIPPER;
    return how;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    const unsigned form = fuzz_last(bytes, &length);
    pfr_error err = {.offset = PFR_NO_OFFSET};
    pfr_reader *reader = open_input(bytes, length);
    if (!reader)
        return 0;
    const pfr_edit_options how = options_of(reader, form);
    fuzz_draw_sizes(bytes, length);
    fuzz_make(reader, &how, form & 1, &err);
    pfr_close(reader);
    sizes_draw(0, NULL);
    return 0;
}
