/* SPDX-License-Identifier: Apache-2.0 */
/* perfray trace: runs a program under the flight recorder, then shows the costs of its calls. */
#include <perfray/edit.h>
#include <perfray/latency.h>
#include <perfray/reader.h>
#include <perfray/trace.h>
#include <perfray/tracing.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "command.h"
#include "fetching.h"
#include "full_trace.h"
#include "kept_trace.h"
#include "nearest.h"

struct trace_options {
    const char *output, *size, *buffer, *threshold;
    uint32_t depth, top, version, status_fd;
    bool keep_last, any_program, quiet;
    struct word_list filters, notrace, includes, excludes;
};

#define OF(member) offsetof(struct trace_options, member)
#define NAME_ROOM 256

static const struct opt trace_opts[] = {
    HEADING("Output"),
    {"output", 'o', OPT_STRING, OF(output), "FILE", "write the trace to FILE (default perfray.xray)"},
    {"trace-version", 0, OPT_NUMBER, OF(version), "NUMBER", "version of the trace, 1 to 5 (default 5)"},
    {"top", 'p', OPT_NUMBER, OF(top), "COUNT", "print only the first COUNT rows of the table"},
    {"quiet", 'q', OPT_FLAG, OF(quiet), NULL, "do not print the table, nor the line about the trace"},
    {"status-fd", 0, OPT_NUMBER, OF(status_fd), "NUMBER",
     "write two exit statuses to this descriptor: perfray's and PROGRAM's"},
    HEADING("Functions and calls"),
    {"focus", 'F', OPT_WORDS, OF(filters), "GLOB", "record only functions that match GLOB, and their callees"},
    {"notrace", 'N', OPT_WORDS, OF(notrace), "GLOB", "do not record functions that match GLOB, or their callees"},
    {"include", 0, OPT_WORDS, OF(includes), "GLOB", "record only functions that match GLOB"},
    {"exclude", 0, OPT_WORDS, OF(excludes), "GLOB", "do not record functions that match GLOB"},
    {"depth", 'D', OPT_NUMBER, OF(depth), "COUNT", "record only the outermost COUNT levels of calls"},
    {"time-filter", 't', OPT_STRING, OF(threshold), "TIME",
     "drop calls shorter than TIME: 500ns, 5us (default unit us)"},
    {"any-program", 0, OPT_FLAG, OF(any_program), NULL, "also run a program that is not instrumented itself"},
    HEADING("Size of the trace"),
    {"last", 0, OPT_FLAG, OF(keep_last), NULL, "when the trace is full, keep the last calls instead of the first"},
    {"size", 0, OPT_STRING, OF(size), "SIZE", "size of the trace (default 1G, with --last 16M)"},
    {"buffer", 0, OPT_STRING, OF(buffer), "SIZE", "size of one buffer of a thread (default 64k to 256k, by --size)"},
    {0},
};

static const char program[] = "perfray trace";

static const char *const *words_of(const struct word_list *list) {
    return list->count ? list->at : NULL;
}

/* Finds the library by its position relative to this command, in the build and as installed; NULL: not found. */
static const char *find_runtime(char *path, size_t room) {
    static const char *const places[] = {"../src/runtime", "../" PERFRAY_LIBDIR};
    char folder[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (length <= 0)
        return NULL;
    folder[length] = 0;
    char *const last = strrchr(folder, '/');
    if (last)
        *last = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const int put = snprintf(path, room, "%s/%s/libperfray-rt.so.0", folder, places[i]);
        if (put > 0 && (size_t)put < room && access(path, R_OK) == 0)
            return path;
    }
    return NULL;
}

static pfr_tracing_options tracing_of(const struct trace_options *o, const char *runtime) {
    return (pfr_tracing_options){.size = sizeof(pfr_tracing_options),
                                 .output = o->output ? o->output : DEFAULT_TRACE,
                                 .runtime = runtime,
                                 .force = o->any_program,
                                 .keep_last = o->keep_last,
                                 .room = o->size,
                                 .buffer = o->buffer,
                                 .threshold = o->threshold,
                                 .depth = o->depth,
                                 .filters = words_of(&o->filters),
                                 .notrace = words_of(&o->notrace),
                                 .includes = words_of(&o->includes),
                                 .excludes = words_of(&o->excludes)};
}

