/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of whole verbs: every allocation of info, dump, report, symbols, latency, script, export, flame, verify,
 * convert and recover fails once, on recordings of each kind. Then the verb says so (PFR_ERR_MEMORY, a sentence, no
 * half of a table), and no block, no descriptor and no file is left over. What a verb can do without that allocation
 * must come out as if it had not failed.
 */
#include "../base/failing_alloc.h"
#include "../file/recorded_files.h"
#include "../file/recording_builder.h"
#include "../file/xray_files.h"

#include <perfray/dump.h>
#include <perfray/edit.h>
#include <perfray/export.h>
#include <perfray/flame.h>
#include <perfray/info.h>
#include <perfray/latency.h>
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
    char folder[40]; /* ours, removed at the end */
    char aux[64];    /* where dump puts AUX data: not there before, not there after a failure */
    char symfs[RECORDED_PATH];
    pfr_symbol_options naming; /* objects below symfs, and no kernel */
    char map[RECORDED_PATH];   /* names functions of traces */
    int out;                   /* a file in memory */
};

struct verb {
    const char *name;
    pfr_status (*run)(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err);
};

static pfr_status run_info(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    (void)scene;
    return pfr_info_print(reader, NULL, out, err);
}

static pfr_status run_info_json(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_info_options options = {.size = sizeof options, .format = PFR_INFO_JSON};
    (void)scene;
    return pfr_info_print(reader, &options, out, err);
}

static pfr_status run_info_perf(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_info_options options = {.size = sizeof options, .format = PFR_INFO_PERF};
    (void)scene;
    return pfr_info_print(reader, &options, out, err);
}

static pfr_status run_info_build_ids(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_info_options options = {.size = sizeof options, .part = PFR_INFO_BUILD_IDS};
    (void)scene;
    return pfr_info_print(reader, &options, out, err);
}

static pfr_status run_info_stats(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_info_options options = {.size = sizeof options, .part = PFR_INFO_STATS};
    (void)scene;
    return pfr_info_print(reader, &options, out, err);
}

static pfr_status run_dump(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    (void)scene;
    return pfr_dump(reader, NULL, out, err);
}

static pfr_status run_dump_json(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_dump_options options = {.size = sizeof options, .format = PFR_DUMP_JSON_LINES};
    (void)scene;
    return pfr_dump(reader, &options, out, err);
}

static pfr_status run_dump_perf(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_dump_options options = {.size = sizeof options, .format = PFR_DUMP_PERF};
    (void)scene;
    return pfr_dump(reader, &options, out, err);
}

static pfr_status run_dump_aux(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_dump_options options = {.size = sizeof options, .aux_folder = scene->aux};
    return pfr_dump(reader, &options, out, err);
}

static pfr_status run_report(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_report_options options = {
        .size = sizeof options, .sort = "comm,dso,sym,pid,tid,socket,event", .naming = &scene->naming, .jobs = 1};
    return pfr_report_print(reader, &options, out, err);
}

enum { RECORDS_CHAINS = 5, RECORDS_CPU = 7, RECORDS_MEMORY = 15 }; /* bits of sample_type */

/* What is asked of a recording that does not have it is refused. */
static bool records(const pfr_reader *reader, unsigned bit) {
    bool all = pfr_event_count(reader) > 0;
    for (uint32_t i = 0; i < pfr_event_count(reader); i++)
        all = all && pfr_get_event(reader, i)->attr.sample_type >> bit & 1;
    return all;
}

