/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields and the syntax of -F, both as in perf:
 *
 *     comm,tid,ip       exactly these
 *     +addr,-period     add and remove fields
 *     hw:comm,ip        the same for one kind of event
 *
 * Each -F changes the result of those before it. A field that is not valid for a kind of event is left out there, with
 * a note; if the user named the kind, as in "hw:", the option is refused.
 */
#include "view/script/script_fields.h"
#include "view/script/script_address_fields.h"
#include "view/script/script_sample.h"

#include "base/memory/fail.h"

#include <stdio.h>

#define ONLY(type) (uint8_t)(1u << (type))
#define ALL 0xffu
#define NEEDS(bit) 1ull << (bit)

const struct script_row script_rows[SCRIPT_FIELDS] = {
    [F_COMM] = {"comm", 0, NULL, ALL, true, print_who},
    [F_MACHINE_PID] = {"machine_pid", 0, NULL, ALL, true, print_machine_pid},
    [F_VCPU] = {"vcpu", 0, NULL, ALL, true, print_vcpu},
    [F_PID] = {"pid", NEEDS(S_TID), "TID", ALL, true, print_who},
    [F_TID] = {"tid", NEEDS(S_TID), "TID", ALL, true, print_who},
    [F_CPU] = {"cpu", NEEDS(S_CPU), "CPU", ALL, true, print_cpu},
    [F_MISC] = {"misc", 0, NULL, ALL, true, print_misc},
    [F_TIME] = {"time", NEEDS(S_TIME), "TIME", ALL, true, print_time},
    [F_TOD] = {"tod", 0, NULL, ALL, true, print_tod},
    [F_PERIOD] = {"period", 0, NULL, ALL, false, print_period},
    [F_EVENT] = {"event", 0, NULL, ALL, false, print_event},
    [F_FLAGS] = {"flags", 0, NULL, ALL, false, print_flags},
    [F_TRACE] = {"trace", 0, NULL, ONLY(TYPE_TRACE), false, print_trace},
    [F_ADDR] = {"addr", NEEDS(S_ADDR), "ADDR", ALL, false, print_addr},
    [F_DATA_SRC] = {"data_src", NEEDS(S_DATA_SRC), "DATA_SRC", ALL, false, print_data_src},
    [F_WEIGHT] = {"weight", NEEDS(S_WEIGHT) | NEEDS(S_WEIGHT_STRUCT), "WEIGHT", ALL, false, print_weight},
    [F_INS_LAT] = {"ins_lat", NEEDS(S_WEIGHT_STRUCT), "WEIGHT_STRUCT", ALL, false, print_ins_lat},
    [F_RETIRE_LAT] = {"retire_lat", NEEDS(S_WEIGHT_STRUCT), "WEIGHT_STRUCT", ALL, false, print_retire_lat},
    [F_IP] = {"ip", NEEDS(S_IP), "IP", ALL, false, print_lone_ip},
    [F_SYM] = {"sym", 0, NULL, ALL, false, NULL},
    [F_SYMOFF] = {"symoff", 0, NULL, ALL, false, NULL},
    [F_DSO] = {"dso", 0, NULL, ALL, false, NULL},
    [F_SRCLINE] = {"srcline", 0, NULL, ALL, false, NULL},
    [F_IREGS] = {"iregs", NEEDS(S_REGS_INTR), "IREGS", ALL, false, print_iregs},
    [F_UREGS] = {"uregs", NEEDS(S_REGS_USER), "UREGS", ALL, false, print_uregs},
    [F_BRSTACK] = {"brstack", 0, NULL, ALL, false, print_brstack},
    [F_BRSTACKSYM] = {"brstacksym", 0, NULL, ALL, false, print_brstacksym},
    [F_BRSTACKOFF] = {"brstackoff", 0, NULL, ALL, false, print_brstackoff},
    [F_BPF_OUTPUT] = {"bpf-output", 0, NULL, ONLY(TYPE_SW), false, print_bpf_output},
    [F_PHYS_ADDR] = {"phys_addr", NEEDS(S_PHYS_ADDR), "PHYS_ADDR", ALL, false, print_phys_addr},
    [F_DATA_PAGE_SIZE] = {"data_page_size", NEEDS(S_DATA_PAGE), "DATA_PAGE_SIZE", ALL, false, print_data_page_size},
    [F_CODE_PAGE_SIZE] = {"code_page_size", NEEDS(S_CODE_PAGE), "CODE_PAGE_SIZE", ALL, false, print_code_page_size},
    [F_CGROUP] = {"cgroup", NEEDS(S_CGROUP), "CGROUP", ALL, false, print_cgroup},
    /* all fields of is_unseen: only decoders of instruction traces fill them, perf leaves them blank otherwise */
    [F_UNSEEN] = {"synth", 0, NULL, ALL, false, NULL},
};

