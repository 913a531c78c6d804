/* SPDX-License-Identifier: Apache-2.0 */
/* perfray sql: SQL queries about recordings. */
#include <perfray/sql.h>
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "caching.h"
#include "command.h"
#include "name_files.h"
#include "nearest.h"
#include "sql_shell.h"

struct sql_options {
    unsigned format; /* a pfr_sql_format */
    struct word_list queries, scripts, parameters;
    const char *output;
    struct naming naming;
    bool lines, inlined;
    uint32_t max_stack, jobs;
};

static const struct sql_options sql_defaults = {.naming.cache = true};

#define OF(member) offsetof(struct sql_options, member)

static const struct opt sql_opts[] = {
    HEADING("Queries"),
    {"query", 'q', OPT_WORDS, OF(queries), "QUERY", "run these statements, or a command of the shell: .tables"},
    {"file", 'f', OPT_WORDS, OF(scripts), "FILE.sql", "run the statements in this file, after those of -q"},
    {"param", 0, OPT_WORDS, OF(parameters), "NAME=VALUE", "set the parameter :NAME in the statements"},
    HEADING("Output"),
    {"format", 0, OPT_CHOICE, OF(format), "table|box|csv|json|jsonl|md", "output format (default table)"},
    {"output", 'o', OPT_STRING, OF(output), "FILE", "write the tables of the first file into an SQLite database"},
    HEADING("Tables"),
    {"lines", 0, OPT_FLAG, OF(lines), NULL, "fill frame.file and frame.line from debugging information"},
    {"inline", 0, OPT_FLAG, OF(inlined), NULL, "add frames for inlined functions; implies --lines"},
    {"max-stack", 0, OPT_COUNT, OF(max_stack), "COUNT", "maximum call-chain depth (default 127)"},
    {"jobs", 'j', OPT_NUMBER, OF(jobs), "COUNT",
     "number of threads that load recordings (default: one per CPU, at most 4)"},
    HEADING("Symbols"),
    {"symfs", 0, OPT_STRING, OF(naming.symfs), "DIR", "look up objects below DIR (default /)"},
    {"debug-dir", 0, OPT_STRING, OF(naming.debug_dir), "DIR",
     "directory of separate debug files (default /usr/lib/debug)"},
    {"kallsyms", 0, OPT_STRING, OF(naming.kallsyms), "FILE",
     "kernel symbol file (default: running kernel if it is the recorded one)"},
    {"vmlinux", 'k', OPT_STRING, OF(naming.vmlinux), "FILE", "read kernel symbols from this vmlinux object"},
    {"instr-map", 'm', OPT_WORDS, OF(naming.instr_maps), "FILE",
     "object or map that names the functions of an XRay trace"},
    CACHE_ROW(struct sql_options),
    {"no-symbols", 0, OPT_FLAG, OF(naming.no_symbols), NULL, "do not open objects; print addresses instead of names"},
    {"no-demangle", 0, OPT_FLAG, OF(naming.mangled), NULL, "print mangled names (same as --demangle=no)"},
    {0},
};

/* --- Opening. */

static bool is_name(const char *at, size_t length) {
    if (!length || isdigit((unsigned char)*at))
        return false;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)at[i]) && at[i] != '_')
            return false;
    return true;
}

/* Splits NAME=FILE, unless the whole word is the name of a file. */
static const char *split_name(const char *word, char *name, size_t room) {
    const char *const equals = strchr(word, '=');
    const size_t length = equals ? (size_t)(equals - word) : 0;
    if (!equals || length >= room || !is_name(word, length) || access(word, F_OK) == 0)
        return word;
    memcpy(name, word, length);
    name[length] = '\0';
    return equals + 1;
}

static enum exit_status attach_all(const struct task *task, pfr_sql *sql) {
    for (size_t i = 0; i < task->nr_files; i++) {
        char name[64] = "";
        pfr_error err = {.offset = PFR_NO_OFFSET};
        struct task of = *task;
        of.file = split_name(task->files[i], name, sizeof name);
        const pfr_status st = pfr_sql_attach(sql, of.file, *name ? name : NULL, &err);
        if (st == PFR_ERR_USAGE || (st == PFR_ERR_LIMIT && i >= PFR_SQL_RECORDINGS_MOST)) {
            complain_as("perfray sql", "%s: %s", task->files[i], err.text);
            return ENDS_USAGE;
        }
        if (st < 0)
            return complain_of_opening(&of, &err);
    }
    return ENDS_FINE;
}

