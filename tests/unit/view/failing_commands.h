/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_FAILING_VERBS_H
#define PFR_TESTS_FAILING_VERBS_H
/* Commands whose allocations fail: each writes its results to the output, or into the folder of the scene. */
#include "../file/recorded_files.h"

#include <perfray/dump.h>
#include <perfray/edit.h>
#include <perfray/export.h>
#include <perfray/flame.h>
#include <perfray/info.h>
#include <perfray/symbols.h>
#include <perfray/report.h>
#include <perfray/script.h>
#include <perfray/verify.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const pfr_symbol_options no_symbols = {.size = sizeof no_symbols, .no_symbols = true};

struct scene {
    char folder[40]; /* a temporary folder, removed at the end */
    char aux[64];    /* the file for AUX data of dump: it must not exist before, nor after a failure */
    char symfs[RECORDED_PATH];
    pfr_symbol_options naming; /* objects below symfs, without a kernel */
    char map[RECORDED_PATH];   /* names functions of traces */
    int out;                   /* a file in memory */
};

struct verb {
    const char *name;
    pfr_status (*run)(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err);
};

static inline pfr_status run_info(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    (void)scene;
    return pfr_info_print(reader, NULL, out, err);
}

static inline pfr_status run_info_json(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_info_options options = {.size = sizeof options, .format = PFR_INFO_JSON};
    (void)scene;
    return pfr_info_print(reader, &options, out, err);
}

static inline pfr_status run_info_perf(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_info_options options = {.size = sizeof options, .format = PFR_INFO_PERF};
    (void)scene;
    return pfr_info_print(reader, &options, out, err);
}

static inline pfr_status run_info_build_ids(const struct scene *scene, pfr_reader *reader, pfr_output *out,
                                            pfr_error *err) {
    const pfr_info_options options = {.size = sizeof options, .part = PFR_INFO_BUILD_IDS};
    (void)scene;
    return pfr_info_print(reader, &options, out, err);
}

static inline pfr_status run_info_stats(const struct scene *scene, pfr_reader *reader, pfr_output *out,
                                        pfr_error *err) {
    const pfr_info_options options = {.size = sizeof options, .part = PFR_INFO_STATS};
    (void)scene;
    return pfr_info_print(reader, &options, out, err);
}

static inline pfr_status run_dump(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    (void)scene;
    return pfr_dump(reader, NULL, out, err);
}

static inline pfr_status run_dump_json(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_dump_options options = {.size = sizeof options, .format = PFR_DUMP_JSON_LINES};
    (void)scene;
    return pfr_dump(reader, &options, out, err);
}

static inline pfr_status run_dump_perf(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_dump_options options = {.size = sizeof options, .format = PFR_DUMP_PERF};
    (void)scene;
    return pfr_dump(reader, &options, out, err);
}

static inline pfr_status run_dump_aux(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_dump_options options = {.size = sizeof options, .aux_folder = scene->aux};
    return pfr_dump(reader, &options, out, err);
}

static inline pfr_status run_report(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_report_options options = {
        .size = sizeof options, .sort = "comm,dso,sym,pid,tid,socket,event", .naming = &scene->naming, .jobs = 1};
    return pfr_report_print(reader, &options, out, err);
}

enum { RECORDS_CHAINS = 5, RECORDS_CPU = 7, RECORDS_MEMORY = 15 }; /* bits of sample_type */

/* Whether all events record this field: requests for unrecorded fields are rejected. */
static inline bool records(const pfr_reader *reader, unsigned bit) {
    bool all = pfr_event_count(reader) > 0;
    for (uint32_t i = 0; i < pfr_event_count(reader); i++)
        all = all && pfr_get_event(reader, i)->attr.sample_type >> bit & 1;
    return all;
}

