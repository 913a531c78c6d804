/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of a command line, parsed with the option rows of a command. Either they are accepted, and the operands are
 * some of the given words; or they are refused with one sentence. The linker replaces complain_as by
 * __wrap_complain_as, which receives that sentence.
 */
#include "fuzz.h"
#include "../tool/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define WORDS_MOST 64u

void __wrap_complain_as(const char *program, const char *format, ...) __attribute__((format(printf, 2, 3)));

static unsigned sentences;

void __wrap_complain_as(const char *program, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    LAW(*program && length > 0, "%s says nothing", program);
    sentences++;
}

/* Splits the input into words at NUL and newline. */
static size_t cut_into_words(char *text, size_t length, char *words[WORDS_MOST + 1]) {
    size_t count = 0;
    for (size_t at = 0; at < length && count < WORDS_MOST; at++) {
        words[count++] = text + at;
        while (at < length && text[at] && text[at] != '\n')
            at++;
        text[at] = '\0';
    }
    words[count] = NULL;
    return count;
}

static void check_operands(const struct operands *operands, char *const *words, size_t count, const char *text,
                           size_t length) {
    LAW(operands->at == words && operands->count <= count, "%zu operands of %zu words", operands->count, count);
    for (size_t i = 0; i < operands->count; i++)
        LAW(operands->at[i] >= text && operands->at[i] <= text + length, "operand %zu is no word that was given", i);
}

static void check_strings(const struct command *command, const void *values, const char *text, size_t length) {
    for (const struct opt *row = command->opts; row->name; row++) {
        if (row->kind != OPT_STRING)
            continue;
        const char *value = *(const char *const *)((const char *)values + row->offset);
        LAW(!value || (value >= text && value <= text + length), "--%s is no word that was given", row->name);
    }
}

static void parse_words(const struct command *command, bool stop, char *text, size_t length) {
    char *words[WORDS_MOST + 1];
    const size_t count = cut_into_words(text, length, words);
    void *values = calloc(1, command->size);
    struct shared_options shared = {0};
    const struct opt_set sets[] = {{command->opts, values}, {shared_opts, &shared}};
    const struct parse parse = {"fuzz", sets, 2, stop, command->takes};
    struct operands operands;
    LAW(values, "no memory");
    sentences = 0;
    const bool accepted = options_parse(&parse, words, &operands);
    LAW(sentences == !accepted, "%s with %u sentences", accepted ? "accepted" : "refused", sentences);
    if (accepted) {
        check_operands(&operands, words, count, text, length);
        check_strings(command, values, text, length);
    }
    free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct cursor in = cursor_on(bytes, length, 0, false);
    const unsigned choice = (unsigned)fuzz_take(&in, 1);
    const size_t left = cursor_left(&in);
    size_t count = 0;
    while (commands[count])
        count++;
    char *text = calloc(left + 1, 1);
    LAW(text, "no memory");
    if (left)
        memcpy(text, in.at, left);
    parse_words(commands[choice % count], choice & 0x80, text, left);
    free(text);
    return 0;
}
