/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statistics of a comparison are checked with published tables; names of functions without suffixes; and
 * simulations with known truth check how often 95 % intervals contain the true change, and how often two sides of the
 * same program get a verdict.
 */
#include "test.h"

#include "model/diff/diff_parts.h"
#include "model/diff/diff_names.h"

#include <math.h>
#include <perfray/perfray.h>
#include <stdio.h>

static void assert_near(double value, double wanted, double most) {
    if (!(fabs(value - wanted) <= most))
        fail_msg("%.9f instead of %.9f", value, wanted);
}

TEST(diff_student_is_that_of_the_tables) {
    static const struct {
        double freedom, t;
    } table[] = {{1, 12.7062}, {2, 4.30265}, {5, 2.57058}, {10, 2.22814}, {30, 2.04227}, {100, 1.98397}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_near(student_tail(table[i].t, table[i].freedom), 0.05, 1e-5);
        assert_near(student_quantile(0.05, table[i].freedom), table[i].t, 1e-4);
    }
    assert_near(student_quantile(0.05, INFINITY), 1.959964, 1e-6);
    assert_near(student_tail(0, 7), 1, 1e-12);
    assert_near(student_tail(40, 1e3) < 1e-100, 1, 0);
}

/* The example in table 1 of Benjamini and Hochberg's paper: four discoveries at 5 %. */
TEST(diff_false_discoveries_are_those_of_the_paper) {
    static const double p[] = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                               0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000, 2};
    double q[16];
    struct ranked order[16];
    benjamini_hochberg(p, q, order, 16);
    for (unsigned i = 0; i < 16; i++)
        assert_int_equal(q[i] <= 0.05, i < 4);
    assert_near(q[0], 0.0015, 1e-12);
    assert_near(q[15], 1, 0);
}

/* Tests ratios whose logarithms differ as little as if there were one variance, and ratios that differ more. The scale
 * of the prior is in the middle of the ratios. */
TEST(diff_prior_of_variances_is_that_of_the_ratios) {
    struct draws random = draws_seeded(7);
    double alike[400], different[400];
    for (unsigned i = 0; i < 400; i++) { /* sums of four squared normal values: 4 degrees of freedom */
        double squares = 0;
        for (unsigned k = 0; k < 2; k++)
            squares -= 2 * log((draw_below(&random, 1u << 30) + 1.0) / (1u << 30));
        alike[i] = 2 * squares / 4;
        different[i] = alike[i] * (i % 2 ? 4 : 0.25);
    }
    const struct variance_prior one = fit_variance_prior(alike, 400, 4), many = fit_variance_prior(different, 400, 4);
    assert_near(one.scale, 2, 0.3);
    assert_near(one.freedom > 30, 1, 0);
    assert_near(many.scale > 0.5 && many.scale < 2, 1, 0);
    assert_near(many.freedom > 1 && many.freedom < 4, 1, 0);
}

TEST(diff_ranks_of_a_median_are_those_of_the_binomial) {
    uint64_t low, high;
    quantile_ranks(100, 0.5, &low, &high);
    assert_int_equal(low, 40);
    assert_int_equal(high, 61);
    quantile_ranks(10, 0.999, &low, &high);
    assert_int_equal(high, 11); /* no value is large enough */
    quantile_ranks(1, 0.5, &low, &high);
    assert_int_equal(low, 0);
    assert_int_equal(high, 2);
}

TEST(diff_names_lose_what_compilers_add) {
    static const char *const names[][2] = {{"parse.isra.0", "parse"},
                                           {"parse.part.0.cold", "parse"},
                                           {"parse.constprop.12", "parse"},
                                           {"f() [clone .isra.0]", "f()"},
                                           {"core::fmt::write::h0123456789abcdef", "core::fmt::write"},
                                           {"a.b", "a.b"},
                                           {".cold", ".cold"},
                                           {"v1.2", "v1.2"},
                                           {"x::h0123", "x::h0123"},
                                           {"", ""}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char plain[64];
        diff_plain_name(names[i][0], plain, sizeof plain);
        assert_string_equal(plain, names[i][1]);
    }
    char small[4];
    assert_int_equal(diff_plain_name("abcdef", small, sizeof small), 3);
    assert_string_equal(small, "abc");
}

