/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TRACE_H
#define PERFRAY_TRACE_H
/*
 * Traces: the records of XRay's flight recorder (FDR, versions 1 to 5), basic logs (1 to 3) and profiles.
 *
 * They are read through the same handle and the same calls as perf.data. What differs is said here: the types of their
 * records, and where and when a record happened, which most of them do not say themselves. pfr_next gives records in
 * file order: buffer after buffer as they lie, which is neither the order of time nor thread by thread. Beside the
 * holes that stand for bytes it gives one of length 0 before a record that is where no writer puts it; the record
 * follows.
 *
 * Example, the calls that were entered:
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

/* Types of trace records lie above this: no type of a perf.data record does. */
#define PFR_TRACE_TYPES 0x1000000u

typedef enum pfr_trace_type {
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
    PFR_TRACE_FUNCTION = PFR_TRACE_TYPES + 16,
    PFR_TRACE_BASIC_FUNCTION = PFR_TRACE_TYPES + 32,
    PFR_TRACE_BASIC_ARGUMENT,
    PFR_TRACE_PROFILE_BLOCK = PFR_TRACE_TYPES + 48,
    PFR_TRACE_PROFILE_PATH
} pfr_trace_type;

/* Which way a call went: the action of fdr_function and basic_function. */
typedef enum pfr_trace_action {
    PFR_TRACE_ENTER,
    PFR_TRACE_EXIT,
    PFR_TRACE_TAIL_EXIT,
    PFR_TRACE_ENTER_ARGUMENT
} pfr_trace_action;

/* Where the record stands that pfr_next gave last. */
typedef struct pfr_trace_point {
    uint64_t tsc;          /* of the record; of one without a time of its own, of the last in its buffer that had one */
    int32_t tid, pid;      /* 0 where not known */
    uint16_t cpu;          /* of the last NewCPUId, or the record's own */
    bool timed;            /* false: no time was said before it in its buffer; tsc counts from 0 */
    bool has_tid, has_pid; /* the thread is known; the process is known (from version 3 on) */
    uint64_t buffer;       /* number of the buffer (a profile's block), from 1; 0: before the first, or none */
    uint64_t buffer_offset; /* where it begins in the file, its BufferExtents counted */
} pfr_trace_point;

/* Belongs to the reader, which keeps it up to date: ask once. NULL when the recording is no trace. */
const pfr_trace_point *pfr_get_trace_point(const pfr_reader *reader);

/* Why something is not in a trace of perfray's own runtime, which counts what it drops. Other recorders do not. */
typedef struct pfr_trace_loss {
    const char *cause;    /* "full", "handler", "buffers", "functions", "too-large", "sled", "threads", "depth" */
    uint64_t count;       /* enters, exits and events; of "sled" places in code. 0: not counted */
    const char *sentence; /* "1000 enters and exits ..."; valid until the reader is closed or asked again */
} pfr_trace_loss;

/*
 * The index-th cause, by ascending index from 0; false: there are no more. Known once the first record was given. The
 * counts are those of the recorder, in the trace's control block, also after the trace was packed or converted.
 *
 *     pfr_trace_loss loss;
 *     for (uint32_t i = 0; pfr_get_trace_loss(reader, i, &loss); i++)
 *         fprintf(stderr, "%s\n", loss.sentence);
 */
bool pfr_get_trace_loss(pfr_reader *reader, uint32_t index, pfr_trace_loss *loss);

#ifdef __cplusplus
}
#endif
#endif
