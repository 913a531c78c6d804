/* SPDX-License-Identifier: Apache-2.0 */
/* perfray diff: changes between two sides, each of one or more recordings. */
#include <perfray/diff.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "diff_sides.h"
#include "selecting.h"

#define PROGRAM "perfray diff"

struct diff_command {
    struct naming naming;
    struct word_list base, changed, fail_on, same;
    const char *event, *per, *compute, *sort, *separator, *output, *order;
    uint32_t jobs, max_stack, rounds, rows, seed;
    unsigned format, by;
    double least_change;
    bool inlined, point, children, tree, period, formula, baseline_only;
};

static const struct diff_command diff_defaults = {.naming = {.cache = true}, .least_change = 0.1};

#define OF(member) offsetof(struct diff_command, member)

static const struct opt diff_opts[] = {
    HEADING("Sides"),
    {"base", 0, OPT_WORDS, OF(base), "FILES", "recordings of the base, comma-separated, or a directory of them"},
    {"new", 0, OPT_WORDS, OF(changed), "FILES", "recordings of the new side"},
    {"event", 'e', OPT_STRING, OF(event), "EVENT", "compare this event (default: the first event with samples)"},
    {"same", 0, OPT_WORDS, OF(same), "BASE=NEW", "treat both names as one object or function"},
    HEADING("Rows and values"),
    {"by", 0, OPT_CHOICE, OF(by), "symbol|object|line|thread|event", "kind of rows (default symbol)"},
    {"per", 0, OPT_STRING, OF(per), "UNIT", "divisor: total (default), run, second, sample, event:NAME, call:FUNCTION"},
    {"children", 0, OPT_FLAG, OF(children), NULL, "with --format=csv: include callees (inclusive weight)"},
    {"inline", 0, OPT_FLAG, OF(inlined), NULL, "compare inlined functions as functions of their own"},
    {"max-stack", 0, OPT_COUNT, OF(max_stack), "COUNT", "maximum call-chain depth (default 127; XRay traces 256)"},
    HEADING("Confidence"),
    {"rounds", 0, OPT_COUNT, OF(rounds), "COUNT", "number of bootstrap rounds (default 1000)"},
    {"seed", 0, OPT_COUNT, OF(seed), "NUMBER", "seed of the bootstrap's random numbers (default 1)"},
    {"least-change", 0, OPT_PERCENT, OF(least_change), "PERCENT",
     "no verdict for changes below PERCENT of the total (default 0.1)"},
    HEADING("Gate"),
    {"fail-on", 0, OPT_WORDS, OF(fail_on), "EXPRESSION", "exit with 1 if EXPRESSION holds: 'total > +3%'"},
    {"point", 0, OPT_FLAG, OF(point), NULL, "with --fail-on: compare values, not the ends of their intervals"},
    HEADING("Output"),
    {"format", 0, OPT_CHOICE, OF(format), "text|csv|json|markdown|perf|folded-diff", "output format (default text)"},
    {"output", 0, OPT_STRING, OF(output), "FILE", "write FILE, completely or not at all; - for stdout (default)"},
    {"rows", 0, OPT_COUNT, OF(rows), "COUNT", "maximum number of rows (default 40, at most 10 of them noise)"},
    {"tree", 'g', OPT_FLAG, OF(tree), NULL, "also print the parts of the call tree that changed"},
    {"jobs", 'j', OPT_NUMBER, OF(jobs), "COUNT",
     "number of threads that load recordings (default: one per CPU, at most 4)"},
    HEADING("Table of perf diff (--format=perf)"),
    {"compute", 'c', OPT_STRING, OF(compute), "HOW", "delta-abs (default), delta, ratio or wdiff:A,B"},
    {"order-by", 'o', OPT_STRING, OF(order), "COLUMN", "order by column 0 (baseline) or 1 (computed)"},
    {"periods", 'p', OPT_FLAG, OF(period), NULL, "add columns of periods"},
    {"formula", 'F', OPT_FLAG, OF(formula), NULL, "add a column with the computation"},
    {"sort", 's', OPT_STRING, OF(sort), "KEYS", "group by comm, dso, symbol or pid (default dso,symbol)"},
    {"baseline-only", 'b', OPT_FLAG, OF(baseline_only), NULL, "omit rows that only one side has"},
    {"field-separator", 't', OPT_STRING, OF(separator), "SEPARATOR", "separate columns by SEPARATOR"},
    HEADING("Symbols"),
    {"symfs", 0, OPT_STRING, OF(naming.symfs), "DIR", "look up objects below DIR (default /)"},
    {"debug-dir", 0, OPT_STRING, OF(naming.debug_dir), "DIR",
     "directory of separate debug files (default /usr/lib/debug)"},
    {"kallsyms", 0, OPT_STRING, OF(naming.kallsyms), "FILE",
     "kernel symbol file (default: running kernel if it is the recorded one)"},
    {"vmlinux", 'k', OPT_STRING, OF(naming.vmlinux), "FILE", "read kernel symbols from this vmlinux object"},
    {"instr-map", 'm', OPT_WORDS, OF(naming.instr_maps), "FILE",
     "object or map that names the functions of an XRay trace"},
    CACHE_ROW(struct diff_command),
    {"no-symbols", 0, OPT_FLAG, OF(naming.no_symbols), NULL, "do not open objects; print addresses instead of names"},
    {"no-demangle", 0, OPT_FLAG, OF(naming.mangled), NULL, "print mangled names (same as --demangle=no)"},
    {0},
};

