/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the public rows: computes the values of each name, corrects the verdicts for the number of rows tested, and
   sorts the rows. */
#include "model/diff/diff_values.h"
#include "base/threads/thread_pool.h"
#include "model/diff/diff_estimate.h"

#include <math.h>
#include <stdlib.h>

static uint64_t samples_of(const struct diff_side *side, uint32_t row, enum diff_part part) {
    uint64_t samples = 0;
    for (uint32_t i = 0; i < side->count; i++)
        samples += side->runs[i].sums[row].samples[part];
    return samples;
}

struct correction {
    double *p, *q;
    struct ranked *order;
    uint64_t *samples[2]; /* by side */
    double least;         /* the smallest change that gets a verdict */
};

static double least_change(const pfr_diff *d) {
    const pfr_diff_value *total = &d->rows[0].self;
    const double whole = d->options.per == PFR_DIFF_PER_TOTAL ? 100 : fmax(total->base, total->changed);
    return whole * d->options.least_change / 100;
}

static pfr_diff_verdict verdict_of(const pfr_diff_value *v, const struct correction *c, uint32_t i) {
    if (v->q > DIFF_LEVEL || fabs(v->delta) < c->least)
        return PFR_DIFF_NOISE;
    if (!c->samples[0][i])
        return PFR_DIFF_NEW;
    if (!c->samples[1][i])
        return PFR_DIFF_GONE;
    return v->delta > 0 ? PFR_DIFF_SLOWER : PFR_DIFF_FASTER;
}

/* rows[i] must be the row of name i. */
static void correct(pfr_diff *d, pfr_diff_row *rows, enum diff_part part, struct correction *c) {
    for (uint32_t i = 0; i < d->nr_names; i++) {
        const pfr_diff_value *v = part == DIFF_SELF ? &rows[i].self : &rows[i].total;
        c->samples[0][i] = samples_of(&d->sides[0], i, part);
        c->samples[1][i] = samples_of(&d->sides[1], i, part);
        c->p[i] = c->samples[0][i] + c->samples[1][i] < DIFF_TESTED_FROM ? 2 : v->p;
    }
    benjamini_hochberg(c->p, c->q, c->order, d->nr_names);
    for (uint32_t i = 0; i < d->nr_names; i++) {
        pfr_diff_value *v = part == DIFF_SELF ? &rows[i].self : &rows[i].total;
        v->q = c->q[i];
        v->verdict = verdict_of(v, c, i);
    }
}

static pfr_status correct_all(pfr_diff *d, pfr_diff_row *rows, pfr_error *err) {
    struct memory *memory = &d->memory;
    const uint32_t n = d->nr_names;
    struct correction c = {
        .least = least_change(d),
        .p = mem_alloc(memory, n, sizeof *c.p),
        .q = mem_alloc(memory, n, sizeof *c.q),
        .order = mem_alloc(memory, n, sizeof *c.order),
        .samples = {mem_alloc(memory, n, sizeof **c.samples), mem_alloc(memory, n, sizeof **c.samples)}};
    const bool fits = c.p && c.q && c.order && c.samples[0] && c.samples[1];
    if (fits) {
        correct(d, rows, DIFF_SELF, &c);
        correct(d, rows, DIFF_TOTAL, &c);
    }
    mem_free(memory, c.p, n, sizeof *c.p);
    mem_free(memory, c.q, n, sizeof *c.q);
    mem_free(memory, c.order, n, sizeof *c.order);
    mem_free(memory, c.samples[0], n, sizeof **c.samples);
    mem_free(memory, c.samples[1], n, sizeof **c.samples);
    return fits ? PFR_OK : mem_fail(memory, err, "rows");
}

/* --- The typical change: if one function takes longer, the shares of all others fall by the same factor. */

#define TYPICAL_SAMPLES 30u /* a row with fewer samples on a side is ignored */
#define TYPICAL_ROWS 3u

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of new / base over rows that both sides have. */
static pfr_status find_typical(pfr_diff *d, const pfr_diff_row *rows, pfr_error *err) {
    double *ratios = mem_alloc(&d->memory, d->nr_names, sizeof *ratios);
    uint32_t count = 0;
    if (!ratios)
        return mem_fail(&d->memory, err, "rows");
    for (uint32_t i = 0; i < d->nr_names; i++)
        if (rows[i].base_samples >= TYPICAL_SAMPLES && rows[i].new_samples >= TYPICAL_SAMPLES && rows[i].self.base > 0)
            ratios[count++] = rows[i].self.changed / rows[i].self.base;
    if (count)
        qsort(ratios, count, sizeof *ratios, ascending);
    const double middle = count ? (ratios[count / 2] + ratios[(count - 1) / 2]) / 2 : 1;
    d->typical = d->options.per == PFR_DIFF_PER_TOTAL && count >= TYPICAL_ROWS ? middle : 1;
    mem_free(&d->memory, ratios, d->nr_names, sizeof *ratios);
    return PFR_OK;
}

