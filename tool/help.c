/* SPDX-License-Identifier: Apache-2.0 */
/* Help texts, printed from the rows of commands and options. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "help.h"

#define OPTION_COLUMN 27

void print_line(pfr_output *out, const char *format, ...) {
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(line, sizeof line, format, arguments) >= 0)
        pfr_output_text(out, line);
    va_end(arguments);
}

/* The length of a help text up to the end of "see CALL TREES", a section of the command's page; 0: it names none. */
static size_t end_of_section(const char *help) {
    const char *at = strstr(help, "see ");
    if (!at)
        return 0;
    const size_t length = strspn(at + 4, "ABCDEFGHIJKLMNOPQRSTUVWXYZ ");
    for (at += 4 + length; length && at[-1] == ' ';)
        at--;
    return length > 1 && strncmp(at, " in ", 4) != 0 ? (size_t)(at - help) : 0;
}

/* "see CALL TREES" becomes "see CALL TREES in perfray-report(1)". */
static void print_help_text(pfr_output *out, const char *command, const char *help) {
    const size_t end = command ? end_of_section(help) : 0;
    if (end)
        print_line(out, "%.*s in perfray-%s(1)%s\n", (int)end, help, command, help + end);
    else
        print_line(out, "%s\n", help);
}

/* "  -x, --hex                 show the bytes beside the fields"; a long name has its help on the next line. */
static void print_option(pfr_output *out, const char *command, const struct opt *row) {
    char name[160];
    const char letter[] = {'-', row->letter, ',', '\0'};
    const int width = snprintf(name, sizeof name, "  %3s --%s%s%s", row->letter ? letter : "", row->name,
                               row->arg ? " " : "", row->arg ? row->arg : "");
    if (width >= OPTION_COLUMN - 1)
        print_line(out, "%s\n%*s", name, OPTION_COLUMN, "");
    else
        print_line(out, "%-*s", OPTION_COLUMN, name);
    print_help_text(out, command, row->help);
}

/* command: the name of its page; NULL for the options of perfray itself. */
static void print_options(pfr_output *out, const char *command, const struct opt *rows) {
    for (const struct opt *row = rows; row->name; row++)
        if (row->kind == OPT_HEADING)
            print_line(out, "%s\n", row->arg);
        else if (row->help)
            print_option(out, command, row);
}

void print_help(pfr_output *out, const struct command *command) {
    print_line(out, "usage: perfray %s [options] %s\n\n%s\n\n", command->name, command->arguments, command->about);
    print_options(out, command->name, command->opts);
    print_options(out, command->name, store_opts_of(command));
    print_options(out, command->name, shared_opts_of(command));
    if (command->note)
        print_line(out, "\n%s\n", command->note);
    if (command->reads_no_file) {
        print_line(out, "\nSee perfray-%s(1) for details.\n", command->name);
        return;
    }
    print_line(out,
               "\nFILE defaults to %s, or to standard input if that is a pipe;\n"
               "- is standard input. See perfray-%s(1) for details.\n",
               command->reads_trace_first ? DEFAULT_TRACE ", else " DEFAULT_RECORDING
                                          : DEFAULT_RECORDING ", else " DEFAULT_TRACE,
               command->name);
}

void print_overview(pfr_output *out, const struct opt *opts) {
    pfr_output_text(out, "usage: perfray COMMAND [options] [FILE...]\n\n");
    for (size_t i = 0; commands[i]; i++)
        print_line(out, "  %-10s%s\n", commands[i]->name, commands[i]->about);
    pfr_output_text(out, "\n");
    print_options(out, NULL, opts);
    pfr_output_text(out, "\nperfray help COMMAND, or perfray COMMAND -h, prints the options of one command.\n");
}
