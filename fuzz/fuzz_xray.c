/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An XRay trace. The last byte selects an operation. For one operation, all records are read, again after pfr_rewind,
 * and once more through a pipe; the results must be equal, because a trace is always read from start to end. The other
 * operations print the trace in one format of dump, info, script, report, export, latency or verify.
 */
#include "fuzz_print.h"

#include <perfray/dump.h>
#include <perfray/export.h>
#include <perfray/info.h>
#include <perfray/latency.h>
#include <perfray/report.h>
#include <perfray/script.h>
#include <perfray/trace.h>
#include <perfray/verify.h>

#include <fcntl.h>
#include <unistd.h>

#define PIPE_ROOM 65536u /* bytes that a pipe accepts without a reader */

static const pfr_open_options options = {.size = sizeof options, .limits = &fuzz_limits};

static pfr_status print_dump(pfr_reader *reader, const void *format, pfr_output *out, pfr_error *err) {
    const pfr_dump_options how = {.size = sizeof how, .format = *(const pfr_dump_format *)format, .hex = true};
    return pfr_dump(reader, &how, out, err);
}

static pfr_status print_info(pfr_reader *reader, const void *format, pfr_output *out, pfr_error *err) {
    const pfr_info_options how = {.size = sizeof how, .format = *(const pfr_info_format *)format};
    return pfr_info_print(reader, &how, out, err);
}

static pfr_status print_script(pfr_reader *reader, const void *format, pfr_output *out, pfr_error *err) {
    const pfr_script_options how = {.size = sizeof how, .format = *(const pfr_script_format *)format};
    return pfr_script_print(reader, &how, out, err);
}

static const pfr_script_format script_text = PFR_SCRIPT_TEXT, script_json = PFR_SCRIPT_JSON,
                               script_yaml = PFR_SCRIPT_LLVM_YAML;
static pfr_status print_report(pfr_reader *reader, const void *how, pfr_output *out, pfr_error *err) {
    return pfr_report_print(reader, how, out, err);
}

static pfr_status print_latency(pfr_reader *reader, const void *how, pfr_output *out, pfr_error *err) {
    return pfr_latency_print(reader, how, out, err);
}

static pfr_status print_folded(pfr_reader *reader, const void *selection, pfr_output *out, pfr_error *err) {
    const pfr_export_options how = {.size = sizeof how, .format = "folded", .of = selection};
    return pfr_export(reader, &how, out, err);
}

static pfr_status print_verify(pfr_reader *reader, const void *how, pfr_output *out, pfr_error *err) {
    return pfr_verify_print(reader, how, out, err);
}

static const pfr_verify_print_options verify_text = {.size = sizeof verify_text, .notes = true},
                                      verify_json = {.size = sizeof verify_json, .format = PFR_VERIFY_JSON, .most = 3};
static const pfr_report_options report_text = {.size = sizeof report_text, .sort = "sym,pid,tid,time", .jobs = 2},
                                report_json = {.size = sizeof report_json, .format = PFR_REPORT_JSON, .jobs = 1};
static const pfr_latency_options latency_text = {.size = sizeof latency_text, .histogram = true, .jobs = 2},
                                 latency_json = {.size = sizeof latency_json,
                                                 .format = PFR_LATENCY_JSON,
                                                 .by = PFR_LATENCY_BY_CALLER,
                                                 .deduce = true,
                                                 .histogram = true,
                                                 .jobs = 1};
static const pfr_selection one_thread = {.size = sizeof one_thread, .tids = "1,101", .jobs = 1};
static const pfr_dump_format dump_text = PFR_DUMP_TEXT, dump_json = PFR_DUMP_JSON_LINES;
static const pfr_info_format info_text = PFR_INFO_TEXT, info_json = PFR_INFO_JSON;