/* The size of a change after the typical change is removed. */
static double own_change(const pfr_diff *d, const pfr_diff_value *v) {
    return fabs(v->changed - v->base * d->typical);
}

bool diff_row_follows(const pfr_diff *d, const pfr_diff_row *row) {
    return d->typical != 1 && own_change(d, &row->self) <= (row->self.high - row->self.low) / 2;
}

/* --- Order of rows: first rows with a verdict whose change is not the typical one, then other rows with a verdict,
   then noise; within each group by size of the change, then by weight and name. */

struct placed {
    const pfr_diff_row *row;
    uint32_t name;
    unsigned group;
    double size;
};

static struct placed place(const pfr_diff *d, const pfr_diff_row *row, uint32_t name) {
    const bool is_quiet = row->self.verdict == PFR_DIFF_NOISE;
    return (struct placed){.row = row,
                           .name = name,
                           .group = is_quiet ? 2 : diff_row_follows(d, row),
                           .size = is_quiet ? fabs(row->self.delta) : own_change(d, &row->self)};
}

static int compare_sizes(double a, double b) {
    return a > b ? -1 : a < b;
}

static int in_order(const void *one, const void *other) {
    const struct placed *a = one, *b = other;
    if (a->group != b->group)
        return a->group > b->group ? 1 : -1;
    int order = compare_sizes(a->size, b->size);
    if (!order)
        order = compare_sizes(fabs(a->row->total.delta), fabs(b->row->total.delta));
    if (!order)
        order = compare_sizes(a->row->self.changed, b->row->self.changed);
    if (!order)
        order = strcmp(a->row->object, b->row->object);
    return order ? order : strcmp(a->row->symbol, b->row->symbol);
}

static bool is_empty(const pfr_diff *d, uint32_t name) {
    return samples_of(&d->sides[0], name, DIFF_TOTAL) + samples_of(&d->sides[1], name, DIFF_TOTAL) == 0 &&
           samples_of(&d->sides[0], name, DIFF_SELF) + samples_of(&d->sides[1], name, DIFF_SELF) == 0;
}

static pfr_status put_in_order(pfr_diff *d, const pfr_diff_row *rows, pfr_error *err) {
    struct placed *places = mem_alloc(&d->memory, d->nr_names, sizeof *places);
    if (!places)
        return mem_fail(&d->memory, err, "rows");
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->nr_names; i++)
        if (!is_empty(d, i))
            places[count++] = place(d, &rows[i], i);
    if (count)
        qsort(places, count, sizeof *places, in_order);
    for (uint32_t i = 0; i < count; i++) {
        d->rows[i + 1] = *places[i].row;
        d->name_of[i + 1] = places[i].name;
    }
    d->nr_rows = count + 1;
    mem_free(&d->memory, places, d->nr_names, sizeof *places);
    return PFR_OK;
}

/* --- Values. */

/* Whether the values with and without callees are equal, as for functions that call no others. */
static bool is_leaf(const pfr_diff *d, uint32_t name) {
    for (unsigned side = 0; side < 2; side++)
        for (uint32_t i = 0; i < d->sides[side].count; i++) {
            const struct diff_sums *sums = &d->sides[side].runs[i].sums[name];
            if (sums->samples[DIFF_SELF] != sums->samples[DIFF_TOTAL] ||
                sums->weight[DIFF_SELF] != sums->weight[DIFF_TOTAL])
                return false;
        }
    return true;
}

static void measure_row(pfr_diff *d, uint32_t name, pfr_diff_row *row, struct diff_scratch *scratch) {
    struct diff_subject subject = {.rows = &name, .count = 1, .part = DIFF_SELF, .per = d->options.per};
    *row = (pfr_diff_row){.symbol = d->keys[name].symbol, .object = d->keys[name].object};
    row->base_samples = samples_of(&d->sides[0], name, DIFF_SELF);
    row->new_samples = samples_of(&d->sides[1], name, DIFF_SELF);
    row->self = diff_measure(d, &subject, scratch);
    subject.part = DIFF_TOTAL;
    row->total = is_leaf(d, name) ? row->self : diff_measure(d, &subject, scratch);
}

