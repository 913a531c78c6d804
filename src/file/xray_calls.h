/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_XRAY_CALLS_H
#define PFR_FILE_XRAY_CALLS_H
/*
 * Nearly all records of a flight-recorder trace are function records, one behind the other, and so it is in basic logs.
 * This takes a run of them, of one thread, at once, for those who want of each call its time, function and action
 * alone; pfr_next gives what stands between runs.
 *
 *     while ((st = pfr_next(r, &rec, &err)) >= 0 && st != PFR_END) {
 *         if (st == PFR_OK && rec.type == PFR_TRACE_FUNCTION)
 *             use(one(&rec));
 *         while ((count = trace_take_calls(r, calls, sizeof calls / sizeof *calls)) > 0)
 *             use(calls, count);
 *     }
 *
 * pid, tid and cpu of a run are those of pfr_get_trace_point, whose tsc is that of its last call.
 */
#include <perfray/trace.h>

struct trace_call {
    uint64_t tsc;
    uint32_t function;
    uint32_t action; /* pfr_trace_action */
};

/* Up to `most` calls that follow the record that was given last, and lie in the window; 0: pfr_next knows more. */
size_t trace_take_calls(pfr_reader *r, struct trace_call *calls, size_t most);

/* The function record that pfr_next gave last as such a call; false: it is none. */
bool trace_call_of(const pfr_reader *r, const pfr_record *rec, struct trace_call *call);

#endif
