/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up calls by path: see profile_tally.h. */
#include "model/profile/profile_tally.h"

#include "base/memory/fail.h"

#include <string.h>

#define NOT_RECORDED UINT32_MAX

void tally_init(struct tally *t, const struct profile_request *request, const struct xray_clock *clock,
                struct memory *memory) {
    *t = (struct tally){.request = request, .clock = *clock, .group = INTERN_NONE};
    memory_share(&t->memory, memory);
    intern_init(&t->groups, &t->memory);
}

void tally_free(struct tally *t) {
    mem_free(&t->memory, t->sums, t->room, sizeof *t->sums);
    mem_free(&t->memory, t->touched, t->room, sizeof *t->touched);
    mem_free(&t->memory, t->entries, t->entries_room, sizeof *t->entries);
    intern_free(&t->groups);
}

/* --- Adding up. */

/* Makes room for all paths of the worker. */
static pfr_status make_room(struct tally *t, uint32_t paths, pfr_error *err) {
    if (paths <= t->room)
        return PFR_OK;
    const size_t room = (size_t)paths + paths / 2 + 64;
    struct tally_sum *sums = mem_zeroed(&t->memory, room, sizeof *sums);
    uint32_t *touched = sums ? mem_alloc(&t->memory, room, sizeof *touched) : NULL;
    if (!touched) {
        const pfr_status st = mem_fail(&t->memory, err, "profile");
        mem_free(&t->memory, sums, sums ? room : 0, sizeof *sums);
        return st;
    }
    if (t->room) {
        memcpy(sums, t->sums, t->room * sizeof *sums);
        memcpy(touched, t->touched, t->nr_touched * sizeof *touched);
    }
    mem_free(&t->memory, t->sums, t->room, sizeof *sums);
    mem_free(&t->memory, t->touched, t->room, sizeof *touched);
    t->sums = sums;
    t->touched = touched;
    t->room = room;
    return PFR_OK;
}

static pfr_status add_entry(struct tally *t, uint32_t path, pfr_error *err) {
    const struct tally_sum *sum = &t->sums[path];
    void *more = mem_grow(&t->memory, t->entries, t->nr_entries, &t->entries_room, 256, sizeof *t->entries);
    if (more) {
        t->entries = more;
        t->entries[t->nr_entries++] = (struct tally_entry){sum->ticks, sum->count - 1, t->group, path};
        return PFR_OK;
    }
    t->no_room_ticks += sum->ticks;
    t->no_room += sum->count - 1;
    return mem_failure(&t->memory) == PFR_ERR_LIMIT ? PFR_OK : mem_fail(&t->memory, err, "profile");
}

pfr_status tally_settle(struct tally *t, pfr_error *err) {
    for (size_t i = 0; i < t->nr_touched; i++) {
        PFR_TRY(add_entry(t, t->touched[i], err));
        t->sums[t->touched[i]] = (struct tally_sum){0, 0};
    }
    t->nr_touched = 0;
    return PFR_OK;
}

static void add(struct tally *t, uint32_t path, uint64_t ticks, uint64_t count) {
    struct tally_sum *sum = &t->sums[path];
    if (sum->count == 0) {
        sum->count = 1;
        t->touched[t->nr_touched++] = path;
    }
    sum->ticks += ticks;
    sum->count += count;
}

/* --- Groups. */

/* The value of a key. Keys that traces do not have get the value that profile_pick.c gives to a sample without the
   key. */
static uint64_t key_value(const struct tally *t, enum profile_key key, uint64_t exit_ns) {
    if (key == PROFILE_COMM || key == PROFILE_TID)
        return t->who.tid;
    if (key == PROFILE_PID)
        return t->who.pid;
    if (key == PROFILE_CPU)
        return NOT_RECORDED;
    if (key == PROFILE_TIME)
        return exit_ns - exit_ns % (t->request->time_quantum ? t->request->time_quantum : 1);
    return profile_kind_of(key) == PROFILE_TEXT ? NO_TEXT : 0;
}

static pfr_status choose_group(struct tally *t, uint64_t exit_ns, pfr_error *err) {
    uint64_t values[PROFILE_KEYS];
    unsigned count = 0;
    uint32_t group;
    for (uint32_t keys = t->request->keys; keys; keys &= keys - 1)
        values[count++] = key_value(t, (enum profile_key)__builtin_ctz(keys), exit_ns);
    if (t->group != INTERN_NONE && memcmp(values, t->values, count * sizeof *values) == 0)
        return PFR_OK;
    PFR_TRY(intern_put(&t->groups, values, count * sizeof *values, &group, err));
    if (t->group != INTERN_NONE)
        PFR_TRY(tally_settle(t, err));
    memcpy(t->values, values, count * sizeof *values);
    t->group = group;
    return PFR_OK;
}

pfr_status tally_thread(struct tally *t, const struct calls_thread *thread, pfr_error *err) {
    t->who = (struct profile_sample){.event = 0,
                                     .pid = thread->has_pid ? (uint32_t)thread->pid : NOT_RECORDED,
                                     .tid = thread->has_tid ? (uint32_t)thread->tid : NOT_RECORDED,
                                     .cpu = NOT_RECORDED,
                                     .time = UINT64_MAX};
    return choose_group(t, 0, err);
}

/* --- Calls. */

static bool keeps(struct tally *t, uint64_t exit_ns) {
    t->who.time = exit_ns;
    return !t->request->keep || t->request->keep(t->request->context, &t->who);
}

/* Adds calls one by one, because some may not be wanted, or because they may belong to different groups. */
static pfr_status choose_calls(struct tally *t, const struct call *calls, size_t count, pfr_error *err) {
    for (size_t i = 0; i < count; i++) {
        const uint64_t exit_ns = xray_clock_ns(&t->clock, calls[i].exit);
        if (!keeps(t, exit_ns)) {
            t->left_out++;
            continue;
        }
        PFR_TRY(choose_group(t, exit_ns, err));
        add(t, calls[i].node, (uint64_t)calls[i].self, 1);
    }
    return PFR_OK;
}

bool tally_needs_each(const struct profile_request *request) {
    return request->keep || request->keys & PROFILE_BIT(PROFILE_TIME);
}

bool tally_needs_threads(const struct profile_request *request) {
    const uint32_t of_threads = PROFILE_BIT(PROFILE_COMM) | PROFILE_BIT(PROFILE_PID) | PROFILE_BIT(PROFILE_TID);
    return tally_needs_each(request) || request->keys & of_threads;
}

pfr_status tally_calls(struct tally *t, uint32_t paths, const struct call *calls, size_t count, pfr_error *err) {
    PFR_TRY(make_room(t, paths, err));
    if (tally_needs_each(t->request))
        return choose_calls(t, calls, count, err);
    for (size_t i = 0; i < count; i++)
        add(t, calls[i].node, (uint64_t)calls[i].self, 1);
    return PFR_OK;
}

/* A profile file has no times. If the request depends on times, all calls of the file are left out. */
pfr_status tally_sum(struct tally *t, uint32_t paths, const struct call_sum *sum, pfr_error *err) {
    PFR_TRY(make_room(t, paths, err));
    if (keeps(t, UINT64_MAX))
        add(t, sum->node, (uint64_t)sum->self, sum->count);
    else
        t->left_out += sum->count;
    return PFR_OK;
}
