/* SPDX-License-Identifier: Apache-2.0 */
/* perfray record: sample a command, a process or the machine. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "command.h"
#include "off_cpu.h"
#include "once.h"
#include "record_words.h"

struct record_options {
    struct pair_list events;
    const char *frequency, *count, *call_graph, *branch_filter, *cpus, *pids, *tids, *user, *cgroups, *ring, *level;
    const char *output, *clock, *user_regs, *intr_regs, *max_size, *switch_output, *control, *delay, *aux_sample;
    bool chains, branches, all_cpus, no_inherit, addresses, physical, data_pages, code_pages, weight, times, raw, cpu;
    bool period, namespaces, all_cgroups, switches, build_ids_in_maps, no_build_ids, overwrite, quiet, dry_run,
        count_only;
    const char *synth, *flush;
    bool strict_freq, group, kernel_chains, user_chains, no_bpf, exclude_perf, build_ids_of_all, dated;
    bool stat, transaction, per_thread, unbuffered, identifier, running_time, only_user, only_kernel;
    uint32_t status_fd, realtime, switch_files;
    bool tail_synthesize, off_cpu;
};

#define OF(member) offsetof(struct record_options, member)

static const struct opt record_opts[] = {
    HEADING("Events"),
    {"event", 'e', OPT_PAIR, OF(events), "EVENT", "event to sample (default cycles); perfray list shows them"},
    {"filter", 0, OPT_WITH, OF(events), "EXPRESSION", "count the preceding tracepoints only when EXPRESSION is true"},
    {"group", 0, OPT_FLAG, OF(group), NULL, "put all events into one group; the first event is its leader"},
    {"exclude-perf", 0, OPT_FLAG, OF(exclude_perf), NULL, "exclude the recorder itself from tracepoints"},
    {"all-user", 0, OPT_FLAG, OF(only_user), NULL, "sample only user code"},
    {"all-kernel", 0, OPT_FLAG, OF(only_kernel), NULL, "sample only kernel code"},
    HEADING("Sampling rate"),
    {"freq", 'F', OPT_STRING, OF(frequency), "NUMBER", "samples per second, or max (default 4000)"},
    {"strict-freq", 0, OPT_FLAG, OF(strict_freq), NULL, "fail if the kernel does not allow the sampling frequency"},
    {"count", 'c', OPT_STRING, OF(count), "NUMBER", "take a sample every NUMBER events, instead of by frequency"},
    {"no-samples", 'n', OPT_FLAG, OF(count_only), NULL, "record no samples"},
    HEADING("Tasks and CPUs"),
    {"all-cpus", 'a', OPT_FLAG, OF(all_cpus), NULL, "record all CPUs"},
    {"cpu", 'C', OPT_STRING, OF(cpus), "CPUS", "record only these CPUs: 0,2-3"},
    {"pid", 'p', OPT_STRING, OF(pids), "PIDS", "record these processes, comma-separated"},
    {"tid", 't', OPT_STRING, OF(tids), "TIDS", "record these threads, comma-separated"},
    {"uid", 'u', OPT_STRING, OF(user), "USER", "record the tasks of this user"},
    {"cgroup", 'G', OPT_STRING, OF(cgroups), "NAMES", "record the tasks of these cgroups, with -a or -C"},
    {"no-inherit", 'i', OPT_FLAG, OF(no_inherit), NULL, "do not record child tasks of the recorded tasks"},
    {"per-thread", 0, OPT_FLAG, OF(per_thread), NULL, "use one ring buffer per thread instead of one per CPU"},
    {"delay", 'D', OPT_STRING, OF(delay), "MS", "start after MS ms (-1: on enable), or record in ranges: 10-20,30-40"},
    HEADING("Call chains and branches"),
    {"call-chains", 'g', OPT_FLAG, OF(chains), NULL, "record call chains, by frame pointers"},
    {"call-graph", 0, OPT_STRING, OF(call_graph), "HOW", "record call chains: fp, dwarf[,SIZE] or lbr"},
    {"kernel-callchains", 0, OPT_FLAG, OF(kernel_chains), NULL, "record only the kernel part of call chains"},
    {"user-callchains", 0, OPT_FLAG, OF(user_chains), NULL, "record only the user part of call chains"},
    {"branch-any", 'b', OPT_FLAG, OF(branches), NULL, "record branch stacks"},
    {"branch-filter", 'j', OPT_STRING, OF(branch_filter), "FILTERS",
     "record branch stacks, filtered by type and privilege level: any,u"},
    HEADING("Data in each sample"),
    {"data", 'd', OPT_FLAG, OF(addresses), NULL, "record data addresses"},
    {"phys-data", 0, OPT_FLAG, OF(physical), NULL, "record physical data addresses"},
    {"data-page-size", 0, OPT_FLAG, OF(data_pages), NULL, "record the page size of data addresses"},
    {"code-page-size", 0, OPT_FLAG, OF(code_pages), NULL, "record the page size of code addresses"},
    {"weight", 'W', OPT_FLAG, OF(weight), NULL, "record the cost (weight) of samples"},
    {"timestamp", 'T', OPT_FLAG, OF(times), NULL, "record timestamps, also with --per-thread"},
    {"period", 'P', OPT_FLAG, OF(period), NULL, "record periods, also with -c"},
    {"raw-samples", 'R', OPT_FLAG, OF(raw), NULL, "record raw data of all events"},
    {"sample-cpu", 0, OPT_FLAG, OF(cpu), NULL, "record the CPU of each sample"},
    {"sample-identifier", 0, OPT_FLAG, OF(identifier), NULL, "record event ids at a fixed place in all records"},
    {"transaction", 0, OPT_FLAG, OF(transaction), NULL, "record transaction flags"},
    {"user-regs", 0, OPT_ATTACHED, OF(user_regs), "REGISTERS", "record user registers: ax,bx, or all"},
    {"intr-regs", 'I', OPT_ATTACHED, OF(intr_regs), "REGISTERS",
     "record registers at the time of the sample: ip,sp, or all"},
    {"aux-sample", 0, OPT_ATTACHED, OF(aux_sample), "SIZE", "record SIZE bytes of the AUX area in each sample"},
    {"stat", 's', OPT_FLAG, OF(stat), NULL, "record event counts per thread"},
    {"running-time", 0, OPT_FLAG, OF(running_time), NULL, "record enabled and running times of grouped events"},
    {"clockid", 'k', OPT_STRING, OF(clock), "CLOCK", "clock of timestamps: monotonic, realtime, boottime or tai"},
    HEADING("Other records"),
    {"namespaces", 0, OPT_FLAG, OF(namespaces), NULL, "record namespaces of tasks"},
    {"all-cgroups", 0, OPT_FLAG, OF(all_cgroups), NULL, "record cgroups"},
    {"switch-events", 0, OPT_FLAG, OF(switches), NULL, "record context switches"},
    {"off-cpu", 0, OPT_FLAG, OF(off_cpu), NULL, "record why threads wait, and who ends the waits, for perfray offcpu"},
    {"no-bpf-event", 0, OPT_FLAG, OF(no_bpf), NULL, "do not record BPF programs"},
    {"synth", 0, OPT_STRING, OF(synth), "WHAT", "synthesize records of running tasks: task,mmap,cgroup, all or no"},
    {"tail-synthesize", 0, OPT_FLAG, OF(tail_synthesize), NULL,
     "synthesize records at the end too (default with --overwrite)"},
    {"buildid-mmap", 0, OPT_FLAG, OF(build_ids_in_maps), NULL, "record build-ids in mmap records"},
    {"buildid-all", 0, OPT_FLAG, OF(build_ids_of_all), NULL,
     "record build-ids of all mapped objects, with or without samples"},
    {"no-buildid", 'B', OPT_FLAG, OF(no_build_ids), NULL, "do not record build-ids"},
    HEADING("Output"),
    {"output", 'o', OPT_STRING, OF(output), "FILE",
     "write FILE, - for stdout (default perf.data, or a stream if piped)"},
    {"compression-level", 'z', OPT_ATTACHED, OF(level), "[LEVEL]",
     "compress with zstd: -z[LEVEL], 1 to 22 (default 1)"},
    {"max-size", 0, OPT_STRING, OF(max_size), "SIZE", "stop when the file reaches SIZE: 64M"},
    {"switch-output", 0, OPT_ATTACHED, OF(switch_output), "WHEN",
     "start a new file on SIGUSR2 (signal), or after a size or time: 64M, 10s"},
    {"switch-max-files", 0, OPT_NUMBER, OF(switch_files), "COUNT", "keep only the newest COUNT output files"},
    {"timestamp-filename", 0, OPT_FLAG, OF(dated), NULL, "name the file FILE.TIME"},
    {"quiet", 'q', OPT_FLAG, OF(quiet), NULL, "print only errors"},
    {"dry-run", 0, OPT_FLAG, OF(dry_run), NULL, "print the counters that would be opened, and exit"},
    HEADING("Buffers"),
    {"mmap-pages", 'm', OPT_STRING, OF(ring), "PAGES", "size of each ring buffer, in pages or as 4M (default 1M)"},
    {"mmap-flush", 0, OPT_STRING, OF(flush), "SIZE",
     "drain a ring buffer at SIZE bytes (at most a quarter of the buffer)"},
    {"overwrite", 0, OPT_FLAG, OF(overwrite), NULL,
     "keep the newest records in the ring buffers; write them at the end"},
    {"no-buffering", 0, OPT_FLAG, OF(unbuffered), NULL, "write each record at once"},
    {"realtime", 'r', OPT_NUMBER, OF(realtime), "PRIORITY", "record at this real-time priority (SCHED_FIFO), 1 to 99"},
    HEADING("Control"),
    {"control", 0, OPT_STRING, OF(control), "WHERE", "read commands from fd:N[,N] or fifo:PATH[,PATH]"},
    {"status-fd", 0, OPT_NUMBER, OF(status_fd), "NUMBER",
     "write two exit statuses to this descriptor: perfray's and COMMAND's"},
    HEADING("Compatibility"),
    {"timestamp-boundary", 0, OPT_HABIT, 0, NULL,
     "ignored, for compatibility with perf (sample times are always written)"},
    {"off-cpu-thresh", 0, OPT_HABIT, 0, "MS", "ignored, for compatibility with perf (all waits are recorded)"},
    {"num-thread-synthesize", 0, OPT_HABIT, 0, "COUNT",
     "ignored, for compatibility with perf (one thread synthesizes records)"},
    {"proc-map-timeout", 0, OPT_HABIT, 0, "MS", "ignored, for compatibility with perf (/proc never delays recording)"},
    {"no-buildid-cache", 'N', OPT_HABIT, 0, NULL, "ignored, for compatibility with perf (objects are never copied)"},
    {"vmlinux", 0, OPT_HABIT, 0, "FILE", "ignored, for compatibility with perf (the kernel reports its build-id)"},
    {"verbose", 'v', OPT_HABIT, 0, NULL, "ignored, for compatibility with perf (--dry-run shows the counters)"},
    {"snapshot", 'S', OPT_REFUSED, 0,
     "is not available: --aux-sample records parts of AUX areas, --overwrite the newest records", NULL},
    {"threads", 0, OPT_REFUSED, 0,
     "is not available: one thread drains all ring buffers into one file; -m enlarges the buffers", NULL},
    {"affinity", 0, OPT_REFUSED, 0,
     "is not available: one thread drains all ring buffers; taskset(1) binds it to a CPU", NULL},
    {"aio", 0, OPT_REFUSED, 0,
     "is not available: ring buffers continue to fill while the file is written; -m enlarges them", NULL},
    {"kcore", 0, OPT_REFUSED, 0,
     "is not available: the kernel's code is not copied; give a copy of vmlinux with perfray report -k", NULL},
    {"debuginfod", 0, OPT_REFUSED, 0, "is an option of perfray report: the recorder uses no network", NULL},
    {"switch-output-event", 0, OPT_REFUSED, 0,
     "is not available: kill -USR2, --control or --switch-output=10s start a new file", NULL},
    {"clang-path", 0, OPT_REFUSED, 0, "is not available: perfray compiles no BPF programs; -e takes existing events",
     NULL},
    {"clang-opt", 0, OPT_REFUSED, 0, "is not available: perfray compiles no BPF programs; -e takes existing events",
     NULL},
    {0},
};

static const char program[] = "perfray record";

static pfr_recorder *volatile running;

static void on_signal(int number) {
    pfr_recorder *const recorder = running;
    if (!recorder)
        _exit(128 + number);
    if (number == SIGUSR2)
        pfr_recorder_snapshot(recorder);
    else
        pfr_recorder_stop(recorder);
}

/* The missing hardware cycles of a machine are reported once per boot, not for every recording. */
#define NO_CYCLES "hardware cycles are not available"
#define NO_CYCLES_FILE "no-cycles-told"
static bool has_no_cycles_note;

