/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --by cgroup: entries by path, as in the key `cgroup` of perfray report. A sample has the id of a cgroup; a CGROUP
 * record has the path for an id. A new thread has the id of its parent until its first sample. Intervals of a thread
 * without an id are summed by thread until a sample tells where they belong.
 */
#include "view/offcpu/offcpu_cgroups.h"
#include "view/offcpu/offcpu_rows.h"

#define KEY_OF_PATH ((uint64_t)2 << 32) /* keys of `of_tid` that no tid and no process has */
#define KEY_OF_UNKNOWN ((uint64_t)3 << 32)
#define KEY_OF_NONE (KEY_OF_UNKNOWN + 1)

pfr_status offcpu_cgroups_check(const struct offcpu *o, const struct sched_sources *sources, pfr_error *err) {
    if (o->options->by != PFR_OFFCPU_BY_CGROUP)
        return PFR_OK;
    if (o->options->view != PFR_OFFCPU_WAITS)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "offcpu",
                        "--wakers and --locks show threads and cannot be combined with --by cgroup");
    return sources->cgroups ? PFR_OK
                            : pfr_fail(err, PFR_ERR_FORMAT, PFR_NO_OFFSET, 0, "offcpu",
                                       "samples have no cgroup ids, which --by cgroup needs: record with `perfray "
                                       "record --off-cpu --all-cgroups`");
}

/* --- Entries. */

static pfr_status entry_of_key(struct offcpu *o, uint64_t key, const char *path, uint32_t *number, pfr_error *err) {
    bool is_new;
    const uint64_t *at = u64_map_at(&o->of_tid, key, o->nr_threads, &is_new);
    if (!at)
        return mem_fail(o->memory, err, "cgroups");
    *number = (uint32_t)*at;
    if (!is_new)
        return PFR_OK;
    void *grown = mem_grow(o->memory, o->threads, o->nr_threads, &o->threads_room, 64, sizeof *o->threads);
    if (!grown)
        return mem_fail(o->memory, err, "cgroups");
    o->threads = grown;
    o->threads[o->nr_threads++] = (struct offcpu_thread){.cgroup = path, .first_cgroup = NO_THREAD, .is_wanted = true};
    return PFR_OK;
}

/* The newest path of the id at `time`. */
static pfr_status entry_of_id(struct offcpu *o, uint64_t id, uint64_t time, uint32_t *number, pfr_error *err) {
    const struct state *state = &o->model->profile->state;
    const struct record_key key = {state->timed ? time : 0, UINT64_MAX, UINT64_MAX};
    const uint32_t path = state_cgroup(state, id, key);
    return path == NO_VALUE ? entry_of_key(o, KEY_OF_UNKNOWN, "unknown", number, err)
                            : entry_of_key(o, KEY_OF_PATH | path, intern_chars(&state->names, path), number, err);
}

static pfr_status count_member(struct offcpu *o, uint32_t cgroup, uint32_t thread, pfr_error *err) {
    bool is_new;
    if (!u64_map_at(&o->in_cgroup, (uint64_t)cgroup << 32 | thread, 0, &is_new))
        return mem_fail(o->memory, err, "cgroups");
    o->threads[cgroup].members += is_new;
    return PFR_OK;
}

pfr_status offcpu_cgroups_entry(struct offcpu *o, const struct thread_interval *interval, uint32_t *thread,
                                pfr_error *err) {
    const uint32_t member = *thread;
    if (o->options->by != PFR_OFFCPU_BY_CGROUP || !interval->cgroup)
        return PFR_OK;
    PFR_TRY(entry_of_id(o, interval->cgroup, interval->end, thread, err));
    if (o->threads[member].first_cgroup == NO_THREAD)
        o->threads[member].first_cgroup = *thread;
    return count_member(o, *thread, member, err);
}

/* --- Intervals before the first id of a thread. */

static pfr_status home_of(struct offcpu *o, uint32_t thread, uint32_t *home, pfr_error *err) {
    *home = thread;
    if (o->threads[thread].cgroup)
        return PFR_OK;
    *home = o->threads[thread].first_cgroup;
    if (*home == NO_THREAD)
        PFR_TRY(entry_of_key(o, KEY_OF_NONE, "", home, err));
    return count_member(o, *home, thread, err);
}

static void move_states(struct offcpu_thread *to, struct offcpu_thread *from) {
    for (unsigned s = 0; s < OFFCPU_STATES; s++)
        to->state[s] += from->state[s];
    for (unsigned r = 0; r < WAIT_REASONS; r++)
        to->blocked[r] += from->blocked[r];
    to->preempted += from->preempted;
    to->ended += from->ended;
    memset(from->state, 0, sizeof from->state);
}

static pfr_status move_threads(struct offcpu *o, pfr_error *err) {
    const size_t count = o->nr_threads;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t wall = 0;
        uint32_t home;
        for (unsigned s = 0; s < OFFCPU_STATES; s++)
            wall += o->threads[i].state[s];
        if (!wall || o->threads[i].cgroup)
            continue;
        PFR_TRY(home_of(o, i, &home, err));
        move_states(&o->threads[home], &o->threads[i]);
    }
    return PFR_OK;
}

static pfr_status move_sums(struct offcpu *o, const struct offcpu_sums *from, pfr_error *err) {
    for (uint32_t i = 0; i < from->count; i++) {
        struct offcpu_sum_row *row = offcpu_sums_next(&o->sums);
        *row = from->rows[i];
        PFR_TRY(home_of(o, row->key.thread, &row->key.thread, err));
        PFR_TRY(offcpu_sums_add(&o->sums, err));
    }
    return PFR_OK;
}

pfr_status offcpu_cgroups_settle(struct offcpu *o, pfr_error *err) {
    if (o->options->by != PFR_OFFCPU_BY_CGROUP)
        return PFR_OK;
    PFR_TRY(offcpu_sums_settle(&o->sums, err));
    struct offcpu_sums from = o->sums;
    offcpu_sums_init(&o->sums, o->memory);
    pfr_status st = move_sums(o, &from, err);
    if (st >= 0)
        st = move_threads(o, err);
    offcpu_sums_free(&from);
    return st;
}
