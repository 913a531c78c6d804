/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A push. The samples of the recording are counted as for a report, by time slot and thread name. Then the rows are
 * sent to the store, dictionaries first and the row of `upload` last. No row is sent before counting has ended, so a
 * recording that cannot be read does not change the store, and the store is locked only briefly.
 */
#include "store/store_push.h"

#include "file/read/features.h"
#include "wire/feature_bits.h"

#include <inttypes.h>
#include <stdio.h>

#define SLOT_DEFAULT (10 * SECOND_NS)
#define SLOT_LEAST ((uint64_t)1000000)
#define STACK_MOST 1024u

static pfr_status flush(struct push *p, enum store_table_number table, pfr_error *err) {
    struct store_columns *c = &p->columns[table];
    if (c->batch.rows)
        PFR_TRY(p->store->engine->insert(p->store->handle, table, store_columns_batch(c), err));
    store_columns_clear(c);
    return PFR_OK;
}

/* --- Labels. */

static pfr_status set_label(const char *name, const char *value, char to[LABEL_ROOM], pfr_error *err) {
    if (value && strlen(value) >= LABEL_ROOM)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, name, "the label %s has more than %u bytes", name,
                        LABEL_ROOM - 1);
    snprintf(to, LABEL_ROOM, "%s", value ? value : "");
    return PFR_OK;
}

/* The recorded hostname. */
static void learn_host(pfr_reader *reader, char to[LABEL_ROOM]) {
    struct pfr_rec_feature_hostname host;
    const pfr_feature *f = pfr_find_feature(reader, BIT_HOSTNAME, NULL);
    if (!f || pfr_decode_feature(reader, f, &host, sizeof host, NULL) != PFR_OK)
        return;
    const size_t length = strnlen(host.hostname.at, host.hostname.length);
    snprintf(to, LABEL_ROOM, "%.*s", (int)(length < LABEL_ROOM ? length : LABEL_ROOM - 1), host.hostname.at);
}

static pfr_status set_labels(struct push *p, pfr_error *err) {
    const pfr_push_options *o = p->options;
    struct store_upload *u = &p->upload;
    PFR_TRY(set_label("service", o->service, u->service, err));
    PFR_TRY(set_label("version", o->version, u->version, err));
    PFR_TRY(set_label("host", o->host, u->host, err));
    if (!o->host)
        learn_host(p->reader, u->host);
    u->slot = o->slot ? o->slot : SLOT_DEFAULT;
    if (u->slot < SLOT_LEAST || u->slot > DAY_NS)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "slot", "a slot is 1 ms to 1 day");
    return PFR_OK;
}

/* --- Uploads that the store already has. */

static bool same_labels(const struct store_upload *a, const struct store_upload *b) {
    return strcmp(a->service, b->service) == 0 && strcmp(a->version, b->version) == 0 && strcmp(a->host, b->host) == 0;
}

static pfr_status relabel(struct push *p, struct store_upload *old, pfr_error *err) {
    memcpy(old->service, p->upload.service, LABEL_ROOM);
    memcpy(old->version, p->upload.version, LABEL_ROOM);
    memcpy(old->host, p->upload.host, LABEL_ROOM);
    struct store_columns *c = &p->columns[STORE_TABLE_upload];
    PFR_TRY(store_upload_put(c, old, err));
    return p->store->engine->relabel(p->store->handle, store_columns_batch(c), err);
}

static pfr_status meet(struct push *p, struct store_upload *old, pfr_push_result *result, pfr_error *err) {
    if (strcmp(old->content, p->upload.content) != 0)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "upload",
                        "another recording has the same 64-bit id %016" PRIx64 "; it cannot be pushed", old->id);
    result->what = PFR_PUSHED_ALREADY;
    if (!same_labels(old, &p->upload)) {
        result->what = p->options->relabel ? PFR_PUSHED_RELABELED : PFR_PUSHED_DIFFERS;
        if (p->options->relabel)
            PFR_TRY(relabel(p, old, err));
    }
    p->upload = *old;
    return PFR_OK;
}

