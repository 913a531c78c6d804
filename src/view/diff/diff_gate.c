/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions of --fail-on: SUBJECT[(NAME)] COMPARISON [SIGN]NUMBER[%]. */
#include "view/diff/diff_view.h"
#include "model/diff/diff_names.h"
#include "model/diff/diff_estimate.h"

#include <math.h>
#include <stdlib.h>

enum subject { GATE_TOTAL, GATE_SELF, GATE_INCLUSIVE, GATE_SHARE, GATE_NEW, GATE_GONE, GATE_CALLS };

static const struct {
    const char *word;
    enum subject subject;
    bool takes_name;
    int quantile; /* index of the quantile, for GATE_CALLS; -1: count, -2: sum */
} words[] = {
    {"total", GATE_TOTAL, false, 0}, {"self", GATE_SELF, true, 0},  {"inclusive", GATE_INCLUSIVE, true, 0},
    {"share", GATE_SHARE, true, 0},  {"new", GATE_NEW, false, 0},   {"gone", GATE_GONE, false, 0},
    {"count", GATE_CALLS, true, -1}, {"sum", GATE_CALLS, true, -2}, {"p50", GATE_CALLS, true, 0},
    {"p90", GATE_CALLS, true, 1},    {"p99", GATE_CALLS, true, 2},  {"p99.9", GATE_CALLS, true, 3},
};
#define WORDS (sizeof words / sizeof *words)

struct gate {
    const char *text; /* the expression as written by the user */
    size_t word;      /* index in `words` */
    char name[1024];
    bool above, or_equal, relative, percent;
    double limit;
};

/* --- Reading. */

static const char *past_blanks(const char *at) {
    return at + strspn(at, " \t");
}

static pfr_status refuse(const struct gate *g, const char *why, pfr_error *err) {
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "fail-on", "--fail-on '%s': %s", g->text, why);
}

static bool find_word(const char *at, size_t length, size_t *word) {
    for (*word = 0; *word < WORDS; ++*word)
        if (strlen(words[*word].word) == length && memcmp(words[*word].word, at, length) == 0)
            return true;
    return false;
}

/* The name ends at the last ")" of the expression, because names of functions may contain parentheses. */
static pfr_status read_name(struct gate *g, const char **at, pfr_error *err) {
    const char *const compare = strpbrk(*at, ")") ? strrchr(*at, ')') : NULL;
    if (!compare || **at != '(')
        return refuse(g, "a name in round brackets is missing, as in self(parse)", err);
    const size_t length = (size_t)(compare - *at - 1);
    if (length == 0 || length >= sizeof g->name)
        return refuse(g, "the name is empty or too long", err);
    memcpy(g->name, *at + 1, length);
    g->name[length] = '\0';
    *at = compare + 1;
    return PFR_OK;
}

static pfr_status read_subject(struct gate *g, const char **at, pfr_error *err) {
    const size_t length = strcspn(*at, " \t(<>=");
    if (!find_word(*at, length, &g->word))
        return refuse(g,
                      "an expression must begin with total, self, inclusive, share, new, gone, count, sum, p50, p90, "
                      "p99 or p99.9",
                      err);
    *at = past_blanks(*at + length);
    return words[g->word].takes_name ? read_name(g, at, err) : PFR_OK;
}

static pfr_status read_limit(struct gate *g, const char *at, pfr_error *err) {
    char *end;
    at = past_blanks(at);
    g->relative = *at == '+' || *at == '-';
    if (!strchr("+-.0123456789", *at) || !*at)
        return refuse(g, "a number is missing", err);
    g->limit = strtod(at, &end);
    at = past_blanks(end);
    g->percent = *at == '%';
    at = past_blanks(at + g->percent);
    if (end == at - g->percent && !isfinite(g->limit))
        return refuse(g, "the number is too large", err);
    if (*at || !isfinite(g->limit))
        return refuse(g, "nothing may follow the number but %", err);
    if (g->relative && !g->percent)
        return refuse(g, "a number with a sign is a change in percent of the base: write % after it", err);
    return PFR_OK;
}

static pfr_status read_gate(const char *text, struct gate *g, pfr_error *err) {
    *g = (struct gate){.text = text};
    const char *at = past_blanks(text);
    PFR_TRY(read_subject(g, &at, err));
    at = past_blanks(at);
    if (*at != '<' && *at != '>')
        return refuse(g, "one of > >= < <= is missing after the subject", err);
    g->above = *at == '>';
    g->or_equal = at[1] == '=';
    PFR_TRY(read_limit(g, at + 1 + g->or_equal, err));
    const enum subject subject = words[g->word].subject;
    if (subject == GATE_TOTAL && !g->relative)
        return refuse(g, "the total is compared with the base's: write a sign, as in +3%", err);
    if ((subject == GATE_NEW || subject == GATE_GONE || subject == GATE_SHARE) && (g->relative || !g->percent))
        return refuse(g, "this is a part of the whole: write a percentage without a sign, as in 20%", err);
    return PFR_OK;
}

