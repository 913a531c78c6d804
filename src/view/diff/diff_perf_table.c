/* SPDX-License-Identifier: Apache-2.0 */
#include "view/diff/diff_perf.h"

#include "base/text/escape.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- Option words. */

static pfr_status read_compute(struct perf_table *t, const char *word, pfr_error *err) {
    static const char *const names[] = {"delta-abs", "delta", "ratio"};
    int end = 0;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(word, names[i]) == 0) {
            t->compute = (enum perf_compute)i;
            return PFR_OK;
        }
    t->compute = PERF_WDIFF;
    if (sscanf(word, "wdiff:%" SCNd64 ",%" SCNd64 "%n", &t->weights[0], &t->weights[1], &end) == 2 && !word[end])
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "compute",
                    "-c %s: HOW must be delta-abs, delta, ratio or wdiff:WEIGHT,WEIGHT", word);
}

static pfr_status read_key(struct perf_table *t, const char *word, size_t length, pfr_error *err) {
    static const struct {
        const char *word;
        enum perf_key key;
    } known[] = {
        {"comm", PERF_COMM}, {"dso", PERF_DSO}, {"symbol", PERF_SYMBOL}, {"sym", PERF_SYMBOL}, {"pid", PERF_PID}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].word) == length && memcmp(word, known[i].word, length) == 0 &&
            t->nr_keys < PERF_KEYS_MOST) {
            t->keys[t->nr_keys++] = known[i].key;
            return PFR_OK;
        }
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "sort",
                    "-s %.*s: keys are comm, dso, symbol and pid, each once", (int)length, word);
}

static pfr_status read_sort(struct perf_table *t, const char *words, pfr_error *err) {
    for (const char *at = words;; at++) {
        const size_t length = strcspn(at, ",");
        PFR_TRY(read_key(t, at, length, err));
        at += length;
        if (!*at)
            return PFR_OK;
    }
}

/* --- Entries. */

#define KEY_ROOM 65536u

/* The ids of the model that determine the keys of a sample. */
struct perf_place {
    uint32_t symbol, comm, thread;
};

/* Writes the id and the last name of a thread like perf: "   1234:name". */
static const char *thread_text(const pfr_model *m, uint32_t id, char to[KEY_ROOM]) {
    const pfr_model_thread *thread = pfr_model_get_thread(m, id);
    const char *comm = thread && thread->comm ? pfr_model_get_comm(m, thread->comm) : "";
    snprintf(to, KEY_ROOM, "%7" PRId32 ":%s", thread ? (int32_t)thread->tid : -1, comm);
    return to;
}

static const char *key_text(const struct perf_table *t, const pfr_model *m, unsigned k, const struct perf_place *of,
                            char room[KEY_ROOM]) {
    const pfr_model_symbol *s = pfr_model_get_symbol(m, of->symbol);
    if (t->keys[k] == PERF_COMM)
        return of->comm ? pfr_model_get_comm(m, of->comm) : "";
    if (t->keys[k] == PERF_PID)
        return thread_text(m, of->thread, room);
    if (t->keys[k] == PERF_SYMBOL)
        return s && s->name ? s->name : "";
    return s ? pfr_model_get_object(m, s->object)->name : "[unknown]";
}

/* Finds an entry by the texts of its keys, each followed by a NUL. */
static pfr_status find_entry(struct perf_table *t, const pfr_model *m, const struct perf_place *of, uint32_t *entry,
                             pfr_error *err) {
    char key[PERF_KEYS_MOST * KEY_ROOM], room[KEY_ROOM];
    size_t length = 0;
    for (unsigned k = 0; k < t->nr_keys; k++) {
        const char *text = key_text(t, m, k, of, room);
        const size_t part = strnlen(text, KEY_ROOM - 1);
        memcpy(key + length, text, part);
        key[length + part] = '\0';
        length += part + 1;
    }
    PFR_TRY(intern_put(&t->texts, key, length, entry, err));
    if (*entry < t->count)
        return PFR_OK;
    struct perf_entry *grown = mem_grow(t->memory, t->entries, t->count, &t->room, 256, sizeof *grown);
    if (!grown)
        return mem_fail(t->memory, err, "entries");
    t->entries = grown;
    struct perf_entry *e = &t->entries[t->count++];
    *e = (struct perf_entry){.address = UINT64_MAX, .level = '?'};
    const char *at = intern_chars(&t->texts, *entry);
    for (unsigned k = 0; k < t->nr_keys; k++, at += strlen(at) + 1)
        e->texts[k] = at;
    return PFR_OK;
}