/* --- Arguments of options. */

/* Parses the argument of --per, for example "event:NAME". */
static bool read_per(const struct diff_command *o, pfr_diff_options *how) {
    static const char *const words[] = {"total", "run", "second", "sample", "event:", "call:"};
    if (!o->per)
        return true;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t length = strlen(words[i]);
        const bool takes_name = words[i][length - 1] == ':';
        if (takes_name ? strncmp(o->per, words[i], length) != 0 || !o->per[length] : strcmp(o->per, words[i]) != 0)
            continue;
        how->per = (pfr_diff_per)i;
        how->per_name = takes_name ? o->per + length : NULL;
        return true;
    }
    complain_as(PROGRAM, "--per %s: must be total, run, second, sample, event:NAME or call:FUNCTION", o->per);
    return false;
}

/* Splits "BASE=NEW"; `names` has room for two names per pair and NULL. */
static bool read_same(const struct word_list *pairs, char **names) {
    for (unsigned i = 0; i < pairs->count; i++) {
        char *const pair = strdup(pairs->at[i]);
        char *const sign = pair ? strrchr(pair, '=') : NULL;
        names[2 * i] = pair;
        if (!sign || sign == pair || !sign[1]) {
            complain_as(PROGRAM, "--same %s: must be BASE=NEW", pairs->at[i]);
            return false;
        }
        *sign = '\0';
        names[2 * i + 1] = sign + 1;
    }
    return true;
}

static bool order_fits(const struct diff_command *o) {
    if (!o->order || strcmp(o->order, "0") == 0 || strcmp(o->order, "1") == 0)
        return true;
    complain_as(PROGRAM, "-o %s: must be 0 (baseline) or 1 (computed column); use --output to write a file", o->order);
    return false;
}

/* --- The work. */

static enum exit_status say_failure(const struct task *task, const pfr_error *err) {
    if (err->status == PFR_ERR_USAGE) {
        complain_as(PROGRAM, "%s", err->text);
        return ENDS_USAGE;
    }
    return pfr_output_failed(task->out) ? ENDS_FINE : complain_of(task->file, err, NULL);
}

static enum exit_status judge(const struct task *task, const pfr_diff *diff, pfr_output *out) {
    const struct diff_command *const o = task->options;
    enum exit_status status = ENDS_FINE;
    for (unsigned i = 0; i < o->fail_on.count; i++) {
        pfr_error err = {.offset = PFR_NO_OFFSET};
        bool breached;
        if (pfr_diff_gate(diff, o->fail_on.at[i], o->point, &breached, out, &err) < 0)
            return say_failure(task, &err);
        status = graver_of(status, breached ? ENDS_GATE : ENDS_FINE);
    }
    return status;
}

/* --- Output. */

/* An output file, which has another name until it is complete. */
struct target {
    char unfinished[4096];
    const char *path; /* NULL: standard output */
    pfr_output *out;
};

