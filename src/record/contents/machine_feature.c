/* SPDX-License-Identifier: Apache-2.0 */
/* Writes features made of texts and numbers. */
#include "record/contents/machine_feature.h"

#define TEXT_UNIT 64u

/* --- payloads --- */

void feature_u32(struct output *payload, uint32_t value) {
    out_write(payload, &value, sizeof value);
}

void feature_u64(struct output *payload, uint64_t value) {
    out_write(payload, &value, sizeof value);
}

/* Writes u32 length, text, and zeros up to a multiple of 64. */
void feature_text(struct output *payload, const char *text) {
    const size_t length = strlen(text);
    const size_t room = (length + 1 + TEXT_UNIT - 1) / TEXT_UNIT * TEXT_UNIT;
    feature_u32(payload, (uint32_t)room);
    out_write(payload, text, length);
    out_fill(payload, '\0', room - length);
}

pfr_status machine_feature(pfr_recorder *r, uint32_t bit, struct output *payload, pfr_error *err) {
    size_t length;
    const char *const bytes = out_bytes(payload, &length);
    const bool failed = payload->status < 0;
    const pfr_status status =
        failed ? mem_fail(&r->memory, err, "header") : pfr_writer_feature(r->file.writer, bit, bytes, length, err);
    out_clear(payload);
    return status;
}
