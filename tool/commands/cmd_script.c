/* SPDX-License-Identifier: Apache-2.0 */
/* perfray script: one event at a time, as perf script prints it. */
#include <perfray/export.h>
#include <perfray/info.h>
#include <perfray/script.h>
#include <string.h>
#include "caching.h"
#include "command.h"
#include "fetching.h"
#include "name_files.h"
#include "selecting.h"

struct script_options {
    unsigned format; /* a pfr_script_format */
    struct word_list fields;
    const char *debuginfod, *symbols_of, *objects, *stop_at;
    uint32_t max_stack;
    const char *cpus, *comms, *pids, *tids, *time, *switch_on, *switch_off;
    bool since_first, since_previous;
    uint32_t address_range, jobs;
    struct naming naming;
    bool hide_call_graph, stitched, nanoseconds, ticks, symbols, inlined, kernel_paths;
    bool header, header_only, long_header, per_event, dump, dump_unsorted, show_switches;
    bool tasks, maps, switches, namespaces, cgroups, bpf, losses, rounds, pokes;
};

static const struct script_options script_defaults = {.symbols = true, .naming.cache = true};

#define SHOW(name, member, what)                                                                                       \
    { "show-" name "-events", 0, OPT_FLAG, offsetof(struct script_options, member), NULL, "print " what " too" }

/* Options of perf that are not available, with what to do instead. */
#define REFUSED(name, letter, why)                                                                                     \
    { name, letter, OPT_REFUSED, 0, why, NULL }

