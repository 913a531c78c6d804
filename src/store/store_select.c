/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the rows that an expression selects. First the expression is evaluated for the uploads, because most tests are
 * usually on uploads. The engine is queried for the rows of uploads that may match, within the times that may match. If
 * an upload matches only in part, each of its rows is tested.
 *
 * If only functions are needed, not stacks, rows of `daily` are read instead of samples. Samples are still read for an
 * upload without rows of `daily`, and for an upload of which the expression selects only a part of a day. If the clock
 * frequencies of traces differ, weights are converted row by row, so samples are read for all uploads.
 */
#include "store/stored_rows.h"

#include <stdlib.h>

struct selecting {
    struct stored *stored;
    struct pfr_store *store;
    struct where where;
    bool *each; /* for each upload: whether its rows are tested one by one */
    size_t nr_each;
    uint64_t *ids;        /* ids of the uploads whose sums are read, ascending; then of those whose samples are read,
                             ascending */
    size_t nr_summed;     /* number of uploads whose sums are read */
    uint64_t part, parts; /* of the matching uploads, those at part, part + parts, ... are used; parts <= 1: all */
    bool takes_sums;      /* the rows received are of `daily` */
    /* words_of: from event << 32 | comm to a number for the pair. row_of: from number << 32 | stack to the index of a
       row; row_of_frame: from number << 32 | frame to the index of a row. */
    struct u64_map words_of, row_of, row_of_frame;
};

/* --- Uploads. */

/* Moves the uploads that match to the front. */
static pfr_status choose_uploads(struct selecting *s, pfr_error *err) {
    struct store_uploads *all = &s->stored->uploads;
    size_t kept = 0, traces = 0;
    s->nr_each = all->count;
    s->each = mem_zeroed(&s->stored->memory, all->count, sizeof *s->each);
    if (!s->each)
        return mem_fail(&s->stored->memory, err, "store");
    for (size_t i = 0; i < all->count; i++) {
        const enum where_value value = where_of_upload(&s->where, &all->at[i]);
        if (value == WHERE_NO)
            continue;
        all->at[kept] = all->at[i];
        s->each[kept] = value == WHERE_DEPENDS;
        traces += store_upload_is_trace(&all->at[kept++]);
    }
    all->count = kept;
    if (kept == 0)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "where", "no upload in the store matches");
    if (traces && traces != kept)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "where",
                        "%zu traces and %zu recordings match: add kind=calls or kind=samples", traces, kept - traces);
    s->stored->source.traced = traces > 0;
    return PFR_OK;
}

/* Keeps the uploads of s->part. */
static void keep_part(struct selecting *s) {
    struct store_uploads *all = &s->stored->uploads;
    size_t kept = 0;
    for (size_t i = s->part; s->parts > 1 && i < all->count; i += s->parts) {
        all->at[kept] = all->at[i];
        s->each[kept++] = s->each[i];
    }
    if (s->parts > 1)
        all->count = kept;
}

static int by_id(const void *x, const void *y) {
    const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return a < b ? -1 : a > b;
}

static bool has_sums(const struct selecting *s, const struct store_upload *u) {
    return s->stored->functions && !s->stored->mixed && u->sums && where_is_daily(&s->where, u);
}

static pfr_status list_uploads(struct selecting *s, struct store_params *p, pfr_error *err) {
    struct store_uploads *all = &s->stored->uploads;
    size_t others = all->count;
    s->ids = mem_alloc(&s->stored->memory, all->count, sizeof *s->ids);
    if (!s->ids)
        return mem_fail(&s->stored->memory, err, "store");
    p->first_day = UINT32_MAX;
    for (size_t i = 0; i < all->count; i++) {
        const uint32_t day = (uint32_t)(all->at[i].first / DAY_NS);
        s->ids[has_sums(s, &all->at[i]) ? s->nr_summed++ : --others] = all->at[i].id;
        p->first_day = day < p->first_day ? day : p->first_day;
        p->last_day = day > p->last_day ? day : p->last_day;
        PFR_TRY(u64_map_put(&s->stored->upload_of, all->at[i].id, i, err));
    }
    qsort(s->ids, s->nr_summed, sizeof *s->ids, by_id);
    qsort(s->ids + s->nr_summed, all->count - s->nr_summed, sizeof *s->ids, by_id);
    p->uploads = s->ids;
    p->nr_uploads = all->count;
    where_times(&s->where, &p->first, &p->last);
    return PFR_OK;
}