/*
 * A sum depends on the length of the recording and on the CPU time that the program got. Both differ between recordings
 * but hardly vary within one. (Measured on a busy machine: sums over windows of 20 s differ by 13 %, those over windows
 * of 1 s by only 18 %.) The interval from within one recording therefore says nothing about another run, and there is
 * no verdict.
 */
bool diff_total_is_judged(const pfr_diff *d) {
    const bool is_amount = d->options.per <= PFR_DIFF_PER_SECOND;
    return !is_amount || (d->sides[0].count > 1 && d->sides[1].count > 1);
}

static void measure_total(pfr_diff *d, struct diff_scratch *scratch) {
    const pfr_diff_per per = d->options.per == PFR_DIFF_PER_TOTAL ? PFR_DIFF_PER_RUN : d->options.per;
    const struct diff_subject subject = {.part = DIFF_SELF, .per = per};
    pfr_diff_row *row = &d->rows[0];
    *row = (pfr_diff_row){.symbol = "[total]", .object = ""};
    for (unsigned side = 0; side < 2; side++)
        for (uint32_t i = 0; i < d->sides[side].count; i++)
            *(side ? &row->new_samples : &row->base_samples) += d->sides[side].runs[i].samples;
    row->self = diff_measure(d, &subject, scratch);
    if (!diff_total_is_judged(d))
        row->self.p = 1;
    row->self.q = row->self.p;
    if (row->self.q <= DIFF_LEVEL && row->self.delta != 0)
        row->self.verdict = row->self.delta > 0 ? PFR_DIFF_SLOWER : PFR_DIFF_FASTER;
    row->total = row->self;
    d->name_of[0] = DIFF_NO_ROW;
}

/* --- Rows are independent: each thread takes some rows at a time. */

#define ROWS_AT_ONCE 64u

struct measuring {
    pfr_diff *d;
    pfr_diff_row *rows;
    struct diff_scratch *scratches; /* by thread */
    unsigned threads;
};

static bool measure_some(void *context, unsigned worker, size_t task) {
    const struct measuring *m = context;
    const size_t first = task * ROWS_AT_ONCE, end = first + ROWS_AT_ONCE;
    for (size_t name = first; name < end && name < m->d->nr_names; name++)
        measure_row(m->d, (uint32_t)name, &m->rows[name], &m->scratches[worker]);
    return true;
}

static pfr_status make_scratches(const struct measuring *m, pfr_error *err) {
    for (unsigned i = 0; i < m->threads; i++) {
        m->scratches[i].memory = &m->d->memory;
        PFR_TRY(diff_scratch_make(&m->scratches[i], m->d, err));
    }
    return PFR_OK;
}

static pfr_status measure_all(pfr_diff *d, pfr_diff_row *rows, pfr_error *err) {
    const size_t tasks = ((size_t)d->nr_names + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE;
    struct measuring m = {.d = d, .rows = rows, .threads = diff_threads(d, tasks)};
    m.scratches = mem_zeroed(&d->memory, m.threads, sizeof *m.scratches);
    if (!m.scratches)
        return mem_fail(&d->memory, err, "rounds");
    pfr_status st = make_scratches(&m, err);
    if (st >= 0)
        st = diff_dispersions_fit(d, &m.scratches[0], err);
    if (st >= 0) {
        measure_total(d, &m.scratches[0]);
        thread_pool_run(m.threads, tasks, measure_some, &m);
    }
    for (unsigned i = 0; i < m.threads && m.scratches[i].memory; i++)
        diff_scratch_free(&m.scratches[i]);
    mem_free(&d->memory, m.scratches, m.threads, sizeof *m.scratches);
    return st;
}

pfr_status diff_rows_measure(pfr_diff *d, pfr_error *err) {
    pfr_diff_row *rows = mem_alloc(&d->memory, d->nr_names, sizeof *rows);
    d->rows = mem_alloc(&d->memory, (size_t)d->nr_names + 1, sizeof *d->rows);
    d->name_of = mem_alloc(&d->memory, (size_t)d->nr_names + 1, sizeof *d->name_of);
    pfr_status st = rows && d->rows && d->name_of ? measure_all(d, rows, err) : mem_fail(&d->memory, err, "rows");
    if (st >= 0)
        st = correct_all(d, rows, err);
    if (st >= 0)
        st = find_typical(d, rows, err);
    if (st >= 0)
        st = put_in_order(d, rows, err);
    mem_free(&d->memory, rows, d->nr_names, sizeof *rows);
    return st;
}