static void report_note(void *context, const char *sentence) {
    const bool is_no_cycles = strncmp(sentence, NO_CYCLES, sizeof NO_CYCLES - 1) == 0;
    const struct record_options *const o = context;
    if (is_no_cycles && !o->events.words.count && once_was_reported(NO_CYCLES_FILE))
        return;
    has_no_cycles_note = has_no_cycles_note || is_no_cycles;
    complain_as(program, "%s", sentence);
}

/* --- converts options to those of the library --- */

/* As in perf, output goes to a pipe as a stream unless -o is given. */
static const char *output_of(const struct record_options *o) {
    struct stat facts;
    const bool piped = fstat(STDOUT_FILENO, &facts) == 0 && S_ISFIFO(facts.st_mode);
    return !o->output && !o->switch_output && piped && !o->dry_run ? "-" : o->output;
}

static void plain_options(const struct record_options *o, pfr_recorder_options *to) {
    *to = (pfr_recorder_options){
        .size = sizeof *to,
        .events = o->events.words.count ? o->events.words.at : NULL,
        .filters = o->events.with,
        .cgroups = o->cgroups,
        .pids = o->pids,
        .tids = o->tids,
        .user = o->user,
        .cpus = o->cpus,
        .all_cpus = o->all_cpus,
        .per_thread = o->per_thread,
        .no_inherit = o->no_inherit,
        .count_only = o->count_only,
        .chains = o->chains ? PFR_CHAINS_FP : PFR_CHAINS_NONE,
        .branches = o->branch_filter ? o->branch_filter
                    : o->branches    ? "any"
                                     : NULL,
        .user_regs = o->user_regs,
        .intr_regs = o->intr_regs,
        .addresses = o->addresses,
        .physical_addresses = o->physical,
        .data_page_size = o->data_pages,
        .code_page_size = o->code_pages,
        .weight = o->weight,
        .raw = o->raw,
        .cpu = o->cpu,
        .with_period = o->period,
        .identifier = o->identifier,
        .times = o->times,
        .transaction = o->transaction,
        .namespaces = o->namespaces,
        .cgroup_events = o->all_cgroups,
        .switches = o->switches,
        .counts_per_thread = o->stat,
        .running_time = o->running_time,
        .only_user = o->only_user,
        .only_kernel = o->only_kernel,
        .clock = o->clock,
        .strict_frequency = o->strict_freq,
        .one_group = o->group,
        .no_user_chains = o->kernel_chains,
        .no_kernel_chains = o->user_chains,
        .no_bpf = o->no_bpf,
        .without_recorder = o->exclude_perf,
        .synthesize = o->synth,
        .parts_most = o->switch_files,
        .dated = o->dated,
        .overwrite = o->overwrite,
        .unbuffered = o->unbuffered,
        .tail_synthesize = o->tail_synthesize,
        .realtime = o->realtime,
        .control = o->control,
        .output = output_of(o),
        .compress = o->level != NULL,
        .build_ids = o->no_build_ids        ? PFR_BUILD_IDS_NONE
                     : o->build_ids_in_maps ? PFR_BUILD_IDS_IN_MAPS
                     : o->build_ids_of_all  ? PFR_BUILD_IDS_OF_ALL
                                            : PFR_BUILD_IDS_OF_HITS,
        .version = PERFRAY_VERSION,
        .drop_privileges = true,
        .note = o->quiet ? NULL : report_note,
        .context = (void *)(uintptr_t)o,
    };
}

