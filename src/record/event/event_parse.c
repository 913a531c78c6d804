/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses the argument of -e: a list of events and groups. The first function of `kinds` that accepts the text decides
 * the kind of event. Modifiers follow the last colon. See event.h.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/text/text.h"
#include "record/event/event.h"

#define NAME_MOST 256u

/* Modifiers of one event or group. */
struct modifiers {
    bool user, kernel, hypervisor, host, guest; /* true: is excluded */
    bool said_mode, said_machine;
    bool idle, pinned, exclusive, reads_group, most_precise, weak;
    unsigned precise;
};

void event_list_init(struct event_list *list, struct memory *memory) {
    *list = (struct event_list){0};
    arena_init(&list->arena, memory);
}

void event_list_free(struct event_list *list) {
    mem_free(list->arena.memory, list->at, list->room, sizeof *list->at);
    arena_free(&list->arena);
    *list = (struct event_list){.arena = list->arena};
}

static struct typed_event *add_event(struct event_text *text, const char *name, size_t length) {
    struct typed_event *const event = event_list_add(text->list, name, length);
    if (!event)
        mem_fail(text->list->arena.memory, text->err, "events");
    return event;
}

static pfr_status no_memory(const struct event_text *text) {
    return text->err ? text->err->status : PFR_ERR_MEMORY;
}

/* --- kinds --- */

/* Length of a word. */
static size_t word_length(const char *at) {
    return strcspn(at, ",{}:/ \t");
}

static bool is_named(const struct event_name *row, const char *at, size_t length) {
    return (strlen(row->name) == length && strncmp(row->name, at, length) == 0) ||
           (row->alias && strlen(row->alias) == length && strncmp(row->alias, at, length) == 0);
}

/* Sets the event's name to its text from `start` to here, unless a term set a name. */
static pfr_status name_as_typed(struct event_text *text, const char *start, struct typed_event *event) {
    if (event->named)
        return PFR_OK;
    event->name = arena_text(&text->list->arena, start, (size_t)(text->at - start));
    return event->name ? PFR_OK : mem_fail(text->list->arena.memory, text->err, "events");
}

static pfr_status add_plain(struct event_text *text, size_t length, uint32_t type, uint64_t config, bool *taken) {
    struct typed_event *const event = add_event(text, text->at, length);
    if (!event)
        return no_memory(text);
    event->attr.type = type;
    event->attr.config = config;
    event->falls_back = type == PERF_TYPE_HARDWARE && config == PERF_COUNT_HW_CPU_CYCLES;
    if (type == PERF_TYPE_SOFTWARE && config == PERF_COUNT_SW_BPF_OUTPUT) { /* carries data that BPF programs output */
        event->attr.sample_type = PERF_SAMPLE_CPU | PERF_SAMPLE_RAW | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;
        event->attr.sample_period = 1;
        event->fixed = true;
    }
    const char *const start = text->at;
    text->at += length;
    *taken = true;
    if (*text->at != '/')
        return PFR_OK;
    text->at++;
    PFR_TRY(event_terms(text, NULL, event));
    return name_as_typed(text, start, event);
}

static pfr_status take_named(struct event_text *text, bool *taken) {
    const size_t length = word_length(text->at);
    for (const struct event_name *row = event_names; row->name; row++)
        if (is_named(row, text->at, length))
            return add_plain(text, length, row->type, row->config, taken);
    return PFR_OK;
}

static pfr_status take_cache(struct event_text *text, bool *taken) {
    const size_t length = word_length(text->at);
    uint64_t config;
    return cache_event(text->at, length, &config) ? add_plain(text, length, PERF_TYPE_HW_CACHE, config, taken) : PFR_OK;
}

static pfr_status take_raw(struct event_text *text, bool *taken) {
    const size_t length = word_length(text->at);
    uint64_t config;
    if (*text->at != 'r' || length < 2 || !parse_hex_part(text->at + 1, length - 1, &config))
        return PFR_OK;
    return add_plain(text, length, PERF_TYPE_RAW, config, taken);
}

