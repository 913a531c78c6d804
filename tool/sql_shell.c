/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shell of `perfray sql`: statements end with a semicolon, commands begin with a dot. There is no command that
 * runs a program, or opens or writes a file. Lines are edited with libedit if the build has it.
 */
#include "sql_shell.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "caching.h"
#include "help.h"
#include "sql_lines.h"

struct shell {
    const struct task *task;
    pfr_sql *sql;
    unsigned format;
    bool is_done;
};

static pfr_sql *volatile running; /* the query that Ctrl-C ends */

static void interrupt(int signal_number) {
    (void)signal_number;
    if (running)
        pfr_sql_interrupt(running);
}

static void run(struct shell *shell, const char *text) {
    struct sigaction own = {.sa_handler = interrupt}, before;
    sigemptyset(&own.sa_mask);
    running = shell->sql;
    sigaction(SIGINT, &own, &before);
    sql_run_text(shell->task, shell->sql, shell->format, text);
    sigaction(SIGINT, &before, NULL);
    running = NULL;
}

/* --- Commands. */

static void show_help(struct shell *shell, const char *argument) {
    (void)argument;
    pfr_output_text(shell->task->out, ".format FORMAT    print rows as table, box, csv, json, jsonl or md\n"
                                      ".help             print this\n"
                                      ".param NAME=VALUE set the parameter :NAME of later statements\n"
                                      ".quit             quit, as Ctrl-D does\n"
                                      ".recipes [N]      list queries for common questions, or run one of them\n"
                                      ".schema [TABLE]   columns of tables\n"
                                      ".tables           names of tables and views\n"
                                      "Statements end with a semicolon. Ctrl-C interrupts a running statement.\n");
}

static void quit(struct shell *shell, const char *argument) {
    (void)argument;
    shell->is_done = true;
}

static void set_format(struct shell *shell, const char *argument) {
    static const char *const names[] = {"table", "box", "csv", "json", "jsonl", "md"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(argument, names[i]) == 0) {
            shell->format = i;
            return;
        }
    complain_as("perfray sql", ".format '%s': must be table, box, csv, json, jsonl or md", argument);
}

static void set_parameter(struct shell *shell, const char *argument) {
    const char *const equals = strchr(argument, '=');
    char name[64] = "";
    pfr_error err = {.text = "write .param NAME=VALUE"};
    const size_t length = equals ? (size_t)(equals - argument) : sizeof name;
    if (length < sizeof name) {
        memcpy(name, argument, length);
        if (pfr_sql_bind(shell->sql, name, equals + 1, &err) == PFR_OK)
            return;
    }
    complain_as("perfray sql", "%s", err.text);
}

static void show_tables(struct shell *shell, const char *argument) {
    (void)argument;
    run(shell, "SELECT schema, name, type FROM pragma_table_list WHERE name NOT LIKE 'sqlite_%' AND type<>'shadow' "
               "ORDER BY schema, type='view', name");
}

static void show_schema(struct shell *shell, const char *argument) {
    pfr_error err;
    if (pfr_sql_bind(shell->sql, "perfray_table", argument, &err) < 0) {
        complain_as("perfray sql", "%s", err.text);
        return;
    }
    run(shell, "SELECT t.name AS \"table\", c.name AS \"column\", c.type FROM pragma_table_list t "
               "JOIN pragma_table_xinfo(t.name, t.schema) c WHERE t.name NOT LIKE 'sqlite_%' "
               "AND (:perfray_table='' OR t.name=:perfray_table) "
               "AND t.schema=(SELECT min(schema) FROM pragma_table_list WHERE name='record') ORDER BY t.name, c.cid");
}

static void list_recipes(struct shell *shell) {
    const pfr_sql_recipe *recipe;
    for (unsigned i = 0; (recipe = pfr_sql_get_recipe(i)); i++)
        print_line(shell->task->out, "%2u  %s\n", recipe->number, recipe->title);
}

static void run_recipe(struct shell *shell, const char *argument) {
    char *end;
    const unsigned long number = strtoul(argument, &end, 10);
    const pfr_sql_recipe *const recipe = number && !*end ? pfr_sql_get_recipe((unsigned)number - 1) : NULL;
    if (!*argument) {
        list_recipes(shell);
    } else if (!recipe) {
        complain_as("perfray sql", "there is no recipe '%s'; see .recipes", argument);
    } else {
        print_line(shell->task->out, "%s;\n", recipe->query);
        run(shell, recipe->query);
    }
}

