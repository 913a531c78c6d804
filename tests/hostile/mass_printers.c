/* SPDX-License-Identifier: Apache-2.0 */
/* Runs printers of the library with random options, and collects their output and messages. */
#include "mass_printers.h"
#include "fuzz_made.h"
#include "fuzz_print.h"
#include "mass_folder.h"
#include "mass_model.h"

#include <stdio.h>
#include <string.h>

#define NOWHERE "/nonexistent" /* a run must not depend on the files of this machine */

void hear(void *context, const pfr_error *err) {
    struct said *said = context;
    const size_t length = strlen(err->text), shown = shown_length(err->text, length);
    said->anything = true;
    if (shown < length && !said->bad[0])
        snprintf(said->bad, sizeof said->bad, "%#x", (unsigned char)err->text[shown]);
}

static pfr_status print_info(pfr_reader *reader, pfr_output *out, pfr_info_format format, pfr_error *err) {
    const pfr_info_options options = {.size = sizeof options, .format = format};
    return pfr_info_print(reader, &options, out, err);
}

static pfr_status print_info_text(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    (void)said;
    return print_info(reader, out, PFR_INFO_TEXT, err);
}

static pfr_status print_info_json(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    (void)said;
    return print_info(reader, out, PFR_INFO_JSON, err);
}

static pfr_status print_dump(pfr_reader *reader, pfr_output *out, pfr_dump_format format, struct said *said,
                             pfr_error *err) {
    const pfr_dump_options options = {.size = sizeof options, .format = format, .hole = hear, .hole_context = said};
    return pfr_dump(reader, &options, out, err);
}

static pfr_status print_dump_text(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    return print_dump(reader, out, PFR_DUMP_TEXT, said, err);
}

static pfr_status print_dump_json(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    return print_dump(reader, out, PFR_DUMP_JSON_LINES, said, err);
}

static pfr_status print_report(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    pfr_report_options options = drawn_report(said->drawn);
    options.hole = hear;
    options.context = said;
    said->is_json = options.format == PFR_REPORT_JSON;
    return pfr_report_print(reader, &options, out, err);
}

static pfr_status print_script(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    pfr_script_options options = drawn_script(said->drawn);
    options.hole = hear;
    options.context = said;
    return pfr_script_print(reader, &options, out, err);
}

static pfr_status print_trace(pfr_reader *reader, pfr_output *out, pfr_script_format format, struct said *said,
                              pfr_error *err) {
    const pfr_script_options options = {.size = sizeof options, .format = format, .hole = hear, .context = said};
    return pfr_script_print(reader, &options, out, err);
}

static pfr_status print_trace_text(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    return print_trace(reader, out, PFR_SCRIPT_TEXT, said, err);
}

static pfr_status print_trace_json(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    return print_trace(reader, out, PFR_SCRIPT_JSON, said, err);
}

static pfr_status print_trace_yaml(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    return print_trace(reader, out, PFR_SCRIPT_LLVM_YAML, said, err);
}

static pfr_selection draw_selection(struct said *said) {
    pfr_selection of = drawn_selection(said->drawn);
    of.hole = hear;
    of.context = said;
    return of;
}

static pfr_status print_export(pfr_reader *reader, pfr_output *out, const char *format, struct said *said,
                               pfr_error *err) {
    const pfr_selection of = draw_selection(said);
    const pfr_export_options options = {.size = sizeof options, .format = format, .of = &of};
    return pfr_export(reader, &options, out, err);
}

static pfr_status print_folded(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    return print_export(reader, out, "folded", said, err);
}

static pfr_status print_pprof(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    return print_export(reader, out, "pprof", said, err);
}

/* Uses one of the formats, selected by the input, because all formats for each input would take too long. */
static const char *format_for(const pfr_reader *reader, const char *const *formats, size_t count) {
    const pfr_header *header = pfr_get_header(reader);
    return formats[(header->data_size / 8 + header->data_size) % count];
}

static pfr_status print_json_format(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    static const char *const formats[] = {"speedscope", "chrome", "firefox"};
    return print_export(reader, out, format_for(reader, formats, 3), said, err);
}

static pfr_status print_graph(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err);

