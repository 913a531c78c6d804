/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses terms between slashes: terms that every event accepts, and terms that the folder of a PMU in sysfs defines.
 * There, format/NAME lists the bits of a value ("config:0-7,32"), and events/NAME is a list of such terms. See
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-format.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "record/event/event.h"

#define TERM_MOST 256u
#define DEVICES "bus/event_source/devices"

struct term {
    char name[TERM_MOST], value[TERM_MOST]; /* value is "" if the term has none */
    const char *at;
};

int64_t pmu_type(const struct kernel *kernel, const char *name) {
    if (strchr(name, '/') || name[0] == '.')
        return -1;
    return kernel_number(-1, kernel->sys, DEVICES "/%s/type", name);
}

/* --- terms of every event --- */

static bool number_of(const struct term *term, uint64_t *value) {
    char *end;
    if (!*term->value) {
        *value = 1;
        return true;
    }
    errno = 0;
    *value = strtoull(term->value, &end, 0);
    return errno == 0 && *end == '\0' && *term->value != '-';
}

static void set_config(struct typed_event *event, uint64_t value) {
    event->attr.config = value;
}
static void set_config1(struct typed_event *event, uint64_t value) {
    event->attr.config1 = value;
}
static void set_config2(struct typed_event *event, uint64_t value) {
    event->attr.config2 = value;
}
static void set_period(struct typed_event *event, uint64_t value) {
    event->attr.sample_period = value;
    event->own_period = true;
}
static void set_freq(struct typed_event *event, uint64_t value) {
    event->attr.sample_freq = value;
    event->own_frequency = true;
}
static void set_inherit(struct typed_event *event, uint64_t value) {
    event->inherit = value ? 1 : 2;
}
static void set_no_inherit(struct typed_event *event, uint64_t value) {
    event->inherit = value ? 2 : 1;
}
static void set_time(struct typed_event *event, uint64_t value) {
    event->time = value ? 1 : 2;
}
static void set_overwrite(struct typed_event *event, uint64_t value) {
    event->overwrite = value ? 1 : 2;
}
static void set_no_overwrite(struct typed_event *event, uint64_t value) {
    event->overwrite = value ? 2 : 1;
}
static void set_aux_output(struct typed_event *event, uint64_t value) {
    event->attr.aux_output = value & 1;
}
static void set_aux_sample(struct typed_event *event, uint64_t value) {
    event->aux_sample = (uint32_t)value;
}
static void set_stack_size(struct typed_event *event, uint64_t value) {
    event->stack_size = (uint32_t)value;
}
static void set_max_stack(struct typed_event *event, uint64_t value) {
    event->max_stack = (uint32_t)value;
}

static const struct {
    const char *name;
    uint64_t most;
    void (*set)(struct typed_event *event, uint64_t value);
} numbers[] = {
    {"config", UINT64_MAX, set_config},    {"config1", UINT64_MAX, set_config1},
    {"config2", UINT64_MAX, set_config2},  {"period", UINT64_MAX, set_period},
    {"freq", UINT32_MAX, set_freq},        {"inherit", 1, set_inherit},
    {"no-inherit", 1, set_no_inherit},     {"time", 1, set_time},
    {"stack-size", 65528, set_stack_size}, {"max-stack", UINT16_MAX, set_max_stack},
    {"overwrite", 1, set_overwrite},       {"no-overwrite", 1, set_no_overwrite},
    {"aux-output", 1, set_aux_output},     {"aux-sample-size", 65528, set_aux_sample},
};

static pfr_status take_number(struct event_text *text, const struct term *term, struct typed_event *event,
                              bool *taken) {
    uint64_t value;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (strcmp(numbers[i].name, term->name) != 0)
            continue;
        if (!number_of(term, &value) || value > numbers[i].most)
            return event_wrong(text, term->at, "'%.40s' is not a value of %s", term->value, term->name);
        numbers[i].set(event, value);
        *taken = true;
    }
    return PFR_OK;
}

static pfr_status take_words(struct event_text *text, const struct term *term, struct typed_event *event, bool *taken) {
    static const char *const modes[] = {"no", "fp", "dwarf", "lbr"};
    if (strcmp(term->name, "name") == 0) {
        event->name = arena_text(&text->list->arena, term->value, strlen(term->value));
        event->named = *taken = true;
        return event->name ? PFR_OK : mem_fail(text->list->arena.memory, text->err, "events");
    }
    if (strcmp(term->name, "branch_type") == 0) {
        event->branches = arena_text(&text->list->arena, term->value, strlen(term->value));
        *taken = true;
        return event->branches ? PFR_OK : mem_fail(text->list->arena.memory, text->err, "events");
    }
    if (strcmp(term->name, "call-graph") != 0)
        return PFR_OK;
    *taken = true;
    for (unsigned i = 0; i < 4; i++)
        if (strcmp(modes[i], term->value) == 0)
            event->chain = (enum chain_mode)(CHAIN_NONE + i);
    return event->chain ? PFR_OK : event_wrong(text, term->at, "call-graph is no, fp, dwarf or lbr");
}

/* --- terms of the PMU --- */