static pfr_status take_access(struct event_text *text, struct typed_event *event) {
    static const struct {
        char letter;
        uint32_t bit;
    } accesses[] = {{'r', HW_BREAKPOINT_R}, {'w', HW_BREAKPOINT_W}, {'x', HW_BREAKPOINT_X}};
    const size_t length = word_length(text->at);
    for (size_t i = 0; i < length; i++) {
        size_t known = 0;
        while (known < 3 && accesses[known].letter != text->at[i])
            known++;
        if (known == 3 || event->attr.bp_type & accesses[known].bit)
            return event_wrong(text, text->at + i, "accesses of a breakpoint are r, w and x, each once");
        event->attr.bp_type |= accesses[known].bit;
    }
    text->at += length;
    return PFR_OK;
}

/* Whether the text after a colon is an access: only the letters r, w and x. */
static bool says_access(const char *at) {
    const size_t length = word_length(at);
    return length > 0 && strspn(at, "rwx") == length;
}

static pfr_status breakpoint_length(struct event_text *text, struct typed_event *event) {
    char *end;
    if (*text->at == '/') {
        const char *const at = ++text->at;
        event->attr.bp_len = strtoull(at, &end, 0);
        if (end == at || (event->attr.bp_len & (event->attr.bp_len - 1)) || event->attr.bp_len > 8 ||
            !event->attr.bp_len)
            return event_wrong(text, at, "the length of a breakpoint is 1, 2, 4 or 8");
        text->at = end;
    }
    return PFR_OK;
}

static void finish_breakpoint(struct typed_event *event) {
    if (!event->attr.bp_type)
        event->attr.bp_type = HW_BREAKPOINT_R | HW_BREAKPOINT_W;
    if (!event->attr.bp_len)
        event->attr.bp_len = event->attr.bp_type == HW_BREAKPOINT_X ? sizeof(long) : HW_BREAKPOINT_LEN_4;
    event->attr.sample_period = 1;
    event->fixed = true;
}

static pfr_status take_breakpoint(struct event_text *text, bool *taken) {
    if (strncmp(text->at, "mem:", 4) != 0)
        return PFR_OK;
    const char *const start = text->at;
    char *end;
    struct typed_event *const event = add_event(text, start, 0);
    if (!event)
        return no_memory(text);
    *taken = true;
    event->attr.type = PERF_TYPE_BREAKPOINT;
    event->attr.bp_addr = strtoull(start + 4, &end, 0);
    if (end == start + 4)
        return event_wrong(text, start + 4, "the address of a breakpoint is missing");
    text->at = end;
    PFR_TRY(breakpoint_length(text, event));
    if (*text->at == ':' && says_access(text->at + 1)) {
        text->at++;
        PFR_TRY(take_access(text, event));
    }
    finish_breakpoint(event);
    return name_as_typed(text, start, event);
}

/* An event with an AUX area has no sampling rate. */
static pfr_status begin_aux(struct event_text *text, const char *pmu, struct typed_event *event) {
    char terms[NAME_MOST] = "";
    event->aux = aux_kind_of(pmu);
    if (!event->aux)
        return PFR_OK;
    event->fixed = true;
    event->attr.sample_period = 1;
    if (event->aux->terms)
        event->aux->terms(text->kernel, terms, sizeof terms);
    return *terms ? event_default_terms(text, pmu, terms, event) : PFR_OK;
}

static pfr_status take_pmu(struct event_text *text, bool *taken) {
    char pmu[NAME_MOST];
    const size_t length = word_length(text->at);
    const char *const start = text->at;
    if (start[length] != '/' || length == 0 || length >= sizeof pmu)
        return PFR_OK;
    memcpy(pmu, start, length);
    pmu[length] = '\0';
    const int64_t type = pmu_type(text->kernel, pmu);
    if (type < 0)
        return event_wrong(text, start, "there is no PMU '%s' here; see perfray list", pmu);
    struct typed_event *const event = add_event(text, start, 0);
    if (!event)
        return no_memory(text);
    *taken = true;
    event->attr.type = (uint32_t)type;
    text->at += length + 1;
    PFR_TRY(begin_aux(text, pmu, event));
    PFR_TRY(event_terms(text, pmu, event));
    return name_as_typed(text, start, event);
}