static bool read_level(const char *word, int *level) {
    char *end;
    const long value = strtol(word, &end, 10);
    if (!*word || (end != word && !*end && value >= 1 && value <= 22)) {
        *level = *word ? (int)value : 0;
        return true;
    }
    complain_as(program, "--compression-level is a number from 1 to 22, not '%s'; see perfray record -h", word);
    return false;
}

static bool read_aux_sample(const char *word, uint32_t *bytes) {
    uint64_t value = 4096;
    if (*word && !read_bytes("aux-sample", word, &value))
        return false;
    *bytes = value < 65528 ? (uint32_t)value : 65528;
    return true;
}

static bool read_options(const struct record_options *o, pfr_recorder_options *to) {
    plain_options(o, to);
    return (!o->frequency || read_frequency(o->frequency, to)) &&
           (!o->count || read_count("count", o->count, &to->period)) &&
           (!o->call_graph || read_call_graph(o->call_graph, to)) && (!o->ring || read_ring_size(o->ring, to)) &&
           (!o->level || read_level(o->level, &to->level)) &&
           (!o->max_size || read_bytes("max-size", o->max_size, &to->max_bytes)) &&
           (!o->switch_output || read_switch_output(o->switch_output, to)) && (!o->delay || read_delay(o->delay, to)) &&
           (!o->flush || read_bytes("mmap-flush", o->flush, &to->drain_least)) &&
           (!o->aux_sample || read_aux_sample(o->aux_sample, &to->aux_sample));
}