static void report_note(void *file, const char *sentence) {
    complain("%s: %s", (const char *)file, sentence);
}

static void report_loss(void *file, const pfr_error *hole) {
    complain("%s: not in this version: %s", (const char *)file, hole->text);
}

/* Converts the trace to the requested version, because the recorder writes only the newest version. */
static enum exit_status change_version(const struct trace_options *o, const char *path) {
    static const pfr_edit_trace versions[] = {PFR_EDIT_TRACE_SAME,  PFR_EDIT_TRACE_FDR_1, PFR_EDIT_TRACE_FDR_2,
                                              PFR_EDIT_TRACE_FDR_3, PFR_EDIT_TRACE_FDR_4, PFR_EDIT_TRACE_FDR_5};
    const pfr_open_options how = {.size = sizeof how};
    const pfr_edit_options edit = {.size = sizeof edit,
                                   .path = path,
                                   .trace = versions[o->version],
                                   .hole = report_loss,
                                   .context = (void *)(uintptr_t)path};
    pfr_error err = {.offset = PFR_NO_OFFSET};
    pfr_reader *const reader = pfr_open(path, &how, &err);
    const pfr_status st = reader ? pfr_convert(reader, &edit, NULL, &err) : err.status;
    pfr_close(reader);
    if (st < 0)
        complain_of(path, &err, NULL);
    return exit_status_of(st);
}

static enum exit_status show_table(const struct task *task, const struct trace_options *o, const char *path) {
    const pfr_open_options how = {.size = sizeof how};
    const pfr_symbol_options naming = {.size = sizeof naming, .templates = templates_of(NULL, false)};
    const pfr_latency_options table = {.size = sizeof table,
                                       .top = o->top,
                                       .naming = &naming,
                                       .deduce = true,
                                       .note = report_note,
                                       .context = (void *)(uintptr_t)path};
    pfr_error err = {.offset = PFR_NO_OFFSET};
    pfr_reader *const reader = pfr_open(path, &how, &err);
    const pfr_status st = reader ? pfr_latency_print(reader, &table, task->out, &err) : err.status;
    pfr_close(reader);
    if (st < 0 && !pfr_output_failed(task->out))
        return complain_of(path, &err, NULL);
    return exit_status_of(st < 0 ? PFR_OK : st);
}

/* --- Why nothing was recorded. */

struct hunt {
    const char *pattern;
    char typed[NAME_ROOM], word[NAME_ROOM]; /* pattern without wildcards; the nearest name */
    struct nearest best;
    bool fits;
    size_t names;
};

static void offer(struct hunt *h, const char *part, const char *name) {
    const unsigned before = h->best.distance;
    nearest_offer(&h->best, h->typed, part);
    if (h->best.distance < before && strlen(name) < sizeof h->word)
        h->best.word = strcpy(h->word, name);
}

static void see_name(void *context, const char *name, const char *plain) {
    struct hunt *const h = context;
    const char *shown = *plain ? plain : name, *last = shown;
    for (const char *c = shown; *c; c++)
        if (c[0] == ':' && c[1] == ':')
            last = c + 2;
    h->names++;
    h->fits |= pfr_tracing_fits(h->pattern, name) || (*plain && pfr_tracing_fits(h->pattern, plain));
    offer(h, shown, shown);
    offer(h, last, shown);
}