static pfr_status run_report_callees(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
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

static pfr_status run_report_folded(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_report_options options = {
        .size = sizeof options, .call_graph = "folded,0", .group = PFR_REPORT_YES, .naming = &no_symbols, .jobs = 1};
    (void)scene;
    return pfr_report_print(reader, &options, out, err);
}

/* Fields, where something has fields. */
static pfr_status run_report_fields(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_event *first = pfr_event_count(reader) ? pfr_get_event(reader, 0) : NULL;
    const bool fields = first && first->attr.type == PFR_ATTR_TYPE_TRACEPOINT;
    const pfr_report_options options = {.size = sizeof options,
                                        .format = PFR_REPORT_CSV,
                                        .sort = fields ? "trace,trace_fields,common_pid/raw" : "trace,dso_size",
                                        .naming = &scene->naming,
                                        .jobs = 1};
    return pfr_report_print(reader, &options, out, err);
}

static pfr_status run_report_memory(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
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

static pfr_status run_script(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_script_options options = {
        .size = sizeof options, .show = PFR_SCRIPT_TASKS | PFR_SCRIPT_MAPS, .naming = &scene->naming};
    return pfr_script_print(reader, &options, out, err);
}

static pfr_status run_script_as_recorded(const struct scene *scene, pfr_reader *reader, pfr_output *out,
                                         pfr_error *err) {
    static const char *const fields[] = {"+misc", NULL};
    const pfr_script_options options = {
        .size = sizeof options, .fields = fields, .show = PFR_SCRIPT_ROUNDS, .naming = &no_symbols};
    (void)scene;
    return pfr_script_print(reader, &options, out, err);
}

static pfr_status run_script_chosen(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
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

static pfr_status run_script_json(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_script_options options = {.size = sizeof options,
                                        .format = PFR_SCRIPT_JSON,
                                        .show = PFR_SCRIPT_TASKS | PFR_SCRIPT_MAPS,
                                        .naming = &scene->naming};
    return pfr_script_print(reader, &options, out, err);
}

static pfr_status run_script_jobs(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_script_options options = {
        .size = sizeof options, .jobs = 3, .show = PFR_SCRIPT_TASKS, .naming = &scene->naming};
    return pfr_script_print(reader, &options, out, err);
}

static pfr_status run_script_dump(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_script_options options = {.size = sizeof options, .dump = true, .naming = &no_symbols};
    (void)scene;
    return pfr_script_print(reader, &options, out, err);
}

static pfr_status run_script_files(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    char prefix[80];
    const pfr_script_options options = {.size = sizeof options, .per_event = prefix, .naming = &no_symbols};
    snprintf(prefix, sizeof prefix, "%s/of", scene->aux);
    assert_int_equal(mkdir(scene->aux, 0700), 0);
    return pfr_script_print(reader, &options, out, err);
}

static pfr_selection selection_in(const struct scene *scene) {
    return (pfr_selection){.size = sizeof(pfr_selection), .jobs = 1, .naming = &scene->naming};
}

static pfr_status print_symbols(const struct scene *scene, pfr_symbols_format format, pfr_reader *reader,
                                pfr_output *out, pfr_error *err) {
    const pfr_symbols_options options = {.size = sizeof options, .format = format, .jobs = 1, .naming = &scene->naming};
    return pfr_symbols_print(reader, &options, out, err);
}

static pfr_status run_symbols(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    return print_symbols(scene, PFR_SYMBOLS_TEXT, reader, out, err);
}

static pfr_status run_symbols_json(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    return print_symbols(scene, PFR_SYMBOLS_JSON, reader, out, err);
}

static pfr_status run_export(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_selection of = selection_in(scene);
    const pfr_export_options options = {.size = sizeof options, .format = "folded", .of = &of, .mark_kernel = true};
    return pfr_export(reader, &options, out, err);
}

static pfr_status run_export_pprof(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    pfr_selection of = selection_in(scene);
    const pfr_export_options options = {.size = sizeof options, .format = "pprof", .of = &of};
    of.cpus = records(reader, RECORDS_CPU) ? "0-127" : NULL;
    of.time = "0,";
    of.event = pfr_event_count(reader) ? pfr_get_event(reader, 0)->name : NULL;
    return pfr_export(reader, &options, out, err);
}

static pfr_status run_export_file(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    char path[80];
    const pfr_selection of = selection_in(scene);
    const pfr_export_options options = {.size = sizeof options, .format = "pprof", .of = &of, .path = path};
    snprintf(path, sizeof path, "%s/made.pb.gz", scene->aux);
    assert_int_equal(mkdir(scene->aux, 0700), 0);
    return pfr_export(reader, &options, out, err);
}

static pfr_status run_flame(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_selection of = selection_in(scene);
    const pfr_flame_options options = {.size = sizeof options, .of = &of, .subject = "it"};
    return pfr_flame(reader, &options, out, err);
}

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

static pfr_status run_verify(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_verify_print_options options = {.size = sizeof options, .notes = true};
    (void)scene;
    return pfr_verify_print(reader, &options, out, err);
}

static pfr_status run_verify_json(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    const pfr_verify_print_options options = {.size = sizeof options, .format = PFR_VERIFY_JSON, .most = 2};
    (void)scene;
    return pfr_verify_print(reader, &options, out, err);
}

/* What was written, handed on so that it is compared. */
static void hand_on(const struct scene *scene, const char *path) {
    uint8_t bytes[4096];
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    for (ssize_t n; (n = read(fd, bytes, sizeof bytes)) > 0;)
        assert_int_equal(write(scene->out, bytes, (size_t)n), n);
    close(fd);
}

/* Writes `made` in the folder of what verbs make; of a directory the part that every one has is looked at. */
static pfr_status edit(const struct scene *scene, pfr_reader *reader, pfr_edit_options *options, bool recover,
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

static pfr_status run_convert(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    pfr_edit_options options = {0};
    (void)out;
    return edit(scene, reader, &options, false, err);
}

static pfr_status run_convert_packed(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    pfr_edit_options options = {.order = PFR_ORDER_BIG, .compression = PFR_EDIT_COMPRESS};
    (void)out;
    return edit(scene, reader, &options, false, err);
}

static pfr_status run_convert_pipe(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    pfr_edit_options options = {.to_form = true, .container = PFR_PIPE};
    (void)out;
    return edit(scene, reader, &options, false, err);
}

static pfr_status run_convert_folder(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
    pfr_edit_options options = {.to_form = true, .container = PFR_DIRECTORY, .compression = PFR_EDIT_COMPRESS};
    (void)out;
    return edit(scene, reader, &options, false, err);
}

static pfr_status run_recover(const struct scene *scene, pfr_reader *reader, pfr_output *out, pfr_error *err) {
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

/* Opens, runs, closes; everything takes its memory from `failing`. */
static pfr_status run_verb(const struct scene *scene, const struct verb *verb, const char *path,
                           const struct failing_alloc *failing, pfr_error *err) {
    const pfr_open_options how = {.size = sizeof how, .alloc = &failing->alloc, .keep_aux = true, .spool = true};
    assert_int_equal(ftruncate(scene->out, 0), 0);
    assert_int_equal(lseek(scene->out, 0, SEEK_SET), 0);
    pfr_reader *reader = pfr_open(path, &how, err);
    if (!reader)
        return err->status;
    pfr_output *out = pfr_output_open_alloc(scene->out, false, &failing->alloc, err);
    pfr_status status = out ? verb->run(scene, reader, out, err) : err->status;
    const pfr_status closed = pfr_output_close(out, status < 0 ? NULL : err);
    pfr_close(reader);
    return status < 0 ? status : closed < 0 ? closed : status;
}

/* What was printed, as a number. */
static uint64_t sum_of_output(const struct scene *scene) {
    uint8_t bytes[4096];
    uint64_t sum = 1;
    off_t at = 0;
    for (ssize_t n; (n = pread(scene->out, bytes, sizeof bytes, at)) > 0; at += n)
        sum = mix_bytes(sum, bytes, (size_t)n);
    return sum;
}

static unsigned count_descriptors(void) {
    unsigned count = 0;
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

static unsigned clear_folder(const char *path) {
    char inside[320];
    unsigned count = 0;
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(inside, sizeof inside, "%.60s/%.250s", path, e->d_name);
        count += unlink(inside) == 0 ? 1 : 1 + clear_folder(inside);
    }
    if (dir)
        closedir(dir);
    rmdir(path);
    return count;
}

/* Removes what verbs made; returns how many files it were. */
static unsigned clear_aux(const struct scene *scene) {
    return clear_folder(scene->aux);
}

struct run {
    pfr_status status;
    uint64_t sum;
    unsigned files;
};

static struct run run_once(const struct scene *scene, const struct verb *verb, const char *path,
                           struct failing_alloc *failing, long fail_at) {
    pfr_error err = {0};
    const unsigned before = count_descriptors();
    failing_alloc_begin(failing, fail_at);
    struct run run = {.status = run_verb(scene, verb, path, failing, &err)};
    run.sum = sum_of_output(scene);
    run.files = clear_aux(scene);
    if (failing->blocks != 0)
        fail_msg("%s of %s: %ld blocks are left when allocation %ld fails", verb->name, path, failing->blocks, fail_at);
    if (count_descriptors() != before)
        fail_msg("%s of %s: a descriptor is left open when allocation %ld fails", verb->name, path, fail_at);
    if (run.status == PFR_ERR_MEMORY && (err.status != PFR_ERR_MEMORY || !strstr(err.text, "memory")))
        fail_msg("%s of %s: when allocation %ld fails the error is %s, \"%s\"", verb->name, path, fail_at,
                 pfr_status_name(err.status), err.text);
    return run;
}

static void check_failed(const struct verb *verb, const char *path, long n, const struct run *good,
                         const struct run *run) {
    if (run->status == PFR_ERR_MEMORY && run->files > 0)
        fail_msg("%s of %s: %u files are left when allocation %ld fails", verb->name, path, run->files, n);
    if (run->status != PFR_ERR_MEMORY && (run->status != good->status || run->sum != good->sum))
        fail_msg("%s of %s: allocation %ld fails, and the result is %s with %s output", verb->name, path, n,
                 pfr_status_name(run->status), run->sum == good->sum ? "the same" : "other");
}

/* Returns how many allocations there were to fail. */
static long fail_each(const struct scene *scene, const struct verb *verb, const char *path) {
    struct failing_alloc failing;
    const struct run good = run_once(scene, verb, path, &failing, 0);
    const long count = failing.requests;
    if (good.status < 0)
        fail_msg("%s of %s is %s without any failure", verb->name, path, pfr_status_name(good.status));
    const long step = with_sanitizers_only(3, 1);
    static long turn;
    for (long n = 1 + turn++ % step; n <= count; n += step) {
        const struct run run = run_once(scene, verb, path, &failing, n);
        assert_true(failing.has_failed);
        check_failed(verb, path, n, &good, &run);
    }
    return count;
}

static void begin_scene(struct scene *scene) {
    const bool in_memory = access("/dev/shm", W_OK) == 0; /* where to synchronise costs nothing */
    *scene = (struct scene){.out = memfd_create("out", MFD_CLOEXEC)};
    snprintf(scene->folder, sizeof scene->folder, "%s/perfray-alloc-XXXXXX", in_memory ? "/dev/shm" : "/tmp");
    recorded_path(scene->symfs, "demo-root");
    scene->naming = (pfr_symbol_options){.size = sizeof scene->naming, .symfs = scene->symfs, .kallsyms = "/nowhere"};
    recorded_path(scene->map, "../maps/functions.yaml");
    assert_true(scene->out >= 0);
    assert_non_null(mkdtemp(scene->folder));
    setenv("HOME", scene->folder, 1); /* nothing is found in the cache of whoever runs this */
    snprintf(scene->aux, sizeof scene->aux, "%s/aux", scene->folder);
}

static void end_scene(struct scene *scene) {
    close(scene->out);
    assert_int_equal(rmdir(scene->folder), 0);
}

static void fail_each_verb(const struct scene *scene, const char *path) {
    long count = 0;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        const long own = fail_each(scene, &verbs[i], path);
        assert_true(own > 3); /* reader, parts, output, its buffer */
        count += own;
    }
    print_message("%s: %ld allocations failed, one a run\n", path, count);
}

static void fail_all(const char *name) {
    struct scene scene;
    char path[RECORDED_PATH];
    begin_scene(&scene);
    fail_each_verb(&scene, recorded_path(path, name));
    end_scene(&scene);
}

TEST(every_allocation_of_a_verb_fails_once_file) {
    fail_all("cpu-clock.data");
}

TEST(every_allocation_of_a_verb_fails_once_addresses) {
    fail_all("addresses.data");
}

TEST(every_allocation_of_a_verb_fails_once_group) {
    fail_all("group.data");
}

TEST(every_allocation_of_a_verb_fails_once_build_ids) {
    fail_all("buildid-mmap.data");
}

TEST(every_allocation_of_a_verb_fails_once_bpf_program) {
    fail_all("bpf-program.data");
}

TEST(every_allocation_of_a_verb_fails_once_tracepoints) {
    fail_all("tracepoints.data");
}

TEST(every_allocation_of_a_verb_fails_once_pipe) {
    fail_all("pipe-tracepoints.data");
}

TEST(every_allocation_of_a_verb_fails_once_compressed) {
    fail_all("zstd.data");
}

TEST(every_allocation_of_a_verb_fails_once_counts) {
    fail_all("stat.data");
}

TEST(every_allocation_of_a_verb_fails_once_folder) {
    fail_all("threads-zstd.data");
}

TEST(every_allocation_of_a_verb_fails_once_symbols) {
    fail_all("demo.data");
}

/* Verbs and forms that traces have. */
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

/* Of traces alone; the last ones of those that have events. */
static const struct verb trace_verbs[] = {
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
    const size_t count = strstr(path, "/profile") ? 4 : sizeof trace_verbs / sizeof *trace_verbs; /* no events */
    for (size_t i = 0; i < count; i++)
        assert_true(fail_each(scene, &trace_verbs[i], path) > 3);
}

TEST(every_allocation_of_a_verb_fails_once_traces) {
    struct scene scene;
    begin_scene(&scene);
    assert_int_equal(each_trace(fail_each_of_trace, &scene), 23);
    assert_int_equal(each_recorder_trace(fail_each_of_trace, &scene), 3);
    end_scene(&scene);
}

static void fail_all_built(const struct builder *b) {
    struct scene scene;
    char path[64];
    begin_scene(&scene);
    snprintf(path, sizeof path, "%s/built", scene.folder);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && write(fd, b->bytes, b->length) == (ssize_t)b->length);
    close(fd);
    fail_each_verb(&scene, path);
    unlink(path);
    end_scene(&scene);
    free(b->bytes);
}

TEST(every_allocation_of_a_verb_fails_once_other_byte_order) {
    struct builder b = {.big = true};
    begin_file(&b, &(struct plan){.header_size = 104, .events = 2});
    put_comm(&b, 12, "twelve", FIRST_ID);
    put_sample(&b, 0x1000, FIRST_ID + 1);
    put_sample(&b, 0x2000, FIRST_ID);
    end_file(&b);
    fail_all_built(&b);
}

static void put_auxtrace(struct builder *b, uint32_t idx) {
    put_head(b, 71, 0, 48);
    put_number(b, 8, 8);
    put_room(b, 16);
    put_number(b, idx, 4);
    put_number(b, 7, 4);
    put_room(b, 8);
    put_bytes(b, "auxdata-", 8);
}

/* More buffers than the first table of them holds. */
TEST(every_allocation_of_a_verb_fails_once_aux_data) {
    struct builder b = {.big = true};
    begin_pipe(&b, 1);
    put_comm(&b, 12, "twelve", 0);
    for (uint32_t idx = 0; idx < 20; idx++)
        put_auxtrace(&b, idx);
    put_sample(&b, 0x1000, 0);
    fail_all_built(&b);
}
