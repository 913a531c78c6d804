/* SPDX-License-Identifier: Apache-2.0 */
/* The list of commands, in the order in which they are shown. */
#include <stddef.h>
#include <string.h>
#include "command.h"

extern const struct command cmd_report, cmd_flame, cmd_info, cmd_script, cmd_dump, cmd_export, cmd_latency, cmd_symbols,
    cmd_convert, cmd_recover, cmd_verify, cmd_view, cmd_record, cmd_list, cmd_trace, cmd_sql, cmd_annotate, cmd_offcpu,
    cmd_diff, cmd_graph, cmd_replay, cmd_store;

const struct command *const commands[] = {
    &cmd_record, &cmd_list,    &cmd_trace,    &cmd_report, &cmd_latency, &cmd_replay,
    &cmd_offcpu, &cmd_symbols, &cmd_annotate, &cmd_view,   &cmd_flame,   &cmd_diff,
    &cmd_graph,  &cmd_info,    &cmd_script,   &cmd_dump,   &cmd_export,
#ifdef HAVE_CMD_SQL
    &cmd_sql,
#endif
    &cmd_store,  &cmd_convert, &cmd_recover,  &cmd_verify, NULL,
};

const struct opt shared_opts[] = {
    HEADING("Common options"),
    {"input", 'i', OPT_FILE, 0, "FILE", "read FILE, as if given as an operand"},
    {"raw-names", 0, OPT_FLAG, offsetof(struct shared_options, raw_names), NULL,
     "print recorded names unescaped, with control characters"},
    {"limit", 0, OPT_LIMIT, offsetof(struct shared_options, limits), "NAME=VALUE",
     "set a resource limit; see LIMITS in perfray(1)"},
    {"no-pager", 0, OPT_CLEAR, offsetof(struct shared_options, pager), NULL,
     "do not show long terminal output through a pager"},
    {"help", 'h', OPT_HELP, 0, NULL, "print this help"},
    {0},
};

/* Options of commands that read recordings of a store as well as files. */
const struct opt store_opts[] = {
    HEADING("Recordings of a store"),
    {"store", 0, OPT_STRING, offsetof(struct shared_options, store), "URL",
     "read recordings of this store, not files; see perfray-store(1)"},
    {"where", 0, OPT_WORDS, offsetof(struct shared_options, where), "EXPR",
     "only samples that match; see perfray-store(1) (default all)"},
    {0},
};

/* The same options for commands that compare two sides. */
static const struct opt two_sides_opts[] = {
    HEADING("Recordings of a store"),
    {"store", 0, OPT_STRING, offsetof(struct shared_options, store), "URL",
     "compare recordings of this store, not files; see perfray-store(1)"},
    {"where", 0, OPT_WORDS, offsetof(struct shared_options, where), "EXPR",
     "give twice: base, then new side; see perfray-store(1)"},
    {0},
};

/* Options of commands that read no file. */
const struct opt lone_opts[] = {
    {"help", 'h', OPT_HELP, 0, NULL, "print this help"},
    {0},
};

const struct opt *shared_opts_of(const struct command *command) {
    return command->reads_no_file ? lone_opts : shared_opts;
}

const struct opt *store_opts_of(const struct command *command) {
    static const struct opt none[] = {{0}};
    return command->compares ? two_sides_opts : command->reads_store ? store_opts : none;
}

const struct command *find_command(const char *name) {
    for (size_t i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}
