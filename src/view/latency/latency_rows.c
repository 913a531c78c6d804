/* SPDX-License-Identifier: Apache-2.0 */
/* Converts costs to rows with names and percentiles, and sorts them. See latency_parts.h. */
#include "view/latency/latency_rows.h"
#include "view/latency/latency_filter.h"

#include "base/memory/fail.h"

#include <stdlib.h>
#include <string.h>

const struct latency_rank latency_ranks[LATENCY_RANKS] = {
    {"p50", "p50"}, {"p90", "p90"}, {"p95", "p95"}, {"p99", "p99"}, {"p999", "p99.9"}};

uint64_t latency_shown(const struct latency *l, uint64_t ticks) {
    return calls_ns(ticks, l->frequency);
}

/* --- Making rows. */

static void note_object(struct latency *l, const char *object) {
    if (!object)
        return;
    l->tells_objects |= l->names.options.naming.instr_maps || (l->object && strcmp(l->object, object) != 0);
    l->object = object;
}

static pfr_status name_row(struct latency *l, struct latency_row *row, pfr_error *err) {
    row->name = row->caller = NULL;
    if (row->key.is_limit)
        return PFR_OK;
    PFR_TRY(function_names_find(&l->names, row->key.function, &row->name, err));
    row->object = row->name->path;
    note_object(l, row->object);
    return row->key.has_caller ? function_names_find(&l->names, row->key.caller, &row->caller, err) : PFR_OK;
}

static pfr_status rank_row(struct latency *l, struct latency_row *row, pfr_error *err) {
    const struct distribution *distribution = &l->costs.distributions.at[row->number];
    row->timed = distribution->low <= distribution->high;
    row->exact = distribution_is_exact(distribution);
    row->low = distribution->low;
    row->high = distribution->high;
    return distribution_ranks(&l->costs.distributions, row->number, latency_thousandths, LATENCY_RANKS, row->rank, err);
}

static pfr_status make_row(struct latency *l, uint32_t number, pfr_error *err) {
    struct latency_row *row = &l->rows[l->nr_rows];
    *row = (struct latency_row){.number = number, .cost = &l->costs.at[number]};
    row->key = call_cost_key(&l->costs, number);
    PFR_TRY(name_row(l, row, err));
    if (!latency_wants_row(l, row))
        return PFR_OK;
    PFR_TRY(rank_row(l, row, err));
    l->nr_rows++;
    return PFR_OK;
}

/* --- Order. */

typedef __int128 value_fn(const struct latency_row *row);

static __int128 value_of_id(const struct latency_row *row) {
    return row->key.function;
}

static __int128 value_of_count(const struct latency_row *row) {
    return row->cost->count;
}

static __int128 value_of_open(const struct latency_row *row) {
    return row->cost->open;
}

static __int128 value_of_low(const struct latency_row *row) {
    return row->timed ? (__int128)row->low : -1;
}

static __int128 value_of_high(const struct latency_row *row) {
    return row->timed ? (__int128)row->high : -1;
}

static __int128 value_of_sum(const struct latency_row *row) {
    return (__int128)row->cost->sum;
}

static __int128 value_of_self(const struct latency_row *row) {
    return row->cost->self;
}

#define RANK_VALUE(n)                                                                                                  \
    static __int128 value_of_rank_##n(const struct latency_row *row) {                                                 \
        return row->timed ? (__int128)row->rank[n] : -1;                                                               \
    }
RANK_VALUE(0)
RANK_VALUE(1)
RANK_VALUE(2)
RANK_VALUE(3)
RANK_VALUE(4)

/* Keys of --sort; the second name is the one in llvm-xray account, or another common name. */
static const struct sort_key {
    const char *name, *other;
    value_fn *value; /* NULL: sort by name */
    bool upwards;    /* ascending by default */
} sort_keys[] = {
    {"sum", NULL, value_of_sum, false},     {"id", "funcid", value_of_id, true},
    {"func", "function", NULL, true},       {"count", NULL, value_of_count, false},
    {"min", NULL, value_of_low, false},     {"p50", "med", value_of_rank_0, false},
    {"p90", "90p", value_of_rank_1, false}, {"p95", "95p", value_of_rank_2, false},
    {"p99", "99p", value_of_rank_3, false}, {"p999", "p99.9", value_of_rank_4, false},
    {"max", NULL, value_of_high, false},    {"self", NULL, value_of_self, false},
    {"open", NULL, value_of_open, false},   {"median", NULL, value_of_rank_0, false},
};