/* Sets *there if the store already has this recording. */
static pfr_status look(struct push *p, bool *there, pfr_push_result *result, pfr_error *err) {
    struct store_uploads all;
    pfr_status st = store_uploads_find(p->store, p->memory, p->upload.id, &all, err);
    *there = st >= 0 && all.count;
    if (*there)
        st = meet(p, all.at, result, err);
    store_uploads_free(&all);
    return st;
}

/* --- Counting. */

static void report_hole(void *context, const pfr_error *hole) {
    struct push *p = context;
    p->upload.holes++;
    if (p->options->hole)
        p->options->hole(p->options->context, hole);
}

static void report_note(void *context, const char *sentence) {
    const struct push *p = context;
    if (p->options->note)
        p->options->note(p->options->context, sentence);
}

static pfr_status load(struct push *p, pfr_error *err) {
    const pfr_push_options *o = p->options;
    const bool is_trace = p->is_trace;
    const struct profile_request request = {.keys =
                                                PROFILE_BIT(PROFILE_COMM) | (is_trace ? 0 : PROFILE_BIT(PROFILE_TIME)),
                                            .shape = PROFILE_TREE,
                                            .unit = PROFILE_FUNCTIONS,
                                            .unnamed = PROFILE_UNNAMED_EACH,
                                            .max_stack = o->max_stack ? o->max_stack
                                                         : is_trace   ? 0
                                                                      : STACK_MOST,
                                            .time_quantum = p->upload.slot,
                                            .jobs = o->jobs,
                                            .names = {.naming = naming_of(o->naming)},
                                            .hole = report_hole,
                                            .note = report_note,
                                            .context = p};
    PFR_TRY(profile_load(&p->profile, p->reader, &request, err));
    profile_report_limits(p->profile, report_hole, p);
    const pfr_quality *q = pfr_get_quality(p->reader);
    p->upload.lost = q->lost_records + q->lost_samples;
    p->upload.frequency = p->profile->ticks_per_second;
    return PFR_OK;
}

/* --- Times. */

/* The first and the last time slot of the samples, by the recorded clock. Returns false if no sample has a time. */
static bool find_slots(const struct profile *p, uint64_t slot, uint64_t *first, uint64_t *last) {
    *first = UINT64_MAX;
    *last = 0;
    for (uint32_t i = 0; i < p->nr_groups; i++) {
        const uint64_t time = profile_value(p, p->groups[i], PROFILE_TIME);
        if (time > UINT64_MAX - slot)
            continue;
        *first = time < *first ? time : *first;
        *last = time > *last ? time : *last;
    }
    return *first <= *last;
}

static bool clock_data(pfr_reader *reader, int64_t *ahead) {
    struct pfr_rec_feature_clock_data clock;
    const pfr_feature *f = pfr_find_feature(reader, BIT_CLOCK_DATA, NULL);
    if (!f || pfr_decode_feature(reader, f, &clock, sizeof clock, NULL) != PFR_OK)
        return false;
    *ahead = (int64_t)(clock.wall_clock_ns - clock.clockid_time_ns);
    return true;
}

/* Determines the difference between the wall clock and the recorded clock, and sets the times of the upload. */
static void set_times(struct push *p) {
    const pfr_push_options *o = p->options;
    struct store_upload *u = &p->upload;
    uint64_t first = 0, last = 0;
    const bool timed = !p->is_trace && find_slots(p->profile, u->slot, &first, &last);
    const char *clock = o->ended_is_given ? "given" : "file";
    if (timed && !o->ended_is_given && clock_data(p->reader, &p->ahead))
        clock = "recorded";
    else if (timed && o->ended)
        p->ahead = (int64_t)(o->ended - last - u->slot);
    else if (!o->ended)
        clock = "none";
    snprintf(u->clock, sizeof u->clock, "%s", clock);
    u->first = timed ? first + (uint64_t)p->ahead : o->ended;
    u->last = timed ? last + u->slot + (uint64_t)p->ahead : o->ended;
}

/* --- Sending. */

static const enum store_table_number order[] = {STORE_TABLE_event,  STORE_TABLE_comm,  STORE_TABLE_object,
                                                STORE_TABLE_frame,  STORE_TABLE_stack, STORE_TABLE_latency,
                                                STORE_TABLE_sample, STORE_TABLE_daily};

