/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_DIFF_PARTS_H
#define PFR_MODEL_DIFF_PARTS_H
/*
 * A comparison as it is built: names become rows, recordings become series (sums of each row in slots of time), series
 * become estimates (a value with its variance), and two estimates become a value of the public header.
 */
#include "base/memory/arena.h"
#include "base/memory/fail.h"
#include "base/tables/hashmap.h"
#include "base/tables/intern.h"
#include "model/diff/statistics.h"

#include <perfray/diff.h>
#include <perfray/samples.h>
#include <perfray/spans.h>
#include <string.h>

#define DIFF_SLOTS_MOST 512u
#define DIFF_SLOTS_LEAST 8u /* with fewer slots there is no interval */
#define DIFF_NO_ROW UINT32_MAX
#define DIFF_ROUNDS 1000u
#define DIFF_LEAST_CHANGE 0.1 /* percent of the total; other programs change small rows of the kernel by less */
#define DIFF_LEVEL 0.05       /* significance level of verdicts; intervals have the level 1 - DIFF_LEVEL */
#define DIFF_TESTED_FROM 8u   /* samples of both sides together: rows with fewer samples are not tested */

enum diff_side_name { DIFF_BASE, DIFF_NEW };
enum diff_part { DIFF_SELF, DIFF_TOTAL };

/* Weight of one row in one slot of time, without and with callees. */
struct diff_cell {
    uint32_t row, slot;
    double weight[2];
};

struct diff_sums {
    double weight[2], squares[2]; /* sums of the samples' weights and of their squares */
    uint64_t samples[2];
};

struct diff_series {
    pfr_diff_run run;
    uint32_t event; /* id of the compared event; 0: all events (PFR_DIFF_BY_EVENT) */
    uint32_t slots;
    uint64_t *times; /* if has_slots: begin of each slot of the store, ascending */
    size_t nr_times, times_room;
    bool has_slots, has_interval; /* times are slots of a store; there are enough slots to estimate a variance */
    uint64_t begin, end;          /* times of the event's first and last sample; PFR_NO_TIME: no times */
    uint64_t samples;
    double weight, squares;
    double *weights, *counts, *norms; /* by slot */
    double norm;
    struct diff_cell *cells; /* by row, after diff_series_sort */
    size_t nr_cells, room;
    size_t *first_cell; /* index of the first cell of each row; one more entry at the end */
    struct diff_sums *sums;
    uint32_t *row_of; /* by symbol, frame, comm or event id: see diff_rows.c */
    uint32_t nr_ids;
    uint32_t block;         /* length of a block in slots */
    double bias_correction; /* factor on the variance of rounds, at least 1 */
    float *draws;      /* [slot][round]: number of times that a round has the slot; NULL: the side has several runs */
    float *drawn_norm; /* [round] */
    float *covariance; /* [slot][slot], see diff_covariance.c; NULL: not worth it */
};

struct diff_side {
    struct diff_series *runs;
    uint32_t count;
};

struct diff_row_key {
    const char *symbol, *object;
};

/* How much runs of the same program differ, relative to the variance of counting samples: see diff_estimate.c. */
struct diff_dispersion {
    double scale, freedom, freedom_most; /* parameters of the prior; freedom 0: not fitted, because there are too few
                                            rows */
};

struct pfr_diff {
    struct memory memory;
    struct diff_dispersion dispersion[2]; /* by enum diff_part; used if both sides have several runs */
    pfr_diff_options options;
    struct arena arena; /* texts */
    struct intern_table names;
    struct diff_side sides[2];
    uint32_t nr_names; /* rows, without [total]; some may weigh nothing */
    uint32_t nr_rows;  /* number of rows that the public functions return */
    struct diff_row_key *keys;
    pfr_diff_row *rows; /* the public rows in order; [0] is the total */
    uint32_t *name_of;  /* public row -> name; [0] DIFF_NO_ROW */
    char **remarks;
    size_t nr_remarks, remarks_room;
    pfr_diff_latency *latencies;
    uint32_t nr_latencies;
    uint32_t *histograms;
    double typical; /* the median of new / base over rows, an estimate for functions that take as long as before; 1: not
                       known, or values are not shares of the total */
    bool is_traced;
};

/* The number of threads for independent tasks (diff.c). */
unsigned diff_threads(const pfr_diff *d, size_t tasks);

/* --- diff_estimate.c */
struct estimate {
    double value, variance, freedom; /* freedom: INFINITY where the variance is known */
    double counting;                 /* variance of counting independent samples */
    double between;                  /* variance between runs; 0 for one recording */
    double shared_freedom;           /* degrees of freedom of the dispersion of both sides; 0: each side has its own
                                        variance */
    uint64_t samples;
};

/* The quantity to estimate: the sum of some rows, or of all rows. */
struct diff_subject {
    const uint32_t *rows; /* NULL: all rows */
    uint32_t count;
    enum diff_part part;
    pfr_diff_per per;
};

/* Working memory of one estimate, allocated once. */
struct diff_scratch {
    struct memory *memory;
    float *drawn, *scaled;
    double *slots, *values;
    uint32_t rounds, nr_values;
};

#endif
