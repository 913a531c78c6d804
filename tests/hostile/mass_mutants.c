/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mass_mutants.c - damaged recordings through the printers of the library, in process; run_mass.py feeds it.
 *
 * Standard input is a row of mutants: three 32-bit integers of this machine (number, 1 when the damage is structural,
 * length), then the bytes. BATCH of them are run by one child after the other, so that a crash costs the child and not
 * the run: what it was at stands in shared memory, and the next child goes on behind it. Leaks show when a child ends;
 * then each mutant of the batch is run by a child of its own. Each mutant goes through each of `printers` within
 * SECONDS, by turns read from memory, where the block ends with the recording and a sanitizer sees the first byte read
 * too far, and as a file. Three of four mutants go through options that are drawn from their numbers (fuzz_drawn.h),
 * and two of three with sizes of buffers and batches that are drawn likewise (base/memory/sizes.h).
 *
 * Arguments are names of printers: the only ones that are asked; without any all are.
 *
 * One line on standard output per finding,
 *
 *     NUMBER PRINTER crash|hang|raw|json|silent TEXT<tab>OPTIONS<tab>SIZES
 *
 * and in the end `done MUTANTS STRUCTURAL SLOWEST_US SLOWEST_NUMBER`. Silent: structural damage, read without a word.
 */
#include "fuzz_drawn.h"
#include "fuzz_made.h"
#include "fuzz_print.h"
#include "mass_folder.h"
#include "mass_model.h"

#include "base/memory/sizes.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <perfray/dump.h>
#include <perfray/export.h>
#include <perfray/graph.h>
#include <perfray/replay.h>
#include <perfray/flame.h>
#include <perfray/info.h>
#include <perfray/latency.h>
#include <perfray/offcpu.h>
#include <perfray/symbols.h>
#include <perfray/report.h>
#include <perfray/script.h>
#include <perfray/verify.h>
#include <perfray/trace.h>

enum { BATCH = 200, SECONDS = 10, WAIT = 12 };
#define NOWHERE "/nonexistent" /* which files this machine has must not decide what a run does */

struct mutant {
    uint32_t number, structural, length;
    uint8_t *bytes;
};

struct batch {
    struct mutant at[BATCH];
    uint32_t count;
};

/* Shared with the children. */
struct ledger {
    uint32_t at, printer; /* what a child is at */
    uint64_t slowest_us;
    uint32_t slowest;
    struct drawn drawn; /* the options it is at */
    char sizes[SIZES_TEXT_ROOM];
};

/* What a printer said beside its output. */
struct said {
    bool anything, is_json; /* is_json: options made it so */
    char bad[16];           /* from the first sentence that is not fit to be shown */
};

static struct ledger *ledger;
static char **wanted; /* names of printers, then NULL */
static int output_fd, error_fd;

const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "max_allocation_size_mb=1024:allocator_may_return_null=0";
}

static void hear(void *context, const pfr_error *err) {
    struct said *said = context;
    const size_t length = strlen(err->text), shown = shown_length(err->text, length);
    said->anything = true;
    if (shown < length && !said->bad[0])
        snprintf(said->bad, sizeof said->bad, "%#x", (unsigned char)err->text[shown]);
}

/* --- The printers. */

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
    pfr_report_options options = drawn_report(&ledger->drawn);
    options.hole = hear;
    options.context = said;
    said->is_json = options.format == PFR_REPORT_JSON;
    return pfr_report_print(reader, &options, out, err);
}