static uint64_t *config_word(struct typed_event *event, const char *name, size_t length) {
    static const char *const words[] = {"config", "config1", "config2"};
    uint64_t *const at[] = {(uint64_t *)&event->attr.config, (uint64_t *)&event->attr.config1,
                            (uint64_t *)&event->attr.config2};
    for (size_t i = 0; i < 3; i++)
        if (strlen(words[i]) == length && strncmp(words[i], name, length) == 0)
            return at[i];
    return NULL;
}

/* Distributes the value's bits, lowest first, over the bit ranges of the format. Returns false if the value has more
   bits. */
static bool spread_bits(uint64_t *word, const char *ranges, uint64_t value) {
    while (*ranges) {
        char *end;
        const unsigned long first = strtoul(ranges, &end, 10);
        const unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
        if (end == ranges || first > last || last > 63)
            return false;
        for (unsigned long bit = first; bit <= last; bit++, value >>= 1)
            *word = (*word & ~(1ull << bit)) | (value & 1) << bit;
        ranges = end + (*end == ',');
        if (*end != ',' && *end != '\0')
            return false;
    }
    return value == 0;
}

static pfr_status take_format(struct event_text *text, const char *pmu, const struct term *term,
                              struct typed_event *event, bool *taken) {
    char format[TERM_MOST];
    uint64_t value;
    if (strchr(term->name, '/') ||
        kernel_text(format, sizeof format, text->kernel->sys, DEVICES "/%s/format/%s", pmu, term->name) <= 0)
        return PFR_OK;
    const char *const colon = strchr(format, ':');
    uint64_t *const word = colon ? config_word(event, format, (size_t)(colon - format)) : NULL;
    if (!word)
        return event_wrong(text, term->at, "the format of %s, '%.40s', is not understood", term->name, format);
    if (!number_of(term, &value) || !spread_bits(word, colon + 1, value))
        return event_wrong(text, term->at, "'%.40s' does not fit %s (%.40s)", term->value, term->name, format);
    *taken = true;
    return PFR_OK;
}

static pfr_status take_terms(struct event_text *text, const char *pmu, struct typed_event *event, char end,
                             unsigned depth);

static pfr_status take_alias(struct event_text *text, const char *pmu, const struct term *term,
                             struct typed_event *event, unsigned depth, bool *taken) {
    char terms[2 * TERM_MOST];
    if (*term->value || depth > 0 || strchr(term->name, '/') ||
        kernel_text(terms, sizeof terms, text->kernel->sys, DEVICES "/%s/events/%s", pmu, term->name) <= 0)
        return PFR_OK;
    struct event_text inner = {terms, terms, text->kernel, text->list, text->err};
    *taken = true;
    return take_terms(&inner, pmu, event, '\0', depth + 1);
}

static pfr_status take_term(struct event_text *text, const char *pmu, const struct term *term,
                            struct typed_event *event, unsigned depth) {
    bool taken = false;
    PFR_TRY(take_number(text, term, event, &taken));
    if (!taken)
        PFR_TRY(take_words(text, term, event, &taken));
    if (!taken && pmu)
        PFR_TRY(take_format(text, pmu, term, event, &taken));
    if (!taken && pmu)
        PFR_TRY(take_alias(text, pmu, term, event, depth, &taken));
    if (taken)
        return PFR_OK;
    return event_wrong(text, term->at, "%s%s has no term '%.60s'", pmu ? "PMU " : "this event", pmu ? pmu : "",
                       term->name);
}

static pfr_status read_term(struct event_text *text, struct term *term, char end) {
    const char stops[] = {',', '=', end ? end : ',', '\0'};
    const size_t name = strcspn(text->at, stops);
    term->at = text->at;
    text->at += name;
    const size_t value = *text->at == '=' ? strcspn(++text->at, end ? ",/" : ",") : 0;
    if (name == 0 || name >= TERM_MOST || value >= TERM_MOST)
        return event_wrong(text, term->at, "a term is missing or too long");
    snprintf(term->name, sizeof term->name, "%.*s", (int)name, term->at);
    snprintf(term->value, sizeof term->value, "%.*s", (int)value, text->at);
    text->at += value;
    return PFR_OK;
}

static pfr_status take_terms(struct event_text *text, const char *pmu, struct typed_event *event, char end,
                             unsigned depth) {
    struct term term;
    if (*text->at == end && end)
        return PFR_OK;
    for (;;) {
        PFR_TRY(read_term(text, &term, end));
        PFR_TRY(take_term(text, pmu, &term, event, depth));
        if (*text->at == end)
            return PFR_OK;
        if (*text->at != ',')
            return event_wrong(text, text->at, "the terms have no '/' at their end");
        text->at++;
    }
}

pfr_status event_default_terms(struct event_text *text, const char *pmu, const char *terms, struct typed_event *event) {
    struct event_text inner = {terms, terms, text->kernel, text->list, text->err};
    return take_terms(&inner, pmu, event, '\0', 1);
}

pfr_status event_terms(struct event_text *text, const char *pmu, struct typed_event *event) {
    PFR_TRY(take_terms(text, pmu, event, '/', 0));
    text->at++;
    return PFR_OK;
}