static const struct opt script_opts[] = {
    HEADING("Fields and formats"),
    {"fields", 'F', OPT_WORDS, offsetof(struct script_options, fields), "FIELDS",
     "fields to print, comma-separated; +FIELD adds, -FIELD removes one"},
    {"format", 0, OPT_LINES, offsetof(struct script_options, format), "text|json|llvm-yaml|llvm-map|chrome",
     "output format (default text); json prints one object per line"},
    {"reltime", 0, OPT_FLAG, offsetof(struct script_options, since_first), NULL,
     "print times relative to the first printed time"},
    {"deltatime", 0, OPT_FLAG, offsetof(struct script_options, since_previous), NULL,
     "print times relative to the previous printed time"},
    {"ns", 0, OPT_FLAG, offsetof(struct script_options, nanoseconds), NULL, "print times with nine decimal places"},
    {"ticks", 0, OPT_FLAG, offsetof(struct script_options, ticks), NULL,
     "print times of a trace in ticks of its clock"},
    HEADING("Call chains"),
    {"hide-call-graph", 'G', OPT_FLAG, offsetof(struct script_options, hide_call_graph), NULL,
     "print only the sampled address, not the call chain"},
    {"max-stack", 0, OPT_COUNT, offsetof(struct script_options, max_stack), "COUNT",
     "maximum call-chain depth (default 127)"},
    {"stop-bt", 0, OPT_STRING, offsetof(struct script_options, stop_at), "NAMES",
     "end a call chain at the first of these functions"},
    {"stitch-lbr", 0, OPT_FLAG, offsetof(struct script_options, stitched), NULL,
     "extend LBR stacks with frames from earlier samples"},
    {"inline", 0, OPT_FLAG, offsetof(struct script_options, inlined), NULL,
     "print inlined functions as frames of their own in call chains"},
    {"no-inline", 0, OPT_CLEAR, offsetof(struct script_options, inlined), NULL, NULL},
    HEADING("Selection"),
    {"cpu", 'C', OPT_STRING, offsetof(struct script_options, cpus), "CPUS", "only samples on these CPUs: 0,2-3"},
    {"comms", 'c', OPT_STRING, offsetof(struct script_options, comms), "NAMES",
     "only samples of threads with these names, comma-separated"},
    {"comm", 0, OPT_STRING, offsetof(struct script_options, comms), "NAMES", NULL},
    {"pid", 0, OPT_STRING, offsetof(struct script_options, pids), "PIDS", "only samples of these processes: 7,9-12"},
    {"tid", 0, OPT_STRING, offsetof(struct script_options, tids), "TIDS", "only samples of these threads: 7,9-12"},
    {"symbols", 'S', OPT_STRING, offsetof(struct script_options, symbols_of), "NAMES",
     "only samples in these functions or at these addresses: main,0x401136"},
    {"addr-range", 0, OPT_NUMBER, offsetof(struct script_options, address_range), "BYTES",
     "size of the range that begins at an address of --symbols"},
    {"dsos", 0, OPT_STRING, offsetof(struct script_options, objects), "NAMES",
     "only samples in these objects: libc.so.6,/usr/bin/sh"},
    {"dso", 0, OPT_STRING, offsetof(struct script_options, objects), "NAMES", NULL},
    {"time", 0, OPT_STRING, offsetof(struct script_options, time), "A-B",
     "only samples between A and B: seconds, 10%-20%, 10%/2, or dates"},
    {"switch-on", 0, OPT_STRING, offsetof(struct script_options, switch_on), "EVENT",
     "print samples only after the first sample of EVENT"},
    {"switch-off", 0, OPT_STRING, offsetof(struct script_options, switch_off), "EVENT",
     "print samples only before the first sample of EVENT"},
    {"show-on-off-events", 0, OPT_FLAG, offsetof(struct script_options, show_switches), NULL,
     "also print the samples of the --switch-on and --switch-off events"},
    HEADING("Other records"),
    SHOW("task", tasks, "FORK, COMM and EXIT"),
    SHOW("mmap", maps, "MMAP and MMAP2"),
    SHOW("switch", switches, "SWITCH and SWITCH_CPU_WIDE"),
    SHOW("namespace", namespaces, "NAMESPACES"),
    SHOW("cgroup", cgroups, "CGROUP"),
    SHOW("bpf", bpf, "KSYMBOL and BPF_EVENT"),
    SHOW("lost", losses, "LOST"),
    SHOW("round", rounds, "FINISHED_ROUND"),
    SHOW("text-poke", pokes, "TEXT_POKE"),
    HEADING("Header and raw records"),
    {"header", 0, OPT_FLAG, offsetof(struct script_options, header), NULL, "print the header of the recording first"},
    {"header-only", 0, OPT_FLAG, offsetof(struct script_options, header_only), NULL,
     "print only the header of the recording"},
    {"show-info", 'I', OPT_FLAG, offsetof(struct script_options, long_header), NULL,
     "print the whole header, with topology and caches"},
    {"dump-raw-trace", 'D', OPT_FLAG, offsetof(struct script_options, dump), NULL,
     "print the bytes of each record too"},
    {"dump-unsorted-raw-trace", 0, OPT_FLAG, offsetof(struct script_options, dump_unsorted), NULL,
     "print the bytes of each record too, in file order"},
    {"per-event-dump", 0, OPT_FLAG, offsetof(struct script_options, per_event), NULL,
     "write the output of each event to FILE.EVENT.dump"},
    HEADING("Symbols"),
    {"symfs", 0, OPT_STRING, offsetof(struct script_options, naming.symfs), "DIR",
     "look up objects below DIR (default /)"},
    {"debug-dir", 0, OPT_STRING, offsetof(struct script_options, naming.debug_dir), "DIR",
     "directory of separate debug files (default /usr/lib/debug)"},
    {"debuginfod", 0, OPT_ATTACHED, offsetof(struct script_options, debuginfod), "URLS",
     "fetch missing symbols from these servers (default $DEBUGINFOD_URLS)"},
    {"kallsyms", 0, OPT_STRING, offsetof(struct script_options, naming.kallsyms), "FILE",
     "kernel symbol file (default: running kernel if it is the recorded one)"},
    {"vmlinux", 'k', OPT_STRING, offsetof(struct script_options, naming.vmlinux), "FILE",
     "read kernel symbols from this vmlinux object"},
    {"instr-map", 'm', OPT_WORDS, offsetof(struct script_options, naming.instr_maps), "FILE",
     "object or map that names the functions of an XRay trace"},
    CACHE_ROW(struct script_options),
    {"no-symbols", 0, OPT_CLEAR, offsetof(struct script_options, symbols), NULL,
     "do not open objects; print addresses instead of names"},
    {"no-demangle", 0, OPT_FLAG, offsetof(struct script_options, naming.mangled), NULL,
     "print mangled names (same as --demangle=no)"},
    {"demangle", 0, OPT_ATTACHED, offsetof(struct script_options, naming.demangle), "HOW",
     "demangling: simple (no parameters or template arguments), full, or no"},
    {"demangle-kernel", 0, OPT_FLAG, offsetof(struct script_options, naming.demangle_kernel), NULL,
     "demangle kernel names from --vmlinux"},
    {"show-kernel-path", 0, OPT_FLAG, offsetof(struct script_options, kernel_paths), NULL,
     "print the paths of --vmlinux and of modules"},
    HEADING("Threads and compatibility"),
    {"jobs", 'j', OPT_NUMBER, offsetof(struct script_options, jobs), "COUNT", "number of threads (default 1)"},
    {"force", 'f', OPT_HABIT, 0, NULL, "ignored, for compatibility with perf (file ownership is not checked)"},
    {"all-cpus", 'a', OPT_HABIT, 0, NULL, "ignored, for compatibility with perf (all CPUs are printed)"},
    {"no-itrace", 0, OPT_HABIT, 0, NULL, "ignored, for compatibility with perf (nothing is decoded)"},
    {"verbose", 'v', OPT_HABIT, 0, NULL, "ignored, for compatibility with perf (see perfray symbols)"},
    {"debug-mode", 'd', OPT_HABIT, 0, NULL, "ignored, for compatibility with perf (see perfray verify)"},
    REFUSED("script", 's', "is not available: perfray runs no scripts; --format=json prints events for programs"),
    REFUSED("gen-script", 'g', "is not available: perfray runs no scripts; --format=json prints events for programs"),
    REFUSED("dlfilter", 0,
            "is not available: filter with --comms, --dsos, --symbols, --time, or with --format=json and jq"),
    REFUSED("dlarg", 0,
            "is not available: filter with --comms, --dsos, --symbols, --time, or with --format=json and jq"),
    REFUSED("itrace", 0, "is not available: instruction traces are not decoded; perfray dump --aux writes their data"),
    REFUSED("insn-trace", 0,
            "is not available: instruction traces are not decoded; perfray dump --aux writes their data"),
    REFUSED("call-trace", 0, "is not available: instruction traces are not decoded; perfray trace records calls"),
    REFUSED("call-ret-trace", 0, "is not available: instruction traces are not decoded; perfray trace records calls"),
    REFUSED("graph-function", 0, "is not available: instruction traces are not decoded; perfray trace records calls"),
    {0},
};

