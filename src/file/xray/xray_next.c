/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the readers of all trace formats: records, holes, the end. */
#include "file/xray/xray_next.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void xray_give(pfr_reader *r, pfr_record *rec, uint32_t kind, const uint8_t *bytes, uint64_t length) {
    *rec = (pfr_record){.offset = r->cursor.at,
                        .type = PFR_TRACE_TYPES + kind,
                        .size = (uint32_t)length,
                        .event = PFR_NO_EVENT,
                        .bytes = bytes,
                        .context = &r->context};
    r->cursor.at += length;
    r->damage.quality.records++;
}

pfr_status xray_hole(pfr_reader *r, uint64_t *kind, uint64_t next, pfr_error *err, const char *where, const char *text,
                     ...) {
    char said[sizeof err->text];
    va_list values;
    va_start(values, text);
    vsnprintf(said, sizeof said, text, values);
    va_end(values);
    const uint64_t from = r->cursor.at;
    r->cursor.at = next;
    count_hole(r, kind, next - from);
    return pfr_fail(err, PFR_HOLE, from, next - from, where, "%s", said);
}

pfr_status xray_cut(pfr_reader *r, uint64_t have, uint64_t missing, pfr_error *err, const char *text) {
    r->damage.quality.truncated_bytes += have + missing;
    r->cursor.ended = true;
    if (r->parts[0].in.broken.status == PFR_HOLE) /* this has the reason for the end */
        return xray_end(r, err);
    return xray_hole(r, &r->damage.quality.cut, r->cursor.at + have, err, "record", "%s", text);
}

pfr_status xray_clip(pfr_reader *r, uint64_t *next, pfr_error *err) {
    struct input *in = &r->parts[0].in;
    const uint8_t *bytes;
    size_t have;
    if (*next <= r->cursor.at)
        return PFR_OK;
    PFR_TRY(input_window(in, *next - 1, 1, &bytes, &have, err));
    if (have == 0) /* reading at this place determined the size */
        *next = input_size(in);
    return PFR_OK;
}

pfr_status xray_end(pfr_reader *r, pfr_error *err) {
    const struct input *in = &r->parts[0].in;
    r->cursor.ended = true;
    if (in->broken.status != PFR_HOLE || r->damage.broken_reported)
        return PFR_END;
    r->damage.broken_reported = true;
    count_hole(r, &r->damage.quality.bad_compressed, 0);
    *err = in->broken;
    return PFR_HOLE;
}

static pfr_status too_many(const pfr_reader *r, const pfr_record *rec, pfr_error *err) {
    return pfr_fail(err, PFR_ERR_LIMIT, rec->offset, rec->size, "record",
                    "there are more than %" PRIu64 " records (limit records)", r->limits.records);
}

pfr_status xray_next(pfr_reader *r, pfr_record *rec, pfr_error *error) {
    pfr_error own, *err = error ? error : &own;
    rec->bytes = NULL;
    if (r->damage.findings_reported < r->damage.nr_findings)
        return *err = r->damage.findings[r->damage.findings_reported++], PFR_HOLE;
    const pfr_status s = r->cursor.ended ? xray_end(r, err) : r->trace->next(r, rec, err);
    return s == PFR_OK && r->damage.quality.records > r->limits.records ? too_many(r, rec, err) : s;
}
