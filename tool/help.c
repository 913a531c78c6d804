/* SPDX-License-Identifier: Apache-2.0 */
/* Help texts, printed from the rows of commands and options. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "help.h"

#define OPTION_COLUMN 27
#define WORDS_COLUMN 15 /* where the words of a long --option a|b|c continue */
#define HELP_COLUMNS 80 /* maximum length of a line, unless a word is longer */
#define HELP_ROOM 400

void print_line(pfr_output *out, const char *format, ...) {
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(line, sizeof line, format, arguments) >= 0)
        pfr_output_text(out, line);
    va_end(arguments);
}

/* A help text may refer to a section of the command's page: "see CALL TREES". Returns the length of the text up to the
 * end of the section's name; 0 if the text refers to no section. */
static size_t end_of_section(const char *help) {
    const char *at = strstr(help, "see ");
    if (!at)
        return 0;
    const size_t length = strspn(at + 4, "ABCDEFGHIJKLMNOPQRSTUVWXYZ ");
    for (at += 4 + length; length && at[-1] == ' ';)
        at--;
    return length > 1 && strncmp(at, " in ", 4) != 0 ? (size_t)(at - help) : 0;
}

/* The length of the first word, or of the first alternative of a word a|b|c that is longer than a line. */
static size_t piece_length(const char *text) {
    const size_t word = strcspn(text, " "), choice = strcspn(text, "|") + 1;
    return word > HELP_COLUMNS - WORDS_COLUMN && choice < word ? choice : word;
}

void print_wrapped(pfr_output *out, const char *text, size_t at, size_t indent) {
    size_t gap = 0;
    for (size_t length; *text; text += length + gap, at += length) {
        length = piece_length(text);
        if (at > indent && at + gap + length > HELP_COLUMNS) {
            print_line(out, "\n%*s", (int)indent, "");
            at = indent;
            gap = 0;
        }
        print_line(out, "%*s%.*s", (int)gap, "", (int)length, text);
        at += gap;
        gap = strspn(text + length, " ");
    }
    pfr_output_text(out, "\n");
}

/* Prints a help text, in which "see CALL TREES" becomes "see CALL TREES in perfray-report(1)". */
static void print_help_text(pfr_output *out, const char *command, const char *help) {
    const size_t end = command ? end_of_section(help) : 0;
    char text[HELP_ROOM];
    if (end)
        snprintf(text, sizeof text, "%.*s in perfray-%s(1)%s", (int)end, help, command, help + end);
    else
        snprintf(text, sizeof text, "%s", help);
    print_wrapped(out, text, OPTION_COLUMN, OPTION_COLUMN);
}

/* Prints "  -x, --hex           show the bytes beside the fields"; after a long name, help is on the next line. */
static void print_option(pfr_output *out, const char *command, const struct opt *row) {
    char name[160];
    const char letter[] = {'-', row->letter, ',', '\0'};
    const int width = snprintf(name, sizeof name, "  %3s --%s%s%s", row->letter ? letter : "", row->name,
                               row->arg ? " " : "", row->arg ? row->arg : "");
    if (width >= OPTION_COLUMN - 1) {
        print_wrapped(out, name, 0, WORDS_COLUMN);
        print_line(out, "%*s", OPTION_COLUMN, "");
    } else {
        print_line(out, "%-*s", OPTION_COLUMN, name);
    }
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

/* Each line of the examples is a shell command, or a comment on the next one. */
static void print_examples(pfr_output *out, const char *lines) {
    pfr_output_text(out, "\nExamples:\n");
    for (size_t length; *lines; lines += length) {
        length = strcspn(lines, "\n") + 1;
        print_line(out, "  %.*s", (int)length, lines);
    }
}

static void print_usage(pfr_output *out, const struct command *command) {
    char line[HELP_ROOM];
    snprintf(line, sizeof line, "usage: perfray %s [options] %s", command->name, command->arguments);
    print_wrapped(out, line, 0, WORDS_COLUMN);
    pfr_output_text(out, "\n");
    print_wrapped(out, command->about, 0, 0);
    pfr_output_text(out, "\n");
}

static void print_note(pfr_output *out, const struct command *command) {
    char line[HELP_ROOM];
    if (command->note) {
        pfr_output_text(out, "\n");
        print_wrapped(out, command->note, 0, 0);
    }
    if (!command->reads_no_file)
        snprintf(line, sizeof line,
                 "FILE defaults to %s, or to standard input if that is a pipe; - is standard input. See "
                 "perfray-%s(1) for details.",
                 command->reads_trace_first ? DEFAULT_TRACE ", else " DEFAULT_RECORDING
                                            : DEFAULT_RECORDING ", else " DEFAULT_TRACE,
                 command->name);
    else
        snprintf(line, sizeof line, "See perfray-%s(1) for details.", command->name);
    pfr_output_text(out, "\n");
    print_wrapped(out, line, 0, 0);
}

void print_help(pfr_output *out, const struct command *command) {
    print_usage(out, command);
    print_options(out, command->name, command->opts);
    print_options(out, command->name, store_opts_of(command));
    print_options(out, command->name, shared_opts_of(command));
    print_note(out, command);
    print_examples(out, command->examples);
}

void print_overview(pfr_output *out, const struct opt *opts) {
    pfr_output_text(out, "usage: perfray COMMAND [options] [FILE...]\n\n");
    for (size_t i = 0; commands[i]; i++)
        print_line(out, "  %-10s%s\n", commands[i]->name, commands[i]->about);
    pfr_output_text(out, "\n");
    print_options(out, NULL, opts);
    pfr_output_text(out, "\nperfray help COMMAND, or perfray COMMAND -h, prints the options of one command.\n");
}
