/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_PERFRAY_H
#define PERFRAY_PERFRAY_H
/*
 * perfray - read, record, check, convert and report Linux perf.data recordings and XRay traces.
 *
 * This header includes every header of the library. Each header also compiles when it is included by itself.
 *
 *     to                                            include
 *     read records one by one                       reader.h, record.h, trace.h
 *     use samples, calls and their sums as data     model.h, samples.h, spans.h, symbolize.h
 *     print facts about a recording                 info.h, quality.h
 *     print every record and every field            dump.h
 *     print samples in timestamp order              script.h
 *     print the hottest functions and call trees    report.h
 *     print the instructions of a function          annotate.h
 *     print latencies of traced calls               latency.h
 *     print why threads wait                        offcpu.h
 *     compare recordings                            diff.h
 *     query a recording in SQL                      sql.h
 *     store many recordings in a database           store.h
 *     draw a flame graph, export to other tools     flame.h, graph.h, replay.h, export.h
 *     write an interactive page                     view.h
 *     check symbols, download missing ones          symbols.h, debuginfod.h
 *     write text to a file, print names safely      out.h
 *     check, repair or convert a recording          verify.h, edit.h
 *     write a recording of your own                 writer.h
 *     sample a command, a process, the machine      sampling.h
 *     run a program under the flight recorder       tracing.h
 *
 * The flight recorder itself is linked into the traced program. It is a separate library, libperfray-rt, with its own
 * header <perfray/runtime.h>, which this header does not include.
 *
 * Conventions, in all headers:
 *
 * - Errors: a function that can fail returns a pfr_status, or a pointer that is NULL on failure, and describes the
 *   failure in a pfr_error of the caller (error.h). The library never prints to standard error and never exits.
 * - Options: every options struct begins with `size`, which the caller sets to sizeof(the struct). All other members
 *   may be left 0: 0, NULL and false select the default. Members are only added at the end.
 * - Memory: each handle counts what it allocates against a limit (limits.h) and can use the caller's allocator
 *   (alloc.h).
 * - Threads: different handles may be used by different threads at the same time. One handle may be used by one thread
 *   at a time.
 * - Strings are NUL-terminated, unless they are a pfr_text or a pfr_bytes (views.h).
 * - Times are in nanoseconds and sizes are in bytes, unless a comment says otherwise.
 *
 * Example, a program that prints the hottest functions of a recording:
 *
 *     #include <perfray/perfray.h>
 *     #include <stdio.h>
 *
 *     int main(int argc, char **argv) {
 *         pfr_error err = {.text = "usage: hottest FILE"};
 *         const pfr_report_options options = {.size = sizeof options};
 *         pfr_reader *reader = argc == 2 ? pfr_open(argv[1], NULL, &err) : NULL;
 *         pfr_output *out = reader ? pfr_output_open(1, false, &err) : NULL;
 *         pfr_status status = out ? pfr_report_print(reader, &options, out, &err) : err.status;
 *         if (out && pfr_output_close(out, status < 0 ? NULL : &err) < 0)
 *             status = PFR_ERR_IO;
 *         if (!out || status < 0)
 *             fprintf(stderr, "%s\n", err.text);
 *         pfr_close(reader);
 *         return !out || status < 0;
 *     }
 */
#include <perfray/alloc.h>
#include <perfray/annotate.h>
#include <perfray/debug.h>
#include <perfray/debuginfod.h>
#include <perfray/diff.h>
#include <perfray/dump.h>
#include <perfray/edit.h>
#include <perfray/error.h>
#include <perfray/export.h>
#include <perfray/flame.h>
#include <perfray/graph.h>
#include <perfray/info.h>
#include <perfray/latency.h>
#include <perfray/limits.h>
#include <perfray/model.h>
#include <perfray/offcpu.h>
#include <perfray/out.h>
#include <perfray/quality.h>
#include <perfray/reader.h>
#include <perfray/record.h>
#include <perfray/replay.h>
#include <perfray/report.h>
#include <perfray/samples.h>
#include <perfray/sampling.h>
#include <perfray/script.h>
#include <perfray/selection.h>
#include <perfray/spans.h>
#if !defined __has_include || __has_include(<perfray/sql.h>)
#include <perfray/sql.h>
#endif
#include <perfray/store.h>
#include <perfray/symbolize.h>
#include <perfray/symbol_options.h>
#include <perfray/symbols.h>
#include <perfray/trace.h>
#include <perfray/tracing.h>
#include <perfray/verify.h>
#include <perfray/view.h>
#include <perfray/views.h>
#include <perfray/writer.h>

#endif
