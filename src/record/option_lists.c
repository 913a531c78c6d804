/* SPDX-License-Identifier: Apache-2.0 */
/* Options that are lists: which existing tasks are written at the start, and when counting is switched on and off. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "record/option_lists.h"

#define MS 1000000u
#define MS_MOST 1000000000ull

static pfr_status wrong(pfr_error *err, const char *where, const char *text, const char *meant) {
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, where, "--%s '%.40s' %s", where, text, meant);
}

/* --- records of existing tasks --- */

static bool synthesis_bits(const char *word, size_t length, unsigned *bits) {
    static const struct {
        const char *name;
        unsigned bits;
    } words[] = {{"no", 0},
                 {"task", SYNTHESIZE_TASKS},
                 {"mmap", SYNTHESIZE_MAPS},
                 {"cgroup", SYNTHESIZE_CGROUPS},
                 {"all", SYNTHESIZE_TASKS | SYNTHESIZE_MAPS | SYNTHESIZE_CGROUPS}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].name) == length && memcmp(words[i].name, word, length) == 0) {
            *bits |= words[i].bits;
            return true;
        }
    return false;
}

pfr_status plan_synthesis(pfr_recorder *r, pfr_error *err) {
    const char *const text = r->options.synthesize ? r->options.synthesize : "all";
    r->synthesize = 0;
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        if (!synthesis_bits(at, length, &r->synthesize))
            return wrong(err, "synth", text, "is not all, no, or a list of task, mmap and cgroup");
        at += length;
        if (!*at)
            return PFR_OK;
    }
}

/* --- when counting is switched --- */

static pfr_status add_turn(pfr_recorder *r, uint64_t ms, pfr_error *err) {
    uint64_t *const at =
        mem_grow(&r->memory, r->control.turns, r->control.nr_turns, &r->control.turns_room, 8, sizeof *at);
    if (!at)
        return mem_fail(&r->memory, err, "delay");
    r->control.turns = at;
    r->control.turns[r->control.nr_turns++] = ms * MS;
    return PFR_OK;
}

/* Takes digits, a time in ms. It must be later than the previous time. */
static bool take_time(const pfr_recorder *r, const char **at, uint64_t *ms) {
    char *behind;
    if (!isdigit((unsigned char)**at))
        return false;
    *ms = strtoull(*at, &behind, 10);
    *at = behind;
    return *ms <= MS_MOST && (r->control.nr_turns == 0 || *ms * MS > r->control.turns[r->control.nr_turns - 1]);
}

static pfr_status add_ranges(pfr_recorder *r, const char *text, pfr_error *err) {
    const char *at = text;
    uint64_t ms;
    for (char end = '-';; end = end == '-' ? ',' : '-') {
        if (!take_time(r, &at, &ms) || (*at != end && (end == '-' || *at)))
            return wrong(err, "delay", text, "is not milliseconds, -1, or ascending ranges: 10-20,30-40");
        PFR_TRY(add_turn(r, ms, err));
        if (!*at++)
            return PFR_OK;
    }
}

pfr_status plan_turns(pfr_recorder *r, pfr_error *err) {
    const pfr_recorder_options *const o = &r->options;
    if (o->on_times && o->delay_ms)
        return wrong(err, "delay", o->on_times, "and a delay exclude each other");
    if (o->on_times)
        return add_ranges(r, o->on_times, err);
    return o->delay_ms > 0 ? add_turn(r, (uint64_t)o->delay_ms, err) : PFR_OK;
}

/* The minimum of bytes to drain may be at most a quarter of a ring: the rest is room for records that arrive while the
 * ring is drained. */
pfr_status plan_drain(pfr_recorder *r, pfr_error *err) {
    r->drain_least = r->options.drain_least;
    for (size_t i = 0; i < r->nr_rings; i++)
        if (r->drain_least > r->rings[i].bytes / 4)
            return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "mmap-flush",
                            "--mmap-flush is at most a quarter of a ring, %zu bytes here; -m makes rings larger",
                            r->rings[i].bytes / 4);
    return PFR_OK;
}