static pfr_status print_other_format(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    static const char *const formats[] = {"csv",      "jsonl", "callgrind", "dot",     "mermaid",
                                          "perfetto", "otlp",  "graph",     "parquet", "ctf"};
    const char *format = format_for(reader, formats, sizeof formats / sizeof *formats);
    const pfr_selection of = draw_selection(said);
    if (strcmp(format, "parquet") == 0 || strcmp(format, "ctf") == 0)
        return print_folder(reader, out, format, &of, err);
    return strcmp(format, "graph") == 0 ? print_graph(reader, out, said, err)
                                        : print_export(reader, out, format, said, err);
}

static pfr_status print_replay(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    const pfr_selection of = draw_selection(said);
    const pfr_replay_options options = {.size = sizeof options, .of = &of, .min_duration = 1};
    return pfr_replay(reader, &options, out, err);
}

static pfr_status print_graph(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    const pfr_selection of = draw_selection(said);
    const pfr_graph_options options = {.size = sizeof options,
                                       .of = &of,
                                       .edge_label = PFR_GRAPH_SUM,
                                       .vertex_label = PFR_GRAPH_COUNT,
                                       .edge_color = PFR_GRAPH_SUM,
                                       .min_vertex = 0.5};
    return pfr_graph(reader, &options, out, err);
}

/* Without a function at the address the status is PFR_END. */
static pfr_status print_annotate(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    const pfr_symbol_options nowhere = {.size = sizeof nowhere, .symfs = NOWHERE, .kallsyms = NOWHERE};
    const pfr_annotate_options options = {.size = sizeof options,
                                          .what = "0x401000",
                                          .top = 3,
                                          .by_line = true,
                                          .naming = &nowhere,
                                          .hole = hear,
                                          .context = said};
    const pfr_status st = pfr_annotate_print(reader, &options, out, err);
    return st == PFR_END ? PFR_OK : st;
}

static pfr_status print_flame(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    const pfr_selection of = draw_selection(said);
    pfr_flame_options options = drawn_flame(said->drawn);
    options.of = &of;
    return pfr_flame(reader, &options, out, err);
}

static pfr_status print_symbols(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    const pfr_symbol_options nowhere = {.size = sizeof nowhere, .symfs = "/nonexistent", .kallsyms = "/nonexistent"};
    const pfr_symbols_options options = {.size = sizeof options,
                                         .format = PFR_SYMBOLS_JSON,
                                         .jobs = 1,
                                         .naming = &nowhere,
                                         .hole = hear,
                                         .context = said};
    return pfr_symbols_print(reader, &options, out, err);
}

/* An XRay profile has no calls, which is a separate error. */
static pfr_status print_model(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    const pfr_symbol_options nowhere = {.size = sizeof nowhere, .symfs = NOWHERE, .kallsyms = NOWHERE};
    const pfr_model_options options = {
        .size = sizeof options, .jobs = 2, .naming = &nowhere, .hole = hear, .context = said};
    return print_sums(reader, &options, out, err);
}

static pfr_status print_view(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    const pfr_symbol_options nowhere = {.size = sizeof nowhere, .symfs = NOWHERE, .kallsyms = NOWHERE};
    const pfr_model_options options = {
        .size = sizeof options, .jobs = 1, .functions = true, .naming = &nowhere, .hole = hear, .context = said};
    return print_pages(reader, &options, out, err);
}

static pfr_status print_latency(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    const pfr_latency_options options = {
        .size = sizeof options, .by = PFR_LATENCY_BY_CALLER, .histogram = true, .hole = hear, .context = said};
    return pfr_latency_print(reader, &options, out, err);
}

static pfr_status print_latency_json(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    const pfr_latency_options options = {.size = sizeof options,
                                         .format = PFR_LATENCY_JSON,
                                         .by = PFR_LATENCY_BY_THREAD,
                                         .deduce = true,
                                         .hole = hear,
                                         .context = said};
    return pfr_latency_print(reader, &options, out, err);
}