TEST(diff_blocks_are_longer_where_slots_are_correlated) {
    struct draws random = draws_seeded(7);
    double white[512], slow[512], state = 0;
    for (unsigned i = 0; i < 512; i++) {
        white[i] = draw_below(&random, 1000);
        state = 0.9 * state + draw_below(&random, 1000);
        slow[i] = state;
    }
    const double of_white = block_length(white, 512), of_slow = block_length(slow, 512);
    assert_true(of_white < 6);
    assert_true(of_slow > 10 && of_slow < 128);
}

/* --- Simulated recordings: functions whose share varies around the true one in phases. */

enum { FUNCTIONS = 6, SAMPLES = 2000 };

static double uniform(struct draws *random) {
    return (draw_below(random, 1u << 30) + 0.5) / (1u << 30);
}

/* The shares of the functions from `first` on; `phase` consecutive samples are drawn from one of two programs. */
static pfr_model *simulate(struct draws *random, double first_share, unsigned phase) {
    pfr_error err;
    pfr_build *b = pfr_model_build(NULL, NULL, &err);
    uint32_t stacks[FUNCTIONS];
    const uint32_t event = pfr_build_event(b, &(pfr_model_event){.name = "cycles"});
    const uint32_t comm = pfr_build_comm(b, "p");
    const uint32_t process = pfr_build_process(b, &(pfr_model_process){.pid = 1, .comm = comm});
    const uint32_t thread = pfr_build_thread(b, &(pfr_model_thread){.process = process, .tid = 1, .comm = comm});
    const uint32_t object =
        pfr_build_object(b, &(pfr_model_object){.path = "/p", .name = "p", .kind = PFR_OBJECT_FILE});
    for (unsigned f = 0; f < FUNCTIONS; f++) {
        const char name[2] = {(char)('a' + f), 0};
        const uint32_t symbol = pfr_build_symbol(
            b, &(pfr_model_symbol){.name = name, .object = object, .address = 16 * (f + 1), .size = 16});
        stacks[f] =
            pfr_build_stack(b, 0, pfr_build_frame(b, &(pfr_model_frame){.symbol = symbol, .address = 16 * (f + 1)}));
    }
    double tilt = 0;
    for (unsigned i = 0; i < SAMPLES; i++) {
        if (i % phase == 0)
            tilt = phase > 1 ? 0.1 * (uniform(random) - 0.5) : 0;
        const bool is_first = uniform(random) < first_share + tilt;
        const unsigned f = is_first ? 0 : 1 + draw_below(random, FUNCTIONS - 1);
        const pfr_sample sample = {.time = 1000 + (uint64_t)i * 1000,
                                   .weight = 1000,
                                   .period = 1000,
                                   .thread = thread,
                                   .comm = comm,
                                   .cpu = 0,
                                   .event = event,
                                   .stack = stacks[f],
                                   .mode = PFR_CPUMODE_USER};
        pfr_build_sample(b, &sample);
    }
    return pfr_build_finish(b, &err);
}

enum { RUNS_MOST = 8 };

struct outcome {
    unsigned covered, found, claimed; /* the interval contains the truth; the first function is called slower; any
                                         verdict */
};

static void try_once(struct draws *random, unsigned runs, unsigned phase, double base, double changed,
                     struct outcome *o) {
    pfr_model *models[2 * RUNS_MOST];
    pfr_diff_run sides[2][RUNS_MOST];
    for (unsigned i = 0; i < 2 * runs; i++) {
        models[i] = simulate(random, i < runs ? base : changed, phase);
        assert_non_null(models[i]);
        sides[i >= runs][i % runs] = (pfr_diff_run){.model = models[i]};
    }
    const pfr_diff_options options = {.size = sizeof options, .rounds = 400, .seed = 1 + draw_below(random, 1u << 20)};
    pfr_error err;
    pfr_diff *d = pfr_diff_open(sides[0], runs, sides[1], runs, &options, &err);
    if (!d)
        fail_msg("%s", err.text);
    bool claims = false;
    for (uint32_t i = 1; i < pfr_diff_count(d); i++) {
        const pfr_diff_row *row = pfr_diff_get_row(d, i);
        claims |= row->self.verdict != PFR_DIFF_NOISE;
        if (strcmp(row->symbol, "a") != 0)
            continue;
        const double truth = 100 * (changed - base);
        o->covered += row->self.low <= truth && truth <= row->self.high;
        o->found += row->self.verdict == PFR_DIFF_SLOWER;
    }
    o->claimed += claims;
    pfr_diff_close(d);
    for (unsigned i = 0; i < 2 * runs; i++)
        pfr_model_close(models[i]);
}

