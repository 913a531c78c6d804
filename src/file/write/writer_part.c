/* SPDX-License-Identifier: Apache-2.0 */
/* State that all files of the writer share: the first failure and its offset. */
#include "file/write/writer_part.h"
#include <inttypes.h>

/* --- The first failure. */

pfr_status writer_failed(pfr_writer *w, const pfr_error *why, pfr_error *err) {
    if (w->failure.status == PFR_OK)
        w->failure = *why;
    if (err)
        *err = w->failure;
    return w->failure.status;
}

pfr_status writer_stands(pfr_writer *w, pfr_error *err) {
    if (w->failure.status < 0)
        return writer_failed(w, &w->failure, err);
    if (!w->finished)
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "pfr_writer", "%s is finished", w->name);
}

pfr_status writer_failed_at(pfr_writer *w, int error_number, const char *what, uint64_t offset, pfr_error *err) {
    pfr_error why;
    char cause[80];
    const char *text = strerror_r(error_number, cause, sizeof cause);
    pfr_fail_errno(&why, error_number, what, w->name);
    pfr_fail(&why, why.status, offset, 0, what, "cannot %s %.80s at byte %" PRIu64 ": %s", what, w->name, offset, text);
    return writer_failed(w, &why, err);
}

pfr_status writer_check(pfr_writer *w, pfr_error *err) {
    const struct output *out = &part_of(w)->out;
    pfr_error why;
    if (__builtin_expect(out->status == PFR_OK, 1))
        return PFR_OK;
    if (out->error_number)
        return writer_failed_at(w, out->error_number, "write", out->flushed, err);
    mem_fail(&w->memory, &why, "writer");
    return writer_failed(w, &why, err);
}