static void report_note(void *file, const char *sentence) {
    (void)file;
    complain_as("perfray script", "%s", sentence);
}

static uint32_t shown(const struct script_options *o) {
    return (o->tasks ? PFR_SCRIPT_TASKS : 0) | (o->maps ? PFR_SCRIPT_MAPS : 0) |
           (o->switches ? PFR_SCRIPT_SWITCHES : 0) | (o->namespaces ? PFR_SCRIPT_NAMESPACES : 0) |
           (o->cgroups ? PFR_SCRIPT_CGROUPS : 0) | (o->bpf ? PFR_SCRIPT_BPF : 0) | (o->losses ? PFR_SCRIPT_LOSSES : 0) |
           (o->rounds ? PFR_SCRIPT_ROUNDS : 0) | (o->pokes ? PFR_SCRIPT_POKES : 0);
}

/* Rewinds, because the records of a stream's header are read again with the samples. */
static pfr_status print_header(const struct task *task, pfr_reader *reader, pfr_error *err) {
    const struct script_options *const options = task->options;
    const pfr_info_options how = {.size = sizeof how,
                                  .format = PFR_INFO_PERF,
                                  .captured = capture_time(task->file),
                                  .brief = !options->long_header};
    if (!options->header && !options->header_only)
        return PFR_OK;
    const pfr_status status = pfr_info_print(reader, &how, task->out, err);
    return status < 0 || options->header_only ? status : pfr_rewind(reader, err);
}

static pfr_script_options options_of(const struct task *task, const pfr_symbol_options *naming) {
    const struct script_options *const options = task->options;
    return (pfr_script_options){.size = sizeof(pfr_script_options),
                                .format = (pfr_script_format)options->format,
                                .fields = options->fields.at,
                                .show = shown(options),
                                .max_stack = options->max_stack,
                                .stitched = options->stitched,
                                .cpus = options->cpus,
                                .comms = options->comms,
                                .pids = options->pids,
                                .tids = options->tids,
                                .time = options->time,
                                .clock = options->since_previous ? PFR_SCRIPT_SINCE_PREVIOUS
                                         : options->since_first  ? PFR_SCRIPT_SINCE_FIRST
                                                                 : PFR_SCRIPT_AS_RECORDED,
                                .hide_call_graph = options->hide_call_graph,
                                .nanoseconds = options->nanoseconds,
                                .ticks = options->ticks,
                                .symbols = options->symbols_of,
                                .address_range = options->address_range,
                                .objects = options->objects,
                                .inlined = options->inlined,
                                .kernel_paths = options->kernel_paths,
                                .stop_at = options->stop_at,
                                .switch_on = options->switch_on,
                                .switch_off = options->switch_off,
                                .show_switches = options->show_switches,
                                .dump = options->dump || options->dump_unsorted,
                                .unsorted = options->dump_unsorted,
                                .name = task->file,
                                .per_event = options->per_event ? task->file : NULL,
                                .jobs = options->jobs,
                                .naming = naming,
                                .hole = report_limit,
                                .note = report_note,
                                .context = (void *)(uintptr_t)task->file};
}

