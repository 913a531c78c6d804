/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_FIREFOX_H
#define PFR_EXPORT_FIREFOX_H
/* State of the firefox sink. firefox.c writes the tables that all threads share, firefox_threads.c the threads. */
#include "export/rows/rows.h"

struct fox_row { /* sample of a thread */
    uint64_t time, weight;
    uint32_t stack;
};

enum fox_column { FOX_STACK, FOX_TIME, FOX_WEIGHT, FOX_NAME, FOX_END };

struct firefox {
    size_t *counts; /* by thread: number of its samples */
    size_t *ends;   /* by thread of the group: end of its rows in `rows` */
    size_t nr_threads;
    struct fox_row *rows; /* rows of a group, one thread after the other; those of a thread in time order */
    size_t room;
    uint32_t first, last;                  /* threads of the group; `last` is the first of the next group */
    uint32_t thread;                       /* the current thread */
    const struct fox_row *samples;         /* rows of the current thread; NULL: they did not fit */
    enum fox_column column;                /* the column that a walk over the current thread's samples writes */
    bool has_cell;                         /* a cell of `column` was written */
    uint32_t *func_string, *object_string; /* by symbol: number of the text */
    struct intern_table strings;
    size_t nr_symbols;
    bool has_thread;
};

void fox_put_time(struct rows *r, uint64_t time);
void fox_put_ms(struct output *to, uint64_t ns);
/* Writes the value `count` times. */
void fox_put_same(struct rows *r, const char *key, const char *value, size_t count);
void fox_put_thread_head(struct rows *r, uint32_t id, struct intern_text name);
/* Writes all threads; at least one, because the front end loads no profile without a thread. */
pfr_status fox_put_threads(struct rows *r, pfr_error *err);
void fox_free_threads(struct rows *r);

#endif