static const struct sort_key *find_key(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof sort_keys / sizeof *sort_keys; i++)
        for (unsigned k = 0; k < 2; k++) {
            const char *const known = k ? sort_keys[i].other : sort_keys[i].name;
            if (known && strlen(known) == length && memcmp(known, name, length) == 0)
                return &sort_keys[i];
        }
    return NULL;
}

#define KEYS_MOST 16u

struct order {
    const struct sort_key *keys[KEYS_MOST];
    unsigned count;
    pfr_latency_order way;
};

static pfr_status read_order(const char *text, struct order *order, pfr_error *err) {
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        const struct sort_key *key = find_key(at, length);
        if (!key || order->count == KEYS_MOST)
            return pfr_fail(
                err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "sort",
                "no sort key '%.*s'; keys: sum, id, func, count, min, p50, p90, p95, p99, p999, max, self, open",
                length < 60 ? (int)length : 60, at);
        order->keys[order->count++] = key;
        at += length;
        if (*at == '\0')
            return PFR_OK;
    }
}

pfr_status latency_sort_check(const char *keys, pfr_error *err) {
    struct order order = {.count = 0};
    return read_order(keys, &order, err);
}

static int by_number(__int128 a, __int128 b) {
    return a < b ? -1 : a > b;
}

static int by_name(const struct latency_row *a, const struct latency_row *b) {
    return strcmp(a->name ? a->name->text : "", b->name ? b->name->text : "");
}

/* Tie-breaker: no two rows are equal in all of these. */
static int by_key(const struct cost_key *a, const struct cost_key *b) {
    const __int128 numbers[][2] = {{a->function, b->function},
                                   {a->is_limit, b->is_limit},
                                   {a->has_caller, b->has_caller},
                                   {a->caller, b->caller},
                                   {a->thread.pid, b->thread.pid},
                                   {a->thread.tid, b->thread.tid},
                                   {a->thread.has_pid, b->thread.has_pid},
                                   {a->thread.has_tid, b->thread.has_tid}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i][0] != numbers[i][1])
            return by_number(numbers[i][0], numbers[i][1]);
    return 0;
}

static int by_order(const void *x, const void *y, void *context) {
    const struct latency_row *a = x, *b = y;
    const struct order *order = context;
    for (unsigned i = 0; i < order->count; i++) {
        const struct sort_key *key = order->keys[i];
        const bool upwards = order->way == PFR_LATENCY_NATURAL ? key->upwards : order->way == PFR_LATENCY_ASCENDING;
        const int way = key->value ? by_number(key->value(a), key->value(b)) : by_name(a, b);
        if (way)
            return upwards ? way : -way;
    }
    return by_key(&a->key, &b->key);
}

static pfr_status sort_rows(struct latency *l, pfr_error *err) {
    const pfr_latency_options *o = l->options;
    struct order order = {.way = o->order};
    PFR_TRY(read_order(o->sort ? o->sort : "sum", &order, err));
    if (l->nr_rows)
        qsort_r(l->rows, l->nr_rows, sizeof *l->rows, by_order, &order);
    return PFR_OK;
}

static uint64_t count_sketched(const struct latency *l) {
    uint64_t count = 0;
    for (size_t i = 0; i < l->shown; i++)
        count += l->rows[i].timed && !l->rows[i].exact;
    return count;
}

/* Looks up lines in display order, so that the first rows get their lines if the debug information exceeds the memory
   limit. */
static pfr_status find_lines(struct latency *l, pfr_error *err) {
    const struct function_line *line;
    for (size_t i = 0; i < l->shown; i++)
        if (l->rows[i].name)
            PFR_TRY(function_names_line(&l->names, l->rows[i].name->id, &line, err));
    return PFR_OK;
}

pfr_status latency_rows_make(struct latency *l, pfr_error *err) {
    const uint32_t count = l->costs.rows.count;
    l->rows = mem_alloc(l->memory, count, sizeof *l->rows);
    if (!l->rows)
        return mem_fail(l->memory, err, "latencies");
    l->rows_room = count;
    for (uint32_t i = 0; i < count; i++)
        PFR_TRY(make_row(l, i, err));
    PFR_TRY(sort_rows(l, err));
    l->shown = l->options->top && l->options->top < l->nr_rows ? l->options->top : l->nr_rows;
    l->sketched = count_sketched(l);
    return l->options->lines ? find_lines(l, err) : PFR_OK;
}
