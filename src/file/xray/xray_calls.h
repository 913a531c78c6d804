/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_XRAY_CALLS_H
#define PFR_FILE_XRAY_CALLS_H
/*
 * Nearly all records of a flight-recorder trace or basic log are consecutive function records. xray_take_calls takes a
 * run of them, all of one thread, for consumers that need only time, function and action of each call; pfr_next returns
 * the records between runs.
 *
 *    while ((st = pfr_next(r, &rec, &err)) >= 0 && st != PFR_END) {
 *        if (st == PFR_OK && rec.type == PFR_TRACE_FUNCTION)
 *            use(one(&rec));
 *        while ((count = xray_take_calls(r, calls, sizeof calls / sizeof *calls)) > 0)
 *            use(calls, count);
 *    }
 *
 * pid, tid and cpu of a run are those of pfr_get_trace_point; its tsc is that of the run's last call.
 */
#include <perfray/trace.h>

struct xray_call {
    uint64_t tsc;
    uint32_t function;
    uint32_t action; /* pfr_trace_action */
};

/* Takes up to `most` calls that directly follow the last record and are in the read buffer; 0: call pfr_next. */
size_t xray_take_calls(pfr_reader *r, struct xray_call *calls, size_t most);

/*
 * A run of function records, for consumers that decode the records themselves in the read buffer. Bits of a record from
 * the least significant on: 1 bit that is 0, 3 bits action, 28 bits function, 32 bits ticks since the previous record.
 *
 *    if (xray_run_at(r, &run)) {
 *        for (; run.at < run.end && xray_is_call(tracepoint_word(&run)); run.at += TRACE_CALL)
 *            ...
 *        xray_run_taken(r, &run);
 *    }
 */
struct xray_run {
    const uint8_t *at, *end;
    uint64_t tsc; /* ticks of the last call before `at` */
};

#define TRACE_CALL 8u                     /* bytes */
#define TRACE_NO_CALL ((uint64_t)(1 | 8)) /* set in metadata, or in an unknown action */

/* The run that follows the last record; false: there is no run, or the records of this file have a different bit
   layout. */
bool xray_run_at(const pfr_reader *r, struct xray_run *run);
/* Makes reading continue at run->at, with run->tsc as the time before it. */
void xray_run_taken(pfr_reader *r, const struct xray_run *run);

static inline struct xray_call xray_call_of_word(uint64_t word, uint64_t tsc) {
    return (struct xray_call){tsc, (uint32_t)word >> 4, (uint32_t)word >> 1 & 7};
}

/* Converts the function record that pfr_next returned last; false: it is not a function record. */
bool xray_call_of(const pfr_reader *r, const pfr_record *rec, struct xray_call *call);

#endif