static struct outcome try_often(unsigned trials, unsigned runs, unsigned phase, double base, double changed) {
    struct outcome o = {0};
    struct draws random = draws_seeded(42);
    for (unsigned i = 0; i < trials; i++)
        try_once(&random, runs, phase, base, changed, &o);
    printf("%u trials, %u runs a side, phases of %u samples, %.3f to %.3f: covered %.1f %%, found %.1f %%, any verdict "
           "%.1f %%\n",
           trials, runs, phase, base, changed, 100.0 * o.covered / trials, 100.0 * o.found / trials,
           100.0 * o.claimed / trials);
    return o;
}

/* Few trials need wide bounds: four standard errors. */
static void assert_share(unsigned count, unsigned trials, double low, double high) {
    const double slack = getenv("PERFRAY_LONG") ? 0 : 4 * sqrt(0.05 * 0.95 / trials);
    const double share = (double)count / trials;
    if (share < low - slack || share > high + slack)
        fail_msg("%.1f %% of %u trials, not %.1f to %.1f %%", 100 * share, trials, 100 * low, 100 * high);
}

static unsigned nr_trials(unsigned many) {
    return getenv("PERFRAY_LONG") ? many : getenv("PERFRAY_SPARSE") ? 16 : 60;
}

TEST(diff_intervals_of_independent_samples_cover_the_truth) {
    const unsigned trials = nr_trials(1000);
    const struct outcome o = try_often(trials, 1, 1, 0.2, 0.25);
    assert_share(o.covered, trials, 0.93, 0.97);
}

TEST(diff_intervals_of_correlated_samples_cover_the_truth) {
    const unsigned trials = nr_trials(1000);
    const struct outcome o = try_often(trials, 1, 40, 0.2, 0.25);
    assert_share(o.covered, trials, 0.92, 0.97);
}

TEST(diff_of_the_same_program_is_noise) {
    const unsigned trials = nr_trials(1000);
    assert_share(try_often(trials, 1, 1, 0.2, 0.2).claimed, trials, 0, 0.075);
    assert_share(try_often(trials, 1, 40, 0.2, 0.2).claimed, trials, 0, 0.075);
    assert_share(try_often(trials / 4, 3, 1, 0.2, 0.2).claimed, trials / 4, 0, 0.075);
}

TEST(diff_of_several_runs_finds_the_change) {
    const unsigned trials = nr_trials(400) / 4;
    assert_share(try_often(trials, 8, 1, 0.2, 0.225).found, trials, 0.9, 1);
}

/* The verdict of the first function, whose share grows from 20 to 60 % of a total of 2 000 000. */
static pfr_diff_verdict verdict_at(pfr_diff_run *sides, pfr_diff_per per, double least) {
    const pfr_diff_options options = {.size = sizeof options, .per = per, .least_change = least};
    pfr_error err;
    pfr_diff *d = pfr_diff_open(&sides[0], 1, &sides[1], 1, &options, &err);
    if (!d)
        fail_msg("%s", err.text);
    pfr_diff_verdict verdict = PFR_DIFF_NOISE;
    for (uint32_t i = 1; i < pfr_diff_count(d); i++)
        if (strcmp(pfr_diff_get_row(d, i)->symbol, "a") == 0)
            verdict = pfr_diff_get_row(d, i)->self.verdict;
    pfr_diff_close(d);
    return verdict;
}

TEST(diff_changes_below_the_least_are_noise) {
    struct draws random = draws_seeded(7);
    pfr_diff_run sides[2] = {{.model = simulate(&random, 0.2, 1)}, {.model = simulate(&random, 0.6, 1)}};
    static const pfr_diff_per units[] = {PFR_DIFF_PER_TOTAL, PFR_DIFF_PER_RUN, PFR_DIFF_PER_SECOND,
                                         PFR_DIFF_PER_SAMPLE};
    for (unsigned i = 0; i < sizeof units / sizeof *units; i++) {
        assert_int_equal(verdict_at(sides, units[i], 50), PFR_DIFF_NOISE);
        assert_int_equal(verdict_at(sides, units[i], 30), PFR_DIFF_SLOWER);
        assert_int_equal(verdict_at(sides, units[i], 0), PFR_DIFF_SLOWER);
        assert_int_equal(verdict_at(sides, units[i], -1), PFR_DIFF_SLOWER);
    }
    pfr_model_close((pfr_model *)(uintptr_t)sides[0].model);
    pfr_model_close((pfr_model *)(uintptr_t)sides[1].model);
}