static inline pfr_status run_report_callees(const struct scene *scene, pfr_reader *reader, pfr_output *out,
                                            pfr_error *err) {
    const pfr_report_options options = {.size = sizeof options,
                                        .format = PFR_REPORT_PERF,
                                        .children = PFR_REPORT_NO,
                                        .call_graph = "fractal,1,callee",
                                        .parent = records(reader, RECORDS_CHAINS) ? "main" : NULL,
                                        .objects = "busy,libc.so.6",
                                        .relative = true,
                                        .time = "0,1000000",
                                        .cpus = records(reader, RECORDS_CPU) ? "0-7" : NULL,
                                        .naming = &scene->naming,
                                        .jobs = 1};
    return pfr_report_print(reader, &options, out, err);
}

static inline pfr_status run_report_folded(const struct scene *scene, pfr_reader *reader, pfr_output *out,
                                           pfr_error *err) {
    const pfr_report_options options = {
        .size = sizeof options, .call_graph = "folded,0", .group = PFR_REPORT_YES, .naming = &no_symbols, .jobs = 1};
    (void)scene;
    return pfr_report_print(reader, &options, out, err);
}

static inline pfr_status run_report_hierarchy(const struct scene *scene, pfr_reader *reader, pfr_output *out,
                                              pfr_error *err) {
    const pfr_report_options options = {
        .size = sizeof options, .hierarchy = true, .percent_limit = 5, .naming = &scene->naming, .jobs = 1};
    return pfr_report_print(reader, &options, out, err);
}

/* Prints fields, if there are any. */
static inline pfr_status run_report_fields(const struct scene *scene, pfr_reader *reader, pfr_output *out,
                                           pfr_error *err) {
    const pfr_event *first = pfr_event_count(reader) ? pfr_get_event(reader, 0) : NULL;
    const bool fields = first && first->attr.type == PFR_ATTR_TYPE_TRACEPOINT;
    const pfr_report_options options = {.size = sizeof options,
                                        .format = PFR_REPORT_CSV,
                                        .sort = fields ? "trace,trace_fields,common_pid/raw" : "trace,dso_size",
                                        .naming = &scene->naming,
                                        .jobs = 1};
    return pfr_report_print(reader, &options, out, err);
}

static inline pfr_status run_report_memory(const struct scene *scene, pfr_reader *reader, pfr_output *out,
                                           pfr_error *err) {
    const bool memory = records(reader, RECORDS_MEMORY);
    const pfr_report_options options = {.size = sizeof options,
                                        .format = PFR_REPORT_JSON,
                                        .sort = memory ? "comm,dcacheline,symbol_iaddr,symbol_daddr,dso_daddr,mem"
                                                       : "comm,addr",
                                        .memory_mode = memory,
                                        .naming = &scene->naming,
                                        .jobs = 1};
    return pfr_report_print(reader, &options, out, err);
}

static inline pfr_status run_script(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_script_options options = {
        .size = sizeof options, .show = PFR_SCRIPT_TASKS | PFR_SCRIPT_MAPS, .naming = &scene->naming};
    return pfr_script_print(reader, &options, out, err);
}

static inline pfr_status run_script_as_recorded(const struct scene *scene, pfr_reader *reader, pfr_output *out,
                                                pfr_error *err) {
    static const char *const fields[] = {"+misc", NULL};
    const pfr_script_options options = {
        .size = sizeof options, .fields = fields, .show = PFR_SCRIPT_ROUNDS, .naming = &no_symbols};
    (void)scene;
    return pfr_script_print(reader, &options, out, err);
}

static inline pfr_status run_script_chosen(const struct scene *scene, pfr_reader *reader, pfr_output *out,
                                           pfr_error *err) {
    pfr_symbol_options naming = scene->naming;
    naming.mangled = true;
    const pfr_script_options options = {.size = sizeof options,
                                        .cpus = records(reader, RECORDS_CPU) ? "0-7" : NULL,
                                        .symbols = "sieve,401000",
                                        .objects = "busy",
                                        .stop_at = "main",
                                        .time = "0s-1h",
                                        .naming = &naming};
    return pfr_script_print(reader, &options, out, err);
}

static inline pfr_status run_script_json(const struct scene *scene, pfr_reader *reader, pfr_output *out,
                                         pfr_error *err) {
    const pfr_script_options options = {.size = sizeof options,
                                        .format = PFR_SCRIPT_JSON,
                                        .show = PFR_SCRIPT_TASKS | PFR_SCRIPT_MAPS,
                                        .naming = &scene->naming};
    return pfr_script_print(reader, &options, out, err);
}