/* Returns false if the pattern matches a function, or if it is not known whether it does. */
static bool report_pattern(const char *of, const char *option, const char *pattern) {
    struct hunt h = {.pattern = pattern, .best = {.distance = UINT_MAX}};
    pfr_error err;
    size_t used = 0;
    for (const char *c = pattern; *c && used < sizeof h.typed - 1; c++)
        if (*c != '*' && *c != '?')
            h.typed[used++] = *c;
    if (pfr_tracing_names(of, see_name, &h, &err) != PFR_OK || h.names == 0 || h.fits)
        return false;
    const char *const meant = nearest_word(&h.best, h.typed);
    if (strchr(pattern, ',') && !strpbrk(pattern, "(<"))
        complain_as(program, "no function of %s matches --%s '%s'; one pattern each: repeat --%s", of, option, pattern,
                    option);
    else
        complain_as(program, "no function of %s matches --%s '%s'%s%s%s", of, option, pattern,
                    meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
    return true;
}

static bool report_patterns(const char *of, const char *option, const struct word_list *list) {
    bool reported = false;
    for (size_t i = 0; i < list->count; i++)
        reported |= report_pattern(of, option, list->at[i]);
    return reported;
}

static void report_nothing(const struct task *task, const pfr_tracing_result *result) {
    const struct trace_options *const o = task->options;
    const bool reported = report_patterns(task->words[0], "focus", &o->filters);
    if (report_patterns(task->words[0], "include", &o->includes) || reported)
        return;
    if (!result->recorded)
        complain_as(program, "there is no trace: the recorder did not start in the program, or its file was removed");
    else if (result->functions && o->threshold)
        complain_as(program, "no call was recorded: all were shorter than --time-filter");
    else if (o->filters.count || o->includes.count || o->notrace.count || o->excludes.count)
        complain_as(program, "no call was recorded: no function that the patterns allow was called");
    else
        complain_as(program, "no call was recorded; are there functions built with -finstrument-functions or with "
                             "-fxray-instrument?");
}

/* --- Results. */

/* Whether the trace has calls. The recorder's count of records does not tell, because it includes the program's events.
   True also for a trace that cannot be read: show_table reports the error. */
static bool has_calls(const char *path) {
    pfr_record rec = {0};
    pfr_reader *const reader = pfr_open(path, NULL, NULL);
    pfr_status st = reader ? PFR_OK : PFR_ERR_IO;
    while (st >= 0 && st != PFR_END && rec.type != PFR_TRACE_FUNCTION)
        st = pfr_next(reader, &rec, NULL);
    pfr_close(reader);
    return st != PFR_END;
}

/* Reports the losses that are stored in the trace, except calls that were left out because of --depth. */
static void report_losses(const char *path) {
    pfr_record rec;
    pfr_trace_loss loss;
    pfr_reader *const reader = pfr_open(path, NULL, NULL);
    if (reader && pfr_next(reader, &rec, NULL) >= 0)
        for (uint32_t i = 0; pfr_get_trace_loss(reader, i, &loss); i++)
            if (strcmp(loss.cause, "depth") != 0)
                complain_as(program, "%s: %s", path, loss.sentence);
    pfr_close(reader);
}

static enum exit_status report_result(const struct task *task, const char *path, const pfr_tracing_result *result,
                                      double seconds) {
    const bool recorded = result->recorded && result->records && has_calls(path);
    if (!recorded)
        report_nothing(task, result);
    if (result->is_open)
        complain_as(program, "processes that the program left behind still run; their later calls are not recorded");
    report_losses(path);
    if (recorded && result->is_full)
        report_full_trace(program, path, seconds);
    return recorded ? ENDS_FINE : ENDS_GATE;
}

static void write_statuses(const struct trace_options *o, enum exit_status own, const pfr_tracing_result *result) {
    char line[64];
    if (!o->status_fd)
        return;
    const int length = result ? snprintf(line, sizeof line, "%d %d\n", (int)own, result->status)
                              : snprintf(line, sizeof line, "%d -\n", (int)own);
    if (write((int)o->status_fd, line, (size_t)length) != length)
        complain_as(program, "--status-fd %u: %s", o->status_fd, strerror(errno));
}

/* The program's status if perfray itself succeeded, otherwise perfray's. */
static int status_of_both(enum exit_status own, const pfr_tracing_result *result) {
    const int status = WIFSIGNALED(result->status) ? 128 + WTERMSIG(result->status) : WEXITSTATUS(result->status);
    return own == ENDS_FINE || (own == ENDS_GATE && status) ? status : (int)own;
}

static void report_failure(const struct task *task, const pfr_tracing_options *how, const pfr_error *err) {
    if (strcmp(err->where, "options") == 0)
        complain_as(program, "--%s; see perfray trace -h", err->text);
    else
        complain_as(program, "%s: %s", strcmp(err->where, "program") == 0 ? task->words[0] : how->output, err->text);
}

static double seconds_since(const struct timespec *from) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - from->tv_sec) + (double)(now.tv_nsec - from->tv_nsec) / 1e9;
}

