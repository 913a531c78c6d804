/* SPDX-License-Identifier: Apache-2.0 */
/* perfray replay: the calls of an XRay trace as an indented tree. */
#include <perfray/replay.h>
#include <stdlib.h>
#include <string.h>
#include "selecting.h"

struct replay_options {
    const char *functions, *notrace, *min_duration;
    uint32_t depth;
    bool each;
    struct selecting selecting;
};

static const struct replay_options replay_defaults = {.selecting = {.naming.cache = true}};

#define PROGRAM "perfray replay"
#define OF(member) offsetof(struct replay_options, member)

static const struct opt replay_opts[] = {
    HEADING("Selecting calls"),
    {"functions", 'F', OPT_STRING, OF(functions), "NAMES", "only these functions and their callees, comma-separated"},
    {"omit", 'N', OPT_STRING, OF(notrace), "NAMES", "omit these functions and their callees, comma-separated"},
    {"min-duration", 0, OPT_STRING, OF(min_duration), "TIME", "only calls of at least TIME: 10us, 1.5ms"},
    {"depth", 'D', OPT_COUNT, OF(depth), "COUNT", "number of levels to print (default all)"},
    {"pid", 0, OPT_STRING, OF(selecting.pids), "PIDS", "only calls of these processes: 7,9-12"},
    {"tid", 0, OPT_STRING, OF(selecting.tids), "TIDS", "only calls of these threads: 7,9-12"},
    {"time", 0, OPT_STRING, OF(selecting.time), "A-B", "only calls entered between A and B: seconds or 10%-20%"},
    HEADING("Output"),
    {"each", 0, OPT_FLAG, OF(each), NULL, "print each call (default: equal consecutive calls once)"},
    HEADING("Symbols"),
    {"symfs", 0, OPT_STRING, OF(selecting.naming.symfs), "DIR", "look up objects below DIR (default /)"},
    {"debug-dir", 0, OPT_STRING, OF(selecting.naming.debug_dir), "DIR",
     "directory of separate debug files (default /usr/lib/debug)"},
    {"instr-map", 'm', OPT_WORDS, OF(selecting.naming.instr_maps), "FILE",
     "object or map that names the functions of an XRay trace"},
    CACHE_ROW_AT(OF(selecting.naming.cache)),
    {"no-symbols", 0, OPT_FLAG, OF(selecting.naming.no_symbols), NULL,
     "do not open objects; print addresses instead of names"},
    {"no-demangle", 0, OPT_FLAG, OF(selecting.naming.mangled), NULL, "print mangled names (same as --demangle=no)"},
    {"demangle", 0, OPT_ATTACHED, OF(selecting.naming.demangle), "HOW",
     "demangling: simple (no parameters or template arguments), full, or no"},
    {0},
};

/* A number with a unit, as in perfray latency. */
static bool read_duration(const char *text, uint64_t *ns) {
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char *end = NULL;
    const double number = text ? strtod(text, &end) : 0;
    *ns = 0;
    for (size_t i = 0; text && end > text && i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].name) == 0 && number >= 0 && number * units[i].ns < 1e18) {
            *ns = (uint64_t)(number * units[i].ns);
            return true;
        }
    if (text)
        complain_as(PROGRAM, "'%s' is not a duration: write a number with ns, us, ms or s, such as 10us", text);
    return !text;
}

static enum exit_status print_replay(const struct task *task, uint64_t min_duration, pfr_reader *reader) {
    const struct replay_options *const o = task->options;
    const pfr_symbol_options naming = symbol_options_of(&o->selecting.naming);
    const pfr_selection of = selection_of(&o->selecting, task, &naming);
    const pfr_replay_options how = {.size = sizeof how,
                                    .of = &of,
                                    .functions = o->functions,
                                    .without = o->notrace,
                                    .min_duration = min_duration,
                                    .depth = o->depth,
                                    .each = o->each};
    pfr_error err = {.offset = PFR_NO_OFFSET};
    const pfr_status status = pfr_replay(reader, &how, task->out, &err);
    return end_of_writing(task, PROGRAM, reader, status, &err);
}

static enum exit_status replay_run(const struct task *task) {
    const struct replay_options *const o = task->options;
    const pfr_open_options how = {.size = sizeof how, .spool = true};
    enum exit_status status;
    uint64_t min_duration;
    if (!read_duration(o->min_duration, &min_duration) || !selecting_fits(&o->selecting, PROGRAM))
        return ENDS_USAGE;
    pfr_reader *const reader = open_recording(task, &how, &status);
    if (reader)
        status = print_replay(task, min_duration, reader);
    pfr_close(reader);
    return status;
}

extern const struct command cmd_replay;
const struct command cmd_replay = {
    .name = "replay",
    .about = "print the calls of an XRay trace as an indented tree",
    .arguments = "[FILE]",
    .examples = "perfray replay perfray.xray\n"
                "perfray replay --depth 3 perfray.xray\n",
    .takes_one_file = true,
    .opts = replay_opts,
    .defaults = &replay_defaults,
    .size = sizeof(struct replay_options),
    .passes = 2,
    .reads_trace_first = true,
    .run = replay_run,
};
