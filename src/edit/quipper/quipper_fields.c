/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that write fields, shared by all writers of quipper's form. */
#include "edit/quipper/quipper_writing.h"

/* --- Fields. */

static void end_field(struct quipper_output *q) {
    size_t length;
    const char *bytes = out_bytes(&q->field, &length);
    if (q->text)
        quipper_print(&q->out, M_perf_data, cursor_on(bytes, length, 0, false));
    else
        out_write(&q->out, bytes, length);
    out_clear(&q->field);
}

void quipper_output_field(struct quipper_output *q, uint32_t number) {
    proto_message(&q->field, number, &q->message);
    end_field(q);
}

void quipper_output_number(struct quipper_output *q, uint32_t number, uint64_t value) {
    proto_number(&q->field, number, value);
    end_field(q);
}

void quipper_output_lost(struct quipper_output *q, const pfr_error *hole) {
    q->counts.lost++;
    if (hole->offset != PFR_NO_OFFSET)
        q->counts.lost_bytes += hole->length;
    if (q->options->hole)
        q->options->hole(q->options->context, hole);
}