static void report_written(const char *path) {
    struct trace_counts counts;
    if (count_calls(path, &counts))
        complain("wrote %s: %" PRIu64 " call%s of %" PRIu64 " function%s", path, counts.calls,
                 counts.calls == 1 ? "" : "s", counts.functions, counts.functions == 1 ? "" : "s");
}

/* Converts and shows a trace that has calls. */
static enum exit_status use_trace(const struct task *task, const char *path) {
    const struct trace_options *const o = task->options;
    const enum exit_status own = o->version ? change_version(o, path) : ENDS_FINE;
    if ((own != ENDS_FINE && own != ENDS_PARTIAL) || o->quiet)
        return own;
    const enum exit_status shown = show_table(task, o, path);
    if (pfr_output_flush(task->out, NULL) >= 0)
        report_written(path);
    return own == ENDS_FINE ? shown : own;
}

static enum exit_status fail_traced(const struct task *task, const pfr_tracing_options *how, pfr_status st,
                                    const pfr_error *err, bool kept) {
    struct stat facts;
    report_failure(task, how, err);
    if (kept && lstat(how->output, &facts) != 0) /* an existing file is the new trace, which could not be reduced */
        restore_trace(program, how->output);
    write_statuses(task->options, exit_status_of(st), NULL);
    return exit_status_of(st);
}

static enum exit_status run_traced(const struct task *task, const pfr_tracing_options *how) {
    pfr_error err = {.offset = PFR_NO_OFFSET};
    pfr_tracing_result result;
    struct timespec from;
    bool kept;
    if (!keep_trace(program, how->output, &kept))
        return ENDS_IO;
    clock_gettime(CLOCK_MONOTONIC, &from);
    const pfr_status st = pfr_tracing_run(how, (const char *const *)(uintptr_t)task->words, &result, &err);
    if (st < 0)
        return fail_traced(task, how, st, &err, kept);
    enum exit_status own = report_result(task, how->output, &result, seconds_since(&from));
    if (own == ENDS_FINE)
        own = use_trace(task, how->output);
    else if (kept)
        restore_trace(program, how->output);
    write_statuses(task->options, own, &result);
    return (enum exit_status)status_of_both(own, &result);
}

static enum exit_status xray_run(const struct task *task) {
    const struct trace_options *const o = task->options;
    char path[PATH_MAX];
    if (!task->words[0] || o->version > 5) {
        complain_as(program, task->words[0] ? "--trace-version is a number from 1 to 5; see perfray trace -h"
                                            : "no program to trace is given; see perfray trace -h");
        return ENDS_USAGE;
    }
    const pfr_tracing_options how = tracing_of(task->options, find_runtime(path, sizeof path));
    return run_traced(task, &how);
}

extern const struct command cmd_trace;
const struct command cmd_trace = {
    .name = "trace",
    .about = "run a program under the flight recorder; show the cost of its calls",
    .arguments = "[--] PROGRAM [ARGUMENT...]",
    .examples = "perfray trace ./program                 # built with -finstrument-functions\n"
                "perfray trace --depth 3 -o short.xray ./program\n",
    .opts = trace_opts,
    .size = sizeof(struct trace_options),
    .reads_no_file = true,
    .runs_program = true,
    .run = xray_run,
};