static inline pfr_status run_script_jobs(const struct scene *scene, pfr_reader *reader, pfr_output *out,
                                         pfr_error *err) {
    const pfr_script_options options = {
        .size = sizeof options, .jobs = 3, .show = PFR_SCRIPT_TASKS, .naming = &scene->naming};
    return pfr_script_print(reader, &options, out, err);
}

static inline pfr_status run_script_dump(const struct scene *scene, pfr_reader *reader, pfr_output *out,
                                         pfr_error *err) {
    const pfr_script_options options = {.size = sizeof options, .dump = true, .naming = &no_symbols};
    (void)scene;
    return pfr_script_print(reader, &options, out, err);
}

static inline pfr_status run_script_files(const struct scene *scene, pfr_reader *reader, pfr_output *out,
                                          pfr_error *err) {
    char prefix[80];
    const pfr_script_options options = {.size = sizeof options, .per_event = prefix, .naming = &no_symbols};
    snprintf(prefix, sizeof prefix, "%s/of", scene->aux);
    assert_int_equal(mkdir(scene->aux, 0700), 0);
    return pfr_script_print(reader, &options, out, err);
}

static inline pfr_selection selection_in(const struct scene *scene) {
    return (pfr_selection){.size = sizeof(pfr_selection), .jobs = 1, .naming = &scene->naming};
}

static inline pfr_status print_symbols(const struct scene *scene, pfr_symbols_format format, pfr_reader *reader,
                                       pfr_output *out, pfr_error *err) {
    const pfr_symbols_options options = {.size = sizeof options, .format = format, .jobs = 1, .naming = &scene->naming};
    return pfr_symbols_print(reader, &options, out, err);
}

static inline pfr_status run_symbols(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    return print_symbols(scene, PFR_SYMBOLS_TEXT, reader, out, err);
}

static inline pfr_status run_symbols_json(const struct scene *scene, pfr_reader *reader, pfr_output *out,
                                          pfr_error *err) {
    return print_symbols(scene, PFR_SYMBOLS_JSON, reader, out, err);
}

static inline pfr_status run_export(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_selection of = selection_in(scene);
    const pfr_export_options options = {.size = sizeof options, .format = "folded", .of = &of, .mark_kernel = true};
    return pfr_export(reader, &options, out, err);
}

static inline pfr_status run_export_pprof(const struct scene *scene, pfr_reader *reader, pfr_output *out,
                                          pfr_error *err) {
    pfr_selection of = selection_in(scene);
    const pfr_export_options options = {.size = sizeof options, .format = "pprof", .of = &of};
    of.cpus = records(reader, RECORDS_CPU) ? "0-127" : NULL;
    of.time = "0,";
    of.event = pfr_event_count(reader) ? pfr_get_event(reader, 0)->name : NULL;
    return pfr_export(reader, &options, out, err);
}

static inline pfr_status run_export_file(const struct scene *scene, pfr_reader *reader, pfr_output *out,
                                         pfr_error *err) {
    char path[80];
    const pfr_selection of = selection_in(scene);
    const pfr_export_options options = {.size = sizeof options, .format = "pprof", .of = &of, .path = path};
    snprintf(path, sizeof path, "%s/made.pb.gz", scene->aux);
    assert_int_equal(mkdir(scene->aux, 0700), 0);
    return pfr_export(reader, &options, out, err);
}

static inline pfr_status run_flame(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_selection of = selection_in(scene);
    const pfr_flame_options options = {.size = sizeof options, .of = &of, .subject = "it"};
    return pfr_flame(reader, &options, out, err);
}

static inline pfr_status run_verify(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_verify_print_options options = {.size = sizeof options, .notes = true};
    (void)scene;
    return pfr_verify_print(reader, &options, out, err);
}

static inline pfr_status run_verify_json(const struct scene *scene, pfr_reader *reader, pfr_output *out,
                                         pfr_error *err) {
    const pfr_verify_print_options options = {.size = sizeof options, .format = PFR_VERIFY_JSON, .most = 2};
    (void)scene;
    return pfr_verify_print(reader, &options, out, err);
}

