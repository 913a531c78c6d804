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

/* "  -x, --hex                 show the bytes beside the fields"; a long name has its help on the next line. */
static void print_option(pfr_output *out, const struct opt *row) {
    char name[160];
    const char letter[] = {'-', row->letter, ',', '\0'};
    const int width = snprintf(name, sizeof name, "  %3s --%s%s%s", row->letter ? letter : "", row->name,
                               row->arg ? " " : "", row->arg ? row->arg : "");
    if (width >= OPTION_COLUMN - 1)
        print_line(out, "%s\n%*s%s\n", name, OPTION_COLUMN, "", row->help);
    else
        print_line(out, "%-*s%s\n", OPTION_COLUMN, name, row->help);
}

static void print_options(pfr_output *out, const struct opt *rows) {
    for (const struct opt *row = rows; row->name; row++)
        if (row->kind == OPT_HEADING)
            print_line(out, "%s\n", row->arg);
        else if (row->help)
            print_option(out, row);
}

void print_help(pfr_output *out, const struct command *command) {
    print_line(out, "usage: perfray %s [options] %s\n\n%s\n\n", command->name, command->arguments, command->about);
    print_options(out, command->opts);
    print_options(out, store_opts_of(command));
    print_options(out, shared_opts_of(command));
    if (command->reads_no_file) {
        print_line(out, "\nSee perfray-%s(1) for details.\n", command->name);
        return;
    }
    print_line(out,
               "\nFILE defaults to %s, or to standard input if that is a pipe;\n"
               "- is standard input. See perfray-%s(1) for details.\n",
               command->reads_trace_first ? "perfray.xray, else perf.data" : "perf.data, else perfray.xray",
               command->name);
}

void print_overview(pfr_output *out, const struct opt *opts) {
    pfr_output_text(out, "usage: perfray COMMAND [options] [FILE...]\n\n");
    for (size_t i = 0; commands[i]; i++)
        print_line(out, "  %-10s%s\n", commands[i]->name, commands[i]->about);
    pfr_output_text(out, "\n");
    print_options(out, opts);
    pfr_output_text(out, "\nperfray help COMMAND, or perfray COMMAND -h, prints the options of one command.\n");
}
