/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selects calls and rows: see latency_parts.h. Threads, times and durations are checked for each call. Names are
 * resolved only after counting, so conditions on names select rows.
 */
#include "view/latency/latency_filter.h"

#include "base/memory/fail.h"
#include "base/text/text.h"

#include <fnmatch.h>
#include <string.h>

/* --- Names. */

static bool is_expression(const char *word) {
    const size_t length = strlen(word);
    return length >= 2 && word[0] == '/' && word[length - 1] == '/';
}

#define EXPRESSION_MOST 1000u

static pfr_status make_expression(struct latency_names *names, const char *word, pfr_error *err) {
    char text[EXPRESSION_MOST];
    const size_t length = strlen(word) - 2;
    if (length < sizeof text) {
        memcpy(text, word + 1, length);
        text[length] = '\0';
        if (regcomp(&names->made[names->nr_made], text, REG_EXTENDED | REG_NOSUB) == 0) {
            names->nr_made++;
            return PFR_OK;
        }
    }
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "filter", "not a regular expression: %.60s", word);
}

static pfr_status read_names(struct latency *l, struct latency_names *names, const char *const *words, pfr_error *err) {
    size_t expressions = 0;
    names->words = words;
    for (size_t i = 0; words && words[i]; i++)
        expressions += is_expression(words[i]);
    if (!expressions)
        return PFR_OK;
    names->made = mem_alloc(l->memory, expressions, sizeof *names->made);
    if (!names->made)
        return mem_fail(l->memory, err, "filter");
    names->room = expressions;
    for (size_t i = 0; words[i]; i++)
        if (is_expression(words[i]))
            PFR_TRY(make_expression(names, words[i], err));
    return PFR_OK;
}

static void free_names(struct latency *l, struct latency_names *names) {
    for (size_t i = 0; i < names->nr_made; i++)
        regfree(&names->made[i]);
    mem_free(l->memory, names->made, names->room, sizeof *names->made);
}

static bool have(const struct latency_names *names, const char *name) {
    size_t expression = 0;
    for (size_t i = 0; names->words[i]; i++)
        if (is_expression(names->words[i]) ? regexec(&names->made[expression++], name, 0, NULL, 0) == 0
                                           : fnmatch(names->words[i], name, 0) == 0)
            return true;
    return false;
}

/* Whether a pattern matches the whole path of the object or its last component. */
static bool wants_object(const struct latency *l, const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    if (!l->objects.words)
        return true;
    return path && (have(&l->objects, path) || (slash && have(&l->objects, slash + 1)));
}

bool latency_wants_row(const struct latency *l, const struct latency_row *row) {
    if (!wants_object(l, row->object))
        return false;
    return !l->functions.words || (row->name && have(&l->functions, row->name->text));
}

/* --- Calls. */

static bool wants_thread(void *context, const struct calls_thread *thread) {
    const struct latency *l = context;
    return thread->has_tid && ranges_have(&l->calls.tids, (uint32_t)thread->tid);
}

static bool wants_time(void *context, uint64_t ticks) {
    const struct latency *l = context;
    return ranges_have(&l->calls.times, xray_clock_ns(&l->clock, ticks));
}

static pfr_status refuse_duration(const struct latency *l, pfr_error *err) {
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "filter", "--min-duration '%.60s': %s",
                    l->options->min_duration,
                    l->frequency ? "write a number with ns, us, ms or s"
                                 : "times of this trace are in ticks: write a number without a unit");
}

/* Converts the duration to ticks, rounded up, so that every selected call lasts at least that many whole nanoseconds.
 */
static pfr_status read_duration(struct latency *l, pfr_error *err) {
    uint64_t ns;
    const char *text = l->options->min_duration;
    if (!text)
        return PFR_OK;
    if (l->frequency == 0)
        return parse_u64(text, &l->least) ? PFR_OK : refuse_duration(l, err);
    if (!parse_duration(text, &ns))
        return refuse_duration(l, err);
    const unsigned __int128 ticks = ((unsigned __int128)ns * l->frequency + 999999999u) / 1000000000u;
    l->least = ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
    return PFR_OK;
}

/* Refuses times relative to the first call, and percentages, because a trace does not record when its first call
   was. */
static pfr_status read_times(struct latency *l, pfr_error *err) {
    if (!l->options->time)
        return PFR_OK;
    const bool in_parts = strchr(l->options->time, '%') != NULL;
    const struct times_known known = {.bounded = in_parts};
    PFR_TRY(sample_filter_read_time(&l->calls, l->options->time, &known, err));
    const bool since_start = l->calls.waits_for_start || in_parts;
    if (since_start || l->reader->header.cycle_frequency == 0)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "time",
                        since_start
                            ? "times since the first call are not supported for traces: give times of the trace's clock"
                            : "the clock frequency is unknown: times are ticks, so --time cannot be used");
    PFR_TRY(xray_clock_learn(l->reader, err));
    l->clock = xray_clock_of(l->reader);
    return PFR_OK;
}

pfr_status latency_filter_read(struct latency *l, pfr_error *err) {
    const pfr_latency_options *o = l->options;
    PFR_TRY(read_names(l, &l->functions, o->functions, err));
    PFR_TRY(read_names(l, &l->objects, o->objects, err));
    PFR_TRY(sample_filter_read(&l->calls, l->memory, &(struct sample_lists){.tids = o->tids}, err));
    PFR_TRY(read_duration(l, err));
    PFR_TRY(read_times(l, err));
    l->request.least = l->least;
    l->request.wants_thread = o->tids ? wants_thread : NULL;
    l->request.wants_time = o->time ? wants_time : NULL;
    return PFR_OK;
}

void latency_filter_free(struct latency *l) {
    free_names(l, &l->functions);
    free_names(l, &l->objects);
    sample_filter_free(&l->calls);
}
