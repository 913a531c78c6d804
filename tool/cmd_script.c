/* SPDX-License-Identifier: Apache-2.0 */
/* perfray script: one event at a time, as perf script prints it. */
#include <perfray/info.h>
#include <perfray/script.h>
#include <string.h>
#include "caching.h"
#include "command.h"
#include "fetching.h"
#include "name_files.h"

struct script_options {
    unsigned format; /* as pfr_script_format */
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

static const struct opt script_opts[] = {
    {"format", 0, OPT_LINES, offsetof(struct script_options, format), "text|json|llvm-yaml|llvm-map",
     "as perf script, a JSON object a line, or (a trace) as llvm-xray converts it"},
    {"fields", 'F', OPT_WORDS, offsetof(struct script_options, fields), "FIELDS",
     "print these, with commas between; +FIELD and -FIELD: more, less than there were"},
    {"hide-call-graph", 'G', OPT_FLAG, offsetof(struct script_options, hide_call_graph), NULL,
     "print the sampled address, not its call chain"},
    {"stop-bt", 0, OPT_STRING, offsetof(struct script_options, stop_at), "NAMES",
     "end a call chain with the first of these functions"},
    {"max-stack", 0, OPT_COUNT, offsetof(struct script_options, max_stack), "COUNT",
     "print as much of a call chain; 127 without the option"},
    {"stitch-lbr", 0, OPT_FLAG, offsetof(struct script_options, stitched), NULL,
     "let stacks of branches (LBR) go on with what samples before had"},
    {"cpu", 'C', OPT_STRING, offsetof(struct script_options, cpus), "CPUS", "print samples of these cpus: 0,2-3"},
    {"comms", 'c', OPT_STRING, offsetof(struct script_options, comms), "NAMES",
     "print samples of threads with these names"},
    {"comm", 0, OPT_STRING, offsetof(struct script_options, comms), "NAMES", NULL},
    {"pid", 0, OPT_STRING, offsetof(struct script_options, pids), "PIDS", "print samples of these processes"},
    {"tid", 0, OPT_STRING, offsetof(struct script_options, tids), "TIDS", "print samples of these threads"},
    {"symbols", 'S', OPT_STRING, offsetof(struct script_options, symbols_of), "NAMES",
     "print samples in these functions, or at these addresses: main,0x401136"},
    {"addr-range", 0, OPT_NUMBER, offsetof(struct script_options, address_range), "BYTES",
     "as many bytes from such an address on"},
    {"dsos", 0, OPT_STRING, offsetof(struct script_options, objects), "NAMES",
     "print samples in these objects: libc.so.6,/usr/bin/sh"},
    {"dso", 0, OPT_STRING, offsetof(struct script_options, objects), "NAMES", NULL},
    {"time", 0, OPT_STRING, offsetof(struct script_options, time), "A-B",
     "print samples from second A to second B; 10%-20% or 10%/2 of the recording; 5s-10s; dates"},
    {"switch-on", 0, OPT_STRING, offsetof(struct script_options, switch_on), "EVENT",
     "print samples from the next one of this event on"},
    {"switch-off", 0, OPT_STRING, offsetof(struct script_options, switch_off), "EVENT",
     "print samples up to the next one of this event"},
    {"show-on-off-events", 0, OPT_FLAG, offsetof(struct script_options, show_switches), NULL,
     "print those of these two events too"},
    {"reltime", 0, OPT_FLAG, offsetof(struct script_options, since_first), NULL,
     "print times as since the first one printed"},
    {"deltatime", 0, OPT_FLAG, offsetof(struct script_options, since_previous), NULL,
     "print times as since the one before"},
    {"ns", 0, OPT_FLAG, offsetof(struct script_options, nanoseconds), NULL,
     "print times with nine digits behind the point"},
    {"ticks", 0, OPT_FLAG, offsetof(struct script_options, ticks), NULL,
     "print times of a trace in ticks of its clock"},
    SHOW("task", tasks, "FORK, COMM and EXIT"),
    SHOW("mmap", maps, "MMAP and MMAP2"),
    SHOW("switch", switches, "SWITCH and SWITCH_CPU_WIDE"),
    SHOW("namespace", namespaces, "NAMESPACES"),
    SHOW("cgroup", cgroups, "CGROUP"),
    SHOW("bpf", bpf, "KSYMBOL and BPF_EVENT"),
    SHOW("lost", losses, "LOST"),
    SHOW("round", rounds, "FINISHED_ROUND"),
    SHOW("text-poke", pokes, "TEXT_POKE"),
    {"symfs", 0, OPT_STRING, offsetof(struct script_options, naming.symfs), "DIR",
     "look for objects below this folder"},
    {"debug-dir", 0, OPT_STRING, offsetof(struct script_options, naming.debug_dir), "DIR",
     "look for what was taken out of objects here, not in /usr/lib/debug"},
    {"debuginfod", 0, OPT_ATTACHED, offsetof(struct script_options, debuginfod), "URLS",
     "fetch what is missing from these servers, hottest objects first"},
    {"kallsyms", 0, OPT_STRING, offsetof(struct script_options, naming.kallsyms), "FILE",
     "names of the kernel's functions"},
    {"vmlinux", 'k', OPT_STRING, offsetof(struct script_options, naming.vmlinux), "FILE",
     "names of the kernel's functions out of this object"},
    {"instr-map", 'm', OPT_WORDS, offsetof(struct script_options, naming.instr_maps), "FILE",
     "name functions of a trace by this object or map; several: the program first"},
    CACHE_ROW(struct script_options),
    {"no-symbols", 0, OPT_CLEAR, offsetof(struct script_options, symbols), NULL,
     "open no object: addresses stay numbers"},
    {"no-demangle", 0, OPT_FLAG, offsetof(struct script_options, naming.mangled), NULL,
     "print names of functions as the objects have them"},
    {"demangle", 0, OPT_ATTACHED, offsetof(struct script_options, naming.demangle), "HOW",
     "print names of functions simple (without parameters), full, or no"},
    {"demangle-kernel", 0, OPT_FLAG, offsetof(struct script_options, naming.demangle_kernel), NULL,
     "print those out of --vmlinux as people write them"},
    {"inline", 0, OPT_FLAG, offsetof(struct script_options, inlined), NULL,
     "print inlined functions as frames of their own in call chains"},
    {"no-inline", 0, OPT_CLEAR, offsetof(struct script_options, inlined), NULL, NULL},
    {"show-kernel-path", 0, OPT_FLAG, offsetof(struct script_options, kernel_paths), NULL,
     "print the paths of --vmlinux and of modules"},
    {"header", 0, OPT_FLAG, offsetof(struct script_options, header), NULL, "print the header of the recording first"},
    {"header-only", 0, OPT_FLAG, offsetof(struct script_options, header_only), NULL, "print that and nothing else"},
    {"show-info", 'I', OPT_FLAG, offsetof(struct script_options, long_header), NULL,
     "print all of the header, topologies and caches too"},
    {"dump-raw-trace", 'D', OPT_FLAG, offsetof(struct script_options, dump), NULL,
     "print each record with its bytes too"},
    {"dump-unsorted-raw-trace", 0, OPT_FLAG, offsetof(struct script_options, dump_unsorted), NULL,
     "the same, as the records stand in the recording"},
    {"per-event-dump", 0, OPT_FLAG, offsetof(struct script_options, per_event), NULL,
     "write what each event prints into a file FILE.EVENT.dump"},
    {"jobs", 'j', OPT_NUMBER, offsetof(struct script_options, jobs), "COUNT",
     "print with so many threads; the text is the same"},
    {"force", 'f', OPT_HABIT, 0, NULL, "nothing: whose file it is does not matter"},
    {"all-cpus", 'a', OPT_HABIT, 0, NULL, "nothing: samples of all cpus are printed"},
    {"no-itrace", 0, OPT_HABIT, 0, NULL, "nothing: traces of instructions are not decoded"},
    {0},
};

static void note_told(void *file, const char *sentence) {
    (void)file;
    complain_as("perfray script", "%s", sentence);
}

static uint32_t shown(const struct script_options *o) {
    return (o->tasks ? PFR_SCRIPT_TASKS : 0) | (o->maps ? PFR_SCRIPT_MAPS : 0) |
           (o->switches ? PFR_SCRIPT_SWITCHES : 0) | (o->namespaces ? PFR_SCRIPT_NAMESPACES : 0) |
           (o->cgroups ? PFR_SCRIPT_CGROUPS : 0) | (o->bpf ? PFR_SCRIPT_BPF : 0) | (o->losses ? PFR_SCRIPT_LOSSES : 0) |
           (o->rounds ? PFR_SCRIPT_ROUNDS : 0) | (o->pokes ? PFR_SCRIPT_POKES : 0);
}

/* What a streamed header says is read once more with the samples. */
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
                                .hole = limit_told,
                                .note = note_told,
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

/* What shapes perf's text has no place among JSON lines. */
static bool goes_with_json(const struct script_options *o) {
    const char *const other = o->header || o->header_only || o->long_header ? "--header"
                              : o->dump                                     ? "--dump-raw-trace"
                              : o->dump_unsorted                            ? "--dump-unsorted-raw-trace"
                              : o->per_event                                ? "--per-event-dump"
                              : o->since_first                              ? "--reltime"
                              : o->since_previous                           ? "--deltatime"
                                                                            : NULL;
    if (o->format == PFR_SCRIPT_JSON && other)
        complain_as("perfray script", "%s does not go with --format=json; see perfray script -h", other);
    return o->format != PFR_SCRIPT_JSON || !other;
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
        status = print_script(task, reader);
    pfr_close(reader);
    return status;
}

extern const struct command cmd_script;
const struct command cmd_script = {
    .name = "script",
    .about = "print one event at a time, as perf script does",
    .arguments = "[FILE...]",
    .opts = script_opts,
    .size = sizeof(struct script_options),
    .defaults = &script_defaults,
    .passes = 2,
    .run = script_run,
};