/* Recordings without scheduler events are refused. */
static pfr_status print_offcpu_as(pfr_reader *reader, pfr_output *out, struct said *said, pfr_offcpu_format format,
                                  pfr_offcpu_view view, pfr_error *err) {
    const pfr_symbol_options nowhere = {.size = sizeof nowhere, .symfs = NOWHERE, .kallsyms = NOWHERE};
    const pfr_offcpu_options options = {.size = sizeof options,
                                        .format = format,
                                        .view = view,
                                        .jobs = 1,
                                        .naming = &nowhere,
                                        .hole = hear,
                                        .context = said};
    return pfr_offcpu_print(reader, &options, out, err);
}

static pfr_status print_offcpu(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    return print_offcpu_as(reader, out, said, PFR_OFFCPU_TEXT, PFR_OFFCPU_WAKERS, err);
}

static pfr_status print_offcpu_json(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    return print_offcpu_as(reader, out, said, PFR_OFFCPU_JSON, PFR_OFFCPU_WAITS, err);
}

static pfr_status print_findings(pfr_reader *reader, pfr_output *out, pfr_verify_format format, pfr_error *err) {
    const pfr_verify_print_options options = {.size = sizeof options, .format = format, .notes = true, .most = 100};
    return pfr_verify_print(reader, &options, out, err);
}

static pfr_status print_verify(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    (void)said;
    return print_findings(reader, out, PFR_VERIFY_TEXT, err);
}

static pfr_status print_verify_json(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    (void)said;
    return print_findings(reader, out, PFR_VERIFY_JSON, err);
}

/* Prints nothing: fuzz_made.c checks the written file. XRay profiles cannot be written. */
static pfr_status make(pfr_reader *reader, pfr_edit_options *how, bool recover, struct said *said, pfr_error *err) {
    if (pfr_get_header(reader)->format == PFR_XRAY_PROFILE)
        return said->anything = true, PFR_OK;
    how->size = sizeof *how;
    how->hole = hear;
    how->context = said;
    return fuzz_make(reader, how, recover, err);
}

static pfr_status make_turned(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    pfr_edit_options how = {.order = pfr_get_header(reader)->big_endian ? PFR_ORDER_LITTLE : PFR_ORDER_BIG};
    (void)out;
    return make(reader, &how, false, said, err);
}

static pfr_status make_recovered(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    pfr_edit_options how = {.attr_size = 0};
    (void)out;
    return make(reader, &how, true, said, err);
}

const struct printer printers[] = {
    {"info", OF_ALL, false, false, false, print_info_text},
    {"info-json", OF_ALL, true, false, false, print_info_json},
    {"dump", OF_ALL, false, true, false, print_dump_text},
    {"dump-jsonl", OF_ALL, false, true, false, print_dump_json},
    {"report", OF_ALL, false, false, false, print_report},
    {"script", OF_SAMPLES, false, false, false, print_script},
    {"folded", OF_ALL, false, false, false, print_folded},
    {"pprof", OF_ALL, false, false, true, print_pprof},
    {"format-json", OF_ALL, true, false, false, print_json_format},
    {"format-other", OF_ALL, false, false, true, print_other_format},
    {"replay", OF_TRACES, false, false, false, print_replay},
    {"trace-script", OF_TRACES, false, false, false, print_trace_text},
    {"trace-script-json", OF_TRACES, false, false, false, print_trace_json},
    {"trace-script-yaml", OF_TRACES, false, false, false, print_trace_yaml},
    {"offcpu", OF_SAMPLES, false, false, false, print_offcpu},
    {"offcpu-json", OF_SAMPLES, true, false, false, print_offcpu_json},
    {"latency", OF_TRACES, false, false, false, print_latency},
    {"latency-json", OF_TRACES, true, false, false, print_latency_json},
    {"symbols", OF_SAMPLES, true, false, false, print_symbols},
    {"annotate", OF_SAMPLES, false, false, false, print_annotate},
    {"flame", OF_ALL, false, false, false, print_flame},
    {"verify", OF_ALL, false, true, false, print_verify},
    {"verify-json", OF_ALL, true, true, false, print_verify_json},
    {"convert", OF_ALL, false, true, false, make_turned},
    {"recover", OF_ALL, false, true, false, make_recovered},
    {"model", OF_ALL, false, false, false, print_model},
    {"view", OF_ALL, false, false, true, print_view},
};

const size_t printer_count = sizeof printers / sizeof *printers;