/* --- Judging. */

/* A value and the ends of its interval. */
struct judged {
    double value, low, high;
};

static bool is_breach(const struct gate *g, const struct judged *j, bool point) {
    const double value = point ? j->value : g->above ? j->low : j->high;
    if (g->above)
        return g->or_equal ? value >= g->limit : value > g->limit;
    return g->or_equal ? value <= g->limit : value < g->limit;
}

static void print_breach(const struct gate *g, const struct judged *j, const char *name, struct output *to) {
    out_text(to, "breach: ");
    out_name(to, g->text);
    out_text(to, ": ");
    if (name) {
        out_name(to, name);
        out_char(to, ' ');
    }
    out_signed(to, j->value, 2, 0);
    out_text(to, g->percent ? " % [" : " [");
    out_signed(to, j->low, 2, 0);
    out_text(to, ", ");
    out_signed(to, j->high, 2, 0);
    out_text(to, "]\n");
}

static bool judge(const struct gate *g, const struct judged *j, const char *name, bool point, struct output *to) {
    const bool breach = is_breach(g, j, point);
    if (breach)
        print_breach(g, j, name, to);
    return breach;
}

/* The change in percent of the base's value. It is infinite if the base's value is 0. */
static struct judged relative_of(const pfr_diff_value *v) {
    if (v->base > 0)
        return (struct judged){100 * v->delta / v->base, 100 * v->low / v->base, 100 * v->high / v->base};
    const double value = v->delta > 0 ? INFINITY : 0;
    return (struct judged){value, v->low > 0 ? INFINITY : 0, value};
}

/* The value of one side, not the change. Its interval follows from the standard error of that side. */
static struct judged absolute_of(const pfr_diff_value *v, bool is_base) {
    const double value = is_base ? v->base : v->changed, error = is_base ? v->base_error : v->changed_error;
    const double reach = student_quantile(DIFF_LEVEL, INFINITY) * error;
    return (struct judged){value, value - reach, value + reach};
}

static struct judged judged_of(const struct gate *g, const pfr_diff_value *v) {
    return g->relative ? relative_of(v) : absolute_of(v, false);
}

/* --- Rows. */

static bool is_named(const pfr_diff *d, uint32_t name, const char *wanted, bool by_object) {
    const struct diff_row_key *key = &d->keys[name];
    return strcmp(by_object ? key->object : key->symbol, wanted) == 0;
}

/* Lists the rows of the function `wanted` in all objects or, if by_object is set, the rows of the object `wanted`.
   Returns their number. */
static uint32_t list_rows(const pfr_diff *d, const char *wanted, bool by_object, uint32_t *rows) {
    uint32_t count = 0;
    for (uint32_t i = 1; i < d->nr_rows; i++)
        if (is_named(d, d->name_of[i], wanted, by_object))
            rows[count++] = d->name_of[i];
    return count;
}

static pfr_status measure_rows(const struct gate *g, const pfr_diff *d, uint32_t *rows, struct memory *memory,
                               pfr_diff_value *value, pfr_error *err) {
    const enum subject subject = words[g->word].subject;
    struct diff_scratch scratch = {.memory = memory};
    struct diff_subject of = {.rows = rows, .part = subject == GATE_INCLUSIVE ? DIFF_TOTAL : DIFF_SELF};
    char plain[sizeof g->name];
    diff_plain_name(g->name, plain, sizeof plain);
    of.per = subject == GATE_SHARE ? PFR_DIFF_PER_TOTAL : d->options.per;
    of.count = subject == GATE_SHARE ? list_rows(d, g->name, true, rows) : 0;
    if (!of.count)
        of.count = list_rows(d, plain, false, rows);
    if (!of.count)
        return refuse(g, "neither side has that name", err);
    PFR_TRY(diff_scratch_make(&scratch, d, err));
    *value = diff_measure(d, &of, &scratch);
    diff_scratch_free(&scratch);
    return PFR_OK;
}

static pfr_status judge_rows(const struct gate *g, const pfr_diff *d, bool point, bool *breached, pfr_output *out,
                             pfr_error *err) {
    pfr_diff_value value = {0};
    if (words[g->word].subject == GATE_SHARE && d->options.per != PFR_DIFF_PER_TOTAL)
        return refuse(g, "share is a part of the total: it cannot be combined with --per", err);
    uint32_t *rows = mem_alloc(&out->memory, (size_t)d->nr_rows + 1, sizeof *rows);
    if (!rows)
        return mem_fail(&out->memory, err, "rows");
    const pfr_status st = measure_rows(g, d, rows, &out->memory, &value, err);
    mem_free(&out->memory, rows, (size_t)d->nr_rows + 1, sizeof *rows);
    PFR_TRY(st);
    const struct judged j = judged_of(g, &value);
    *breached = judge(g, &j, NULL, point, &out->out);
    return PFR_OK;
}