/* The terms apply to each tracepoint that a glob matched. They are not part of the name, by which readers know it. */
static pfr_status tracepoint_terms(struct event_text *text, size_t first) {
    const char *const start = ++text->at;
    for (size_t i = first; i < text->list->count; i++) {
        struct typed_event *const event = &text->list->at[i];
        const uint64_t id = event->attr.config;
        text->at = start;
        PFR_TRY(event_terms(text, NULL, event));
        if (event->attr.config != id || event->attr.config1 || event->attr.config2)
            return event_wrong(text, start, "a tracepoint is chosen by its name: it takes no term config");
    }
    return PFR_OK;
}

static pfr_status take_tracepoint(struct event_text *text, bool *taken) {
    char system[NAME_MOST], point[NAME_MOST];
    const char *const start = text->at;
    const size_t length = word_length(start);
    const size_t second = start[length] == ':' ? word_length(start + length + 1) : 0;
    if (second == 0 || length == 0 || length >= NAME_MOST || second >= NAME_MOST)
        return PFR_OK;
    snprintf(system, sizeof system, "%.*s", (int)length, start);
    snprintf(point, sizeof point, "%.*s", (int)second, start + length + 1);
    *taken = true;
    const size_t first = text->list->count;
    text->at += length + 1 + second;
    PFR_TRY(event_tracepoints(text, system, point, start));
    return *text->at == '/' ? tracepoint_terms(text, first) : PFR_OK;
}

static pfr_status (*const kinds[])(struct event_text *text, bool *taken) = {
    take_breakpoint, take_named, take_cache, take_raw, take_pmu, take_tracepoint,
};

static pfr_status take_event(struct event_text *text) {
    bool taken = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !taken; i++)
        PFR_TRY(kinds[i](text, &taken));
    if (taken)
        return PFR_OK;
    const size_t length = word_length(text->at);
    if (length == 0)
        return event_wrong(text, text->at, "an event is missing");
    return event_wrong(text, text->at, "there is no event '%.*s'; see perfray list", (int)length, text->at);
}

/* --- modifiers --- */

static void only_mode(struct modifiers *m, bool *mode) {
    if (!m->said_mode)
        m->user = m->kernel = m->hypervisor = true;
    if (!m->said_machine && mode == &m->user)
        m->guest = true;
    m->said_mode = true;
    *mode = false;
}

static void only_machine(struct modifiers *m, bool *machine) {
    if (!m->said_machine)
        m->host = m->guest = true;
    m->said_machine = true;
    *machine = false;
}

static void more_precise(struct modifiers *m) {
    m->precise++;
    if (!m->said_machine)
        m->guest = true;
}

static bool take_modifier(struct modifiers *m, char letter) {
    bool nothing = false;
    bool *const modes[] = {['u' - 'a'] = &m->user, ['k' - 'a'] = &m->kernel, ['h' - 'a'] = &m->hypervisor};
    bool *const flags[] = {['I' - 'A'] = &m->idle,         ['D' - 'A'] = &m->pinned, ['S' - 'A'] = &m->reads_group,
                           ['P' - 'A'] = &m->most_precise, ['W' - 'A'] = &m->weak,   ['e' - 'A'] = &m->exclusive,
                           ['b' - 'A'] = &nothing};
    if (letter == 'u' || letter == 'k' || letter == 'h')
        only_mode(m, modes[letter - 'a']);
    else if (letter == 'H' || letter == 'G')
        only_machine(m, letter == 'H' ? &m->host : &m->guest);
    else if (letter == 'p')
        more_precise(m);
    else if (strchr("IDSPWeb", letter))
        *flags[letter - 'A'] = true;
    else
        return false;
    return true;
}

static void apply_modifiers(struct typed_event *event, const struct modifiers *m) {
    struct perf_event_attr *const attr = &event->attr;
    attr->exclude_user = m->user;
    attr->exclude_kernel = m->kernel;
    attr->exclude_hv = m->hypervisor;
    attr->exclude_host = m->host;
    attr->exclude_guest = m->guest;
    attr->exclude_idle = m->idle;
    attr->pinned = m->pinned && event->members > 0;
    attr->exclusive = m->exclusive;
    attr->precise_ip = m->precise & 3;
    event->reads_group = m->reads_group;
    event->most_precise = m->most_precise;
    event->weak = m->weak;
}