static const struct {
    const char *name;  /* as accepted by -F; NULL: has no name */
    const char *about; /* as perf names it in messages */
} types[SCRIPT_TYPES] = {
    [TYPE_HW] = {"hw", "hardware"},          [TYPE_SW] = {"sw", "software"},   [TYPE_TRACE] = {"trace", "tracepoint"},
    [TYPE_CACHE] = {NULL, "hardware-cache"}, [TYPE_RAW] = {"raw", "unknown"},  [TYPE_BREAK] = {"break", "unknown"},
    [TYPE_SYNTH] = {"synth", "unknown"},     [TYPE_OTHER] = {NULL, "unknown"},
};

const char *script_type_name(enum script_type type) {
    return types[type].about;
}

#define COMMON (FIELD(F_COMM) | FIELD(F_TID) | FIELD(F_CPU) | FIELD(F_TIME) | FIELD(F_EVENT))
#define PLACED (FIELD(F_IP) | FIELD(F_SYM) | FIELD(F_SYMOFF) | FIELD(F_DSO))
#define MEMORY                                                                                                         \
    (FIELD(F_ADDR) | FIELD(F_DATA_SRC) | FIELD(F_WEIGHT) | FIELD(F_INS_LAT) | FIELD(F_PHYS_ADDR) |                     \
     FIELD(F_DATA_PAGE_SIZE) | FIELD(F_CODE_PAGE_SIZE))

/* All fields except those that repeat others in another form. */
static uint64_t all_fields(enum script_type type) {
    uint64_t fields = 0;
    for (unsigned f = 0; f < F_UNSEEN; f++)
        if (script_rows[f].types >> type & 1)
            fields |= FIELD(f);
    return fields & ~(FIELD(F_FLAGS) | FIELD(F_BRSTACKSYM) | FIELD(F_BRSTACKOFF) | FIELD(F_SRCLINE));
}

static void choose_defaults(struct script *s) {
    for (unsigned t = 0; t < SCRIPT_TYPES && script_is_json(s); t++)
        s->own->choices[t] = (struct script_choice){.fields = all_fields((enum script_type)t)};
    if (script_is_json(s))
        return;
    for (unsigned t = 0; t < SCRIPT_TYPES; t++)
        s->own->choices[t] = (struct script_choice){.fields = COMMON | PLACED | FIELD(F_PERIOD)};
    s->own->choices[TYPE_SW].fields |= FIELD(F_BPF_OUTPUT);
    s->own->choices[TYPE_TRACE].fields = COMMON | FIELD(F_TRACE);
    s->own->choices[TYPE_RAW].fields |= MEMORY;
}

static void note(struct script *s, const char *sentence) {
    if (s->own->options->note)
        s->own->options->note(s->own->options->context, sentence);
}

static pfr_status refuse(pfr_error *err, const char *text) {
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "fields", "%s", text);
}

/* Other fields of perf. All are treated as F_UNSEEN, because perfray reads no recordings that contain their data. */
static bool is_unseen(const char *word, size_t length) {
    static const char *const names[] = {"synth", "callindent", "metric", "ipc", "insn", "insnlen"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && memcmp(names[i], word, length) == 0)
            return true;
    return false;
}

static bool find_field(const char *word, size_t length, enum script_field *field) {
    for (unsigned f = 0; f < SCRIPT_FIELDS; f++) {
        const char *name = script_rows[f].name;
        if (strlen(name) == length && memcmp(name, word, length) == 0)
            return *field = (enum script_field)f, true;
    }
    *field = F_UNSEEN;
    return is_unseen(word, length);
}