static enum exit_status print_script(const struct task *task, pfr_reader *reader) {
    const struct script_options *const options = task->options;
    pfr_symbol_options naming = symbol_options_of(&options->naming);
    naming.no_symbols = !options->symbols;
    struct fetch fetch = {.urls = options->debuginfod, .naming = &naming, .who = "perfray script"};
    const pfr_script_options how = options_of(task, &naming);
    pfr_error err = {.offset = PFR_NO_OFFSET};
    pfr_status status = print_header(task, reader, &err);
    if (status >= 0 && !options->header_only)
        status = fetch_symbols(&fetch, reader, &err);
    naming.fetched = fetch.urls ? fetch.folder : NULL;
    if (status >= 0 && !options->header_only)
        status = pfr_script_print(reader, &how, task->out, &err);
    if (status == PFR_ERR_USAGE) {
        complain_as("perfray script", "%s; see perfray script -h", err.text);
        return ENDS_USAGE;
    }
    if (status < 0 && !pfr_output_failed(task->out))
        return complain_of(task->file, &err, NULL);
    return graver_of(exit_status_of(status < 0 ? PFR_OK : status), complain_of_damage(task, reader));
}

#define CHROME (PFR_SCRIPT_LLVM_MAP + 1u) /* the format after those of pfr_script_format */

/* Like llvm-xray convert -f trace_event: the same as perfray export --format=chrome. */
static enum exit_status print_chrome(const struct task *task, pfr_reader *reader) {
    const struct script_options *const o = task->options;
    pfr_symbol_options naming = symbol_options_of(&o->naming);
    naming.no_symbols = !o->symbols;
    const pfr_selection of = {.size = sizeof of,
                              .cpus = o->cpus,
                              .comms = o->comms,
                              .pids = o->pids,
                              .tids = o->tids,
                              .time = o->time,
                              .max_stack = o->max_stack,
                              .stitched = o->stitched,
                              .jobs = o->jobs,
                              .naming = &naming,
                              .hole = report_limit,
                              .note = report_note,
                              .context = (void *)(uintptr_t)task->file};
    const pfr_export_options how = {.size = sizeof how, .format = "chrome", .of = &of};
    pfr_error err = {.offset = PFR_NO_OFFSET};
    const pfr_status status = pfr_export(reader, &how, task->out, &err);
    return end_of_writing(task, "perfray script", reader, status, &err);
}

/* Options about the form of perf's text are refused with JSON lines. */
static bool goes_with_json(const struct script_options *o) {
    const char *const other = o->header || o->header_only || o->long_header ? "--header"
                              : o->dump                                     ? "--dump-raw-trace"
                              : o->dump_unsorted                            ? "--dump-unsorted-raw-trace"
                              : o->per_event                                ? "--per-event-dump"
                              : o->since_first                              ? "--reltime"
                              : o->since_previous                           ? "--deltatime"
                                                                            : NULL;
    const char *const of_text = o->format != CHROME ? NULL : o->symbols_of ? "--symbols" : o->objects ? "--dsos" : NULL;
    if ((o->format != PFR_SCRIPT_JSON && o->format != CHROME) || (!other && !of_text))
        return true;
    complain_as("perfray script", "%s cannot be combined with --format=%s; see perfray script -h",
                other ? other : of_text, o->format == CHROME ? "chrome" : "json");
    return false;
}

static enum exit_status script_run(const struct task *task) {
    const pfr_open_options how = {.size = sizeof how, .spool = true};
    enum exit_status status;
    const struct script_options *const options = task->options;
    if (!goes_with_json(options) || !name_files_fit("perfray script", &options->naming) ||
        !knows_demangle(options->naming.demangle, "perfray script"))
        return ENDS_USAGE;
    pfr_reader *const reader = open_recording(task, &how, &status);
    if (reader)
        status = options->format == CHROME ? print_chrome(task, reader) : print_script(task, reader);
    pfr_close(reader);
    return status;
}

extern const struct command cmd_script;
const struct command cmd_script = {
    .name = "script",
    .about = "print events one by one, as perf script does",
    .arguments = "[FILE...]",
    .examples = "perfray script -F comm,tid,time,ip,sym perf.data\n"
                "perfray script --format=json perf.data >samples.jsonl\n",
    .opts = script_opts,
    .size = sizeof(struct script_options),
    .defaults = &script_defaults,
    .passes = 2,
    .run = script_run,
};