/* --- Rows. */

static pfr_status add_row(struct stored *s, const struct stored_row *row, pfr_error *err) {
    void *more = mem_grow(&s->memory, s->rows, s->nr_rows, &s->rows_room, 4096, sizeof *s->rows);
    if (!more)
        return mem_fail(&s->memory, err, "store");
    s->rows = more;
    s->rows[s->nr_rows++] = *row;
    return PFR_OK;
}

/* Adds up rows of all times and uploads. */
static pfr_status add_sum(struct selecting *s, const struct stored_row *row, pfr_error *err) {
    struct stored *d = s->stored;
    bool is_new;
    const uint64_t *words =
        u64_map_at(&s->words_of, (uint64_t)row->event << 32 | row->comm, u64_map_count(&s->words_of), NULL);
    struct u64_map *const rows = s->takes_sums ? &s->row_of_frame : &s->row_of;
    const uint32_t path = s->takes_sums ? row->frame : row->stack;
    const uint64_t *index = words ? u64_map_at(rows, *words << 32 | path, d->nr_rows, &is_new) : NULL;
    if (!index)
        return mem_fail(&d->memory, err, "store");
    struct stored_row *const to = is_new ? NULL : &d->rows[*index];
    if (is_new || row->n > UINT64_MAX - to->n || row->weight > UINT64_MAX - to->weight)
        return add_row(d, row, err);
    to->n += row->n;
    to->weight += row->weight;
    return PFR_OK;
}

static bool row_matches(const struct selecting *s, uint64_t upload, const struct stored_row *row) {
    const struct stored *d = s->stored;
    const char *const event = row->event < d->nr_events ? d->events[row->event].name : NULL;
    const char *const comm = row->comm && row->comm < d->nr_comms ? d->comms[row->comm].bytes : "";
    return where_of_row(&s->where, &d->uploads.at[upload], row->time, event, comm);
}

static pfr_status take_rows(void *context, const struct store_batch *b, pfr_error *err) {
    struct selecting *s = context;
    struct stored *d = s->stored;
    uint64_t upload = 0, id = 0; /* of the previous row; rows of an upload are adjacent */
    bool is_selected = false;
    for (uint32_t i = 0; i < b->rows; i++) {
        struct stored_row row = {.time = store_u64(b, 2, i), .n = store_u64(b, 6, i), .weight = store_u64(b, 7, i)};
        if (i == 0 || store_u64(b, 1, i) != id) {
            id = store_u64(b, 1, i);
            is_selected = u64_map_get(&d->upload_of, id, &upload);
        }
        if (!is_selected)
            continue;
        PFR_TRY(id_list_put(&d->event_ids, &d->memory, store_u64(b, 3, i), &row.event, err));
        PFR_TRY(id_list_put(&d->comm_ids, &d->memory, store_u64(b, 4, i), &row.comm, err));
        if (s->each[upload] && !row_matches(s, upload, &row))
            continue;
        PFR_TRY(id_list_put(s->takes_sums ? &d->frame_ids : &d->stack_ids, &d->memory, store_u64(b, 5, i),
                            s->takes_sums ? &row.frame : &row.stack, err));
        PFR_TRY(d->timeless && !d->mixed ? add_sum(s, &row, err) : add_row(d, &row, err));
        d->nr_read++;
    }
    return PFR_OK;
}

/* The tables `sample` and `daily` have the same columns, except that `daily` has a function in place of the stack. */
static pfr_status ask_rows(struct selecting *s, const struct store_params *all, bool sums, pfr_error *err) {
    struct store_params params = *all;
    params.uploads = sums ? s->ids : s->ids + s->nr_summed;
    params.nr_uploads = sums ? s->nr_summed : all->nr_uploads - s->nr_summed;
    s->takes_sums = sums;
    if (params.nr_uploads == 0)
        return PFR_OK;
    return s->store->engine->query(s->store->handle, sums ? STORE_DAILY : STORE_SAMPLES, &params, take_rows, s, err);
}