/* --- running --- */

static enum exit_status complain_about(const pfr_error *err) {
    complain_as(program, "%s%s", err->text,
                err->status == PFR_ERR_USAGE && !strstr(err->text, "; see ") ? "; see perfray record -h" : "");
    return exit_status_of(err->status);
}

static void print_captured(const pfr_recorder_options *how, const pfr_recorder_result *result) {
    const char *const path = how->output ? how->output : "perf.data";
    const double megabytes = (double)result->bytes / 1048576.0;
    char counted[64] = "", packed[96] = "", line[1024];
    if (result->samples)
        snprintf(counted, sizeof counted, " (%" PRIu64 " samples)", result->samples);
    if (result->plain_bytes)
        snprintf(packed, sizeof packed, ", compressed (before: %.3f MB)", (double)result->plain_bytes / 1048576.0);
    const int length = snprintf(line, sizeof line, "[ perfray record: captured %.3f MB in %.400s%s%s%s ]\n", megabytes,
                                path, how->parts ? ".*" : "", packed, counted);
    const ssize_t written = length > 0 ? write(STDERR_FILENO, line, (size_t)length) : 0;
    (void)written; /* a failure to write to standard error cannot be reported */
}

static void report_result(const pfr_recorder_options *how, const pfr_recorder_result *result) {
    if (result->is_full && how->note)
        complain_as(program, "the file has reached --max-size: the recording ends");
    if (result->lost && how->note)
        complain_as(program,
                    "%" PRIu64
                    " records were lost: ring buffers were full; enlarge them with -m, or sample less with -F",
                    result->lost);
    if (result->aux_truncated && how->note)
        complain_as(program,
                    "AUX data were lost %" PRIu64 " times: AUX areas were full; enlarge them with -m PAGES,PAGES",
                    result->aux_truncated);
    if (how->note)
        print_captured(how, result);
}