static bool bind_all(const struct sql_options *o, pfr_sql *sql) {
    for (unsigned i = 0; i < o->parameters.count; i++) {
        const char *const word = o->parameters.at[i], *const equals = strchr(word, '=');
        char name[64];
        pfr_error err;
        if (!equals || (size_t)(equals - word) >= sizeof name || !is_name(word, (size_t)(equals - word))) {
            complain_as("perfray sql", "--param '%s': write NAME=VALUE", word);
            return false;
        }
        memcpy(name, word, (size_t)(equals - word));
        name[equals - word] = '\0';
        if (pfr_sql_bind(sql, name, equals + 1, &err) < 0) {
            complain_as("perfray sql", "%s", err.text);
            return false;
        }
    }
    return true;
}

static void print_note(void *context, const char *sentence) {
    (void)context;
    complain_as("perfray sql", "%s", sentence);
}

static pfr_model_options model_options_of(const struct sql_options *o, const pfr_symbol_options *naming) {
    return (pfr_model_options){.size = sizeof(pfr_model_options),
                               .jobs = o->jobs,
                               .max_stack = o->max_stack,
                               .lines = o->lines,
                               .inlined = o->inlined,
                               .naming = naming,
                               .note = print_note};
}

/* --- Queries. */

#define NO_TABLE "no such table: "
#define NAME_ROOM 128

struct table_hunt {
    const char *typed;
    char word[NAME_ROOM];
    struct nearest best;
};

static bool see_table(void *context, unsigned count, const char *const *names, const char *const *values) {
    struct table_hunt *const hunt = context;
    const unsigned before = hunt->best.distance;
    (void)count, (void)names;
    if (!values[0] || strlen(values[0]) >= NAME_ROOM)
        return true;
    nearest_offer(&hunt->best, hunt->typed, values[0]);
    if (hunt->best.distance < before)
        hunt->best.word = strcpy(hunt->word, values[0]);
    return true;
}

static void complain_of_table(pfr_sql *sql, const char *text) {
    const char *const dot = strrchr(text, '.');
    struct table_hunt hunt = {.typed = dot ? dot + 1 : text + strlen(NO_TABLE), .best = {.distance = UINT_MAX}};
    pfr_error err;
    pfr_sql_each(sql,
                 "SELECT DISTINCT name FROM pragma_table_list WHERE name NOT LIKE 'sqlite_%' AND type<>'shadow' "
                 "ORDER BY name",
                 see_table, &hunt, &err);
    const char *const meant = nearest_word(&hunt.best, hunt.typed);
    complain_as("perfray sql", "%s%s%s%s; .tables lists tables and views", text, meant ? " (did you mean " : "",
                meant ? meant : "", meant ? "?)" : "");
}

static enum exit_status complain_of_query(pfr_sql *sql, const pfr_error *err) {
    if (strncmp(err->text, NO_TABLE, strlen(NO_TABLE)) == 0)
        complain_of_table(sql, err->text);
    else
        complain_as("perfray sql", "%s", err->text);
    return err->status == PFR_ERR_USAGE || err->status == PFR_END ? ENDS_GATE : exit_status_of(err->status);
}

enum exit_status sql_run_text(const struct task *task, pfr_sql *sql, unsigned format, const char *text) {
    pfr_error err = {.offset = PFR_NO_OFFSET};
    const pfr_status st = pfr_sql_print(sql, text, (pfr_sql_format)format, task->out, &err);
    if (st == PFR_OK || pfr_output_failed(task->out))
        return ENDS_FINE; /* main reports errors of the output */
    return complain_of_query(sql, &err);
}

/* The whole text of a stream, which the caller frees; NULL: a message was printed. */
static char *read_text(FILE *from, const char *name) {
    size_t length = 0, room = 4096;
    char *text = malloc(room);
    while (text && !feof(from) && !ferror(from)) {
        length += fread(text + length, 1, room - length - 1, from);
        if (length + 1 < room)
            continue;
        char *const grown = realloc(text, room *= 2);
        if (!grown)
            free(text);
        text = grown;
    }
    if (!text || ferror(from)) {
        complain_as("perfray sql", "%s: cannot be read", name);
        free(text);
        return NULL;
    }
    text[length] = '\0';
    return text;
}

static enum exit_status run_stream(const struct task *task, pfr_sql *sql, FILE *from, const char *name) {
    const struct sql_options *const o = task->options;
    char *const text = read_text(from, name);
    const enum exit_status status = text ? sql_run_text(task, sql, o->format, text) : ENDS_IO;
    free(text);
    return status;
}

