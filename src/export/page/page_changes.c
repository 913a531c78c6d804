/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of a page: see page_changes.h. */
#include "export/page/page_changes.h"

#include "base/memory/fail.h"
#include "base/tables/hashmap.h"
#include "model/diff/diff_lacking.h"

#include <math.h>
#include <perfray/samples.h>
#include <string.h>

#define MILLIONTHS 1e6
#define LARGEST 1e15 /* a column holds twice this number: see page_columns.c */

struct change_reading {
    struct page_changes *to;
    const struct page_tables *tables;
    struct intern_table names; /* "object\0function" of each function that has a row in the page */
    uint32_t *func_of;         /* by number of the name */
};

void page_changes_free(struct page_changes *changes) {
    if (changes->memory)
        mem_free(changes->memory, changes->at, changes->room, sizeof *changes->at);
}

static int64_t millionths(double value) {
    const double scaled = value * MILLIONTHS;
    return isnan(scaled) ? 0 : (int64_t)llround(fmax(-LARGEST, fmin(LARGEST, scaled)));
}

static struct page_change_value value_of(const pfr_diff_value *value) {
    const bool has_interval = isfinite(value->low) && isfinite(value->high);
    return (struct page_change_value){.delta = millionths(value->delta),
                                      .low = has_interval ? millionths(value->low) : 0,
                                      .high = has_interval ? millionths(value->high) : 0,
                                      .verdict = (uint8_t)value->verdict,
                                      .has_interval = has_interval};
}

/* --- Functions by name, as in the rows of a comparison. */

static pfr_status put_name(struct change_reading *r, const char *object, const char *symbol, uint32_t *id,
                           pfr_error *err) {
    struct memory *const memory = r->to->memory;
    const size_t part = strlen(object) + 1, length = part + strlen(symbol);
    char *const key = mem_alloc(memory, length, 1);
    if (!key)
        return mem_fail(memory, err, "changes");
    memcpy(key, object, part);
    memcpy(key + part, symbol, length - part);
    const pfr_status st = intern_put(&r->names, key, length, id, err);
    mem_free(memory, key, length, 1);
    return st;
}

static pfr_status name_funcs(struct change_reading *r, pfr_error *err) {
    const pfr_model *const model = r->tables->model;
    for (uint32_t id = 1; id <= r->tables->nr_symbols; id++) {
        const pfr_model_symbol *s = pfr_model_get_symbol(model, id);
        uint32_t name;
        const char *const object = pfr_model_get_object(model, s->object)->name;
        PFR_TRY(put_name(r, object, s->name ? s->name : "[unknown]", &name, err));
        r->func_of[name] = r->tables->func_of_symbol[id];
    }
    return PFR_OK;
}

/* --- Rows. */

static pfr_status add(struct page_changes *c, const struct page_change *change, pfr_error *err) {
    void *grown = mem_grow(c->memory, c->at, c->count, &c->room, 256, sizeof *c->at);
    if (!grown)
        return mem_fail(c->memory, err, "changes");
    c->at = grown;
    c->at[c->count++] = *change;
    return PFR_OK;
}

static pfr_status add_rows(struct change_reading *r, const pfr_diff *diff, uint32_t event, pfr_error *err) {
    const uint32_t known = r->names.count;
    for (uint32_t i = 0; i < pfr_diff_count(diff); i++) {
        const pfr_diff_row *row = pfr_diff_get_row(diff, i);
        struct page_change change = {event, r->tables->nr_funcs, {value_of(&row->self), value_of(&row->total)}};
        uint32_t name = 0;
        if (i)
            PFR_TRY(put_name(r, row->object, row->symbol, &name, err));
        if (i && name >= known)
            continue; /* a function that is in no stack of the page */
        if (i)
            change.func = r->func_of[name];
        PFR_TRY(add(r->to, &change, err));
    }
    return PFR_OK;
}

static bool all_have_event(const pfr_diff_run *runs, uint32_t count, const char *name) {
    for (uint32_t i = 0; i < count; i++)
        if (!diff_has_event(runs[i].model, name))
            return false;
    return true;
}

static pfr_status compare_event(struct change_reading *r, const struct page_sides *s, const char *name, uint32_t event,
                                pfr_error *err) {
    /* One job, so that only one thread calls `alloc`. */
    const pfr_diff_options how = {.size = sizeof how, .event = name, .jobs = 1, .alloc = &r->to->memory->alloc};
    pfr_diff *const diff = pfr_diff_open(s->base, s->base_count, s->changed, s->changed_count, &how, err);
    if (!diff)
        return err->status;
    const pfr_status st = add_rows(r, diff, event, err);
    pfr_diff_close(diff);
    return st;
}

static bool has_samples(const struct page_sides *s) {
    for (uint32_t i = 0; i < s->base_count; i++)
        if (!pfr_model_sample_count(s->base[i].model))
            return false;
    return true;
}

/* Compares the events that all recordings have under the same name. If some recording lacks the
   first event of `newer`, compares the first events of all recordings instead, provided that all
   recordings of the baseline have samples. */
static pfr_status compare(struct change_reading *r, const pfr_model *newer, const struct page_sides *s,
                          pfr_error *err) {
    bool is_first = has_samples(s);
    for (uint32_t id = 1; id <= pfr_model_count(newer, PFR_TABLE_EVENT); id++) {
        const char *const name = pfr_model_get_event(newer, id)->name;
        if (!diff_has_event(newer, name))
            continue;
        if (all_have_event(s->base, s->base_count, name) && all_have_event(s->changed, s->changed_count, name))
            PFR_TRY(compare_event(r, s, name, id - 1, err));
        else if (is_first)
            PFR_TRY(compare_event(r, s, NULL, id - 1, err));
        is_first = false;
    }
    return PFR_OK;
}

pfr_status page_changes_read(struct page_changes *changes, const struct page_tables *tables, const pfr_model *newer,
                             const struct page_sides *sides, struct memory *memory, pfr_error *err) {
    struct change_reading r = {.to = changes, .tables = tables};
    *changes = (struct page_changes){.memory = memory};
    intern_init(&r.names, memory);
    r.func_of = mem_zeroed(memory, (size_t)tables->nr_symbols + 1, sizeof *r.func_of);
    pfr_status st = r.func_of ? name_funcs(&r, err) : mem_fail(memory, err, "changes");
    if (st >= 0)
        st = compare(&r, newer, sides, err);
    mem_free(memory, r.func_of, (size_t)tables->nr_symbols + 1, sizeof *r.func_of);
    intern_free(&r.names);
    return st;
}
