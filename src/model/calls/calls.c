/* SPDX-License-Identifier: Apache-2.0 */
/* The passes over a trace: see calls.h and calls_parts.h. */
#include "model/calls/calls.h"

#include "file/xray/recorder_notes.h"
#include "model/calls/calls_chunk.h"
#include "model/calls/calls_index.h"
#include "model/calls/calls_log.h"
#include "model/calls/calls_worker.h"

#include <inttypes.h>
#include <stdio.h>

/* Returns PFR_HOLE if `clean` is set and the trace is damaged, although building the index found no damage. */
static pfr_status read_indexed(pfr_reader *reader, const struct calls_index *x, bool clean,
                               const struct calls_request *request, struct calls_totals *totals, pfr_error *err) {
    struct calls_workers all = {
        .request = request, .reader = reader, .memory = &reader->memory, .index = x, .clean = clean};
    totals->buffers = x->buffers;
    return calls_workers_run(&all, totals, err);
}

static const struct calls_totals nothing = {.shortest = UINT64_MAX, .first = UINT64_MAX};

static pfr_status read_clean(pfr_reader *reader, struct calls_index *x, const struct calls_request *request,
                             struct calls_totals *totals, pfr_error *err) {
    pfr_status st = calls_chunks_run(reader, request, totals, err);
    if (st != PFR_END)
        return st;
    *totals = nothing;
    st = calls_index_hop(x, reader, err);
    return st == PFR_OK ? read_indexed(reader, x, true, request, totals, err) : st;
}

static pfr_status read_any(pfr_reader *reader, struct calls_index *x, const struct calls_request *request,
                           struct calls_totals *totals, pfr_error *err) {
    PFR_TRY(calls_index_walk(x, reader, request, totals, err));
    return read_indexed(reader, x, false, request, totals, err);
}

static pfr_status calls_of_recorder(pfr_reader *reader, const struct calls_request *request,
                                    struct calls_totals *totals, pfr_error *err) {
    struct calls_index x;
    calls_index_init(&x, &reader->memory);
    pfr_status st = read_clean(reader, &x, request, totals, err);
    if (st == PFR_HOLE) {
        calls_index_free(&x);
        *totals = nothing;
        st = read_any(reader, &x, request, totals, err);
    }
    calls_index_free(&x);
    return st;
}

typedef pfr_status read_fn(pfr_reader *reader, const struct calls_request *request, struct calls_totals *totals,
                           pfr_error *err);

static read_fn *const readers[] = {
    [PFR_XRAY_FDR] = calls_of_recorder, [PFR_XRAY_BASIC] = calls_of_basic_log, [PFR_XRAY_PROFILE] = calls_of_profile};

pfr_status calls_read(pfr_reader *reader, const struct calls_request *request, struct calls_totals *totals,
                      pfr_error *error) {
    pfr_error own, *err = error ? error : &own;
    *totals = nothing;
    if (!reader->trace)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "calls",
                        "only XRay traces contain calls; this recording has samples");
    if (!xray_slices_can_be(reader))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "calls",
                        "calls of a streamed trace can be read only if it is opened with spool");
    const pfr_status st = readers[reader->header.format](reader, request, totals, err);
    totals->frequency = reader->header.cycle_frequency;
    return st < 0 ? st : PFR_OK;
}

/* A trace of perfray's own recorder contains the recorder's threshold. Whether another trace was recorded with a
   threshold is unknown. */
bool calls_describe_threshold(const pfr_reader *reader, const struct calls_totals *totals, const char *unit,
                              char sentence[CALLS_SENTENCE_MOST]) {
    static const char what[] = "not in the trace; their time is counted in their callers";
    uint64_t ns;
    const bool is_recorded = recorder_threshold(reader, &ns);
    if (totals->sums || (is_recorded ? ns == 0 : totals->calls == 0))
        return false;
    if (is_recorded)
        snprintf(sentence, CALLS_SENTENCE_MOST, "calls shorter than %" PRIu64 " ns are %s", ns, what);
    else
        snprintf(sentence, CALLS_SENTENCE_MOST,
                 "calls shorter than the recording threshold are %s (shortest call here: %" PRIu64 " %s)", what,
                 calls_ns(totals->shortest, totals->frequency), unit);
    return true;
}