const char *pfr_script_field_name(uint32_t index) {
    return index < SCRIPT_FIELDS ? script_rows[index].name : NULL;
}

/* State while one -F is parsed. */
struct spec {
    const char *at;
    int type;     /* -1: all */
    bool changes; /* uses + or - */
};

static void change(struct script_choice *choice, enum script_field field, char sign) {
    if (sign == '-') {
        choice->fields &= ~FIELD(field);
        choice->asked &= ~FIELD(field);
        return;
    }
    choice->fields |= FIELD(field);
    choice->asked |= FIELD(field);
    choice->set = true;
}

static pfr_status apply(struct script *s, const struct spec *spec, enum script_field field, char sign, pfr_error *err) {
    char text[120];
    for (unsigned t = 0; t < SCRIPT_TYPES; t++) {
        if (spec->type >= 0 && (unsigned)spec->type != t)
            continue;
        if (script_rows[field].types >> t & 1) {
            change(&s->own->choices[t], field, sign);
            continue;
        }
        snprintf(text, sizeof text, "'%s' not valid for %s events%s", script_rows[field].name, types[t].about,
                 spec->type < 0 ? ". Ignoring." : "");
        if (spec->type >= 0)
            return refuse(err, text);
        note(s, text);
    }
    return PFR_OK;
}

/* Parses a prefix like "hw:". */
static pfr_status take_type(struct spec *spec, pfr_error *err) {
    const char *colon = strchr(spec->at, ':');
    spec->type = -1;
    if (!colon)
        return PFR_OK;
    const size_t length = (size_t)(colon - spec->at);
    for (unsigned t = 0; t < SCRIPT_TYPES; t++)
        if (types[t].name && strlen(types[t].name) == length && memcmp(types[t].name, spec->at, length) == 0)
            spec->type = (int)t;
    spec->at = colon + 1;
    return spec->type >= 0 ? PFR_OK : refuse(err, "Invalid event type in field string");
}

/* Clears earlier choices for these kinds of events. */
static void forget(struct script *s, const struct spec *spec) {
    char text[80];
    bool was_set = false;
    for (unsigned t = 0; t < SCRIPT_TYPES; t++) {
        if (spec->type >= 0 && (unsigned)spec->type != t)
            continue;
        was_set = was_set || s->own->choices[t].set;
        s->own->choices[t] = (struct script_choice){.set = true};
    }
    snprintf(text, sizeof text, "Overriding previous field request for %s events.",
             spec->type < 0 ? "all" : types[spec->type].about);
    if (was_set)
        note(s, text);
}

static pfr_status take_fields(struct script *s, struct spec *spec, pfr_error *err) {
    bool plain = false, signs = false;
    for (const char *at = spec->at; *at; at += *at == ',') {
        const char sign = *at == '+' || *at == '-' ? *at : 0;
        const char *word = at + (sign != 0);
        const size_t length = strcspn(word, ",");
        enum script_field field;
        at = word + length;
        if (length == 0)
            continue;
        plain = plain || !sign;
        signs = signs || sign;
        if (plain && signs)
            return refuse(err, "Cannot mix +-field with overridden fields");
        if (!find_field(word, length, &field))
            return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "fields", "-F: there is no field '%.*s'",
                            (int)(length < 64 ? length : 64), word);
        PFR_TRY(apply(s, spec, field, sign, err));
    }
    return PFR_OK;
}

static pfr_status take_spec(struct script *s, const char *text, pfr_error *err) {
    struct spec spec = {.at = text};
    PFR_TRY(take_type(&spec, err));
    if (!*spec.at && spec.type < 0)
        return refuse(err, "Cannot set fields to 'none' for all event types");
    /* as in perf, a sign anywhere keeps earlier choices, even the one inside "bpf-output" */
    spec.changes = strpbrk(spec.at, "+-") != NULL;
    if (!spec.changes)
        forget(s, &spec);
    return take_fields(s, &spec, err);
}

pfr_status script_choose(struct script *s, pfr_error *err) {
    choose_defaults(s);
    for (const char *const *spec = s->own->options->fields; spec && *spec; spec++)
        PFR_TRY(take_spec(s, *spec, err));
    return PFR_OK;
}
