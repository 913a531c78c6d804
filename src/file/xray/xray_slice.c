/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of a trace: see xray_slice.h. */
#include "file/xray/xray_slice.h"

#include "file/xray/xray_open.h"

bool xray_slices_can_be(const pfr_reader *r) {
    return r->trace && input_seekable(&r->parts[0].in);
}

void xray_slice_move(pfr_reader *r, const struct xray_slice *slice, uint64_t ahead) {
    xray_rewind(r);
    r->cursor.at = slice->at;
    r->trace->buffer = (struct fdr_buffer){.inside = true, .end = slice->end, .base = slice->base, .after = FDR_BEGIN};
    r->trace->point = (pfr_trace_point){.timed = slice->timed, .tsc = slice->base};
    input_read_ahead_to(&r->parts[0].in, ahead);
}