static enum exit_status run_script(const struct task *task, pfr_sql *sql, const char *name) {
    FILE *const from = fopen(name, "re");
    if (!from) {
        complain_as("perfray sql", "-f '%s': cannot be opened", name);
        return ENDS_IO;
    }
    const enum exit_status status = run_stream(task, sql, from, name);
    fclose(from);
    return status;
}

static bool takes_standard_input(const struct task *task) {
    for (size_t i = 0; i < task->nr_files; i++)
        if (strcmp(task->files[i], "-") == 0)
            return true;
    return false;
}

static enum exit_status save(const struct task *task, pfr_sql *sql) {
    const struct sql_options *const o = task->options;
    pfr_error err = {.offset = PFR_NO_OFFSET};
    if (pfr_sql_save(sql, o->output, &err) >= 0)
        return ENDS_FINE;
    complain_as("perfray sql", "-o '%s': %s", o->output, err.text);
    return exit_status_of(err.status);
}

/* Stops at the first statement that fails. */
static enum exit_status run_asked(const struct task *task, pfr_sql *sql) {
    const struct sql_options *const o = task->options;
    enum exit_status status = ENDS_FINE;
    if (o->output)
        status = save(task, sql);
    for (unsigned i = 0; i < o->queries.count && status == ENDS_FINE; i++)
        status = *o->queries.at[i] == '.' ? sql_run_command(task, sql, o->format, o->queries.at[i])
                                          : sql_run_text(task, sql, o->format, o->queries.at[i]);
    for (unsigned i = 0; i < o->scripts.count && status == ENDS_FINE; i++)
        status = run_script(task, sql, o->scripts.at[i]);
    if (o->output || o->queries.count || o->scripts.count)
        return status;
    if (takes_standard_input(task)) {
        complain_as("perfray sql", "the recording is standard input: give the query with -q or -f");
        return ENDS_USAGE;
    }
    return isatty(STDIN_FILENO) ? sql_shell(task, sql, o->format) : run_stream(task, sql, stdin, "standard input");
}

/* --- The command. */

static enum exit_status report_damage_of_files(const struct task *task, pfr_sql *sql) {
    enum exit_status status = ENDS_FINE;
    for (unsigned i = 0; i < task->nr_files; i++) {
        char name[64];
        pfr_error err = {.offset = PFR_NO_OFFSET};
        struct task of = *task;
        of.file = split_name(task->files[i], name, sizeof name);
        pfr_reader *const reader = pfr_sql_reader(sql, i, &err);
        status = graver_of(status, reader ? complain_of_damage(&of, reader) : complain_of(of.file, &err, NULL));
    }
    return status;
}

static enum exit_status run_on(const struct task *task, pfr_sql *sql) {
    const struct sql_options *const o = task->options;
    enum exit_status status = attach_all(task, sql);
    if (status != ENDS_FINE)
        return status;
    if (!bind_all(o, sql))
        return ENDS_USAGE;
    status = run_asked(task, sql);
    return status == ENDS_USAGE ? status : graver_of(status, report_damage_of_files(task, sql));
}

static enum exit_status sql_run(const struct task *task) {
    const struct sql_options *const o = task->options;
    const pfr_symbol_options naming = symbol_options_of(&o->naming);
    const pfr_model_options model = model_options_of(o, &naming);
    const uint64_t memory = task->shared->limits.memory;
    const pfr_sql_options how = {.size = sizeof how,
                                 .limits = &task->shared->limits,
                                 .sqlite_memory = memory ? memory : SQL_MEMORY,
                                 .model = &model};
    pfr_error err;
    if (!name_files_fit("perfray sql", &o->naming))
        return ENDS_USAGE;
    raise_file_limit();
    pfr_sql *const sql = pfr_sql_open(&how, &err);
    if (!sql)
        return complain_of(NULL, &err, NULL);
    const enum exit_status status = run_on(task, sql);
    pfr_sql_close(sql);
    return status;
}

extern const struct command cmd_sql;
const struct command cmd_sql = {
    .name = "sql",
    .about = "query samples, calls, stacks and records in SQL",
    .arguments = "[[NAME=]FILE...]",
    .examples = "perfray sql -q \"SELECT comm, sum(weight) FROM sample_text GROUP BY comm\"\n"
                "perfray sql --format=csv -q \"SELECT name, total FROM function\" perf.data\n",
    .opts = sql_opts,
    .defaults = &sql_defaults,
    .size = sizeof(struct sql_options),
    .takes_all_files = true,
    .run = sql_run,
};