static const struct shell_command {
    const char *name;
    void (*run)(struct shell *shell, const char *argument);
} shell_commands[] = {
    {".exit", quit}, {".format", set_format},  {".help", show_help},     {".param", set_parameter},
    {".quit", quit}, {".recipes", run_recipe}, {".schema", show_schema}, {".tables", show_tables},
};

/* Returns false if there is no such command. */
static bool run_command(struct shell *shell, char *line) {
    line[strcspn(line, "\n")] = '\0';
    const size_t length = strcspn(line, " \t");
    char *argument = line + length;
    argument += strspn(argument, " \t");
    for (size_t end = strlen(argument); end && (argument[end - 1] == ' ' || argument[end - 1] == '\t'); end--)
        argument[end - 1] = '\0';
    for (size_t i = 0; i < sizeof shell_commands / sizeof *shell_commands; i++)
        if (strlen(shell_commands[i].name) == length && memcmp(shell_commands[i].name, line, length) == 0) {
            shell_commands[i].run(shell, argument);
            return true;
        }
    line[length] = '\0';
    complain_as("perfray sql", "there is no command '%s'; .help lists them", line);
    return false;
}

enum exit_status sql_run_command(const struct task *task, pfr_sql *sql, unsigned format, const char *command) {
    struct shell shell = {.task = task, .sql = sql, .format = format};
    char *const line = strdup(command);
    if (!line) {
        complain("no memory for the command");
        return ENDS_IO;
    }
    const bool is_known = run_command(&shell, line);
    free(line);
    return is_known ? ENDS_FINE : ENDS_GATE;
}

/* --- Lines to statements. */

/* Appends a line to the statement so far; NULL: out of memory. */
static char *join(char *text, const char *line) {
    const size_t length = text ? strlen(text) : 0, more = strlen(line);
    char *const joined = realloc(text, length + more + 2);
    if (!joined) {
        free(text);
        return NULL;
    }
    memcpy(joined + length, line, more);
    memcpy(joined + length + more, "\n", 2);
    return joined;
}

static bool is_blank(const char *text) {
    return text[strspn(text, " \t\n;")] == '\0';
}

static char *take_line(struct shell *shell, char *text, char *line) {
    if (!text && line[strspn(line, " \t")] == '.') {
        run_command(shell, line + strspn(line, " \t"));
        return NULL;
    }
    text = join(text, line);
    if (!text || (!is_blank(text) && !pfr_sql_is_complete(text)))
        return text;
    if (!is_blank(text))
        run(shell, text);
    free(text);
    return NULL;
}

/* Words for completion: tables, columns, SQL. */
static bool add_word(void *context, unsigned count, const char *const *names, const char *const *values) {
    (void)context, (void)count, (void)names;
    if (values[0])
        sql_lines_word(values[0]);
    return true;
}

static void learn_words(struct shell *shell) {
    pfr_error err;
    for (size_t i = 0; i < sizeof shell_commands / sizeof *shell_commands; i++)
        sql_lines_word(shell_commands[i].name);
    pfr_sql_each(shell->sql,
                 "SELECT name FROM pragma_table_list UNION SELECT c.name FROM pragma_table_list t "
                 "JOIN pragma_table_info(t.name, t.schema) c UNION SELECT name FROM pragma_function_list",
                 add_word, NULL, &err);
}

enum exit_status sql_shell(const struct task *task, pfr_sql *sql, unsigned format) {
    struct shell shell = {.task = task, .sql = sql, .format = format};
    pfr_error err;
    char *text = NULL, *line;
    sql_lines_begin(cache_folder(true));
    learn_words(&shell);
    print_line(task->out, "perfray sql: .help lists commands, .tables lists tables and views\n");
    while (!shell.is_done && pfr_output_flush(task->out, &err) >= 0 &&
           (line = sql_lines_next(text ? "   ...> " : "perfray> "))) {
        text = take_line(&shell, text, line);
        free(line);
    }
    free(text);
    sql_lines_end();
    return ENDS_FINE;
}