static pfr_status print_script(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err) {
    pfr_script_options options = drawn_script(&ledger->drawn);
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
    pfr_selection of = drawn_selection(&ledger->drawn);
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

/* One of the formats, which one the input decides: all of them for each input would take too long. */
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
    pfr_flame_options options = drawn_flame(&ledger->drawn);
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

/* A profile of XRay has no calls, which is an error of its own. */
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

enum subject { OF_ALL, OF_SAMPLES, OF_TRACES };

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

/* Nothing is printed: fuzz_made.c looks at what was written. Of profiles of XRay nothing is. */
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

struct printer {
    const char *name;
    enum subject subject; /* of others it is not asked */
    bool is_json, tells_all,
        is_binary; /* tells_all: to `said` or by its status; else the reader counted what was wrong */
    pfr_status (*print)(pfr_reader *reader, pfr_output *out, struct said *said, pfr_error *err);
};

static const struct printer printers[] = {
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
#define PRINTERS (sizeof printers / sizeof *printers)

static void tell(const struct mutant *m, const char *what, const char *text) {
    dprintf(STDOUT_FILENO, "%u %s %s %s\t%s\t%s\n", m->number, printers[ledger->printer].name, what, text,
            ledger->drawn.words, ledger->sizes);
}

/* --- What was said: as the command does in tool/damage.c. */

static void hear_features(pfr_reader *reader, struct said *said) {
    pfr_error err;
    for (uint32_t i = 0; i < pfr_feature_count(reader); i++) {
        const pfr_feature *feature = pfr_get_feature(reader, i, &err);
        if (feature && pfr_check_feature(reader, feature, &err) == PFR_HOLE)
            hear(said, &err);
    }
}

static void hear_reader(pfr_reader *reader, struct said *said) {
    const pfr_header *header = pfr_get_header(reader);
    const pfr_quality *quality = pfr_get_quality(reader);
    if (header->not_finalised || (header->container != PFR_PIPE && header->data_size < header->data_size_said))
        said->anything = true;
    if (printers[ledger->printer].tells_all)
        return;
    if (quality->holes || quality->truncated_bytes || quality->unknown_ids)
        said->anything = true;
    hear_features(reader, said);
}

/* --- One mutant, one printer. */

static void judge_text(const struct mutant *m, const char *text, size_t length, bool is_json_wanted) {
    char byte[40];
    const size_t shown = printers[ledger->printer].is_binary ? length : shown_length(text, length);
    if (shown < length) {
        snprintf(byte, sizeof byte, "%#x at %zu", (unsigned char)text[shown], shown);
        tell(m, "raw", byte);
    } else if (is_json_wanted && !is_json(text, length)) {
        tell(m, "json", "the output is no JSON");
    }
}

static void judge_output(const struct mutant *m, bool is_json_wanted) {
    const off_t length = lseek(output_fd, 0, SEEK_END);
    if (length <= 0)
        return;
    char *text = mmap(NULL, (size_t)length, PROT_READ, MAP_SHARED, output_fd, 0);
    LAW(text != MAP_FAILED, "%jd bytes of output cannot be mapped", (intmax_t)length);
    judge_text(m, text, (size_t)length, is_json_wanted);
    munmap(text, (size_t)length);
    LAW(ftruncate(output_fd, 0) == 0 && lseek(output_fd, 0, SEEK_SET) == 0, "no output: %s", strerror(errno));
}

/* False: the printer failed. */
static bool print_all(pfr_reader *reader, struct said *said) {
    pfr_error err = {.offset = PFR_NO_OFFSET};
    pfr_output *out = pfr_output_open(output_fd, false, &err);
    LAW(out, "no output: %s", err.text);
    const pfr_status status = printers[ledger->printer].print(reader, out, said, &err);
    if (status < 0)
        hear(said, &err);
    said->anything |= status == PFR_HOLE;
    hear_reader(reader, said);
    LAW(pfr_output_close(out, &err) == PFR_OK, "the output cannot be written: %s", err.text);
    return status >= 0;
}

static pfr_reader *open_mutant(const struct mutant *m, bool as_file, struct fuzz_file *file, pfr_error *err) {
    const pfr_open_options options = {.size = sizeof options, .spool = true};
    file->fd = -1;
    if (!as_file)
        return pfr_open_bytes(m->bytes, m->length, &options, err);
    fuzz_file_open(file, m->bytes, m->length);
    return pfr_open(file->path, &options, err);
}

static bool is_wanted(const char *name) {
    for (char **w = wanted; *w; w++)
        if (strcmp(*w, name) == 0)
            return true;
    return !*wanted;
}

static bool is_asked(const pfr_reader *reader) {
    const enum subject subject = printers[ledger->printer].subject;
    return subject == OF_ALL || (subject == OF_TRACES) == (pfr_get_trace_point(reader) != NULL);
}

static void run_printer(const struct mutant *m, bool as_file) {
    struct said said = {.is_json = printers[ledger->printer].is_json};
    struct fuzz_file file;
    pfr_error err = {.offset = PFR_NO_OFFSET};
    ledger->drawn = (struct drawn){.number = m->number % 4 ? drawn_distribution(m->number) : 0};
    sizes_draw(m->number % 3 ? drawn_distribution(m->number * PRINTERS + ledger->printer) : 0, ledger->sizes);
    pfr_reader *reader = open_mutant(m, as_file, &file, &err);
    const bool is_left_out = reader && !is_asked(reader);
    const bool is_complete = reader && !is_left_out && print_all(reader, &said);
    if (!reader)
        hear(&said, &err);
    pfr_close(reader);
    if (file.fd >= 0)
        fuzz_file_close(&file);
    judge_output(m, is_complete && said.is_json);
    if (said.bad[0])
        tell(m, "raw", said.bad);
    if (m->structural && !said.anything && !is_left_out)
        tell(m, "silent", "nothing is said");
}

/* --- Children. */

static uint64_t used_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Of the processor, so that a busy machine is no hang; and many times that by the clock, for one that only waits. */
static void limit_time(unsigned seconds) {
    const struct itimerval limit = {.it_value = {.tv_sec = seconds}};
    LAW(setitimer(ITIMER_PROF, &limit, NULL) == 0, "no timer: %s", strerror(errno));
    alarm(seconds * WAIT);
}

static void run_mutant(const struct mutant *m) {
    const uint64_t start = used_us();
    limit_time(SECONDS);
    for (ledger->printer = 0; ledger->printer < PRINTERS; ledger->printer++)
        if (is_wanted(printers[ledger->printer].name))
            run_printer(m, (m->number + ledger->printer) % 2);
    limit_time(0);
    const uint64_t took = used_us() - start;
    if (took > ledger->slowest_us) {
        ledger->slowest_us = took;
        ledger->slowest = m->number;
    }
}

/* Ends by exit, so that leaks are looked for. */
_Noreturn static void run_child(const struct batch *b, uint32_t from, uint32_t to) {
    if (dup2(error_fd, STDERR_FILENO) < 0)
        _exit(1);
    for (ledger->at = from; ledger->at < to; ledger->at++)
        run_mutant(&b->at[ledger->at]);
    exit(0);
}

static int run_range(const struct batch *b, uint32_t from, uint32_t to) {
    int status = 0;
    LAW(ftruncate(error_fd, 0) == 0 && lseek(error_fd, 0, SEEK_SET) == 0 && ftruncate(output_fd, 0) == 0 &&
            lseek(output_fd, 0, SEEK_SET) == 0,
        "no files: %s", strerror(errno));
    ledger->printer = 0;
    const pid_t child = fork();
    LAW(child >= 0, "no child: %s", strerror(errno));
    if (child == 0)
        run_child(b, from, to);
    while (waitpid(child, &status, 0) < 0)
        LAW(errno == EINTR, "the child is gone: %s", strerror(errno));
    return status;
}

/* The line of what the child wrote that says what it died of. */
static void find_reason(char *reason, size_t room) {
    static const char *const marks[] = {"runtime error:", "AddressSanitizer", "LeakSanitizer", "does not hold"};
    static char text[1 << 16];
    const ssize_t length = pread(error_fd, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = 0;
    snprintf(reason, room, "no reason given");
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *found = strstr(text, marks[i]);
        if (found) {
            snprintf(reason, room, "%.*s", (int)strcspn(found, "\n"), found);
            return;
        }
    }
}

static void tell_death(const struct mutant *m, int status) {
    char reason[300];
    find_reason(reason, sizeof reason);
    if (ledger->printer >= PRINTERS) /* it died at its end: a leak */
        ledger->printer = PRINTERS - 1;
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    const bool is_late = signal == SIGALRM || signal == SIGPROF;
    tell(m, is_late ? "hang" : "crash", is_late ? "the time is over" : reason);
}

static void find_leaks(const struct batch *b) {
    for (uint32_t i = 0; i < b->count; i++) {
        const int status = run_range(b, i, i + 1);
        if (status != 0 && ledger->at > i) /* else it was told before */
            tell_death(&b->at[i], status);
    }
}

static void run_batch(const struct batch *b) {
    uint32_t from = 0;
    while (from < b->count) {
        const int status = run_range(b, from, b->count);
        if (status == 0)
            return;
        if (ledger->at >= b->count) {
            find_leaks(b);
            return;
        }
        tell_death(&b->at[ledger->at], status);
        from = ledger->at + 1;
    }
}

/* --- Input. */

static bool read_mutant(struct mutant *m) {
    if (fread(m, sizeof(uint32_t), 3, stdin) != 3)
        return false;
    m->bytes = malloc(m->length ? m->length : 1);
    LAW(m->bytes && fread(m->bytes, 1, m->length, stdin) == m->length, "mutant %u is cut short", m->number);
    return true;
}

static bool read_batch(struct batch *b) {
    b->count = 0;
    while (b->count < BATCH && read_mutant(&b->at[b->count]))
        b->count++;
    return b->count > 0;
}

static uint32_t free_batch(struct batch *b) {
    uint32_t structural = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        structural += b->at[i].structural != 0;
        free(b->at[i].bytes);
    }
    return structural;
}

int main(int argc, char **argv) {
    static struct batch b;
    uint64_t mutants = 0, structural = 0;
    ledger = mmap(NULL, sizeof *ledger, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    wanted = argv + (argc > 0);
    output_fd = memfd_create("output", MFD_CLOEXEC);
    error_fd = memfd_create("errors", MFD_CLOEXEC);
    LAW(ledger != MAP_FAILED && output_fd >= 0 && error_fd >= 0, "no room: %s", strerror(errno));
    while (read_batch(&b)) {
        run_batch(&b);
        mutants += b.count;
        structural += free_batch(&b);
    }
    dprintf(STDOUT_FILENO, "done %ju %ju %ju %u\n", (uintmax_t)mutants, (uintmax_t)structural,
            (uintmax_t)ledger->slowest_us, ledger->slowest);
    return 0;
}