/* Copies the written file to the compared output. */
static inline void hand_on(const struct scene *scene, const char *path) {
    uint8_t bytes[4096];
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    for (ssize_t n; (n = read(fd, bytes, sizeof bytes)) > 0;)
        assert_int_equal(write(scene->out, bytes, (size_t)n), n);
    close(fd);
}

/* Writes `made` in the folder for results; if it is a directory, only a file that every such directory contains is
 * compared. */
static inline pfr_status edit(const struct scene *scene, pfr_reader *reader, pfr_edit_options *options, bool recover,
                              pfr_error *err) {
    char path[80], part[96];
    snprintf(path, sizeof path, "%s/made", scene->aux);
    assert_int_equal(mkdir(scene->aux, 0700), 0);
    options->size = sizeof *options;
    options->path = path;
    const pfr_status s = (recover ? pfr_recover : pfr_convert)(reader, options, NULL, err);
    snprintf(part, sizeof part, "%s/data", path);
    if (s >= 0)
        hand_on(scene, access(part, F_OK) == 0 ? part : path);
    return s;
}

static inline pfr_status run_convert(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    pfr_edit_options options = {0};
    (void)out;
    return edit(scene, reader, &options, false, err);
}

static inline pfr_status run_convert_packed(const struct scene *scene, pfr_reader *reader, pfr_output *out,
                                            pfr_error *err) {
    pfr_edit_options options = {.order = PFR_ORDER_BIG, .compression = PFR_EDIT_COMPRESS};
    (void)out;
    return edit(scene, reader, &options, false, err);
}

static inline pfr_status run_convert_pipe(const struct scene *scene, pfr_reader *reader, pfr_output *out,
                                          pfr_error *err) {
    pfr_edit_options options = {.to_form = true, .container = PFR_PIPE};
    (void)out;
    return edit(scene, reader, &options, false, err);
}

static inline pfr_status run_convert_folder(const struct scene *scene, pfr_reader *reader, pfr_output *out,
                                            pfr_error *err) {
    pfr_edit_options options = {.to_form = true, .container = PFR_DIRECTORY, .compression = PFR_EDIT_COMPRESS};
    (void)out;
    return edit(scene, reader, &options, false, err);
}

static inline pfr_status run_recover(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    pfr_edit_options options = {0};
    (void)out;
    return edit(scene, reader, &options, true, err);
}

static const struct verb verbs[] = {
    {"info", run_info},
    {"info --format=json", run_info_json},
    {"info --format=perf", run_info_perf},
    {"info --build-ids", run_info_build_ids},
    {"info --stats", run_info_stats},
    {"dump", run_dump},
    {"dump --format=jsonl", run_dump_json},
    {"dump --format=perf", run_dump_perf},
    {"dump --aux", run_dump_aux},
    {"report", run_report},
    {"report --no-children -g fractal", run_report_callees},
    {"report --group -g folded", run_report_folded},
    {"report --hierarchy", run_report_hierarchy},
    {"report --mem-mode --format=json", run_report_memory},
    {"report -s trace_fields --format=csv", run_report_fields},
    {"symbols", run_symbols},
    {"symbols --format=json", run_symbols_json},
    {"script", run_script},
    {"script --jobs=3", run_script_jobs},
    {"script --show-round-events", run_script_as_recorded},
    {"script --symbols", run_script_chosen},
    {"script --per-event-dump", run_script_files},
    {"script --format=json", run_script_json},
    {"script -D", run_script_dump},
    {"export", run_export},
    {"export --format=pprof", run_export_pprof},
    {"export -o", run_export_file},
    {"flame", run_flame},
    {"verify", run_verify},
    {"verify --format=json", run_verify_json},
    {"convert", run_convert},
    {"convert -z --byte-order=big", run_convert_packed},
    {"convert --to=pipe", run_convert_pipe},
    {"convert --to=directory -z", run_convert_folder},
    {"recover", run_recover},
};

#endif
