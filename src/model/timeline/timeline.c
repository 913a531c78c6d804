/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records in order of time: see timeline.h. Records are released when perf would release them. At the end of a round,
 * all records up to the latest record of the previous round are released. If too many records wait, the records of the
 * earlier half of the time span are released. So the order equals perf's, even if the records of a recording violate
 * the order that its rounds promise.
 *
 * A recording without rounds (a directory, whose parts are consecutive, or a file of an old recorder) promises no
 * order: it is sorted completely. Records over the memory limit go into sorted runs in a temporary file. In a stream,
 * the records of the earlier half of the time span must be released instead.
 */
#include "model/timeline/timeline.h"

#include "base/memory/fail.h"
#include "base/memory/sizes.h"
#include "file/read/recording.h"
#include "file/read/header_walk.h"
#include "model/state/exec_images.h"
#include "model/timeline/sorted_runs.h"

#define KERNEL_TYPES 64u

struct timeline {
    struct memory *memory;
    pfr_reader *reader;
    struct state own, *state; /* `state` points to `own` or to the caller's state */
    struct window window;
    struct runs runs;
    uint64_t wait_most; /* maximum bytes that wait in memory */
    bool has_rounds, merges;
    bool learns;     /* the state is learnt from the records returned */
    bool was_halved; /* the earlier half of the time span was released to make room: earlier records may still come */
    bool round_ends; /* the last record returned was a FINISHED_ROUND */
    bool ended;
    uint64_t next_limit; /* time of the latest record in all rounds that have ended */
    uint64_t released; /* rounds have released records up to this time, or would have if no records were in the file */
    bool has_placed;   /* records without a time also wait, at the place in the order where they came */
    uint64_t given;    /* time of the latest record returned */
    uint64_t late;
};

static pfr_status begin(struct timeline *t, const struct jit_request *jit, pfr_error *err) {
    const struct state_watch watch = {.jit = *jit};
    if (t->state != &t->own)
        return pfr_rewind(t->reader, err);
    t->learns = !input_seekable(&t->reader->parts[0].in);
    if (t->learns)
        return state_begin(t->state, t->reader, t->memory, jit, err);
    PFR_TRY(state_build_watched(t->state, t->reader, t->memory, &watch, err));
    return pfr_rewind(t->reader, err);
}

static pfr_status open_timeline(struct timeline **out, pfr_reader *reader, struct memory *memory, struct state *state,
                                const struct jit_request *jit, pfr_error *err) {
    struct timeline *t = mem_alloc(memory, 1, sizeof *t);
    *out = NULL;
    if (!t)
        return mem_fail(memory, err, "timeline");
    *t = (struct timeline){.memory = memory, .reader = reader, .wait_most = SIZE_MOST_order_wait};
    t->state = state ? state : &t->own;
    window_init(&t->window, memory);
    runs_init(&t->runs, memory);
    const pfr_status st = begin(t, jit, err);
    if (st < 0)
        timeline_close(t);
    else
        *out = t;
    return st < 0 ? st : PFR_OK;
}

pfr_status timeline_open(struct timeline **out, pfr_reader *reader, struct memory *memory,
                         const struct jit_request *jit, pfr_error *err) {
    return open_timeline(out, reader, memory, NULL, jit, err);
}

pfr_status timeline_open_known(struct timeline **out, pfr_reader *reader, struct memory *memory, struct state *state,
                               pfr_error *err) {
    return open_timeline(out, reader, memory, state, &no_jit, err);
}

void timeline_close(struct timeline *t) {
    if (!t)
        return;
    window_free(&t->window);
    runs_free(&t->runs);
    if (t->state == &t->own)
        state_free(t->state);
    mem_free(t->memory, t, 1, sizeof *t);
}

/* The key of a record that does not wait. Samples without a time see the final state; other records without one precede
   everything. */
