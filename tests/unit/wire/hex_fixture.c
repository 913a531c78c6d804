/* SPDX-License-Identifier: Apache-2.0 */
#include "hex_fixture.h"

#include <stdio.h>
#include <stdlib.h>

static void take_context(struct hex_fixture *fixture, char *words) {
    static const struct {
        const char *name;
        enum context_word word;
    } known[] = {
        {"sample_type", WORD_SAMPLE},
        {"read_format", WORD_READ},
        {"branch_sample_type", WORD_BRANCH},
        {"sample_regs_user", WORD_REGS_USER},
        {"sample_regs_intr", WORD_REGS_INTR},
        {"nr_cpus", WORD_CPUS},
        {"version", WORD_VERSION},
    };
    char *rest = NULL;
    for (char *pair = strtok_r(words, " \n", &rest); pair; pair = strtok_r(NULL, " \n", &rest)) {
        char *value = strchr(pair, '=');
        if (!value)
            continue;
        *value++ = '\0';
        const uint64_t v = strtoull(value, NULL, 0);
        if (strcmp(pair, "sample_id_all") == 0)
            fixture->sample_id_all = v;
        if (strcmp(pair, "big") == 0)
            fixture->big = v != 0;
        if (strcmp(pair, "low_first") == 0)
            fixture->low_first = v != 0;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
            if (strcmp(pair, known[i].name) == 0)
                fixture->context.word[known[i].word] = v;
    }
}

static bool take_bytes_line(struct hex_fixture *fixture, const char *line) {
    char *at;
    if (strtoul(line, &at, 16) != fixture->length || *at != ':')
        return false;
    for (at++; at[0] == ' ' && at[1] != ' ' && at[1] != '#' && at[1] != '\n' && at[1] != '\0';) {
        if (fixture->length == HEX_BYTES)
            return false;
        fixture->bytes[fixture->length++] = (uint8_t)strtoul(at, &at, 16);
    }
    return true;
}

static bool take_expect(struct hex_fixture *fixture, const char *rest) {
    const unsigned n = fixture->expects++;
    return n < HEX_EXPECTS && sscanf(rest, "%511s = %511[^\n]", fixture->field[n], fixture->value[n]) == 2;
}

static bool take_line(struct hex_fixture *fixture, char *line) {
    if (line[0] == '#' || line[0] == '\n' || strncmp(line, "perf:", 5) == 0)
        return true;
    if (strncmp(line, "kind: layout ", 13) == 0)
        return sscanf(line + 6, "%15s %63s", fixture->kind, fixture->layout) == 2;
    if (strncmp(line, "kind: ", 6) == 0)
        return sscanf(line + 6, "%15s %ju", fixture->kind, (uintmax_t *)&fixture->feature) >= 1;
    if (strncmp(line, "ctx: ", 5) == 0) {
        take_context(fixture, line + 5);
        return true;
    }
    if (strncmp(line, "expect: ", 8) == 0)
        return take_expect(fixture, line + 8);
    return take_bytes_line(fixture, line);
}

bool load_hex_fixture(struct hex_fixture *fixture, const char *folder, const char *file) {
    char path[1024], line[2 * HEX_LINE];
    bool good = true;
    memset(fixture, 0, sizeof *fixture);
    fixture->context.word[WORD_SAMPLE] = 0x107;
    snprintf(fixture->kind, sizeof fixture->kind, "record");
    snprintf(fixture->name, sizeof fixture->name, "%.63s", file);
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *in = fopen(path, "r");
    if (!in)
        return false;
    while (good && fgets(line, sizeof line, in))
        good = take_line(fixture, line);
    fclose(in);
    return good;
}