/* --- Latencies. */

static const uint64_t *own_list(struct stored *d, struct store_list list) {
    return arena_copy(&d->arena, list.at, list.count * sizeof *list.at, sizeof *list.at);
}

static pfr_status take_cost(struct stored *d, const struct store_batch *b, uint32_t i, uint32_t upload,
                            pfr_error *err) {
    const struct store_list values = store_list_at(b, 16, i), counts = store_list_at(b, 17, i);
    struct stored_cost cost = {.upload = upload,
                               .number = store_u32(b, 5, i),
                               .caller_number = store_u32(b, 6, i),
                               .n = store_u64(b, 7, i),
                               .sum = store_u64(b, 8, i),
                               .self = (int64_t)store_u64(b, 9, i),
                               .low = store_u64(b, 10, i),
                               .high = store_u64(b, 11, i),
                               .backward = store_u64(b, 12, i),
                               .deduced = store_u64(b, 13, i),
                               .open = store_u64(b, 14, i),
                               .lone = store_u64(b, 15, i),
                               .values = own_list(d, values),
                               .counts = own_list(d, counts),
                               .nr_values = (uint32_t)values.count};
    void *more = mem_grow(&d->memory, d->costs, d->nr_costs, &d->costs_room, 256, sizeof *d->costs);
    if (!more || !cost.values || !cost.counts)
        return mem_fail(&d->memory, err, "store");
    d->costs = more;
    if (values.count != counts.count)
        return pfr_fail(err, PFR_ERR_FORMAT, PFR_NO_OFFSET, 0, "store", "the store is damaged: table latency");
    PFR_TRY(id_list_put(&d->frame_ids, &d->memory, store_u64(b, 3, i), &cost.function, err));
    PFR_TRY(id_list_put(&d->frame_ids, &d->memory, store_u64(b, 4, i), &cost.caller, err));
    d->costs[d->nr_costs++] = cost;
    return PFR_OK;
}

static pfr_status take_costs(void *context, const struct store_batch *b, pfr_error *err) {
    struct selecting *s = context;
    struct stored *d = s->stored;
    uint64_t upload;
    for (uint32_t i = 0; i < b->rows; i++) {
        if (!u64_map_get(&d->upload_of, store_u64(b, 1, i), &upload))
            continue;
        if (s->each[upload] && !where_of_row(&s->where, &d->uploads.at[upload], store_u64(b, 2, i), "", ""))
            continue;
        PFR_TRY(take_cost(d, b, i, (uint32_t)upload, err));
    }
    return PFR_OK;
}

/* --- Clocks of traces. */

/* Chooses the unit of times: ticks of the traces' frequency, or ns if their frequencies differ. */
static pfr_status choose_frequency(struct stored *d, pfr_error *err) {
    const struct store_uploads *all = &d->uploads;
    bool unknown = false;
    d->frequency = all->at[0].frequency;
    for (size_t i = 0; i < all->count && d->source.traced; i++) {
        d->mixed = d->mixed || all->at[i].frequency != d->frequency;
        unknown = unknown || !all->at[i].frequency;
    }
    if (d->mixed && unknown)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "where",
                        "some traces do not know the frequency of their clocks, others do: they do not add up");
    if (d->mixed)
        d->frequency = SECOND_NS;
    return PFR_OK;
}

/* --- The steps. */

/* Orders events by name, so that the order is the same for every store. */
static int by_event(const void *x, const void *y, void *context) {
    const struct stored *d = context;
    const uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
    const struct stored_event *a = &d->events[i], *b = &d->events[k];
    const int names = strcmp(a->name, b->name), units = strcmp(a->unit, b->unit);
    const uint64_t p = d->event_ids.at[i], q = d->event_ids.at[k];
    return names ? names : units ? units : p < q ? -1 : p > q;
}

