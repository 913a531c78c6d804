/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of function records: see xray_calls.h. A run ends at any other record and at an incomplete one. */
#include "file/xray/xray_calls.h"

#include "file/xray/fdr_buffers.h"
#include "file/xray/xray_basic.h"

/* Bit layout of a function record; the loop keeps it in registers. */
struct call_bits {
    uint32_t function_shift, function_mask, action_shift, action_mask, delta_at;
    uint32_t other; /* bits of the first word that are 0 in a call; metadata and unknown actions have some set */
    uint32_t swap;
};

/* Layout of nearly all traces; bits_of_calls shows whether this one has it. */
static const struct call_bits little_endian = {4, 0xfffffff, 1, 7, 4, 9, 0};

static struct call_bits bits_of_calls(const pfr_reader *r) {
    const struct fdr_places *p = &r->trace->places;
    const uint8_t metadata[4] = {r->context.mirrored ? 0x80 : 1};
    const uint32_t unknown = (p->action_mask & ~(uint32_t)PFR_TRACE_ENTER_ARGUMENT) << p->action_shift;
    return (struct call_bits){p->function_shift, p->function_mask, p->action_shift,
                              p->action_mask,    p->call_delta,    load_u32(metadata, r->context.swap) | unknown,
                              r->context.swap};
}

/* Number of bytes at r->at that are in both the read buffer and the buffer of the trace; 0: only pfr_next can
   continue. */
static uint64_t bytes_to_take(const pfr_reader *r) {
    const struct xray_trace *t = r->trace;
    if (!t || r->cursor.ended)
        return 0;
    if (t->next == fdr_next ? !t->buffer.inside || t->buffer.after != FDR_CALL : t->next != basic_next || !t->call.any)
        return 0;
    const struct input *in = &r->parts[0].in;
    const uint64_t skip = r->cursor.at - in->start;
    if (r->limits.records != UINT64_MAX || r->damage.findings_reported < r->damage.nr_findings || skip > in->length)
        return 0; /* pfr_next checks the limit and reports findings */
    const uint64_t seen = in->length - skip, room = t->next == fdr_next ? t->buffer.end - r->cursor.at : UINT64_MAX;
    return seen < room ? seen : room;
}

static inline __attribute__((always_inline)) size_t take_run(const struct call_bits b, const uint8_t *at, size_t most,
                                                             struct xray_call *calls, uint64_t *base) {
    uint64_t tsc = *base;
    size_t count = 0;
    for (; count < most; count++, at += FDR_FUNCTION) {
        const uint32_t word = load_u32(at, b.swap);
        if (word & b.other)
            break;
        tsc += load_u32(at + b.delta_at, b.swap);
        calls[count] =
            (struct xray_call){tsc, word >> b.function_shift & b.function_mask, word >> b.action_shift & b.action_mask};
    }
    *base = tsc;
    return count;
}

static size_t take_fdr(pfr_reader *r, struct xray_call *calls, size_t most) {
    const uint64_t left = bytes_to_take(r) / FDR_FUNCTION;
    if (left == 0)
        return 0;
    const struct call_bits b = bits_of_calls(r);
    const uint8_t *at = r->parts[0].in.bytes + (r->cursor.at - r->parts[0].in.start);
    uint64_t tsc = r->trace->buffer.base;
    most = left < most ? (size_t)left : most;
    const size_t count = memcmp(&b, &little_endian, sizeof b) == 0 ? take_run(little_endian, at, most, calls, &tsc)
                                                                   : take_run(b, at, most, calls, &tsc);
    if (count)
        r->trace->buffer.base = r->trace->point.tsc = tsc;
    r->cursor.at += count * FDR_FUNCTION;
    r->damage.quality.records += count;
    return count;
}

bool xray_run_at(const pfr_reader *r, struct xray_run *run) {
    const uint64_t bytes = r->trace && r->trace->next == fdr_next ? bytes_to_take(r) / FDR_FUNCTION * FDR_FUNCTION : 0;
    if (bytes == 0)
        return false;
    const struct call_bits b = bits_of_calls(r);
    const uint8_t *at = r->parts[0].in.bytes + (r->cursor.at - r->parts[0].in.start);
    *run = (struct xray_run){at, at + bytes, r->trace->buffer.base};
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && memcmp(&b, &little_endian, sizeof b) == 0;
}

void xray_run_taken(pfr_reader *r, const struct xray_run *run) {
    const uint8_t *begin = r->parts[0].in.bytes + (r->cursor.at - r->parts[0].in.start);
    if (run->at == begin)
        return;
    r->trace->buffer.base = r->trace->point.tsc = run->tsc;
    r->cursor.at += (uint64_t)(run->at - begin);
    r->damage.quality.records += (uint64_t)(run->at - begin) / FDR_FUNCTION;
}

/* Whether the record at `at` is a call of the current thread on the current cpu. */
static inline bool is_like(const struct xray_trace *t, const uint8_t *at, bool swap) {
    const struct basic_places *p = &t->basic;
    return load_u16(at, swap) == 0 && at[p->action] <= PFR_TRACE_ENTER_ARGUMENT && at[p->cpu] == t->point.cpu &&
           load_u32(at + p->tid, swap) == t->call.tid && (!p->pid || load_u32(at + p->pid, swap) == t->call.pid);
}

static size_t take_basic(pfr_reader *r, struct xray_call *calls, size_t most) {
    struct xray_trace *t = r->trace;
    const uint64_t left = bytes_to_take(r) / BASIC_RECORD;
    const bool swap = r->context.swap;
    const uint8_t *at = r->parts[0].in.bytes + (r->cursor.at - r->parts[0].in.start);
    size_t count = 0;
    most = left < most ? (size_t)left : most;
    for (; count < most && is_like(t, at, swap); count++, at += BASIC_RECORD)
        calls[count] = (struct xray_call){load_u64(at + t->basic.tsc, swap), load_u32(at + t->basic.function, swap),
                                          at[t->basic.action]};
    if (count) { /* an argument after the run belongs to its last call */
        t->call.function = calls[count - 1].function;
        t->point.tsc = calls[count - 1].tsc;
    }
    r->cursor.at += count * BASIC_RECORD;
    r->damage.quality.records += count;
    return count;
}

size_t xray_take_calls(pfr_reader *r, struct xray_call *calls, size_t most) {
    return r->trace && r->trace->next == basic_next ? take_basic(r, calls, most) : take_fdr(r, calls, most);
}

bool xray_call_of(const pfr_reader *r, const pfr_record *rec, struct xray_call *call) {
    const struct call_bits b = bits_of_calls(r);
    if (rec->type != PFR_TRACE_FUNCTION)
        return false;
    const uint32_t word = load_u32(rec->bytes, b.swap);
    *call = (struct xray_call){r->trace->point.tsc, word >> b.function_shift & b.function_mask,
                               word >> b.action_shift & b.action_mask};
    return true;
}