static const struct printing forms[] = {
    {{.size = sizeof(pfr_open_options), .limits = &fuzz_limits}, TEXT_PLAIN, &dump_text, print_dump},
    {{.size = sizeof(pfr_open_options), .limits = &fuzz_limits}, TEXT_JSON_LINES, &dump_json, print_dump},
    {{.size = sizeof(pfr_open_options), .limits = &fuzz_limits}, TEXT_PLAIN, &info_text, print_info},
    {{.size = sizeof(pfr_open_options), .limits = &fuzz_limits}, TEXT_JSON, &info_json, print_info},
    {{.size = sizeof(pfr_open_options), .limits = &fuzz_limits}, TEXT_PLAIN, &script_text, print_script},
    {{.size = sizeof(pfr_open_options), .limits = &fuzz_limits}, TEXT_JSON_LINES, &script_json, print_script},
    {{.size = sizeof(pfr_open_options), .limits = &fuzz_limits}, TEXT_PLAIN, &script_yaml, print_script},
    {{.size = sizeof(pfr_open_options), .limits = &fuzz_limits}, TEXT_PLAIN, &report_text, print_report},
    {{.size = sizeof(pfr_open_options), .limits = &fuzz_limits}, TEXT_JSON, &report_json, print_report},
    {{.size = sizeof(pfr_open_options), .limits = &fuzz_limits}, TEXT_PLAIN, &one_thread, print_folded},
    {{.size = sizeof(pfr_open_options), .limits = &fuzz_limits}, TEXT_PLAIN, &latency_text, print_latency},
    {{.size = sizeof(pfr_open_options), .limits = &fuzz_limits}, TEXT_JSON, &latency_json, print_latency},
    {{.size = sizeof(pfr_open_options), .limits = &fuzz_limits}, TEXT_PLAIN, &verify_text, print_verify},
    {{.size = sizeof(pfr_open_options), .limits = &fuzz_limits}, TEXT_JSON, &verify_json, print_verify},
};
#define FORMS (sizeof forms / sizeof *forms)

static void walk_again(pfr_reader *reader, const struct walked *first, size_t length) {
    const pfr_quality before = *pfr_get_quality(reader);
    pfr_error err;
    LAW(pfr_rewind(reader, &err) == PFR_OK, "no way back: %s", err.text);
    const struct walked again = fuzz_walk(reader, length);
    fuzz_same_walk(first, &again, "then");
    LAW(memcmp(&before, pfr_get_quality(reader), sizeof before) == 0, "the second pass counts something else");
}

/* Reads the bytes through a pipe, which temporarily replaces standard input. */
static void walk_as_stream(const uint8_t *bytes, size_t length, const struct walked *first) {
    int ends[2];
    pfr_error err;
    const int old = dup(STDIN_FILENO);
    LAW(pipe2(ends, O_CLOEXEC) == 0 && write(ends[1], bytes, length) == (ssize_t)length, "no pipe");
    LAW(dup2(ends[0], STDIN_FILENO) == STDIN_FILENO, "no standard input");
    close(ends[0]);
    close(ends[1]);
    pfr_reader *reader = pfr_open("-", &options, &err);
    LAW(reader, "the stream does not open: %s", err.text);
    const struct walked streamed = fuzz_walk(reader, length);
    fuzz_same_walk(first, &streamed, "as a stream");
    pfr_close(reader);
    close(STDIN_FILENO);
    if (old >= 0) {
        dup2(old, STDIN_FILENO);
        close(old);
    }
}

static void walk(pfr_reader *reader, const uint8_t *bytes, size_t length) {
    const struct walked walked = fuzz_walk(reader, length);
    walk_again(reader, &walked, length);
    if (length <= PIPE_ROOM)
        walk_as_stream(bytes, length, &walked);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    const unsigned form = fuzz_last(bytes, &length) % (FORMS + 1);
    pfr_error err = {.status = PFR_OK};
    pfr_reader *reader = pfr_open_bytes(bytes, length, &options, &err);
    if (!reader)
        fuzz_check_error(&err, err.status, length);
    const bool is_trace = reader && pfr_get_trace_point(reader);
    if (is_trace && form == FORMS)
        walk(reader, bytes, length);
    pfr_close(reader);
    if (is_trace && form < FORMS)
        fuzz_print(&forms[form], bytes, length);
    return 0;
}
