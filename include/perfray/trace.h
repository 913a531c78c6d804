/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TRACE_H
#define PERFRAY_TRACE_H
/*
 * XRay traces: flight recorder traces (FDR, versions 1 to 5), basic logs (versions 1 to 3) and profiles, as written by
 * LLVM's compiler-rt and by perfray's own recorder (runtime.h).
 *
 * Traces are opened and read with the functions of reader.h. This header declares what differs from perf.data: the
 * record types of traces, and the thread, CPU and time of a record, which most records do not contain.
 *
 * pfr_next() returns records in file order, buffer after buffer. This is neither timestamp order nor grouped by thread;
 * pfr_script_print() prints traces in timestamp order. If a record is at a place where no writer puts it, pfr_next()
 * returns a PFR_HOLE of length 0 before it.
 *
 * The structs of the records are pfr_rec_fdr_*, pfr_rec_basic_* and pfr_rec_profile_* in record_structs.h. The source
 * of the layouts is LLVM's compiler-rt/lib/xray and llvm/lib/XRay; docs/xray-format.md lists every field.
 *
 * Example, printing every function entry and exit:
 *
 *     struct pfr_rec_fdr_function call;
 *     const pfr_trace_point *at = pfr_get_trace_point(reader);
 *     while ((st = pfr_next(reader, &rec, &err)) >= 0 && st != PFR_END)
 *         if (st == PFR_OK && rec.type == PFR_TRACE_FUNCTION && pfr_decode(&rec, &call, sizeof call, &err) == PFR_OK)
 *             printf("%d %" PRIu64 " #%u\n", at->tid, at->tsc, call.function);
 */
#include <perfray/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The first record type of traces. All types of perf.data records are smaller, so a table by perf.data type never takes
   a trace record by mistake. */
#define PFR_TRACE_TYPES 0x1000000u

/* pfr_record.type of trace records. The layout of a type has the same name in lower case: fdr_new_buffer, ... */
typedef enum pfr_trace_type {
    /* Flight recorder: metadata records, in the order of their kind numbers in the format. */
    PFR_TRACE_NEW_BUFFER = PFR_TRACE_TYPES,
    PFR_TRACE_END_OF_BUFFER,
    PFR_TRACE_NEW_CPU_ID,
    PFR_TRACE_TSC_WRAP,
    PFR_TRACE_WALL_CLOCK_TIME,
    PFR_TRACE_CUSTOM_EVENT,
    PFR_TRACE_CALL_ARGUMENT,
    PFR_TRACE_BUFFER_EXTENTS,
    PFR_TRACE_TYPED_EVENT,
    PFR_TRACE_PID,
    /* Flight recorder: a function was entered or left. */
    PFR_TRACE_FUNCTION = PFR_TRACE_TYPES + 16,
    /* Basic log: a function was entered or left, and an argument of the call before. */
    PFR_TRACE_BASIC_FUNCTION = PFR_TRACE_TYPES + 32,
    PFR_TRACE_BASIC_ARGUMENT,
    /* Profile: the header of a thread's block, and one call path with its number of calls and time. */
    PFR_TRACE_PROFILE_BLOCK = PFR_TRACE_TYPES + 48,
    PFR_TRACE_PROFILE_PATH
} pfr_trace_type;

/* Values of the field `action` of fdr_function and basic_function. */
typedef enum pfr_trace_action {
    /* The function was entered. */
    PFR_TRACE_ENTER,
    /* It returned. */
    PFR_TRACE_EXIT,
    /* It ended by a jump to another function (tail call). */
    PFR_TRACE_TAIL_EXIT,
    /* It was entered, and a record with its first argument follows. */
    PFR_TRACE_ENTER_ARGUMENT
} pfr_trace_action;

/* Thread, CPU, time and buffer of the record that pfr_next() returned last. */
typedef struct pfr_trace_point {
    /* Time in ticks of pfr_header.cycle_frequency. A record without a time of its own has that of the previous record
       in its buffer. */
    uint64_t tsc;
    /* Thread and process ids; 0 if not known. */
    int32_t tid, pid;
    /* CPU number. */
    uint16_t cpu;
    /* `tsc` is an absolute time. false: no earlier record in the buffer contains a time, and tsc counts from 0. */
    bool timed;
    /* The thread is known; the process is known (from version 3 on). */
    bool has_tid, has_pid;
    /* Number of the buffer, or of the block of a profile, from 1; 0 before the first one. */
    uint64_t buffer;
    /* Offset in the file where the buffer begins, including its BufferExtents record. */
    uint64_t buffer_offset;
} pfr_trace_point;

/*
 * pfr_get_trace_point - the position of the current record.
 *
 * The struct belongs to the reader, which updates it with each pfr_next(): call this function once per reader. The
 * pointer is valid until pfr_close(). Returns NULL if the recording is not an XRay trace.
 */
const pfr_trace_point *pfr_get_trace_point(const pfr_reader *reader);

/* One reason why calls or events are not in a trace of perfray's own recorder, which counts what it drops. Traces of
   other recorders have no such counts. */
typedef struct pfr_trace_loss {
    /*
     * A short static name for programs:
     * "full"       the space for the trace was used up, and recording ended
     * "buffers"    more threads than buffers wrote at the same time
     * "handler"    a signal handler interrupted the recorder itself
     * "functions"  the recorder's function table was full
     * "too-large"  an event was larger than a buffer
     * "sled"       code of an event could not be patched
     * "threads"    thread ids could not be recorded; such threads have negative numbers
     * "depth"      calls deeper than the requested depth were left out
     */
    const char *cause;
    /* Number of function entries, exits and events that were dropped; for "sled", the number of places in the code. 0
       if they were not counted. */
    uint64_t count;
    /* One sentence for people. Valid until the next call on the same reader, or pfr_close(). */
    const char *sentence;
} pfr_trace_loss;

/*
 * pfr_get_trace_loss - the reasons for missing calls, for `index` from 0.
 *
 * Known after the first record was read. The counts are those of the recorder when the trace was read or finished, and
 * remain in the trace when it is converted. pfr_quality.lost_calls is the sum of all except "sled".
 *
 *     pfr_trace_loss loss;
 *     for (uint32_t i = 0; pfr_get_trace_loss(reader, i, &loss); i++)
 *         fprintf(stderr, "%s\n", loss.sentence);
 *
 * Returns true and fills *loss, or false after the last reason, or if the recording is not an XRay trace.
 */
bool pfr_get_trace_loss(pfr_reader *reader, uint32_t index, pfr_trace_loss *loss);

#ifdef __cplusplus
}
#endif
#endif
