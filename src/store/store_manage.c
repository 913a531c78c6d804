/* SPDX-License-Identifier: Apache-2.0 */
/* Removes uploads, and checks that the uploads of a store are complete. */
#include "base/text/public_output.h"
#include "store/store_where.h"
#include "store/stored_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Removing. */

static int by_id(const void *x, const void *y) {
    const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return a < b ? -1 : a > b;
}

/* Removes the uploads for which `wanted` returns true. */
static pfr_status drop_marked(pfr_store *store, const struct store_uploads *all, const bool *wanted, uint64_t count,
                              pfr_error *err) {
    struct store_params params = {.first_day = UINT32_MAX, .nr_uploads = 0, .last = UINT64_MAX};
    uint64_t *const ids = mem_alloc(&store->memory, count, sizeof *ids);
    if (!ids)
        return mem_fail(&store->memory, err, "store");
    for (size_t i = 0; i < all->count; i++) {
        const uint32_t day = (uint32_t)(all->at[i].first / DAY_NS);
        if (!wanted[i])
            continue;
        ids[params.nr_uploads++] = all->at[i].id;
        params.first_day = day < params.first_day ? day : params.first_day;
        params.last_day = day > params.last_day ? day : params.last_day;
    }
    qsort(ids, params.nr_uploads, sizeof *ids, by_id);
    params.uploads = ids;
    pfr_status st = store->engine->drop(store->handle, &params, err);
    if (st >= 0)
        st = store->engine->collect(store->handle, err);
    mem_free(&store->memory, ids, count, sizeof *ids);
    return st;
}

static pfr_status drop_if(pfr_store *store, bool (*wants)(const void *context, const struct store_upload *u),
                          const void *context, bool pretend, uint64_t *count, pfr_error *err) {
    struct store_uploads all;
    *count = 0;
    pfr_status st = store_uploads_load(store, &store->memory, NULL, &all, err);
    bool *const wanted = st >= 0 ? mem_zeroed(&store->memory, all.count, sizeof *wanted) : NULL;
    if (st >= 0 && !wanted)
        st = mem_fail(&store->memory, err, "store");
    for (size_t i = 0; st >= 0 && i < all.count; i++)
        *count += wanted[i] = wants(context, &all.at[i]);
    if (st >= 0 && *count && !pretend)
        st = drop_marked(store, &all, wanted, *count, err);
    mem_free(&store->memory, wanted, wanted ? all.count : 0, sizeof *wanted);
    store_uploads_free(&all);
    return st;
}

static bool matches(const void *context, const struct store_upload *u) {
    const struct where *w = context;
    return where_of_row(w, u, u->first, "", "");
}

pfr_status pfr_store_drop(pfr_store *store, const char *where, bool pretend, uint64_t *count, pfr_error *err) {
    struct where w;
    PFR_TRY(where_parse(&w, where, store_now(store), err));
    if (w.all)
        return pfr_fail(err, PFR_ERR_USAGE, 0, 0, "where", "drop needs an expression, such as time < -90d");
    if (where_names(&w, WHERE_EVENT) || where_names(&w, WHERE_COMM))
        return pfr_fail(err, PFR_ERR_USAGE, 0, 0, "where", "an upload is removed as a whole: not by event or comm");
    return drop_if(store, matches, &w, pretend, count, err);
}

static bool is_old(const void *context, const struct store_upload *u) {
    const uint64_t before = *(const uint64_t *)context, ended = u->last ? u->last : u->pushed;
    return ended < before;
}

pfr_status pfr_store_retain(pfr_store *store, uint64_t age, bool pretend, uint64_t *count, pfr_error *err) {
    const uint64_t now = store_now(store), before = now > age ? now - age : 0;
    return drop_if(store, is_old, &before, pretend, count, err);
}

/* --- Checking. */

struct store_checking {
    pfr_output *out;
    pfr_store *store;
    bool bad;
};

static void say(void *context, const char *sentence) {
    struct store_checking *c = context;
    print_name(c->out, sentence, strlen(sentence));
    out_char(&c->out->out, '\n');
}

/* Checks an upload's sums by day: the number of rows, and whether the total samples and weight equal those of table
   `sample`. */
static pfr_status check_daily(struct store_checking *c, const struct store_upload *u, const char *where,
                              const struct stored_sums *wanted, pfr_error *err) {
    char text[160];
    pfr_error why;
    pfr_reader *const reader = pfr_store_select_functions(c->store, where, &why);
    if (!reader && why.status != PFR_ERR_FORMAT) {
        if (err)
            *err = why;
        return why.status;
    }
    const struct stored_sums sums = reader ? stored_sum(reader) : (struct stored_sums){0};
    pfr_close(reader);
    if (reader && sums.rows == u->sums && sums.n == wanted->n && sums.weight == wanted->weight)
        return PFR_OK;
    if (reader)
        snprintf(text, sizeof text, "upload %s: its sums by day are not those of its samples", u->content);
    else
        snprintf(text, sizeof text, "upload %s: %.100s", u->content, why.text);
    c->bad = true;
    say(c, text);
    return PFR_OK;
}

/* Checks an upload: the number of its rows, and whether all names to which the rows refer exist. */
static pfr_status check_upload(struct store_checking *c, const struct store_upload *u, pfr_error *err) {
    char where[64], text[160];
    pfr_error why;
    snprintf(where, sizeof where, "upload=%s", u->content);
    pfr_reader *const reader = pfr_store_select(c->store, where, &why);
    if (!reader && why.status != PFR_ERR_FORMAT) {
        if (err)
            *err = why;
        return why.status;
    }
    const struct stored_sums sums = reader ? stored_sum(reader) : (struct stored_sums){0};
    pfr_close(reader);
    if (reader && sums.rows == u->rows)
        return u->sums ? check_daily(c, u, where, &sums, err) : PFR_OK;
    if (!reader)
        snprintf(text, sizeof text, "upload %s: %.100s", u->content, why.text);
    else
        snprintf(text, sizeof text, "upload %s has %" PRIu64 " rows, and should have %" PRIu64, u->content, sums.rows,
                 u->rows);
    c->bad = true;
    say(c, text);
    return PFR_OK;
}

static void print_size(const struct store_checking *c, const struct store_uploads *all, uint64_t bytes) {
    char text[200];
    uint64_t samples = 0, rows = 0;
    for (size_t i = 0; i < all->count; i++) {
        samples += all->at[i].samples;
        rows += all->at[i].rows;
    }
    snprintf(text, sizeof text,
             "%s, version %u: %zu uploads, %" PRIu64 " samples in %" PRIu64 " rows, %" PRIu64 " bytes\n",
             c->store->engine->name, STORE_VERSION, all->count, samples, rows, bytes);
    out_text(&c->out->out, text);
}

pfr_status pfr_store_check(pfr_store *store, pfr_output *out, pfr_error *err) {
    struct store_checking c = {.out = out, .store = store};
    struct store_uploads all = {.count = 0};
    uint64_t bytes = 0;
    pfr_status st = store->engine->check(store->handle, &bytes, say, &c, err);
    c.bad = st == PFR_HOLE;
    if (st >= 0)
        st = store_uploads_load(store, &store->memory, NULL, &all, err);
    for (size_t i = 0; st >= 0 && i < all.count; i++)
        st = check_upload(&c, &all.at[i], err);
    if (st >= 0)
        print_size(&c, &all, bytes);
    store_uploads_free(&all);
    return st < 0 ? st : c.bad ? PFR_HOLE : PFR_OK;
}