/* Checks, one by one, the functions that only one side has. */
static pfr_status judge_lone(const struct gate *g, const pfr_diff *d, bool point, bool *breached, pfr_output *out,
                             pfr_error *err) {
    const bool is_base = words[g->word].subject == GATE_GONE;
    if (d->options.per != PFR_DIFF_PER_TOTAL)
        return refuse(g, "a part of the total cannot be combined with --per", err);
    for (uint32_t i = 1; i < d->nr_rows; i++) {
        const pfr_diff_row *row = &d->rows[i];
        if ((is_base ? row->new_samples : row->base_samples) || !(row->new_samples + row->base_samples))
            continue;
        const struct judged j = absolute_of(&row->self, is_base);
        *breached |= judge(g, &j, row->symbol, point, &out->out);
    }
    return PFR_OK;
}

/* --- Calls. */

/* Counts and sums have no interval, because calls are not sampled. */
static struct judged exact(const struct gate *g, double base, double changed) {
    const double value = !g->relative ? changed : base > 0 ? 100 * (changed - base) / base : changed > 0 ? INFINITY : 0;
    return (struct judged){value, value, value};
}

/* The interval of a difference follows from the intervals of both values (Zou and Donner 2008). */
static struct judged quantile_of(const struct gate *g, const pfr_diff_latency *l, unsigned k) {
    const double base = (double)l->quantile[0][k], changed = (double)l->quantile[1][k];
    const double more = l->high[1][k] == UINT64_MAX ? INFINITY : (double)l->high[1][k];
    const double base_more = l->high[0][k] == UINT64_MAX ? INFINITY : (double)l->high[0][k];
    if (!g->relative)
        return (struct judged){changed, (double)l->low[1][k], more};
    if (base <= 0)
        return exact(g, base, changed);
    const double low = changed - base - hypot(changed - (double)l->low[1][k], base_more - base);
    const double high = changed - base + hypot(more - changed, base - (double)l->low[0][k]);
    return (struct judged){100 * (changed - base) / base, 100 * low / base, 100 * high / base};
}

static pfr_status judge_calls(const struct gate *g, const pfr_diff *d, bool point, bool *breached, pfr_output *out,
                              pfr_error *err) {
    const int quantile = words[g->word].quantile;
    bool is_found = false;
    char plain[sizeof g->name];
    if (!d->nr_latencies)
        return refuse(g, "only traces have durations of calls", err);
    diff_plain_name(g->name, plain, sizeof plain);
    for (uint32_t i = 0; i < d->nr_latencies; i++) {
        const pfr_diff_latency *l = &d->latencies[i];
        if (strcmp(l->symbol, plain) != 0)
            continue;
        is_found = true;
        const struct judged j = quantile >= 0    ? quantile_of(g, l, (unsigned)quantile)
                                : quantile == -1 ? exact(g, (double)l->count[0], (double)l->count[1])
                                                 : exact(g, (double)l->sum[0], (double)l->sum[1]);
        *breached |= judge(g, &j, NULL, point, &out->out);
    }
    return is_found ? PFR_OK : refuse(g, "neither side has that function", err);
}

static bool has_intervals(const pfr_diff *d) {
    return (d->sides[0].count > 1 || d->sides[0].runs[0].has_interval) &&
           (d->sides[1].count > 1 || d->sides[1].runs[0].has_interval);
}

pfr_status pfr_diff_gate(const pfr_diff *d, const char *expression, bool point, bool *breached, pfr_output *out,
                         pfr_error *error) {
    pfr_error own, *err = error ? error : &own;
    struct gate g;
    *breached = false;
    PFR_TRY(read_gate(expression, &g, err));
    if (!point && words[g.word].subject != GATE_CALLS && !has_intervals(d))
        return refuse(&g, "too few slots of time in the store for intervals: judge values with --point", err);
    switch (words[g.word].subject) {
    case GATE_TOTAL: {
        const struct judged j = relative_of(&d->rows[0].self);
        *breached = judge(&g, &j, NULL, point, &out->out);
        return PFR_OK;
    }
    case GATE_NEW:
    case GATE_GONE:
        return judge_lone(&g, d, point, breached, out, err);
    case GATE_CALLS:
        return judge_calls(&g, d, point, breached, out, err);
    default:
        return judge_rows(&g, d, point, breached, out, err);
    }
}