/* Renumbers the events in the order of by_event. Fills order[new number - 1] with the old number, and new_of[old
   number] with the new one. The other two arrays are scratch memory. */
static void renumber_events(struct stored *d, uint32_t *order, uint32_t *new_of, struct stored_event *events,
                            uint64_t *ids) {
    const uint32_t count = d->event_ids.count;
    for (uint32_t i = 0; i < count; i++)
        order[i] = i + 1;
    qsort_r(order, count, sizeof *order, by_event, d);
    memcpy(events, d->events, ((size_t)count + 1) * sizeof *events);
    memcpy(ids, d->event_ids.at, ((size_t)count + 1) * sizeof *ids);
    for (uint32_t i = 0; i < count; i++) {
        new_of[order[i]] = i + 1;
        d->events[i + 1] = events[order[i]];
        d->event_ids.at[i + 1] = ids[order[i]];
    }
    for (size_t i = 0; i < d->nr_rows; i++)
        d->rows[i].event = new_of[d->rows[i].event];
}

static pfr_status sort_events(struct stored *d, pfr_error *err) {
    const size_t count = (size_t)d->event_ids.count + 1;
    uint32_t *order = mem_zeroed(&d->memory, count, sizeof *order),
             *new_of = mem_zeroed(&d->memory, count, sizeof *new_of);
    struct stored_event *events = mem_zeroed(&d->memory, count, sizeof *events);
    uint64_t *ids = mem_zeroed(&d->memory, count, sizeof *ids);
    const bool there = order && new_of && events && ids;
    if (there)
        renumber_events(d, order, new_of, events, ids);
    mem_free(&d->memory, order, order ? count : 0, sizeof *order);
    mem_free(&d->memory, new_of, new_of ? count : 0, sizeof *new_of);
    mem_free(&d->memory, events, events ? count : 0, sizeof *events);
    mem_free(&d->memory, ids, ids ? count : 0, sizeof *ids);
    return there ? PFR_OK : mem_fail(&d->memory, err, "store");
}

/* Removes events that no selected row has: events of rows that were left out, and of other uploads. */
static pfr_status drop_unused(struct stored *d, pfr_error *err) {
    struct id_list events;
    PFR_TRY(id_list_open(&events, &d->memory, err));
    pfr_status st = PFR_OK;
    for (size_t i = 0; i < d->nr_rows && st >= 0; i++)
        st = id_list_put(&events, &d->memory, d->event_ids.at[d->rows[i].event], &d->rows[i].event, err);
    id_list_close(&d->event_ids, &d->memory);
    d->event_ids = events;
    return st;
}

static pfr_status load(struct selecting *s, const char *where, pfr_error *err) {
    struct stored *d = s->stored;
    const struct store_engine *engine = s->store->engine;
    struct store_params params = {0};
    PFR_TRY(where_parse(&s->where, where, store_now(s->store), err));
    PFR_TRY(store_uploads_load(s->store, &d->memory, &s->where, &d->uploads, err));
    PFR_TRY(choose_uploads(s, err));
    keep_part(s);
    PFR_TRY(choose_frequency(d, err));
    PFR_TRY(list_uploads(s, &params, err));
    d->no_costs = where_names(&s->where, WHERE_EVENT) || where_names(&s->where, WHERE_COMM);
    if (d->no_costs)
        PFR_TRY(stored_load_words(d, s->store, err));
    PFR_TRY(ask_rows(s, &params, true, err));
    PFR_TRY(ask_rows(s, &params, false, err));
    if (s->parts && d->nr_rows == 0)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "store.empty", "no sample of these uploads matches");
    if (d->source.traced && !d->no_costs && !d->timeless)
        PFR_TRY(engine->query(s->store->handle, STORE_LATENCIES, &params, take_costs, s, err));
    PFR_TRY(drop_unused(d, err));
    PFR_TRY(stored_load_names(d, s->store, err));
    return sort_events(d, err);
}

