/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion for bash, printed from the option rows: commands, options of the command, the words of options that have a
 * list of words, and files everywhere else. The build runs `perfray --completion bash` and installs what it prints.
 */
#include <string.h>
#include "help.h"

static void print_words(pfr_output *out, const struct opt *rows) {
    for (const struct opt *row = rows; row->name; row++)
        if (row->help)
            print_line(out, " --%s", row->name);
}

static void print_verbs(pfr_output *out) {
    for (size_t i = 0; commands[i]; i++)
        print_line(out, "%s ", commands[i]->name);
}

/* Prints a line such as "        dump:--format) words='text jsonl perf' ;;". */
static void print_choice(pfr_output *out, const char *verb, const struct opt *row) {
    char words[256] = "";
    strncat(words, row->arg, sizeof words - 1);
    for (char *at = words; *at; at++)
        if (*at == '|')
            *at = ' ';
    print_line(out, "    %s:--%s) words='%s' ;;\n", verb, row->name, words);
}

/* Options that take a file, a folder or a free word are followed by file names. */
static void print_arguments(pfr_output *out, const char *verb, const struct opt *rows) {
    for (const struct opt *row = rows; row->name; row++) {
        if (!row->help || !row->arg)
            continue;
        if (row->kind == OPT_CHOICE || row->kind == OPT_LINES)
            print_choice(out, verb, row);
        else if (row->letter)
            print_line(out, "    %s:--%s | %s:-%c) ;;\n", verb, row->name, verb, row->letter);
        else
            print_line(out, "    %s:--%s) ;;\n", verb, row->name);
    }
}

static void print_command(pfr_output *out, const struct command *command) {
    print_arguments(out, command->name, command->opts);
    print_arguments(out, command->name, store_opts_of(command));
    print_arguments(out, command->name, shared_opts_of(command));
    print_line(out, "    %s:*)\n        case $current in -*) words='", command->name);
    print_words(out, command->opts);
    print_words(out, store_opts_of(command));
    print_words(out, shared_opts_of(command));
    pfr_output_text(out, "' ;; esac ;;\n");
}

bool print_completion(pfr_output *out, const char *shell, const struct opt *opts) {
    if (strcmp(shell, "bash") != 0)
        return false;
    pfr_output_text(out, "# Completion of perfray for bash; made by `perfray --completion bash`.\n"
                         "_perfray() {\n"
                         "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
                         "    local verb=${COMP_WORDS[1]}\n"
                         "    if [ \"$before\" = '=' ]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
                         "    if [ \"$current\" = '=' ]; then current=; fi\n"
                         "    if ((COMP_CWORD == 1)); then\n"
                         "        words='");
    print_verbs(out);
    pfr_output_text(out, "help");
    print_words(out, opts);
    pfr_output_text(out, "'\n    else\n    case $verb:$before in\n");
    pfr_output_text(out, "    help:*) words='");
    print_verbs(out);
    pfr_output_text(out, "' ;;\n");
    for (size_t i = 0; commands[i]; i++)
        print_command(out, commands[i]);
    pfr_output_text(out, "    esac\n"
                         "    fi\n"
                         "    if [ -n \"$words\" ]; then\n"
                         "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
                         "    else\n"
                         "        mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
                         "    fi\n"
                         "}\n"
                         "complete -o filenames -F _perfray perfray\n");
    return true;
}