static void write_statuses(const struct record_options *o, int own, const pfr_recorder_result *result) {
    char line[64];
    if (!o->status_fd)
        return;
    const int length = result->has_status ? snprintf(line, sizeof line, "%d %d\n", own, result->status)
                                          : snprintf(line, sizeof line, "%d -\n", own);
    if (write((int)o->status_fd, line, (size_t)length) != length)
        complain_as(program, "--status-fd %u: %s", o->status_fd, strerror(errno));
}

/* The exit status of the recorded command if recording succeeded; otherwise that of perfray. */
static int status_of_both(enum exit_status own, const pfr_recorder_result *result) {
    if (own != ENDS_FINE || !result->has_status)
        return (int)own;
    return WIFSIGNALED(result->status) ? 128 + WTERMSIG(result->status) : WEXITSTATUS(result->status);
}

static int run_recorder(const struct record_options *o, const pfr_recorder_options *how, pfr_recorder *recorder) {
    pfr_error err = {.offset = PFR_NO_OFFSET};
    pfr_recorder_result result;
    const pfr_status status = pfr_recorder_run(recorder, &err);
    const enum exit_status own = status < 0 ? complain_about(&err) : ENDS_FINE;
    if (has_no_cycles_note && status >= 0)
        once_remember(NO_CYCLES_FILE);
    pfr_recorder_get_result(recorder, &result);
    if (status >= 0)
        report_result(how, &result);
    write_statuses(o, (int)own, &result);
    return status_of_both(own, &result);
}

static void catch_signals(void) {
    const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    if (signal(SIGHUP, SIG_IGN) != SIG_IGN) /* under nohup, SIGHUP stays ignored */
        sigaction(SIGHUP, &action, NULL);
}