/* Loads all tables from one snapshot, so that a simultaneous push, drop or retain cannot make them inconsistent. */
static pfr_status load_held(struct selecting *s, const char *where, pfr_error *err) {
    const struct store_engine *engine = s->store->engine;
    if (!engine->hold)
        return load(s, where, err);
    PFR_TRY(engine->hold(s->store->handle, true, err));
    const pfr_status st = load(s, where, err);
    const pfr_status end = engine->hold(s->store->handle, false, st < 0 ? NULL : err);
    return st < 0 ? st : end;
}

static pfr_status open_lists(struct stored *d, pfr_error *err) {
    struct id_list *const lists[] = {&d->event_ids, &d->comm_ids, &d->stack_ids, &d->frame_ids, &d->object_ids};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        PFR_TRY(id_list_open(lists[i], &d->memory, err));
    return PFR_OK;
}

static struct stored *make_stored(struct pfr_store *store, pfr_error *err) {
    struct memory memory;
    memory_init(&memory, &store->memory.alloc, store->limits.memory);
    struct stored *d = mem_zeroed(&memory, 1, sizeof *d);
    if (!d) {
        mem_fail(&memory, err, "store");
        return NULL;
    }
    d->memory = memory;
    d->source = (struct stored_source){
        .profile = stored_profile, .model = stored_model, .costs = stored_costs, .close = stored_close};
    arena_init(&d->arena, &d->memory);
    u64_map_init(&d->upload_of, &d->memory);
    return d;
}

static void free_selecting(struct selecting *s) {
    struct memory *memory = &s->stored->memory;
    u64_map_free(&s->words_of);
    u64_map_free(&s->row_of);
    u64_map_free(&s->row_of_frame);
    mem_free(memory, s->each, s->each ? s->nr_each : 0, sizeof *s->each);
    mem_free(memory, s->ids, s->ids ? s->stored->uploads.count : 0, sizeof *s->ids);
}

static pfr_reader *select_rows(struct selecting *s, struct stored *d, const char *where, pfr_error *err) {
    if (!d)
        return NULL;
    s->stored = d;
    u64_map_init(&s->words_of, &d->memory);
    u64_map_init(&s->row_of, &d->memory);
    u64_map_init(&s->row_of_frame, &d->memory);
    pfr_status st = open_lists(d, err);
    if (st >= 0)
        st = load_held(s, where, err);
    free_selecting(s);
    if (st >= 0)
        return stored_reader_open(d, &s->store->limits, err);
    stored_close(&d->source);
    return NULL;
}

pfr_reader *pfr_store_select(pfr_store *store, const char *where, pfr_error *err) {
    struct selecting s = {.store = store};
    return select_rows(&s, make_stored(store, err), where, err);
}

pfr_reader *pfr_store_select_functions(pfr_store *store, const char *where, pfr_error *err) {
    struct selecting s = {.store = store};
    struct stored *const d = make_stored(store, err);
    if (d)
        d->functions = d->timeless = true;
    return select_rows(&s, d, where, err);
}

pfr_reader *pfr_store_select_stacks(pfr_store *store, const char *where, pfr_error *err) {
    struct selecting s = {.store = store};
    struct stored *const d = make_stored(store, err);
    if (d)
        d->timeless = true;
    return select_rows(&s, d, where, err);
}

pfr_reader *pfr_store_select_part(pfr_store *store, const char *where, uint64_t part, uint64_t parts, pfr_error *err) {
    struct selecting s = {.store = store, .part = part, .parts = parts ? parts : 1};
    return select_rows(&s, make_stored(store, err), where, err);
}

pfr_status pfr_store_count(pfr_store *store, const char *where, uint64_t *count, pfr_error *err) {
    struct selecting s = {.store = store, .stored = make_stored(store, err)};
    *count = 0;
    if (!s.stored)
        return PFR_ERR_MEMORY;
    pfr_status st = where_parse(&s.where, where, store_now(store), err);
    if (st >= 0)
        st = store_uploads_load(store, &s.stored->memory, &s.where, &s.stored->uploads, err);
    if (st >= 0)
        st = choose_uploads(&s, err);
    *count = st >= 0 ? s.stored->uploads.count : 0;
    free_selecting(&s);
    stored_close(&s.stored->source);
    return st;
}