static bool target_open(const struct task *task, struct target *to) {
    const struct diff_command *const o = task->options;
    struct stat st;
    *to = (struct target){.path = output_path(o->output), .out = task->out};
    if (!to->path)
        return true;
    if (lstat(to->path, &st) == 0 && !S_ISREG(st.st_mode)) {
        complain_as(PROGRAM, "%s exists and is not a regular file", to->path);
        return false;
    }
    const int length = snprintf(to->unfinished, sizeof to->unfinished, "%s.%ld.new", to->path, (long)getpid());
    const int fd =
        length < (int)sizeof to->unfinished ? open(to->unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    to->out = fd >= 0 ? pfr_output_open(fd, true, NULL) : NULL;
    if (!to->out)
        complain_as(PROGRAM, "%s: %s", to->path, strerror(errno));
    return to->out;
}

/* Gives the file its name if it is complete. */
static enum exit_status target_close(struct target *to, bool is_whole) {
    pfr_error err = {.offset = PFR_NO_OFFSET};
    if (!to->path)
        return ENDS_FINE;
    const bool is_written = pfr_output_close(to->out, &err) >= 0;
    if (!is_written)
        complain_of(to->path, &err, NULL);
    const bool is_named = is_written && is_whole && rename(to->unfinished, to->path) == 0;
    if (is_written && is_whole && !is_named)
        complain_as(PROGRAM, "%s: %s", to->path, strerror(errno));
    if (!is_named)
        unlink(to->unfinished);
    return is_named || !is_whole ? ENDS_FINE : ENDS_IO;
}

static enum exit_status print_diff(const struct task *task, const pfr_diff *diff) {
    const struct diff_command *const o = task->options;
    const pfr_diff_print_options how = {.size = sizeof how,
                                        .format = (pfr_diff_format)o->format,
                                        .children = o->children,
                                        .tree = o->tree,

                                        .color =
                                            !output_path(o->output) && isatty(STDOUT_FILENO) && !getenv("NO_COLOR"),
                                        .rows = o->rows,
                                        .compute = o->compute,
                                        .sort = o->sort,
                                        .separator = o->separator,
                                        .by_baseline = o->order && *o->order == '0',
                                        .period = o->period,
                                        .formula = o->formula,
                                        .baseline_only = o->baseline_only};
    pfr_error err = {.offset = PFR_NO_OFFSET};
    struct target to;
    if (!target_open(task, &to))
        return ENDS_IO;
    const bool is_whole = pfr_diff_print(diff, &how, to.out, &err) >= 0;
    const enum exit_status written = target_close(&to, is_whole);
    if (!is_whole)
        return say_failure(task, &err);
    /* With an output format for programs, exceeded limits are reported on standard error. */
    pfr_output *const lines = pfr_output_open(STDERR_FILENO, false, NULL);
    const enum exit_status status = lines ? judge(task, diff, lines) : ENDS_IO;
    pfr_output_close(lines, NULL);
    return graver_of(status, written);
}

static enum exit_status compare(const struct task *task, const struct diff_sides *sides, pfr_diff_options *how) {
    pfr_error err = {.offset = PFR_NO_OFFSET};
    how->limits = &task->shared->limits;
    how->jobs = ((const struct diff_command *)task->options)->jobs;
    pfr_diff *const diff = pfr_diff_open(sides->runs[0], sides->count[0], sides->runs[1], sides->count[1], how, &err);
    const enum exit_status status = diff ? print_diff(task, diff) : say_failure(task, &err);
    pfr_diff_close(diff);
    return status;
}

static enum exit_status run_with(const struct task *task, pfr_diff_options *how) {
    const struct diff_command *const o = task->options;
    const pfr_symbol_options naming = symbol_options_of(&o->naming);
    const pfr_model_options model = {.size = sizeof model,
                                     .jobs = o->jobs,
                                     .max_stack = o->max_stack,
                                     .functions = !o->inlined && how->by != PFR_DIFF_BY_LINE,
                                     .lines = how->by == PFR_DIFF_BY_LINE,
                                     .inlined = o->inlined,
                                     .naming = &naming,
                                     .no_intervals = true,
                                     .no_marks = true};
    struct diff_sides sides = {0};
    enum exit_status status = diff_sides_open(task, &o->base, &o->changed, &model, &sides);
    if (status == ENDS_FINE) {
        status = compare(task, &sides, how);
        status = graver_of(status, diff_sides_damage(task, &sides)); /* closes the models */
    }
    diff_sides_close(&sides);
    return status;
}

static enum exit_status diff_run(const struct task *task) {
    const struct diff_command *const o = task->options;
    char *names[2 * WORD_LIST_MOST + 1] = {NULL};
    pfr_diff_options how = {.size = sizeof how,
                            .by = (pfr_diff_by)o->by,
                            .event = o->event,
                            .seed = o->seed,
                            .rounds = o->rounds,
                            .least_change = o->least_change > 0 ? o->least_change : -1,
                            .same = (const char *const *)names};
    enum exit_status status = ENDS_USAGE;
    if (name_files_fit(PROGRAM, &o->naming) && order_fits(o) && read_per(o, &how) && read_same(&o->same, names))
        status = run_with(task, &how);
    for (unsigned i = 0; i < WORD_LIST_MOST; i++)
        free(names[2 * (size_t)i]);
    return status;
}

extern const struct command cmd_diff;
const struct command cmd_diff = {
    .name = "diff",
    .about = "compare recordings and show which changes exceed noise",
    .arguments = "[[BASE] NEW]",
    .examples = "perfray diff old.data new.data\n"
                "perfray diff --fail-on 'total > +3%' old.data new.data     # in a build\n",
    .takes_all_files = true,
    .opts = diff_opts,
    .defaults = &diff_defaults,
    .size = sizeof(struct diff_command),
    .prints_at_end = true,
    .passes = 3,
    .reads_store = true,
    .compares = true,
    .run = diff_run,
};
