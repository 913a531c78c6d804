/* SPDX-License-Identifier: Apache-2.0 */
/* See record_words.h. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "outcome.h"
#include "record_words.h"

static bool refuse(const char *option, const char *meant, const char *word) {
    complain_as("perfray record", "--%s is %s, not '%s'; see perfray record -h", option, meant, word);
    return false;
}

/* Parses leading digits; *rest is the text after them. */
static bool take_digits(const char *word, uint64_t *value, const char **rest) {
    char *end;
    if (!isdigit((unsigned char)*word))
        return false;
    errno = 0;
    *value = strtoull(word, &end, 10);
    *rest = end;
    return errno == 0;
}

/* The power of two of a unit's letter (B, K, M, G, T); UINT32_MAX if it is not a unit. */
static unsigned shift_of(const char *unit) {
    static const char letters[] = "BKMGT";
    const char *const at = *unit ? strchr(letters, toupper((unsigned char)*unit)) : NULL;
    return at && !unit[1] ? (unsigned)(at - letters) * 10 : UINT32_MAX;
}

static bool scale(uint64_t *value, const char *unit) {
    const unsigned shift = shift_of(unit);
    if (shift == UINT32_MAX || *value > UINT64_MAX >> shift)
        return false;
    *value <<= shift;
    return true;
}

bool read_frequency(const char *word, pfr_recorder_options *options) {
    uint64_t value;
    const char *rest;
    if (strcmp(word, "max") == 0) {
        options->highest_frequency = true;
        return true;
    }
    if (!take_digits(word, &value, &rest) || *rest || value == 0 || value > UINT32_MAX)
        return refuse("freq", "samples per second, or max", word);
    options->frequency = (uint32_t)value;
    return true;
}

bool read_count(const char *option, const char *word, uint64_t *count) {
    const char *rest;
    if (take_digits(word, count, &rest) && *count > 0 && (!*rest || scale(count, rest)))
        return true;
    return refuse(option, "a number above 0", word);
}

bool read_call_graph(const char *word, pfr_recorder_options *options) {
    static const char *const modes[] = {"fp", "dwarf", "lbr"};
    const size_t length = strcspn(word, ",");
    uint64_t bytes = 0;
    const char *rest = "";
    for (unsigned i = 0; i < 3; i++)
        if (strlen(modes[i]) == length && strncmp(modes[i], word, length) == 0)
            options->chains = (pfr_record_chains)(PFR_CHAINS_FP + i);
    if (!options->chains)
        return refuse("call-graph", "fp, dwarf[,SIZE] or lbr", word);
    if (!word[length])
        return true;
    if (options->chains != PFR_CHAINS_DWARF || !take_digits(word + length + 1, &bytes, &rest) || *rest || bytes < 8 ||
        bytes > 65528)
        return refuse("call-graph", "dwarf with a size from 8 to 65528", word);
    options->stack_bytes = (uint32_t)(bytes + 7) & ~7u;
    return true;
}

bool read_bytes(const char *option, const char *word, uint64_t *bytes) {
    const char *rest;
    if (take_digits(word, bytes, &rest) && *bytes > 0 && (!*rest || scale(bytes, rest)))
        return true;
    return refuse(option, "a size, such as 64M", word);
}

/* Parses a number of pages, or a size with a unit, up to a comma; at most 1T. */
static bool take_pages(const char *word, uint64_t *bytes, const char **rest) {
    char unit[3];
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (!take_digits(word, bytes, rest) || *bytes == 0)
        return false;
    const size_t length = strcspn(*rest, ",");
    snprintf(unit, sizeof unit, "%.*s", (int)length, *rest);
    *rest += length;
    if (length ? !scale(bytes, unit) : *bytes > UINT64_MAX / page)
        return false;
    *bytes *= length ? 1 : page;
    return *bytes <= (uint64_t)1 << 40;
}

bool read_ring_size(const char *word, pfr_recorder_options *options) {
    const char *rest = word;
    if ((*word == ',' || take_pages(word, &options->ring_bytes, &rest)) &&
        (!*rest || (take_pages(rest + 1, &options->aux_bytes, &rest) && !*rest)))
        return true;
    return refuse("mmap-pages",
                  "a number of pages, or a size such as 4M, at most 1T; the size of AUX areas follows a comma", word);
}

static bool read_time(uint64_t value, const char *unit, uint64_t *ns) {
    static const struct {
        char letter;
        uint64_t seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (unit[0] == units[i].letter && !unit[1] && value <= UINT64_MAX / 1000000000u / units[i].seconds) {
            *ns = value * units[i].seconds * 1000000000u;
            return true;
        }
    return false;
}

bool read_switch_output(const char *word, pfr_recorder_options *options) {
    uint64_t value;
    const char *rest;
    options->parts = true;
    if (!*word || strcmp(word, "signal") == 0)
        return true;
    if (take_digits(word, &value, &rest) && value > 0) {
        if (read_time(value, rest, &options->part_ns))
            return true;
        options->part_bytes = value;
        if (scale(&options->part_bytes, rest))
            return true;
    }
    return refuse("switch-output", "signal, a size such as 64M, or a time such as 10s", word);
}

bool read_delay(const char *word, pfr_recorder_options *options) {
    uint64_t value;
    const char *rest;
    if (strcmp(word, "-1") == 0) {
        options->delay_ms = -1;
        return true;
    }
    if (!take_digits(word, &value, &rest) || (*rest && *rest != '-') || value > 1000000000u)
        return refuse("delay", "milliseconds, -1, or ranges of them such as 10-20,30-40", word);
    if (*rest)
        options->on_times = word;
    else
        options->delay_ms = (int64_t)value;
    return true;
}
