/* SPDX-License-Identifier: Apache-2.0 */
/* Like failing_alloc_test.c, for traces: the commands for both recordings and traces, and those only for traces. */
#include "failing_runs.h"

#include "../file/xray_files.h"

#include <perfray/latency.h>

static pfr_status print_latency(pfr_latency_by by, pfr_latency_format format, pfr_reader *reader, pfr_output *out,
                                pfr_error *err) {
    const char *const functions[] = {"/^#[0-9]/", "*", NULL};
    const pfr_latency_options options = {.size = sizeof options,
                                         .by = by,
                                         .format = format,
                                         .histogram = format != PFR_LATENCY_CSV,
                                         .functions = functions,
                                         .lines = true,
                                         .tids = "0-4294967295",
                                         .jobs = 1};
    return pfr_latency_print(reader, &options, out, err);
}

static pfr_status run_latency(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    (void)scene;
    return print_latency(PFR_LATENCY_BY_FUNCTION, PFR_LATENCY_TEXT, reader, out, err);
}

static pfr_status run_latency_csv(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    (void)scene;
    return print_latency(PFR_LATENCY_BY_THREAD, PFR_LATENCY_CSV, reader, out, err);
}

static pfr_status run_latency_json(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    (void)scene;
    return print_latency(PFR_LATENCY_BY_CALLER, PFR_LATENCY_JSON, reader, out, err);
}

/* The commands and formats for traces. */
static bool is_of_traces(const struct verb *verb) {
    static const char *const of_both[] = {"report", "export", "flame", "verify"};
    const bool is_plain = strncmp(verb->name, "info", 4) == 0 || strncmp(verb->name, "dump", 4) == 0;
    for (size_t i = 0; i < sizeof of_both / sizeof *of_both; i++)
        if (strncmp(verb->name, of_both[i], strlen(of_both[i])) == 0)
            return true;
    return is_plain && !strstr(verb->name, "perf") && !strstr(verb->name, "aux");
}

static pfr_status run_dump_named(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const char *const maps[] = {scene->map, NULL};
    const pfr_dump_options options = {.size = sizeof options, .instr_maps = maps};
    return pfr_dump(reader, &options, out, err);
}

static pfr_status run_calls(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_script_options options = {.size = sizeof options, .tids = "101-102", .time = "0%-90%", .cpus = "0-1,2"};
    (void)scene;
    return pfr_script_print(reader, &options, out, err);
}

static pfr_status run_calls_json(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const char *const maps[] = {scene->map, scene->map, NULL};
    const pfr_symbol_options naming = {.size = sizeof naming, .instr_maps = maps};
    const pfr_script_options options = {
        .size = sizeof options, .format = PFR_SCRIPT_JSON, .naming = &naming, .symbols = "main,leaf,shape::area"};
    return pfr_script_print(reader, &options, out, err);
}

static pfr_status run_calls_yaml(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const char *const maps[] = {scene->map, NULL};
    const pfr_symbol_options naming = {.size = sizeof naming, .instr_maps = maps, .mangled = true};
    const pfr_script_options options = {.size = sizeof options, .format = PFR_SCRIPT_LLVM_YAML, .naming = &naming};
    return pfr_script_print(reader, &options, out, err);
}

static pfr_status run_convert_basic(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    pfr_edit_options options = {.order = PFR_ORDER_BIG, .trace = PFR_EDIT_TRACE_BASIC};
    (void)out;
    return edit(scene, reader, &options, false, err);
}

static pfr_status run_convert_recorder(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    pfr_edit_options options = {.trace = PFR_EDIT_TRACE_FDR_1};
    (void)out;
    return edit(scene, reader, &options, false, err);
}

static pfr_status run_calls_map(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const char *const maps[] = {scene->map, NULL};
    const pfr_symbol_options naming = {.size = sizeof naming, .instr_maps = maps};
    const pfr_script_options options = {.size = sizeof options, .format = PFR_SCRIPT_LLVM_MAP, .naming = &naming};
    return pfr_script_print(reader, &options, out, err);
}

/* Only for XRay traces; the last ones only for traces with events. */
static const struct verb xray_verbs[] = {
    {"dump --instr-map", run_dump_named},
    {"latency --histogram", run_latency},
    {"latency --by=thread --format=csv", run_latency_csv},
    {"latency --by=caller --format=json", run_latency_json},
    {"script of a trace", run_calls},
    {"script --format=json of a trace", run_calls_json},
    {"script --format=llvm-yaml", run_calls_yaml},
    {"convert of a trace", run_convert},
    {"convert --trace=basic --byte-order=big", run_convert_basic},
    {"convert --trace=fdr1", run_convert_recorder},
    {"recover of a trace", run_recover},
    {"script --format=llvm-map", run_calls_map},
};

static void fail_each_of_trace(const char *path, void *context) {
    const struct scene *scene = context;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (is_of_traces(&verbs[i]))
            assert_true(fail_each(scene, &verbs[i], path) > 3);
    const size_t count = strstr(path, "/profile") ? 4 : sizeof xray_verbs / sizeof *xray_verbs; /* no events */
    for (size_t i = 0; i < count; i++)
        assert_true(fail_each(scene, &xray_verbs[i], path) > 3);
}

TEST(every_allocation_of_a_verb_fails_once_traces) {
    struct scene scene;
    begin_scene(&scene);
    assert_int_equal(each_trace(fail_each_of_trace, &scene), 23);
    assert_int_equal(each_recorder_trace(fail_each_of_trace, &scene), 3);
    end_scene(&scene);
}