static char level_of(uint8_t mode) {
    static const char levels[] = "?k.Hgu";
    return mode < sizeof levels - 1 ? levels[mode] : '?';
}

static void add_to(struct perf_entry *e, const pfr_model *m, uint32_t symbol, uint8_t mode, uint64_t weight,
                   unsigned side) {
    const pfr_model_symbol *s = pfr_model_get_symbol(m, symbol);
    /* If both sides have the entry, the table shows the base's address. */
    const bool names_it = side == DIFF_BASE || !e->has[DIFF_BASE];
    if (!e->has[0] && !e->has[1])
        e->level = level_of(mode);
    e->is_unnamed |= !s || !s->name;
    if (s && names_it && s->address < e->address)
        e->address = s->address;
    e->has[side] = true;
    e->period[side] += weight;
}

static bool has_key(const struct perf_table *t, enum perf_key key) {
    for (unsigned k = 0; k < t->nr_keys; k++)
        if (t->keys[k] == key)
            return true;
    return false;
}

/* Finds the entry of a sample. All samples of one function and one thread name (or, with the key pid, one thread)
   belong to the same entry, so this entry is looked up only once. If the keys include thread and thread name, each
   sample is looked up, because a thread may have had several names. */
static pfr_status find_place(struct perf_table *t, const pfr_model *m, const struct perf_place *of,
                             struct u64_map *known, uint32_t *entry, pfr_error *err) {
    const bool by_thread = has_key(t, PERF_PID);
    bool is_new;
    if (by_thread && has_key(t, PERF_COMM))
        return find_entry(t, m, of, entry, err);
    uint64_t *place = u64_map_at(known, (uint64_t)of->symbol << 32 | (by_thread ? of->thread : of->comm), 0, &is_new);
    if (!place)
        return mem_fail(t->memory, err, "entries");
    *entry = (uint32_t)*place;
    if (is_new) {
        PFR_TRY(find_entry(t, m, of, entry, err));
        *place = *entry;
    }
    return PFR_OK;
}

static pfr_status add_samples(struct perf_table *t, const struct diff_series *s, unsigned side, struct u64_map *known,
                              pfr_error *err) {
    const pfr_samples_options options = {.size = sizeof options, .event = s->event};
    const pfr_stack *stacks = pfr_model_stacks(s->run.model);
    const pfr_sample_batch *b;
    pfr_samples *cursor = pfr_samples_open(s->run.model, &options, err);
    pfr_status st = cursor ? PFR_OK : err->status;
    while (st == PFR_OK && (st = pfr_samples_next(cursor, &b, err)) == PFR_OK)
        for (uint32_t i = 0; i < b->count && st == PFR_OK; i++) {
            const struct perf_place of = {stacks[b->stack[i]].symbol, b->comm[i], b->thread[i]};
            uint32_t entry = 0;
            st = find_place(t, s->run.model, &of, known, &entry, err);
            if (st < 0)
                break;
            add_to(&t->entries[entry], s->run.model, of.symbol, b->mode[i], b->weight[i], side);
            t->total[side] += b->weight[i];
        }
    pfr_samples_close(cursor);
    return st < 0 ? st : PFR_OK;
}

static pfr_status add_side(struct perf_table *t, const struct diff_series *s, unsigned side, pfr_error *err) {
    struct u64_map known;
    u64_map_init(&known, t->memory);
    const pfr_status st = add_samples(t, s, side, &known, err);
    u64_map_free(&known);
    return st;
}

/* --- The computed column, and the order. */

static void compute(struct perf_table *t) {
    for (size_t i = 0; i < t->count; i++) {
        struct perf_entry *e = &t->entries[i];
        const double base = (double)e->period[0], changed = (double)e->period[1];
        if (t->compute == PERF_RATIO)
            e->computed = base > 0 ? changed / base : 0;
        else if (t->compute == PERF_WDIFF)
            e->computed = (double)((int64_t)e->period[1] * t->weights[1] - (int64_t)e->period[0] * t->weights[0]);
        else
            e->computed = (t->total[1] ? 100.0 * changed / (double)t->total[1] : 0) -
                          (t->total[0] ? 100.0 * base / (double)t->total[0] : 0);
    }
}

static int larger_first(double a, double b) {
    return a > b ? -1 : a < b;
}

/* Entries that only the base has come last. If the computation needs a baseline, entries without a baseline come just
   before them. */