static struct record_key key_at(const struct timeline *t, const pfr_record *rec, uint64_t time) {
    const bool is_lost = time == NO_TIME && rec->type == PFR_RECORD_SAMPLE;
    return state_key(t->state, rec, is_lost ? KEY_TIME_AFTER_ALL : time);
}

/* Whether the record must wait: times are in use, the kernel wrote the record, and it has a time. */
static bool waits(const struct timeline *t, const pfr_record *rec, uint64_t time) {
    return t->state->timed && rec->type < KERNEL_TYPES && time != 0 && time != NO_TIME;
}

/* Returns records, and updates a state that is learnt while records are read. All records but the first are samples. */
static pfr_status give(struct timeline *t, const struct timed_record *some, size_t count, pfr_error *err) {
    if (!t->learns)
        return PFR_OK;
    PFR_TRY(state_note(t->state, &some->rec, err));
    for (size_t i = 0; i < count; i++)
        left_images_hear(t->state, &some[i].rec, some[i].key);
    return PFR_OK;
}

static pfr_status end_round(struct timeline *t, pfr_error *err) {
    const uint64_t limit = t->next_limit;
    t->round_ends = false;
    t->next_limit = t->window.latest;
    t->has_rounds = true;
    if (limit > t->released)
        t->released = limit;
    return limit && t->runs.count == 0 ? window_release(&t->window, limit, err) : PFR_OK;
}

static bool swaps(const struct timeline *t) {
    return t->reader->context.swap;
}

/* Whether records over the memory for waiting go to a file. Once some records are there, all later ones must follow. */
static bool waits_in_file(const struct timeline *t) {
    return !t->learns && (!t->has_rounds || t->runs.count > 0);
}

/* Maximum bytes of waiting records. Tests reduce it (sizes.order_wait). It is reduced only if that cannot change which
   records are late: if records go to a file and none is late. */
static uint64_t wait_most(const struct timeline *t) {
    return waits_in_file(t) && t->state->late == 0 && sizes.order_wait < t->wait_most ? sizes.order_wait : t->wait_most;
}

/* Makes room because too many records wait. PFR_END: some records were released. */
static pfr_status make_room(struct timeline *t, pfr_error *err) {
    if (waits_in_file(t))
        return runs_keep(&t->runs, &t->window, swaps(t), err);
    t->was_halved = true;
    PFR_TRY(window_release(&t->window, 0, err));
    PFR_TRY(window_release(&t->window, window_middle(&t->window), err));
    return PFR_END;
}

/* End of the input: releases everything. */
static pfr_status end(struct timeline *t, pfr_error *err) {
    t->ended = true;
    if (t->runs.count == 0)
        return window_release(&t->window, UINT64_MAX, err);
    t->merges = true;
    PFR_TRY(runs_keep(&t->runs, &t->window, swaps(t), err));
    return runs_merge(&t->runs, err);
}

/* Puts the samples that follow the record just put, too, as long as their headers show that they belong to the same
   event. */
static pfr_status put_like(struct timeline *t, const pfr_record *rec, pfr_error *err) {
    struct sample_run seen;
    uint64_t used, count;
    if (rec->type != PFR_RECORD_SAMPLE || rec->event < 0 || rec->inside ||
        !walk_run(t->reader, rec->event, true, UINT64_MAX, &seen))
        return PFR_OK;
    const struct window_run run = {seen.bytes, seen.length, seen.time_at, swaps(t)};
    PFR_TRY(window_put_run(&t->window, rec, &run, wait_most(t), &used, &count, err));
    walk_past(t->reader, used, count);
    return PFR_OK;
}

/* Whether a record without a time must wait, too. Once records are in a file, rounds release nothing. Such a record
   then waits after the records that the rounds would have released; otherwise its place would depend on the size of
   memory. */
static bool is_to_be_placed(const struct timeline *t) {
    return t->runs.count > 0 && t->released > 0;
}