static int record_and_close(const struct record_options *o, const pfr_recorder_options *how) {
    pfr_error err = {.offset = PFR_NO_OFFSET};
    pfr_recorder *const recorder = pfr_recorder_open(how, &err);
    if (!recorder)
        return (int)complain_about(&err);
    running = recorder;
    catch_signals();
    const int status = run_recorder(o, how, recorder);
    running = NULL;
    pfr_recorder_close(recorder);
    return status;
}

static enum exit_status plan(pfr_recorder_options *how) {
    pfr_error err = {.offset = PFR_NO_OFFSET};
    how->note = report_note;
    return pfr_recorder_plan(how, &err) < 0 ? complain_about(&err) : ENDS_FINE;
}

static bool status_fd_is_open(const struct record_options *o) {
    if (!o->status_fd || fcntl((int)o->status_fd, F_GETFD) >= 0)
        return true;
    complain_as(program, "--status-fd %u: %s; see perfray record -h", o->status_fd, strerror(errno));
    return false;
}

/* Whether the list of registers is requested. The library returns this list as an error, before it needs a target. */
static bool lists_registers(const struct record_options *o) {
    return (o->user_regs && strcmp(o->user_regs, "?") == 0) || (o->intr_regs && strcmp(o->intr_regs, "?") == 0);
}

/* Detects `-g dwarf`: -g takes no argument, so "dwarf" would be the command to run. */
static bool is_call_graph_word(const char *word) {
    static const char *const words[] = {"fp", "dwarf", "lbr"};
    for (size_t i = 0; word && i < sizeof words / sizeof *words; i++)
        if (strncmp(word, words[i], strcspn(word, ",")) == 0 && strlen(words[i]) == strcspn(word, ","))
            return true;
    return false;
}

/* Detects "-z 5 PROGRAM", in which the level is a word of its own. */
static bool is_level_apart(const struct record_options *o, const char *first) {
    const size_t digits = first ? strspn(first, "0123456789") : 0;
    return o->level && !*o->level && digits > 0 && digits < 3 && !first[digits];
}

static bool has_sense(const struct record_options *o, const struct task *task) {
    const char *const output = output_of(o), *const first = task->words[0];
    if (o->chains && !o->call_graph && is_call_graph_word(first)) {
        complain_as(program, "-g takes no argument: use --call-graph %s, or ./%.*s to run a program of this name",
                    first, (int)strcspn(first, ","), first);
        return false;
    }
    if (is_level_apart(o, first)) {
        complain_as(program, "the level of -z is in the same word: -z%s", first);
        return false;
    }
    if (output && strcmp(output, "-") == 0 && isatty(STDOUT_FILENO)) {
        complain_as(program, "refusing to write a recording to a terminal; use -o FILE, or a pipe");
        return false;
    }
    return true;
}

static enum exit_status record_run(const struct task *task) {
    const struct record_options *const o = task->options;
    pfr_recorder_options how;
    struct off_cpu off_cpu = {.events = {NULL}};
    if (!read_options(o, &how) || !status_fd_is_open(o) || !has_sense(o, task) ||
        (o->off_cpu && !off_cpu_add(&how, &off_cpu)))
        return ENDS_USAGE;
    signal(SIGCHLD, SIG_DFL); /* with SIGCHLD ignored, wait() would not report a status */
    how.words = (const char *const *)(uintptr_t)task->typed;
    how.command = task->words[0] ? (const char *const *)(uintptr_t)task->words : NULL;
    if (lists_registers(o) && !how.command)
        how.command = (const char *const[]){"true", NULL};
    return o->dry_run || lists_registers(o) ? plan(&how) : (enum exit_status)record_and_close(o, &how);
}

extern const struct command cmd_record;
const struct command cmd_record = {
    .name = "record",
    .about = "sample a command, a process or the whole machine",
    .arguments = "[--] [COMMAND]",
    .examples = "perfray record -g -- ./program\n"
                "perfray record -a -- sleep 1            # the whole machine\n"
                "perfray record --call-graph dwarf -o out.data -- ./program\n",
    .opts = record_opts,
    .size = sizeof(struct record_options),
    .reads_no_file = true,
    .runs_program = true,
    .opens_counters = true,
    .run = record_run,
};