static int compare_computed(const struct perf_table *t, const struct perf_entry *a, const struct perf_entry *b) {
    if (!a->has[1] || !b->has[1])
        return a->has[1] == b->has[1] ? 0 : a->has[1] ? -1 : 1;
    const bool needs_base = t->compute == PERF_RATIO || t->compute == PERF_WDIFF;
    if (needs_base && (!a->has[0] || !b->has[0]))
        return a->has[0] == b->has[0] ? 0 : a->has[0] ? -1 : 1;
    if (t->compute == PERF_DELTA_ABS)
        return larger_first(fabs(a->computed), fabs(b->computed));
    return larger_first(a->computed, b->computed);
}

/* Unnamed addresses come after names. */
static int compare_texts(const char *a, const char *b) {
    return *a && *b ? strcmp(a, b) : (*b != 0) - (*a != 0);
}

static int compare_entries(const void *one, const void *other, void *context) {
    const struct perf_table *t = context;
    const struct perf_entry *a = one, *b = other;
    int order = t->by_baseline ? 0 : compare_computed(t, a, b);
    if (!order)
        order = a->period[0] > b->period[0] ? -1 : a->period[0] < b->period[0];
    if (!order && t->by_baseline)
        order = compare_computed(t, a, b);
    if (!order && !a->has[0] && !b->has[0])
        order = a->period[1] > b->period[1] ? -1 : a->period[1] < b->period[1];
    for (unsigned k = 0; k < t->nr_keys && !order; k++)
        order = compare_texts(a->texts[k], b->texts[k]);
    return order;
}

/* --- Widths. */

static const char *const titles[] = {"Command", "Shared Object", "Symbol", "    Pid:Command"};

#define ADDRESS_DIGITS 16u

static unsigned text_columns(const struct perf_table *t, const struct perf_entry *e, unsigned k) {
    const size_t length = strlen(e->texts[k]);
    return (unsigned)(t->keys[k] != PERF_SYMBOL ? length : 4 + (length ? length : ADDRESS_DIGITS + 2));
}

/* If an object has unnamed addresses, perf makes the column of objects at least as wide as an address. */
static unsigned least_columns(const struct perf_table *t, unsigned k) {
    return t->keys[k] == PERF_DSO && t->has_unnamed && !t->separator ? ADDRESS_DIGITS : 0;
}

static void find_widths(struct perf_table *t) {
    for (unsigned k = 0; k < t->nr_keys; k++) {
        t->widths[k] = (unsigned)strlen(titles[t->keys[k]]);
        for (size_t i = 0; i < t->count; i++) {
            const unsigned width = text_columns(t, &t->entries[i], k);
            t->widths[k] = width > t->widths[k] ? width : t->widths[k];
        }
        t->widths[k] = least_columns(t, k) > t->widths[k] ? least_columns(t, k) : t->widths[k];
    }
}

/* --- The whole table. */

/* -b: keeps only entries that both files have. The baseline is then a share of the kept entries, but deltas are still
   relative to the whole. */
static void keep_paired(struct perf_table *t) {
    size_t kept = 0;
    t->total[DIFF_BASE] = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (!t->entries[i].has[DIFF_BASE] || !t->entries[i].has[DIFF_NEW])
            continue;
        t->entries[kept++] = t->entries[i];
        t->total[DIFF_BASE] += t->entries[i].period[DIFF_BASE];
    }
    t->count = kept;
}

static pfr_status fill(struct perf_table *t, const struct diff_print *print, const uint32_t events[2], pfr_error *err) {
    const pfr_diff_print_options *o = &print->o;
    PFR_TRY(read_compute(t, o->compute ? o->compute : "delta-abs", err));
    PFR_TRY(read_sort(t, o->sort ? o->sort : "dso,symbol", err));
    for (unsigned side = 0; side < 2; side++) {
        struct diff_series series = {.run = print->d->sides[side].runs[0].run, .event = events[side]};
        if (events[side])
            PFR_TRY(add_side(t, &series, side, err));
    }
    compute(t);
    if (o->baseline_only)
        keep_paired(t);
    for (size_t i = 0; i < t->count; i++)
        t->has_unnamed |= t->entries[i].is_unnamed;
    if (t->count)
        qsort_r(t->entries, t->count, sizeof *t->entries, compare_entries, t);
    find_widths(t);
    return PFR_OK;
}

pfr_status perf_table_make(struct perf_table *t, const struct diff_print *print, const uint32_t events[2],
                           pfr_error *err) {
    *t = (struct perf_table){
        .memory = print->memory, .separator = print->o.separator, .by_baseline = print->o.by_baseline};
    intern_init(&t->texts, t->memory);
    return fill(t, print, events, err);
}

void perf_table_free(struct perf_table *t) {
    intern_free(&t->texts);
    mem_free(t->memory, t->entries, t->room, sizeof *t->entries);
}
