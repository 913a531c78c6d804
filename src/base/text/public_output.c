/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public face of the output: opening, closing, and the choice of how names are shown. The struct lives in the
 * memory that it counts, so opening counts on a local memory first and moves it in.
 */
#include <unistd.h>
#include "base/text/escape.h"
#include "base/text/public_output.h"

pfr_output *pfr_output_open_alloc(int fd, bool owned, const pfr_alloc *alloc, pfr_error *err) {
    struct memory memory;
    memory_init(&memory, alloc, 0);
    pfr_output *to = mem_zeroed(&memory, 1, sizeof *to);
    if (!to) {
        mem_fail(&memory, err, "output");
        if (owned)
            close(fd);
        return NULL;
    }
    to->memory = memory;
    if (out_open_fd(&to->out, fd, owned, &to->memory, NULL, err) >= 0)
        return to;
    memory = to->memory;
    mem_free(&memory, to, 1, sizeof *to);
    return NULL;
}

pfr_output *pfr_output_open(int fd, bool owned, pfr_error *err) {
    return pfr_output_open_alloc(fd, owned, NULL, err);
}

void pfr_output_raw_names(pfr_output *out, bool raw) {
    out->raw_names = raw;
}

size_t pfr_escape(char *to, size_t room, const void *bytes, size_t length) {
    return escape_into(to, room, bytes, length);
}

void pfr_output_text(pfr_output *out, const char *text) {
    out_text(&out->out, text);
}

bool pfr_output_failed(const pfr_output *out) {
    return out->out.status != PFR_OK;
}

pfr_status pfr_output_flush(pfr_output *out, pfr_error *err) {
    return out_flush(&out->out, err);
}

pfr_status pfr_output_close(pfr_output *out, pfr_error *err) {
    if (!out)
        return PFR_OK;
    const pfr_status status = out_close(&out->out, err);
    struct memory memory = out->memory;
    mem_free(&memory, out, 1, sizeof *out);
    return status;
}

void print_name(pfr_output *to, const void *bytes, size_t length) {
    if (to->raw_names)
        out_write(&to->out, bytes, length);
    else
        out_escaped(&to->out, bytes, length);
}
