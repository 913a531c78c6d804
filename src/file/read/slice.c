/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of slices: see slice.h. Each is a copy of the whole reader with read buffers of its own. */
#include "file/read/slice.h"

#include "base/memory/fail.h"
#include "file/read/inflate.h"

bool slices_can_be(const pfr_reader *r) {
    for (uint32_t i = 0; i < r->nr_parts; i++)
        if (!input_seekable(&r->parts[i].in))
            return false;
    return r->limits.records == UINT64_MAX && !r->trace;
}

static void share_parts(pfr_reader *r, struct part *parts) {
    r->parts = parts;
    for (uint32_t i = 0; i < r->nr_parts; i++) {
        parts[i] = r->whole->parts[i];
        parts[i].inflater = (struct inflater){0};
        parts[i].end_doubtful = false;
        input_share(&parts[i].in, &r->whole->parts[i].in, &r->memory);
    }
}

pfr_status slice_reader_open(pfr_reader **out, const pfr_reader *whole, struct memory *memory, pfr_error *err) {
    *out = NULL;
    pfr_reader *r = mem_alloc(memory, 1, sizeof *r);
    if (!r)
        return mem_fail(memory, err, "slice");
    *r = *whole;
    memory_share(&r->memory, memory);
    struct part *parts = mem_alloc(&r->memory, whole->nr_parts, sizeof *parts);
    if (!parts) {
        const pfr_status st = mem_fail(&r->memory, err, "slice");
        mem_free(memory, r, 1, sizeof *r);
        return st;
    }
    r->whole = whole;
    arena_init(&r->arena, &r->memory);
    r->damage.nr_findings = r->damage.findings_reported = 0;
    r->cursor.compressed = (pfr_bytes){NULL, 0};
    r->events.names_stale = false;
    share_parts(r, parts);
    const pfr_status st = r->kind ? r->kind->share(r, whole, err) : PFR_OK;
    if (st < 0)
        slice_reader_close(r);
    else
        *out = r;
    return st;
}

void slice_reader_move(pfr_reader *r, const struct slice *slice) {
    const uint64_t end = r->whole->parts[slice->part].end;
    if (r->cursor.part != slice->part)
        input_set_chunk(&r->parts[r->cursor.part].in, r->parts[r->cursor.part].in.chunk);
    r->cursor.part = slice->part;
    r->cursor.at = slice->begin;
    r->parts[slice->part].end = slice->end < end ? slice->end : end;
    r->cursor.doubtful = UINT64_MAX;
    r->cursor.payload_size = r->cursor.payload_from = r->cursor.payload_end = 0;
    r->damage.patience = PATIENCE_FIRST;
    r->cursor.ended = r->damage.broken_reported = false;
}

void slice_reader_close(pfr_reader *r) {
    if (!r)
        return;
    for (uint32_t i = 0; i < r->nr_parts; i++) {
        inflater_close(&r->parts[i].inflater, &r->memory);
        input_close(&r->parts[i].in);
    }
    if (r->kind)
        r->kind->close(r);
    mem_free(&r->memory, r->parts, r->nr_parts, sizeof *r->parts);
    arena_free(&r->arena);
    mem_free(r->memory.of, r, 1, sizeof *r);
}
