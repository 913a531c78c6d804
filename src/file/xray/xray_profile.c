/* SPDX-License-Identifier: Apache-2.0 */
/* XRay profiles: one block per thread. The length of a path in it is known only at the end of the path. */
#include "file/xray/xray_profile.h"
#include "file/xray/xray_next.h"
#include "wire/any_layout.h"

#define BLOCK_HEADER 16u
#define FIRST_LOOK 256u

enum { PROFILE_BLOCK = 48, PROFILE_PATH };

/* Makes the rest of the trace a hole: the size of a block is impossible, so the next block cannot be found. */
static pfr_status lose_all(pfr_reader *r, uint32_t size, pfr_error *err) {
    uint64_t next = r->cursor.at;
    const uint8_t *bytes;
    size_t have = 1;
    for (; have > 0; next += have)
        PFR_TRY(input_window(&r->parts[0].in, next, 1, &bytes, &have, err));
    return xray_hole(r, &r->damage.quality.garbage, next, err, "profile_block.size", "a block of %u bytes", size);
}

static pfr_status next_block(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    struct xray_trace *t = r->trace;
    struct pfr_rec_profile_block block;
    const uint8_t *bytes;
    size_t have;
    PFR_TRY(xray_window(r, BLOCK_HEADER, &bytes, &have, err));
    if (have == 0)
        return xray_end(r, err);
    if (have < BLOCK_HEADER)
        return xray_cut(r, have, BLOCK_HEADER - have, err, "the last block is cut short");
    struct cursor in = cursor_on(bytes, BLOCK_HEADER, r->cursor.at, r->context.swap);
    PFR_TRY(layout_read(layout_at(L_profile_block), &r->context, &in, &block, err));
    if (block.size < BLOCK_HEADER)
        return lose_all(r, block.size, err);
    t->block_end = r->cursor.at + block.size;
    t->point = (pfr_trace_point){.tid = (int32_t)block.tid,
                                 .pid = (int32_t)r->header.profile_pid,
                                 .has_tid = true,
                                 .has_pid = true,
                                 .buffer = t->point.buffer + 1,
                                 .buffer_offset = r->cursor.at};
    xray_give(r, rec, PROFILE_BLOCK, bytes, BLOCK_HEADER);
    return PFR_OK;
}

/* Makes the rest of the block a hole: it has no valid path, or the input ends inside it. */
static pfr_status lose_block(pfr_reader *r, const pfr_error *why, pfr_error *err) {
    const uint64_t end = r->trace->block_end;
    uint64_t next = end;
    PFR_TRY(xray_clip(r, &next, err));
    if (next < end)
        return xray_cut(r, next - r->cursor.at, end - next, err, "the last block is cut short");
    return xray_hole(r, &r->damage.quality.garbage, next, err, "profile_path", "%s", why->text);
}

/* Reads more and more bytes until the path is complete or the input ends. */
static pfr_status next_path(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    const uint64_t room = r->trace->block_end - r->cursor.at;
    struct pfr_rec_profile_path path;
    const uint8_t *bytes;
    size_t have;
    pfr_error why;
    for (uint64_t look = FIRST_LOOK;; look *= 4) {
        const size_t wanted = (size_t)(look < room ? look : room);
        PFR_TRY(xray_window(r, wanted, &bytes, &have, err));
        struct cursor in = cursor_on(bytes, have < wanted ? have : wanted, r->cursor.at, r->context.swap);
        if (layout_read(layout_at(L_profile_path), &r->context, &in, &path, &why) == PFR_OK) {
            xray_give(r, rec, PROFILE_PATH, bytes, (uint64_t)(in.at - in.start));
            return PFR_OK;
        }
        if (have < wanted || wanted == room || wanted >= r->limits.chunk / 4)
            return lose_block(r, &why, err);
    }
}

pfr_status profile_next(pfr_reader *r, pfr_record *rec, pfr_error *err) {
    return r->cursor.at < r->trace->block_end ? next_path(r, rec, err) : next_block(r, rec, err);
}