static pfr_status take_modifiers(struct event_text *text, struct modifiers *m) {
    text->at += *text->at == ':';
    const char *const start = text->at;
    while (isalpha((unsigned char)*text->at) && take_modifier(m, *text->at))
        text->at++;
    if (text->at == start || isalnum((unsigned char)*text->at))
        return event_wrong(text, text->at, "unknown modifier '%.1s'; modifiers: u k h I G H p P S D e W", text->at);
    if (m->precise > 3)
        return event_wrong(text, start, "at most three p are allowed");
    return PFR_OK;
}

static pfr_status rename_event(struct event_text *text, struct typed_event *event, const char *from) {
    char name[2 * NAME_MOST];
    const char *const colon = event->point && *from != ':' ? ":" : ""; /* terms are not in the name of a tracepoint */
    snprintf(name, sizeof name, "%s%s%.*s", event->name, colon, (int)(text->at - from), from);
    event->name = arena_text(&text->list->arena, name, strlen(name));
    return event->name ? PFR_OK : mem_fail(text->list->arena.memory, text->err, "events");
}

/* Applies modifiers, if the text has any, to the events from `first` on. Also appends the modifiers to the names of
 * these events, except names that were set by a term. */
static pfr_status take_modified(struct event_text *text, size_t first, bool renames) {
    struct modifiers m = {0};
    struct event_list *const list = text->list;
    const char *const from = text->at;
    const bool behind_terms = from > text->start && from[-1] == '/' && isalpha((unsigned char)*from);
    const bool given = *from == ':' || behind_terms;
    if (given)
        PFR_TRY(take_modifiers(text, &m));
    for (size_t i = first; i < list->count; i++) {
        struct modifiers own = m;
        own.guest = given ? m.guest : true; /* guests are excluded unless a modifier selects them */
        apply_modifiers(&list->at[i], &own);
        if (given && renames && !list->at[i].named)
            PFR_TRY(rename_event(text, &list->at[i], from));
    }
    return PFR_OK;
}

/* Applies the modifiers of a group to a member, except those modifiers that the member sets itself. */
static void join_modifiers(struct typed_event *event, const struct modifiers *m) {
    struct perf_event_attr *const attr = &event->attr;
    if (m->said_mode) {
        attr->exclude_user = m->user;
        attr->exclude_kernel = m->kernel;
        attr->exclude_hv = m->hypervisor;
    }
    if (m->said_machine) {
        attr->exclude_host = m->host;
        attr->exclude_guest = m->guest;
    }
    if (m->precise > attr->precise_ip)
        attr->precise_ip = m->precise & 3;
    attr->exclude_idle |= m->idle;
    attr->exclusive |= m->exclusive;
    event->reads_group |= m->reads_group;
    event->most_precise |= m->most_precise;
    event->weak |= m->weak;
}

static pfr_status take_one(struct event_text *text) {
    const size_t first = text->list->count;
    PFR_TRY(take_event(text));
    return take_modified(text, first, true);
}

static pfr_status take_members(struct event_text *text) {
    do {
        text->at++;
        PFR_TRY(take_one(text));
    } while (*text->at == ',');
    if (*text->at != '}')
        return event_wrong(text, text->at, "the group has no '}'");
    text->at++;
    return PFR_OK;
}

static pfr_status take_group(struct event_text *text) {
    const size_t first = text->list->count;
    struct modifiers m = {0};
    PFR_TRY(take_members(text));
    if (*text->at == ':')
        PFR_TRY(take_modifiers(text, &m));
    struct typed_event *const leader = &text->list->at[first];
    leader->members = (uint32_t)(text->list->count - first);
    for (size_t i = first; i < text->list->count; i++) {
        struct typed_event *const event = &text->list->at[i];
        event->leader = (uint32_t)first;
        event->members = i == first ? leader->members : 1;
        join_modifiers(event, &m);
    }
    leader->attr.pinned |= m.pinned;
    return PFR_OK;
}

pfr_status event_list_parse(struct event_list *list, const char *words, const struct kernel *kernel, pfr_error *err) {
    struct event_text text = {words, words, kernel, list, err};
    for (;;) {
        text.at += strspn(text.at, " \t\n");
        PFR_TRY(*text.at == '{' ? take_group(&text) : take_one(&text));
        text.at += strspn(text.at, " \t\n");
        if (*text.at == '\0')
            return PFR_OK;
        if (*text.at != ',')
            return event_wrong(&text, text.at, "'%.10s' follows the event", text.at);
        text.at++;
    }
}
