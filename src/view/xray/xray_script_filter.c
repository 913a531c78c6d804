/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which events of a trace are printed, in the words of script_filter.c. Functions are chosen by name, by number ("#7")
 * and by address ("0x401136", where the map has it); events that are no calls are of no function and of no object.
 */
#include "view/xray/xray_script.h"

#include "base/memory/fail.h"
#include "base/text/text.h"

#include <string.h>

/* Seconds, parts and dates need a clock whose frequency is known. */
static pfr_status read_times(struct trace_script *s, const char *text, pfr_error *err) {
    const struct trace_order_facts *facts = trace_order_facts(s->order);
    struct times_known known = {.bounded = true}; /* where there is no event, by no time */
    bool since_start = false;
    s->times.any = !text;
    if (!text)
        return PFR_OK;
    if (s->clock.frequency == 0)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "time",
                        "--time needs the frequency of the trace's clock, which is not recorded");
    if (strchr(text, ':'))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "time",
                        "--time by the wall clock, which is not recorded in a trace");
    if (facts->first <= facts->last) {
        known.first = trace_clock_ns(&s->clock, facts->first);
        known.last = trace_clock_ns(&s->clock, facts->last);
    }
    PFR_TRY(script_times_read(s->memory, text, &known, &s->times, &since_start, err));
    s->start = since_start ? known.first : 0;
    return PFR_OK;
}

pfr_status trace_filter_make(struct trace_script *s, pfr_error *err) {
    const pfr_script_options *o = s->options;
    PFR_TRY(script_ranges_read(s->memory, &s->cpus, "cpu", o->cpus, err));
    PFR_TRY(script_ranges_read(s->memory, &s->pids, "pid", o->pids, err));
    PFR_TRY(script_ranges_read(s->memory, &s->tids, "tid", o->tids, err));
    return read_times(s, o->time, err);
}

void trace_filter_free(struct trace_script *s) {
    struct script_ranges *const lists[] = {&s->cpus, &s->pids, &s->tids, &s->times};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        mem_free(s->memory, lists[i]->at, lists[i]->room, sizeof *lists[i]->at);
    u64_map_free(&s->wanted);
}

/* --- Functions. */

static bool is_word(const char *word, size_t length, const char *text) {
    return strlen(text) == length && memcmp(word, text, length) == 0;
}

static bool is_called(const struct function_name *name, const char *word, size_t length) {
    uint64_t address;
    char number[32];
    if (is_word(word, length, name->text))
        return true;
    function_number(name, number, sizeof number);
    if (is_word(word, length, number))
        return true;
    return name->mapped && length > 2 && strncmp(word, "0x", 2) == 0 &&
           parse_hex_part(word + 2, length - 2, &address) && address == name->address;
}

/* An object goes by its path and by its last part. */
static bool is_object(const char *path, const char *word, size_t length) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return path && (is_word(word, length, path) || is_word(word, length, slash ? slash + 1 : path));
}

/* Names of C++ hold commas, too: the whole list may be one. */
static bool lists_function(const char *list, const struct function_name *name) {
    if (is_called(name, list, strlen(list)))
        return true;
    for (const char *at = list; *at; at += *at == ',') {
        const size_t length = strcspn(at, ",");
        if (is_called(name, at, length))
            return true;
        at += length;
    }
    return false;
}

static bool lists_object(const char *list, const char *path) {
    for (const char *at = list; *at; at += *at == ',') {
        const size_t length = strcspn(at, ",");
        if (is_object(path, at, length))
            return true;
        at += length;
    }
    return false;
}

static bool judge(struct trace_script *s, const struct xray_event *event) {
    const pfr_script_options *o = s->options;
    const struct function_name *name = trace_script_name(s, event);
    return name && (!o->symbols || lists_function(o->symbols, name)) &&
           (!o->objects || lists_object(o->objects, name->path));
}

static bool is_wanted_function(struct trace_script *s, const struct xray_event *event) {
    uint64_t wanted;
    if (!s->options->symbols && !s->options->objects)
        return true;
    if (!trace_is_call(event))
        return false;
    if (u64_map_get(&s->wanted, event->function, &wanted))
        return wanted;
    wanted = judge(s, event);
    trace_script_fail(s, u64_map_put(&s->wanted, event->function, wanted, s->err));
    return wanted;
}

static bool is_wanted_time(const struct trace_script *s, const struct xray_event *event) {
    return s->times.any ||
           (event->timed && script_ranges_have(&s->times, trace_clock_ns(&s->clock, event->tsc) - s->start));
}

/* A thread or process that is not known is none of those that are listed. */
static bool has_number(const struct script_ranges *list, bool known, int32_t number) {
    return list->any || (known && script_ranges_have(list, (uint32_t)number));
}

bool trace_filter_wants(struct trace_script *s, const struct xray_event *event) {
    return (s->cpus.any || (event->timed && script_ranges_have(&s->cpus, event->cpu))) &&
           has_number(&s->pids, event->has_pid, event->pid) && has_number(&s->tids, event->has_tid, event->tid) &&
           is_wanted_time(s, event) && is_wanted_function(s, event);
}
