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

/*
 * The same for who takes the records of a run apart himself, as they lie in the file: least significant bit first, a
 * bit that is 0, three of the action, 28 of the function, 32 of the ticks since the record before.
 *
 *     if (trace_run_at(r, &run)) {
 *         for (; run.at < run.end && trace_is_call(trace_word(&run)); run.at += TRACE_CALL)
 *             ...
 *         trace_run_taken(r, &run);
 *     }
 */
struct trace_run {
    const uint8_t *at, *end;
    uint64_t tsc; /* of the call before `at` */
};

#define TRACE_CALL 8u                     /* bytes */
#define TRACE_NO_CALL ((uint64_t)(1 | 8)) /* metadata, or an action that is unknown */

/* The run behind the record that was given last; false: there is none, or it does not lie so in this file. */
bool trace_run_at(const pfr_reader *r, struct trace_run *run);
/* run->at and run->tsc are where the next record is looked for. */
void trace_run_taken(pfr_reader *r, const struct trace_run *run);

static inline struct trace_call trace_call_of_word(uint64_t word, uint64_t tsc) {
    return (struct trace_call){tsc, (uint32_t)word >> 4, (uint32_t)word >> 1 & 7};
}

/* The function record that pfr_next gave last as such a call; false: it is none. */
bool trace_call_of(const pfr_reader *r, const pfr_record *rec, struct trace_call *call);

#endif
