/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selects the events of an XRay trace to print; the options have the same syntax as in script_filter.c. A function is
 * selected by name, by number ("#7") or by address ("0x401136", if the map has it). Events that are not calls belong to
 * no function and no object.
 */
#include "view/xray/xray_script.h"

#include "base/memory/fail.h"
#include "base/text/text.h"

#include <string.h>

/* Times and percentages need a clock of known frequency. */
static pfr_status read_times(struct xray_script *s, const char *text, pfr_error *err) {
    const struct xray_order_facts *facts = xray_order_facts(s->order);
    struct times_known known = {.bounded = true}; /* if there are no events, `first` and `last` stay 0 */
    if (!text)
        return PFR_OK;
    if (s->clock.frequency == 0)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "time",
                        "--time needs the frequency of the trace's clock, which is not recorded");
    if (strchr(text, ':'))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "time",
                        "--time cannot be a wall-clock time, because XRay traces do not record the wall clock");
    if (facts->first <= facts->last) {
        known.first = xray_clock_ns(&s->clock, facts->first);
        known.last = xray_clock_ns(&s->clock, facts->last);
    }
    return sample_filter_read_time(&s->filter, text, &known, err);
}

pfr_status xray_filter_make(struct xray_script *s, pfr_error *err) {
    const pfr_script_options *o = s->options;
    const struct sample_lists lists = {.cpus = o->cpus, .pids = o->pids, .tids = o->tids};
    PFR_TRY(sample_filter_read(&s->filter, s->memory, &lists, err));
    return read_times(s, o->time, err);
}

void xray_filter_free(struct xray_script *s) {
    sample_filter_free(&s->filter);
    u64_map_free(&s->wanted);
}

/* --- Functions. */

static bool is_word(const char *word, size_t length, const char *text) {
    return strlen(text) == length && memcmp(word, text, length) == 0;
}

static bool is_called(const void *function_name, const char *word, size_t length) {
    const struct function_name *name = function_name;
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

/* Whether the word is the path of an object, or the last component of this path. */
static bool is_object(const void *path, const char *word, size_t length) {
    const char *slash = strrchr(path, '/');
    return is_word(word, length, path) || is_word(word, length, slash ? slash + 1 : path);
}

/* C++ names may contain commas, so the whole list is also tried as one name. */
static bool lists_function(const char *list, const struct function_name *name) {
    return is_called(name, list, strlen(list)) || list_any(list, is_called, name);
}

static bool lists_object(const char *list, const char *path) {
    return path && list_any(list, is_object, path);
}

static bool judge(struct xray_script *s, const struct xray_event *event) {
    const pfr_script_options *o = s->options;
    const struct function_name *name = xray_script_name(s, event);
    return name && (!o->symbols || lists_function(o->symbols, name)) &&
           (!o->objects || lists_object(o->objects, name->path));
}

static bool is_wanted_function(struct xray_script *s, const struct xray_event *event) {
    uint64_t wanted;
    if (!s->options->symbols && !s->options->objects)
        return true;
    if (!xray_is_call(event))
        return false;
    if (u64_map_get(&s->wanted, event->function, &wanted))
        return wanted;
    wanted = judge(s, event);
    xray_script_fail(s, u64_map_put(&s->wanted, event->function, wanted, s->err));
    return wanted;
}

/* If a list of CPUs, processes, threads or times is given, events for which this value is unknown are not selected. */
bool xray_filter_wants(struct xray_script *s, const struct xray_event *event) {
    const bool asks_time = event->timed && !s->filter.times.any; /* conditions on times require a known frequency */
    const struct sample_facts facts = {.time = asks_time ? xray_clock_ns(&s->clock, event->tsc) : 0,
                                       .cpu = event->cpu,
                                       .pid = (uint32_t)event->pid,
                                       .tid = (uint32_t)event->tid,
                                       .known = (event->timed ? SAMPLE_TIME | SAMPLE_CPU : 0u) |
                                                (event->has_pid ? SAMPLE_PID : 0u) |
                                                (event->has_tid ? SAMPLE_TID : 0u)};
    return sample_filter_passes(&s->filter, &facts) && is_wanted_function(s, event);
}