static pfr_status place(struct timeline *t, const pfr_record *rec, pfr_error *err) {
    t->has_placed = true;
    PFR_TRY(window_put(&t->window, rec, t->released, err));
    return rec->type == PFR_RECORD_FINISHED_ROUND ? end_round(t, err) : PFR_OK;
}

/* The key of a record that waited: by its own time, or by the time at which it was placed. */
static struct record_key key_of_waited(const struct timeline *t, const pfr_record *rec, uint64_t time) {
    const uint64_t own = t->has_placed ? time_of(t->reader, rec) : time;
    return !t->has_placed || waits(t, rec, own) ? key_of(rec, time) : key_at(t, rec, own);
}

/* Reads until a record can be returned. PFR_OK: it is *to. PFR_END: take() has a record, or the input has ended. */
static pfr_status read_on(struct timeline *t, struct timed_record *to, pfr_error *err) {
    for (;;) {
        pfr_status st = pfr_next(t->reader, &to->rec, err);
        if (st == PFR_END)
            return (st = end(t, err)) < 0 ? st : PFR_END;
        if (st != PFR_OK)
            return st;
        const uint64_t time = time_of(t->reader, &to->rec);
        if (t->learns)
            PFR_TRY(state_hear(t->state, &to->rec, err));
        const bool is_timed = waits(t, &to->rec, time);
        if (!is_timed && !is_to_be_placed(t)) {
            to->key = key_at(t, &to->rec, time);
            t->round_ends = to->rec.type == PFR_RECORD_FINISHED_ROUND;
            return PFR_OK;
        }
        PFR_TRY(is_timed ? window_put(&t->window, &to->rec, time, err) : place(t, &to->rec, err));
        const uint64_t most = wait_most(t);
        if (is_timed && t->window.bytes <= most)
            PFR_TRY(put_like(t, &to->rec, err));
        if (t->window.bytes > most && (st = make_room(t, err)) != PFR_OK)
            return st;
    }
}

/* Takes the next released record. PFR_END: no record is released. */
static pfr_status take(struct timeline *t, struct timed_record *to, pfr_error *err) {
    uint64_t time;
    if (t->merges) {
        const pfr_status st = runs_take(&t->runs, &to->rec, &time, err);
        if (st != PFR_OK)
            return st;
    } else if (!window_take(&t->window, swaps(t), &to->rec, &time)) {
        return PFR_END;
    }
    to->key = key_of_waited(t, &to->rec, time);
    t->late += time < t->given;
    if (time > t->given)
        t->given = time;
    return PFR_OK;
}

/* Whether the next waiting record may be returned in the same call as the previous ones. To take it must not move their
   bytes or change the state that they use. */
static bool may_follow(const struct timeline *t) {
    return !t->merges && (!t->learns || window_next_type(&t->window, swaps(t)) == PFR_RECORD_SAMPLE);
}

pfr_status timeline_next(struct timeline *t, struct timed_record *to, size_t room, size_t *count, pfr_error *error) {
    pfr_error own, *err = error ? error : &own;
    pfr_status st;
    *count = 0;
    if (t->round_ends)
        PFR_TRY(end_round(t, err));
    while ((st = take(t, to, err)) == PFR_END && !t->ended)
        if ((st = read_on(t, to, err)) != PFR_END)
            break;
    if (st != PFR_OK)
        return st;
    for (*count = 1; *count < room && may_follow(t) && take(t, &to[*count], err) == PFR_OK;)
        ++*count;
    return give(t, to, *count, err);
}

void timeline_wait_most(struct timeline *t, uint64_t bytes) {
    t->wait_most = bytes;
}

struct state *timeline_state(struct timeline *t) {
    return t->state;
}

bool timeline_learns(const struct timeline *t) {
    return t->learns;
}

bool timeline_keeps_order(const struct timeline *t) {
    return !t->was_halved && t->state->late == 0;
}

uint64_t timeline_late(const struct timeline *t) {
    return t->late;
}