static pfr_status send_rows(struct push *p, pfr_error *err) {
    PFR_TRY(push_collect(p, err));
    if (p->is_trace)
        PFR_TRY(push_calls(p, err));
    PFR_TRY(push_rows(p, err));
    PFR_TRY(push_sums(p, err));
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        PFR_TRY(flush(p, order[i], err));
    return features_unread(p->reader, err);
}

/* If another process has pushed the same recording meanwhile, that process's rows are used. */
static pfr_status send(struct push *p, pfr_push_result *result, pfr_error *err) {
    const struct store_engine *engine = p->store->engine;
    bool already;
    PFR_TRY(engine->begin(p->store->handle, p->upload.id, err));
    PFR_TRY(send_rows(p, err));
    struct store_columns *c = &p->columns[STORE_TABLE_upload];
    p->upload.pushed = store_now(p->store);
    PFR_TRY(store_upload_put(c, &p->upload, err));
    PFR_TRY(engine->complete(p->store->handle, store_columns_batch(c), &already, err));
    store_columns_clear(c);
    result->what = PFR_PUSHED_NEW;
    return already ? look(p, &already, result, err) : PFR_OK;
}

static pfr_status count_and_send(struct push *p, pfr_push_result *result, pfr_error *err) {
    PFR_TRY(load(p, err));
    set_times(p);
    return send(p, result, err);
}

static pfr_status open_columns(struct push *p, pfr_error *err) {
    for (uint32_t i = 0; i < STORE_TABLES; i++)
        PFR_TRY(store_columns_open(&p->columns[i], (enum store_table_number)i, p->memory, err));
    return PFR_OK;
}

static pfr_status run(struct push *p, pfr_push_result *result, pfr_error *err) {
    bool there;
    if (p->reader->header.format == PFR_XRAY_PROFILE)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "store", "an XRay profile has sums and no calls");
    snprintf(p->upload.kind, sizeof p->upload.kind, "%s", p->is_trace ? "calls" : "samples");
    PFR_TRY(set_labels(p, err));
    PFR_TRY(store_content(p->reader, p->upload.content, &p->upload.id, err));
    PFR_TRY(pfr_rewind(p->reader, err));
    PFR_TRY(open_columns(p, err));
    PFR_TRY(look(p, &there, result, err));
    return there ? PFR_OK : count_and_send(p, result, err);
}

static void close_push(struct push *p) {
    profile_close(p->profile);
    for (size_t i = 0; i < STORE_TABLES; i++)
        store_columns_close(&p->columns[i]);
    u64_map_free(&p->sent);
    mem_free(p->memory, p->frame_of, p->frame_of ? p->frames : 0, sizeof *p->frame_of);
    mem_free(p->memory, p->chain, p->chain_room, sizeof *p->chain);
    mem_free(p->memory, p->rows, p->rows_room, sizeof *p->rows);
}

static void fill_result(const struct push *p, pfr_push_result *result) {
    const struct store_upload *u = &p->upload;
    memcpy(result->upload, u->content, sizeof result->upload);
    memcpy(result->service, u->service, LABEL_ROOM);
    memcpy(result->version, u->version, LABEL_ROOM);
    memcpy(result->host, u->host, LABEL_ROOM);
    result->samples = u->samples;
    result->rows = u->rows;
}

pfr_status pfr_store_push(pfr_store *store, pfr_reader *reader, const pfr_push_options *options,
                          pfr_push_result *result, pfr_error *err) {
    pfr_push_options own = {.size = sizeof own};
    if (options)
        memcpy(&own, options, options->size < sizeof own ? options->size : sizeof own);
    struct push *p = mem_zeroed(&reader->memory, 1, sizeof *p);
    if (!p)
        return mem_fail(&reader->memory, err, "store");
    *result = (pfr_push_result){.what = PFR_PUSHED_NEW};
    p->store = store;
    p->reader = reader;
    p->memory = &reader->memory;
    p->options = &own;
    p->is_trace = reader->trace;
    u64_map_init(&p->sent, p->memory);
    const pfr_status st = run(p, result, err);
    fill_result(p, result);
    const bool lossy = p->upload.holes && result->what == PFR_PUSHED_NEW;
    close_push(p);
    mem_free(&reader->memory, p, 1, sizeof *p);
    return st < 0 ? st : lossy ? PFR_HOLE : PFR_OK;
}
